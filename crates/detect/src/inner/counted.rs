//! Functions that hand out one more reference to what they found: a `lookup` that counts it up for its caller, who
//! has to give it back.

use super::callee::Program as Calls;
use super::fields::Survey;
use leakproof_guard::{Op, sign_extend};
use leakproof_program::FuncRef;
use leakproof_summary::{Effect, Expr, Ref, Root, Slot, Summary};
use rustc_hash::FxHashSet;

/// The functions whose results are references of their own to objects of others.
pub fn handing_out(calls: &Calls<'_>, survey: &Survey) -> FxHashSet<FuncRef> {
    let summary_of = |f: FuncRef| calls.summaries.get(f);
    let found_itself = |f: &FuncRef| summary_of(*f).is_some_and(|s| counts_up_found(&s));
    let mut handing: FxHashSet<FuncRef> =
        survey.released_results.iter().copied().filter(found_itself).collect();
    let counts = |f: FuncRef| summary_of(f).is_some_and(|s| counts_up_argument(&s));
    loop {
        let passes_on = |(f, returned): (&FuncRef, &Vec<(FuncRef, bool)>)| {
            let is_handed = |&(g, of_argument): &(FuncRef, bool)| {
                handing.contains(&g) || (!of_argument && counts(g))
            };
            (!handing.contains(f) && returned.iter().any(is_handed)).then_some(*f)
        };
        let more: Vec<FuncRef> = survey.returned_calls.iter().filter_map(passes_on).collect();
        if more.is_empty() {
            return handing;
        }
        handing.extend(more);
    }
}

/// Whether a function returns its argument with one reference more.
pub fn counts_up_argument(summary: &Summary) -> bool {
    is_counted_up(summary, |e| matches!(e, Expr::Arg { .. }))
}

/// Whether a function returns what it found with one reference more.
fn counts_up_found(summary: &Summary) -> bool {
    is_counted_up(summary, |e| matches!(e, Expr::Init { bits: 64, .. }))
}

/// Whether all that a function returns is null and what `of` says, and a number in that goes up.
fn is_counted_up(summary: &Summary, of: impl Fn(&Expr) -> bool) -> bool {
    let Some(value) = summary.value else { return false };
    let null = |e: &Expr| matches!(e, Expr::Int { value: 0, .. });
    let mut returned = summary.alternatives(value);
    returned.retain(|r| !null(&summary.pool[r.0 as usize]));
    let counted = |r: &Ref| summary.effects.iter().any(|e| counts_up(summary, e, *r));
    !returned.is_empty()
        && returned.iter().all(|r| of(&summary.pool[r.0 as usize]))
        && returned.iter().any(counted)
}

/// Whether an effect adds to a number in what a pointer leads to.
fn counts_up(summary: &Summary, effect: &Effect, pointer: Ref) -> bool {
    let expr = |r: Ref| &summary.pool[r.0 as usize];
    let is_there = matches!(effect.root, Root::Pointee(r) if expr(r) == expr(pointer));
    let is_before = |r: Ref| matches!(expr(r), Expr::Init { root, slot, .. } if (*root, *slot) == (effect.root, effect.slot));
    let is_positive =
        |r: Ref| matches!(expr(r), Expr::Int { bits, value } if sign_extend(*bits, *value) > 0);
    let adds = |r: Ref| match expr(r) {
        Expr::Bin { op: Op::Add, lhs, rhs } => {
            is_before(*lhs) && is_positive(*rhs) || is_before(*rhs) && is_positive(*lhs)
        }
        _ => false,
    };
    is_there
        && matches!(effect.slot, Slot::At(_))
        && summary.alternatives(effect.value).into_iter().any(adds)
}
