//! `leakproof fix` on one program, and what became of each finding.

use super::judged::{Judged, described};
use crate::bench::judged::verdicts_on;
use crate::bench::leakproof::{self, FixReport};
use crate::bench::machine;
use crate::bench::selection::Tree;
use crate::bench::verdict::Verdict;
use anyhow::Result;
use leakproof_findings::{Applicability, Finding};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The result on one program.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    pub day: String,
    /// CPU seconds of `check` with an empty cache.
    pub check: f64,
    /// CPU seconds of `fix` with what that left in the cache.
    pub fix: f64,
    pub items: Vec<Item>,
}

/// One finding.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Item {
    pub finding: String,
    pub verdict: Verdict,
    pub mended: Mended,
    /// What the fix does, what could not be proven, or why there is none.
    pub why: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mended {
    Safe,
    Suggested,
    #[default]
    No,
}

/// Runs `check` from an empty cache, and `fix` after it.
pub fn measure(binary: &Path, tree: &Tree, judged: &Judged) -> Result<Row> {
    let cache = leakproof::own_cache(tree, "fix");
    std::fs::remove_dir_all(&cache).or_else(absent)?;
    let check = leakproof::check_with(binary, tree, &cache, &[])?.1;
    let (report, fix) = leakproof::fix(binary, tree, &cache)?;
    let items = items(&report, &tree.name, judged)?;
    Ok(Row { day: machine::today(), check: check.cpu(), fix: fix.cpu(), items })
}

fn absent(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn items(report: &FixReport, program: &str, judged: &Judged) -> Result<Vec<Item>> {
    let fixes = report.fixes.iter().map(|fix| match fix.applicability {
        Applicability::Safe => (&fix.finding, Mended::Safe, fix.reason.clone()),
        Applicability::Suggested => {
            (&fix.finding, Mended::Suggested, fix.certificate.open.join("; "))
        }
    });
    let refused = report.refused.iter().map(|r| (&r.finding, Mended::No, r.reason.clone()));
    let ends: Vec<(&Finding, Mended, String)> = fixes.chain(refused).collect();
    let findings: Vec<Finding> = ends.iter().map(|(finding, ..)| (*finding).clone()).collect();
    let rows = verdicts_on(program, &findings)?;
    let item = |((finding, mended, why), row): (&(&Finding, Mended, String), Verdict)| Item {
        finding: described(finding),
        verdict: match judged.verdict(program, finding) {
            Verdict::Unjudged => row,
            verdict => verdict,
        },
        mended: *mended,
        why: why.clone(),
    };
    let mut items: Vec<Item> = ends.iter().zip(rows).map(item).collect();
    items.sort_by(|a, b| (a.mended, &a.finding).cmp(&(b.mended, &b.finding)));
    Ok(items)
}
