//! Whether a program leaks once a release is gone, as far as can be said without the analysis that is
//! measured: from the code around the release and the points-to sets alone.
//!
//! A release in a correct program is the last use of its object, so deleting it leaks the object
//! whenever control gets there with a pointer that is not null. Ruled out are the cases in which
//! that cannot be so. What stays may still contain releases that nothing ever reaches: the
//! share that is found is a lower bound.

use super::site::{Deallocators, Site, release};
use leakproof_ir::{
    BlockId, Body, Function, InstId, InstKind, Pred, Terminator, ValueId, ValueKind,
};
use leakproof_program::Program;
use std::collections::BTreeSet;

/// Why the deletion of a release need not leak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harmless {
    /// The pointer is null there.
    Null,
    /// The process ends before the function returns, or the function is `main`: what is still
    /// referenced then is no leak.
    ProcessEnds,
    /// A global variable goes on referring to the object.
    StillReferenced,
}

/// `None`: it leaks.
pub fn harmless(program: &Program, site: &Site, deallocators: &Deallocators) -> Option<Harmless> {
    let function = program.function(site.function);
    let body = function.body.as_ref()?;
    if site.calls.iter().all(|&(block, call)| is_null(function, body, block, call, site.argument)) {
        return Some(Harmless::Null);
    }
    let blocks: Vec<BlockId> = site.calls.iter().map(|(block, _)| *block).collect();
    let after = reachable(body, &blocks);
    let returns = |b: &BlockId| matches!(body.blocks[*b].term, Terminator::Return(_));
    if function.name == "main" || !after.iter().any(returns) {
        return Some(Harmless::ProcessEnds);
    }
    let kept = site.pointers(body).all(|pointer| {
        let Some(path) = global_path(function, body, pointer) else { return false };
        let later = later(body, site, &after);
        !later.into_iter().any(|i| ends(program, site, function, body, i, &path, deallocators))
    });
    kept.then_some(Harmless::StillReferenced)
}

/// The constant null, or the branch just before says that it is null.
fn is_null(
    function: &Function,
    body: &Body,
    block: BlockId,
    call: InstId,
    argument: usize,
) -> bool {
    let InstKind::Call { args, .. } = &body.insts[call].kind else { return false };
    let Some(&pointer) = args.get(argument) else { return false };
    let null = |v: ValueId| matches!(function.values[v].kind, ValueKind::Null | ValueKind::Int(0));
    if null(pointer) {
        return true;
    }
    let mut before = body
        .blocks
        .iter()
        .filter(|(_, b)| b.term.successors().contains(&block))
        .map(|(_, b)| &b.term);
    let (Some(Terminator::Branch { cond, then, .. }), None) = (before.next(), before.next()) else {
        return false;
    };
    let ValueKind::Inst(test) = function.values[*cond].kind else { return false };
    let InstKind::Cmp { pred, lhs, rhs } = body.insts[test].kind else { return false };
    let about = (lhs == pointer && null(rhs)) || (rhs == pointer && null(lhs));
    about && (pred == if *then == block { Pred::Eq } else { Pred::Ne })
}

/// Blocks that control can get to from these, themselves included.
fn reachable(body: &Body, from: &[BlockId]) -> BTreeSet<BlockId> {
    let mut seen: BTreeSet<BlockId> = from.iter().copied().collect();
    let mut work: Vec<BlockId> = from.to_vec();
    while let Some(block) = work.pop() {
        let next = body.blocks[block].term.successors();
        work.extend(next.into_iter().filter(|b| seen.insert(*b)));
    }
    seen
}

/// Instructions that can run after the release; in its own block only those behind it.
fn later(body: &Body, site: &Site, after: &BTreeSet<BlockId>) -> Vec<InstId> {
    let mut list = Vec::new();
    for &block in after {
        let insts = &body.blocks[block].insts;
        let own = site.calls.iter().find(|(b, _)| *b == block);
        let start = own.and_then(|(_, call)| insts.iter().position(|i| i == call));
        list.extend(insts.iter().skip(start.map_or(0, |p| p + 1)).copied());
    }
    list
}

/// Whether an instruction overwrites the place at `path`, or releases what holds it.
fn ends(
    program: &Program,
    site: &Site,
    function: &Function,
    body: &Body,
    inst: InstId,
    path: &[Step],
    deallocators: &Deallocators,
) -> bool {
    let same = |p: &[Step]| path.strip_suffix(&[Step::Load]).is_some_and(|place| place == p);
    match &body.insts[inst].kind {
        InstKind::Store { ptr, .. } => address(function, body, *ptr).is_some_and(|p| same(&p)),
        InstKind::Call { args, .. } => {
            let Some((_, n)) = release(program, site.function, body, inst, deallocators) else {
                return false;
            };
            let holder = args.get(n).and_then(|&v| global_path(function, body, v));
            holder.is_some_and(|h| h.len() < path.len() && path.starts_with(&h))
        }
        _ => false,
    }
}

/// One step from a global variable to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Global(u32),
    Offset(i64),
    Load,
}

/// How a value was read out of a global variable; `None` when it comes from elsewhere.
fn global_path(function: &Function, body: &Body, value: ValueId) -> Option<Vec<Step>> {
    address(function, body, value).filter(|p| p.contains(&Step::Load))
}

/// How a value is computed from a global variable by offsets and loads.
fn address(function: &Function, body: &Body, value: ValueId) -> Option<Vec<Step>> {
    let inst = match function.values[value].kind {
        ValueKind::Global(id, offset) => return Some(joined(vec![Step::Global(id.0)], offset)),
        ValueKind::Inst(inst) => inst,
        _ => return None,
    };
    match &body.insts[inst].kind {
        InstKind::Load { ptr } => {
            let mut path = address(function, body, *ptr)?;
            path.push(Step::Load);
            Some(path)
        }
        InstKind::Offset { base, offset, indices, .. } if indices.is_empty() => {
            Some(joined(address(function, body, *base)?, *offset))
        }
        // Elements of an array are one place.
        InstKind::Offset { base, .. } => Some(joined(address(function, body, *base)?, 0)),
        InstKind::Cast { value, .. } => address(function, body, *value),
        _ => None,
    }
}

fn joined(mut path: Vec<Step>, offset: i64) -> Vec<Step> {
    match path.last_mut() {
        Some(Step::Offset(before)) => *before += offset,
        _ if offset == 0 => {}
        _ => path.push(Step::Offset(offset)),
    }
    path
}
