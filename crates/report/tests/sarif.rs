//! The SARIF form against the official schema and GitHub's limits.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::jobs;
use leakproof_findings::{
    BaselineLeak, Evidence, Report, Sources, SuppressedBy, SuppressedLeak, Triage,
    UnusedSuppression,
};
use leakproof_report::{SarifOptions, sarif};
use serde_json::Value;

/// The official schema, from the folder of a published package that carries it.
fn schema() -> Value {
    let text = std::fs::read(package_folder("serde-sarif").join("src/schema.json")).unwrap();
    let mut schema: Value = serde_json::from_slice(&text).unwrap();
    // Its pattern for a language tag has a stray bracket that strict regular expressions refuse.
    for owner in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][owner]["properties"]["language"];
        language.as_object_mut().unwrap().remove("pattern");
    }
    schema
}

fn package_folder(name: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let package = metadata["packages"].as_array().unwrap().iter().find(|p| p["name"] == name);
    let manifest = package.unwrap()["manifest_path"].as_str().unwrap();
    Path::new(manifest).parent().unwrap().to_owned()
}

fn render(report: &Report, sources: &Sources) -> Value {
    serde_json::from_str(&sarif(report, sources, &SarifOptions::default())).unwrap()
}

/// The example with every field of triage in use.
fn triaged() -> (Report, Sources) {
    let (mut report, sources) = jobs();
    let suppressed = report.leaks.pop().unwrap();
    let known = report.leaks.pop().unwrap();
    report.triage = Triage {
        baseline: Some("baseline.json".into()),
        known: vec![known],
        fixed: vec![BaselineLeak {
            id: "00aa".into(),
            family: "dir".into(),
            ..BaselineLeak::default()
        }],
        suppressed: vec![SuppressedLeak {
            by: SuppressedBy::Comment,
            at: "src/job.c:19".into(),
            reason: "freed by the pool".into(),
            finding: suppressed,
        }],
        unused: vec![UnusedSuppression { at: "src/job.c:3".into(), note: "unused".into() }],
        diff: None,
        outside_diff: 0,
        excluded: 0,
        less_sure: 0,
    };
    (report, sources)
}

#[test]
fn the_official_schema_accepts_it() {
    let validator = jsonschema::draft7::new(&schema()).unwrap();
    let (full, sources) = jobs();
    let (triaged, _) = triaged();
    let root =
        SarifOptions { root: Some("/home/user/my project".into()), ..SarifOptions::default() };
    let logs = [
        render(&full, &sources),
        render(&triaged, &sources),
        render(&full, &Sources::default()),
        render(&Report::default(), &Sources::default()),
        serde_json::from_str(&sarif(&full, &sources, &root)).unwrap(),
    ];
    for log in &logs {
        let errors: Vec<String> =
            validator.iter_errors(log).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
    assert!(!validator.is_valid(&serde_json::json!({ "version": "2.1.0" })), "schema is too lax");
}

#[test]
fn log_of_the_example() {
    let (report, sources) = jobs();
    insta::assert_snapshot!(sarif(&report, &sources, &SarifOptions::default()));
}

#[test]
fn triage_states() {
    let (report, sources) = triaged();
    let log = render(&report, &sources);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let states: Vec<_> = results.iter().map(|r| r["baselineState"].as_str().unwrap()).collect();
    assert_eq!(states, ["new", "new", "new", "unchanged", "unchanged", "absent"]);
    let kinds: Vec<_> =
        results.iter().map(|r| r["suppressions"].as_array().unwrap().len()).collect();
    assert_eq!(kinds, [0, 0, 0, 0, 1, 0]);
    assert_eq!(results[4]["suppressions"][0]["kind"], "inSource");
}

#[test]
fn every_result_points_at_its_rule() {
    let (report, sources) = triaged();
    let log = render(&report, &sources);
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for result in log["runs"][0]["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
}

#[test]
fn a_report_over_the_limit_keeps_the_surest() {
    let (mut report, sources) = jobs();
    report.leaks = vec![report.leaks[3].clone(), report.leaks[3].clone(), report.leaks[1].clone()];
    assert_eq!(report.leaks[2].evidence, Evidence::Witnessed);
    let options = SarifOptions { max_results: 2, ..SarifOptions::default() };
    let log: Value = serde_json::from_str(&sarif(&report, &sources, &options)).unwrap();
    let run = &log["runs"][0];
    assert_eq!(run["results"].as_array().unwrap().len(), 2);
    assert_eq!(run["results"][0]["properties"]["evidence"], "witnessed");
    let notes = run["invocations"][0]["toolExecutionNotifications"].to_string();
    assert!(notes.contains("1 results were left out"), "{notes}");
}
