//! Functions that return fresh memory and nothing else: `xmalloc`, and wrappers of wrappers.
//!
//! Such a function is not entered: each of its call sites gets an object of its own, as if it
//! called the allocator itself. What the function puts into the object before it returns is
//! recorded, so that the object at the call site gets it too.
//! A function qualifies when every value it returns is null or the result of an allocating call
//! (plus a constant), and the fresh address goes nowhere else: it is tested, filled, released, but not
//! stored and not passed to code that might keep it.

mod candidate;

use crate::{FuncRef, Program, Target};
use candidate::Candidate;
use leakproof_ir::{Function, InstId, Ty, ValueId};
use leakproof_models::{Library, Returns};
use rustc_hash::FxHashMap;

/// A value that a wrapper puts into the fresh object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// A value of the wrapper's body.
    Value(ValueId),
    /// The address of the object itself plus this.
    Itself(i64),
}

/// What is known of a wrapper.
#[derive(Clone, Debug, Default)]
pub(super) struct Wrapper {
    /// Allocating calls whose results are returned.
    pub calls: Vec<InstId>,
    /// Constants added to the address before it is returned.
    pub deltas: Vec<i64>,
    /// Pointers stored into the object; no offset: anywhere.
    pub stores: Vec<(Option<i64>, Stored)>,
    /// Bytes copied into the object from elsewhere.
    pub copies: Vec<(Option<i64>, ValueId)>,
}

#[derive(Default)]
pub(super) struct Wrappers {
    found: FxHashMap<FuncRef, Wrapper>,
}

impl Wrappers {
    pub fn get(&self, f: FuncRef) -> Option<&Wrapper> {
        self.found.get(&f)
    }

    /// Wrappers of allocators, then wrappers of those, until there are no more.
    pub fn find(program: &Program, models: &Library) -> Wrappers {
        let mut candidates: Vec<(FuncRef, Candidate)> = Vec::new();
        for &f in program.definition_list() {
            if program.function(f).ret == Ty::Ptr
                && let Some(candidate) = Candidate::of(program, models, f)
            {
                candidates.push((f, candidate));
            }
        }
        let mut waiting: FxHashMap<FuncRef, Vec<usize>> = FxHashMap::default();
        let mut missing = Vec::with_capacity(candidates.len());
        for (i, (_, candidate)) in candidates.iter().enumerate() {
            missing.push(candidate.needs.len());
            for &callee in &candidate.needs {
                waiting.entry(callee).or_default().push(i);
            }
        }
        let mut ready: Vec<usize> = (0..candidates.len()).filter(|&i| missing[i] == 0).collect();
        let mut found = FxHashMap::default();
        while let Some(i) = ready.pop() {
            let (f, candidate) = &candidates[i];
            found.insert(*f, candidate.wrapper.clone());
            for &user in waiting.get(f).map_or(&[][..], Vec::as_slice) {
                missing[user] -= 1;
                if missing[user] == 0 {
                    ready.push(user);
                }
            }
        }
        Wrappers { found }
    }
}

/// A call of this external function returns a fresh object, null, or does not return.
pub(super) fn is_allocator(program: &Program, models: &Library, target: Target) -> bool {
    let Target::External(decl) = target else { return false };
    let function: &Function = program.function(decl);
    let Some(model) = models.get(&function.name) else { return function.attrs.noalias_return };
    let fresh = |r: &Returns| matches!(r, Returns::Object { .. });
    let harmless =
        |r: &Returns| matches!(r, Returns::Null | Returns::Never | Returns::Throws) || fresh(r);
    model.outcomes.iter().any(|o| fresh(&o.returns))
        && model.outcomes.iter().all(|o| harmless(&o.returns))
}
