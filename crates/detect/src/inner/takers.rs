//! Functions that take an object out of where it was and hand it to their caller: `pop`, `detach`, `steal`.
//!
//! No allocation is in sight of their callers, yet the object is theirs from then on: some caller in the
//! program releases it. Whoever drops it instead loses it. So is one more reference to an object that counts them.

use super::callee::{Fate, Program as Calls};
use super::counted::handing_out;
use super::fields::{Field, Seen, StructName, Survey};
use super::names::name_behind;
use leakproof_guard::{Op, sign_extend};
use leakproof_ir::{Body, Inst, InstKind, SourceType, ValueId};
use leakproof_program::FuncRef;
use leakproof_summary::{
    Effect, Expr, Place, Planted, Ref, Root, Site, Slot, Spot, Summary, used_values,
};
use rustc_hash::FxHashSet;

pub struct Takers(FxHashSet<FuncRef>);

impl Takers {
    pub fn of(calls: &Calls<'_>, survey: &Survey) -> Self {
        let removal_by = |f: FuncRef| calls.summaries.get(f).and_then(|s| removal(&s));
        let counted = handing_out(calls, survey);
        let takes = |f: FuncRef| removal_by(f).is_some() || counted.contains(&f);
        let is_taker = |f: &FuncRef| match removal_by(*f) {
            Some(Removal::FromArray) => true,
            Some(Removal::FromPlace) => !survey.moves_cursor(*f, takes),
            None => counted.contains(f),
        };
        // What a container releases at its end is its own until somebody takes it out.
        let from_owner = survey.returned.iter().filter(|(_, fields)| {
            let is_released = |field: &Field| survey.seen(field).is_some_and(Seen::is_released);
            fields.iter().all(is_released)
        });
        let known = survey.released_results.iter().chain(from_owner.map(|(f, _)| f));
        Self(known.copied().filter(is_taker).collect())
    }

    /// The results of calls in a function that take an object out of somewhere. Who ignores such a result and gives away something
    /// else may have the object from elsewhere (`item = first(list); remove_first(list); free(item);`).
    pub fn results_in(&self, calls: &Calls<'_>, f: FuncRef) -> Vec<Planted> {
        let Some(body) = &calls.program.function(f).body else { return Vec::new() };
        let results = body.insts.values().filter_map(|inst| self.result_of(calls, f, inst));
        let mut results: Vec<Planted> = results.collect();
        if !results.is_empty() && self.gives_away_something_else(calls, f.module, body) {
            let read = used_values(body);
            results.retain(|planted| planted.values.iter().any(|v| read.contains(v)));
        }
        results
    }

    /// Whether a function releases what it did not take itself, or hands a struct of such a kind to a function of the
    /// program that keeps it.
    fn gives_away_something_else(&self, calls: &Calls<'_>, module: u32, body: &Body) -> bool {
        let takes = |inst: &Inst| self.taker(calls, module, inst).is_some();
        let taken: FxHashSet<ValueId> =
            body.insts.values().filter(|i| takes(i)).filter_map(|i| i.result).collect();
        let takers = body.insts.values().filter_map(|inst| self.taker(calls, module, inst));
        let kinds: FxHashSet<StructName> =
            takers.filter_map(|taker| kind_of_result(calls, taker)).collect();
        let is_kept = |callee: FuncRef, n: usize| {
            kind_of_parameter(calls, callee, n).is_some_and(|kind| kinds.contains(&kind))
        };
        body.insts.values().any(|inst| {
            let InstKind::Call { callee, args, .. } = &inst.kind else { return false };
            let is_given_away = |n: usize| match calls.fate(module, callee, n) {
                Fate::Kept => calls.defined(module, callee).is_some_and(|f| is_kept(f, n)),
                fate => fate.is_end(),
            };
            !takes(inst) && (0..args.len()).any(|n| !taken.contains(&args[n]) && is_given_away(n))
        })
    }

    /// The function that an instruction calls to take something out.
    fn taker(&self, calls: &Calls<'_>, module: u32, inst: &Inst) -> Option<FuncRef> {
        let InstKind::Call { callee, .. } = &inst.kind else { return None };
        calls.defined(module, callee).filter(|taker| self.0.contains(taker))
    }

    fn result_of(&self, calls: &Calls<'_>, f: FuncRef, inst: &Inst) -> Option<Planted> {
        let taker = calls.program.function(self.taker(calls, f.module, inst)?);
        let at = Place { func: f, loc: inst.loc };
        let site = Site { at, callee: taker.source_name.as_str().into() };
        // What C++ makes, it makes by its operators.
        let family = if taker.name.starts_with("_Z") { "new" } else { "memory" };
        let values = [inst.result?].into();
        Some(Planted { values, spot: Spot::Taken, trace: [site].into(), family: family.into() })
    }
}

