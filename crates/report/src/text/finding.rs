//! One finding as a diagnostic: headline, the path on the source, and the facts below it.

use leakproof_findings::{Applicability, Event, Evidence, Finding, Fix, Sources};

use super::TextOptions;
use super::excerpt;
use super::group;
use super::paint::Paint;
use crate::describe;
use crate::escape::visible;
use crate::steps::{Step, folded_path, full_path};

/// One finding; of the `others` that go with it, the leak points only.
pub(super) fn write(
    out: &mut String,
    finding: &Finding,
    others: &[&Finding],
    sources: &Sources,
    options: TextOptions,
    paint: Paint,
) {
    let steps = if options.full_path { full_path(finding) } else { folded_path(finding) };
    let gutter = gutter_width(&steps);
    write_headline(out, finding, paint);
    write_path(out, finding, excerpt::with_notes(steps, finding), sources, gutter, paint);
    write_facts(out, finding, gutter, paint);
    group::write(out, finding, others, gutter, paint);
}

fn gutter_width(steps: &[Step]) -> usize {
    let widest = steps.iter().map(|s| s.step.line).max().unwrap_or(0);
    widest.to_string().len().max(2)
}

fn write_headline(out: &mut String, finding: &Finding, paint: Paint) {
    let tag = visible(&format!("{}[{}]", describe::noun(finding), describe::rule_id(finding)));
    let tag = match finding.evidence {
        Evidence::Assumed => paint.yellow(&tag),
        _ => paint.red(&tag),
    };
    let headline = visible(&describe::headline(finding));
    out.push_str(&format!("{tag}{}\n", paint.bold(&format!(": {headline}"))));
}

/// The path, cut into excerpts wherever it changes file or goes back to an earlier line.
fn write_path(
    out: &mut String,
    finding: &Finding,
    steps: Vec<(Step, String)>,
    sources: &Sources,
    gutter: usize,
    paint: Paint,
) {
    let leak = &finding.leak;
    let place = visible(&format!("{}:{}:{}", leak.file, leak.line, leak.column));
    let function = visible(&finding.function);
    let arrow = paint.frame(&format!("{:gutter$}-->", ""));
    out.push_str(&format!("{arrow} {place} in `{function}`\n"));
    for (index, block) in steps.chunk_by(|a, b| same_excerpt(&a.0, &b.0)).enumerate() {
        write_block_header(out, finding, block, index, sources, gutter, paint);
        excerpt::write(out, block, sources, gutter, paint);
    }
    out.push_str(&paint.frame(&format!("{:gutter$} |", "")));
    out.push('\n');
}

fn same_excerpt(a: &Step, b: &Step) -> bool {
    a.step.file == b.step.file && a.step.function == b.step.function && a.step.line <= b.step.line
}

fn write_block_header(
    out: &mut String,
    finding: &Finding,
    block: &[(Step, String)],
    index: usize,
    sources: &Sources,
    gutter: usize,
    paint: Paint,
) {
    let Some((Step { step, .. }, _)) = block.first() else { return };
    // The first excerpt needs no header when the arrow line above has named its place already.
    if index > 0 || step.file != finding.leak.file || step.function != finding.function {
        let place = visible(&format!("{}:{}", step.file, step.line));
        let inside = visible(&step.function);
        let sign = paint.frame(&format!("{:gutter$}:::", ""));
        out.push_str(&format!("{sign} {place} in `{inside}`\n"));
    } else {
        out.push_str(&paint.frame(&format!("{:gutter$} |", "")));
        out.push('\n');
    }
    if let Some(remark) = excerpt::state_remark(sources, &step.file) {
        let equals = paint.frame(&format!("{:gutter$} =", ""));
        out.push_str(&format!("{equals} {}\n", paint.yellow(remark)));
    }
}

fn write_facts(out: &mut String, finding: &Finding, gutter: usize, paint: Paint) {
    let mut fact = |name: &str, text: &str| {
        let equals = paint.frame(&format!("{:gutter$} =", ""));
        out.push_str(&format!("{equals} {}: {}\n", paint.bold(name), visible(text)));
    };
    if !finding.condition.is_empty() {
        fact("when", &finding.condition);
    }
    if let Some(trace) = trace(finding) {
        fact("allocated through", &trace);
    }
    let evidence = finding.evidence;
    fact("evidence", &format!("{} ({})", evidence.name(), describe::evidence_reason(evidence)));
    if let Some(verdict) = finding.verdict {
        fact("verdict", &format!("{} ({})", verdict.name(), describe::why(finding, verdict)));
    }
    if let Some(reason) = describe::rejection(finding) {
        fact("not validated", reason);
    }
    if let Some(fix) = &finding.fix {
        fact("fix", &fix_line(fix));
    }
    if !finding.id.is_empty() {
        fact("id", &finding.id);
    }
}

/// `queue_new (src/main.c:20) -> xmalloc (src/queue.c:8) -> malloc (src/alloc.c:5)`.
fn trace(finding: &Finding) -> Option<String> {
    if finding.alloc_trace.len() < 2 {
        return None;
    }
    let site = |s: &leakproof_findings::AllocSite| format!("{} ({}:{})", s.callee, s.file, s.line);
    Some(finding.alloc_trace.iter().map(site).collect::<Vec<_>>().join(" -> "))
}

fn fix_line(fix: &Fix) -> String {
    let sure = match fix.applicability {
        Applicability::Safe => "safe",
        Applicability::Suggested => "suggested",
    };
    let description = &fix.description;
    format!("{description} ({sure}; `leakproof fix` shows the patch)")
}

/// What `explain` adds: the meaning of the kind, the edits of the fix and how to silence it.
pub(super) fn write_background(out: &mut String, finding: &Finding, paint: Paint) {
    let mut section = |title: &str, body: &str| {
        out.push_str(&format!("\n{}\n{body}", paint.bold(title)));
    };
    section("What this means", &format!("  {}\n", describe::kind_meaning(finding.kind)));
    section("The object along the path", &object_states(finding));
    if let Some(fix) = &finding.fix {
        section("Fix", &fix_edits(fix));
    }
    section("To silence it", &silence(finding));
}

fn object_states(finding: &Finding) -> String {
    let mut lines = String::new();
    for step in full_path(finding) {
        let state = match step.step.event {
            Event::Alloc => "allocated",
            Event::Branch | Event::Call => continue,
            Event::Store => "referenced",
            Event::Drop => "reference dropped",
            Event::Leak => finding.kind.name(),
        };
        let place = format!("{}:{}", step.step.file, step.step.line);
        let note = describe::note(&step.step, finding);
        let line = format!("({}) {place} {state}: {note}", step.number);
        lines.push_str(&format!("  {}\n", visible(&line)));
    }
    lines
}

fn fix_edits(fix: &Fix) -> String {
    let mut lines = format!("  {}\n", visible(&fix_line(fix)));
    for edit in &fix.edits {
        let place = format!("{}:{}:{}", edit.file, edit.start_line, edit.start_column);
        lines.push_str(&format!("  at {}\n", visible(&place)));
        for text in edit.text.lines() {
            lines.push_str(&format!("    + {}\n", visible(text)));
        }
    }
    lines
}

fn silence(finding: &Finding) -> String {
    let place = visible(&format!("{}:{}", finding.leak.file, finding.leak.line));
    format!(
        "  // leakproof: ignore REASON            on {place} or the line above it\n  \
         // leakproof: ignore-function REASON   above the function\n  \
         [[suppress]] in leakproof.toml         for a path or a function\n"
    )
}
