//! The HTML form as text: what the pages say and that nothing foreign becomes markup.

mod common;
mod poison;

use std::collections::BTreeMap;

use common::jobs;
use leakproof_findings::{Report, Sources, SuppressedLeak, Triage};
use leakproof_report::{HtmlOptions, html};
use poison::poisoned;

fn render(report: &Report, sources: &Sources) -> BTreeMap<String, String> {
    let options = HtmlOptions { title: "jobs".into() };
    let files = html(report, sources, &options);
    files.map(|(name, text)| (name, String::from_utf8(text).unwrap())).collect()
}

#[test]
fn overview_page() {
    let (report, sources) = jobs();
    insta::assert_snapshot!(render(&report, &sources)["index.html"]);
}

#[test]
fn finding_page() {
    let (report, sources) = jobs();
    let name = format!("leaks/{}.html", report.leaks[2].id);
    insta::assert_snapshot!(render(&report, &sources)[&name]);
}

#[test]
fn every_finding_has_a_page_whatever_its_standing() {
    let (mut report, sources) = jobs();
    let suppressed = report.leaks.pop().unwrap();
    let known = report.leaks.pop().unwrap();
    report.triage = Triage {
        known: vec![known],
        suppressed: vec![SuppressedLeak { finding: suppressed, ..SuppressedLeak::default() }],
        ..Triage::default()
    };
    let files = render(&report, &sources);
    assert_eq!(files.keys().filter(|name| name.starts_with("leaks/")).count(), 5);
    let index = &files["index.html"];
    assert!(
        index.contains("data-status=\"suppressed\"") && index.contains("data-status=\"baseline\"")
    );
}

#[test]
fn every_link_leads_somewhere() {
    let (report, sources) = jobs();
    let files = render(&report, &sources);
    for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".html")) {
        for target in text.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            if let Some(anchor) = target.strip_prefix('#') {
                assert!(text.contains(&format!("id=\"{anchor}\"")), "{name}: #{anchor}");
            } else if target != "data:," {
                let (folder, _) = name.rsplit_once('/').unwrap_or(("", name));
                let path = format!("{folder}/{target}").replace("leaks/../", "");
                assert!(files.contains_key(path.trim_start_matches('/')), "{name}: {target}");
            }
        }
    }
}

#[test]
fn foreign_text_never_becomes_markup() {
    let (report, sources) = poisoned();
    for (name, text) in render(&report, &sources).iter().filter(|(n, _)| n.ends_with(".html")) {
        assert_eq!(text.matches("<script").count(), 1, "{name}: only our own script");
        assert!(!text.contains("<img"), "{name}");
        let control = text.chars().find(|c| c.is_control() && !"\n\t".contains(*c));
        assert_eq!(control, None, "{name}");
        assert!(!name.contains(".."), "{name}");
    }
}

#[test]
fn equal_and_odd_ids_get_pages_of_their_own() {
    let (mut report, sources) = jobs();
    for (leak, id) in report.leaks.iter_mut().zip(["aa", "AA", "../x", "", "aa"]) {
        leak.id = id.into();
    }
    let files = render(&report, &sources);
    let pages: Vec<_> = files.keys().filter(|n| n.starts_with("leaks/")).collect();
    let expected = [
        "leaks/aa.html",
        "leaks/leak-2.html",
        "leaks/leak-3.html",
        "leaks/leak-4.html",
        "leaks/leak-5.html",
    ];
    assert_eq!(pages, expected);
}

#[test]
fn missing_source_and_no_findings_are_shown() {
    let (report, _) = jobs();
    let files = render(&report, &Sources::default());
    let page = &files[&format!("leaks/{}.html", report.leaks[0].id)];
    assert!(
        page.contains("could not be read")
            && page.contains("assuming <code>q-&gt;count</code> is 16")
    );
    let files = render(&Report::default(), &Sources::default());
    assert!(files["index.html"].contains("No leaks found"));
}
