//! Annotated source: the functions that a finding runs through, with its steps on their lines.
//!
//! In: steps and allocation sites. Out: one panel per file, in the order the path first enters it;
//! each line has an anchor, each step a note below its line. A panel shows whole functions where
//! they can be told from the layout, and never more than `MAX_LINES` lines.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use leakproof_findings::{AllocSite, Finding, SourceFile, SourceState, Sources};

use super::highlight::{self, Class};
use crate::describe;
use crate::escape::{display_width, html, html_into};
use crate::span;
use crate::steps::Step;

/// How far to look for the ends of the function around a line.
const REACH: u32 = 60;
/// Lines shown around a line whose function is not found.
const AROUND: u32 = 8;
const MAX_LINES: u32 = 1_500;
/// Longer lines are cut to a window of this many bytes.
const MAX_BYTES: usize = 400;

/// Source files prepared for display, shared by all pages.
pub(super) struct Listings<'a> {
    pub sources: &'a Sources,
    /// For each file: which lines start inside a block comment.
    comments: RefCell<BTreeMap<String, Arc<Vec<bool>>>>,
}

/// What stands on one line.
#[derive(Default)]
struct Line<'a> {
    steps: Vec<&'a Step>,
    sites: Vec<&'a AllocSite>,
}

type Marked<'a> = BTreeMap<u32, Line<'a>>;

impl<'a> Listings<'a> {
    pub fn new(sources: &'a Sources) -> Self {
        Listings { sources, comments: RefCell::default() }
    }

    /// All panels of a finding.
    pub fn panels(&self, steps: &[Step], finding: &Finding) -> String {
        let mut out = String::new();
        for (index, file) in files(steps, finding).into_iter().enumerate() {
            let marked = marked_lines(file, steps, finding);
            self.write_panel(&mut out, index, file, &marked, finding);
        }
        out
    }

    fn write_panel(
        &self,
        out: &mut String,
        index: usize,
        file: &str,
        marked: &Marked,
        finding: &Finding,
    ) {
        let _ = writeln!(out, "<section class=\"panel\"><h3>{}</h3>", html(file));
        if let Some(remark) = remark(self.sources.state(file)) {
            let _ = writeln!(out, "<p class=\"remark\">{remark}</p>");
        }
        out.push_str("<div class=\"src\">");
        match self.sources.get(file) {
            Some(text) => self.write_source(out, index, file, &text, marked, finding),
            None => {
                for (line, here) in marked {
                    let _ = write!(
                        out,
                        "<div class=\"ln hit\" id=\"f{index}-{line}\"><span class=\"no\">{line}</span></div>"
                    );
                    write_notes(out, &[], here, finding);
                }
            }
        }
        out.push_str("</div></section>\n");
    }

    fn write_source(
        &self,
        out: &mut String,
        index: usize,
        file: &str,
        text: &SourceFile,
        marked: &Marked,
        finding: &Finding,
    ) {
        let comments = self.comments(file, text);
        let mut last = 0;
        for window in windows(text, marked) {
            if window.start > last + 1 && last > 0 {
                let hidden = window.start - last - 1;
                let _ = write!(out, "<div class=\"gap\">⋯ {hidden} lines ⋯</div>");
            }
            last = window.end.saturating_sub(1);
            for line in window {
                let bytes = text.line_bytes(line).unwrap_or_default();
                let in_comment = comments.get(line as usize - 1).copied().unwrap_or(false);
                let here = marked.get(&line);
                write_line(out, index, line, bytes, in_comment, here);
                if let Some(here) = here {
                    write_notes(out, bytes, here, finding);
                }
            }
        }
        write_beyond(out, index, text.line_count(), marked, finding);
    }

    fn comments(&self, file: &str, text: &SourceFile) -> Arc<Vec<bool>> {
        let mut cache = self.comments.borrow_mut();
        if let Some(known) = cache.get(file) {
            return Arc::clone(known);
        }
        let mut inside = false;
        let mut starts = Vec::new();
        for line in 1..=text.line_count() {
            starts.push(inside);
            inside = highlight::line(text.line_bytes(line).unwrap_or_default(), inside).in_comment;
        }
        let starts = Arc::new(starts);
        cache.insert(file.to_owned(), Arc::clone(&starts));
        starts
    }
}

/// The number of the panel that shows `file`, for links into it.
pub(super) fn panel_of(file: &str, steps: &[Step], finding: &Finding) -> Option<usize> {
    files(steps, finding).iter().position(|f| *f == file)
}

/// Files in the order the reader meets them: along the path, then down the allocation trace.
fn files<'a>(steps: &'a [Step], finding: &'a Finding) -> Vec<&'a str> {
    let along = steps.iter().map(|s| s.step.file.as_str());
    let below = finding.alloc_trace.iter().map(|site| site.file.as_str());
    let mut seen = BTreeSet::new();
    along.chain(below).filter(|f| !f.is_empty() && seen.insert(*f)).collect()
}

