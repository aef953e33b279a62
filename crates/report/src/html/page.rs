//! The page of one finding: headline, states, steps beside the annotated source, facts.

use std::fmt::Write;

use leakproof_findings::{AllocSite, Applicability, Finding, Fix, Sources};

use super::inline::{badge, badges, count, prose};
use super::source_view::{Listings, panel_of};
use super::{Entry, HtmlOptions, Status, diff, document, states};
use crate::describe;
use crate::escape::html;
use crate::steps::{Step, full_path};

/// A page lists and marks at most this many steps, from both ends of the path.
const MAX_STEPS: usize = 400;

/// The way to the neighbours in the report.
pub(super) struct Links<'a> {
    pub previous: Option<&'a str>,
    pub next: Option<&'a str>,
    pub number: usize,
    pub total: usize,
}

pub(super) fn render(
    entry: Entry,
    listings: &Listings,
    links: &Links,
    options: &HtmlOptions,
) -> String {
    let finding = entry.finding;
    let steps = both_ends(full_path(finding));
    let mut body = String::new();
    write_bar(&mut body, links, options);
    write_head(&mut body, entry);
    let _ = writeln!(body, "<div class=\"picture\">\n{}</div>", states::picture(&steps, finding));
    body.push_str("<div class=\"split\">\n");
    write_steps(&mut body, &steps, finding);
    let _ = writeln!(body, "<div class=\"code\">\n{}</div>", listings.panels(&steps, finding));
    body.push_str("</div>\n");
    write_facts(&mut body, finding, &steps, listings.sources);
    body.push_str("</main>\n");
    write_stepper(&mut body, steps.len());
    let title = format!("{} in {}", finding.kind.name(), finding.function);
    document(&title, "../", "finding", &body)
}

fn both_ends(mut steps: Vec<Step>) -> Vec<Step> {
    if steps.len() > MAX_STEPS {
        let mut tail = steps.split_off(steps.len() - MAX_STEPS / 2);
        steps.truncate(MAX_STEPS / 2);
        if let Some(first) = tail.first_mut() {
            first.folded_before = first.number - MAX_STEPS / 2 - 1;
        }
        steps.append(&mut tail);
    }
    steps
}

fn write_bar(out: &mut String, links: &Links, options: &HtmlOptions) {
    let link = |name: Option<&str>, rel: &str, label: &str| match name {
        Some(name) => format!("<a class=\"button\" rel=\"{rel}\" href=\"{name}.html\">{label}</a>"),
        None => format!("<span class=\"button off\">{label}</span>"),
    };
    let _ = writeln!(
        out,
        "<header class=\"bar\"><a class=\"home\" rel=\"up\" href=\"../index.html\">\
         <span aria-hidden=\"true\">←</span> {}</a>\
         <nav><span class=\"where\">{} of {}</span>{}{}\
         <button type=\"button\" class=\"button theme\" aria-label=\"Light or dark\" hidden>◐</button></nav></header>\n<main>",
        html(super::overview::title(options)),
        links.number,
        links.total,
        link(links.previous, "prev", "<kbd>[</kbd> Previous"),
        link(links.next, "next", "Next <kbd>]</kbd>"),
    );
}

fn write_head(out: &mut String, entry: Entry) {
    let finding = entry.finding;
    let leak = &finding.leak;
    let _ = writeln!(
        out,
        "<section class=\"head\"><p class=\"badges\">{}{}</p>\n<h1>{}</h1>\n\
         <p class=\"place\"><code>{}</code> in <code>{}</code></p>",
        badges(finding),
        status_badge(entry.status),
        prose(&describe::headline(finding)),
        html(&format!("{}:{}:{}", leak.file, leak.line, leak.column)),
        html(&finding.function),
    );
    if !finding.condition.is_empty() {
        let _ = writeln!(
            out,
            "<p class=\"when\">It leaks when <code>{}</code></p>",
            html(&finding.condition)
        );
    }
    out.push_str("</section>\n");
}

fn status_badge(status: Status) -> String {
    match status {
        Status::Open => String::new(),
        Status::Known => badge("status", "in the baseline"),
        Status::Suppressed(s) => badge("status", &format!("suppressed: {} ({})", s.reason, s.at)),
    }
}

