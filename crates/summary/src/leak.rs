//! The question at every exit: which objects exist, are not released, and nobody can reach?
//!
//! In: the states at the exits. Out: candidates, each with the one condition under which the
//! object leaks there. A condition that is already false ends as clean with no solver asked.

use crate::exec::Exec;
use crate::memory::Leaves;
use crate::state::State;
use crate::vocabulary::{BaseKind, ObjectId, Slot};
use leakproof_guard::{Base, Node, Term, Terms};
use rustc_hash::FxHashMap;

/// An object that may leak at an exit.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub object: ObjectId,
    /// Index into `Exec::exits`.
    pub exit: usize,
    pub condition: Term,
}

/// How often the condition of one object is widened before it is taken as held for good.
const MAX_UPDATES: u32 = 4;

impl Exec<'_> {
    /// Candidates at all exits. `keeps_locals`: references in locals count (`main` returning).
    pub fn candidates(&mut self, keeps_locals: bool) -> Vec<Candidate> {
        let mut list = Vec::new();
        for exit in 0..self.exits.len() {
            self.candidates_at(exit, keeps_locals, &mut list);
        }
        list
    }

    fn candidates_at(&mut self, exit: usize, keeps_locals: bool, list: &mut Vec<Candidate>) {
        let state = self.exits[exit].state.clone();
        let open: Vec<(ObjectId, Term)> = (0..self.objects.len())
            .filter_map(|i| {
                let cond = self.unreleased(&state, self.objects[i].base);
                (cond != Terms::FALSE).then_some((ObjectId(i as u32), cond))
            })
            .collect();
        if open.is_empty() {
            return;
        }
        let held = self.held_objects(&state, self.exits[exit].value, keeps_locals);
        let owners = self.owners(&state, &open);
        let path = self.pcs.formula(&mut self.terms, state.pc);
        for &(object, unreleased) in &open {
            let held = held.get(&object).copied().unwrap_or(Terms::FALSE);
            let owned = owners.get(&object).copied().unwrap_or(Terms::FALSE);
            let reachable = self.terms.or2(held, owned);
            let reachable = self.pcs.simplify(&mut self.terms, state.pc, reachable);
            let lost = self.terms.not(reachable);
            let leaks = self.terms.and2(unreleased, lost);
            let condition = self.terms.and2(path, leaks);
            if condition != Terms::FALSE {
                list.push(Candidate { object, exit, condition });
                self.settle(exit, object, leaks);
            }
        }
    }

    /// What leaks here is not the caller's concern any more.
    fn settle(&mut self, exit: usize, object: ObjectId, leaks: Term) {
        let cell = (self.objects[object.0 as usize].base, Slot::Escaped);
        let state = &mut self.exits[exit].state;
        let old = state.fact(cell.0, cell.1);
        let settled = self.terms.or2(old, leaks);
        state.mem.insert(cell, settled);
    }

    /// Exists, is not released, has not escaped.
    fn unreleased(&mut self, state: &State, base: Base) -> Term {
        let live = state.fact(base, Slot::Live);
        if live == Terms::FALSE {
            return Terms::FALSE;
        }
        let (freed, escaped) = (state.fact(base, Slot::Freed), state.fact(base, Slot::Escaped));
        let gone = self.terms.or2(freed, escaped);
        let gone = self.for_some_element(gone, base, true);
        let here = self.terms.not(gone);
        let cond = self.terms.and2(live, here);
        self.pcs.simplify(&mut self.terms, state.pc, cond)
    }

    /// A condition about "some element" of an array that holds the object, taken to hold in the
    /// turn of the loop in which it is this object's.
    fn for_some_element(&mut self, t: Term, base: Base, wanted: bool) -> Term {
        match self.terms.node(t).clone() {
            Node::Not(x) => {
                let inner = self.for_some_element(x, base, !wanted);
                self.terms.not(inner)
            }
            Node::And(items) => {
                let items: Vec<Term> =
                    items.iter().map(|&i| self.for_some_element(i, base, wanted)).collect();
                self.terms.and(items)
            }
            Node::Or(items) => {
                let items: Vec<Term> =
                    items.iter().map(|&i| self.for_some_element(i, base, wanted)).collect();
                self.terms.or(items)
            }
            Node::Cmp { lhs, rhs, .. } => {
                let about_it = [lhs, rhs].into_iter().any(|side| {
                    matches!(self.terms.node(side), Node::Any(_))
                        && self.all_bases(side).contains(&base)
                });
                if about_it { Terms::bool(wanted) } else { t }
            }
            _ => t,
        }
    }

    /// Under which condition each object is reachable from outside.
    fn held_objects(
        &mut self,
        state: &State,
        value: Option<Term>,
        keeps_locals: bool,
    ) -> FxHashMap<ObjectId, Term> {
        let mut work: Vec<(Term, Term)> = self.outside_holders(state, keeps_locals);
        work.extend(value.map(|v| (v, Terms::TRUE)));
        let mut held: FxHashMap<Base, (Term, u32)> = FxHashMap::default();
        while let Some((t, cond)) = work.pop() {
            for (base, when) in self.targets(state, t) {
                if !matches!(self.kind(base), BaseKind::Heap(_) | BaseKind::Slot(_)) {
                    continue;
                }
                let when = self.terms.and2(cond, when);
                let (old, updates) = held.get(&base).copied().unwrap_or((Terms::FALSE, 0));
                let mut new = self.terms.or2(old, when);
                if updates >= MAX_UPDATES {
                    new = Terms::TRUE;
                }
                if new == old {
                    continue;
                }
                held.insert(base, (new, updates + 1));
                let freed = state.fact(base, Slot::Freed);
                let alive = self.terms.not(freed);
                let through = self.terms.and2(new, alive);
                if through != Terms::FALSE {
                    work.extend(self.pointers_in(state, base).into_iter().map(|v| (v, through)));
                }
            }
        }
        let objects = held.into_iter().filter_map(|(b, (t, _))| Some((self.object_of(b)?, t)));
        objects.collect()
    }

    fn pointers_in(&self, state: &State, base: Base) -> Vec<Term> {
        let contents = state.contents_of(base).map(|(_, t)| t);
        contents.filter(|&t| self.terms.has_addr(t)).collect()
    }

    /// Values in cells that outlive the function, with the condition under which they do.
    fn outside_holders(&mut self, state: &State, keeps_locals: bool) -> Vec<(Term, Term)> {
        let mut list = Vec::new();
        for (&(base, slot), &value) in &state.mem {
            let kind = self.kind(base);
            if !slot.is_contents() && slot != Slot::Escaped {
                continue;
            }
            let cond = match kind {
                BaseKind::Global(_) | BaseKind::VarArgs => Terms::TRUE,
                BaseKind::Pointee => {
                    let freed = state.fact(base, Slot::Freed);
                    self.terms.not(freed)
                }
                BaseKind::Slot(_) if keeps_locals => Terms::TRUE,
                BaseKind::Var(_) if keeps_locals => Terms::TRUE,
                BaseKind::Slot(_) | BaseKind::Heap(_) => state.fact(base, Slot::Escaped),
                _ => Terms::FALSE,
            };
            if slot.is_contents() && cond != Terms::FALSE && self.terms.has_addr(value) {
                list.push((value, cond));
            }
        }
        list
    }

    /// Objects held by another object that leaks itself: only the owner is reported.
    fn owners(&mut self, state: &State, open: &[(ObjectId, Term)]) -> FxHashMap<ObjectId, Term> {
        let mut owned: FxHashMap<ObjectId, Term> = FxHashMap::default();
        for &(owner, alive) in open {
            let base = self.objects[owner.0 as usize].base;
            for value in self.pointers_in(state, base) {
                for (target, when) in self.targets(state, value) {
                    let Some(o) = self.object_of(target) else { continue };
                    // In a cycle the oldest object is the one that is reported.
                    if o == owner || (o < owner && self.reaches(state, o, owner)) {
                        continue;
                    }
                    let cond = self.terms.and2(alive, when);
                    let old = owned.get(&o).copied().unwrap_or(Terms::FALSE);
                    let both = self.terms.or2(old, cond);
                    owned.insert(o, both);
                }
            }
        }
        owned
    }

    fn reaches(&mut self, state: &State, from: ObjectId, to: ObjectId) -> bool {
        let mut seen = vec![from];
        let mut work = vec![from];
        while let Some(o) = work.pop() {
            if o == to {
                return true;
            }
            let base = self.objects[o.0 as usize].base;
            for value in self.pointers_in(state, base) {
                for (b, _) in self.targets(state, value) {
                    if let Some(next) = self.object_of(b).filter(|n| !seen.contains(n)) {
                        seen.push(next);
                        work.push(next);
                    }
                }
            }
        }
        false
    }

    /// Bases that a value refers to, with the condition for each.
    fn targets(&mut self, state: &State, t: Term) -> Vec<(Base, Term)> {
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
