//! One outcome of an entry: its label and its clauses.

use crate::ast::{CallArg, Effect, IntRange, Outcome, Place, Returns, Root};
use crate::error::{ErrorKind, Fault, Pos};
use crate::lexer::Token;
use crate::parser::{Parse, Parser, unknown_word};

/// An outcome whose clauses still know where they stand.
#[derive(Debug)]
pub(crate) struct Draft {
    pub pos: Pos,
    pub failure: bool,
    /// `ignored` stands alone.
    pub ignored: Option<Pos>,
    pub returns: Option<(Returns, Pos)>,
    /// Place, whether it must hold null, position.
    pub conditions: Vec<(Place, bool, Pos)>,
    pub effects: Vec<(Effect, Pos)>,
}

impl Draft {
    /// The outcome proper: conditions first, then effects in the order given.
    pub fn finish(self) -> Outcome {
        let conditions = self
            .conditions
            .into_iter()
            .map(|(at, null, _)| if null { Effect::IsNull(at) } else { Effect::IsNonNull(at) });
        let effects = conditions.chain(self.effects.into_iter().map(|(e, _)| e)).collect();
        let returns = self.returns.map_or(Returns::Unknown, |(r, _)| r);
        Outcome { returns, effects, failure: self.failure }
    }
}

const CLAUSE_WORDS: [&str; 12] = [
    "return", "noreturn", "throws", "ignored", "copies", "free", "take", "write", "move", "call",
    "if", "needs",
];
const RETURN_WORDS: [&str; 8] =
    ["new", "inside", "borrowed", "null", "nonnull", "nonzero", "same", "unknown"];
const VALUE_WORDS: [&str; 6] = ["new", "null", "nonzero", "text", "data", "inside"];
const CONDITION_WORDS: [&str; 4] = ["null", "nonnull", "zero", "nonzero"];

/// `[ok:|fail:] clause, clause`.
pub(crate) fn parse_outcome(p: &mut Parser<'_>) -> Parse<Draft> {
    let pos = p.pos();
    let failure = label(p)?;
    let mut draft = Draft {
        pos,
        failure,
        ignored: None,
        returns: None,
        conditions: Vec::new(),
        effects: Vec::new(),
    };
    loop {
        clause(p, &mut draft)?;
        if !p.accept(Token::Comma) {
            return Ok(draft);
        }
    }
}

fn label(p: &mut Parser<'_>) -> Parse<bool> {
    let pos = p.pos();
    let (Token::Word(word), Token::Colon) = (p.peek(), p.peek_second()) else {
        return Ok(false);
    };
    p.advance();
    p.advance();
    match word {
        "ok" => Ok(false),
        "fail" => Ok(true),
        other => Err(unknown_word(other, pos, &["ok", "fail"])),
    }
}

fn clause(p: &mut Parser<'_>, draft: &mut Draft) -> Parse<()> {
    let pos = p.pos();
    match p.peek() {
        Token::Arg(_) | Token::Star => assignment(p, draft),
        Token::Word("return") if p.peek_second() == Token::Arrow => assignment(p, draft),
        Token::Word(word) => {
            p.advance();
            word_clause(p, draft, word, pos)
        }
        _ => Err(p.unexpected("a clause such as `return new` or `free @1`")),
    }
}

fn word_clause(p: &mut Parser<'_>, draft: &mut Draft, word: &str, pos: Pos) -> Parse<()> {
    match word {
        "return" => {
            let returns = returned(p)?;
            set_returns(draft, returns, pos)
        }
        "noreturn" => set_returns(draft, Returns::Never, pos),
        "throws" => set_returns(draft, Returns::Throws, pos),
        // `copies` says why nothing is kept: a reader looks for it at `setenv`.
        "ignored" | "copies" => {
            draft.ignored = Some(pos);
            Ok(())
        }
        "if" => condition(p, draft),
        "call" => call(p, draft, pos),
        "free" | "take" | "write" | "move" | "needs" => {
            let effect = place_effect(p, word)?;
            draft.effects.push((effect, pos));
            Ok(())
        }
        _ => Err(unknown_word(word, pos, &CLAUSE_WORDS)),
    }
}