fn marked_lines<'a>(file: &str, steps: &'a [Step], finding: &'a Finding) -> Marked<'a> {
    let mut marked = Marked::new();
    for step in steps.iter().filter(|s| s.step.file == file) {
        marked.entry(step.step.line).or_default().steps.push(step);
    }
    for site in finding.alloc_trace.iter().filter(|s| s.file == file) {
        marked.entry(site.line).or_default().sites.push(site);
    }
    marked
}

fn remark(state: SourceState) -> Option<&'static str> {
    match state {
        SourceState::Same => None,
        SourceState::Changed => Some("This file changed since the analysis: lines may be off."),
        SourceState::Missing => Some("This file could not be read: no source is shown."),
    }
}

/// The line ranges to show, merged, at most `MAX_LINES` in total.
fn windows(text: &SourceFile, marked: &Marked) -> Vec<Range<u32>> {
    let mut merged: Vec<Range<u32>> = Vec::new();
    let mut room = MAX_LINES;
    for &line in marked.keys().filter(|l| (1..=text.line_count()).contains(*l)) {
        let around = if room > 2 * REACH { function_around(text, line) } else { line..line + 1 };
        let around = around.start.max(merged.last().map_or(1, |m| m.end))..around.end;
        room = room.saturating_sub(around.end.saturating_sub(around.start));
        match merged.last_mut() {
            // A gap of a line or two is not worth hiding.
            Some(last) if around.start <= last.end.saturating_add(2) => {
                last.end = last.end.max(around.end);
            }
            _ => merged.push(around),
        }
    }
    merged
}

/// The function around a line, told by a closing brace in the first column, which nearly all C
/// code has; else some lines around it.
fn function_around(text: &SourceFile, line: u32) -> Range<u32> {
    let closes = |n: &u32| text.line_bytes(*n).is_some_and(|l| l.first() == Some(&b'}'));
    let lowest = line.saturating_sub(REACH).max(1);
    let highest = line.saturating_add(REACH).min(text.line_count());
    let before = (lowest..line).rev().find(closes);
    let after = (line..=highest).find(closes);
    let start = match before {
        Some(close) => skip_blank(text, close + 1, line),
        None if lowest == 1 => skip_to_code(text, line),
        None => line.saturating_sub(AROUND).max(1),
    };
    let end = after.unwrap_or_else(|| line.saturating_add(AROUND).min(text.line_count()));
    start..end.max(line) + 1
}

fn skip_blank(text: &SourceFile, from: u32, to: u32) -> u32 {
    let blank = |n: &u32| text.line_bytes(*n).is_none_or(|l| l.trim_ascii().is_empty());
    (from..to).find(|n| !blank(n)).unwrap_or(to)
}

/// For the first function of a file: not the includes above it.
fn skip_to_code(text: &SourceFile, line: u32) -> u32 {
    let blank = |n: &u32| text.line_bytes(*n).is_none_or(|l| l.trim_ascii().is_empty());
    let last_blank = (1..line).rev().find(|n| blank(n) && !inside_body(text, *n));
    last_blank.map_or(1, |n| n + 1).max(line.saturating_sub(REACH))
}

/// Whether the first line of text after a blank line is indented: then it is inside a body.
fn inside_body(text: &SourceFile, blank: u32) -> bool {
    let next =
        (blank + 1..=text.line_count()).find_map(|n| text.line_bytes(n).filter(|l| !l.is_empty()));
    next.is_some_and(|l| l[0].is_ascii_whitespace())
}

fn write_line(
    out: &mut String,
    index: usize,
    line: u32,
    bytes: &[u8],
    in_comment: bool,
    here: Option<&Line>,
) {
    let hit = if here.is_some() { " hit" } else { "" };
    let _ = write!(
        out,
        "<div class=\"ln{hit}\" id=\"f{index}-{line}\"><a class=\"no\" href=\"#f{index}-{line}\">{line}</a><code>"
    );
    write_code(out, bytes, in_comment, &marks(bytes, here));
    out.push_str("</code></div>");
}

/// A marked token: its bytes and the CSS class of what happens there.
type Mark = (Range<usize>, &'static str);

fn marks(bytes: &[u8], here: Option<&Line>) -> Vec<Mark> {
    let Some(here) = here else { return Vec::new() };
    let range = |column: u32| {
        let (start, end) = span::token(bytes, column);
        start..end
    };
    let steps = here.steps.iter().map(|s| (range(s.step.column), s.step.event.name()));
    let sites = here.sites.iter().map(|s| (range(s.column), "site"));
    steps.chain(sites).collect()
}

/// The code with colours and marks, cut if it is very long.
fn write_code(out: &mut String, bytes: &[u8], in_comment: bool, marks: &[Mark]) {
    let focus = marks.first().map_or(0, |(range, _)| range.start);
    let (from, to) = span::window(bytes, focus, MAX_BYTES);
    let colours = if bytes.len() > MAX_BYTES * 10 {
        Vec::new()
    } else {
        highlight::line(bytes, in_comment).ranges
    };
    if from > 0 {
        out.push('…');
    }
    for part in parts(from..to, &colours, marks) {
        write_part(out, bytes, part, &colours, marks);
    }
    if to < bytes.len() {
        let _ = write!(out, "<i class=\"cut\">… {} more bytes</i>", bytes.len() - to);
    }
}

/// Cuts a range at every place where the colour or the mark changes.
fn parts(
    all: Range<usize>,
    colours: &[(Range<usize>, Class)],
    marks: &[Mark],
) -> Vec<Range<usize>> {
    let ranges = colours.iter().map(|(r, _)| r).chain(marks.iter().map(|(r, _)| r));
    let mut cuts: Vec<usize> = ranges.flat_map(|r| [r.start, r.end]).collect();
    cuts.extend([all.start, all.end]);
    cuts.retain(|c| (all.start..=all.end).contains(c));
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).map(|w| w[0]..w[1]).collect()
}

