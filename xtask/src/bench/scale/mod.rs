//! `cargo xtask bench scale`: what checking a whole program costs beside compiling it.
//!
//! Per program, in one go: the CPU time of `clang -O0 -c` over every unit; leakproof with an empty
//! cache on one core and on all; again with a full one; after each of three edits of one function;
//! then the peers. `docs/benchmarks/scale.md` and its plot are made of the kept results.

pub mod copy;
mod edit;
mod page;
mod plot;

use super::compile::compile_all;
use super::measure::{Cost, children_cpu, median};
use super::peers::run::{PeerRun, peer};
use super::peers::tool::TOOLS;
use super::recipes;
use super::selection::{Choice, Selection, Tree};
use super::{leakproof, machine, source_lines, store};
use anyhow::{Result, bail};
use edit::Edited;
use leakproof_findings::Report;
use leakproof_frontend::{LoadOptions, Silent, load};
use serde::{Deserialize, Serialize};
use std::path::Path;

const KIND: &str = "scale";
const ROUNDS: usize = 3;
/// Programs that take longer to compile are measured once.
pub const SHORT_SECONDS: f64 = 5.0;
const EDITS: usize = 3;

/// One program's result. Times are CPU seconds of leakproof itself, without clang's, unless they say
/// otherwise.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    pub day: String,
    /// How many processes wanted to run on the machine when the measuring began.
    pub load: f64,
    pub rounds: usize,
    pub lines: usize,
    pub units: u64,
    pub functions: u64,
    pub instructions: u64,
    pub findings: usize,
    /// Functions in which a budget ran out.
    pub limited: usize,
    /// `clang -O0 -c`.
    pub compile: f64,
    /// clang, to bitcode.
    pub bitcode: f64,
    pub cold: f64,
    pub warm: f64,
    /// The middle one and the worst of the edits.
    pub edit: f64,
    pub edit_worst: f64,
    /// Seconds by the clock after an edit, clang's included.
    pub edit_wall: f64,
    /// Seconds by the clock from an empty cache, clang's included.
    pub wall_one: f64,
    pub wall_all: f64,
    pub peak_mib: f64,
}

pub fn run(words: &[&str]) -> Result<()> {
    let selection = Selection::parse(words)?;
    if !selection.page_only {
        let binary = selection.leakproof()?;
        for choice in selection.programs()? {
            if selection.again || store::kept::<Row>(KIND, choice.name()).is_none() {
                eprintln!("{} ...", choice.name());
                let row = measure(&choice, &binary)?;
                eprintln!("{}: cold {:.2} x", choice.name(), row.cold / row.compile);
                store::keep(KIND, choice.name(), &row)?;
            }
            let tree = choice.tree()?;
            TOOLS.iter().try_for_each(|&tool| peer(&tree, tool, &selection).map(drop))?;
        }
    }
    page::write(&rows())
}

/// Everything kept, in the order of the recipes.
fn rows() -> Vec<Measured> {
    let place = |name: &str| recipes::all().position(|p| p.name == name).unwrap_or(usize::MAX);
    let mut kept: Vec<(String, Row)> = store::all(KIND);
    kept.sort_by_key(|(name, row)| (row.lines, place(name)));
    let peers = |name: &str| TOOLS.map(|t| store::kept(&format!("peer-{}", t.name()), name));
    kept.into_iter().map(|(name, row)| Measured { peers: peers(&name), name, row }).collect()
}

/// A program's result with those of the peers.
pub struct Measured {
    pub name: String,
    pub row: Row,
    pub peers: [Option<PeerRun>; TOOLS.len()],
}

fn measure(choice: &Choice<'_>, binary: &Path) -> Result<Row> {
    let tree = match choice {
        Choice::Given(tree) => copy::copy(tree)?,
        Choice::Known(_) => choice.tree()?,
    };
    let mut row = Row { day: machine::today(), load: machine::load(), ..Row::default() };
    row.lines = source_lines(&tree.project()?.units);
    measure_runs(&tree, binary, &mut row)?;
    measure_edits(&tree, binary, &mut row)?;
    // Last, since it empties the cache.
    std::fs::remove_dir_all(leakproof::cache(&tree)).ok();
    row.wall_one = leakproof::check(binary, &tree, &["-j1"])?.1.wall;
    Ok(row)
}

/// Cold and warm, beside the yardstick, in rounds.
fn measure_runs(tree: &Tree, binary: &Path, row: &mut Row) -> Result<()> {
    let project = tree.project()?;
    let mut samples: [Vec<f64>; 6] = Default::default();
    loop {
        let (compile, failed) = children_cpu(|| compile_all(&project));
        failed?;
        std::fs::remove_dir_all(leakproof::cache(tree)).ok();
        let (report, cold) = leakproof::check(binary, tree, &[])?;
        let (again, warm) = leakproof::check(binary, tree, &[])?;
        if again.leaks != report.leaks {
            bail!("{}: the second run reports something else", tree.name);
        }
        let values = [compile, cold.children, cold.own, warm.cpu(), cold.wall, cold.own_peak_mib];
        samples.iter_mut().zip(values).for_each(|(s, v)| s.push(v));
        row.rounds += 1;
        if row.rounds == ROUNDS || compile > SHORT_SECONDS {
            count(row, &report);
            break;
        }
    }
    [row.compile, row.bitcode, row.cold, row.warm, row.wall_all, row.peak_mib] =
        samples.map(|mut s| median(&mut s));
    Ok(())
}

fn count(row: &mut Row, report: &Report) {
    let stats = &report.stats;
    (row.units, row.functions, row.instructions) =
        (stats.units, stats.functions, stats.instructions);
    (row.findings, row.limited) = (report.leaks.len(), stats.limited.len());
}

/// After edits of functions of different sizes, each from the state before.
fn measure_edits(tree: &Tree, binary: &Path, row: &mut Row) -> Result<()> {
    let options = LoadOptions { jobs: 0, cache: Some(leakproof::cache(tree)) };
    let places = edit::places(&load(&tree.project()?, &options, &Silent)?.modules);
    let mut costs: Vec<Cost> = Vec::new();
    for place in places {
        if costs.len() == EDITS {
            break;
        }
        let Some(edited) = Edited::new(&tree.folder, &place)? else { continue };
        let (report, cost) = leakproof::check(binary, tree, &[])?;
        drop(edited);
        // A unit that the edit broke says nothing.
        if report.stats.units == row.units {
            costs.push(cost);
        }
    }
    let mut own: Vec<f64> = costs.iter().map(|c| c.own).collect();
    row.edit = median(&mut own);
    row.edit_worst = own.last().copied().unwrap_or(0.0);
    row.edit_wall = median(&mut costs.iter().map(|c| c.wall).collect::<Vec<_>>());
    Ok(())
}
