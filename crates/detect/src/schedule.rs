//! Runs components bottom-up: a level at a time, the components of a level in parallel.

use crate::Options;
use crate::bound::BoundRuns;
use crate::component::{self, Known, Outcome};
use crate::inner;
use crate::store::{Id, Reuse};
use crate::watched::Watched;
use leakproof_models::Library;
use leakproof_program::{CallGraph, FuncRef, NeverNull, Program};
use leakproof_summary::Summary;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

/// Deep terms and deep expressions in source need a deep stack.
pub const STACK_BYTES: usize = 512 << 20;

/// Summaries of finished functions, written once each.
pub struct Summaries {
    index: FxHashMap<FuncRef, usize>,
    slots: Vec<OnceLock<Known>>,
}

impl Summaries {
    fn new(calls: &CallGraph) -> Self {
        let functions = calls.sccs().iter().flatten();
        let index: FxHashMap<FuncRef, usize> =
            functions.enumerate().map(|(i, &f)| (f, i)).collect();
        let slots = (0..index.len()).map(|_| OnceLock::new()).collect();
        Self { index, slots }
    }

    pub fn get(&self, f: FuncRef) -> Option<Arc<Summary>> {
        Some(self.slots[*self.index.get(&f)?].get()?.summary.clone())
    }

    pub fn hash(&self, f: FuncRef) -> Option<Id> {
        self.slots[*self.index.get(&f)?].get()?.hash
    }

    pub fn set(&self, f: FuncRef, known: Known) {
        if let Some(&i) = self.index.get(&f) {
            // A function belongs to one component and is finished once.
            let _ = self.slots[i].set(known);
        }
    }
}

/// Analyses the whole program; outcomes in the order of the call graph's components.
pub fn run(
    program: &Program,
    calls: &CallGraph,
    models: &Library,
    options: &Options,
    reuse: Option<&Reuse<'_>>,
) -> (Vec<Outcome>, Summaries) {
    let summaries = Summaries::new(calls);
    let watched = Watched::new(program, calls, &options.watch);
    let never_null = NeverNull::of(program, calls);
    let bound_runs = BoundRuns::new(calls);
    let env = component::Env {
        program,
        calls,
        models,
        never_null: &never_null,
        options,
        summaries: &summaries,
        watched: &watched,
        bound_runs: &bound_runs,
        reuse,
    };
    let work = || {
        let mut outcomes: Vec<(usize, Vec<Outcome>)> = Vec::new();
        for level in levels(calls) {
            outcomes.par_extend(
                level.into_par_iter().map(|i| (i, component::analyse(&env, &calls.sccs()[i]))),
            );
        }
        outcomes.sort_by_key(|(i, _)| *i);
        let mut outcomes: Vec<Outcome> = outcomes.into_iter().flat_map(|(_, o)| o).collect();
        let found = inner::find(&env, &outcomes);
        outcomes.extend(found);
        outcomes
    };
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(options.jobs).stack_size(STACK_BYTES).build();
    let outcomes = match pool {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    };
    (outcomes, summaries)
}

/// Components grouped so that all callees of a group are in earlier groups.
fn levels(calls: &CallGraph) -> Vec<Vec<usize>> {
    let sccs = calls.sccs();
    let mut component_of: FxHashMap<FuncRef, usize> = FxHashMap::default();
    for (i, scc) in sccs.iter().enumerate() {
        component_of.extend(scc.iter().map(|&f| (f, i)));
    }
    let mut level_of = vec![0usize; sccs.len()];
    let mut levels: Vec<Vec<usize>> = Vec::new();
    for (i, scc) in sccs.iter().enumerate() {
        let callees = scc.iter().flat_map(|&f| calls.callees_of(f));
        let below = callees.filter_map(|f| component_of.get(f)).filter(|&&c| c != i);
        let level = below.map(|&c| level_of[c] + 1).max().unwrap_or(0);
        level_of[i] = level;
        if levels.len() <= level {
            levels.resize(level + 1, Vec::new());
        }
        levels[level].push(i);
    }
    levels
}
