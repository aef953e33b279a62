//! Model text to items: families, entries and aliases, with every fault found on the way.
//!
//! Names across files (families, alias targets, duplicates) are the library's business; whatever
//! can be judged from one entry alone is judged here and in `check`. Never panics; after a fault
//! the parser goes on with the next entry.

use crate::ast::{CallArg, Effect, Outcome, Place, Returns, Root};
use crate::check;
use crate::clause::{Draft, parse_outcome};
use crate::error::{ErrorKind, Fault, Pos};
use crate::lexer::{Token, tokens};
use crate::library::FamilyKind;

/// No C function of note takes more: a larger number is a typing mistake.
pub(crate) const MAX_ARGS: usize = 32;

/// What one file says, in order.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub families: Vec<FamilyItem>,
    pub entries: Vec<Entry>,
    pub aliases: Vec<Alias>,
    /// Every place where a family is named.
    pub family_uses: Vec<(String, Pos)>,
    pub faults: Vec<Fault>,
}

#[derive(Debug)]
pub(crate) struct FamilyItem {
    pub name: String,
    pub kind: FamilyKind,
    pub pos: Pos,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub name: String,
    pub outcomes: Vec<Outcome>,
    pub pos: Pos,
}

/// `alias name = target(args)`: calling `name` is calling `target` with those of its arguments.
#[derive(Debug)]
pub(crate) struct Alias {
    pub name: String,
    pub target: String,
    pub target_pos: Pos,
    /// 0-based; none when all arguments are passed on unchanged.
    pub args: Option<Vec<usize>>,
    pub pos: Pos,
}

pub(crate) type Parse<T> = Result<T, Fault>;

pub(crate) fn parse(text: &str) -> Parsed {
    let mut parser = Parser {
        tokens: tokens(text),
        next: 0,
        family: "memory".to_owned(),
        out: Parsed::default(),
    };
    while parser.peek() != Token::End {
        let start = parser.next;
        if let Err(fault) = parser.item() {
            parser.out.faults.push(fault);
            parser.recover(start);
        }
    }
    parser.out
}

/// The cursor over the tokens; `clause` builds on it.
pub(crate) struct Parser<'a> {
    tokens: Vec<(Token<'a>, Pos)>,
    next: usize,
    /// The family of the section, meant where none is named.
    pub family: String,
    out: Parsed,
}

impl<'a> Parser<'a> {
    fn item(&mut self) -> Parse<()> {
        let starts_entry = matches!(self.peek_second(), Token::Open | Token::Comma);
        match self.peek() {
            Token::Word("family") if !starts_entry => self.family_item(),
            Token::Word("alias") if !starts_entry => self.alias(),
            _ => self.entry(),
        }
    }

    /// `family NAME`, or `family NAME is memory|resource`.
    fn family_item(&mut self) -> Parse<()> {
        self.advance();
        let pos = self.pos();
        let name = self.word("a family name")?.to_owned();
        if self.accept(Token::Word("is")) {
            let kind = self.family_kind()?;
            self.out.families.push(FamilyItem { name: name.clone(), kind, pos });
        }
        self.out.family_uses.push((name.clone(), pos));
        self.family = name;
        Ok(())
    }

    fn family_kind(&mut self) -> Parse<FamilyKind> {
        let pos = self.pos();
        match self.word("`memory` or `resource`")? {
            "memory" => Ok(FamilyKind::Memory),
            "resource" => Ok(FamilyKind::Resource),
            other => Err(unknown_word(other, pos, &["memory", "resource"])),
        }
    }

    /// `alias NAME, ... = TARGET` or `= TARGET(@1, @3)`.
    fn alias(&mut self) -> Parse<()> {
        self.advance();
        let names = self.function_names()?;
        self.expect(Token::Equals, "`=`")?;
        let target_pos = self.pos();
        let target = self.function_name()?.to_owned();
        let args = if self.accept(Token::OpenParen) { Some(self.alias_args()?) } else { None };
        for (name, pos) in names {
            let (target, args) = (target.clone(), args.clone());
            self.out.aliases.push(Alias { name, target, target_pos, args, pos });
        }
        Ok(())
    }

