//! The last result of a folder, kept in the cache so that `explain` can find what `check` printed.

use anyhow::{Result, bail};
use leakproof_findings::Report;
use leakproof_frontend::cache;
use std::path::{Path, PathBuf};

fn path(folder: &Path) -> Option<PathBuf> {
    let name = blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex();
    Some(cache::default_dir()?.join("results").join(format!("{}.json", &name[..16])))
}

/// Keeps a result. It is a convenience: when it cannot be kept, `explain` says so later.
pub fn keep(report: &Report, folder: &Path) {
    let Some(path) = path(folder) else { return };
    if let Some(parent) = path.parent()
        && std::fs::create_dir_all(parent).is_ok()
    {
        leakproof_report::write_file(&path, leakproof_report::json(report).as_bytes()).ok();
    }
}

/// The last result of `check` in this folder.
pub fn find(folder: &Path) -> Result<Report> {
    match path(folder).filter(|p| p.is_file()) {
        Some(path) => crate::rendering::read_report(&path),
        None => bail!(
            "no earlier result for {}: run `leakproof check` here first, or give --from FILE.json",
            folder.display()
        ),
    }
}
