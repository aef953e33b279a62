//! Which functions have to be run for the judgement of watched releases.
//!
//! The function that has the text of a release always does. Its callers do when the release may
//! concern an object of theirs, which the callee's own judgement says; and so on upwards. Callees are
//! finished before their callers, so what is asked here is known by then, whatever the order of
//! threads.

use crate::audit::{Judgement, ProblemKind, Watch, watches_in};
use crate::component::Env;
use leakproof_program::{CallGraph, FuncRef, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, PoisonError};

/// The watched stretches that may concern each function.
#[derive(Default)]
pub struct Watched {
    /// It has their code (true), or calls, over any number of steps, one that has it.
    reach: FxHashMap<FuncRef, BTreeMap<usize, bool>>,
    /// Functions whose judgement is up to their callers.
    passed_on: Mutex<FxHashSet<(usize, FuncRef)>>,
}

impl Watched {
    pub fn new(program: &Program, calls: &CallGraph, watch: &[Watch]) -> Self {
        let mut all = Self::default();
        if watch.is_empty() {
            return all;
        }
        for f in program.definitions() {
            for i in watches_in(program, watch, f) {
                all.add(calls, f, i);
            }
        }
        all
    }

    fn add(&mut self, calls: &CallGraph, f: FuncRef, watch: usize) {
        self.reach.entry(f).or_default().insert(watch, true);
        let mut work = vec![f];
        while let Some(callee) = work.pop() {
            for &caller in calls.callers_of(callee) {
                if let Entry::Vacant(new) = self.reach.entry(caller).or_default().entry(watch) {
                    new.insert(false);
                    work.push(caller);
                }
            }
        }
    }

    /// The stretches for which a function has to be judged, and whether it has their code. Its
    /// callees outside its own component are finished.
    pub fn concerning(&self, env: &Env<'_>, f: FuncRef) -> Vec<(usize, bool)> {
        let Some(reach) = self.reach.get(&f) else { return Vec::new() };
        let passed_on = self.passed_on.lock().unwrap_or_else(PoisonError::into_inner);
        let concerns = |watch: usize| {
            env.calls.callees_of(f).iter().any(|&callee| {
                let open = || {
                    let reaches = self.reach.get(&callee).is_some_and(|r| r.contains_key(&watch));
                    reaches && env.summaries.get(callee).is_none()
                };
                passed_on.contains(&(watch, callee)) || open()
            })
        };
        let own = reach.iter().map(|(&watch, &direct)| (watch, direct));
        own.filter(|&(watch, direct)| direct || concerns(watch)).collect()
    }

    /// Whether it is known what all callees do that may come to a stretch.
    pub fn is_told(&self, env: &Env<'_>, f: FuncRef, watch: usize) -> bool {
        let reaches = |f: &FuncRef| self.reach.get(f).is_some_and(|r| r.contains_key(&watch));
        let callees = env.calls.callees_of(f).iter().filter(|c| reaches(c));
        callees.into_iter().all(|&callee| env.summaries.get(callee).is_some())
    }

    /// Remembers what the judgements of a function leave to its callers.
    pub fn judged(&self, judgements: &[Judgement]) {
        let foreign = |j: &&Judgement| j.problems.iter().any(|p| p.kind == ProblemKind::Foreign);
        let mut passed_on = self.passed_on.lock().unwrap_or_else(PoisonError::into_inner);
        passed_on.extend(judgements.iter().filter(foreign).map(|j| (j.watch, j.func)));
    }
}
