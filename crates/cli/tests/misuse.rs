//! `leakproof check --also double-free,use-after-free` on the programs of `tests/misuse`: each line that ends in
//! `// also: KIND` has one finding of that kind, and no other line has any. Without `--also` there are none.

mod common;

use common::Sandbox;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

type Expected = BTreeSet<(u64, String)>;

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/misuse");
    let mut list: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    list.sort();
    list
}

fn expected(text: &str) -> Expected {
    let lines = text.lines().zip(1..);
    lines.filter_map(|(l, n)| Some((n, l.split_once("// also: ")?.1.trim().to_owned()))).collect()
}

/// Misuses that a run reports, by line.
fn found(sandbox: &Sandbox, arguments: &[&str]) -> Expected {
    let all = [&["check", "--format", "json"], arguments].concat();
    let run = sandbox.run(all);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let leaks = report["leaks"].as_array().unwrap().iter();
    let misuses = leaks.filter(|l| !matches!(l["kind"].as_str(), Some("lost" | "forgotten")));
    misuses
        .map(|l| (l["leak"]["line"].as_u64().unwrap(), l["kind"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn misuses_are_found_where_they_are() {
    let programs = programs();
    assert!(programs.len() >= 2);
    for program in programs {
        let name = program.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&program).unwrap();
        let sandbox = Sandbox::new();
        sandbox.write(name, text.as_bytes());
        let both = found(&sandbox, &["--also", "double-free,use-after-free", name]);
        assert_eq!(both, expected(&text), "{name}");
        assert!(found(&sandbox, &[name]).is_empty(), "{name}: nobody asked");
    }
}

#[test]
fn each_kind_can_be_asked_for() {
    let sandbox = Sandbox::new();
    let text =
        "#include <stdlib.h>\nvoid f(char *p) {\n    free(p);\n    *p = 1;\n    free(p);\n}\n";
    sandbox.write("a.c", text.as_bytes());
    let one = |kind: &str| found(&sandbox, &["--also", kind, "a.c"]);
    assert_eq!(one("double-free"), BTreeSet::from([(5, "double-free".to_owned())]));
    assert_eq!(one("use-after-free"), BTreeSet::from([(4, "use-after-free".to_owned())]));
    let wrong = sandbox.run(["check", "--also", "overflow", "a.c"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
}
