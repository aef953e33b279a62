//! The example report that renderer tests share: five findings in a small job queue.

use std::path::PathBuf;

use leakproof_findings::{Report, Sources, finish};

fn fixture_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/jobs")
}

/// The example with ids and stamps, and its source.
pub fn jobs() -> (Report, Sources) {
    let text = std::fs::read(fixture_dir().join("report.json")).unwrap();
    let mut report = leakproof_report::read_json(&text).unwrap();
    let sources = Sources::new(fixture_dir());
    finish(&mut report, &sources);
    let sources = sources.with_stamps(&report.sources);
    (report, sources)
}
