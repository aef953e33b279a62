//! Model text to tokens. Any text is accepted: a character that starts no token becomes
//! `Token::Other`, for the parser to complain about where it stands.

use crate::error::Pos;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A function name, a family name or a word of the language.
    Word(&'a str),
    Number(&'a str),
    /// What follows `@`: digits, or `...`; empty when neither does.
    Arg(&'a str),
    Open,
    Close,
    OpenParen,
    CloseParen,
    Comma,
    Semicolon,
    Colon,
    Equals,
    Star,
    Minus,
    Arrow,
    Dots,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Other(char),
    End,
}

impl Token<'_> {
    /// The token as an error message names it.
    pub fn describe(&self) -> String {
        match self {
            Token::Word(w) => format!("`{w}`"),
            Token::Number(n) => format!("`{n}`"),
            Token::Arg(a) => format!("`@{a}`"),
            Token::Other(c) => format!("character {c:?}"),
            Token::End => "end of file".to_owned(),
            _ => format!("`{}`", self.symbol()),
        }
    }

    fn symbol(&self) -> &'static str {
        SYMBOLS.iter().find(|(_, token)| token == self).map_or("", |(text, _)| text)
    }
}

/// Longest first, so that `->` is not read as `-` and `>`.
const SYMBOLS: [(&str, Token<'static>); 16] = [
    ("->", Token::Arrow),
    ("..", Token::Dots),
    ("<=", Token::LessEqual),
    (">=", Token::GreaterEqual),
    ("{", Token::Open),
    ("}", Token::Close),
    ("(", Token::OpenParen),
    (")", Token::CloseParen),
    (",", Token::Comma),
    (";", Token::Semicolon),
    (":", Token::Colon),
    ("=", Token::Equals),
    ("*", Token::Star),
    ("-", Token::Minus),
    ("<", Token::Less),
    (">", Token::Greater),
];

/// All tokens of `text` with their positions; the last one is `End`.
pub(crate) fn tokens(text: &str) -> Vec<(Token<'_>, Pos)> {
    let mut out = Vec::new();
    let mut last = Pos { line: 1, column: 1 };
    for (line, content) in (1..).zip(text.lines()) {
        line_tokens(content, line, &mut out);
        let column = content.chars().count() as u32 + 1;
        last = Pos { line, column };
    }
    out.push((Token::End, last));
    out
}

fn line_tokens<'a>(content: &'a str, line: u32, out: &mut Vec<(Token<'a>, Pos)>) {
    let mut rest = content;
    let mut column = 1;
    while let Some(c) = rest.chars().next() {
        if c == '#' {
            return;
        }
        let length = if c.is_whitespace() {
            c.len_utf8()
        } else {
            let (token, length) = token(rest, c);
            out.push((token, Pos { line, column }));
            length
        };
        column += rest[..length].chars().count() as u32;
        rest = &rest[length..];
    }
}

/// The token at the start of `text`, which starts with `first`, and its length in bytes.
fn token(text: &str, first: char) -> (Token<'_>, usize) {
    if first.is_ascii_digit() {
        let digits = prefix(text, |c| c.is_ascii_alphanumeric() || c == '_');
        return (Token::Number(digits), digits.len());
    }
    if let Some(rest) = text.strip_prefix('@') {
        let name = if rest.starts_with("...") {
            &rest[..3]
        } else {
            prefix(rest, |c| c.is_ascii_alphanumeric() || c == '_')
        };
        return (Token::Arg(name), 1 + name.len());
    }
    if is_word_start(first) {
        let mut word = prefix(text, |c| is_word_start(c) || c.is_ascii_digit() || c == '.');
        if text[word.len()..].starts_with("[]") {
            word = &text[..word.len() + 2];
        }
        return (Token::Word(word), word.len());
    }
    match SYMBOLS.iter().find(|(symbol, _)| text.starts_with(symbol)) {
        Some((symbol, token)) => (*token, symbol.len()),
        None => (Token::Other(first), first.len_utf8()),
    }
}

fn is_word_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$'
}

fn prefix(text: &str, accept: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !accept(c)).unwrap_or(text.len());
    &text[..end]
}
