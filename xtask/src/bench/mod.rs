//! Benchmarks on real programs, fetched as Debian source packages.
//!
//! Everything is kept below `target/bench`, so a second run measures without fetching again.

pub mod frontend;
pub mod load;
pub mod measure;
pub mod projects;

use std::path::{Path, PathBuf};

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
