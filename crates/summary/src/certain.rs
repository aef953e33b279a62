//! Objects that nothing on the path to an exit can have released.
//!
//! A release that depends on how a call went usually counts as met: the condition was cut, and the
//! program knows it. But the path may know it too: it tested the call's result. When it rules the
//! release out altogether, the object leaks on every way to that exit.

use crate::exec::Exec;
use crate::leak::Candidate;
use crate::state::State;
use crate::vocabulary::{ObjectId, Slot, SymKind, What};
use leakproof_guard::{Sym, Term, Terms, is_contradiction};
use rustc_hash::FxHashSet;

/// Larger conditions are not looked into.
const MAX_QUESTION: u32 = 3000;

/// An object whose release depends on calls that the path speaks of.
struct Doubtful {
    object: ObjectId,
    live: Term,
    /// Released, or out of sight.
    gone: Term,
}

impl Exec<'_> {
    /// Adds the objects that are no candidates at the exit so far, but that the path decides.
    pub(crate) fn certain_candidates_at(
        &mut self,
        exit: usize,
        keeps_locals: bool,
        list: &mut Vec<Candidate>,
    ) {
        let state = self.exits[exit].state.clone();
        let path = self.pcs.formula(&mut self.terms, state.pc);
        let known: FxHashSet<ObjectId> =
            list.iter().filter(|c| c.exit == exit).map(|c| c.object).collect();
        let mut doubtful = self.doubtful_objects(&state, path);
        doubtful.retain(|d| !known.contains(&d.object));
        if doubtful.is_empty() {
            return;
        }
        let open: Vec<(ObjectId, Term)> = doubtful.iter().map(|d| (d.object, d.live)).collect();
        let leads = self.bases_leading_to(&state, &open);
        let held = self.held_objects(&state, self.exits[exit].value, keeps_locals, &leads);
        let owners = self.owners(&state, &open);
        for Doubtful { object, live, gone } in doubtful {
            let held = held.get(&object).copied().unwrap_or(Terms::FALSE);
            let owned = owners.get(&object).copied().unwrap_or(Terms::FALSE);
            let gone = self.terms.or([gone, held, owned]);
            let here = self.terms.not(gone);
            let lost = self.terms.and2(live, here);
            let condition = self.terms.and2(path, lost);
            let released = self.terms.and([path, live, gone]);
            if condition != Terms::FALSE
                && self.terms.size(released) <= MAX_QUESTION
                && is_contradiction(&self.terms, released)
            {
                list.push(Candidate { object, exit, condition, lost, unheld: false });
            }
        }
    }

    fn doubtful_objects(&mut self, state: &State, path: Term) -> Vec<Doubtful> {
        let tested = self.outcomes_in(path);
        if tested.is_empty() {
            return Vec::new();
        }
        let mut list = Vec::new();
        for i in 0..self.objects.len() {
            let base = self.objects[i].base;
            let live = self.pcs.simplify(&mut self.terms, state.pc, state.fact(base, Slot::Live));
            let (freed, escaped) = (state.fact(base, Slot::Freed), state.fact(base, Slot::Escaped));
            let gone = self.terms.or2(freed, escaped);
            let gone = self.pcs.simplify(&mut self.terms, state.pc, gone);
            if live != Terms::FALSE && !tested.is_disjoint(&self.outcomes_in(gone)) {
                list.push(Doubtful { object: ObjectId(i as u32), live, gone });
            }
        }
        list
    }

    /// Symbols for the outcomes of calls.
    fn outcomes_in(&self, t: Term) -> FxHashSet<Sym> {
        let mut symbols = self.symbols_in(t);
        symbols.retain(|s| match &self.sym_kinds[s.0 as usize] {
            SymKind::Opaque(origin) => origin.what == What::Outcome,
            _ => false,
        });
        symbols
    }
}
