//! One peer over all units of a tree, each unit under a limit of time and memory.

use super::tool::Tool;
use super::warning::{self, Warning};
use super::whole;
use crate::bench::compile::compile_each;
use crate::bench::measure::{limited, run_measured};
use crate::bench::selection::{Selection, Tree};
use crate::bench::{machine, store};
use anyhow::{Context, Result};
use leakproof_frontend::Project;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::process::Command;

/// A unit may take this many times what clang takes to compile it, and at least the seconds below.
pub const TIMES: f64 = 60.0;
pub const LEAST_SECONDS: f64 = 120.0;
/// A unit may use this much memory.
pub const MEMORY_GIB: u64 = 8;

/// What a peer did on a tree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PeerRun {
    pub version: String,
    pub day: String,
    /// CPU seconds of `clang -O0 -c` over the same units, measured just before.
    pub compile: f64,
    pub cpu: f64,
    /// The most that one unit took.
    pub peak_mib: f64,
    pub units: usize,
    /// Units stopped at the limit.
    pub stopped: Vec<String>,
    /// Units that the peer could not read.
    pub failed: Vec<String>,
    pub warnings: Vec<Warning>,
}

impl PeerRun {
    /// CPU time in compile times.
    pub fn ratio(&self) -> f64 {
        if self.compile > 0.0 { self.cpu / self.compile } else { 0.0 }
    }
}

/// The kept result of a peer on a tree, or a new one when the peer is to be run. `None` when there is
/// neither, or the peer is not installed.
pub fn peer(tree: &Tree, tool: Tool, selection: &Selection) -> Result<Option<PeerRun>> {
    let Some(version) = tool.version() else { return Ok(None) };
    let kind = format!("peer-{}", tool.name());
    let kept = store::kept::<PeerRun>(&kind, &tree.name).filter(|r| r.version == version);
    let wanted = selection.runs(tool.name());
    if !wanted || (kept.is_some() && !selection.again) {
        return Ok(kept);
    }
    eprintln!("{}: {} ...", tree.name, tool.title());
    let run = measure(tree, tool, version)?;
    eprintln!(
        "{}: {}: {:.1} x, {} warnings",
        tree.name,
        tool.title(),
        run.ratio(),
        run.warnings.len()
    );
    store::keep(&kind, &tree.name, &run)?;
    Ok(Some(run))
}

fn measure(tree: &Tree, tool: Tool, version: String) -> Result<PeerRun> {
    if tool == Tool::Saber {
        return whole::measure(tree, version);
    }
    let project = tree.project()?;
    let compile = compile_each(&project)?;
    let mut run = PeerRun { version, day: machine::today(), ..PeerRun::default() };
    let mut warnings = BTreeSet::new();
    for (unit, seconds) in project.units.iter().zip(compile) {
        // What clang does not compile is nobody's fault.
        let Some(seconds) = seconds else { continue };
        run.units += 1;
        run.compile += seconds;
        warnings.extend(unit_warnings(tree, tool, &project, unit, seconds, &mut run)?);
    }
    run.warnings = warnings.into_iter().collect();
    Ok(run)
}

fn unit_warnings(
    tree: &Tree,
    tool: Tool,
    project: &Project,
    unit: &leakproof_frontend::Unit,
    compile: f64,
    run: &mut PeerRun,
) -> Result<Vec<Warning>> {
    let line = tool.command(unit)?;
    let (program, arguments) = line.split_first().context("an empty command")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&unit.directory).env("LC_ALL", "C");
    let limit = (compile * TIMES).max(LEAST_SECONDS).ceil();
    let (output, cost) = run_measured(&mut limited(&command, limit, MEMORY_GIB))?;
    run.cpu += cost.cpu();
    run.peak_mib = run.peak_mib.max(cost.peak_mib);
    if cost.cpu() >= limit * 0.98 || cost.peak_mib > MEMORY_GIB as f64 * 1024.0 * 0.9 {
        run.stopped.push(project.name(unit));
    } else if !output.status.success() {
        run.failed.push(project.name(unit));
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    Ok(warning::parse(tool, &text, &unit.directory, &tree.folder))
}
