//! The first page: totals, filters and the list of all findings.

use std::collections::BTreeMap;
use std::fmt::Write;

use leakproof_findings::{Evidence, Finding, Kind, Report};

use super::inline::{badge, badges, count};
use super::{Entry, HtmlOptions, Status, document};
use crate::describe;
use crate::escape::html;
use crate::steps::full_path;

/// Files with the most findings get a bar.
const TOP_FILES: usize = 6;

pub(super) fn title(options: &HtmlOptions) -> &str {
    if options.title.is_empty() { "leakproof report" } else { &options.title }
}

pub(super) fn render(
    report: &Report,
    entries: &[Entry],
    names: &[String],
    options: &HtmlOptions,
) -> String {
    let mut body = String::new();
    write_head(&mut body, report, options);
    write_tiles(&mut body, report);
    if entries.is_empty() {
        body.push_str("<p class=\"none\">No leaks found.</p>\n");
    } else {
        write_filters(&mut body, entries);
        write_table(&mut body, entries, names);
    }
    write_notes(&mut body, report);
    body.push_str("</main>\n");
    document(title(options), "", "overview", &body)
}

fn write_head(out: &mut String, report: &Report, options: &HtmlOptions) {
    let line = crate::text::summary_line(report, None);
    let _ = writeln!(
        out,
        "<header class=\"bar\"><span class=\"home\">{}</span><nav>\
         <button type=\"button\" class=\"button theme\" aria-label=\"Light or dark\" hidden>◐</button>\
         </nav></header>\n<main>\n<h1 class=\"sum\">{}</h1>",
        html(title(options)),
        html(&line)
    );
}

fn write_tiles(out: &mut String, report: &Report) {
    out.push_str("<section class=\"tiles\">\n");
    for kind in [Kind::Lost, Kind::Forgotten, Kind::DoubleFree, Kind::UseAfterFree] {
        let n = report.leaks.iter().filter(|f| f.kind == kind).count();
        tile(out, &format!("kind-{}", kind.name()), n, kind.name());
    }
    for evidence in [Evidence::Witnessed, Evidence::Feasible, Evidence::Assumed] {
        let n = report.leaks.iter().filter(|f| f.evidence == evidence).count();
        tile(out, &format!("evidence-{}", evidence.name()), n, evidence.name());
    }
    write_top_files(out, &report.leaks);
    out.push_str("</section>\n");
}

fn tile(out: &mut String, class: &str, n: usize, label: &str) {
    if n == 0 {
        return;
    }
    let _ =
        writeln!(out, "<div class=\"tile {class}\"><b>{n}</b><span>{}</span></div>", html(label));
}

/// Counts by name, most frequent first, then by name.
fn tally(names: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let mut list: Vec<_> = counts.into_iter().collect();
    list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    list
}

fn write_top_files(out: &mut String, leaks: &[Finding]) {
    let files = tally(leaks.iter().map(|f| f.leak.file.clone()));
    let Some(most) = files.first().map(|(_, n)| *n) else { return };
    if files.len() < 2 {
        return;
    }
    out.push_str("<div class=\"tile files\"><span>Most leaks</span><ul>");
    for (file, n) in files.iter().take(TOP_FILES) {
        let width = n * 100 / most;
        let _ = write!(
            out,
            "<li><button type=\"button\" data-file=\"{file}\"><i style=\"width:{width}%\"></i>\
             <span>{file}</span><b>{n}</b></button></li>",
            file = html(file)
        );
    }
    out.push_str("</ul></div>\n");
}

/// A facet: its key in the rows' data attributes, its heading, and the value of a finding.
type Facet = (&'static str, &'static str, fn(&Entry) -> String);

const FACETS: [Facet; 5] = [
    ("status", "Status", |e| e.status.name().to_owned()),
    ("kind", "Kind", |e| e.finding.kind.name().to_owned()),
    ("evidence", "Evidence", |e| e.finding.evidence.name().to_owned()),
    ("verdict", "Verdict", |e| verdict(e.finding).to_owned()),
    ("family", "Family", |e| describe::family(&e.finding.family).to_owned()),
];

fn verdict(finding: &Finding) -> &'static str {
    finding.verdict.map_or("none yet", |v| v.name())
}

fn write_filters(out: &mut String, entries: &[Entry]) {
    out.push_str(
        "<form class=\"filters\" hidden>\n\
         <label class=\"find\"><span>Search</span>\
         <input type=\"search\" name=\"q\" placeholder=\"function, variable, file, id\" autocomplete=\"off\">\
         <kbd>/</kbd></label>\n",
    );
    write_file_select(out, entries);
    for (key, heading, value) in FACETS {
        let values = tally(entries.iter().map(value));
        if values.len() > 1 {
            write_facet(out, key, heading, &values);
        }
    }
    out.push_str(
        "<p class=\"shown\"><output></output> <button type=\"button\" class=\"clear\" hidden>Clear filters</button></p>\n</form>\n",
    );
}

