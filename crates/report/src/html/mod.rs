//! The HTML form: a folder that opens from disk with no server and no network.
//!
//! In: a report and its source. Out: `index.html` (overview with filters), `leaks/ID.html` (one page
//! per finding) and `assets/`. Every page is complete without scripts; scripts add filtering and
//! stepping. All foreign text goes through `escape::html`, the only way text enters a page.

mod diff;
mod highlight;
mod inline;
mod overview;
mod page;
mod source_view;
mod states;

use std::collections::BTreeSet;

use leakproof_findings::{Finding, Report, Sources, SuppressedLeak};

use source_view::Listings;

#[derive(Clone, Debug, Default)]
pub struct HtmlOptions {
    /// Shown in the heading and the window title; the project's name.
    pub title: String,
}

/// A finding with what the report says about its standing.
#[derive(Clone, Copy)]
struct Entry<'a> {
    finding: &'a Finding,
    status: Status<'a>,
}

#[derive(Clone, Copy)]
enum Status<'a> {
    /// Counts as a leak of this run.
    Open,
    /// The baseline has it.
    Known,
    Suppressed(&'a SuppressedLeak),
}

impl Status<'_> {
    fn name(self) -> &'static str {
        match self {
            Status::Open => "open",
            Status::Known => "baseline",
            Status::Suppressed(_) => "suppressed",
        }
    }
}

/// All files of the report folder: relative name and content. Pages are made as they are asked for,
/// so that a large report need not be in memory as a whole.
pub fn html<'a>(
    report: &'a Report,
    sources: &'a Sources,
    options: &'a HtmlOptions,
) -> impl Iterator<Item = (String, Vec<u8>)> + 'a {
    let entries = entries(report);
    let names = page_names(&entries);
    let listings = Listings::new(sources);
    let count = entries.len();
    let shared = [
        ("assets/style.css".to_owned(), include_bytes!("assets/style.css").to_vec()),
        ("assets/report.js".to_owned(), include_bytes!("assets/report.js").to_vec()),
        ("index.html".to_owned(), overview::render(report, &entries, &names, options).into()),
    ];
    let page = move |index: usize| {
        let links = page::Links {
            previous: index.checked_sub(1).map(|i| names[i].as_str()),
            next: names.get(index + 1).map(String::as_str),
            number: index + 1,
            total: names.len(),
        };
        let page = page::render(entries[index], &listings, &links, options);
        (format!("leaks/{}.html", names[index]), page.into())
    };
    shared.into_iter().chain((0..count).map(page))
}

fn entries(report: &Report) -> Vec<Entry<'_>> {
    let triage = &report.triage;
    let open = report.leaks.iter().map(|finding| Entry { finding, status: Status::Open });
    let known = triage.known.iter().map(|finding| Entry { finding, status: Status::Known });
    let suppressed = triage
        .suppressed
        .iter()
        .map(|s| Entry { finding: &s.finding, status: Status::Suppressed(s) });
    open.chain(known).chain(suppressed).collect()
}

/// A safe and unique file name for every page: the id where it is one.
fn page_names(entries: &[Entry]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut name = |(index, entry): (usize, &Entry)| {
        let id = &entry.finding.id;
        let usable =
            !id.is_empty() && id.len() <= 64 && id.bytes().all(|b| b.is_ascii_alphanumeric());
        if usable && taken.insert(id.to_ascii_lowercase()) {
            id.clone()
        } else {
            format!("leak-{}", index + 1)
        }
    };
    entries.iter().enumerate().map(&mut name).collect()
}

/// The frame that all pages share. `depth` is `""` or `"../"`: the way to the report's folder.
fn document(title: &str, depth: &str, body_class: &str, body: &str) -> String {
    let title = crate::escape::html(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"leakproof {version}\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <link rel=\"stylesheet\" href=\"{depth}assets/style.css\">\n\
         <script src=\"{depth}assets/report.js\" defer></script>\n</head>\n\
         <body class=\"{body_class}\">\n{body}</body>\n</html>\n",
        version = env!("CARGO_PKG_VERSION"),
    )
}
