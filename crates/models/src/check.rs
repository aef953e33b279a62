//! Contradictions: entries that parse but cannot be true of any function.

use crate::ast::{Effect, Place, Returns, Root};
use crate::clause::Draft;
use crate::error::{Fault, Pos};
use crate::parser::Parse;

/// Judges one outcome by itself.
pub(crate) fn outcome(draft: &Draft) -> Parse<()> {
    ignored_alone(draft)?;
    conditions_agree(draft)?;
    noreturn_does_nothing(draft)?;
    return_fits_effects(draft)?;
    for (i, (effect, pos)) in draft.effects.iter().enumerate() {
        not_through_null(draft, effect, *pos)?;
        for (earlier, _) in &draft.effects[..i] {
            effects_agree(earlier, effect, *pos)?;
        }
    }
    Ok(())
}

/// Judges the outcomes of an entry against each other.
pub(crate) fn outcomes(drafts: &[Draft]) -> Parse<()> {
    for (i, draft) in drafts.iter().enumerate() {
        for earlier in &drafts[..i] {
            told_apart(earlier, draft)?;
        }
    }
    Ok(())
}

fn ignored_alone(draft: &Draft) -> Parse<()> {
    let Some(pos) = draft.ignored else { return Ok(()) };
    let rest = draft.returns.iter().map(|(_, pos)| *pos);
    let rest = rest.chain(draft.conditions.iter().map(|(_, _, pos)| *pos));
    let mut rest = rest.chain(draft.effects.iter().map(|(_, pos)| *pos));
    if rest.next().is_some() || draft.failure {
        return Err(Fault::contradiction(pos, "`ignored` with something else in the outcome")
            .hint("`ignored` means: nothing kept, nothing released, result unknown"));
    }
    Ok(())
}

fn conditions_agree(draft: &Draft) -> Parse<()> {
    for (i, (place, null, pos)) in draft.conditions.iter().enumerate() {
        for (earlier, earlier_null, _) in &draft.conditions[..i] {
            if place == earlier && null != earlier_null {
                let message = format!("{place} both null and not");
                return Err(Fault::contradiction(*pos, message));
            }
            if place == earlier {
                let message = format!("condition on {place} stated twice");
                return Err(Fault::contradiction(*pos, message));
            }
        }
    }
    Ok(())
}

/// A call that does not come back ends all paths: what it does to memory can no longer leak, so an
/// effect there is a sign of a misunderstanding. Calling back is fine (`exit` runs handlers).
fn noreturn_does_nothing(draft: &Draft) -> Parse<()> {
    if !matches!(draft.returns, Some((Returns::Never, _))) {
        return Ok(());
    }
    match draft.effects.iter().find(|(e, _)| !matches!(e, Effect::Call { .. })) {
        Some((_, pos)) => Err(Fault::contradiction(*pos, "`noreturn` with an effect on memory")
            .hint("a call that never returns has nothing to say about memory")),
        None => Ok(()),
    }
}

