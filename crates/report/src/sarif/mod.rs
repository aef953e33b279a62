//! The SARIF 2.1.0 form, for code-scanning services and editors.
//!
//! In: a report and its source. Out: one log with one run that the official schema accepts and that
//! stays within what GitHub takes: at most `MAX_RESULTS` results (the surest are kept, the rest is
//! said to be missing), `MAX_FLOW` locations per path, `MAX_RELATED` related locations.

mod place;
mod result;
mod rule;

use std::collections::BTreeMap;
use std::path::PathBuf;

use leakproof_findings::{Finding, Report, Sources};
use serde_json::{Value, json};

use crate::describe;
use place::{BASE, Places};

/// GitHub refuses a run with more results.
const MAX_RESULTS: usize = 25_000;
/// GitHub shows this many locations of a path and refuses ten times as many.
const MAX_FLOW: usize = 1_000;
/// GitHub shows this many locations of a result.
const MAX_RELATED: usize = 100;

#[derive(Clone, Debug)]
pub struct SarifOptions {
    /// Absolute directory that relative file names start from; when unknown, the log names the
    /// base without saying where it is.
    pub root: Option<PathBuf>,
    /// Results beyond this many are left out, the least sure first.
    pub max_results: usize,
}

impl Default for SarifOptions {
    fn default() -> Self {
        SarifOptions { root: None, max_results: MAX_RESULTS }
    }
}

/// The report as a SARIF log with a final newline.
pub fn sarif(report: &Report, sources: &Sources, options: &SarifOptions) -> String {
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run(report, sources, options)],
    });
    // Serialising a JSON value into memory has no way to fail.
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}

fn run(report: &Report, sources: &Sources, options: &SarifOptions) -> Value {
    let rules = rules_of(report);
    let places = Places::new(sources);
    let mut results = result::all(report, &rules, &places, options.max_results);
    let dropped = results.len().saturating_sub(options.max_results);
    results.truncate(options.max_results);
    json!({
        "tool": { "driver": driver(&rules) },
        "automationDetails": { "id": "leakproof/" },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": { BASE: place::base(options.root.as_deref()) },
        "invocations": [{
            "executionSuccessful": true,
            "toolExecutionNotifications": notifications(report, dropped, options, &places),
        }],
        "artifacts": artifacts(report),
        "results": results,
    })
}

/// Rule identifiers in use, with their place in the rule list, the family, and whether that is
/// no family of memory.
type RuleIndex<'a> = BTreeMap<String, (usize, &'a str, bool)>;

fn rules_of<'r>(report: &'r Report) -> RuleIndex<'r> {
    let suppressed = report.triage.suppressed.iter().map(|s| &s.finding);
    let all = report.leaks.iter().chain(&report.triage.known).chain(suppressed);
    let entry = |f: &'r Finding| {
        let resource = f.resource || describe::is_other_resource(&f.family);
        (describe::rule_id(f), (0, describe::family(&f.family), resource))
    };
    let mut rules: RuleIndex = all.map(entry).collect();
    for fixed in &report.triage.fixed {
        let rule = describe::rule_name(fixed.kind, &fixed.family);
        let resource = describe::is_other_resource(&fixed.family);
        rules.entry(rule).or_insert((0, describe::family(&fixed.family), resource));
    }
    for (index, entry) in rules.values_mut().enumerate() {
        entry.0 = index;
    }
    rules
}

fn driver(rules: &RuleIndex) -> Value {
    let list: Vec<Value> =
        rules.iter().map(|(id, (_, family, resource))| rule::rule(id, family, *resource)).collect();
    json!({
        "name": "leakproof",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "informationUri": rule::INFORMATION_URI,
        "rules": list,
    })
}

/// What the reader of the log must know beside the results.
fn notifications(
    report: &Report,
    dropped: usize,
    options: &SarifOptions,
    places: &Places,
) -> Vec<Value> {
    let mut list = Vec::new();
    for skipped in &report.skipped {
        let text = format!("{} was skipped: {}", skipped.file, skipped.reason);
        let place = places.file(&skipped.file);
        list.push(json!({
            "level": "warning",
            "message": { "text": text },
            "locations": [{ "physicalLocation": { "artifactLocation": place } }],
        }));
    }
    for unused in &report.triage.unused {
        let text = format!("{}: {}", unused.at, unused.note);
        list.push(json!({ "level": "note", "message": { "text": text } }));
    }
    if dropped > 0 {
        let most = options.max_results;
        let text = format!("{dropped} results were left out: the log may hold {most}");
        list.push(json!({ "level": "warning", "message": { "text": text } }));
    }
    list
}

fn artifacts(report: &Report) -> Vec<Value> {
    let entry = |file: &str, hash: &str| {
        let mut artifact = json!({ "location": place::artifact_location(file) });
        if !hash.is_empty() {
            artifact["hashes"] = json!({ "blake3": hash });
        }
        artifact
    };
    report.sources.iter().map(|s| entry(&s.file, &s.blake3)).collect()
}

/// Surest first, so that a cut takes the least sure.
fn by_evidence(findings: &[Finding], max_results: usize) -> Vec<&Finding> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    if sorted.len() > max_results {
        sorted.sort_by_key(|f| std::cmp::Reverse(f.evidence));
    }
    sorted
}
