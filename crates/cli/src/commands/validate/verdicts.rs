//! Verdicts: getting them, merging them into the report, and saying them.

use crate::order::Order;
use leakproof_findings::{AllocSite, Evidence, Finding, Location, Report, Validation, Verdict};
use leakproof_frontend::display_name;
use leakproof_validate::{
    Cause, Input, Outcome, SCRIPT, SearchStats, ValidateError, Validator, Warning,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The result for one warning.
pub struct Judged {
    /// Position among the warnings.
    pub warning: usize,
    pub result: Judgement,
}

pub enum Judgement {
    Rejected(String),
    Judged { outcome: Box<Outcome>, witness: Option<PathBuf> },
}

/// Validates one warning and keeps its witness. `left`: what is left of the time for all of them.
pub fn judge(
    validator: &Validator,
    warning: &Warning,
    seeds: &[Input],
    witnesses: &Path,
    left: Option<Duration>,
) -> Result<Judgement, ValidateError> {
    if left.is_some_and(|l| l.is_zero()) {
        let outcome = Outcome {
            verdict: Verdict::MayLeak,
            reason: "the time for all warnings was used up before this one".to_owned(),
            cause: Cause::NoTime,
            core: Vec::new(),
            qualifier: None,
            witness: None,
            stats: SearchStats::default(),
        };
        return Ok(Judgement::Judged { outcome: Box::new(outcome), witness: None });
    }
    let folder = witnesses.join(folder_name(&warning.name));
    match validator.validate(warning, seeds, &folder, left)? {
        Err(rejection) => Ok(Judgement::Rejected(rejection.to_string())),
        Ok(outcome) => {
            let witness = (outcome.verdict == Verdict::MustLeak).then_some(folder);
            Ok(Judgement::Judged { outcome: Box::new(outcome), witness })
        }
    }
}

/// The same reason for several warnings.
pub fn rejected(numbers: &[usize], reason: &ValidateError) -> Vec<Judged> {
    let rejected = || Judgement::Rejected(reason.to_string());
    numbers.iter().map(|n| Judged { warning: *n, result: rejected() }).collect()
}

/// Gives warnings of the same name different ones: witnesses are kept by name.
pub fn tell_apart(warnings: &mut [Warning]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for warning in warnings {
        let times = seen.entry(warning.name.clone()).or_insert(0);
        *times += 1;
        if *times > 1 {
            warning.name = format!("{}.{times}", warning.name);
        }
    }
}

/// A file name made of a warning's name.
fn folder_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '_' };
    let text: String = name.chars().map(plain).collect();
    text.trim_start_matches(['_', '.']).to_owned()
}

/// What came of a warning, for the progress.
pub fn line(warning: &Warning, result: &Result<Judgement, ValidateError>) -> String {
    let judgement = match result {
        Ok(judgement) => judgement,
        Err(error) => return format!("{}: {error}", warning.name),
    };
    match judgement {
        Judgement::Rejected(reason) => format!("{}: rejected: {reason}", warning.name),
        Judgement::Judged { outcome, .. } => format!(
            "{}: {} after {} runs, {} guesses, {} questions, {:.1} s",
            warning.name,
            outcome.verdict.name(),
            outcome.stats.runs,
            outcome.stats.guessed,
            outcome.stats.queries,
            outcome.stats.elapsed.as_secs_f64()
        ),
    }
}

/// A warning that is no finding of ours, as one.
pub fn as_finding(warning: &Warning, root: &Path) -> Finding {
    let first = warning.allocation.first().cloned().unwrap_or_default();
    let alloc = AllocSite {
        file: display_name(&first.file, root),
        line: first.line,
        column: first.column,
        callee: first.callee,
        ..AllocSite::default()
    };
    Finding {
        id: warning.name.clone(),
        family: "memory".to_owned(),
        alloc_trace: vec![alloc.clone()],
        alloc,
        leak: Location {
            file: display_name(&warning.leak.file, root),
            line: warning.leak.line,
            column: warning.leak.column,
            ..Location::default()
        },
        ..Finding::default()
    }
}

/// Puts verdicts into the report; what was witnessed is evidence.
pub fn merge(report: &mut Report, judged: &[Judged]) {
    for j in judged {
        let Some(finding) = report.leaks.get_mut(j.warning) else { continue };
        match &j.result {
            Judgement::Rejected(reason) => {
                finding.verdict = None;
                finding.validation = Some(Validation {
                    reason: reason.clone(),
                    cause: Some("rejected".to_owned()),
                    ..Validation::default()
                });
            }
            Judgement::Judged { outcome, witness } => {
                finding.verdict = Some(outcome.verdict);
                finding.validation = Some(validation(outcome, witness.as_deref()));
                if outcome.verdict == Verdict::MustLeak {
                    finding.evidence = Evidence::Witnessed;
                }
            }
        }
    }
}

fn validation(outcome: &Outcome, witness: Option<&Path>) -> Validation {
    Validation {
        reason: outcome.reason.clone(),
        cause: Some(outcome.cause.key().to_owned()),
        core: outcome.core.clone(),
        qualifier: outcome.qualifier.map(|q| q.key().to_owned()),
        witness: witness.map(|w| w.display().to_string()),
        runs: outcome.stats.runs,
        on_path: outcome.stats.covering,
    }
}

/// The results for a reader.
pub fn text(warnings: &[Warning], judged: &[Judged], order: Order, root: &Path) -> String {
    let verdict = |j: &Judged| match &j.result {
        Judgement::Judged { outcome, .. } => Some(outcome.verdict),
        Judgement::Rejected(_) => None,
    };
    let mut list: Vec<&Judged> = judged.iter().collect();
    list.sort_by_key(|j| (order.rank(verdict(j)), j.warning));
    let mut text = String::new();
    for j in list {
        let warning = &warnings[j.warning];
        let name = verdict(j).map_or("REJECTED", Verdict::name);
        writeln!(text, "{name}  {}", headline(warning, root)).ok();
        match &j.result {
            Judgement::Rejected(reason) => writeln!(text, "    {reason}").ok(),
            Judgement::Judged { outcome, witness } => {
                details(&mut text, outcome, witness.as_deref())
            }
        };
    }
    text
}

fn headline(warning: &Warning, root: &Path) -> String {
    let place =
        |s: &leakproof_validate::Spot| format!("{}:{}", display_name(&s.file, root), s.line);
    let alloc = warning.allocation.first().map(place).unwrap_or_default();
    format!("{}: allocated at {alloc}, leaks at {}", warning.name, place(&warning.leak))
}

fn details(text: &mut String, outcome: &Outcome, witness: Option<&Path>) -> Option<()> {
    writeln!(text, "    {}", outcome.reason).ok()?;
    let s = outcome.stats;
    writeln!(text, "    {} runs, {} of them on the path", s.runs, s.covering).ok()?;
    if let Some(folder) = witness {
        writeln!(text, "    witness: {}", folder.join(SCRIPT).display()).ok()?;
    }
    Some(())
}
