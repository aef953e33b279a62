//! Results: one per finding, with its path as a code flow and its triage state.

use leakproof_findings::{
    AllocSite, BaselineLeak, Event, Evidence, Finding, Fix, Report, SuppressedBy, SuppressedLeak,
    Verdict,
};
use serde_json::{Value, json};

use super::place::{Places, Position};
use super::{MAX_FLOW, MAX_RELATED, RuleIndex};
use crate::describe;
use crate::steps::{Step, full_path};

/// The partial fingerprint's name; the number changes when the way ids are made changes.
const FINGERPRINT: &str = "leakproofId/v1";

/// All results: what counts first, then known, suppressed and fixed ones.
pub(super) fn all(report: &Report, rules: &RuleIndex, places: &Places, most: usize) -> Vec<Value> {
    let triage = &report.triage;
    let compared = triage.baseline.is_some();
    // SARIF wants either all results or none to say whether they are suppressed.
    let list_suppressions = !triage.suppressed.is_empty();
    let decorate = |mut result: Value, baseline: &str, suppressions: Vec<Value>| {
        if compared {
            result["baselineState"] = json!(baseline);
        }
        if list_suppressions {
            result["suppressions"] = Value::Array(suppressions);
        }
        result
    };
    let mut results = Vec::new();
    for finding in super::by_evidence(&report.leaks, most) {
        results.push(decorate(one(finding, rules, places), "new", Vec::new()));
    }
    for finding in &triage.known {
        results.push(decorate(one(finding, rules, places), "unchanged", Vec::new()));
    }
    for suppressed in &triage.suppressed {
        let result = one(&suppressed.finding, rules, places);
        results.push(decorate(result, "unchanged", vec![suppression(suppressed)]));
    }
    for fixed in &triage.fixed {
        results.push(decorate(absent(fixed, rules, places), "absent", Vec::new()));
    }
    results
}

fn one(finding: &Finding, rules: &RuleIndex, places: &Places) -> Value {
    let rule = describe::rule_id(finding);
    let leak = Position {
        file: &finding.leak.file,
        line: finding.leak.line,
        column: finding.leak.column,
        function: &finding.function,
    };
    let mut result = json!({
        "ruleId": rule,
        "ruleIndex": rules.get(&rule).map_or(0, |(index, ..)| *index),
        "kind": "fail",
        "level": level(finding),
        "message": { "text": message(finding) },
        "locations": [places.location(leak, None)],
        "relatedLocations": related(finding, places),
        "codeFlows": [code_flow(finding, places)],
        "partialFingerprints": { FINGERPRINT: finding.id },
        "rank": rank(finding.evidence),
        "properties": properties(finding),
    });
    if let Some(fix) = finding.fix.as_ref().filter(|fix| !fix.edits.is_empty()) {
        result["fixes"] = json!([sarif_fix(fix, places)]);
    }
    result
}

/// A verdict that clears the finding outweighs how sure the static analysis was.
fn level(finding: &Finding) -> &'static str {
    match (finding.verdict, finding.evidence) {
        (Some(Verdict::LikelyNotLeak | Verdict::Bloat), _) => "note",
        (Some(Verdict::MustLeak), _) | (_, Evidence::Witnessed) => "error",
        (_, Evidence::Feasible) => "warning",
        (_, Evidence::Assumed) => "note",
    }
}

fn rank(evidence: Evidence) -> f64 {
    match evidence {
        Evidence::Witnessed => 95.0,
        Evidence::Feasible => 75.0,
        Evidence::Assumed => 40.0,
    }
}

/// The headline with a link to the allocation, and the condition.
fn message(finding: &Finding) -> String {
    let mut text = escape_links(&describe::headline(finding));
    if !finding.alloc.file.is_empty() {
        let line = finding.alloc.line;
        text.push_str(&format!(". Allocated [here](1), line {line}"));
    }
    if !finding.condition.is_empty() {
        text.push_str(&format!(". It leaks when: {}", escape_links(&finding.condition)));
    }
    text.push('.');
    text
}

