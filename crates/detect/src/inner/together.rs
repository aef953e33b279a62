//! Which functions may run in the same process, when a project builds several programs.

use crate::component::Env;
use leakproof_program::FuncRef;
use rustc_hash::{FxHashMap, FxHashSet};

/// For each function that some `main` leads to, which of them do.
pub struct Together(FxHashMap<FuncRef, Vec<u32>>);

impl Together {
    pub fn of(env: &Env<'_>) -> Self {
        let is_main = |f: &FuncRef| env.program.function(*f).name == "main";
        let mut programs: FxHashMap<FuncRef, Vec<u32>> = FxHashMap::default();
        for (i, main) in env.program.definitions().filter(is_main).enumerate() {
            for f in reached_from(env, main) {
                programs.entry(f).or_default().push(i as u32);
            }
        }
        Self(programs)
    }

    /// Whether one process may run both. Who no `main` leads to may run in any.
    pub fn run(&self, a: FuncRef, b: FuncRef) -> bool {
        match (self.0.get(&a), self.0.get(&b)) {
            (Some(a), Some(b)) => a.iter().any(|program| b.contains(program)),
            _ => true,
        }
    }
}

fn reached_from(env: &Env<'_>, main: FuncRef) -> FxHashSet<FuncRef> {
    let mut reached = FxHashSet::default();
    let mut work = vec![main];
    while let Some(f) = work.pop() {
        if reached.insert(f) {
            work.extend(env.calls.callees_of(f));
        }
    }
    reached
}
