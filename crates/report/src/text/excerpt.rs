//! Source excerpts with markers under the code.
//!
//! In: the steps of a path that stand in one file in ascending lines. Out: numbered source lines,
//! each step marked under its line. Works on bytes with 1-based byte columns, as compilers count
//! them, and copes with columns beyond the line, lines beyond the file and lines of any length.

use leakproof_findings::{Event, SourceFile, SourceState, Sources};

use super::paint::Paint;
use crate::describe;
use crate::escape::{display_width, visible, visible_char};
use crate::span;
use crate::steps::Step;

/// Gaps of up to this many lines between two steps are shown instead of elided.
const GAP_SHOWN: u32 = 2;
/// Longer lines are cut to a window of this many bytes around the marked column.
const WINDOW: usize = 180;
const TAB: usize = 4;

/// One line prepared for display.
pub(super) struct Shown {
    pub text: String,
    /// Display column (0-based) and width of the marked token.
    pub mark: (usize, usize),
}

/// Prepares a line and places the marker for the token at `column`.
pub(super) fn show(bytes: &[u8], column: u32) -> Shown {
    let (at, end) = span::token(bytes, column);
    let (from, to) = span::window(bytes, at, WINDOW);
    let end = end.min(to);
    let mut text = String::new();
    if from > 0 {
        text.push('…');
    }
    expand(&bytes[from..at], &mut text);
    let start = display_width(&text);
    expand(&bytes[at..end], &mut text);
    let width = display_width(&text) - start;
    expand(&bytes[end..to], &mut text);
    if to < bytes.len() {
        text.push('…');
    }
    Shown { text, mark: (start, width.max(1)) }
}

fn expand(bytes: &[u8], out: &mut String) {
    for c in String::from_utf8_lossy(bytes).chars() {
        if c == '\t' {
            let width = TAB - display_width(out) % TAB;
            out.extend(std::iter::repeat_n(' ', width));
        } else {
            visible_char(c, out);
        }
    }
}

/// Writes one excerpt; `gutter` is the width of the line-number column.
pub(super) fn write(
    out: &mut String,
    steps: &[(Step, String)],
    sources: &Sources,
    gutter: usize,
    paint: Paint,
) {
    let file = steps.first().and_then(|(first, _)| sources.get(&first.step.file));
    let bar = paint.frame(&format!("{:gutter$} |", ""));
    let mut last_line = None;
    for (step, note) in steps {
        if step.folded_before > 0 {
            let more = format!("... {}, shown by --full-path", more_steps(step.folded_before));
            out.push_str(&format!("{} {}\n", paint.frame(&more_gutter(gutter)), paint.dim(&more)));
            last_line = None;
        }
        if last_line != Some(step.step.line) {
            write_between(out, file.as_deref(), last_line, step.step.line, gutter, paint);
            write_line(out, file.as_deref(), step.step.line, step.step.column, gutter, paint);
        }
        last_line = Some(step.step.line);
        write_mark(out, file.as_deref(), step, note, &bar, paint);
    }
}

fn more_steps(steps: usize) -> String {
    if steps == 1 { "1 more step".to_owned() } else { format!("{steps} more steps") }
}

fn more_gutter(gutter: usize) -> String {
    format!("{:gutter$} :", "")
}

/// The lines between two marked ones, or a sign that there are some.
fn write_between(
    out: &mut String,
    file: Option<&SourceFile>,
    last: Option<u32>,
    next: u32,
    gutter: usize,
    paint: Paint,
) {
    let Some(last) = last else { return };
    let between = last.saturating_add(1)..next;
    if between.is_empty() {
        return;
    }
    if between.end - between.start <= GAP_SHOWN && file.is_some() {
        for line in between {
            write_line(out, file, line, 1, gutter, paint);
        }
    } else {
        out.push_str(&format!("{}\n", paint.frame(&format!("{:.<gutter$} :", ""))));
    }
}

