//! Objects that nothing on the path to an exit can have released.
//!
//! A release that depends on how a call went usually counts as met: the condition was cut, and the
//! program knows it. But the path may know it too: it tested the call's result. When it rules the
//! release out altogether, the object leaks on every way to that exit.

use crate::deciding::OUTCOMES;
use crate::exec::Exec;
use crate::leak::Candidate;
use crate::state::State;
use crate::vocabulary::{ObjectId, Slot};
use leakproof_guard::{Sym, Term, Terms, is_contradiction};
use rustc_hash::FxHashSet;

/// Larger conditions are not looked into.
const MAX_QUESTION: u32 = 3000;

/// More results than this are not told apart.
const MAX_RESULTS: usize = 4;

impl Exec<'_> {
    /// Adds the objects that are no candidates at the exit so far, but that the path decides.
    pub(crate) fn certain_candidates_at(
        &mut self,
        exit: usize,
        keeps_locals: bool,
        list: &mut Vec<Candidate>,
    ) {
        let state = self.exits[exit].state.clone();
        let mut known: FxHashSet<ObjectId> =
            list.iter().filter(|c| c.exit == exit).map(|c| c.object).collect();
        let mut open = self.open_objects(&state);
        let asked = self.objects_of_exit(exit);
        open.retain(|(o, _)| !known.contains(o) && asked.contains(&(o.0 as usize)));
        if open.is_empty() {
            return;
        }
        let mut ways = self.ways_out(exit);
        ways.retain(|&way| self.terms.marks(way).intersects(OUTCOMES));
        if ways.is_empty() {
            return;
        }
        let leads = self.bases_leading_to(&state, &open);
        let held = self.held_objects(exit, keeps_locals, &leads);
        let owners = self.owners(&state, &open);
        // Few objects depend on outcomes: what the ways test is looked up at the first of them.
        let mut tests: Option<Vec<FxHashSet<Sym>>> = None;
        for (object, live) in open {
            let held = held.get(&object).copied().unwrap_or(Terms::FALSE);
            let owned = owners.get(&object).copied().unwrap_or(Terms::FALSE);
            let gone = self.gone(&state, object);
            let gone = self.terms.or([gone, held, owned]);
            if !self.terms.marks(gone).intersects(OUTCOMES) {
                continue;
            }
            let decided_by = self.outcomes_in(gone);
            let tests =
                tests.get_or_insert_with(|| ways.iter().map(|&w| self.outcomes_in(w)).collect());
            for (&way, tested) in ways.iter().zip(&*tests) {
                if tested.is_disjoint(&decided_by) || known.contains(&object) {
                    continue;
                }
                let here = self.terms.not(gone);
                let lost = self.terms.and2(live, here);
                let condition = self.terms.and2(way, lost);
                let released = self.terms.and([way, live, gone]);
                if condition != Terms::FALSE
                    && self.terms.size(released) <= MAX_QUESTION
                    && is_contradiction(&self.terms, released)
                {
                    known.insert(object);
                    list.push(Candidate { object, exit, condition, lost, unheld: false });
                }
            }
        }
    }

    /// The path to an exit; where it returns one of several constants, the path of each of them:
    /// `return f();` is as good as a test of what `f` returns.
    fn ways_out(&mut self, exit: usize) -> Vec<Term> {
        let path = self.pcs.known_formula(&mut self.terms, self.exits[exit].state.pc);
        let mut ways = vec![path];
        let Some(value) = self.exits[exit].value else { return ways };
        let results = self.terms.alternatives(value);
        let constants = results.iter().filter(|&&r| self.terms.as_int(r).is_some()).count();
        if (2..=MAX_RESULTS).contains(&constants) {
            ways.extend(results.into_iter().map(|result| {
                let returned = self.terms.eq(value, result);
                self.terms.and2(path, returned)
            }));
        }
        // Of a way that nobody can take everything could be said.
        ways.retain(|&way| !is_contradiction(&self.terms, way));
        ways
    }

    /// Objects that exist and are not released whatever happened, with the condition of existing.
    fn open_objects(&mut self, state: &State) -> Vec<(ObjectId, Term)> {
        let mut list = Vec::new();
        for i in 0..self.objects.len() {
            let object = ObjectId(i as u32);
            let live = state.fact(self.objects[i].base, Slot::Live);
            let live = self.pcs.simplify(&mut self.terms, state.pc, live);
            if live != Terms::FALSE && self.gone(state, object) != Terms::TRUE {
                list.push((object, live));
            }
        }
        list
    }

    /// Released, or out of sight.
    fn gone(&mut self, state: &State, object: ObjectId) -> Term {
        let base = self.objects[object.0 as usize].base;
        let (freed, escaped) = (state.fact(base, Slot::Freed), state.fact(base, Slot::Escaped));
        let gone = self.terms.or2(freed, escaped);
        self.pcs.simplify(&mut self.terms, state.pc, gone)
    }

    /// Symbols for the outcomes of calls.
    fn outcomes_in(&mut self, t: Term) -> FxHashSet<Sym> {
        self.symbols_with(t, OUTCOMES).into_iter().collect()
    }
}
