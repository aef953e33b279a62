//! Runs of the `leakproof` program itself, seen from outside.

use super::measure::{Cost, limited, run_measured};
use super::selection::Tree;
use super::work_folder;
use anyhow::{Context, Result, bail};
use leakproof_findings::{Applicability, Edit, Finding, Report};
use serde::Deserialize;
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
    check_with(binary, tree, &cache(tree), arguments)
}

/// The same with another cache.
pub fn check_with(
    binary: &Path,
    tree: &Tree,
    cache: &Path,
    arguments: &[&str],
) -> Result<(Report, Cost)> {
    let arguments = [&["check"], arguments].concat();
    let (output, cost) = run(binary, tree, cache, &arguments)?;
    Ok((serde_json::from_slice(&output).context("the report of leakproof")?, cost))
}

/// What `leakproof fix --format json` says.
#[derive(Debug, Deserialize)]
pub struct FixReport {
    pub fixes: Vec<Mending>,
    pub refused: Vec<Refused>,
}

#[derive(Debug, Deserialize)]
pub struct Mending {
    pub finding: Finding,
    pub applicability: Applicability,
    pub reason: String,
    pub certificate: Certificate,
    pub edits: Vec<Edit>,
}

#[derive(Debug, Deserialize)]
pub struct Certificate {
    pub open: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct Refused {
    pub finding: Finding,
    pub reason: String,
}

/// `leakproof fix` on a tree; no file is changed.
pub fn fix(binary: &Path, tree: &Tree, cache: &Path) -> Result<(FixReport, Cost)> {
    let (output, cost) = run(binary, tree, cache, &["fix"])?;
    Ok((serde_json::from_slice(&output).context("the result of leakproof fix")?, cost))
}

/// A cache that only one benchmark uses.
pub fn own_cache(tree: &Tree, purpose: &str) -> PathBuf {
    work_folder().join(format!("{}.{purpose}.cache", tree.name))
}

/// A run with JSON on standard output.
fn run(binary: &Path, tree: &Tree, cache: &Path, arguments: &[&str]) -> Result<(Vec<u8>, Cost)> {
    let mut command = Command::new(binary);
    command.current_dir(&tree.folder).env("LEAKPROOF_CACHE_DIR", cache);
    command.arg("--quiet").args(arguments).args(["--format", "json"]);
    command.arg("compile_commands.json");
    let (output, cost) = run_measured(&mut limited(&command, SECONDS, MEMORY_GIB))?;
    if !matches!(output.status.code(), Some(0 | 1)) {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("{}: leakproof: {}: {}", tree.name, output.status, message.trim());
    }
    Ok((output.stdout, cost))
}
