//! Objects that a function is taken to have though it sees nobody make them: in structs of others, which it was
//! given or finds on its way through lists and tables, and as results of calls that took them out of such.

use crate::exec::{Drop, DropKind, Exec};
use crate::leak::Candidate;
use crate::memory::Leaves;
use crate::state::{Cell, Pc, State};
use crate::vocabulary::{BaseKind, Object, ObjectId, Site, Slot, SymKind, What};
use leakproof_guard::{Base, Node, Op, Term, Terms};
use leakproof_ir::{InstId, Loc, ValueId, ValueKind};
use std::sync::Arc;

/// More objects than this are not planted in one run.
const MAX_PLANTED: usize = 32;

/// An object for each of some values, unless that is null.
#[derive(Clone, Debug)]
pub struct Planted {
    pub values: Arc<[ValueId]>,
    pub spot: Spot,
    pub trace: Arc<[Site]>,
    pub family: Arc<str>,
}

/// Where an object is planted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spot {
    /// In this field of what the value points to.
    Field { offset: i64, replaced: Replaced },
    /// In this field, as the first node of a list: this one is lost when the function takes it off.
    Listed { offset: i64 },
    /// In this field of the element of an array that the value points to: lost when the element is given another.
    Element { offset: i64 },
    /// The value itself, a node of a list: lost when this store took it off.
    CutOut { by: InstId },
    /// The value itself, which a call took out of where it was.
    Taken,
    /// The value itself, which is new whenever it is not null.
    Made,
    /// The value itself, an argument that is the function's from then on.
    Given,
}

/// What becomes of the object of a field when the field is given another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replaced {
    /// There may have been none: nothing.
    Unknown,
    /// It is one of many in an array: nothing, and what is moved to another place on some path is not lost on others either. The
    /// paths without a turn of the loop that moves them are those on which there are none.
    OneOfMany,
    /// There are signs that there was one: it is lost, also where it is released on other paths.
    Probable,
    /// There was one for sure: it is lost.
    Certain,
}

/// A field of one struct in which an object is planted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PlantedField {
    owner: Base,
    /// The value that pointed to the struct.
    pointer: ValueId,
    offset: i64,
    replaced: Replaced,
}

/// Where one object was planted in an element of an array.
#[derive(Clone, Copy, Debug)]
pub struct PlantedElement {
    place: Term,
    cell: Cell,
    /// The value that pointed to the element.
    element: ValueId,
    object: ObjectId,
}

