//! What functions are given for good by those who call them through a pointer.
//!
//! The handlers of a kind agree on who releases what they are given. Where one of them always releases its argument, and
//! none leaves it alone, it is theirs: another one that releases it on some of its ways has it as an object of its own,
//! and loses it on the others.

use super::callee::Program as Calls;
use leakproof_guard::Cmp;
use leakproof_ir::{Body, Callee, InstId, InstKind, ValueId};
use leakproof_program::{CallGraph, FuncRef, Target};
use leakproof_summary::{Expr, Place, Planted, Ref, Root, Site, Slot, Spot, Summary};
use std::collections::BTreeMap;

/// What becomes of an argument on the ways through a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Always,
    Sometimes,
    Never,
}

/// The arguments that handlers own, by function.
pub fn arguments(calls: &Calls<'_>, graph: &CallGraph) -> BTreeMap<FuncRef, Vec<Planted>> {
    let mut found: BTreeMap<(FuncRef, usize), FuncRef> = BTreeMap::new();
    for caller in calls.program.definitions() {
        let Some(body) = &calls.program.function(caller).body else { continue };
        for (call, targets) in graph.calls_of(caller) {
            let is_known = targets.complete && !targets.fallback && !targets.from_tables;
            let args = args_by_pointer(body, call).filter(|_| is_known && targets.list.len() > 1);
            for n in 0..args.map_or(0, <[ValueId]>::len) {
                for f in careless(calls, &targets.list, n) {
                    found.entry((f, n)).or_insert(caller);
                }
            }
        }
    }
    let mut planted: BTreeMap<FuncRef, Vec<Planted>> = BTreeMap::new();
    for ((f, n), giver) in found {
        let function = calls.program.function(f);
        let Some(param) = function.params.get(n) else { continue };
        let giver = calls.program.function(giver).source_name.as_str().into();
        let site = Site { at: Place { func: f, loc: function.loc }, callee: giver };
        let values = [param.value].into();
        let argument =
            Planted { values, spot: Spot::Given, trace: [site].into(), family: "memory".into() };
        planted.entry(f).or_default().push(argument);
    }
    planted
}

fn args_by_pointer(body: &Body, call: InstId) -> Option<&[ValueId]> {
    match &body.insts[call].kind {
        InstKind::Call { callee: Callee::Indirect(_), args, .. } => Some(args),
        _ => None,
    }
}

/// The functions of a kind that release an argument on some of their ways, where another one always does and none leaves
/// it alone.
fn careless(calls: &Calls<'_>, targets: &[Target], n: usize) -> Vec<FuncRef> {
    let end_in = |target: &Target| match *target {
        Target::Defined(f) => Some((f, end(&*calls.summaries.get(f)?, n))),
        Target::External(_) => None,
    };
    let Some(ends) = targets.iter().map(end_in).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let is_theirs = ends.iter().any(|(_, end)| *end == End::Always)
        && ends.iter().all(|(_, end)| *end != End::Never);
    let careless = ends.into_iter().filter(|(_, end)| is_theirs && *end == End::Sometimes);
    careless.map(|(f, _)| f).collect()
}

fn end(summary: &Summary, n: usize) -> End {
    let is_it = |r: Ref| matches!(&summary.pool[r.0 as usize], Expr::Arg { index, .. } if *index as usize == n);
    let fate = |slot: Slot| {
        let is_about = |r: &Root| matches!(r, Root::Pointee(r) if is_it(*r));
        summary.effects.iter().find(|e| e.slot == slot && is_about(&e.root))
    };
    match fate(Slot::Freed) {
        // Who gives a reference back has others to think of.
        _ if summary.opaque || fate(Slot::Escaped).is_some() => End::Never,
        Some(e) if is_not_null(summary, e.value, &is_it) => End::Always,
        Some(_) => End::Sometimes,
        None => End::Never,
    }
}

/// Whether a condition is true, at least where the argument is not null.
fn is_not_null(summary: &Summary, condition: Ref, is_it: &impl Fn(Ref) -> bool) -> bool {
    let expr = |r: Ref| &summary.pool[r.0 as usize];
    let is_null = |r: Ref| match expr(r) {
        Expr::Cmp { cmp: Cmp::Eq, lhs, rhs } => {
            let zero = |r: Ref| matches!(expr(r), Expr::Int { value: 0, .. });
            is_it(*lhs) && zero(*rhs) || zero(*lhs) && is_it(*rhs)
        }
        _ => false,
    };
    match expr(condition) {
        Expr::Bool(true) => true,
        Expr::Not(r) => is_null(*r),
        _ => false,
    }
}