fn return_fits_effects(draft: &Draft) -> Parse<()> {
    let returns = draft.returns.as_ref().map(|(r, _)| r);
    for (effect, pos) in &draft.effects {
        match effect {
            Effect::MoveContents { .. } if !returns_object(returns) => {
                return Err(Fault::contradiction(*pos, "`move` but no object is returned")
                    .hint("`move` goes with `return new` or `return @1`"));
            }
            Effect::Free { place, .. } if Some(place) == returned_arg(returns).as_ref() => {
                return Err(Fault::contradiction(*pos, "the released object is returned"));
            }
            _ if assigned(effect).is_some_and(|p| p.root == Root::Return)
                && !returns_object(returns) =>
            {
                return Err(Fault::contradiction(*pos, "a field of a result that is no object"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn returns_object(returns: Option<&Returns>) -> bool {
    use Returns::{Arg, Inside, NonNull, Object, Old};
    matches!(returns, Some(Object { .. } | Arg(_) | Inside(_) | Old(_) | NonNull))
}

fn returned_arg(returns: Option<&Returns>) -> Option<Place> {
    match returns {
        Some(Returns::Arg(n) | Returns::Inside(n)) => Some(Place::arg(*n)),
        _ => None,
    }
}

fn not_through_null(draft: &Draft, effect: &Effect, pos: Pos) -> Parse<()> {
    let Some(Root::Arg(arg)) = touched(effect).map(|place| place.root) else { return Ok(()) };
    if draft.conditions.iter().any(|(at, null, _)| *at == Place::arg(arg) && *null) {
        let message = format!("an effect on @{}, which is null in this outcome", arg + 1);
        return Err(Fault::contradiction(pos, message));
    }
    Ok(())
}

fn effects_agree(earlier: &Effect, later: &Effect, pos: Pos) -> Parse<()> {
    if earlier == later {
        return Err(Fault::contradiction(pos, "the same effect twice"));
    }
    if let (Some(a), Some(b)) = (assigned(earlier), assigned(later))
        && a == b
    {
        return Err(Fault::contradiction(pos, "the same place written twice"));
    }
    if let (Some(a), Some(b)) = (given_up(earlier), given_up(later))
        && a == b
    {
        return Err(Fault::contradiction(pos, "the same object given up twice"));
    }
    Ok(())
}

/// The place that an effect writes.
fn assigned(effect: &Effect) -> Option<&Place> {
    match effect {
        Effect::Alloc { place, .. }
        | Effect::Write { place }
        | Effect::SetNull { place }
        | Effect::SetNonZero { place }
        | Effect::SetData { place, .. }
        | Effect::SetInside { place, .. } => Some(place),
        _ => None,
    }
}

/// The place whose object the caller no longer owns.
fn given_up(effect: &Effect) -> Option<&Place> {
    match effect {
        Effect::Free { place, .. } | Effect::Take { place } => Some(place),
        _ => None,
    }
}

fn touched(effect: &Effect) -> Option<&Place> {
    match effect {
        Effect::MoveContents { from: place } | Effect::Needs(place) => Some(place),
        _ => assigned(effect).or_else(|| given_up(effect)),
    }
}

/// Two outcomes of which the caller cannot know which one it got must not differ in their effects.
fn told_apart(earlier: &Draft, later: &Draft) -> Parse<()> {
    let disjoint = later
        .conditions
        .iter()
        .any(|(n, null, _)| earlier.conditions.iter().any(|(m, other, _)| n == m && null != other));
    if disjoint {
        return Ok(());
    }
    let (a, b) = (returned(earlier), returned(later));
    let same_effects =
        earlier.effects.iter().map(|(e, _)| e).eq(later.effects.iter().map(|(e, _)| e));
    if a == b && same_effects && earlier.conditions.len() == later.conditions.len() {
        return Err(Fault::contradiction(later.pos, "the same outcome twice"));
    }
    if !same_effects && (a == b || overlap(&a, &b)) && !written_apart(earlier, later) {
        return Err(Fault::contradiction(
            later.pos,
            "two outcomes with the same result but different effects",
        )
        .hint("the caller could not tell them apart: give each its own `return` or `if`"));
    }
    Ok(())
}

/// Whether some place is null after one outcome and holds something after the other: `strsep`.
fn written_apart(earlier: &Draft, later: &Draft) -> bool {
    let writes = |draft: &Draft, null: bool, place: &Place| {
        draft
            .effects
            .iter()
            .any(|(e, _)| assigned(e) == Some(place) && matches!(e, Effect::SetNull { .. }) == null)
    };
    let places = later.effects.iter().filter_map(|(e, _)| assigned(e));
    places.into_iter().any(|p| {
        writes(earlier, true, p) && writes(later, false, p)
            || writes(earlier, false, p) && writes(later, true, p)
    })
}

fn returned(draft: &Draft) -> Returns {
    draft.returns.as_ref().map_or(Returns::Unknown, |(r, _)| r.clone())
}

/// Whether two statements about the result as a number have a value in common. Results that are
/// pointers to something else are told apart by what they point to.
fn overlap(a: &Returns, b: &Returns) -> bool {
    let ranges = |r: &Returns| match r {
        Returns::Null => vec![(0, 0)],
        Returns::Int(range) | Returns::Same(range) => vec![(range.min, range.max)],
        Returns::NonNull | Returns::NonNullTo(_) => vec![(i64::MIN, -1), (1, i64::MAX)],
        _ => Vec::new(),
    };
    ranges(a).iter().any(|x| ranges(b).iter().any(|y| x.0 <= y.1 && y.0 <= x.1))
}
