//! The terminal form: compiler-like diagnostics drawn on the source, then one summary line.
//!
//! In: a report, its source, options. Out: one string. Colour codes are the only escape sequences
//! in it, and only when asked for.

mod excerpt;
mod finding;
mod group;
mod paint;
mod summary;

use std::time::Duration;

use leakproof_findings::{Finding, Report, Sources};

use paint::Paint;

pub use summary::summary_line;

#[derive(Clone, Copy, Debug, Default)]
pub struct TextOptions {
    pub color: bool,
    /// Show every step of every path instead of those that matter most.
    pub full_path: bool,
    /// Wall-clock time of the run, for the summary line.
    pub elapsed: Option<Duration>,
    /// Leave out everything but the findings.
    pub quiet: bool,
    /// Also list what was suppressed or is in the baseline, and analysis limits.
    pub verbose: bool,
}

/// All findings, then what else a reader should know, then the summary line.
pub fn text(report: &Report, sources: &Sources, options: TextOptions) -> String {
    let paint = Paint::new(options.color);
    let mut out = String::new();
    for (leak, others) in group::by_object(&report.leaks, options) {
        finding::write(&mut out, leak, &others, sources, options, paint);
        out.push('\n');
    }
    if !options.quiet {
        summary::write(&mut out, report, options, paint);
    }
    out
}

/// One finding with everything there is to say about it.
pub fn explain(leak: &Finding, sources: &Sources, color: bool) -> String {
    let options = TextOptions { color, full_path: true, verbose: true, ..TextOptions::default() };
    let mut out = String::new();
    finding::write(&mut out, leak, &[], sources, options, Paint::new(color));
    finding::write_background(&mut out, leak, Paint::new(color));
    out
}
