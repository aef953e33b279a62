//! Every fixture reports exactly the leaks that its comments expect.

mod suite;

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

#[test]
fn fixtures_report_what_their_comments_expect() {
    let binary = Path::new(env!("CARGO_BIN_EXE_leakproof"));
    let outcomes = suite::run_all(binary, &root(), "").expect("fixtures are readable");
    let failures: Vec<String> = outcomes.iter().flat_map(|o| o.failures()).collect();
    let table = suite::table::render(&outcomes);
    assert!(outcomes.len() >= 200, "only {} programs found", outcomes.len());
    assert!(failures.is_empty(), "{}\n\n{table}", failures.join("\n"));
}

#[test]
fn every_bad_function_expects_a_leak_and_no_ok_function_does() {
    let cases = suite::discover::cases(&root()).expect("fixtures are readable");
    let mut wrong = Vec::new();
    for case in &cases {
        for e in case.expectations.iter().filter(|e| !e.is_false_alarm()) {
            if e.function.ends_with("_ok") {
                wrong.push(format!("{}: a leak is expected in {}", e.place(), e.function));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
