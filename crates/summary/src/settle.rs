//! What the answers about candidates mean for a function's callers.
//!
//! Facts about objects are conditions; the path to an exit, which may decide them, is seldom told
//! to callers. The solver knows the path: where it says that nothing leaks, the object is gone.

use crate::exec::Exec;
use crate::leak::Candidate;
use crate::vocabulary::Slot;
use leakproof_guard::{Term, Terms};

impl Exec<'_> {
    /// The object leaks there, or may: it is not the callers' concern any more.
    pub fn settle_lost(&mut self, candidate: &Candidate) {
        self.settle(candidate, Slot::Escaped, candidate.lost);
    }

    /// The path to the exit rules out that the object leaks there. When nothing refers to it
    /// either, it was released, or never made.
    pub fn settle_gone(&mut self, candidate: &Candidate) {
        if candidate.unheld {
            self.settle(candidate, Slot::Freed, Terms::TRUE);
        }
    }

    fn settle(&mut self, candidate: &Candidate, slot: Slot, when: Term) {
        let base = self.objects[candidate.object.0 as usize].base;
        let state = &mut self.exits[candidate.exit].state;
        let old = state.fact(base, slot);
        let settled = self.terms.or2(old, when);
        state.mem.insert((base, slot), settled);
    }
}
