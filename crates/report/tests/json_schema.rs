//! The published JSON Schema and the types that write the JSON must say the same.

mod common;

use common::jobs;
use leakproof_findings::{
    BaselineLeak, Report, SuppressedBy, SuppressedLeak, Triage, UnusedSuppression, Validation,
};
use serde_json::Value;

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json-schema/report-v1.schema.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The schema with unknown fields forbidden: what we write must be described in full.
fn strict_schema() -> Value {
    let mut schema = schema();
    for definition in schema["$defs"].as_object_mut().unwrap().values_mut() {
        if definition["type"] == "object" {
            definition["additionalProperties"] = Value::Bool(false);
        }
    }
    schema
}

/// A report in which every field of the contract is present.
fn complete() -> Report {
    let (mut report, _) = jobs();
    let known = report.leaks.pop().unwrap();
    let suppressed = report.leaks.pop().unwrap();
    report.stats.limited = report.skipped.clone();
    report.leaks[0].resource = true;
    report.leaks[0].held_by = Some("queue.first".into());
    report.leaks[0].validation = Some(Validation {
        reason: "a run reaches the leak".into(),
        cause: Some("infeasible-path".into()),
        core: vec!["a.c:3 (true)".into()],
        qualifier: Some("lost-at-point".into()),
        witness: Some("leakproof-witnesses/1".into()),
        runs: 3,
        on_path: 1,
    });
    report.triage = Triage {
        baseline: Some("base.json".into()),
        known: vec![known],
        fixed: vec![BaselineLeak::default()],
        suppressed: vec![SuppressedLeak {
            by: SuppressedBy::Config,
            finding: suppressed,
            ..SuppressedLeak::default()
        }],
        unused: vec![UnusedSuppression::default()],
        diff: Some("main".into()),
        outside_diff: 3,
        excluded: 1,
        less_sure: 1,
    };
    report
}

#[test]
fn everything_written_is_described() {
    let validator = jsonschema::draft202012::new(&strict_schema()).unwrap();
    for report in [jobs().0, complete(), Report { version: 1, ..Report::default() }] {
        let value = serde_json::to_value(&report).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn everything_required_is_written() {
    let validator = jsonschema::draft202012::new(&schema()).unwrap();
    let value = serde_json::to_value(complete()).unwrap();
    for field in ["version", "leaks", "skipped", "stats"] {
        let mut without = value.clone();
        without.as_object_mut().unwrap().remove(field);
        assert!(!validator.is_valid(&without), "{field} is not required");
    }
    let mut odd = value;
    odd["leaks"][0]["kind"] = "maybe".into();
    assert!(!validator.is_valid(&odd));
}

/// Every field that the schema names is one that the complete example has.
#[test]
fn nothing_described_is_never_written() {
    let value = serde_json::to_value(complete()).unwrap();
    let text = value.to_string();
    for (name, definition) in schema()["$defs"].as_object().unwrap() {
        let properties = definition["properties"].as_object();
        for field in properties.into_iter().flat_map(|p| p.keys()) {
            assert!(text.contains(&format!("\"{field}\":")), "{name}.{field}");
        }
    }
}
