//! Who outlives a function and refers to an object: under which condition each object is reachable from outside.
//!
//! References go from cells that outlive the function over objects to others, in circles too. Each object is held under
//! the condition of some way without a circle, so circles are taken apart one member after the other, as
//! unknowns are in a system of equations.

use crate::circles::circles_of;
use crate::exec::Exec;
use crate::memory::Leaves;
use crate::state::State;
use crate::vocabulary::{BaseKind, ObjectId, Slot};
use leakproof_guard::{Base, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which variables of the function count as references.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Locals {
    None,
    /// Those whose address somebody may have.
    InMemory,
    All,
}

/// A condition of being held that is larger than this, and has more different parts, is taken as true.
const MAX_HELD_CONDITION: u32 = 40_000;
const MAX_HELD_PARTS: u32 = 600;
/// The members of larger circles count as held where any of them is.
const MAX_CIRCLE: usize = 16;

/// What refers to something: what a cell holds, or the result of the function.
#[derive(Clone, Copy)]
struct Holder {
    is_cell: bool,
    value: Term,
}

/// What leads to an object, directly and over others.
#[derive(Default)]
struct References {
    /// The condition under which something outside refers to it.
    from_outside: FxHashMap<Base, Term>,
    between: FxHashMap<(Base, Base), Term>,
    /// In the order in which they were found.
    found: Vec<Base>,
}

impl Exec<'_> {
    /// Under which condition each object is reachable from outside.
    pub(crate) fn held_objects(
        &mut self,
        exit: usize,
        keeps_locals: bool,
        leads: &FxHashSet<Base>,
    ) -> FxHashMap<ObjectId, Term> {
        let references = self.references_at(exit, keeps_locals, leads);
        let held = self.held_over(&references);
        held.into_iter().filter_map(|(b, t)| Some((self.object_of(b)?, t))).collect()
    }

    fn references_at(
        &mut self,
        exit: usize,
        keeps_locals: bool,
        leads: &FxHashSet<Base>,
    ) -> References {
        let state = &self.exits[exit].state.clone();
        let keeps = match self.exits[exit].endless() {
            Some(_) => Locals::InMemory,
            None if keeps_locals => Locals::All,
            None => Locals::None,
        };
        let mut holders: Vec<(Holder, Term)> = self.outside_holders(state, keeps);
        let going_on = self.exits[exit].endless().into_iter().flat_map(|e| &e.refers);
        let values = self.exits[exit].value.iter().chain(going_on);
        holders.extend(values.map(|&v| (Holder { is_cell: false, value: v }, Terms::TRUE)));
        let mut references = References::default();
        for (holder, cond) in holders {
            for (base, when) in self.bases_led_to(state, holder, leads, &references) {
                let when = self.terms.and2(cond, when);
                let old = references.from_outside.get(&base).copied().unwrap_or(Terms::FALSE);
                let either = self.either_or_held(old, when);
                references.from_outside.insert(base, either);
            }
        }
        self.references_between(state, leads, &mut references);
        references
    }

    /// Follows what is referred to from outside.
    fn references_between(
        &mut self,
        state: &State,
        leads: &FxHashSet<Base>,
        references: &mut References,
    ) {
        let mut work: Vec<Base> = references.from_outside.keys().copied().collect();
        work.sort_unstable();
        let mut seen: FxHashSet<Base> = work.iter().copied().collect();
        while let Some(base) = work.pop() {
            references.found.push(base);
            let freed = state.fact(base, Slot::Freed);
            let alive = self.terms.not(freed);
            if alive == Terms::FALSE {
                continue;
            }
            for value in self.pointers_in(state, base) {
                let holder = Holder { is_cell: true, value };
                for (to, when) in self.bases_led_to(state, holder, leads, references) {
                    if to == base {
                        continue;
                    }
                    let when = self.terms.and2(alive, when);
                    let old = references.between.get(&(base, to)).copied().unwrap_or(Terms::FALSE);
                    let either = self.terms.or2(old, when);
                    references.between.insert((base, to), either);
                    if seen.insert(to) {
                        work.push(to);
                    }
                }
            }
        }
    }

    /// The bases that a value refers to, of those that lead to an object in question and are not held anyway. Most values
    /// lead nowhere: where each of them points to is not worked out.
    fn bases_led_to(
        &mut self,
        state: &State,
        holder: Holder,
        leads: &FxHashSet<Base>,
        references: &References,
    ) -> Vec<(Base, Term)> {
        let is_asked = |base: &Base| {
            leads.contains(base) && references.from_outside.get(base) != Some(&Terms::TRUE)
        };
        if !self.all_bases(holder.value).iter().any(is_asked) {
            return Vec::new();
        }
        let mut targets = match holder.is_cell {
            true => self.targets_of_cell(state, holder.value),
            false => self.targets(state, holder.value),
        };
        targets.retain(|(base, _)| is_asked(base));
        targets
    }

    /// Under which condition each base is held: whoever comes first in the order of references first.
    fn held_over(&mut self, references: &References) -> FxHashMap<Base, Term> {
        let mut pairs: Vec<(Base, Base)> = references.between.keys().copied().collect();
        pairs.sort_unstable();
        let circles = circles_of(pairs.into_iter());
        let mut ordered: Vec<(usize, Base)> = references
            .found
            .iter()
            .map(|b| (circles.get(b).map_or(0, |number| number + 1), *b))
            .collect();
        ordered.sort_unstable();
        let mut into: FxHashMap<Base, Vec<(Base, Term)>> = FxHashMap::default();
        for (&(from, to), &when) in &references.between {
            into.entry(to).or_default().push((from, when));
        }
        into.values_mut().for_each(|list| list.sort_unstable());
        let mut held: FxHashMap<Base, Term> = FxHashMap::default();
        // What nothing leads on from has no number, and is in no circle.
        let in_one_circle = |a: &(usize, Base), b: &(usize, Base)| a.0 == b.0 && a.0 > 0;
        for circle in ordered.chunk_by(in_one_circle) {
            let members: Vec<Base> = circle.iter().map(|(_, b)| *b).collect();
            let entered: Vec<Term> =
                members.iter().map(|b| self.entered(*b, references, &into, &held)).collect();
            let solved = self.held_in_circle(&members, entered, references);
            held.extend(members.into_iter().zip(solved));
        }
        held
    }

    /// Under which condition a base is referred to by what is held already.
    fn entered(
        &mut self,
        base: Base,
        references: &References,
        into: &FxHashMap<Base, Vec<(Base, Term)>>,
        held: &FxHashMap<Base, Term>,
    ) -> Term {
        let mut entered = references.from_outside.get(&base).copied().unwrap_or(Terms::FALSE);
        for (from, when) in into.get(&base).into_iter().flatten() {
            let Some(&from) = held.get(from) else { continue };
            let through = self.terms.and2(from, *when);
            entered = self.either_or_held(entered, through);
        }
        entered
    }

    /// Under which condition each member of a circle is held, by those of entering it.
    fn held_in_circle(
        &mut self,
        members: &[Base],
        mut held: Vec<Term>,
        references: &References,
    ) -> Vec<Term> {
        let count = members.len();
        if count == 1 {
            return held;
        }
        if count > MAX_CIRCLE {
            let any = self.terms.or(held);
            return vec![any; count];
        }
        let between = |from: usize, to: usize| {
            let reference = references.between.get(&(members[from], members[to]));
            reference.copied().unwrap_or(Terms::FALSE)
        };
        let mut edges: Vec<Vec<Term>> =
            (0..count).map(|i| (0..count).map(|j| between(i, j)).collect()).collect();
        // Each member in turn is left out: what leads over it leads past it from then on.
        for over in 0..count {
            for to in over + 1..count {
                let through = self.terms.and2(held[over], edges[over][to]);
                held[to] = self.either_or_held(held[to], through);
                for from in over + 1..count {
                    if from != to {
                        let way = self.terms.and2(edges[from][over], edges[over][to]);
                        edges[from][to] = self.either_or_held(edges[from][to], way);
                    }
                }
            }
        }
        // The last one is known then, and with it the one before.
        for to in (0..count).rev() {
            for from in to + 1..count {
                let through = self.terms.and2(held[from], edges[from][to]);
                held[to] = self.either_or_held(held[to], through);
            }
        }
        held
    }

    /// One of two conditions of being held, or true where that grows too large.
    fn either_or_held(&mut self, a: Term, b: Term) -> Term {
        let either = self.terms.or2(a, b);
        let is_too_large = self.terms.is_larger(either, MAX_HELD_CONDITION, MAX_HELD_PARTS);
        if is_too_large { Terms::TRUE } else { either }
    }

    /// Local bases from which an open object may be reached, itself included.
    pub(crate) fn bases_leading_to(
        &mut self,
        state: &State,
        open: &[(ObjectId, Term)],
    ) -> FxHashSet<Base> {
        let mut holders: FxHashMap<Base, Vec<Base>> = FxHashMap::default();
        for (&(base, slot), &value) in &state.mem {
            let local = matches!(self.kind(base), BaseKind::Heap(_) | BaseKind::Slot(_));
            if local && slot.is_contents() && self.terms.has_addr(value) {
                for target in self.all_bases(value) {
                    holders.entry(target).or_default().push(base);
                }
            }
        }
        let mut leads = FxHashSet::default();
        let mut work: Vec<Base> =
            open.iter().map(|(o, _)| self.objects[o.0 as usize].base).collect();
        while let Some(base) = work.pop() {
            if leads.insert(base) {
                work.extend(holders.get(&base).into_iter().flatten().copied());
            }
        }
        leads
    }

    pub(crate) fn pointers_in(&self, state: &State, base: Base) -> Vec<Term> {
        let contents = state.contents_of(base).map(|(_, t)| t);
        contents.filter(|&t| self.terms.has_addr(t)).collect()
    }

    /// Values in cells that outlive the function, with the condition under which they do.
    fn outside_holders(&mut self, state: &State, keeps: Locals) -> Vec<(Holder, Term)> {
        let mut list = Vec::new();
        let elements: FxHashSet<Base> = self.element_frees.iter().map(|f| f.base).collect();
        for (&(base, slot), &value) in &state.mem {
            if !slot.is_contents() || !self.terms.has_addr(value) {
                continue;
            }
            let cond = match self.kind(base) {
                BaseKind::Global(_) | BaseKind::VarArgs => Terms::TRUE,
                // One of the elements was released; which one holds the object is out of sight.
                BaseKind::Pointee if elements.contains(&base) && !self.is_planted_in(base) => {
                    Terms::TRUE
                }
                BaseKind::Pointee if self.is_unfinished(state, base) => Terms::FALSE,
                BaseKind::Pointee => {
                    let freed = state.fact(base, Slot::Freed);
                    let alive = self.terms.not(freed);
                    match self.alive_at_store.get(&(base, slot)) {
                        Some(&before) => self.terms.or2(alive, before),
                        None => alive,
                    }
                }
                BaseKind::Slot(_) if keeps != Locals::None => Terms::TRUE,
                BaseKind::Var(_) if keeps == Locals::All => Terms::TRUE,
                BaseKind::Slot(_) | BaseKind::Heap(_) => state.fact(base, Slot::Escaped),
                _ => Terms::FALSE,
            };
            if cond != Terms::FALSE {
                list.push((Holder { is_cell: true, value }, cond));
            }
        }
        list
    }

    /// Bases that what a cell holds refers to, with the condition for each. Where it may be one of several, it is not known on which
    /// way, but a cell holds nothing that was never stored.
    pub(crate) fn targets_of_cell(&mut self, state: &State, held: Term) -> Vec<(Base, Term)> {
        let mut targets = self.targets(state, held);
        if self.holds_any(held) {
            for (base, when) in &mut targets {
                let stored = self.where_stored(state, *base);
                *when = self.terms.and2(*when, stored);
            }
        }
        targets
    }

    /// Bases that a value refers to, with the condition for each.
    pub fn targets(&mut self, state: &State, t: Term) -> Vec<(Base, Term)> {
        match self.leaves(state, t) {
            Some(leaves) => leaves
                .iter()
                .filter_map(|l| match l.target {
                    Leaves::Cell(base, _) => Some((base, l.cond)),
                    Leaves::Int => None,
                })
                .collect(),
            None => self.all_bases(t).into_iter().map(|b| (b, Terms::TRUE)).collect(),
        }
    }
}
