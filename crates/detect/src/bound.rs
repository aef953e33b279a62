//! Functions as they are for calls that give them known functions.
//!
//! A function that calls through what it is given has one summary for all its callers, in which any of its targets may
//! have been called. A caller that gives it one certain function asks for the summary for that one
//! (`leakproof_summary::Bound`): the function is run once more for it, and leaks that it has with it alone are findings of
//! its callers. What such a run gives depends on nothing but the function and what is bound, so it is worked out once,
//! by whoever asks first, and callers on other threads wait for it. Nobody waits in a circle: a run asks for such runs
//! only of functions of components below its own. Function pointers make components: with them known a member is often
//! none any more, so members ask for each other, too. What then needs a third member after all is given up.

use crate::component::{self, Env, Round};
use leakproof_findings::Finding;
use leakproof_program::{CallGraph, FuncRef};
use leakproof_summary::{BoundCallee, Summary};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Functions of more instructions than this have one summary.
const MAX_INSTRUCTIONS: usize = 600;

/// Rounds over a function that calls itself.
const ROUNDS: usize = 3;

/// What a run of a function for known functions gave.
#[derive(Clone)]
pub struct BoundRun {
    pub summary: Arc<Summary>,
    pub findings: Arc<[Finding]>,
    /// Wall time of the longest question to the solver.
    pub longest_question: Duration,
}

type Slot = Arc<OnceLock<Option<BoundRun>>>;

/// All such runs.
pub struct BoundRuns {
    component_of: FxHashMap<FuncRef, usize>,
    known: Mutex<FxHashMap<BoundCallee, Slot>>,
}

impl BoundRuns {
    pub fn new(calls: &CallGraph) -> Self {
        let mut component_of = FxHashMap::default();
        for (i, scc) in calls.sccs().iter().enumerate() {
            component_of.extend(scc.iter().map(|&f| (f, i)));
        }
        Self { component_of, known: Mutex::default() }
    }

    /// The run of a function for what is bound; `None` when there is none.
    pub fn get(&self, env: &Env<'_>, callee: &BoundCallee) -> Option<BoundRun> {
        let slot = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(callee.clone()).or_default().clone()
        };
        slot.get_or_init(|| self.run(env, callee)).clone()
    }

    fn run(&self, env: &Env<'_>, callee: &BoundCallee) -> Option<BoundRun> {
        let f = callee.function;
        let body = env.program.function(f).body.as_ref()?;
        if body.insts.len() > MAX_INSTRUCTIONS {
            return None;
        }
        let scc = &env.calls.sccs()[*self.component_of.get(&f)?];
        let calls_itself = env.calls.callees_of(f).contains(&f);
        // What recursive calls are given is known as far as arguments are handed on.
        if calls_itself && callee.bound.keys().any(|route| !route.cells.is_empty()) {
            return None;
        }
        let members: FxHashSet<FuncRef> = match calls_itself || scc.len() > 1 {
            true => scc.iter().copied().collect(),
            false => FxHashSet::default(),
        };
        let rounds = if calls_itself { ROUNDS } else { 1 };
        let mut round = Round::bound(f, calls_itself);
        let (mut last, mut longest_question) = (None, Duration::ZERO);
        for number in 1..=rounds {
            round.last = number == rounds;
            let run = component::run_bound(env, &round, callee, &members)?;
            round.found(f, run.summary.clone());
            longest_question = longest_question.max(run.longest_question);
            last = Some(BoundRun { longest_question, ..run });
        }
        last
    }
}
