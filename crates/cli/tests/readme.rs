//! The README shows what the tool really prints: each of its examples is held against a run.

mod common;

use common::Sandbox;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The fenced block that starts with `first`, without that line.
fn block(readme: &str, first: &str) -> Vec<String> {
    let mut blocks = readme.split("```").skip(1).step_by(2);
    let found = blocks.find(|b| b.trim_start_matches("console").trim_start().starts_with(first));
    let found = found.unwrap_or_else(|| panic!("no example starts with `{first}`"));
    found.lines().skip_while(|l| !l.starts_with(first)).skip(1).map(str::to_owned).collect()
}

/// Times differ from run to run.
fn without_time(line: &str) -> &str {
    match line.strip_suffix(" s").and_then(|l| l.rsplit_once(", ")) {
        Some((rest, time)) if time.parse::<f64>().is_ok() => rest,
        _ => line,
    }
}

#[test]
fn the_example_is_what_check_prints() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let shown = block(&readme, "$ cd examples/inventory && leakproof check");
    assert!(shown.len() > 10);
    let s = Sandbox::new();
    let folder = root().join("examples/inventory");
    let output = s.command().current_dir(folder).arg("check").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let all = String::from_utf8(output.stdout).unwrap();
    let mut printed = all.lines().map(without_time);
    // `[...]` stands for what was left out.
    for line in shown.iter().map(|l| without_time(l)).filter(|l| *l != "[...]") {
        assert!(
            printed.any(|p| p == line),
            "check does not print, after what stands before it:\n{line}\n{all}"
        );
    }
}
