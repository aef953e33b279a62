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
        let part = Part { op: 7, start: (2, 1), end: (3, 1), releases: true };
        assert_eq!(patched.parts()[0], part);
    }

    #[test]
    fn overlapping_edits_are_refused() {
        assert!(Patched::new(b"abcdef", vec![edit(0..3, ""), edit(2..4, "")]).is_none());
    }
}
