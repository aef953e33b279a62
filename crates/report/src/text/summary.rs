//! What follows the findings: triage notes, skipped units, and the summary line.

use std::time::Duration;

use leakproof_findings::{Finding, Kind, Report};

use super::TextOptions;
use super::paint::Paint;
use crate::describe;
use crate::escape::visible;

pub(super) fn write(out: &mut String, report: &Report, options: TextOptions, paint: Paint) {
    write_triage(out, report, options, paint);
    let mut note = |text: String| out.push_str(&format!("{}: {text}\n", paint.yellow("note")));
    for skipped in &report.skipped {
        note(format!("skipped {}: {}", visible(&skipped.file), visible(&skipped.reason)));
    }
    if options.verbose {
        for limited in &report.stats.limited {
            note(format!("limited {}: {}", visible(&limited.file), visible(&limited.reason)));
        }
    }
    if let Some(leak) = report.leaks.first() {
        let id = visible(&leak.id);
        out.push_str(&format!(
            "{}: `leakproof explain {id}` tells all about one leak; \
             `// leakproof: ignore REASON` on or above its last line silences it\n",
            paint.frame("help")
        ));
    }
    let line = summary_line(report, options.elapsed);
    let line = if report.leaks.is_empty() { paint.green(&line) } else { paint.bold(&line) };
    out.push_str(&format!("{line}\n"));
}

fn write_triage(out: &mut String, report: &Report, options: TextOptions, paint: Paint) {
    let triage = &report.triage;
    for fixed in &triage.fixed {
        let line = visible(&describe::fixed_line(fixed));
        out.push_str(&format!("{}: {line} ({})\n", paint.green("fixed"), fixed.id));
    }
    for unused in &triage.unused {
        let (at, why) = (visible(&unused.at), visible(&unused.note));
        out.push_str(&format!("{}: {at}: {why}\n", paint.yellow("note")));
    }
    if options.verbose {
        for known in &triage.known {
            out.push_str(&format!("{}: {}\n", paint.dim("known"), one_line(known)));
        }
        for suppressed in &triage.suppressed {
            let reason = visible(&format!("{} at {}", suppressed.reason, suppressed.at));
            let line = one_line(&suppressed.finding);
            out.push_str(&format!("{}: {line} ({reason})\n", paint.dim("suppressed")));
        }
    }
}

fn one_line(finding: &Finding) -> String {
    let leak = &finding.leak;
    visible(&format!("{}:{}: {}", leak.file, leak.line, describe::headline(finding)))
}

/// `3 leaks (2 lost, 1 forgotten) in 14 units, 0.4 s; 1 unit skipped`.
pub fn summary_line(report: &Report, elapsed: Option<Duration>) -> String {
    let new = if report.triage.baseline.is_some() { "new " } else { "" };
    let mut line = match report.leaks.len() {
        0 => format!("no {new}leaks"),
        n => format!("{} ({})", count(n, &format!("{new}{}", noun(report))), by_kind(report)),
    };
    line.push_str(&format!(" in {}", count(as_usize(report.stats.units), "unit")));
    if let Some(elapsed) = elapsed {
        line.push_str(&format!(", {:.2} s", elapsed.as_secs_f64()));
    }
    for extra in extras(report) {
        line.push_str(&format!("; {extra}"));
    }
    line
}

/// What findings are, when they are not all leaks.
fn noun(report: &Report) -> &'static str {
    if report.leaks.iter().all(|f| f.kind.is_leak()) { "leak" } else { "finding" }
}

fn by_kind(report: &Report) -> String {
    let of = |kind: Kind| report.leaks.iter().filter(|f| f.kind == kind).count();
    let kinds = [Kind::Lost, Kind::Forgotten, Kind::DoubleFree, Kind::UseAfterFree];
    let parts = kinds.map(|kind| (of(kind), kind.name()));
    let parts = parts.iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{n} {name}"));
    parts.collect::<Vec<_>>().join(", ")
}

fn extras(report: &Report) -> Vec<String> {
    let triage = &report.triage;
    let counts = [
        (triage.known.len(), "in the baseline"),
        (triage.fixed.len(), "fixed since the baseline"),
        (triage.suppressed.len(), "suppressed"),
        (as_usize(triage.excluded), "in excluded paths"),
        (as_usize(triage.less_sure), "less sure than asked for"),
        (as_usize(triage.outside_diff), "not touched by the change"),
    ];
    let mut extras: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if !report.skipped.is_empty() {
        extras.push(format!("{} skipped", count(report.skipped.len(), "unit")));
    }
    extras
}

fn as_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
