//! The little that triage must know of C's layout: comments, and which function a line is in.
//!
//! In: the bytes of a file. Out: its comments with their lines, and names read off definitions that
//! start in the first column. Any bytes are accepted; what is not laid out so is simply not seen.

use std::ops::RangeInclusive;

use leakproof_findings::SourceFile;

/// A comment or one line of a longer one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    pub line: u32,
    pub text: String,
    /// Nothing but the comment stands on its line.
    pub alone: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Code,
    Line,
    Block,
    Literal(u8),
}

/// All comments of a file, line by line.
pub(crate) fn comments(bytes: &[u8]) -> Vec<Comment> {
    let mut scan = Scan { found: Vec::new(), mode: Mode::Code, line: 1, code: false, start: None };
    let mut at = 0;
    while at < bytes.len() {
        at += scan.step(bytes, at);
    }
    scan.end_comment(bytes, bytes.len());
    scan.settle();
    scan.found
}

struct Scan {
    found: Vec<Comment>,
    mode: Mode,
    line: u32,
    /// Whether the current line has anything but comments so far.
    code: bool,
    start: Option<usize>,
}

impl Scan {
    /// Consumes one or two bytes and says how many.
    fn step(&mut self, bytes: &[u8], at: usize) -> usize {
        let rest = &bytes[at..];
        match (self.mode, rest[0]) {
            (_, b'\n') => self.new_line(bytes, at),
            (Mode::Code, b'/') if rest.starts_with(b"//") => return self.open(Mode::Line, at),
            (Mode::Code, b'/') if rest.starts_with(b"/*") => return self.open(Mode::Block, at),
            (Mode::Block, b'*') if rest.starts_with(b"*/") => {
                self.end_comment(bytes, at);
                self.mode = Mode::Code;
                return 2;
            }
            (Mode::Code, quote @ (b'"' | b'\'')) => {
                self.code = true;
                self.mode = Mode::Literal(quote);
            }
            (Mode::Literal(_), b'\\') if rest.len() > 1 && rest[1] != b'\n' => return 2,
            (Mode::Literal(quote), b) if b == quote => self.mode = Mode::Code,
            (Mode::Code, b) if !b.is_ascii_whitespace() => self.code = true,
            _ => {}
        }
        1
    }

    fn open(&mut self, mode: Mode, at: usize) -> usize {
        self.mode = mode;
        self.start = Some(at + 2);
        2
    }

    fn end_comment(&mut self, bytes: &[u8], end: usize) {
        if let Some(start) = self.start.take() {
            let text = String::from_utf8_lossy(&bytes[start.min(end)..end]).trim().to_owned();
            self.found.push(Comment { line: self.line, text, alone: !self.code });
        }
    }

    fn new_line(&mut self, bytes: &[u8], at: usize) {
        self.end_comment(bytes, at);
        self.settle();
        self.line = self.line.saturating_add(1);
        self.code = false;
        match self.mode {
            Mode::Block => self.start = Some(at + 1),
            _ => self.mode = Mode::Code,
        }
    }

    /// Code may follow a block comment on its line: then it is not alone after all.
    fn settle(&mut self) {
        for comment in self.found.iter_mut().rev().take_while(|c| c.line == self.line) {
            comment.alone &= !self.code;
        }
    }
}

/// How far below a comment, and above a line, a definition's head is looked for.
const REACH: u32 = 400;
const HEAD_LINES: u32 = 12;

/// The names that are followed by `(` in the definition that starts at or below `line`.
pub(crate) fn names_below(file: &SourceFile, line: u32) -> Vec<String> {
    let mut names = Vec::new();
    for n in line..line.saturating_add(HEAD_LINES) {
        let Some(text) = file.line(n) else { break };
        let head = text.split(['{', ';']).next().unwrap_or_default();
        names.extend(called_names(head));
        if head.len() < text.len() {
            break;
        }
    }
    names
}

/// Words directly before an opening parenthesis.
fn called_names(text: &str) -> impl Iterator<Item = String> {
    let before = text.match_indices('(').map(|(i, _)| &text[..i]);
    before.filter_map(|head| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let name = head.trim_end().rsplit(|c| !is_word(c)).next()?;
        (!name.is_empty()).then(|| name.to_owned())
    })
}

/// The names of the functions that have a line in a range.
pub(crate) fn functions_in(file: &SourceFile, lines: &RangeInclusive<u32>) -> Vec<String> {
    let end = (*lines.end()).min(file.line_count());
    let heads = (lines.start().saturating_add(1)..=end).filter_map(|n| head(file, n));
    function_at(file, *lines.start()).into_iter().chain(heads).collect()
}

/// The name of the function that a line is in, read off the nearest head above it.
fn function_at(file: &SourceFile, line: u32) -> Option<String> {
    let lowest = line.saturating_sub(REACH).max(1);
    for n in (lowest..=line).rev() {
        if n < line && file.line_bytes(n)?.first() == Some(&b'}') {
            return None;
        }
        if let Some(name) = head(file, n) {
            return Some(name);
        }
    }
    None
}

/// The function whose definition has its name on this line, if one has.
fn head(file: &SourceFile, line: u32) -> Option<String> {
    let text = file.line(line)?;
    let first = text.chars().next()?;
    let starts = first.is_alphabetic() || first == '_';
    let is_head = starts && !text.trim_end().ends_with([';', ':']);
    if is_head { called_names(&text).next() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(u32, String, bool)> {
        comments(text.as_bytes()).into_iter().map(|c| (c.line, c.text, c.alone)).collect()
    }

    #[test]
    fn comments_are_told_from_text() {
        let text = "a(\"// no\"); // yes\n/* one\n two */ b; '\\''; /* three */\n// four";
        let expected = [
            (1, "yes", false),
            (2, "one", true),
            (3, "two", false),
            (3, "three", false),
            (4, "four", true),
        ];
        assert_eq!(found(text), expected.map(|(l, t, a)| (l, t.to_owned(), a)));
    }

    #[test]
    fn literals_end_with_their_line() {
        assert_eq!(found("#error don't\n// c\n"), [(2, "c".to_owned(), true)]);
        assert_eq!(found("\"\\\n// c"), [(2, "c".to_owned(), true)]);
        assert_eq!(found("/*"), [(1, String::new(), true)]);
        assert_eq!(found("/"), []);
    }

    #[test]
    fn function_names_are_read_off_heads() {
        let file = SourceFile::new(
            b"static __attribute__((unused)) int\nf(int a,\n  int b)\n{\n\tg(a);\nout:\n\treturn;\n}\n\nint x = h(1);\n".to_vec(),
        );
        assert_eq!(names_below(&file, 1), ["__attribute__", "f"]);
        assert_eq!(function_at(&file, 5).as_deref(), Some("f"));
        assert_eq!(function_at(&file, 7).as_deref(), Some("f"));
        assert_eq!(function_at(&file, 10), None);
        assert_eq!(functions_in(&file, &(4..=u32::MAX)), ["f"]);
    }
}
