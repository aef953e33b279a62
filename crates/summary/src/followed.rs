//! Which of the objects that a function made its callers are told about.

use crate::exec::Exec;
use crate::state::{Cell, State};
use crate::vocabulary::{BaseKind, ObjectId, Slot};
use leakproof_guard::{Base, Term, Terms};
use rustc_hash::FxHashSet;

/// Objects that one call creates for its caller, as far as they are followed: the nearest first.
const MAX_OBJECTS: usize = 12;
/// Objects of one exit that are looked at: those that are followed, and as many again, since other exits may have others.
const MAX_AT_EXIT: usize = 2 * MAX_OBJECTS;
/// Objects from further down than this are only followed when they are handed out directly.
const MAX_DISTANCE: usize = 3;

impl Exec<'_> {
    /// The objects that callers are told about: those handed out, through the return value or
    /// what an argument points to; then those from near that other cells lead to.
    pub(crate) fn followed_objects(
        &mut self,
        state: &State,
        value: Option<Term>,
    ) -> FxHashSet<ObjectId> {
        let (direct, others) = self.handed_out(state, value);
        let mut followed = FxHashSet::default();
        self.add_reachable(state, direct, usize::MAX, MAX_OBJECTS, &mut followed);
        self.add_reachable(state, others, MAX_DISTANCE, MAX_OBJECTS, &mut followed);
        followed
    }

    /// The state at an exit without the objects that nothing leads to for a caller: released
    /// there, or never made. What became of them must not be confused with other exits. Objects too far away to be
    /// followed go, too: what they hold is out of sight in the end, and to work out their fates is most of the cost.
    pub(crate) fn without_unreached(&mut self, mut state: State, value: Option<Term>) -> State {
        let (direct, others) = self.handed_out(&state, value);
        let mut reached = FxHashSet::default();
        self.add_reachable(&state, direct, usize::MAX, MAX_AT_EXIT, &mut reached);
        self.add_reachable(&state, others, MAX_DISTANCE, MAX_AT_EXIT, &mut reached);
        self.escape_held_by_others(&mut state, &reached);
        self.remove_objects(&mut state, |o| !reached.contains(&o));
        state
    }

    /// The state at an exit without the objects that its path did not make: they hold nothing.
    pub(crate) fn without_unmade(&mut self, mut state: State) -> State {
        let mut unmade = FxHashSet::default();
        for i in 0..self.objects.len() {
            let live = state.fact(self.objects[i].base, Slot::Live);
            if self.pcs.simplify(&mut self.terms, state.pc, live) == Terms::FALSE {
                unmade.insert(ObjectId(i as u32));
            }
        }
        self.remove_objects(&mut state, |o| unmade.contains(&o));
        state
    }

    /// All that is said of some new objects goes.
    fn remove_objects(&self, state: &mut State, goes: impl Fn(ObjectId) -> bool) {
        let cells = state.mem.keys().filter(|(base, _)| self.object_of(*base).is_some_and(&goes));
        let cells: Vec<Cell> = cells.copied().collect();
        for cell in cells {
            state.mem.remove(&cell);
        }
    }

    /// Values that a caller gets: through the result or what an argument points to, and others.
    fn handed_out(&self, state: &State, value: Option<Term>) -> (Vec<Term>, Vec<Term>) {
        let mut direct: Vec<Term> = value.into_iter().collect();
        let mut others: Vec<Term> = Vec::new();
        for (&(base, slot), &value) in &state.mem {
            if !slot.is_contents() || !self.terms.has_addr(value) {
                continue;
            }
            let pointer = self.terms.as_pointee(base);
            if pointer.is_some_and(|p| self.pointer_depth(p) == Some(0)) {
                direct.push(value);
            } else if matches!(self.kind(base), BaseKind::Global(_) | BaseKind::Pointee) {
                others.push(value);
            }
        }
        (direct, others)
    }

    /// Adds the objects that the values lead to, the nearest first, if they come from near.
    fn add_reachable(
        &mut self,
        state: &State,
        mut work: Vec<Term>,
        distance: usize,
        most: usize,
        followed: &mut FxHashSet<ObjectId>,
    ) {
        let mut next = 0;
        while next < work.len() && followed.len() < most {
            let t = work[next];
            next += 1;
            for base in self.all_bases(t) {
                let Some(o) = self.object_of(base) else { continue };
                let near = self.objects[o.0 as usize].trace.len() <= distance;
                if near && followed.len() < most && followed.insert(o) {
                    let inner = state.contents_of(base).map(|(_, t)| t);
                    work.extend(inner.filter(|&t| self.terms.has_addr(t)));
                }
            }
        }
    }

    /// What is held by an object that callers are not told about is out of sight with it.
    pub(crate) fn escape_held_by_others(
        &mut self,
        state: &mut State,
        followed: &FxHashSet<ObjectId>,
    ) {
        let present = bases_with_cells(state);
        // What is held in several places escapes once.
        let mut escaped: FxHashSet<(Term, Term)> = FxHashSet::default();
        for i in 0..self.objects.len() {
            let base = self.objects[i].base;
            if followed.contains(&ObjectId(i as u32)) || present.binary_search(&base).is_err() {
                continue;
            }
            let freed = state.fact(base, Slot::Freed);
            let kept = self.terms.not(freed);
            let held: Vec<Term> = state.contents_of(base).map(|(_, t)| t).collect();
            for value in held {
                let matters = self.terms.has_addr(value) || self.is_callers(value);
                if matters && escaped.insert((value, kept)) {
                    self.escape_if(state, value, kept);
                }
            }
        }
    }
}

/// In order. To look for the cells of each of many objects, most of which have none, would be dearer.
fn bases_with_cells(state: &State) -> Vec<Base> {
    let mut bases: Vec<Base> = state.mem.keys().map(|(base, _)| *base).collect();
    bases.dedup();
    bases
}
