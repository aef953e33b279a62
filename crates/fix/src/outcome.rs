//! What `fix` has to say: proposals with their certificates, refusals with their reasons.

use crate::attempt::Feedback;
use crate::files::{Files, edits};
use crate::op::{Op, TextEdit, conflict};
use crate::patched::Patched;
use leakproof_detect::{Problem, ProblemKind};
use leakproof_findings::{Applicability, Edit, Finding};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// A change that removes a leak.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proposal {
    pub finding: Finding,
    pub applicability: Applicability,
    /// One paragraph: what is done, and why that is right.
    pub reason: String,
    pub certificate: Certificate,
    /// This fix alone.
    pub edits: Vec<Edit>,
    /// The same in terms of statements, so that fixes go together.
    #[serde(skip)]
    pub(crate) ops: Vec<Op>,
}

/// What was checked of a fix. Lines of text in the order in which they were checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Certificate {
    pub proven: Vec<String>,
    /// What could not be proven; empty for a `safe` fix.
    pub open: Vec<String>,
}

/// A finding without a fix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refusal {
    pub finding: Finding,
    pub reason: String,
}

/// The new text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// As findings name it.
    pub file: String,
    pub before: Vec<u8>,
    pub after: Vec<u8>,
    /// What makes the one of the other: stretches of `before`, in order, and what they become.
    pub edits: Vec<(Range<usize>, String)>,
}

#[derive(Default)]
pub struct Outcome {
    pub proposals: Vec<Proposal>,
    pub refusals: Vec<Refusal>,
    /// How often the patched program was analysed.
    pub rounds: usize,
    pub(crate) files: Files,
}

/// How edits are applied.
type Patching = fn(&[u8], Vec<TextEdit>) -> Option<Patched>;

impl Outcome {
    /// What some of the proposals do together, by file name. Of two that cannot go together the
    /// first is done.
    pub fn changes(&self, wanted: impl Fn(&Proposal) -> bool) -> Vec<FileChange> {
        self.changes_with(wanted, Patched::new)
    }

    /// The same with all that follows a change on the line that it was on: for programs that speak of
    /// lines of the original.
    pub fn line_by_line(&self, wanted: impl Fn(&Proposal) -> bool) -> Vec<FileChange> {
        self.changes_with(wanted, Patched::level)
    }

    fn changes_with(&self, wanted: impl Fn(&Proposal) -> bool, how: Patching) -> Vec<FileChange> {
        let mut ops: BTreeMap<&str, Vec<Op>> = BTreeMap::new();
        for proposal in self.proposals.iter().filter(|p| wanted(p)) {
            let all = ops.entry(proposal.finding.leak.file.as_str()).or_default();
            let clash = |op: &Op| all.iter().any(|other| conflict(op, other));
            if !proposal.ops.iter().any(clash) {
                all.extend(proposal.ops.iter().cloned());
            }
        }
        ops.into_iter().filter_map(|(file, ops)| self.change(file, &ops, how)).collect()
    }

    fn change(&self, file: &str, ops: &[Op], how: Patching) -> Option<FileChange> {
        let view = self.files.known(file)?;
        let all = edits(view, ops);
        let pieces = pieces(&all);
        let patched = how(&view.text, all)?;
        let file = file.to_owned();
        (patched.text != view.text).then(|| FileChange {
            file,
            before: view.text.clone(),
            after: patched.text,
            edits: pieces,
        })
    }
}

/// Edits as stretches and their new text; those that touch are one.
fn pieces(edits: &[TextEdit]) -> Vec<(Range<usize>, String)> {
    let mut list: Vec<(Range<usize>, String)> = Vec::new();
    for edit in edits {
        match list.last_mut().filter(|(range, _)| range.end == edit.range.start) {
            Some((range, text)) => {
                range.end = edit.range.end;
                text.push_str(&edit.text);
            }
            None => list.push((edit.range.clone(), edit.text.clone())),
        }
    }
    list
}

/// Why an attempt failed, for a reader.
pub fn explain(feedback: &Feedback) -> String {
    match feedback {
        Feedback::Compiler(message) => format!("the patched unit does not compile: {message}"),
        Feedback::NotGone => "the leak would still be there".to_owned(),
        Feedback::NewLeak(new) => format!("it would make another leak: {}", new.text),
        Feedback::Problems(problems) => match worst(problems) {
            Some(problem) => explain_problem(problem),
            None => "nothing speaks against it".to_owned(),
        },
    }
}

pub fn explain_problem(problem: &Problem) -> String {
    let condition = match problem.kind.condition() {
        1 => "it is not proven that the object is allocated there",
        2 => "it is not proven that nobody else releases the object",
        3 => "it is not proven that the object is not used afterwards",
        _ => "the release could not be judged",
    };
    format!("{condition}: {} ({})", problem.note, problem.at)
}

/// The problem to tell first: later conditions say more than earlier ones.
fn worst(problems: &[Problem]) -> Option<&Problem> {
    problems.iter().max_by_key(|p| (p.kind != ProblemKind::NoEffect, p.kind.condition()))
}