    fn alias_args(&mut self) -> Parse<Vec<usize>> {
        let mut args = Vec::new();
        while !self.accept(Token::CloseParen) {
            args.push(self.arg()?);
            if self.peek() != Token::CloseParen {
                self.expect(Token::Comma, "`,` or `)`")?;
            }
        }
        Ok(args)
    }

    /// `NAME, ... { outcome; outcome }`.
    fn entry(&mut self) -> Parse<()> {
        let names = self.function_names()?;
        self.expect(Token::Open, "`{`")?;
        let mut drafts: Vec<Draft> = Vec::new();
        while !self.accept(Token::Close) {
            let draft = parse_outcome(self)?;
            check::outcome(&draft)?;
            drafts.push(draft);
            if self.peek() != Token::Close {
                self.expect(Token::Semicolon, "`,`, `;` or `}`")?;
            }
        }
        if drafts.is_empty() {
            return Err(Fault::new(
                self.previous_pos(),
                ErrorKind::Syntax { found: "`}`".into(), expected: "an outcome".into() },
            )
            .hint("write `ignored` for a function that does nothing to memory"));
        }
        check::outcomes(&drafts)?;
        let outcomes: Vec<Outcome> = drafts.into_iter().map(Draft::finish).collect();
        for (name, pos) in names {
            self.out.entries.push(Entry { name, outcomes: outcomes.clone(), pos });
        }
        Ok(())
    }

    fn function_names(&mut self) -> Parse<Vec<(String, Pos)>> {
        let mut names = Vec::new();
        loop {
            let pos = self.pos();
            names.push((self.function_name()?.to_owned(), pos));
            if !self.accept(Token::Comma) {
                return Ok(names);
            }
        }
    }

