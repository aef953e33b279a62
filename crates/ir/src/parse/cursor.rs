//! A position in the token list, with the small readers that every production is made of.
//!
//! Invariant: the position never passes the final `End` token.

use super::ParseError;
use super::lex::{Tok, Token};
use crate::keyword::Keyword;
use crate::{Entity, Loc, Ty};

type Result<T> = std::result::Result<T, ParseError>;

pub(super) struct Cursor<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, tokens: Vec<Token<'a>>) -> Self {
        Self { text, tokens, at: 0 }
    }

    pub(super) fn peek(&self) -> &Tok<'a> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> &Tok<'a> {
        self.tokens.get(self.at + ahead).map_or(&Tok::End, |t| &t.tok)
    }

    pub(super) fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn tokens(&self) -> impl Iterator<Item = &Tok<'a>> {
        self.tokens.iter().map(|t| &t.tok)
    }

    /// An error at the current token.
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        self.error_at(self.at, message)
    }

    /// An error at the token with this number.
    pub(super) fn error_at(&self, token: usize, message: impl Into<String>) -> ParseError {
        let at = self.tokens.get(token).map_or(self.text.len(), |t| t.at);
        ParseError::at(self.text, at, message.into())
    }

    pub(super) fn expected(&self, what: &str) -> ParseError {
        self.error(format!("expected {what}, found {}", self.peek().describe()))
    }

    pub(super) fn at_end(&self) -> bool {
        *self.peek() == Tok::End
    }

    pub(super) fn is_punct(&self, c: char) -> bool {
        *self.peek() == Tok::Punct(c)
    }

    /// Takes the punctuation if it is there.
    pub(super) fn eat(&mut self, c: char) -> bool {
        let there = self.is_punct(c);
        if there {
            self.advance();
        }
        there
    }

    pub(super) fn expect(&mut self, c: char) -> Result<()> {
        if self.eat(c) { Ok(()) } else { Err(self.expected(&format!("`{c}`"))) }
    }

    pub(super) fn eat_tok(&mut self, tok: &Tok<'_>) -> bool {
        let there = self.peek() == tok;
        if there {
            self.advance();
        }
        there
    }

    pub(super) fn word(&self) -> Option<&'a str> {
        match self.peek() {
            Tok::Word(w) => Some(w),
            _ => None,
        }
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        self.eat_tok(&Tok::Word(word))
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    pub(super) fn keyword<K: Keyword>(&mut self) -> Option<K> {
        let found = self.word().and_then(K::from_word)?;
        self.advance();
        Some(found)
    }

    pub(super) fn expect_keyword<K: Keyword>(&mut self, what: &str) -> Result<K> {
        self.keyword().ok_or_else(|| self.expected(what))
    }

    pub(super) fn number<N: TryFrom<i128>>(&mut self, what: &str) -> Result<N> {
        let Tok::Int(n) = *self.peek() else { return Err(self.expected(what)) };
        let n = N::try_from(n).map_err(|_| self.expected(&format!("{what} in range")))?;
        self.advance();
        Ok(n)
    }

    pub(super) fn opt_string(&mut self) -> Result<Option<String>> {
        if matches!(self.peek(), Tok::Str(_)) { self.string("a name").map(Some) } else { Ok(None) }
    }

    pub(super) fn string(&mut self, what: &str) -> Result<String> {
        let bytes = self.peek_bytes(what)?;
        let text = String::from_utf8(bytes).map_err(|_| self.error("expected UTF-8 in a name"))?;
        self.advance();
        Ok(text)
    }

    pub(super) fn bytes(&mut self, what: &str) -> Result<Vec<u8>> {
        let bytes = self.peek_bytes(what)?;
        self.advance();
        Ok(bytes)
    }

    fn peek_bytes(&self, what: &str) -> Result<Vec<u8>> {
        match self.peek() {
            Tok::Str(bytes) => Ok(bytes.clone()),
            _ => Err(self.expected(&format!("{what} in quotes"))),
        }
    }

    /// The id of an entity such as `bb3`, if it stands here.
    pub(super) fn opt_id<K: Entity>(&mut self, prefix: &str) -> Option<K> {
        let index = self.word().and_then(|w| id_number(w, prefix))?;
        self.advance();
        Some(K::new(index as usize))
    }

    pub(super) fn id<K: Entity>(&mut self, prefix: &str, what: &str) -> Result<K> {
        self.opt_id(prefix).ok_or_else(|| self.expected(&format!("{what} like `{prefix}0`")))
    }

    /// The id of a definition: definitions stand in order, without gaps.
    pub(super) fn next_id<K: Entity>(&mut self, next: K, prefix: &str) -> Result<()> {
        let want = format!("{prefix}{}", next.index());
        if self.eat_word(&want) { Ok(()) } else { Err(self.expected(&format!("`{want}`"))) }
    }

    pub(super) fn opt_ty(&mut self) -> Option<Ty> {
        let ty = self.word().and_then(ty_of_word)?;
        self.advance();
        Some(ty)
    }

    pub(super) fn ty(&mut self) -> Result<Ty> {
        self.opt_ty().ok_or_else(|| self.expected("a type like `ptr` or `i32`"))
    }

    /// `@file:line:column`, or nothing.
    pub(super) fn loc(&mut self) -> Result<Loc> {
        if !self.is_punct('@') || !matches!(self.peek_at(1), Tok::Int(_)) {
            return Ok(Loc::default());
        }
        self.advance();
        let file = self.number("a file number")?;
        self.expect(':')?;
        let line = self.number("a line number")?;
        self.expect(':')?;
        let column = self.number("a column number")?;
        Ok(Loc { file, line, column })
    }

    /// `item, item, ... close`; the opening has been read.
    pub(super) fn list(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if self.eat(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.eat(close) {
                return Ok(());
            }
            if !self.eat(',') {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
    }
}

/// 12 of `v12`; words with leading zeros or a sign are not ids.
pub(super) fn id_number(word: &str, prefix: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    let canonical = digits == "0" || digits.starts_with(|c: char| ('1'..='9').contains(&c));
    if canonical { digits.parse().ok().filter(|n| *n < u32::MAX) } else { None }
}

fn ty_of_word(word: &str) -> Option<Ty> {
    let small = |prefix| id_number(word, prefix).and_then(|n| u16::try_from(n).ok());
    match word {
        "void" => Some(Ty::Void),
        "ptr" => Some(Ty::Ptr),
        _ => small("i")
            .map(Ty::Int)
            .or_else(|| id_number(word, "x").map(Ty::Opaque))
            .or_else(|| small("tuple").map(Ty::Tuple)),
    }
}