fn set_returns(draft: &mut Draft, returns: Returns, pos: Pos) -> Parse<()> {
    if draft.returns.is_some() {
        return Err(
            Fault::contradiction(pos, "an outcome returns once").hint("separate outcomes by `;`")
        );
    }
    draft.returns = Some((returns, pos));
    Ok(())
}

fn condition(p: &mut Parser<'_>, draft: &mut Draft) -> Parse<()> {
    let pos = p.pos();
    let place = p.place()?;
    if !matches!(place.root, Root::Arg(_)) {
        return Err(Fault::contradiction(pos, "a condition is about an argument"));
    }
    let word_pos = p.pos();
    let null = match p.word("`null` or `nonnull`")? {
        "null" | "zero" => true,
        "nonnull" | "nonzero" => false,
        other => return Err(unknown_word(other, word_pos, &CONDITION_WORDS)),
    };
    draft.conditions.push((place, null, pos));
    Ok(())
}

fn place_effect(p: &mut Parser<'_>, word: &str) -> Parse<Effect> {
    let pos = p.pos();
    let place = p.place()?;
    if place.root == Root::Return {
        return Err(Fault::contradiction(pos, format!("`{word}` of what is only now returned")));
    }
    match word {
        "free" => Ok(Effect::Free { place, family: p.family_suffix()? }),
        "take" => Ok(Effect::Take { place }),
        "move" => Ok(Effect::MoveContents { from: place }),
        "needs" => Ok(Effect::Needs(place)),
        _ => assignable(place, pos).map(|place| Effect::Write { place }),
    }
}

/// `*@1 = new`, `@1->8 = null`, `*@2 = inside @1`.
fn assignment(p: &mut Parser<'_>, draft: &mut Draft) -> Parse<()> {
    let pos = p.pos();
    let place = assignable(p.place()?, pos)?;
    p.expect(Token::Equals, "`=`")?;
    let word_pos = p.pos();
    let effect = match p.word("`new`, `null`, `text`, `data` or `inside`")? {
        "new" => {
            let zeroed = p.accept(Token::Word("zeroed"));
            Effect::Alloc { place, family: p.family_suffix()?, zeroed }
        }
        "null" => Effect::SetNull { place },
        "nonzero" => Effect::SetNonZero { place },
        "text" => Effect::SetData { place, text: true },
        "data" => Effect::SetData { place, text: false },
        "inside" => Effect::SetInside { place, arg: p.arg()? },
        other => return Err(unknown_word(other, word_pos, &VALUE_WORDS)),
    };
    draft.effects.push((effect, pos));
    Ok(())
}

fn assignable(place: Place, pos: Pos) -> Parse<Place> {
    if place.derefs.is_empty() {
        return Err(Fault::contradiction(pos, "an argument is passed by value, not written")
            .hint("write what it points to: `*@1`"));
    }
    Ok(place)
}

fn call(p: &mut Parser<'_>, draft: &mut Draft, pos: Pos) -> Parse<()> {
    let callee = p.arg()?;
    p.expect(Token::OpenParen, "`(`")?;
    let mut args = Vec::new();
    while !p.accept(Token::CloseParen) {
        args.push(call_arg(p)?);
        if p.peek() != Token::CloseParen {
            p.expect(Token::Comma, "`,` or `)`")?;
        }
    }
    draft.effects.push((Effect::Call { callee, args }, pos));
    Ok(())
}

fn call_arg(p: &mut Parser<'_>) -> Parse<CallArg> {
    let pos = p.pos();
    match p.peek() {
        Token::Word("inside") => {
            p.advance();
            Ok(CallArg::Inside(p.arg()?))
        }
        Token::Word("unknown") => {
            p.advance();
            Ok(CallArg::Unknown)
        }
        Token::Word(other) => Err(unknown_word(other, pos, &["inside", "unknown"])),
        _ => Ok(CallArg::Arg(p.arg()?)),
    }
}

