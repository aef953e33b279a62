//! The order in which the members of a recursive component are analysed, and which of them side by side.

use leakproof_program::{CallGraph, FuncRef};
use rustc_hash::{FxHashMap, FxHashSet};

/// The members, each after those that it calls as far as they do not lead back to it. The walk starts where
/// the component is entered from outside: a parser of expressions is analysed from the innermost rule to
/// the outermost, and one round tells all of them what there is without recursion.
pub fn callees_first(calls: &CallGraph, component: &[FuncRef]) -> Vec<FuncRef> {
    let members: FxHashSet<FuncRef> = component.iter().copied().collect();
    let is_entry = |f: &FuncRef| calls.callers_of(*f).iter().any(|c| !members.contains(c));
    let (entries, others): (Vec<FuncRef>, Vec<FuncRef>) =
        component.iter().partition(|f| is_entry(f));
    let mut seen = FxHashSet::default();
    let mut order = Vec::with_capacity(component.len());
    for root in entries.into_iter().chain(others) {
        if !seen.insert(root) {
            continue;
        }
        // Each function with the number of its callees that were looked at.
        let mut open = vec![(root, 0)];
        while let Some((f, next)) = open.last_mut() {
            let Some(&callee) = calls.callees_of(*f).get(*next) else {
                order.push(*f);
                open.pop();
                continue;
            };
            *next += 1;
            if members.contains(&callee) && seen.insert(callee) {
                open.push((callee, 0));
            }
        }
    }
    order
}

/// Members in order, in groups: what a member calls among those before it is in an earlier group, so that all of a
/// group can be analysed at the same time.
pub fn side_by_side(calls: &CallGraph, order: &[FuncRef]) -> Vec<Vec<FuncRef>> {
    let mut group_of: FxHashMap<FuncRef, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<FuncRef>> = Vec::new();
    for &f in order {
        let before = calls.callees_of(f).iter().filter_map(|g| group_of.get(g));
        let group = before.max().map_or(0, |last| last + 1);
        group_of.insert(f, group);
        if groups.len() <= group {
            groups.push(Vec::new());
        }
        groups[group].push(f);
    }
    groups
}
