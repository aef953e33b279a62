//! What every function's analysis is given: the program, models, finished summaries, budgets.

use crate::dispatch::{Bound, BoundCallee};
use crate::exec::Inlining;
use crate::summary::Summary;
use leakproof_models::Library;
use leakproof_program::{CallGraph, FuncRef, NeverNull, Program};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Limits per function. Over them the function is reported as limited, never silently cut.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Instructions executed, over all turns of loops.
    pub steps: u64,
    /// Over this estimate, loops get one full turn instead of two.
    pub cheap_steps: u64,
    /// Terms built.
    pub terms: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: 600_000, cheap_steps: 20_000, terms: 500_000 }
    }
}

#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub program: &'a Program,
    pub calls: &'a CallGraph,
    pub models: &'a Library,
    /// Parameters that no caller passes null for.
    pub never_null: &'a NeverNull,
    /// By caller and callee: the summary of a function of an earlier component, or of an earlier round of this one.
    pub summary_of: &'a (dyn Fn(FuncRef, FuncRef) -> Option<Arc<Summary>> + Sync),
    /// The summary of a function for calls that give it known functions; `None` when there is no other than the one for
    /// all calls.
    pub bound_summary: &'a (dyn Fn(&BoundCallee) -> Option<Arc<Summary>> + Sync),
    /// The functions that this run is for.
    pub bound: Option<&'a Bound>,
    /// The component under analysis, when it is recursive.
    pub recursive: &'a FxHashSet<FuncRef>,
    pub budget: Budget,
    /// Whether calls are run where they stand, where summaries say too little.
    pub inlining: Option<&'a Inlining>,
}
