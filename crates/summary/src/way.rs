//! The ways out of a function: its exits, split where callers could tell the difference.
//!
//! Paths that join before an exit leave one exit whose result and facts depend on conditions. A
//! way decides them, so that what one path did stays together in the outcome that it becomes.

use crate::exec::Exec;
use crate::result::Answered;
use crate::state::{Cell, State};
use crate::vocabulary::{BaseKind, Slot};
use leakproof_guard::{Assumption, Node, Term, Terms};

/// How often the exits of a function are split before its outcomes are told apart, by what they
/// return and by what becomes of objects, and how many terms that may take.
const MAX_SPLITS_BY_RESULT: usize = 16;
const MAX_SPLITS_BY_FACT: usize = 8;
const MAX_TERMS_OF_SPLITS: usize = 50_000;

/// An exit, or a part of one.
pub(crate) struct Way {
    pub state: State,
    pub value: Option<Term>,
    /// What its path says about the value.
    pub answers: Vec<Answered>,
    /// What follows from its path about inputs.
    pub inputs: Vec<Term>,
}

impl Exec<'_> {
    /// The exits, split by what they return, then where it depends on the path what happened to an
    /// object: so a release stays together with what the same path did to the pointers.
    pub(crate) fn settled_ways(&mut self) -> Vec<Way> {
        let most = self.terms.len() + MAX_TERMS_OF_SPLITS;
        let exits: Vec<Way> = (0..self.exits.len()).map(|i| self.way_to_exit(i)).collect();
        let by_null: Vec<Way> =
            exits.into_iter().flat_map(|way| self.with_and_without_result(way)).collect();
        let by_result = self.split(by_null, (MAX_SPLITS_BY_RESULT, most), |exec, way| {
            way.value.and_then(|v| exec.choice_of(v))
        });
        let settled: Vec<Way> =
            by_result.into_iter().filter_map(|way| self.settled_way(way)).collect();
        self.split(settled, (MAX_SPLITS_BY_FACT, most), |exec, way| exec.undecided_fact(&way.state))
    }

    /// Ways split by a part of a condition as long as there is one, so often and up to so many
    /// terms.
    fn split(
        &mut self,
        mut work: Vec<Way>,
        (times, terms): (usize, usize),
        condition: impl Fn(&Self, &Way) -> Option<Term>,
    ) -> Vec<Way> {
        work.reverse();
        let (mut done, mut left) = (Vec::new(), times);
        while let Some(way) = work.pop() {
            let open = condition(self, &way).filter(|_| left > 0 && self.terms.len() < terms);
            match open.and_then(|t| self.smallest_atom(t)) {
                Some(atom) => {
                    left -= 1;
                    let cases = [false, true].map(|truth| self.case_of(&way, atom, truth));
                    work.extend(cases.into_iter().flatten());
                }
                None => done.push(way),
            }
        }
        done
    }

    fn way_to_exit(&mut self, exit: usize) -> Way {
        let state = self.exits[exit].state.clone();
        let answers = self.answers(state.pc, self.exits[exit].value);
        let value = self.exits[exit].value.map(|v| self.known_result(&state, v));
        let state = self.without_unmade(state);
        let state = self.without_unreached(state, value);
        Way { state: self.without_locals(state), value, answers, inputs: Vec::new() }
    }

    /// A way as far as a pointer is returned, and as far as null is: that is what callers ask first. Where the answer
    /// takes many conditions, splitting by one after the other would not get so far.
    fn with_and_without_result(&mut self, way: Way) -> Vec<Way> {
        let is_choice = |t: Term| matches!(self.terms.node(t), Node::Ite { .. } | Node::Any(_));
        let is_pointer = |t: Term| self.terms.bits(t) == 64 && self.terms.has_addr(t);
        let Some(value) = way.value.filter(|&v| is_pointer(v) && is_choice(v)) else {
            return vec![way];
        };
        let null = self.terms.is_null(value);
        if matches!(null, Terms::TRUE | Terms::FALSE) {
            return vec![way];
        }
        let there = self.terms.not(null);
        let cases = [(null, Terms::NULL), (there, self.never_null(value))];
        let split = cases.into_iter().filter_map(|(literal, known)| {
            let pc = self.pcs.extend(&mut self.terms, way.state.pc, literal)?;
            let mut state = State { pc, mem: way.state.mem.clone() };
            // What is kept elsewhere as well stays the same as what is returned.
            for (cell, _) in way.state.mem.iter().filter(|(_, t)| **t == value) {
                state.mem.insert(*cell, known);
            }
            let state = self.without_unreached(state, Some(known));
            let (answers, inputs) = (way.answers.clone(), way.inputs.clone());
            Some(Way { state, value: Some(known), answers, inputs })
        });
        split.collect()
    }

    /// What no caller can see does not tell ways apart.
    fn without_locals(&self, mut state: State) -> State {
        let is_local = |base| matches!(self.kind(base), BaseKind::Var(_) | BaseKind::Slot(_));
        let local: Vec<Cell> = state.mem.keys().filter(|c| is_local(c.0)).copied().collect();
        for cell in local {
            state.mem.remove(&cell);
        }
        state
    }

    fn settled_way(&mut self, way: Way) -> Option<Way> {
        let (state, inputs) = self.settled(way.state)?;
        let state = self.without_unreached(state, way.value);
        Some(Way { state, inputs, ..way })
    }

    /// A condition on which it depends what became of an object.
    fn undecided_fact(&self, state: &State) -> Option<Term> {
        let facts = state.mem.iter().filter(|((base, slot), t)| {
            matches!(slot, Slot::Live | Slot::Freed)
                && self.concerns_callers(*base)
                && !matches!(**t, Terms::TRUE | Terms::FALSE)
        });
        facts.map(|(_, &t)| t).min_by_key(|&t| (self.terms.size(t), t))
    }

    /// The condition of a choice between results that callers can tell apart.
    fn choice_of(&self, value: Term) -> Option<Term> {
        match *self.terms.node(value) {
            Node::Ite { cond, then, otherwise } => {
                let kinds = [then, otherwise].map(|t| self.returned_kind(Some(t)));
                (self.terms.has_addr(value) || kinds[0] != kinds[1]).then_some(cond)
            }
            _ => None,
        }
    }

    fn smallest_atom(&self, t: Term) -> Option<Term> {
        let mut at = t;
        loop {
            at = match self.terms.node(at) {
                Node::Not(x) => *x,
                Node::And(items) | Node::Or(items) => {
                    items.iter().copied().min_by_key(|&t| (self.terms.size(t), t))?
                }
                _ => return Some(at),
            };
        }
    }

    /// A way as far as a condition holds, or does not; none when its path rules that out.
    fn case_of(&mut self, way: &Way, atom: Term, truth: bool) -> Option<Way> {
        let literal = if truth { atom } else { self.terms.not(atom) };
        let pc = self.pcs.extend(&mut self.terms, way.state.pc, literal)?;
        let mut given = Assumption::new(&self.terms, atom, truth);
        let mut state = State { pc, mem: way.state.mem.clone() };
        for (cell, &t) in &way.state.mem {
            let new = self.terms.assuming(t, &mut given);
            if new != t {
                state.mem.insert(*cell, new);
            }
        }
        let value = way.value.map(|v| self.terms.assuming(v, &mut given));
        let state = self.without_unreached(state, value);
        Some(Way { state, value, answers: way.answers.clone(), inputs: way.inputs.clone() })
    }
}
