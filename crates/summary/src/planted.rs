//! Objects that a function is taken to find in its arguments: a caller's struct with something in
//! its fields.

use crate::exec::Exec;
use crate::leak::Candidate;
use crate::state::State;
use crate::vocabulary::{Object, ObjectId, Site, Slot};
use leakproof_guard::{Base, Term, Terms};
use std::sync::Arc;

/// An object in the field at `offset` of what a parameter points to, unless that is null.
#[derive(Clone, Debug)]
pub struct Planted {
    pub param: u32,
    pub offset: i64,
    pub trace: Arc<[Site]>,
    pub family: Arc<str>,
}

impl Exec<'_> {
    /// The state at entry with all planted objects in their fields.
    pub(crate) fn plant(&mut self, state: &mut State) {
        for p in self.planted.clone() {
            let Some(owner) = self.owner_of_planted(state, &p) else { continue };
            let before = self.initial(state, owner, Slot::At(p.offset), 64);
            let null = self.terms.is_null(before);
            let there = self.terms.not(null);
            let Planted { family, trace, .. } = p;
            let id = self.add_object(|base| Object { base, family, trace, assumed: true });
            let base = self.objects[id.0 as usize].base;
            let pointer = self.terms.addr(base, 0);
            let held = self.terms.ite(null, Terms::NULL, pointer);
            state.mem.insert((base, Slot::Live), there);
            state.mem.insert((owner, Slot::At(p.offset)), held);
        }
    }

    fn owner_of_planted(&mut self, state: &State, p: &Planted) -> Option<Base> {
        let param = self.function.params.get(p.param as usize)?;
        let pointer = self.value(state, param.value);
        Some(self.pointee(pointer))
    }

    /// Where planted objects are lost because their struct is released.
    pub fn planted_candidates(&mut self) -> Vec<Candidate> {
        let planted = self.planted.clone();
        let mut list = self.candidates(false);
        list.retain(|c| (c.object.0 as usize) < planted.len() && !self.is_ever_released(c.object));
        for candidate in &mut list {
            let ObjectId(i) = candidate.object;
            let state = self.exits[candidate.exit].state.clone();
            let lost = self.lost_with_owner(&state, candidate.object, &planted[i as usize]);
            candidate.condition = self.terms.and2(candidate.condition, lost);
        }
        list.retain(|c| c.condition != Terms::FALSE);
        list
    }

    /// Whether the function releases the object on some path: when it does not, it has its reasons.
    fn is_ever_released(&self, object: ObjectId) -> bool {
        let base = self.objects[object.0 as usize].base;
        self.exits.iter().any(|e| e.state.fact(base, Slot::Freed) != Terms::FALSE)
    }

    /// The struct is released, and its field still holds the object.
    fn lost_with_owner(&mut self, state: &State, object: ObjectId, p: &Planted) -> Term {
        let Some(owner) = self.owner_of_planted(state, p) else { return Terms::FALSE };
        let pointer = self.terms.addr(self.objects[object.0 as usize].base, 0);
        let held = self.read(state, owner, Slot::At(p.offset), 64);
        let still = self.terms.eq(held, pointer);
        let freed = state.fact(owner, Slot::Freed);
        self.terms.and2(freed, still)
    }
}
