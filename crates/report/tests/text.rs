//! The terminal form, as a user sees it.

mod common;
mod poison;

use common::jobs;
use leakproof_findings::{Evidence, Finding, Kind, Report, SourceStamp, Sources, Triage};
use leakproof_report::{TextOptions, explain, json, read_json, text};
use poison::poisoned;

#[test]
fn diagnostics_on_source() {
    let (report, sources) = jobs();
    insta::assert_snapshot!(text(&report, &sources, TextOptions::default()));
}

/// A variable that is null by then does not "still hold" anything.
#[test]
fn a_variable_that_holds_nothing_is_not_said_to() {
    let (mut report, sources) = jobs();
    let forgotten = report.leaks.iter_mut().find(|f| f.variable == "copy").unwrap();
    forgotten.held_by = Some("names[]".into());
    let shown = text(&report, &sources, TextOptions::default());
    assert!(shown.contains("is forgotten when `queue_rename` returns; `names[]` held it last\n"));
    let forgotten = report.leaks.iter_mut().find(|f| f.variable == "copy").unwrap();
    forgotten.held_by = Some(String::new());
    let shown = text(&report, &sources, TextOptions::default());
    assert!(shown.contains("is forgotten when `queue_rename` returns; `copy` may have held it\n"));
}

/// One object that is forgotten at several returns.
#[test]
fn the_leak_points_of_one_object_are_listed() {
    let (mut report, sources) = jobs();
    let first = report.leaks[2].clone();
    report.leaks = vec![first.clone(); 4];
    report.leaks[1].leak.line = 46;
    report.leaks[1].condition = "n > 3".into();
    report.leaks[1].evidence = Evidence::Assumed;
    report.leaks[2].leak.line = 50;
    report.leaks[2].condition = String::new();
    report.leaks[2].kind = Kind::Lost;
    report.leaks[2].fix = None;
    // Another object: it stays apart.
    report.leaks[3].alloc.line = 40;
    insta::assert_snapshot!(text(&report, &sources, TextOptions::default()));
    let whole = TextOptions { full_path: true, ..TextOptions::default() };
    assert_eq!(text(&report, &sources, whole).matches("= evidence: ").count(), 4);
}

#[test]
fn full_path() {
    let (mut report, sources) = jobs();
    report.leaks.truncate(1);
    let options = TextOptions { full_path: true, ..TextOptions::default() };
    insta::assert_snapshot!(text(&report, &sources, options));
}

#[test]
fn colour() {
    let (mut report, sources) = jobs();
    report.leaks = vec![report.leaks[2].clone()];
    let options = TextOptions { color: true, ..TextOptions::default() };
    let coloured = text(&report, &sources, options);
    insta::assert_snapshot!(coloured.replace('\x1b', "ESC"));
    let plain = text(&report, &sources, TextOptions::default());
    assert!(!plain.contains('\x1b'));
}

#[test]
fn explain_one() {
    let (report, sources) = jobs();
    insta::assert_snapshot!(explain(&report.leaks[2], &sources, false));
}

#[test]
fn triage_and_totals() {
    let (mut report, sources) = jobs();
    let known = report.leaks.split_off(1);
    report.triage = Triage { baseline: Some("base.json".into()), known, ..Triage::default() };
    report.triage.outside_diff = 2;
    let options = TextOptions { verbose: true, ..TextOptions::default() };
    insta::assert_snapshot!(text(&report, &sources, options));
}

#[test]
fn quiet_without_findings_is_silent() {
    let options = TextOptions { quiet: true, ..TextOptions::default() };
    assert_eq!(text(&Report::default(), &Sources::default(), options), "");
}

#[test]
fn missing_source_still_tells_the_path() {
    let (mut report, _) = jobs();
    report.leaks.truncate(1);
    insta::assert_snapshot!(text(&report, &Sources::default(), TextOptions::default()));
}

#[test]
fn changed_source_is_said_to_be_changed() {
    let (report, _) = jobs();
    let stamps: Vec<SourceStamp> = report.sources.clone();
    let sources = Sources::in_memory([("src/queue.c", "int x;\n")]).with_stamps(&stamps);
    let shown = text(&report, &sources, TextOptions::default());
    assert!(shown.contains("this file changed since the analysis"));
    assert!(shown.contains("(no source text)"));
}

/// Every text field of a finding, and the source, filled with what must not reach a terminal.
#[test]
fn no_escape_code_gets_through() {
    let (mut report, sources) = poisoned();
    report.triage = Triage { known: report.leaks.clone(), ..Triage::default() };
    let options = TextOptions { verbose: true, full_path: true, ..TextOptions::default() };
    let mut shown = text(&report, &sources, options);
    shown.extend(report.leaks.iter().map(|f: &Finding| explain(f, &sources, false)));
    let raw = shown.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(raw, None);
    assert!(!shown.contains('\u{202e}'));
}

#[test]
fn json_comes_back_the_same() {
    let (report, _) = jobs();
    let written = json(&report);
    assert_eq!(read_json(written.as_bytes()).unwrap(), report);
    insta::assert_snapshot!(written);
}

#[test]
fn json_of_another_kind_is_refused() {
    let refused = |text: &str| read_json(text.as_bytes()).unwrap_err().to_string();
    assert!(refused("{\"runs\": []}").contains("missing field"));
    assert!(refused("").contains("not a leakproof report"));
    let newer = json(&Report { version: 99, ..Report::default() });
    assert!(refused(&newer).contains("version 99"));
}