fn returned(p: &mut Parser<'_>) -> Parse<Returns> {
    match p.peek() {
        Token::Arg(_) | Token::Star => returned_place(p),
        Token::Word(_) => returned_word(p),
        _ => integer_range(p).map(Returns::Int),
    }
}

fn returned_place(p: &mut Parser<'_>) -> Parse<Returns> {
    let pos = p.pos();
    let place = p.place()?;
    match place.root {
        Root::Arg(n) if place.derefs.is_empty() => Ok(Returns::Arg(n)),
        Root::Arg(_) => Ok(Returns::Old(place)),
        _ => Err(Fault::new(pos, ErrorKind::BadArgument("...".into()))
            .hint("return one argument, or what it points to")),
    }
}

fn returned_word(p: &mut Parser<'_>) -> Parse<Returns> {
    let pos = p.pos();
    match p.word("a value")? {
        "new" => {
            let zeroed = p.accept(Token::Word("zeroed"));
            Ok(Returns::Object { family: p.family_suffix()?, zeroed })
        }
        "inside" => returned_inside(p),
        "borrowed" => Ok(Returns::Borrowed),
        "null" => Ok(Returns::Null),
        "nonnull" if p.accept(Token::Word("to")) => integer_range(p).map(Returns::NonNullTo),
        "nonnull" | "nonzero" => Ok(Returns::NonNull),
        "same" => same(p),
        "unknown" => Ok(Returns::Unknown),
        other => Err(unknown_word(other, pos, &RETURN_WORDS)),
    }
}

/// `same`, `same >= 0`, `same 0..5`.
fn same(p: &mut Parser<'_>) -> Parse<Returns> {
    match p.peek() {
        Token::GreaterEqual
        | Token::Greater
        | Token::LessEqual
        | Token::Less
        | Token::Minus
        | Token::Number(_) => integer_range(p).map(Returns::Same),
        _ => Ok(Returns::Same(IntRange::ALL)),
    }
}

fn returned_inside(p: &mut Parser<'_>) -> Parse<Returns> {
    let arg = p.arg()?;
    if !p.accept(Token::Word("or")) {
        return Ok(Returns::Inside(arg));
    }
    p.expect(Token::Word("null"), "`null`")?;
    Ok(Returns::InsideOrNull(arg))
}

/// `0`, `-1`, `>= 0`, `< 0`, `1..5`.
fn integer_range(p: &mut Parser<'_>) -> Parse<IntRange> {
    let pos = p.pos();
    let operator = p.peek();
    match operator {
        Token::GreaterEqual | Token::Greater | Token::LessEqual | Token::Less => p.advance(),
        _ => return integer_or_interval(p),
    }
    let bound = integer(p)?;
    let range = match operator {
        Token::GreaterEqual => Some(IntRange { min: bound, max: i64::MAX }),
        Token::Greater => bound.checked_add(1).map(|min| IntRange { min, max: i64::MAX }),
        Token::LessEqual => Some(IntRange { min: i64::MIN, max: bound }),
        _ => bound.checked_sub(1).map(|max| IntRange { min: i64::MIN, max }),
    };
    range.ok_or_else(|| Fault::contradiction(pos, "no value is in this range"))
}

fn integer_or_interval(p: &mut Parser<'_>) -> Parse<IntRange> {
    let pos = p.pos();
    let min = integer(p)?;
    let max = if p.accept(Token::Dots) { integer(p)? } else { min };
    if min > max {
        return Err(Fault::contradiction(pos, "no value is in this range"));
    }
    Ok(IntRange { min, max })
}

fn integer(p: &mut Parser<'_>) -> Parse<i64> {
    let pos = p.pos();
    let negative = p.accept(Token::Minus);
    let Token::Number(text) = p.peek() else {
        return Err(p.unexpected("a value such as `new`, `null`, `@1`, `0` or `>= 0`"));
    };
    p.advance();
    let signed = if negative { format!("-{text}") } else { text.to_owned() };
    signed.parse().map_err(|_| Fault::new(pos, ErrorKind::BadNumber(signed)))
}
