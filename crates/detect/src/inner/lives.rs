//! Which parameters are given structs that have a life already: who stores into such a one changes it, while
//! who gets it from its maker completes it.

use super::fields::Parameter;
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Default)]
pub struct Lives {
    /// Parameters that some call gives a new struct.
    new: FxHashSet<Parameter>,
    /// Parameters that some call gives a struct from elsewhere, or one that it was given before.
    older: FxHashSet<Parameter>,
    /// Parameters that some call gives a parameter of its own function.
    passed: FxHashMap<Parameter, FxHashSet<Parameter>>,
}

impl Lives {
    pub fn note_new(&mut self, to: Parameter) {
        self.new.insert(to);
    }

    pub fn note_older(&mut self, to: Parameter) {
        self.older.insert(to);
    }

    pub fn note_passed(&mut self, from: Parameter, to: Parameter) {
        self.passed.entry(to).or_default().insert(from);
    }

    /// Whether some call gives it a struct that has a life already, through however many functions.
    pub fn is_older(&self, parameter: Parameter) -> bool {
        self.sources(parameter).iter().any(|p| self.older.contains(p))
    }

    /// Whether only new structs get there, through however many functions. What nobody in the program calls
    /// is called by others, who may have had the struct for long.
    pub fn is_always_new(&self, parameter: Parameter) -> bool {
        let sources = self.sources(parameter);
        sources.iter().any(|p| self.new.contains(p))
            && !sources.iter().any(|p| self.older.contains(p))
    }

    /// The parameter itself, and those that are passed on to it.
    fn sources(&self, parameter: Parameter) -> FxHashSet<Parameter> {
        let mut seen = FxHashSet::default();
        let mut work = vec![parameter];
        while let Some(p) = work.pop() {
            if seen.insert(p) {
                work.extend(self.passed.get(&p).into_iter().flatten());
            }
        }
        seen
    }
}
