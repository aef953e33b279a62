//! A fix as changed lines, for reading.
//!
//! In: the edits of a fix and the source. Out: removed and added lines with a little context, or the
//! inserted text alone when the source is not the analysed one.

use leakproof_findings::{Edit, Fix, SourceFile, SourceState, Sources};
use similar::{ChangeTag, TextDiff};

use crate::escape::html;

/// Unchanged lines shown around an edit.
const CONTEXT: u32 = 2;
/// An edit over more lines than this is not drawn as a diff.
const MAX_LINES: u32 = 400;

pub(super) fn render(fix: &Fix, sources: &Sources) -> String {
    let mut files: Vec<&str> = fix.edits.iter().map(|e| e.file.as_str()).collect();
    files.dedup();
    files.into_iter().map(|file| file_diff(file, fix, sources)).collect()
}

fn file_diff(file: &str, fix: &Fix, sources: &Sources) -> String {
    let edits: Vec<&Edit> = fix.edits.iter().filter(|e| e.file == file).collect();
    let same = sources.state(file) == SourceState::Same;
    let text = sources.get(file).filter(|_| same);
    let lines = text.and_then(|text| changed_lines(&text, &edits));
    let body = lines.unwrap_or_else(|| inserted_only(&edits));
    format!(
        "<figure class=\"diff\"><figcaption>{}</figcaption><pre>{body}</pre></figure>\n",
        html(file)
    )
}

fn changed_lines(text: &SourceFile, edits: &[&Edit]) -> Option<String> {
    let first = edits.iter().map(|e| e.start_line).min()?.saturating_sub(CONTEXT).max(1);
    let last = edits.iter().map(|e| e.end_line).max()?.saturating_add(CONTEXT);
    let last = last.min(text.line_count());
    if last < first || last - first > MAX_LINES {
        return None;
    }
    let old: Vec<String> =
        (first..=last).map(|n| text.line(n).map(|l| l.into_owned())).collect::<Option<_>>()?;
    let new = apply(text, edits, first, last)?;
    let old = old.join("\n") + "\n";
    let mut out = String::new();
    for change in TextDiff::from_lines(&old, &new).iter_all_changes() {
        let (class, sign) = match change.tag() {
            ChangeTag::Delete => ("del", "-"),
            ChangeTag::Insert => ("ins", "+"),
            ChangeTag::Equal => ("same", " "),
        };
        let line = html(change.value().trim_end_matches('\n'));
        out.push_str(&format!("<span class=\"{class}\">{sign}{line}</span>\n"));
    }
    Some(out)
}

/// The text of lines `first..=last` with the edits made; `None` if an edit does not fit.
fn apply(text: &SourceFile, edits: &[&Edit], first: u32, last: u32) -> Option<String> {
    let mut sorted = edits.to_vec();
    sorted.sort_by_key(|e| (e.start_line, e.start_column));
    let mut out = Vec::new();
    let mut at = (first, 1);
    for edit in sorted {
        let start = (edit.start_line, edit.start_column);
        let end = (edit.end_line, edit.end_column);
        if start < at || end < start {
            return None;
        }
        copy(text, at, start, &mut out)?;
        out.extend_from_slice(edit.text.as_bytes());
        at = end;
    }
    let end_column = u32::try_from(text.line_bytes(last)?.len()).ok()?.saturating_add(1);
    copy(text, at, (last, end_column), &mut out)?;
    out.push(b'\n');
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// Copies the bytes between two positions.
fn copy(text: &SourceFile, from: (u32, u32), to: (u32, u32), out: &mut Vec<u8>) -> Option<()> {
    for line in from.0..=to.0 {
        let bytes = text.line_bytes(line)?;
        let start = if line == from.0 { from.1.checked_sub(1)? as usize } else { 0 };
        let end = if line == to.0 { to.1.checked_sub(1)? as usize } else { bytes.len() };
        out.extend_from_slice(bytes.get(start..end)?);
        if line != to.0 {
            out.push(b'\n');
        }
    }
    Some(())
}

fn inserted_only(edits: &[&Edit]) -> String {
    let mut out = String::new();
    for edit in edits {
        let place = format!("line {}, column {}", edit.start_line, edit.start_column);
        out.push_str(&format!("<span class=\"same\">@ {place}</span>\n"));
        for line in edit.text.lines() {
            out.push_str(&format!("<span class=\"ins\">+{}</span>\n", html(line)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_findings::Applicability;

    fn fix(edits: Vec<Edit>) -> Fix {
        Fix { applicability: Applicability::Safe, description: String::new(), edits }
    }

    fn edit(start: (u32, u32), end: (u32, u32), text: &str) -> Edit {
        Edit {
            file: "a.c".into(),
            start_line: start.0,
            start_column: start.1,
            end_line: end.0,
            end_column: end.1,
            text: text.into(),
        }
    }

    #[test]
    fn changed_lines_are_shown_with_context() {
        let sources = Sources::in_memory([("a.c", "a\nif (x)\n  return 1;\nb\nc\nd\n")]);
        let edits = vec![edit((2, 7), (2, 7), " {\n  free(p);"), edit((3, 12), (3, 12), "\n}")];
        let shown = render(&fix(edits), &sources);
        assert!(shown.contains("<span class=\"del\">-if (x)</span>"), "{shown}");
        assert!(shown.contains("<span class=\"ins\">+  free(p);</span>"), "{shown}");
        assert!(shown.contains("<span class=\"same\"> c</span>") && !shown.contains("> d<"));
    }

    #[test]
    fn an_edit_that_does_not_fit_shows_its_text_alone() {
        let sources = Sources::in_memory([("a.c", "a\n")]);
        for odd in [edit((9, 1), (9, 1), "x"), edit((1, 0), (1, 0), "x"), edit((1, 5), (1, 2), "x")]
        {
            assert!(render(&fix(vec![odd]), &sources).contains("<span class=\"ins\">+x</span>"));
        }
    }
}