fn write_facet(out: &mut String, key: &str, heading: &str, values: &[(String, usize)]) {
    let _ = write!(out, "<fieldset><legend>{heading}</legend>");
    for (value, n) in values {
        let _ = write!(
            out,
            "<button type=\"button\" data-facet=\"{key}\" data-value=\"{v}\" aria-pressed=\"false\">\
             {v} <b>{n}</b></button>",
            v = html(value)
        );
    }
    out.push_str("</fieldset>\n");
}

fn write_file_select(out: &mut String, entries: &[Entry]) {
    let mut files = tally(entries.iter().map(|e| e.finding.leak.file.clone()));
    if files.len() < 2 {
        return;
    }
    files.sort();
    out.push_str("<label class=\"pick\"><span>File</span><select name=\"file\"><option value=\"\">all files</option>");
    for (file, n) in files {
        let _ = write!(out, "<option value=\"{f}\">{f} ({n})</option>", f = html(&file));
    }
    out.push_str("</select></label>\n");
}

const COLUMNS: [(&str, &str); 5] = [
    ("what", "Leak"),
    ("fn", "Function"),
    ("place", "Place"),
    ("sure", "Evidence"),
    ("len", "Steps"),
];

fn write_table(out: &mut String, entries: &[Entry], names: &[String]) {
    out.push_str("<table class=\"leaks\">\n<thead><tr>");
    for (key, heading) in COLUMNS {
        let _ = write!(out, "<th data-sort=\"{key}\" scope=\"col\">{heading}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (entry, name) in entries.iter().zip(names) {
        write_row(out, *entry, name);
    }
    out.push_str(
        "</tbody>\n</table>\n<p class=\"none\" hidden>No leak matches these filters.</p>\n",
    );
}

fn write_row(out: &mut String, entry: Entry, name: &str) {
    let finding = entry.finding;
    let leak = &finding.leak;
    out.push_str("<tr");
    for (key, _, value) in FACETS {
        let _ = write!(out, " data-{key}=\"{}\"", html(&value(&entry)));
    }
    let (steps, file) = (full_path(finding).len(), html(&leak.file));
    let _ = writeln!(
        out,
        " data-file=\"{file}\" data-line=\"{line}\" data-id=\"{id}\">\
         <td class=\"what\"><a href=\"leaks/{name}.html\">{what}</a> {badges}{status}</td>\
         <td class=\"fn\"><code>{function}</code></td><td class=\"place\">{file}:{line}</td>\
         <td class=\"sure\">{evidence}</td><td class=\"len\">{steps}</td></tr>",
        line = leak.line,
        id = html(&finding.id),
        what = subject(finding),
        badges = badges(finding),
        status = status(entry.status),
        function = html(&finding.function),
        evidence = finding.evidence.name(),
    );
}

/// `name` from `xstrdup`: the shortest words that tell findings apart.
fn subject(finding: &Finding) -> String {
    let callee = &finding.alloc.callee;
    let variable = &finding.variable;
    match (variable.is_empty(), callee.is_empty()) {
        (false, false) => {
            format!("<code>{}</code> from <code>{}</code>", html(variable), html(callee))
        }
        (false, true) => format!("<code>{}</code>", html(variable)),
        (true, false) => format!("result of <code>{}</code>", html(callee)),
        (true, true) => html(&describe::object(finding)),
    }
}

fn status(status: Status) -> String {
    match status {
        Status::Open => String::new(),
        other => badge("status", other.name()),
    }
}

/// What else the run has to say, folded away.
fn write_notes(out: &mut String, report: &Report) {
    let triage = &report.triage;
    let fixed = triage.fixed.iter().map(describe::fixed_line);
    write_list(out, "fixed since the baseline", fixed.collect());
    let unused = triage.unused.iter().map(|u| format!("{}: {}", u.at, u.note));
    write_list(out, "suppressions without effect", unused.collect());
    let named = |s: &leakproof_findings::Skipped| format!("{}: {}", s.file, s.reason);
    write_list(out, "skipped", report.skipped.iter().map(named).collect());
    write_list(out, "limited", report.stats.limited.iter().map(named).collect());
    let stats = &report.stats;
    let _ = writeln!(
        out,
        "<p class=\"stats\">{}, {}, {}, {}; {}, {} of them infeasible.</p>",
        count_u64(stats.units, "unit"),
        count_u64(stats.functions, "function"),
        count_u64(stats.instructions, "instruction"),
        count_u64(stats.objects, "heap object"),
        count_u64(stats.candidates, "candidate"),
        stats.infeasible
    );
}

fn count_u64(n: u64, noun: &str) -> String {
    count(usize::try_from(n).unwrap_or(usize::MAX), noun)
}

fn write_list(out: &mut String, heading: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    let _ =
        writeln!(out, "<details class=\"card\"><summary>{} {heading}</summary><ul>", lines.len());
    for line in lines {
        let _ = writeln!(out, "<li>{}</li>", super::inline::prose(&line));
    }
    out.push_str("</ul></details>\n");
}