fn write_steps(out: &mut String, steps: &[Step], finding: &Finding) {
    out.push_str("<aside class=\"steps\"><h2>Path</h2>\n<ol>\n");
    let mut function = "";
    for step in steps {
        if step.folded_before > 0 {
            let _ = writeln!(
                out,
                "<li class=\"fold\">{} not listed</li>",
                count(step.folded_before, "step")
            );
        }
        if step.step.function != function {
            function = &step.step.function;
            let _ = writeln!(out, "<li class=\"fn\"><code>{}</code></li>", html(function));
        }
        let _ = writeln!(
            out,
            "<li class=\"{event}\"><a href=\"#step-{n}\" data-step=\"{n}\"><b>{n}</b>\
             <span>{note}<small>{place}</small></span></a></li>",
            event = step.step.event.name(),
            n = step.number,
            note = prose(&describe::note(&step.step, finding)),
            place = html(&format!("{}:{}", step.step.file, step.step.line)),
        );
    }
    out.push_str(
        "</ol>\n<p class=\"keys\"><kbd>n</kbd> next step, <kbd>p</kbd> previous</p></aside>\n",
    );
}

fn write_facts(out: &mut String, finding: &Finding, steps: &[Step], sources: &Sources) {
    out.push_str("<div class=\"facts\">\n");
    if finding.alloc_trace.len() > 1 {
        let _ = writeln!(
            out,
            "<section class=\"card\"><h2>How it was allocated</h2>\n<ol class=\"trace\">{}</ol></section>",
            trace(finding, steps)
        );
    }
    let _ = writeln!(
        out,
        "<section class=\"card\"><h2>How sure is this?</h2>\n{}</section>",
        evidence(finding)
    );
    if let Some(fix) = &finding.fix {
        write_fix(out, fix, sources);
    }
    let _ = writeln!(
        out,
        "<section class=\"card\"><h2>What to do</h2>\n<p>{}</p>\n<p>To silence it, put this on line {} \
         or above it:</p>\n<pre>// leakproof: ignore REASON</pre>\n\
         <p class=\"id\">id <code>{}</code></p></section>",
        describe::kind_meaning(finding.kind),
        finding.leak.line,
        html(&finding.id),
    );
    out.push_str("</div>\n");
}

/// The calls from the allocation down to the library, as links into the panels.
fn trace(finding: &Finding, steps: &[Step]) -> String {
    let link = |site: &AllocSite| {
        let place = html(&format!("{}:{}", site.file, site.line));
        let place = match panel_of(&site.file, steps, finding) {
            Some(panel) => format!("<a href=\"#f{panel}-{}\">{place}</a>", site.line),
            None => place,
        };
        format!(
            "<li><code>{}</code> calls <code>{}</code> <small>{place}</small></li>",
            html(&site.function),
            html(&site.callee)
        )
    };
    finding.alloc_trace.iter().map(link).collect()
}

fn evidence(finding: &Finding) -> String {
    let mut out = format!(
        "<p><b>{}</b>: {}.</p>\n",
        finding.evidence.name(),
        describe::evidence_reason(finding.evidence)
    );
    if let Some(verdict) = finding.verdict {
        let _ = writeln!(
            out,
            "<p><b>{}</b>: {}.</p>",
            verdict.name(),
            html(&describe::why(finding, verdict))
        );
    }
    if let Some(reason) = describe::rejection(finding) {
        let _ = writeln!(out, "<p><b>not validated</b>: {}.</p>", html(reason));
    }
    out
}

fn write_fix(out: &mut String, fix: &Fix, sources: &Sources) {
    let sure = match fix.applicability {
        Applicability::Safe => badge("safe", "safe"),
        Applicability::Suggested => badge("suggested", "suggested"),
    };
    let _ = writeln!(
        out,
        "<section class=\"card wide\"><h2>Fix {sure}</h2>\n<p>{}</p>\n{}</section>",
        prose(&fix.description),
        diff::render(fix, sources)
    );
}

/// The bar at the bottom that steps through the path; scripts bring it to life.
fn write_stepper(out: &mut String, steps: usize) {
    let _ = writeln!(
        out,
        "<footer class=\"stepper\" data-steps=\"{steps}\" hidden>\
         <button type=\"button\" class=\"button\" data-go=\"-1\" aria-label=\"Previous step\">‹</button>\
         <p aria-live=\"polite\"></p>\
         <button type=\"button\" class=\"button\" data-go=\"1\" aria-label=\"Next step\">›</button></footer>"
    );
}