/// Brackets would read as an embedded link in a SARIF message.
fn escape_links(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

fn properties(finding: &Finding) -> Value {
    let mut properties = json!({
        "evidence": finding.evidence.name(),
        "verdict": finding.verdict.map(Verdict::name),
        "family": describe::family(&finding.family),
        "variable": finding.variable,
        "allocator": finding.alloc.callee,
    });
    if let Some(validation) = &finding.validation {
        properties["validation"] = json!(validation);
    }
    properties
}

/// The allocation and the calls below it; the first one is the target of the message's link.
fn related(finding: &Finding, places: &Places) -> Vec<Value> {
    let alloc = std::iter::once(&finding.alloc).filter(|a| !a.file.is_empty());
    let below = finding.alloc_trace.iter().filter(|site| **site != finding.alloc);
    let location = |(index, site): (usize, &AllocSite)| {
        let note = escape_links(&format!("`{}` is called here", site.callee));
        let at = Position {
            file: &site.file,
            line: site.line,
            column: site.column,
            function: &site.function,
        };
        let mut location = places.location(at, Some(&note));
        location["id"] = json!(index + 1);
        location
    };
    alloc.chain(below).take(MAX_RELATED).enumerate().map(location).collect()
}

fn code_flow(finding: &Finding, places: &Places) -> Value {
    let steps = shorten(full_path(finding));
    let locations: Vec<Value> = steps.iter().map(|s| flow_step(s, finding, places)).collect();
    json!({ "threadFlows": [{ "locations": locations }] })
}

/// Both ends of a path that is longer than a viewer takes.
fn shorten(mut steps: Vec<Step>) -> Vec<Step> {
    if steps.len() > MAX_FLOW {
        let tail = steps.split_off(steps.len() - MAX_FLOW / 2);
        steps.truncate(MAX_FLOW / 2);
        steps.extend(tail);
    }
    steps
}

fn flow_step(step: &Step, finding: &Finding, places: &Places) -> Value {
    let at = Position {
        file: &step.step.file,
        line: step.step.line,
        column: step.step.column,
        function: &step.step.function,
    };
    let note = escape_links(&describe::note(&step.step, finding));
    let (importance, kinds) = match step.step.event {
        Event::Alloc => ("essential", json!(["acquire", "memory"])),
        Event::Leak => ("essential", json!(["danger", "memory"])),
        Event::Branch => ("important", json!(["branch"])),
        Event::Call => ("unimportant", json!(["call"])),
        Event::Store => ("important", json!(["taint"])),
        Event::Drop => ("important", json!(["scope"])),
    };
    json!({
        "location": places.location(at, Some(&note)),
        "executionOrder": step.number,
        "importance": importance,
        "kinds": kinds,
    })
}

fn sarif_fix(fix: &Fix, places: &Places) -> Value {
    let mut files: Vec<&str> = fix.edits.iter().map(|e| e.file.as_str()).collect();
    files.dedup();
    let change = |file: &str| {
        let edits = fix.edits.iter().filter(|e| e.file == file);
        let replacements: Vec<Value> = edits
            .map(|e| {
                let start = (e.start_line, e.start_column);
                let end = (e.end_line, e.end_column);
                json!({
                    "deletedRegion": places.edit_region(file, start, end),
                    "insertedContent": { "text": e.text },
                })
            })
            .collect();
        json!({ "artifactLocation": places.file(file), "replacements": replacements })
    };
    let changes: Vec<Value> = files.into_iter().map(change).collect();
    json!({
        "description": { "text": escape_links(&fix.description) },
        "artifactChanges": changes,
    })
}

fn suppression(suppressed: &SuppressedLeak) -> Value {
    let kind = match suppressed.by {
        SuppressedBy::Comment => "inSource",
        SuppressedBy::Config => "external",
    };
    let justification = format!("{} ({})", suppressed.reason, suppressed.at);
    json!({ "kind": kind, "status": "accepted", "justification": justification })
}

/// A leak of the baseline that is gone.
fn absent(fixed: &BaselineLeak, rules: &RuleIndex, places: &Places) -> Value {
    let rule = describe::rule_name(fixed.kind, &fixed.family);
    let at = Position { file: &fixed.file, line: 0, column: 0, function: &fixed.function };
    let text = format!("Fixed: {}", escape_links(&describe::fixed_line(fixed)));
    json!({
        "ruleId": rule,
        "ruleIndex": rules.get(&rule).map_or(0, |(index, ..)| *index),
        "kind": "pass",
        "level": "none",
        "message": { "text": text },
        "locations": [places.location(at, None)],
        "partialFingerprints": { FINGERPRINT: fixed.id },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_findings::{PathStep, Sources};

    #[test]
    fn a_path_of_any_length_fits_and_keeps_its_ends() {
        let step = |line| PathStep {
            file: "a.c".into(),
            line,
            column: 1,
            function: "f".into(),
            event: Event::Branch,
            note: String::new(),
        };
        let finding = Finding { path: (1..=20_000).map(step).collect(), ..Finding::default() };
        let sources = Sources::default();
        let flow = code_flow(&finding, &Places::new(&sources));
        let locations = flow["threadFlows"][0]["locations"].as_array().unwrap();
        assert_eq!(locations.len(), MAX_FLOW);
        assert_eq!(locations[0]["executionOrder"], 1);
        assert_eq!(locations[MAX_FLOW - 1]["executionOrder"], 20_001);
    }

    #[test]
    fn brackets_in_names_are_no_links() {
        let finding = Finding { variable: "a[1](2)".into(), ..Finding::default() };
        assert!(message(&finding).contains("a\\[1\\](2)"));
    }
}
