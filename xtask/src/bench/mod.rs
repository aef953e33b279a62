//! Benchmarks on real programs, fetched as Debian source packages.
//!
//! Everything is kept below `target/bench`, so a second run measures without fetching again.

pub mod frontend;
pub mod injected;
pub mod load;
pub mod measure;
pub mod program;
pub mod projects;
pub mod validate;

use anyhow::{Result, bail};
use leakproof_frontend::Unit;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Where sources, builds and caches of benchmarks lie.
pub fn work_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), PathBuf::from)
        .join("bench")
}

/// The optimised build of this program, in which the loading is measured.
pub fn release_xtask() -> Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()).args(["build", "--quiet", "--release", "--package", "xtask"]);
    if !cargo.status()?.success() {
        bail!("the release build of xtask failed");
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release/xtask"))
}

/// Lines of the units' main files.
pub fn source_lines(units: &[Unit]) -> usize {
    let paths: BTreeSet<PathBuf> = units.iter().map(Unit::path).collect();
    let lines = |path: &PathBuf| {
        std::fs::read(path).map_or(0, |t| t.iter().filter(|&&b| b == b'\n').count())
    };
    paths.iter().map(lines).sum()
}
