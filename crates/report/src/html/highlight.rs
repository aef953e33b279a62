//! Colours for C and C++ source, one line at a time.
//!
//! In: the bytes of a line and whether it starts inside a block comment. Out: classified byte ranges
//! in ascending order that do not overlap, and whether the next line starts inside a comment. Plain
//! text has no range. Any bytes are accepted; the worst that bad input gives is odd colours.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Comment,
    Text,
    Number,
    Keyword,
    Type,
    Call,
    Directive,
}

impl Class {
    /// The CSS class.
    pub fn css(self) -> &'static str {
        match self {
            Class::Comment => "tc",
            Class::Text => "ts",
            Class::Number => "tn",
            Class::Keyword => "tk",
            Class::Type => "tt",
            Class::Call => "tf",
            Class::Directive => "tp",
        }
    }
}

pub(super) struct Highlighted {
    pub ranges: Vec<(Range<usize>, Class)>,
    pub in_comment: bool,
}

pub(super) fn line(bytes: &[u8], in_comment: bool) -> Highlighted {
    let mut scan = Scan { bytes, at: 0, ranges: Vec::new(), in_comment };
    if in_comment {
        scan.block_comment(0);
    }
    scan.run();
    Highlighted { ranges: scan.ranges, in_comment: scan.in_comment }
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    ranges: Vec<(Range<usize>, Class)>,
    in_comment: bool,
}

impl Scan<'_> {
    fn run(&mut self) {
        let is_directive = self.rest().trim_ascii_start().first() == Some(&b'#');
        while let Some(&byte) = self.bytes.get(self.at) {
            let start = self.at;
            match byte {
                b'/' if self.rest().starts_with(b"//") => {
                    self.push(start, self.bytes.len(), Class::Comment)
                }
                b'/' if self.rest().starts_with(b"/*") => {
                    self.at += 2;
                    self.block_comment(start);
                }
                b'"' | b'\'' => self.literal(byte),
                b'#' if is_directive => self.directive(),
                b'0'..=b'9' => self.number(),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
                _ => self.at += 1,
            }
        }
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    fn push(&mut self, start: usize, end: usize, class: Class) {
        self.ranges.push((start..end, class));
        self.at = end;
    }

    /// From inside a comment that began at `start` to its end or the end of the line.
    fn block_comment(&mut self, start: usize) {
        let close = self.rest().windows(2).position(|w| w == b"*/");
        self.in_comment = close.is_none();
        let end = close.map_or(self.bytes.len(), |i| self.at + i + 2);
        if end > start {
            self.push(start, end, Class::Comment);
        }
    }

    fn literal(&mut self, quote: u8) {
        let start = self.at;
        let mut end = start + 1;
        while let Some(&byte) = self.bytes.get(end) {
            end += if byte == b'\\' { 2 } else { 1 };
            if byte == quote {
                break;
            }
        }
        self.push(start, end.min(self.bytes.len()), Class::Text);
    }

    fn directive(&mut self) {
        let start = self.at;
        let blank = self.bytes[start + 1..].iter().take_while(|b| b.is_ascii_whitespace()).count();
        let name = self.bytes[start + 1 + blank..].iter().take_while(|b| is_word(**b)).count();
        self.push(start, start + 1 + blank + name, Class::Directive);
    }

    fn number(&mut self) {
        let length = self.rest().iter().take_while(|b| is_word(**b) || **b == b'.').count();
        self.push(self.at, self.at + length, Class::Number);
    }

    fn word(&mut self) {
        let length = self.rest().iter().take_while(|b| is_word(**b)).count();
        let end = self.at + length;
        let called = self.bytes[end..].trim_ascii_start().first() == Some(&b'(');
        match std::str::from_utf8(&self.bytes[self.at..end]) {
            Ok(word) if KEYWORDS.contains(&word) => self.push(self.at, end, Class::Keyword),
            Ok(word) if TYPES.contains(&word) || word.ends_with("_t") => {
                self.push(self.at, end, Class::Type);
            }
            _ if called => self.push(self.at, end, Class::Call),
            _ => self.at = end,
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

const KEYWORDS: [&str; 45] = [
    "auto",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "extern",
    "for",
    "goto",
    "if",
    "inline",
    "namespace",
    "new",
    "noexcept",
    "nullptr",
    "operator",
    "override",
    "private",
    "protected",
    "public",
    "register",
    "restrict",
    "return",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "try",
    "typedef",
    "typename",
    "union",
    "using",
    "virtual",
    "volatile",
    "while",
    "NULL",
];

const TYPES: [&str; 14] = [
    "bool", "char", "double", "float", "int", "long", "short", "signed", "unsigned", "void",
    "_Bool", "FILE", "DIR", "wchar",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(text: &str) -> Vec<(String, Class)> {
        let bytes = text.as_bytes();
        let found = line(bytes, false).ranges;
        found
            .into_iter()
            .map(|(r, c)| (String::from_utf8_lossy(&bytes[r]).into_owned(), c))
            .collect()
    }

    #[test]
    fn a_line_of_c() {
        let found = classes("  char *p = f(0x1F, \"a\\\"b\"); // done");
        let expected = [
            ("char", Class::Type),
            ("f", Class::Call),
            ("0x1F", Class::Number),
            ("\"a\\\"b\"", Class::Text),
            ("// done", Class::Comment),
        ];
        assert_eq!(found, expected.map(|(t, c)| (t.to_owned(), c)));
    }

    #[test]
    fn directives_and_keywords() {
        assert_eq!(classes("# define X")[0].0, "# define");
        assert_eq!(classes("if (x)")[0], ("if".to_owned(), Class::Keyword));
    }

    #[test]
    fn block_comments_go_on_over_lines() {
        let first = line(b"a /* b", false);
        assert!(first.in_comment);
        let second = line(b"c */ int", first.in_comment);
        assert!(!second.in_comment);
        assert_eq!(second.ranges[0], (0..4, Class::Comment));
        assert!(line(b"", true).in_comment);
    }

    #[test]
    fn any_bytes_give_ordered_ranges_inside_the_line() {
        let mut seed = 7u32;
        for _ in 0..2000 {
            let bytes: Vec<u8> = (0..24)
                .map(|_| {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    b"/*\"'\\#a1 (\xff"[(seed >> 24) as usize % 11]
                })
                .collect();
            let mut last = 0;
            for (range, _) in line(&bytes, seed.is_multiple_of(2)).ranges {
                assert!(last <= range.start && range.start < range.end && range.end <= bytes.len());
                last = range.end;
            }
        }
    }
}
