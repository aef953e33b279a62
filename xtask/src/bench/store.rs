//! Results of single programs, kept below `target/bench` so that a page can be made of runs on
//! different days, and a long run can be taken up where it stopped.

use super::work_folder;
use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;

fn path(kind: &str, name: &str) -> PathBuf {
    work_folder().join("rows").join(kind).join(format!("{name}.json"))
}

/// Keeps a result under its kind and the program's name.
pub fn keep<T: Serialize>(kind: &str, name: &str, value: &T) -> Result<()> {
    let path = path(kind, name);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(&path, serde_json::to_vec_pretty(value)?)
        .with_context(|| path.display().to_string())
}

/// The kept result; one of an older layout counts as absent.
pub fn kept<T: DeserializeOwned>(kind: &str, name: &str) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path(kind, name)).ok()?).ok()
}

/// All kept results of a kind, by name.
pub fn all<T: DeserializeOwned>(kind: &str) -> Vec<(String, T)> {
    let folder = work_folder().join("rows").join(kind);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|e| Some(e.path().file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    names.into_iter().filter_map(|n| kept(kind, &n).map(|v| (n, v))).collect()
}
