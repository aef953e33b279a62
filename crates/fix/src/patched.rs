//! A file with edits applied, and the way from its positions back to the original's.
//!
//! Invariant: edits are in order and do not overlap; every byte outside them is unchanged.

use crate::op::TextEdit;

/// A stretch of new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Index of the op it comes from.
    pub op: usize,
    /// Line and column; the end is exclusive.
    pub start: (u32, u32),
    pub end: (u32, u32),
    pub releases: bool,
}

/// The new text of a file.
#[derive(Clone, Debug)]
pub struct Patched {
    pub text: Vec<u8>,
    edits: Vec<TextEdit>,
}

impl Patched {
    /// `None` when edits overlap.
    pub fn new(original: &[u8], edits: Vec<TextEdit>) -> Option<Patched> {
        let mut text = Vec::with_capacity(original.len() + 64);
        let mut at = 0;
        for edit in &edits {
            text.extend_from_slice(original.get(at..edit.range.start)?);
            text.extend_from_slice(edit.text.as_bytes());
            at = edit.range.end;
        }
        text.extend_from_slice(original.get(at..)?);
        Some(Patched { text, edits })
    }

    /// The same without new lines, as far as the language allows: what follows stays on its lines.
    pub fn level(original: &[u8], mut edits: Vec<TextEdit>) -> Option<Patched> {
        for edit in &mut edits {
            let before = original.get(..edit.range.start)?;
            flatten(edit, before, newlines(original.get(edit.range.clone())?));
        }
        Patched::new(original, edits)
    }

    /// Where the text of each op is.
    pub fn parts(&self) -> Vec<Part> {
        let mut list = Vec::new();
        let mut shift = 0isize;
        for edit in &self.edits {
            let start = edit.range.start.saturating_add_signed(shift);
            for (op, range, releases) in &edit.parts {
                let from = self.position(start + range.start);
                let to = self.position(start + range.end);
                list.push(Part { op: *op, start: from, end: to, releases: *releases });
            }
            shift += edit.text.len() as isize - edit.range.len() as isize;
        }
        list
    }

    /// Where a position of the original that no edit changes is now.
    pub fn moved(&self, offset: usize) -> (u32, u32) {
        let before = self.edits.iter().filter(|e| e.range.end <= offset);
        let shift: isize = before.map(|e| e.text.len() as isize - e.range.len() as isize).sum();
        self.position(offset.saturating_add_signed(shift))
    }

    fn position(&self, offset: usize) -> (u32, u32) {
        position(&self.text, offset)
    }

    /// The position in the original of a position in the new text. What was added is mapped to
    /// where it was added.
    pub fn original(&self, original: &[u8], line: u32, column: u32) -> (u32, u32) {
        let Some(offset) = offset(&self.text, line, column) else { return (line, column) };
        let mut shift = 0isize;
        for edit in &self.edits {
            let start = edit.range.start.saturating_add_signed(shift);
            if offset < start {
                break;
            }
            if offset < start + edit.text.len() {
                return position(original, edit.range.start);
            }
            shift += edit.text.len() as isize - edit.range.len() as isize;
        }
        position(original, offset.saturating_add_signed(-shift))
    }
}

fn newlines(text: &[u8]) -> usize {
    text.iter().filter(|b| **b == b'\n').count()
}

/// Turns line ends into blanks of the same length until `wanted` are left. Those that end a comment or a
/// directive stay.
fn flatten(edit: &mut TextEdit, before: &[u8], wanted: usize) {
    let mut text = std::mem::take(&mut edit.text).into_bytes();
    let mut left = newlines(&text).saturating_sub(wanted);
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let mut line = before[start..].to_vec();
    for i in 0..text.len() {
        if text[i] != b'\n' {
            line.push(text[i]);
            continue;
        }
        let plain = |l: &[u8]| {
            let l = l.trim_ascii();
            !l.starts_with(b"#") && !l.ends_with(b"\\") && !l.windows(2).any(|w| w == b"//")
        };
        let next = text[i + 1..].split(|b| *b == b'\n').next().unwrap_or_default();
        if left > 0 && plain(&line) && !next.trim_ascii().starts_with(b"#") {
            text[i] = b' ';
            left -= 1;
            line.push(b' ');
        } else {
            line.clear();
        }
    }
    edit.text = String::from_utf8_lossy(&text).into_owned();
}

/// Line and column of an offset, 1-based, in bytes.
pub fn position(text: &[u8], offset: usize) -> (u32, u32) {
    let before = &text[..offset.min(text.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    (line as u32, (before.len() - start) as u32 + 1)
}

fn offset(text: &[u8], line: u32, column: u32) -> Option<usize> {
    let before = text.split_inclusive(|b| *b == b'\n').take((line as usize).checked_sub(1)?);
    let start: usize = before.map(<[u8]>::len).sum();
    let offset = start + (column.max(1) as usize - 1);
    (offset <= text.len()).then_some(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(range: std::ops::Range<usize>, text: &str) -> TextEdit {
        TextEdit { range, text: text.to_owned(), parts: vec![(7, 0..text.len(), true)] }
    }

    #[test]
    fn positions_go_back() {
        let original = b"one\ntwo\nthree\n";
        let patched = Patched::new(original, vec![edit(4..4, "new\n"), edit(8..13, "3")]).unwrap();
        assert_eq!(patched.text, b"one\nnew\ntwo\n3\n");
        assert_eq!(patched.original(original, 3, 2), (2, 2));
        assert_eq!(patched.original(original, 2, 1), (2, 1));
        assert_eq!(patched.original(original, 1, 3), (1, 3));
        assert_eq!((patched.moved(2), patched.moved(5)), ((1, 3), (3, 2)));
        let part = Part { op: 7, start: (2, 1), end: (3, 1), releases: true };
        assert_eq!(patched.parts()[0], part);
    }

    #[test]
    fn lines_that_follow_stay_where_they_are() {
        let original = b"if (a)\n  b();\nc();\n";
        let edits = || vec![edit(6..6, " {\n  new();"), edit(13..13, "\n}")];
        let patched = Patched::level(original, edits()).unwrap();
        assert_eq!(patched.text, b"if (a) {   new();\n  b(); }\nc();\n");
        let original = b"b(); // why\nc();\n";
        let patched = Patched::level(original, vec![edit(11..11, "\n}")]).unwrap();
        assert_eq!(patched.text, b"b(); // why\n}\nc();\n", "a comment needs its end");
    }

    #[test]
    fn overlapping_edits_are_refused() {
        assert!(Patched::new(b"abcdef", vec![edit(0..3, ""), edit(2..4, "")]).is_none());
    }
}
