//! Objects that a function is taken to find in structs of others: in what it was given, and in what
//! it finds on its way through lists and tables.

use crate::exec::Exec;
use crate::leak::Candidate;
use crate::memory::Leaves;
use crate::state::{Cell, State};
use crate::vocabulary::{BaseKind, Object, ObjectId, Site, Slot};
use leakproof_guard::{Base, Term, Terms};
use leakproof_ir::ValueId;
use std::sync::Arc;

/// More objects than this are not planted in one run.
const MAX_PLANTED: usize = 32;

/// An object in the field at `offset` of what each of some values points to, unless that is null.
#[derive(Clone, Debug)]
pub struct Planted {
    pub values: Arc<[ValueId]>,
    pub offset: i64,
    pub trace: Arc<[Site]>,
    pub family: Arc<str>,
    /// When the field is given another, this one is lost: there is one for sure, or all signs say so.
    pub full: bool,
}

/// Where one object was planted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlantedIn {
    owner: Base,
    /// The value that pointed to the struct.
    pointer: ValueId,
    offset: i64,
    object: ObjectId,
    full: bool,
}

impl Exec<'_> {
    /// Plants what the struct that `value` now points to is taken to hold.
    pub(crate) fn plant_in(&mut self, state: &mut State, value: ValueId) {
        if self.planted.is_empty() {
            return;
        }
        for i in 0..self.planted.len() {
            if self.planted[i].values.contains(&value) {
                let planted = self.planted[i].clone();
                for owner in self.structs_of_others(state, value) {
                    self.plant(state, owner, value, &planted);
                }
            }
        }
    }

    fn structs_of_others(&mut self, state: &State, value: ValueId) -> Vec<Base> {
        let pointer = self.value(state, value);
        let leaves = self.leaves(state, pointer).unwrap_or_default();
        let owners = leaves.into_iter().filter_map(|leaf| match leaf.target {
            Leaves::Cell(base, Slot::At(0)) if !leaf.any => Some(base),
            _ => None,
        });
        owners.filter(|&base| self.kind(base) == BaseKind::Pointee).collect()
    }

    /// Plants an object in a struct, unless the field was looked at before.
    fn plant(&mut self, state: &mut State, owner: Base, pointer: ValueId, planted: &Planted) {
        let cell = (owner, Slot::At(planted.offset));
        if state.mem.contains_key(&cell) {
            return;
        }
        let known = self.planted_in.iter().find(|p| (p.owner, p.offset) == (owner, planted.offset));
        let object = match known {
            Some(p) => p.object,
            None if self.planted_in.len() >= MAX_PLANTED || self.was_read(state, cell) => return,
            None => self.new_planted(owner, pointer, planted),
        };
        let before = self.initial(state, owner, cell.1, 64);
        let null = self.terms.is_null(before);
        let there = self.terms.not(null);
        let base = self.objects[object.0 as usize].base;
        let pointer = self.terms.addr(base, 0);
        let held = self.terms.ite(null, Terms::NULL, pointer);
        state.mem.insert((base, Slot::Live), there);
        state.mem.insert(cell, held);
    }

    fn was_read(&self, state: &State, (base, slot): (Base, Slot)) -> bool {
        let epoch = state.mem.get(&(base, Slot::Epoch)).copied().unwrap_or(Terms::NULL);
        self.inits.contains_key(&(base, slot, epoch, 64))
    }

    fn new_planted(&mut self, owner: Base, pointer: ValueId, planted: &Planted) -> ObjectId {
        let Planted { family, trace, offset, full, .. } = planted.clone();
        let object = self.add_object(|base| Object { base, family, trace, assumed: true });
        self.planted_in.push(PlantedIn { owner, pointer, offset, object, full });
        object
    }

    /// The value that pointed to a struct in which an object was planted.
    pub fn pointer_to_planted(&self, owner: Base) -> Option<ValueId> {
        self.planted_in.iter().find(|p| p.owner == owner).map(|p| p.pointer)
    }

    /// Whether a struct holds a planted object: every such struct has one of its own.
    pub(crate) fn is_planted_in(&self, base: Base) -> bool {
        self.planted_in.iter().any(|p| p.owner == base)
    }

    /// Whether a field is taken to be full: what it held is lost when it is given something else.
    pub(crate) fn is_always_full(&self, (base, slot): Cell) -> bool {
        self.planted_in.iter().any(|p| p.full && (p.owner, Slot::At(p.offset)) == (base, slot))
    }

    /// Where planted objects are lost because their struct is released, or their field given another.
    pub fn planted_candidates(&mut self) -> Vec<Candidate> {
        let mut list = Vec::new();
        for mut candidate in self.candidates(false) {
            let planted = self.planted_in.iter().find(|p| p.object == candidate.object).copied();
            let Some(planted) = planted.filter(|p| !self.is_ever_released(p.object)) else {
                continue;
            };
            let state = self.exits[candidate.exit].state.clone();
            let lost = self.lost_by_owner(&state, planted);
            candidate.condition = self.terms.and2(candidate.condition, lost);
            if candidate.condition != Terms::FALSE {
                list.push(candidate);
            }
        }
        list
    }

    /// Whether the function releases the object on some path: when it does not, it has its reasons.
    fn is_ever_released(&self, object: ObjectId) -> bool {
        let base = self.objects[object.0 as usize].base;
        self.exits.iter().any(|e| e.state.fact(base, Slot::Freed) != Terms::FALSE)
    }

    /// The struct is released, and its field still holds the object; or the other way round, where
    /// fields are never empty.
    fn lost_by_owner(&mut self, state: &State, planted: PlantedIn) -> Term {
        let pointer = self.terms.addr(self.objects[planted.object.0 as usize].base, 0);
        let held = self.read(state, planted.owner, Slot::At(planted.offset), 64);
        let still = self.terms.eq(held, pointer);
        let freed = state.fact(planted.owner, Slot::Freed);
        let with_it = self.terms.and2(freed, still);
        if !planted.full {
            return with_it;
        }
        let (kept, replaced) = (self.terms.not(freed), self.terms.not(still));
        let without_it = self.terms.and2(kept, replaced);
        self.terms.or2(with_it, without_it)
    }
}