fn write_line(
    out: &mut String,
    file: Option<&SourceFile>,
    line: u32,
    column: u32,
    gutter: usize,
    paint: Paint,
) {
    let Some(bytes) = file.and_then(|f| f.line_bytes(line)) else {
        let number = paint.frame(&format!("{line:>gutter$} |"));
        out.push_str(&format!("{number} {}\n", paint.dim("(no source text)")));
        return;
    };
    let shown = show(bytes, column);
    let number = paint.frame(&format!("{line:>gutter$} |"));
    out.push_str(format!("{number} {}", shown.text).trim_end());
    out.push('\n');
}

fn write_mark(
    out: &mut String,
    file: Option<&SourceFile>,
    step: &Step,
    note: &str,
    bar: &str,
    paint: Paint,
) {
    let bytes = file.and_then(|f| f.line_bytes(step.step.line)).unwrap_or_default();
    let (start, width) = show(bytes, step.step.column).mark;
    let label = format!("({}) {}", step.number, visible(note));
    let (mark, label) = match step.step.event {
        Event::Leak => (paint.red(&"^".repeat(width)), paint.red(&label)),
        Event::Alloc => (paint.green(&"^".repeat(width)), paint.green(&label)),
        _ => (paint.cyan(&"-".repeat(width)), paint.cyan(&label)),
    };
    out.push_str(&format!("{bar} {:start$}{mark} {label}\n", ""));
}

/// A remark when the text shown may not be the text analysed.
pub(super) fn state_remark(sources: &Sources, file: &str) -> Option<&'static str> {
    match sources.state(file) {
        SourceState::Same => None,
        SourceState::Changed => Some("this file changed since the analysis: lines may be off"),
        SourceState::Missing => Some("this file cannot be read now: no source is shown"),
    }
}

/// The note of every step, next to it.
pub(super) fn with_notes(
    steps: Vec<Step>,
    finding: &leakproof_findings::Finding,
) -> Vec<(Step, String)> {
    steps
        .into_iter()
        .map(|s| {
            let note = describe::note(&s.step, finding);
            (s, note)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(line: &[u8], column: u32) -> String {
        let shown = show(line, column);
        let (start, width) = shown.mark;
        shown.text.chars().skip(start).take(width).collect()
    }

    #[test]
    fn the_mark_covers_the_token() {
        assert_eq!(marked(b"\tp = malloc(n);", 6), "malloc");
        assert_eq!(marked(b"    return p + 1; }", 5), "return p + 1");
        assert_eq!(marked(b"}", 1), "}");
        assert_eq!(marked(b"  q->items[i].name = copy;", 3), "q->items[i].name");
        assert_eq!(marked(b"if (!order->item)", 5), "!order->item");
        assert_eq!(marked(b"a != b", 3), "!");
        assert_eq!(marked(b"a[", 1), "a");
        assert_eq!(marked(b"a->", 1), "a");
        assert_eq!(marked("é = f(x);".as_bytes(), 6), "f");
        assert_eq!(marked(b"\xff\xff g(x)", 4), "g");
    }

    #[test]
    fn a_tab_is_four_columns_at_most() {
        assert_eq!(show(b"\tx\ty", 1).text, "    x   y");
    }

    #[test]
    fn odd_columns_stay_inside() {
        for column in [0, 1, 5, 99, u32::MAX] {
            let shown = show(b"abc", column);
            assert!(shown.mark.0 <= 3 && shown.mark.1 >= 1);
        }
        assert_eq!(show(b"", 7).mark, (0, 1));
    }

    #[test]
    fn a_huge_line_is_cut_round_the_mark() {
        let mut line = vec![b'x'; 1 << 20];
        line[500_000..500_008].copy_from_slice(b" target ");
        let shown = show(&line, 500_002);
        assert!(shown.text.chars().count() <= WINDOW + 2);
        assert!(shown.text.starts_with('…') && shown.text.ends_with('…'));
        assert_eq!(marked(&line, 500_002), "target");
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let line = "é".repeat(5000).into_bytes();
        for column in [1, 4001, 9999] {
            assert!(!show(&line, column).text.contains('\u{fffd}'), "{column}");
        }
    }
}
