//! Text to tokens, with the byte offset of each. Newlines mean nothing; `;` starts a comment.
//!
//! Invariant: every input ends in an `End` token, and no input makes the lexer panic.

use super::ParseError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tok<'a> {
    Word(&'a str),
    /// A number with an optional sign; wide enough for every `u64` and `i64`.
    Int(i128),
    Str(Vec<u8>),
    Punct(char),
    Arrow,
    Dots,
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    pub(super) tok: Tok<'a>,
    pub(super) at: usize,
}

impl Tok<'_> {
    /// How an error message names it.
    pub(super) fn describe(&self) -> String {
        match self {
            Tok::Word(w) => format!("`{w}`"),
            Tok::Int(n) => format!("`{n}`"),
            Tok::Str(s) => format!("\"{}\"", String::from_utf8_lossy(s).escape_debug()),
            Tok::Punct(c) => format!("`{}`", c.escape_debug()),
            Tok::Arrow => "`->`".to_owned(),
            Tok::Dots => "`...`".to_owned(),
            Tok::End => "the end of the text".to_owned(),
        }
    }
}

pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let at = lexer.at;
        let tok = lexer.next()?;
        let end = tok == Tok::End;
        tokens.push(Token { tok, at });
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn skip_blank(&mut self) {
        while let Some(&b) = self.rest().first() {
            match b {
                b';' => self.at += self.run(|b| b != b'\n'),
                b if b.is_ascii_whitespace() => self.at += 1,
                _ => return,
            }
        }
    }

    /// Length of the longest prefix of bytes that satisfy `keep`.
    fn run(&self, keep: impl Fn(u8) -> bool) -> usize {
        self.rest().iter().take_while(|b| keep(**b)).count()
    }

    fn take(&mut self, len: usize) -> &'a str {
        let text = self.text.get(self.at..self.at + len).unwrap_or("");
        self.at += len;
        text
    }

    fn next(&mut self) -> Result<Tok<'a>, ParseError> {
        let rest = self.rest();
        let Some(&first) = rest.first() else { return Ok(Tok::End) };
        let signed = matches!(first, b'+' | b'-') && rest.get(1).is_some_and(u8::is_ascii_digit);
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let len = self.run(|b| b.is_ascii_alphanumeric() || b == b'_');
                Ok(Tok::Word(self.take(len)))
            }
            b'0'..=b'9' => self.number(),
            b'+' | b'-' if signed => self.number(),
            b'"' => self.string(),
            b'-' if rest.starts_with(b"->") => {
                self.at += 2;
                Ok(Tok::Arrow)
            }
            b'.' if rest.starts_with(b"...") => {
                self.at += 3;
                Ok(Tok::Dots)
            }
            _ => {
                let c = self.text[self.at..].chars().next().unwrap_or('\0');
                self.at += c.len_utf8();
                Ok(Tok::Punct(c))
            }
        }
    }

    fn number(&mut self) -> Result<Tok<'a>, ParseError> {
        let start = self.at;
        let sign = usize::from(!self.rest()[0].is_ascii_digit());
        self.at += sign;
        let digits = self.run(|b| b.is_ascii_digit());
        self.at = start;
        let text = self.take(sign + digits);
        // Longer numbers would not fit any field, and could overflow.
        match text.parse::<i128>() {
            Ok(n) if digits <= 20 => Ok(Tok::Int(n)),
            _ => Err(ParseError::at(self.text, start, format!("the number {text} is too large"))),
        }
    }

    fn string(&mut self) -> Result<Tok<'a>, ParseError> {
        let start = self.at;
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            let plain = self.run(|b| b != b'"' && b != b'\\' && b != b'\n');
            bytes.extend_from_slice(&self.rest()[..plain]);
            self.at += plain;
            match self.rest() {
                [b'"', ..] => {
                    self.at += 1;
                    return Ok(Tok::Str(bytes));
                }
                [b'\\', ..] => bytes.push(self.escape()?),
                _ => {
                    let what = "expected a closing `\"` on the same line";
                    return Err(ParseError::at(self.text, start, what.to_owned()));
                }
            }
        }
    }

    fn escape(&mut self) -> Result<u8, ParseError> {
        let (byte, len) = match self.rest() {
            [_, b'"', ..] => (b'"', 2),
            [_, b'\\', ..] => (b'\\', 2),
            [_, b'n', ..] => (b'\n', 2),
            [_, b'0', ..] => (0, 2),
            [_, b'x', high, low, ..] => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, 4),
                _ => return Err(self.bad_escape()),
            },
            _ => return Err(self.bad_escape()),
        };
        self.at += len;
        Ok(byte)
    }

    fn bad_escape(&self) -> ParseError {
        let what = r#"expected one of \" \\ \n \0 \xHH"#;
        ParseError::at(self.text, self.at, what.to_owned())
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|d| u8::try_from(d).ok())
}
