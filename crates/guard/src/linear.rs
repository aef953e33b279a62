//! The linear-time check: which atoms must hold for a formula to hold, and do they contradict?
//!
//! Sets of necessary literals are united over conjunctions and intersected over disjunctions; a
//! literal beside its negation, or constants and intervals that exclude each other, refute the
//! formula. It never claims satisfiability: that is the solver's part.

use crate::{Cmp, Node, Term, Terms};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::Arc;

/// An atom with its truth.
type Literal = (Term, bool);

/// What alternatives of disjunctions make necessary, by term, truth and depth.
pub(crate) type Alternatives = RefCell<FxHashMap<(Term, bool, u32), Option<Arc<[Literal]>>>>;

/// Disjunctions are looked into only this deep.
const OR_DEPTH: u32 = 4;

/// Larger formulas go to the solver at once.
const MAX_SIZE: u32 = 50_000;

/// Larger disjunctions are looked at once.
const MAX_RECONSIDERED: u32 = 200;

/// So many literals have room before a set of them grows.
const MAX_ROOM: u32 = 56;

/// Whether `t` is refuted by its necessary literals.
pub fn is_contradiction(terms: &Terms, t: Term) -> bool {
    if terms.size(t) > MAX_SIZE {
        return false;
    }
    let mut literals = room_for_literals(terms, t);
    if !collect(terms, t, true, 0, &mut literals) {
        return true;
    }
    conflicting(terms, &literals) || !reconsider(terms, &mut literals)
}

/// Comparisons and symbols that `t` makes necessary, with their truth; none when it is refuted.
pub fn necessary(terms: &Terms, t: Term) -> Vec<(Term, bool)> {
    let mut literals = room_for_literals(terms, t);
    if !collect(terms, t, true, 0, &mut literals) || !reconsider(terms, &mut literals) {
        return Vec::new();
    }
    let mut list: Vec<(Term, bool)> = literals.into_iter().collect();
    list.retain(|&(t, _)| !matches!(terms.node(t), Node::And(_) | Node::Or(_)));
    list.sort_unstable();
    list
}

/// Large formulas have many: a set that grows as they come would be built several times.
fn room_for_literals(terms: &Terms, t: Term) -> FxHashSet<Literal> {
    let most = terms.size(t).min(MAX_ROOM) as usize;
    FxHashSet::with_capacity_and_hasher(most, FxBuildHasher)
}

/// Looks at the disjunctions once more, now that all that is necessary is known; false when one
/// of them has no alternative left.
fn reconsider(terms: &Terms, literals: &mut FxHashSet<Literal>) -> bool {
    let mut open: Vec<(Term, bool)> = literals.iter().copied().collect();
    open.retain(|&(t, value)| {
        let is_choice =
            matches!((terms.node(t), value), (Node::And(_), false) | (Node::Or(_), true));
        is_choice && terms.size(t) <= MAX_RECONSIDERED
    });
    open.sort_unstable();
    open.into_iter().all(|(t, value)| match terms.node(t) {
        Node::And(ts) | Node::Or(ts) => collect_common(terms, ts, value, 0, literals),
        _ => true,
    })
}

/// Adds the literals necessary for `t == value`; false when they contradict each other.
fn collect(terms: &Terms, t: Term, value: bool, depth: u32, out: &mut FxHashSet<Literal>) -> bool {
    match (terms.node(t), value) {
        (Node::Bool(b), _) => *b == value,
        (Node::Not(x), _) => collect(terms, *x, !value, depth, out),
        (Node::And(ts), true) | (Node::Or(ts), false) => {
            // As a whole, too: elsewhere it may stand as one of several alternatives.
            out.insert((t, value));
            !out.contains(&(t, !value)) && ts.iter().all(|&x| collect(terms, x, value, depth, out))
        }
        (Node::And(ts), false) | (Node::Or(ts), true) => {
            out.insert((t, value));
            depth >= OR_DEPTH || collect_common(terms, ts, value, depth, out)
        }
        _ => {
            out.insert((t, value));
            !out.contains(&(t, !value))
        }
    }
}

