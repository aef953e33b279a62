//! Keeps the dependency arrows pointing down, as docs/architecture.md draws them.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The crates from bottom to top; a crate may use those of lower layers only.
const LAYERS: &[&[&str]] = &[
    &["leakproof-ir", "leakproof-findings", "leakproof-models", "leakproof-guard", "leakproof-rt"],
    &[
        "leakproof-frontend",
        "leakproof-program",
        "leakproof-smt",
        "leakproof-report",
        "leakproof-triage",
        "leakproof-instrument",
    ],
    &["leakproof-summary", "leakproof-validate"],
    &["leakproof-detect"],
    &["leakproof-fix"],
    &["leakproof"],
    &["xtask"],
];

/// Outside crates that only some of ours may use: whoever needs what they do goes through us.
const RESERVED: &[(&str, &[&str])] = &[
    ("z3", &["leakproof-smt"]),
    ("llvm-sys", &["leakproof-instrument"]),
    ("anyhow", &["leakproof", "xtask"]),
    ("clap", &["leakproof"]),
    ("indicatif", &["leakproof"]),
    ("ctrlc", &["leakproof"]),
    ("rustix", &["leakproof-frontend", "leakproof-validate", "xtask"]),
    ("tree-sitter", &["leakproof-fix"]),
    ("postcard", &["leakproof-frontend", "leakproof-detect"]),
];

/// Package name to the names of what it is built from (not what it is tested with).
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    let package = |p: &Value| {
        let all = p["dependencies"].as_array().unwrap().iter();
        let normal = all.filter(|d| d["kind"].is_null()).map(|d| text(&d["name"])).collect();
        (text(&p["name"]), normal)
    };
    metadata["packages"].as_array().unwrap().iter().map(package).collect()
}

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|crates| crates.contains(&name))
}

#[test]
fn arrows_point_down() {
    for (name, uses) in dependencies() {
        let own = layer(&name).unwrap_or_else(|| {
            panic!("{name} is new: give it a layer here and a section in docs/architecture.md")
        });
        for used in uses {
            if let Some(below) = layer(&used) {
                assert!(below < own, "{name} must not depend on {used}");
            }
        }
    }
}

#[test]
fn outside_crates_stay_where_they_belong() {
    for (name, uses) in dependencies() {
        for (reserved, owners) in RESERVED {
            let allowed = owners.contains(&name.as_str());
            assert!(allowed || !uses.contains(*reserved), "{name} must not use {reserved}");
        }
    }
}

#[test]
fn the_document_names_every_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let document = std::fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    for name in dependencies().keys() {
        let folder = match name.as_str() {
            "leakproof" => "cli",
            other => other.strip_prefix("leakproof-").unwrap_or(other),
        };
        assert!(document.contains(&format!("**{folder}**")), "docs/architecture.md lacks {folder}");
    }
}