/// The struct that a function returns a pointer to.
fn kind_of_result(calls: &Calls<'_>, f: FuncRef) -> Option<StructName> {
    let module = calls.program.module(f.module);
    match module.types[calls.program.function(f).signature?] {
        SourceType::Function { ret, .. } => name_behind(module, ret),
        _ => None,
    }
}

/// The struct that a parameter points to.
fn kind_of_parameter(calls: &Calls<'_>, f: FuncRef, n: usize) -> Option<StructName> {
    let ty = calls.program.function(f).params.get(n)?.ty?;
    name_behind(calls.program.module(f.module), ty)
}

/// The fields whose contents functions take out and return.
pub fn fields_taken_out(calls: &Calls<'_>, survey: &Survey) -> FxHashSet<Field> {
    let takes = |f: &FuncRef| calls.summaries.get(*f).is_some_and(|s| removal(&s).is_some());
    let returned = survey.returned.iter().filter(|(f, _)| takes(f));
    returned.flat_map(|(_, fields)| fields.iter().cloned()).collect()
}

/// How what a function returns was taken out of where it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Removal {
    /// The place holds something else now, or is gone.
    FromPlace,
    /// The array that held it is one element shorter.
    FromArray,
}

fn removal(summary: &Summary) -> Option<Removal> {
    let mut found = None;
    for r in summary.alternatives(summary.value?) {
        match &summary.pool[r.0 as usize] {
            Expr::Int { value: 0, .. } => {}
            Expr::Init { root, slot, bits: 64 } => {
                found = found.or_else(|| removal_from(summary, r, *root, *slot));
            }
            // What it was given, or makes itself, is known to callers anyway.
            _ => return None,
        }
    }
    found
}

fn removal_from(summary: &Summary, held: Ref, root: Root, slot: Slot) -> Option<Removal> {
    let is_replaced = |e: &Effect| {
        (e.root, e.slot) == (root, slot)
            && summary
                .alternatives(e.value)
                .into_iter()
                .any(|r| is_something_else(summary, r, held))
    };
    let is_gone = |e: &Effect| e.root == root && e.slot == Slot::Freed;
    // Moved to another place, to the front of its list for instance: it is still somebody's.
    let is_kept = |e: &Effect| {
        (e.root, e.slot) != (root, slot)
            && e.slot.is_contents()
            && summary.alternatives(e.value).into_iter().any(|r| is_same(summary, r, held))
    };
    if summary.effects.iter().any(is_kept) {
        return None;
    }
    if summary.effects.iter().any(|e| is_replaced(e) || is_gone(e)) {
        return Some(Removal::FromPlace);
    }
    let owner = owner_of_array(summary, root, slot)?;
    let counts_down = |e: &Effect| {
        e.root == owner && summary.alternatives(e.value).into_iter().any(|r| is_less(summary, r))
    };
    summary.effects.iter().any(counts_down).then_some(Removal::FromArray)
}

/// The struct that has an array, in itself or behind a pointer.
fn owner_of_array(summary: &Summary, root: Root, slot: Slot) -> Option<Root> {
    let Root::Pointee(array) = root else { return None };
    match (&summary.pool[array.0 as usize], slot) {
        (Expr::Init { root: owner, .. }, _) => Some(*owner),
        (Expr::Arg { .. }, Slot::Every(_)) => Some(root),
        _ => None,
    }
}

fn is_same(summary: &Summary, a: Ref, b: Ref) -> bool {
    summary.pool[a.0 as usize] == summary.pool[b.0 as usize]
}

/// Whether a value is neither `held` nor a pointer into it: who moves on within a text takes nothing out.
fn is_something_else(summary: &Summary, value: Ref, held: Ref) -> bool {
    match &summary.pool[value.0 as usize] {
        Expr::Int { value: 0, .. } => true,
        Expr::Init { .. } => !is_same(summary, value, held),
        _ => false,
    }
}

/// Whether a number is what it was before, less something.
fn is_less(summary: &Summary, value: Ref) -> bool {
    let Expr::Bin { op, lhs, rhs } = &summary.pool[value.0 as usize] else { return false };
    let parts = [lhs, rhs].map(|r| &summary.pool[r.0 as usize]);
    let was_there = parts.iter().any(|e| matches!(e, Expr::Init { .. }));
    let negative = |e: &&Expr| match e {
        Expr::Int { bits, value } => sign_extend(*bits, *value) < 0,
        _ => false,
    };
    was_there && (*op == Op::Sub || (*op == Op::Add && parts.iter().any(negative)))
}
