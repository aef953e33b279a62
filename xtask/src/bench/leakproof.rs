//! Runs of the `leakproof` program itself, seen from outside.

use super::measure::{Cost, limited, run_measured};
use super::selection::Tree;
use super::work_folder;
use anyhow::{Context, Result, bail};
use leakproof_findings::Report;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The cache of compiled units and of results that runs on a tree use.
pub fn cache(tree: &Tree) -> PathBuf {
    work_folder().join(format!("{}.cache", tree.name))
}

/// A run may take this much CPU time, as `ulimit` has it; nothing that is measured should.
const SECONDS: f64 = 7200.0;
const MEMORY_GIB: u64 = 16;

/// `leakproof check` on a tree with these further arguments.
pub fn check(binary: &Path, tree: &Tree, arguments: &[&str]) -> Result<(Report, Cost)> {
    let mut command = Command::new(binary);
    command.current_dir(&tree.folder).env("LEAKPROOF_CACHE_DIR", cache(tree));
    command.args(["--quiet", "check", "--format", "json"]).args(arguments);
    command.arg("compile_commands.json");
    let (output, cost) = run_measured(&mut limited(&command, SECONDS, MEMORY_GIB))?;
    if !matches!(output.status.code(), Some(0 | 1)) {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("{}: leakproof: {}: {}", tree.name, output.status, message.trim());
    }
    let report = serde_json::from_slice(&output.stdout).context("the report of leakproof")?;
    Ok((report, cost))
}
