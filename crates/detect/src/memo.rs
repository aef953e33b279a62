//! Results of an earlier analysis of nearly the same program, for the functions that a change does
//! not concern.
//!
//! Invariant: a function is reused only if neither it nor anything it calls, over any number of
//! steps, lies in a changed module, and its summary names nothing of one: ids of changed modules mean
//! something else now.

use leakproof_findings::Finding;
use leakproof_program::{CallGraph, FuncRef};
use leakproof_summary::{Expr, Root, Summary};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What an analysis found out, by function.
#[derive(Default)]
pub struct Memo {
    functions: FxHashMap<FuncRef, Known>,
}

struct Known {
    summary: Arc<Summary>,
    findings: Vec<Finding>,
}

impl Memo {
    pub(crate) fn keep(&mut self, f: FuncRef, summary: Arc<Summary>, findings: &[Finding]) {
        self.functions.insert(f, Known { summary, findings: findings.to_vec() });
    }

    /// The functions that can be taken over when these modules changed.
    pub(crate) fn reuse(&self, calls: &CallGraph, changed: &FxHashSet<u32>) -> Reuse<'_> {
        let mut clean: FxHashSet<FuncRef> = FxHashSet::default();
        for scc in calls.sccs() {
            let inside = |f: &FuncRef| clean.contains(f) || scc.contains(f);
            let untouched = |f: &FuncRef| {
                !changed.contains(&f.module)
                    && self.functions.get(f).is_some_and(|k| !names_any(&k.summary, changed))
                    && calls.callees_of(*f).iter().all(inside)
            };
            if scc.iter().all(untouched) {
                clean.extend(scc.iter().copied());
            }
        }
        Reuse { memo: self, clean }
    }
}

/// A memo with what of it still holds.
pub struct Reuse<'m> {
    memo: &'m Memo,
    clean: FxHashSet<FuncRef>,
}

impl Reuse<'_> {
    /// Summary and findings of a function that did not change.
    pub fn get(&self, f: FuncRef) -> Option<(Arc<Summary>, Vec<Finding>)> {
        let known = self.memo.functions.get(&f).filter(|_| self.clean.contains(&f))?;
        Some((known.summary.clone(), known.findings.clone()))
    }
}

/// Whether a summary names a global or function of these modules.
fn names_any(summary: &Summary, modules: &FxHashSet<u32>) -> bool {
    let named = |root: &Root| match root {
        Root::Global(g) => modules.contains(&g.module),
        Root::Func(f) => modules.contains(&f.module),
        _ => false,
    };
    let in_pool = summary.pool.iter().any(|e| match e {
        Expr::Init { root, .. } | Expr::Addr { root, .. } | Expr::Elem { root, .. } => named(root),
        _ => false,
    });
    in_pool || summary.effects.iter().any(|e| named(&e.root))
}
