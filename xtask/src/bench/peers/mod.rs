//! `cargo xtask bench peers`: the leak warnings of other analysers beside leakproof's.
//!
//! Per program: each peer over every unit, leakproof over the whole program, and which of them name
//! a leak in the same function. Peers do not change with leakproof, so their results are kept and
//! used again; `--again` runs them anew, `--peers gcc,cppcheck` only these, `--page` only makes the page, `--list FILE` writes what
//! peers report and leakproof does not.

mod compare;
mod functions;
mod page;
pub mod run;
pub mod tool;
mod warning;
mod whole;

use super::selection::{Choice, Selection, Tree};
use super::{leakproof, machine, store};
use anyhow::Result;
use compare::{Missing, Ours, Overlap};
use functions::Functions;
use leakproof_frontend::{LoadOptions, Silent, load};
use serde::{Deserialize, Serialize};
use std::path::Path;
use tool::TOOLS;

const KIND: &str = "peers";

/// The comparison on one tree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    pub day: String,
    pub findings: usize,
    /// Findings in functions about which no peer says anything.
    pub alone: usize,
    /// In the order of `TOOLS`; `None` when the peer is not installed.
    pub peers: Vec<Option<PeerRow>>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PeerRow {
    pub stopped: usize,
    pub failed: usize,
    pub overlap: Overlap,
}

pub fn run(words: &[&str]) -> Result<()> {
    let selection = Selection::parse(words)?;
    if !selection.page_only {
        let binary = selection.leakproof()?;
        for choice in selection.programs()? {
            let row = measure(&choice, &binary, &selection)?;
            store::keep(KIND, choice.name(), &row)?;
        }
    }
    let rows: Vec<(String, Row)> = store::all(KIND);
    page::write(&rows)?;
    if let Some(path) = &selection.list {
        std::fs::write(path, serde_json::to_vec_pretty(&missing(&rows))?)?;
    }
    Ok(())
}

fn measure(choice: &Choice<'_>, binary: &Path, selection: &Selection) -> Result<Row> {
    let tree = choice.tree()?;
    let runs: Vec<_> =
        TOOLS.iter().map(|&t| run::peer(&tree, t, selection)).collect::<Result<_>>()?;
    let (report, _) = leakproof::check(binary, &tree, &["--families", "file"])?;
    let functions = functions_of(&tree)?;
    let ours = Ours::new(&report);
    let warnings: Vec<_> = runs.iter().flatten().flat_map(|r| r.warnings.iter().cloned()).collect();
    let peers = TOOLS.iter().zip(&runs).map(|(tool, run)| {
        let run = run.as_ref()?;
        let overlap = compare::overlap(&tree.name, tool.name(), &run.warnings, &ours, &functions);
        Some(PeerRow { stopped: run.stopped.len(), failed: run.failed.len(), overlap })
    });
    Ok(Row {
        day: machine::today(),
        findings: ours.len(),
        alone: ours.alone(&compare::warned(&warnings, &functions)),
        peers: peers.collect(),
    })
}

fn functions_of(tree: &Tree) -> Result<Functions> {
    let options = LoadOptions { jobs: 0, cache: Some(leakproof::cache(tree)) };
    Ok(Functions::new(&load(&tree.project()?, &options, &Silent)?.modules))
}

fn missing(rows: &[(String, Row)]) -> Vec<Missing> {
    let peers = rows.iter().flat_map(|(_, r)| r.peers.iter().flatten());
    peers.flat_map(|p| p.overlap.missing.iter().cloned()).collect()
}
