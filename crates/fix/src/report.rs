//! From finished cases to what the caller gets: reasons, certificates, edits, new texts.

use crate::attempt::{Attempt, Plan};
use crate::files::{Files, edits};
use crate::holder::root_of;
use crate::op::TextEdit;
use crate::outcome::{Certificate, Outcome, Proposal, Refusal, explain, explain_problem};
use crate::patched::position;
use crate::session::{Case, State};
use crate::trial::Use;
use crate::view::View;
use leakproof_findings::{Applicability, Edit, Finding};

pub fn outcome(
    cases: Vec<Case>,
    mut refusals: Vec<Refusal>,
    files: Files,
    rounds: usize,
) -> Outcome {
    let mut proposals = Vec::new();
    for case in &cases {
        let finding = &case.plan.finding;
        let view = files.known(&finding.leak.file);
        match view.and_then(|view| propose(case, view)) {
            Some(proposal) => proposals.push(proposal),
            None => refusals.push(Refusal { finding: finding.clone(), reason: why_not(case) }),
        }
    }
    sort(&mut proposals, &mut refusals);
    Outcome { proposals, refusals, rounds, files }
}

fn sort(proposals: &mut [Proposal], refusals: &mut [Refusal]) {
    let key = |f: &Finding| (f.leak.file.clone(), f.leak.line, f.leak.column, f.variable.clone());
    proposals.sort_by_key(|p| key(&p.finding));
    refusals.sort_by_key(|r| key(&r.finding));
}

fn propose(case: &Case, view: &View) -> Option<Proposal> {
    let (attempt, applicability, open) = match (case.state, &case.suggestion) {
        (State::Accepted, _) => (case.attempt.clone(), Applicability::Safe, Vec::new()),
        (_, Some((attempt, problems))) => {
            let mut open: Vec<String> = problems.iter().map(explain_problem).collect();
            open.extend(case.plan.reservation(attempt));
            if !case.plan.way(attempt)?.trusted {
                open.push("the releasing function may look at parts that are not set".to_owned());
            }
            (attempt.clone(), Applicability::Suggested, open)
        }
        _ => return None,
    };
    let ops = case.plan.ops(&attempt, Use::Reading)?;
    let file = &case.plan.finding.leak.file;
    Some(Proposal {
        finding: case.plan.finding.clone(),
        applicability,
        reason: reason(&case.plan, &attempt)?,
        certificate: Certificate { proven: proven(applicability), open },
        edits: edits(view, &ops).iter().map(|e| edit(view, file, e)).collect(),
        ops,
    })
}

fn edit(view: &View, file: &str, edit: &TextEdit) -> Edit {
    let (start_line, start_column) = position(&view.text, edit.range.start);
    let (end_line, end_column) = position(&view.text, edit.range.end);
    let text = edit.text.clone();
    Edit { file: file.to_owned(), start_line, start_column, end_line, end_column, text }
}

fn reason(plan: &Plan, attempt: &Attempt) -> Option<String> {
    let finding = &plan.finding;
    let holder = &plan.holder(attempt)?.text;
    let place = plan.placement(attempt)?.describe();
    let way = plan.way(attempt)?.statement(holder, false, false);
    let way = way.trim_end_matches(';');
    let mut text = format!(
        "The object that '{}' allocates at {}:{} is released by `{way}` {place}",
        finding.alloc.callee, finding.alloc.file, finding.alloc.line
    );
    if !attempt.also.is_empty() {
        text.push_str(", and where other paths part from that");
    }
    if let Some(guard) = attempt.condition() {
        text.push_str(&format!(", if {guard}"));
    }
    text.push('.');
    if !attempt.inner.is_empty() {
        text.push_str(&format!(" Before it, `{}`.", attempt.inner.join(" ")));
    }
    if let Some(start) =
        plan.holder(attempt).and_then(|h| h.start.as_ref()).filter(|_| attempt.init_null)
    {
        text.push_str(&format!(
            " `{}` starts as {}, so that paths on which it is never set release nothing.",
            root_of(holder),
            start.value
        ));
    }
    Some(text)
}

fn proven(applicability: Applicability) -> Vec<String> {
    let mut list = Vec::new();
    if applicability == Applicability::Safe {
        list.extend([
            "on every path through the release the object was allocated before",
            "nobody else releases the object",
            "nobody uses the object afterwards",
        ]);
    }
    list.extend([
        "the patched units compile without new warnings",
        "the leak is gone",
        "no leak appears that was not there before",
    ]);
    list.into_iter().map(str::to_owned).collect()
}

fn why_not(case: &Case) -> String {
    let first = case.plan.holders.first();
    let way = first.and_then(|h| Some(h.ways.first()?.statement(&h.text, false, false)));
    let way = way.unwrap_or_default();
    let way = way.trim_end_matches(';');
    match &case.first {
        Some(feedback) => format!("`{way}` at the leak: {}", explain(feedback)),
        None => "other fixes of the function came first; run again after applying them".to_owned(),
    }
}
