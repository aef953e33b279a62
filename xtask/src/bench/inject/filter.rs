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
        let later = after_reading(function, body, pointer);
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

/// Instructions that can run after the one that read `pointer`; in its own block only those behind
/// it, unless there is a way back.
fn after_reading(function: &Function, body: &Body, pointer: ValueId) -> Vec<InstId> {
    let ValueKind::Inst(read) = function.values[pointer].kind else { return Vec::new() };
    let home = body.blocks.iter().find(|(_, b)| b.insts.contains(&read));
    let Some((home, block)) = home else { return Vec::new() };
    let mut list: Vec<InstId> =
        block.insts.iter().skip_while(|i| **i != read).skip(1).copied().collect();
    let next: Vec<BlockId> = block.term.successors().into_vec();
    let after = reachable(body, &next);
    list.extend(after.iter().filter(|b| **b != home).flat_map(|b| &body.blocks[*b].insts));
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
        InstKind::Load { ptr, .. } => {
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

#[cfg(test)]
mod tests {
    use super::super::site;
    use super::*;
    use leakproof_models::Library;

    const DECLARATIONS: &str = r#"unit "a.c"
file file0 "a.c"
func f0 "malloc" (v0: i64) -> ptr
func f1 "free" (v0: ptr) -> void
global g0 "kept" size 8 init { }
"#;

    /// What the filter says of every release of a function with this body.
    fn verdicts(name: &str, body: &str) -> Vec<Option<Harmless>> {
        let text = format!("{DECLARATIONS}func f2 \"{name}\" (v0: ptr) -> void {{\n{body}\n}}\n");
        let program = Program::link(vec![leakproof_ir::parse_module(&text).unwrap()]);
        let deallocators = site::of_library(Library::shipped());
        let sites = site::find(&program, &deallocators);
        sites.iter().map(|s| harmless(&program, s, &deallocators)).collect()
    }

    #[test]
    fn a_local_object_leaks() {
        let body = "bb0: v1 = call f0(i64 8) call f1(v1) @0:1:1 ret";
        assert_eq!(verdicts("f", body), [None]);
        assert_eq!(verdicts("main", body), [Some(Harmless::ProcessEnds)]);
    }

    #[test]
    fn a_global_keeps_its_object_unless_it_is_overwritten() {
        let release = "bb0: v1 = load @g0 call f1(v1) @0:1:1";
        let kept = [Some(Harmless::StillReferenced)];
        assert_eq!(verdicts("f", &format!("{release} ret")), kept);
        assert_eq!(verdicts("f", &format!("{release} store null -> @g0 ret")), [None]);
        let before = "bb0: v1 = load @g0 store null -> @g0 jump bb1 bb1: call f1(v1) @0:1:1 ret";
        assert_eq!(verdicts("f", before), [None]);
        let filled = "bb0: store v0 -> @g0 v1 = load @g0 call f1(v1) @0:1:1 ret";
        assert_eq!(verdicts("f", filled), kept);
    }

    #[test]
    fn what_a_freed_global_struct_holds_leaks() {
        let body = "bb0: v1 = load @g0 v2 = load v1 call f1(v2) @0:1:1 call f1(v1) @0:2:1 ret";
        assert_eq!(verdicts("f", body), [None, Some(Harmless::StillReferenced)]);
    }

    #[test]
    fn null_is_not_released() {
        let body = "bb0: v1 = cmp eq v0, null br v1, bb1, bb2 \
                    bb1: call f1(v0) @0:1:1 ret bb2: call f1(v0) @0:2:1 ret";
        assert_eq!(verdicts("f", body), [Some(Harmless::Null), None]);
    }
}
