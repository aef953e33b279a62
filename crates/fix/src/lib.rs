//! Source patches that release what leaks, with a certificate.
//!
//! In: a project, its lowered units and the findings to mend. Out: proposals (edits, reason,
//! certificate), refusals with their reasons, and the new text of every changed file. Every proposal
//! was compiled and analysed as if applied; files on disk are never touched here.

mod attempt;
mod declared;
mod diff;
mod files;
mod op;
mod outcome;
mod patched;
mod placement;
mod releaser;
mod replacements;
mod report;
mod session;
mod style;
mod trial;
mod view;

pub use diff::unified;
pub use outcome::{Certificate, FileChange, Outcome, Proposal, Refusal};
pub use replacements::replacements;
pub use trial::Workshop;

use attempt::Plan;
use files::Files;
use leakproof_detect::{Examination, Pair};
use leakproof_findings::{Finding, Sources};
use leakproof_models::Library;
use placement::{Finder, NoPlace};
use session::{Case, Session};
use trial::Key;

/// Mends findings of a program. `examination` is that of the program as it is, with pairs.
pub fn fix(
    workshop: &mut Workshop<'_>,
    examination: &Examination,
    findings: &[Finding],
    models: &Library,
    sources: &Sources,
) -> Outcome {
    let mut files = Files::default();
    let mut cases = Vec::new();
    let mut refusals = Vec::new();
    for finding in findings {
        match plan(&mut files, sources, finding, &examination.pairs, models) {
            Ok(case) => cases.push(case),
            Err(reason) => refusals.push(Refusal { finding: finding.clone(), reason }),
        }
    }
    let known = examination.report.leaks.iter().map(Key::of).collect();
    let mut session = Session::new(workshop, &files, cases, known);
    session.run();
    let (cases, rounds) = (session.cases, session.rounds);
    report::outcome(cases, refusals, files, rounds)
}

/// All that can be tried for a finding, or why there is nothing.
fn plan(
    files: &mut Files,
    sources: &Sources,
    finding: &Finding,
    pairs: &[Pair],
    models: &Library,
) -> Result<Case, String> {
    let file = &finding.leak.file;
    let cxx = is_cxx(file);
    let view = files.get(file, sources, cxx)?;
    let finder = Finder::new(view, finding).map_err(|e| match e {
        NoPlace::Unparsed => "the code around it is not understood well enough to be edited",
        NoPlace::Nameless => "no variable that could be named holds the object",
    })?;
    let function = finder.function();
    let placements = finder.placements();
    if placements.is_empty() {
        return Err("there is no statement to put a release at".to_owned());
    }
    let ways = releaser::ways(finding, pairs, models);
    if ways.is_empty() {
        return Err("no function is known that releases the object".to_owned());
    }
    let root = placement::root_of(&finding.variable);
    let reservation = view.is_conditional(function, root).then(|| {
        format!("`{root}` is also used under #if: other configurations were not analysed")
    });
    let plan = Plan::new(view, function, finding, placements, ways);
    Ok(Case::new(plan, reservation))
}

fn is_cxx(file: &str) -> bool {
    let extension = std::path::Path::new(file).extension().and_then(|e| e.to_str());
    matches!(
        extension,
        Some("cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "hh" | "hpp" | "hxx")
    )
}
