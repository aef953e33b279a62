//! `cargo xtask bench judged [PROGRAM...]`: the findings of today against the verdicts of before.
//!
//! `docs/judged` keeps what readers said of single findings, a file per program. A change of the
//! analysis should lose the false ones and keep the true ones; this counts both. With `-v` also the
//! rows and findings behind the numbers. Nothing is written: the verdicts stay, the counts pass.

pub mod recipes;
mod row;
mod score;

use super::selection::{Choice, Selection};
use super::verdict::Verdict;
use super::{leakproof, root, share};
use anyhow::{Context, Result, ensure};
use leakproof_findings::Finding;
use row::Row;
use score::{Counts, Score};
use std::path::{Path, PathBuf};

pub fn run(words: &[&str]) -> Result<()> {
    let selection = Selection::parse(words)?;
    let programs = selection.programs_or(recipes::JUDGED.iter())?;
    let judged: Vec<Vec<Row>> = programs.iter().map(|p| rows(p.name())).collect::<Result<_>>()?;
    let binary = selection.leakproof()?;
    println!("{}", Counts::heading());
    let mut total = Counts::default();
    let mut failed = Vec::new();
    for (program, rows) in programs.iter().zip(&judged) {
        // A package that the mirror does not have now should not cost the others their score.
        let findings = match findings(program, &binary) {
            Ok(findings) => findings,
            Err(error) => {
                eprintln!("{}: {error:#}", program.name());
                failed.push(program.name());
                continue;
            }
        };
        let score = Score::new(rows, &findings);
        println!("{}", score.counts().line(program.name()));
        if selection.verbose {
            score.details().iter().for_each(|line| println!("    {line}"));
        }
        total += score.counts();
    }
    println!("{}", total.line("all"));
    println!("true among judged: {}", share(total.kept, total.kept + total.left));
    ensure!(failed.is_empty(), "without a score: {}", failed.join(", "));
    Ok(())
}

/// What leakproof reports on a program. Units that it could not read are named: rows about them
/// count as lost.
fn findings(program: &Choice<'_>, binary: &Path) -> Result<Vec<Finding>> {
    let (report, _) = leakproof::check(binary, &program.tree()?, &[])?;
    for skipped in &report.skipped {
        eprintln!("{}: {} was skipped: {}", program.name(), skipped.file, skipped.reason);
    }
    Ok(report.leaks)
}

/// The verdict on each finding, in their order, of a program that was judged; of another one nothing.
pub fn verdicts_on(program: &str, findings: &[Finding]) -> Result<Vec<Verdict>> {
    if !verdicts(program).is_file() {
        return Ok(vec![Verdict::Unjudged; findings.len()]);
    }
    Ok(Score::new(&rows(program)?, findings).verdicts(findings))
}

/// The verdicts on a program.
fn rows(program: &str) -> Result<Vec<Row>> {
    let path = verdicts(program);
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("{program} was not judged: {}", path.display()))?;
    let rows = text.lines().map(Row::parse).collect::<Result<_>>();
    rows.with_context(|| path.display().to_string())
}

fn verdicts(program: &str) -> PathBuf {
    root().join("docs/judged").join(format!("{program}.tsv"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_verdicts_can_be_read() {
        for recipe in recipes::JUDGED {
            assert!(!rows(recipe.name).unwrap().is_empty(), "{}", recipe.name);
        }
    }
}