    fn function_name(&mut self) -> Parse<&'a str> {
        match self.peek() {
            Token::Word(name) if !name.ends_with("[]") => {
                self.advance();
                Ok(name)
            }
            _ => Err(self.unexpected("a function name")),
        }
    }

    /// Skips what is left of the item that started at token `start`: up to the brace that closes
    /// it, or to the next line when it has none.
    fn recover(&mut self, start: usize) {
        let line = self.tokens[start].1.line;
        let opened = self.tokens[start..self.next].iter().any(|(t, _)| *t == Token::Open);
        loop {
            match self.peek() {
                Token::End => return,
                Token::Close => {
                    self.advance();
                    return;
                }
                _ if !opened && self.pos().line > line => return,
                _ => self.advance(),
            }
        }
    }

    // The cursor.

    pub fn peek(&self) -> Token<'a> {
        self.tokens.get(self.next).map_or(Token::End, |(token, _)| *token)
    }

    pub fn peek_second(&self) -> Token<'a> {
        self.tokens.get(self.next + 1).map_or(Token::End, |(token, _)| *token)
    }

    pub fn pos(&self) -> Pos {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens[self.next.min(last)].1
    }

    fn previous_pos(&self) -> Pos {
        self.tokens[self.next.saturating_sub(1)].1
    }

    pub fn advance(&mut self) {
        if self.next + 1 < self.tokens.len() {
            self.next += 1;
        }
    }

    pub fn accept(&mut self, token: Token<'_>) -> bool {
        let found = self.peek() == token;
        if found {
            self.advance();
        }
        found
    }

    pub fn expect(&mut self, token: Token<'_>, expected: &str) -> Parse<()> {
        if self.accept(token) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    pub fn word(&mut self, expected: &str) -> Parse<&'a str> {
        match self.peek() {
            Token::Word(word) => {
                self.advance();
                Ok(word)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    pub fn unexpected(&self, expected: &str) -> Fault {
        let found = self.peek().describe();
        Fault::new(self.pos(), ErrorKind::Syntax { found, expected: expected.to_owned() })
    }

    /// `@n`, as a 0-based index.
    pub fn arg(&mut self) -> Parse<usize> {
        let pos = self.pos();
        match self.peek() {
            Token::Arg(text) => {
                self.advance();
                arg_index(text, pos)
            }
            _ => Err(self.unexpected("an argument such as `@1`")),
        }
    }

    /// `of FAMILY`, or the family of the section.
    pub fn family_suffix(&mut self) -> Parse<String> {
        if !self.accept(Token::Word("of")) {
            return Ok(self.family.clone());
        }
        let pos = self.pos();
        let name = self.word("a family name")?.to_owned();
        self.out.family_uses.push((name.clone(), pos));
        Ok(name)
    }

    /// `@n`, `*@n`, `@n->8->0`, `*@...`, `return->8`.
    pub fn place(&mut self) -> Parse<Place> {
        let mut stars = 0;
        while self.accept(Token::Star) {
            stars += 1;
        }
        let root = self.root()?;
        let mut derefs = vec![0; stars];
        if stars > 0 && self.peek() == Token::Arrow {
            return Err(self
                .unexpected("a place")
                .hint("write the first step as an arrow too: `@1->0->8` for `(*@1)->8`"));
        }
        while self.accept(Token::Arrow) {
            derefs.push(self.offset()?);
        }
        Ok(Place { root, derefs })
    }

    fn root(&mut self) -> Parse<Root> {
        match self.peek() {
            Token::Arg("...") => {
                self.advance();
                Ok(Root::VarArgs)
            }
            Token::Arg(_) => Ok(Root::Arg(self.arg()?)),
            Token::Word("return") => {
                self.advance();
                Ok(Root::Return)
            }
            _ => Err(self.unexpected("a place such as `@1`, `*@1` or `@1->8`")),
        }
    }

    fn offset(&mut self) -> Parse<u64> {
        let pos = self.pos();
        match self.peek() {
            Token::Number(text) => {
                self.advance();
                text.parse::<u32>()
                    .map(u64::from)
                    .map_err(|_| Fault::new(pos, ErrorKind::BadNumber(text.to_owned())))
            }
            _ => Err(self.unexpected("a byte offset")),
        }
    }
}

fn arg_index(text: &str, pos: Pos) -> Parse<usize> {
    let fault = || Fault::new(pos, ErrorKind::BadArgument(text.to_owned()));
    match text.parse::<usize>() {
        Ok(0) => Err(fault().hint("arguments are numbered from 1")),
        Ok(n) if n <= MAX_ARGS => Ok(n - 1),
        Ok(_) => Err(fault().hint(format!("at most @{MAX_ARGS}"))),
        Err(_) if text == "..." => {
            Err(fault().hint("`@...` stands for variadic arguments only in a place"))
        }
        Err(_) => Err(fault().hint("write `@` and a number from 1")),
    }
}

pub(crate) fn unknown_word(word: &str, pos: Pos, known: &[&str]) -> Fault {
    let fault = Fault::new(pos, ErrorKind::UnknownWord(word.to_owned()));
    match crate::error::closest(word, known.iter().copied()) {
        Some(_) => fault.did_you_mean(word, known.iter().copied()),
        None => fault.hint(format!("known here: {}", known.join(", "))),
    }
}

impl Place {
    /// The argument itself.
    pub fn arg(n: usize) -> Self {
        Place { root: Root::Arg(n), derefs: Vec::new() }
    }
}

/// Every argument index that an outcome mentions, to be renumbered.
pub(crate) fn for_each_arg(outcome: &mut Outcome, f: &mut impl FnMut(&mut usize)) {
    match &mut outcome.returns {
        Returns::Arg(n) | Returns::Inside(n) | Returns::InsideOrNull(n) => f(n),
        Returns::Old(place) => place_arg(place, f),
        _ => {}
    }
    for effect in &mut outcome.effects {
        effect_args(effect, f);
    }
}

fn effect_args(effect: &mut Effect, f: &mut impl FnMut(&mut usize)) {
    match effect {
        Effect::Alloc { place, .. }
        | Effect::Free { place, .. }
        | Effect::Take { place }
        | Effect::Write { place }
        | Effect::SetNull { place }
        | Effect::SetNonZero { place }
        | Effect::SetData { place, .. }
        | Effect::IsNull(place)
        | Effect::IsNonNull(place)
        | Effect::Needs(place)
        | Effect::MoveContents { from: place } => place_arg(place, f),
        Effect::SetInside { place, arg } => {
            place_arg(place, f);
            f(arg);
        }
        Effect::Call { callee, args } => {
            f(callee);
            for arg in args {
                if let CallArg::Arg(n) | CallArg::Inside(n) = arg {
                    f(n);
                }
            }
        }
    }
}

fn place_arg(place: &mut Place, f: &mut impl FnMut(&mut usize)) {
    if let Root::Arg(n) = &mut place.root {
        f(n);
    }
}
