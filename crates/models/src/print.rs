//! A model back to text, in one canonical form: parsing it again yields the same outcomes.

use crate::ast::{CallArg, Effect, IntRange, Model, Outcome, Place, Returns, Root};
use std::fmt;

/// One entry; families other than `memory` are named, so that it may stand anywhere.
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labelled = self.outcomes.iter().any(|o| o.failure);
        let outcomes: Vec<String> = self.outcomes.iter().map(|o| outcome(o, labelled)).collect();
        write!(f, "{} {{ {} }}", self.name, outcomes.join("; "))
    }
}

fn outcome(outcome: &Outcome, labelled: bool) -> String {
    let label = match (labelled, outcome.failure) {
        (false, _) => "",
        (true, false) => "ok: ",
        (true, true) => "fail: ",
    };
    let (conditions, effects): (Vec<_>, Vec<_>) =
        outcome.effects.iter().partition(|e| matches!(e, Effect::IsNull(_) | Effect::IsNonNull(_)));
    let mut clauses: Vec<String> = conditions.into_iter().map(Effect::to_string).collect();
    match (&outcome.returns, effects.is_empty()) {
        (Returns::Unknown, false) => {}
        (Returns::Unknown, true) if clauses.is_empty() && !labelled => {
            clauses.push("ignored".to_owned());
        }
        (Returns::Never, _) => clauses.push("noreturn".to_owned()),
        (Returns::Throws, _) => clauses.push("throws".to_owned()),
        (returns, _) => clauses.push(format!("return {returns}")),
    }
    clauses.extend(effects.into_iter().map(Effect::to_string));
    format!("{label}{}", clauses.join(", "))
}

impl fmt::Display for Returns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Returns::Unknown => write!(f, "unknown"),
            Returns::Object { family, zeroed } => new_object(f, family, *zeroed),
            Returns::Arg(n) => write!(f, "@{}", n + 1),
            Returns::Inside(n) => write!(f, "inside @{}", n + 1),
            Returns::InsideOrNull(n) => write!(f, "inside @{} or null", n + 1),
            Returns::Borrowed => write!(f, "borrowed"),
            Returns::Old(place) => write!(f, "{place}"),
            Returns::Null => write!(f, "null"),
            Returns::NonNull => write!(f, "nonnull"),
            Returns::NonNullTo(range) => write!(f, "nonnull to {range}"),
            Returns::Int(range) => write!(f, "{range}"),
            Returns::Same(IntRange::ALL) => write!(f, "same"),
            Returns::Same(range) => write!(f, "same {range}"),
            Returns::Never => write!(f, "never"),
            Returns::Throws => write!(f, "by an exception"),
        }
    }
}

impl fmt::Display for IntRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (min, max) if min == max => write!(f, "{min}"),
            (min, i64::MAX) => write!(f, ">= {min}"),
            (i64::MIN, max) => write!(f, "<= {max}"),
            (min, max) => write!(f, "{min}..{max}"),
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effect::Alloc { place, family, zeroed } => {
                write!(f, "{place} = ")?;
                new_object(f, family, *zeroed)
            }
            Effect::Free { place, family } => {
                write!(f, "free {place}")?;
                of_family(f, family)
            }
            Effect::Take { place } => write!(f, "take {place}"),
            Effect::Write { place } => write!(f, "write {place}"),
            Effect::SetNull { place } => write!(f, "{place} = null"),
            Effect::SetInside { place, arg } => write!(f, "{place} = inside @{}", arg + 1),
            Effect::MoveContents { from } => write!(f, "move {from}"),
            Effect::Call { callee, args } => {
                let args: Vec<String> = args.iter().map(CallArg::to_string).collect();
                write!(f, "call @{}({})", callee + 1, args.join(", "))
            }
            Effect::SetNonZero { place } => write!(f, "{place} = nonzero"),
            Effect::SetData { place, text: true } => write!(f, "{place} = text"),
            Effect::SetData { place, text: false } => write!(f, "{place} = data"),
            Effect::Needs(place) => write!(f, "needs {place}"),
            Effect::IsNull(place) => write!(f, "if {place} null"),
            Effect::IsNonNull(place) => write!(f, "if {place} nonnull"),
        }
    }
}

fn new_object(f: &mut fmt::Formatter<'_>, family: &str, zeroed: bool) -> fmt::Result {
    write!(f, "new{}", if zeroed { " zeroed" } else { "" })?;
    of_family(f, family)
}

fn of_family(f: &mut fmt::Formatter<'_>, family: &str) -> fmt::Result {
    if family == "memory" { Ok(()) } else { write!(f, " of {family}") }
}

impl fmt::Display for CallArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallArg::Arg(n) => write!(f, "@{}", n + 1),
            CallArg::Inside(n) => write!(f, "inside @{}", n + 1),
            CallArg::Unknown => write!(f, "unknown"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let starred = self.root != Root::Return && self.derefs == [0];
        if starred {
            write!(f, "*")?;
        }
        match self.root {
            Root::Arg(n) => write!(f, "@{}", n + 1)?,
            Root::VarArgs => write!(f, "@...")?,
            Root::Return => write!(f, "return")?,
        }
        if !starred {
            self.derefs.iter().try_for_each(|offset| write!(f, "->{offset}"))?;
        }
        Ok(())
    }
}
