//! Gives the analysis a number, so that results of other code are never taken for its own: a hash over the
//! sources of every crate that has a say in them, the shipped models, and the versions of what they use.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

const FOLDERS: &[&str] = &[
    "../findings/src",
    "../guard/src",
    "../ir/src",
    "../models/src",
    "../program/src",
    "../smt/src",
    "../summary/src",
    "../../models",
    "src",
];

fn main() {
    let mut files = vec![PathBuf::from("../../Cargo.lock")];
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        collect(Path::new(folder), &mut files);
    }
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    files.sort();
    let mut hasher = DefaultHasher::new();
    std::env::var("CARGO_PKG_VERSION").unwrap_or_default().hash(&mut hasher);
    for file in files {
        file.hash(&mut hasher);
        std::fs::read(&file).unwrap_or_default().hash(&mut hasher);
    }
    println!("cargo::rustc-env=LEAKPROOF_ANALYSIS_ID={:016x}", hasher.finish());
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs" || e == "model") {
            files.push(path);
        }
    }
}
