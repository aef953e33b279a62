//! Source patches that release what leaks, with a certificate.
//!
//! In: a project, its lowered units and the findings to mend. Out: proposals (edits, reason,
//! certificate), refusals with their reasons, and the new text of every changed file. Every proposal
//! was compiled and analysed as if applied; files on disk are never touched here.

mod attempt;
mod declared;
mod diff;
mod files;
mod holder;
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
mod types;
mod view;

pub use diff::unified;
pub use outcome::{Certificate, FileChange, Outcome, Proposal, Refusal};
pub use replacements::replacements;
pub use trial::Workshop;

use attempt::Plan;
use files::Files;
use leakproof_detect::Examination;
use leakproof_findings::{Finding, Sources};
use leakproof_models::Library;
use placement::Finder;
use releaser::Knowledge;
use session::{Case, Session};
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
    let knowledge = Knowledge::new(examination, models);
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

/// Makes plans.
struct Planner<'a, 'p> {
    files: Files,
    sources: &'a Sources,
    workshop: &'a Workshop<'p>,
    knowledge: &'a Knowledge<'a>,
}

impl Planner<'_, '_> {
    /// All that can be tried for a finding, or why there is nothing.
    fn plan(&mut self, finding: &Finding) -> Result<Case, String> {
        let file = &finding.leak.file;
        let view = self.files.get(file, self.sources, is_cxx(file))?;
        let spelled = holder::spell(view, finding, self.sources);
        let finder = Finder::new(view, finding, spelled.as_deref().unwrap_or_default())
            .ok_or("the code around it is not understood well enough to be edited")?;
        let function = finder.function();
        let (holder, placements) = match &spelled {
            Some(holder) => (holder.clone(), finder.placements()),
            None => {
                let made = self.workshop.return_type(&finding.alloc.callee);
                finder
                    .nameless(made.as_deref())
                    .ok_or("no variable that could be named holds the object")?
            }
        };
        if placements.is_empty() {
            return Err("there is no statement to put a release at".to_owned());
        }
        let ty = self.workshop.struct_of(finding, &holder);
        let ways = self.knowledge.ways(finding, &holder, ty.as_deref());
        if ways.is_empty() {
            return Err("no function is known that releases the object".to_owned());
        }
        let root = holder::root_of(&holder);
        let reservation = view.is_conditional(function, root).then(|| {
            format!("`{root}` is also used under #if: other configurations were not analysed")
        });
        let plan = Plan::new(view, function, finding, holder, placements, ways);
        Ok(Case::new(plan, reservation))
    }
}

fn is_cxx(file: &str) -> bool {
    let extension = std::path::Path::new(file).extension().and_then(|e| e.to_str());
    matches!(
        extension,
        Some("cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "hh" | "hpp" | "hxx")
    )
}