fn write_part(
    out: &mut String,
    bytes: &[u8],
    part: Range<usize>,
    colours: &[(Range<usize>, Class)],
    marks: &[Mark],
) {
    let covers = |range: &Range<usize>| range.start <= part.start && part.end <= range.end;
    let colour = colours.iter().find(|(r, _)| covers(r)).map(|(_, class)| class.css());
    let mark = marks.iter().find(|(r, _)| covers(r)).map(|(_, event)| *event);
    let text = String::from_utf8_lossy(&bytes[part.clone()]);
    let class = match (colour, mark) {
        (None, None) => return html_into(&text, out),
        (Some(colour), None) => colour.to_owned(),
        (None, Some(mark)) => format!("m {mark}"),
        (Some(colour), Some(mark)) => format!("{colour} m {mark}"),
    };
    let _ = write!(out, "<span class=\"{class}\">");
    html_into(&text, out);
    out.push_str("</span>");
}

/// The notes of all steps on a line, each under its column.
fn write_notes(out: &mut String, bytes: &[u8], here: &Line, finding: &Finding) {
    for step in &here.steps {
        let (event, number) = (step.step.event.name(), step.number);
        let indent = indent(bytes, step.step.column);
        let note = super::inline::prose(&describe::note(&step.step, finding));
        let _ = write!(
            out,
            "<div class=\"an {event}\" id=\"step-{number}\" data-step=\"{number}\" style=\"--c:{indent}\">\
             <b>{number}</b> <span>{note}</span></div>"
        );
    }
}

/// The display column at which a note starts: that of its token, with tabs four wide.
fn indent(bytes: &[u8], column: u32) -> usize {
    let (at, _) = span::token(bytes, column);
    let (from, _) = span::window(bytes, at, MAX_BYTES);
    let mut width = usize::from(from > 0);
    for c in String::from_utf8_lossy(&bytes[from..at]).chars() {
        width += if c == '\t' { 4 - width % 4 } else { display_width(c.encode_utf8(&mut [0; 4])) };
    }
    width.min(100)
}

/// Steps on lines that the file does not have (any more).
fn write_beyond(out: &mut String, index: usize, lines: u32, marked: &Marked, finding: &Finding) {
    for (line, here) in marked.iter().filter(|(l, _)| **l == 0 || **l > lines) {
        let _ = write!(
            out,
            "<div class=\"ln hit\" id=\"f{index}-{line}\"><span class=\"no\">{line}</span>\
             <code><i class=\"cut\">no such line</i></code></div>"
        );
        write_notes(out, &[], here, finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> SourceFile {
        SourceFile::new(text.as_bytes().to_vec())
    }

    #[test]
    fn a_window_is_the_function() {
        let text = file(
            "#include <a>\n\nint x;\n\nint f(void)\n{\n\tg();\n\n\th();\n}\n\nint k(void)\n{\n\tg();\n}\n",
        );
        assert_eq!(function_around(&text, 7), 5..11);
        assert_eq!(function_around(&text, 9), 5..11);
        assert_eq!(function_around(&text, 14), 12..16);
    }

    #[test]
    fn odd_layout_gets_lines_around() {
        let text = file(&"  x;\n".repeat(500));
        assert_eq!(function_around(&text, 250), 242..259);
        assert_eq!(function_around(&file(""), 1), 1..2);
    }

    #[test]
    fn code_is_coloured_marked_and_escaped() {
        let mut out = String::new();
        let line = b"if (a<b) return f(\"<\");";
        write_code(&mut out, line, false, &[(16..17, "alloc")]);
        assert_eq!(
            out,
            "<span class=\"tk\">if</span> (a&lt;b) <span class=\"tk\">return</span> \
             <span class=\"tf m alloc\">f</span>(<span class=\"ts\">&quot;&lt;&quot;</span>);"
        );
    }

    #[test]
    fn a_huge_line_is_cut() {
        let mut out = String::new();
        write_code(&mut out, &vec![b'x'; 1 << 20], false, &[]);
        assert!(out.len() < 1000 && out.contains("more bytes"));
    }
}
