//! Source patches that release what leaks, with a certificate.
//!
//! In: a project, its lowered units and the findings to mend. Out: proposals (edits, reason,
//! certificate), refusals with their reasons, and the new text of every changed file. Every proposal
//! was compiled and analysed as if applied; files on disk are never touched here.

mod attempt;
mod conditional;
mod declared;
mod diff;
mod files;
mod finder;
mod flow;
mod holder;
mod kept;
mod made;
mod null;
mod op;
mod origin;
mod out_param;
mod outcome;
mod patched;
mod placement;
mod plan;
mod precedent;
mod reach;
mod releaser;
mod replacements;
mod report;
mod results;
mod session;
mod shape;
mod spelling;
mod style;
mod template;
mod trial;
mod types;
mod view;
mod walk;

pub use diff::unified;
pub use outcome::{Certificate, FileChange, Outcome, Proposal, Refusal};
pub use replacements::replacements;
pub use trial::Workshop;

use files::Files;
use leakproof_detect::Examination;
use leakproof_findings::{Finding, Sources};
use leakproof_models::Library;
use plan::Planner;
use releaser::Knowledge;
use session::Session;
use trial::Key;

/// What a mended leak hid is mended after it, so deep at most.
const MAX_LAYERS: usize = 4;

/// Mends findings of a program. `examination` is that of the program as it is, with pairs.
pub fn fix(
    workshop: &mut Workshop<'_>,
    examination: &Examination,
    findings: &[Finding],
    models: &Library,
    sources: &Sources,
) -> Outcome {
    let files_of =
        |function: &str| workshop.files_of(function).into_iter().map(str::to_owned).collect();
    let knowledge = Knowledge::new(examination, models, files_of);
    let mut files = Files::default();
    let mut refusals = Vec::new();
    let mut cases = Vec::new();
    let mut known: Vec<Key> = examination.report.leaks.iter().map(Key::of).collect();
    let mut next = findings.to_vec();
    let mut rounds = 0;
    for _ in 0..MAX_LAYERS {
        let mut planner = Planner { files, sources, workshop, knowledge: &knowledge };
        for finding in next {
            match planner.plan(&finding) {
                Ok(case) => cases.push(case),
                Err(reason) => refusals.push(Refusal { finding, reason }),
            }
        }
        files = planner.files;
        let mut session = Session::new(workshop, &files, sources, &knowledge, cases, known);
        session.run();
        rounds += session.rounds;
        (cases, known, next) = (session.cases, session.known, session.hidden);
        leakproof_findings::assign_ids(&mut next, sources);
        if next.is_empty() {
            break;
        }
    }
    let reason = "another leak hid it; run again after applying that fix";
    let left = next.into_iter().map(|finding| Refusal { finding, reason: reason.to_owned() });
    refusals.extend(left);
    report::outcome(cases, refusals, files, rounds)
}
