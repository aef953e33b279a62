//! Gives the code that makes lowered units a number, so that a cache entry made by other code is
//! never read: a hash over the sources of the IR and of this crate.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    let mut hasher = DefaultHasher::new();
    std::env::var("CARGO_PKG_VERSION").unwrap_or_default().hash(&mut hasher);
    for folder in ["../ir/src", "src"] {
        println!("cargo::rerun-if-changed={folder}");
        let mut files = Vec::new();
        collect(Path::new(folder), &mut files);
        files.sort();
        for file in files {
            std::fs::read(&file).unwrap_or_default().hash(&mut hasher);
        }
    }
    println!("cargo::rustc-env=LEAKPROOF_LOWERING_ID={:016x}", hasher.finish());
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}