/// Where one object was planted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlantedIn {
    within: PlantedField,
    object: ObjectId,
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
                let (offset, replaced) = match planted.spot {
                    Spot::Field { offset, replaced } => (offset, replaced),
                    Spot::Listed { offset } => (offset, Replaced::Certain),
                    Spot::Element { offset } => {
                        self.plant_in_element(state, value, offset, &planted);
                        continue;
                    }
                    Spot::CutOut { .. } => {
                        self.plant_node(state, value, &planted);
                        continue;
                    }
                    Spot::Taken => {
                        let result = self.value(state, value);
                        let found = self.found_in_others(state, result);
                        self.plant_result(state, value, found, &planted);
                        continue;
                    }
                    Spot::Made | Spot::Given => {
                        self.plant_result(state, value, Terms::TRUE, &planted);
                        continue;
                    }
                };
                for owner in self.structs_of_others(state, value) {
                    let within = PlantedField { owner, pointer: value, offset, replaced };
                    self.plant(state, within, &planted);
                }
            }
        }
    }

    /// What a call took out of the memory of others, or made, or what the function was given for good, is an object of its own
    /// from now on. Its contents are as good as an argument's: what depends on them is the program's decision. But
    /// which pointers there are in a new one, its maker knows (`marks`).
    fn plant_result(&mut self, state: &mut State, value: ValueId, found: Term, planted: &Planted) {
        let call = match self.function.values[value].kind {
            ValueKind::Inst(call) => Some(call),
            _ => None,
        };
        let result = self.value(state, value);
        // Whoever gives something for good gives something.
        let not_null = match planted.spot {
            Spot::Given => Terms::TRUE,
            _ => self.terms.is_not_null(result),
        };
        let there = self.terms.and2(found, not_null);
        if self.taken.len() >= MAX_PLANTED || there == Terms::FALSE {
            return;
        }
        let Planted { family, trace, .. } = planted.clone();
        let object = |base| Object { base, family, trace, assumed: true };
        let object = match call {
            Some(call) => self.new_object(call, object),
            None => self.add_object(object),
        };
        if !self.taken.contains(&object) {
            self.taken.push(object);
        }
        let base = self.objects[object.0 as usize].base;
        if planted.spot == Spot::Made {
            self.united.insert(base);
        }
        let loc = call.map_or(Loc::default(), |call| self.body.insts[call].loc);
        let contents = self.opaque(64, What::Input, "", loc);
        state.mem.insert((base, Slot::Live), there);
        state.mem.insert((base, Slot::Epoch), contents);
        let pointer = self.terms.addr(base, 0);
        let pointer = self.terms.ite(there, pointer, result);
        self.define(value, pointer);
    }

    /// A node that a walk comes to is an object of its own. Its contents are as good as an argument's.
    fn plant_node(&mut self, state: &mut State, value: ValueId, planted: &Planted) {
        let result = self.value(state, value);
        let found = self.found_in_others(state, result);
        let not_null = self.terms.is_not_null(result);
        let there = self.terms.and2(found, not_null);
        if self.nodes.len() >= MAX_PLANTED || there == Terms::FALSE {
            return;
        }
        let Planted { family, trace, .. } = planted.clone();
        let object = self.add_object(|base| Object { base, family, trace, assumed: true });
        self.nodes.push(object);
        let base = self.objects[object.0 as usize].base;
        let contents = self.opaque(64, What::Input, "", Loc::default());
        state.mem.insert((base, Slot::Live), there);
        state.mem.insert((base, Slot::Epoch), contents);
        let pointer = self.terms.addr(base, 0);
        let pointer = self.terms.ite(there, pointer, result);
        self.define(value, pointer);
    }

    /// Notes which node a store takes off its list.
    pub(crate) fn note_cut(&mut self, state: &State, store: InstId) {
        for i in 0..self.planted.len() {
            if self.planted[i].spot == (Spot::CutOut { by: store }) {
                let node = self.value(state, self.planted[i].values[0]);
                self.cuts.push((state.pc, node));
            }
        }
    }

    /// Under which condition a node was taken off its list.
    fn cut_out(&mut self, node: ObjectId) -> Term {
        let pointer = self.terms.addr(self.objects[node.0 as usize].base, 0);
        let mut cut = Terms::FALSE;
        for (pc, which) in self.cuts.clone() {
            let reached = self.pcs.formula(&mut self.terms, pc);
            let is_it = self.terms.eq(which, pointer);
            let here = self.terms.and2(reached, is_it);
            cut = self.terms.or2(cut, here);
        }
        cut
    }

    /// Under which condition a pointer leads to memory of others: what is the function's own, it knows.
    fn found_in_others(&mut self, state: &State, pointer: Term) -> Term {
        let leaves = self.leaves(state, pointer).unwrap_or_default();
        let mut found = Vec::new();
        for leaf in leaves {
            if let Leaves::Cell(base, Slot::At(0)) = leaf.target
                && self.kind(base) == BaseKind::Pointee
            {
                found.push(leaf.cond);
            }
        }
        self.terms.or(found)
    }

    /// Whether a call took the object out of the memory of others.
    pub fn is_handed_over(&self, object: ObjectId) -> bool {
        self.taken.contains(&object)
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
    fn plant(&mut self, state: &mut State, within: PlantedField, planted: &Planted) {
        let PlantedField { owner, offset, .. } = within;
        let cell = (owner, Slot::At(offset));
        // What was released before holds nothing any more: an array that was enlarged and is read again.
        if state.mem.contains_key(&cell) || state.fact(owner, Slot::Freed) != Terms::FALSE {
            return;
        }
        let known =
            self.planted_in.iter().find(|p| (p.within.owner, p.within.offset) == (owner, offset));
        let object = match known {
            Some(p) => p.object,
            None if self.planted_in.len() >= MAX_PLANTED || self.was_read(state, cell) => return,
            None => self.new_planted(within, planted),
        };
        let before = self.initial(state, owner, cell.1, 64);
        let null = self.terms.is_null(before);
        let there = self.terms.not(null);
        let base = self.objects[object.0 as usize].base;
        let pointer = self.terms.addr(base, 0);
        let held = self.terms.ite(null, Terms::NULL, pointer);
        if let Spot::Listed { .. } = planted.spot {
            // Its contents are as good as an argument's: which node is taken off is the program's decision.
            let contents = self.opaque(64, What::Input, "", Loc::default());
            state.mem.insert((base, Slot::Epoch), contents);
        }
        state.mem.insert((base, Slot::Live), there);
        state.mem.insert(cell, held);
    }

    /// Plants an object in one element of an array of others: what is known of that element by its pointer.
    fn plant_in_element(
        &mut self,
        state: &mut State,
        value: ValueId,
        offset: i64,
        planted: &Planted,
    ) {
        let pointer = self.value(state, value);
        let leaves = self.leaves(state, pointer).unwrap_or_default();
        for leaf in leaves.into_iter().filter(|l| !l.any) {
            let Leaves::Cell(base, Slot::Every(all)) = leaf.target else { continue };
            if self.kind(base) == BaseKind::Pointee && !self.is_behind_last(leaf.pointer) {
                let place = self.terms.offset(leaf.pointer, offset);
                let cell = (base, Slot::Every(all.moved_within(offset)));
                self.plant_at(state, (place, cell), value, planted);
            }
        }
    }

    /// Plants an object at a place in an array, unless what is there is known, or was looked at before.
    fn plant_at(
        &mut self,
        state: &mut State,
        (place, cell): (Term, Cell),
        element: ValueId,
        planted: &Planted,
    ) {
        let is_known =
            self.remembered(state, cell.0, place).is_some() || state.mem.contains_key(&cell);
        // One object stands for all elements where the end of the array is asked about.
        if is_known || self.was_read(state, cell) || self.is_planted_in(cell.0) {
            return;
        }
        let known = self.planted_elements.iter().find(|p| p.place == place).map(|p| p.object);
        let object = match known {
            Some(object) => object,
            None if self.planted_elements.len() >= MAX_PLANTED => return,
            None => {
                let Planted { family, trace, .. } = planted.clone();
                let object = self.add_object(|base| Object { base, family, trace, assumed: true });
                self.planted_elements.push(PlantedElement { place, cell, element, object });
                object
            }
        };
        let own = self.objects[object.0 as usize].base;
        state.mem.insert((own, Slot::Live), Terms::TRUE);
        let held = self.terms.addr(own, 0);
        let beside = self.written_beside(state, cell.0, place);
        self.remember_last(state, cell.0, beside, [place, held]);
    }

    /// Whether the number of an element is a count that the function found: there is nothing yet.
    fn is_behind_last(&self, element: Term) -> bool {
        self.counted_by(element).is_some_and(|(count, by)| by >= 0 && self.cell_of(count).is_some())
    }

    /// The cell that a value was read from as it was at the start.
    fn cell_of(&self, value: Term) -> Option<Cell> {
        let Node::Sym(s) = *self.terms.node(value) else { return None };
        match self.sym_kinds[s.0 as usize] {
            SymKind::Init { base, slot: slot @ Slot::At(_), .. } => Some((base, slot)),
            _ => None,
        }
    }

    /// Under which condition the element is out of its array at an exit: the count says that it was the last, and has
    /// come down to its number.
    fn popped(&mut self, state: &State, element: Term) -> Term {
        let Some((count, by)) = self.counted_by(element).filter(|(_, by)| *by < 0) else {
            return Terms::FALSE;
        };
        let Some((base, slot)) = self.cell_of(count) else { return Terms::FALSE };
        let bits = self.terms.bits(count);
        let now = self.read(state, base, slot, bits);
        let by = self.terms.int(bits, by as u64);
        let number = self.terms.bin(Op::Add, count, by);
        self.terms.eq(now, number)
    }

    /// Under which condition this function gave a place something else than the object that was planted there. What
    /// its callees put in the place of others they are asked about themselves.
    fn replaced_here(&mut self, object: ObjectId, cell: Cell) -> Term {
        let base = self.objects[object.0 as usize].base;
        let me = self.me;
        let is_here =
            |d: &&Drop| d.kind == DropKind::Overwritten && d.holder == cell && d.at.func == me;
        let drops = self.drops.iter().filter(is_here);
        let drops: Vec<(Pc, Term, Term)> = drops.map(|d| (d.pc, d.when, d.old)).collect();
        let mut replaced = Terms::FALSE;
        for (pc, when, old) in drops {
            if self.all_bases(old).contains(&base) {
                let reached = self.pcs.formula(&mut self.terms, pc);
                let here = self.terms.and2(reached, when);
                replaced = self.terms.or2(replaced, here);
            }
        }
        replaced
    }

    fn was_read(&self, state: &State, (base, slot): (Base, Slot)) -> bool {
        let epoch = state.mem.get(&(base, Slot::Epoch)).copied().unwrap_or(Terms::NULL);
        self.inits.contains_key(&(base, slot, epoch, 64))
    }

    fn new_planted(&mut self, within: PlantedField, planted: &Planted) -> ObjectId {
        let Planted { family, trace, .. } = planted.clone();
        let object = self.add_object(|base| Object { base, family, trace, assumed: true });
        self.planted_in.push(PlantedIn { within, object });
        object
    }

    /// The value that pointed to a struct in which an object was planted.
    pub fn pointer_to_planted(&self, owner: Base) -> Option<ValueId> {
        self.planted_in.iter().map(|p| p.within).find(|w| w.owner == owner).map(|w| w.pointer)
    }

    /// The value that pointed to an element in which an object was planted.
    pub fn pointer_to_element(&self, cell: Cell) -> Option<ValueId> {
        self.planted_elements.iter().find(|p| p.cell == cell).map(|p| p.element)
    }

    /// Whether a struct holds a planted object: every such struct has one of its own.
    pub(crate) fn is_planted_in(&self, base: Base) -> bool {
        self.planted_in.iter().any(|p| p.within.owner == base)
    }

    /// Whether a field is taken to be full: what it held is lost when it is given something else.
    pub(crate) fn is_always_full(&self, (base, slot): Cell) -> bool {
        let fields = self.planted_in.iter().map(|p| p.within);
        fields
            .filter(|w| matches!(w.replaced, Replaced::Probable | Replaced::Certain))
            .any(|w| (w.owner, Slot::At(w.offset)) == (base, slot))
    }

    /// Where planted objects are lost because their struct is released, or their field given another; and where those
    /// are that were taken out of somewhere.
    pub fn planted_candidates(&mut self, keeps_locals: bool) -> Vec<Candidate> {
        let all = self.candidates(false);
        let (mut list, others): (Vec<Candidate>, Vec<Candidate>) =
            all.into_iter().partition(|c| self.is_handed_over(c.object));
        if keeps_locals && !list.is_empty() {
            list = self.candidates(true);
            list.retain(|c| self.is_handed_over(c.object));
        }
        for mut candidate in others {
            let lost = self.lost_by_holder(&candidate);
            candidate.condition = self.terms.and2(candidate.condition, lost);
            if candidate.condition != Terms::FALSE {
                list.push(candidate);
            }
        }
        list
    }

    /// Whether another place that outlives the function refers to the object on some path.
    fn is_ever_elsewhere(&mut self, object: ObjectId, planted: Cell) -> bool {
        let base = self.objects[object.0 as usize].base;
        let exits = self.exits.iter().flat_map(|e| e.state.mem.iter());
        let others = exits.filter(|&(&cell, &value)| {
            cell != planted && cell.1.is_contents() && self.terms.has_addr(value)
        });
        let others: Vec<(Base, Term)> =
            others.map(|(&(holder, _), &value)| (holder, value)).collect();
        others.into_iter().any(|(holder, value)| {
            !matches!(self.kind(holder), BaseKind::Var(_)) && self.all_bases(value).contains(&base)
        })
    }

    /// Whether the function releases the object on some path: when it does not, it has its reasons.
    fn is_ever_released(&self, object: ObjectId) -> bool {
        let base = self.objects[object.0 as usize].base;
        self.exits.iter().any(|e| e.state.fact(base, Slot::Freed) != Terms::FALSE)
    }

    /// Under which condition what holds a planted object loses it.
    fn lost_by_holder(&mut self, candidate: &Candidate) -> Term {
        let object = candidate.object;
        if self.nodes.contains(&object) {
            return self.cut_out(object);
        }
        let state = self.exits[candidate.exit].state.clone();
        if let Some(planted) = self.planted_elements.iter().find(|p| p.object == object).copied() {
            let replaced = self.replaced_here(object, planted.cell);
            let popped = self.popped(&state, planted.place);
            return self.terms.or2(replaced, popped);
        }
        let Some(planted) = self.planted_in.iter().find(|p| p.object == object).copied() else {
            return Terms::FALSE;
        };
        let PlantedField { owner, offset, replaced, .. } = planted.within;
        let is_moved = replaced == Replaced::OneOfMany
            && self.is_ever_elsewhere(object, (owner, Slot::At(offset)));
        let by_owner = match is_moved || self.is_ever_released(object) {
            true => Terms::FALSE,
            false => self.lost_by_owner(&state, planted),
        };
        match replaced {
            Replaced::Probable => {
                let replaced = self.replaced_here(object, (owner, Slot::At(offset)));
                self.terms.or2(by_owner, replaced)
            }
            _ => by_owner,
        }
    }

    /// The struct is released, and its field still holds the object; or the other way round, where
    /// fields are never empty.
    fn lost_by_owner(&mut self, state: &State, planted: PlantedIn) -> Term {
        let pointer = self.terms.addr(self.objects[planted.object.0 as usize].base, 0);
        let PlantedField { owner, offset, replaced, .. } = planted.within;
        let held = self.read(state, owner, Slot::At(offset), 64);
        let still = self.terms.eq(held, pointer);
        let freed = state.fact(owner, Slot::Freed);
        let with_it = self.terms.and2(freed, still);
        if replaced != Replaced::Certain {
            return with_it;
        }
        let (kept, replaced) = (self.terms.not(freed), self.terms.not(still));
        let without_it = self.terms.and2(kept, replaced);
        self.terms.or2(with_it, without_it)
    }
}
