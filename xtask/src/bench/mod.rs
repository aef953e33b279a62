//! Benchmarks on real programs, fetched as Debian source packages.
//!
//! Everything is kept below `target/bench`, so a second run measures without fetching again.

mod compile;
mod fit;
pub mod fix;
pub mod frontend;
pub mod inject;
pub mod injected;
pub mod judged;
mod leakproof;
pub mod load;
mod machine;
mod measure;
pub mod peers;
pub mod program;
pub mod projects;
mod recipes;
pub mod scale;
mod selection;
mod store;
pub mod validate;
mod verdict;

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
    target_folder().join("bench")
}

/// Where cargo builds.
pub fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The optimised build of this program, in which the loading is measured.
pub fn release_xtask() -> Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()).args(["build", "--quiet", "--release", "--package", "xtask"]);
    if !cargo.status()?.success() {
        bail!("the release build of xtask failed");
    }
    Ok(target_folder().join("release/xtask"))
}

/// Writes a page of `docs/benchmarks`.
pub fn write_page(name: &str, text: &str) -> Result<()> {
    let folder = root().join("docs/benchmarks");
    std::fs::create_dir_all(&folder)?;
    Ok(std::fs::write(folder.join(name), text)?)
}

/// A part of the whole in percent.
pub fn share(part: usize, whole: usize) -> String {
    match whole {
        0 => "–".to_owned(),
        _ => format!("{:.0} %", 100.0 * part as f64 / whole as f64),
    }
}

/// Lines of the units' main files.
pub fn source_lines(units: &[Unit]) -> usize {
    let paths: BTreeSet<PathBuf> = units.iter().map(Unit::path).collect();
    let lines = |path: &PathBuf| {
        std::fs::read(path).map_or(0, |t| t.iter().filter(|&&b| b == b'\n').count())
    };
    paths.iter().map(lines).sum()
}