/// At least one of `ts` has `value`: what all alternatives have in common is necessary.
fn collect_common(
    terms: &Terms,
    ts: &[Term],
    value: bool,
    depth: u32,
    out: &mut FxHashSet<Literal>,
) -> bool {
    let mut common: Option<SmallVec<[Literal; 16]>> = None;
    for &x in ts {
        let Some(literals) = alternative(terms, x, value, depth + 1) else { continue };
        if literals.iter().any(|&(t, v)| out.contains(&(t, !v))) {
            continue;
        }
        let shared = match common {
            None => SmallVec::from_slice(&literals),
            Some(mut c) => {
                c.retain(|l| literals.binary_search(l).is_ok());
                c
            }
        };
        if shared.is_empty() {
            return true;
        }
        common = Some(shared);
    }
    // They oppose nothing in `out`: an alternative that does was left out.
    common.is_some_and(|literals| {
        out.extend(literals);
        true
    })
}

/// The literals necessary for `t == value`, sorted; none when they contradict each other. Paths
/// share most of their parts, so the answers are kept.
fn alternative(terms: &Terms, t: Term, value: bool, depth: u32) -> Option<Arc<[Literal]>> {
    let key = (t, value, depth);
    if let Some(known) = terms.alternatives.borrow().get(&key) {
        return known.clone();
    }
    let mut literals = room_for_literals(terms, t);
    let possible = collect(terms, t, value, depth, &mut literals) && !conflicting(terms, &literals);
    let answer = possible.then(|| {
        let mut list: Vec<Literal> = literals.into_iter().collect();
        list.sort_unstable();
        Arc::from(list)
    });
    terms.alternatives.borrow_mut().insert(key, answer.clone());
    answer
}

/// Signed bounds of one term, with excluded values.
struct Bounds {
    lo: i64,
    hi: i64,
    excluded: Vec<i64>,
}

fn conflicting(terms: &Terms, literals: &FxHashSet<Literal>) -> bool {
    if literals.iter().any(|&(t, v)| literals.contains(&(t, !v))) {
        return true;
    }
    let mut bounds: FxHashMap<Term, Bounds> = FxHashMap::default();
    for &(t, value) in literals {
        if let Node::Cmp { cmp, lhs, rhs } = *terms.node(t) {
            narrow(terms, cmp, lhs, rhs, value, &mut bounds);
        }
    }
    bounds.values().any(|b| b.lo > b.hi || (b.lo == b.hi && b.excluded.contains(&b.lo)))
}

/// Intersects the bounds of the non-constant side with what the literal says.
fn narrow(
    terms: &Terms,
    cmp: Cmp,
    lhs: Term,
    rhs: Term,
    value: bool,
    bounds: &mut FxHashMap<Term, Bounds>,
) {
    let (subject, constant, flipped) = match (terms.as_signed(lhs), terms.as_signed(rhs)) {
        (None, Some(c)) => (lhs, c, false),
        (Some(c), None) => (rhs, c, true),
        _ => return,
    };
    let b = bounds.entry(subject).or_insert_with(|| {
        let (lo, hi) = terms.range(subject);
        Bounds { lo, hi, excluded: Vec::new() }
    });
    match (cmp, value, flipped) {
        (Cmp::Eq, true, _) => {
            b.lo = b.lo.max(constant);
            b.hi = b.hi.min(constant);
        }
        (Cmp::Eq, false, _) => b.excluded.push(constant),
        // subject < c, or not (c <= subject)
        (Cmp::SLt, true, false) | (Cmp::SLe, false, true) => {
            b.hi = b.hi.min(constant.saturating_sub(1));
        }
        (Cmp::SLe, true, false) | (Cmp::SLt, false, true) => b.hi = b.hi.min(constant),
        (Cmp::SLt, true, true) | (Cmp::SLe, false, false) => {
            b.lo = b.lo.max(constant.saturating_add(1));
        }
        (Cmp::SLe, true, true) | (Cmp::SLt, false, false) => b.lo = b.lo.max(constant),
        (Cmp::ULt | Cmp::ULe, ..) => {}
    }
}
