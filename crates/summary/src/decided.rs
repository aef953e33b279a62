//! What the path to an exit says about the objects and pointers there.
//!
//! Callers are told outcomes, not paths. A fact that the path rules out must go before: a message
//! that is set only on failure would otherwise be there on success as well.

use crate::exec::Exec;
use crate::outcome::MAX_WIDTH;
use crate::state::{Cell, State};
use crate::vocabulary::{Slot, SymKind};
use leakproof_guard::{Assumption, Node, Term, Terms, Units, necessary};
use rustc_hash::FxHashMap;

/// Choices inside a value that count with the path.
const MAX_STEPS: usize = 4;

/// Conditions on inputs that are told with the existence of an object.
const MAX_NEEDED: usize = 4;

/// Questions about one path.
struct Path {
    units: Units,
    /// What was chosen on the way to the alternative that is looked at.
    chosen: Vec<Term>,
    known: FxHashMap<(Vec<Term>, Term), Term>,
}

impl Exec<'_> {
    /// The state with facts and pointers that its own path decides, since the path is not told to callers, and what the
    /// path says about inputs; none when it contradicts itself.
    pub(crate) fn settled(&mut self, mut state: State) -> Option<(State, Vec<Term>)> {
        let formula = self.pcs.formula(&mut self.terms, state.pc);
        let mut given = Assumption::all(&necessary(&self.terms, formula));
        let mut units = Units::default();
        for t in self.pcs.path(state.pc) {
            units.assume(&self.terms, t);
        }
        if units.is_contradiction() {
            return None;
        }
        let inputs = self.short_inputs(units.known_atoms());
        let mut path = Path { units, chosen: Vec::new(), known: FxHashMap::default() };
        let cells: Vec<(Cell, Term)> = state.mem.iter().map(|(c, t)| (*c, *t)).collect();
        for ((base, slot), t) in cells {
            let simpler = self.terms.assuming(t, &mut given);
            let simpler = match slot {
                Slot::Live | Slot::Freed | Slot::Escaped => {
                    let simpler = self.pcs.simplify(&mut self.terms, state.pc, simpler);
                    match slot {
                        _ if !self.concerns_callers(base) => simpler,
                        Slot::Live => {
                            let decided = self.decided_by_cases(&mut path, simpler);
                            self.with_needed_inputs(&mut path, decided)
                        }
                        _ => self.decided(&mut path, simpler),
                    }
                }
                _ if slot.is_contents() && self.terms.has_addr(simpler) => {
                    let pruned = self.pruned(&state, simpler);
                    self.decided_choice(&mut path, pruned)
                }
                _ => simpler,
            };
            if simpler != t {
                state.mem.insert((base, slot), simpler);
            }
        }
        Some((state, inputs))
    }

    /// A condition, or false when the path rules it out in every case: dear, and asked only about what exists.
    fn decided_by_cases(&mut self, path: &mut Path, t: Term) -> Term {
        match self.decided(path, t) {
            decided @ (Terms::TRUE | Terms::FALSE) => decided,
            open if path.units.rules_out_by_cases(&self.terms, open) => Terms::FALSE,
            open => open,
        }
    }

    /// A condition with what it needs of the inputs on this path, since the path is not told: what is made only on
    /// request, or only the first time, callers know not to get.
    fn with_needed_inputs(&mut self, path: &mut Path, t: Term) -> Term {
        if matches!(t, Terms::TRUE | Terms::FALSE) {
            return t;
        }
        let consequences = path.units.consequences(&self.terms, t);
        let needed = self.short_inputs(consequences);
        let parts: Vec<Term> = needed.into_iter().take(MAX_NEEDED).chain([t]).collect();
        self.terms.and(parts)
    }

    /// What a cell that callers know held before, if that is among the values that it may hold now.
    pub(crate) fn entry_value_in(&self, t: Term, (base, slot): Cell) -> Option<Term> {
        if !matches!(self.terms.node(t), Node::Ite { .. }) || self.terms.width(t) > MAX_WIDTH {
            return None;
        }
        self.terms.alternatives(t).into_iter().find(|&v| self.is_entry_value(v, (base, slot)))
    }

    /// Whether a value is what the cell held when the function was called.
    pub(crate) fn is_entry_value(&self, t: Term, (base, slot): Cell) -> bool {
        let Node::Sym(s) = *self.terms.node(t) else { return false };
        self.sym_kinds[s.0 as usize] == SymKind::Init { base, slot, epoch: Terms::NULL }
    }

    /// The condition under which a choice is one of its alternatives.
    pub(crate) fn where_equal(
        &mut self,
        t: Term,
        value: Term,
        done: &mut FxHashMap<Term, Term>,
    ) -> Term {
        let Node::Ite { cond, then, otherwise } = *self.terms.node(t) else {
            return if t == value { Terms::TRUE } else { Terms::FALSE };
        };
        if let Some(&known) = done.get(&t) {
            return known;
        }
        let a = self.where_equal(then, value, done);
        let b = self.where_equal(otherwise, value, done);
        let either = self.terms.ite(cond, a, b);
        done.insert(t, either);
        either
    }

    /// A condition, or what the path makes of it.
    fn decided(&mut self, path: &mut Path, t: Term) -> Term {
        if matches!(self.terms.node(t), Node::Bool(_)) {
            return t;
        }
        let key = (path.chosen.clone(), t);
        if let Some(&answer) = path.known.get(&key) {
            return answer;
        }
        let not = self.terms.not(t);
        let answer = if path.units.rules_out(&self.terms, t) {
            Terms::FALSE
        } else if path.units.rules_out(&self.terms, not) {
            Terms::TRUE
        } else {
            t
        };
        path.known.insert(key, answer);
        answer
    }

    /// A value without the alternatives that the path rules out. On the first so many steps, what was chosen on
    /// the way to an alternative counts with the path: `p == NULL || q` says something of `q` where `p` is not null.
    fn decided_choice(&mut self, path: &mut Path, t: Term) -> Term {
        let Node::Ite { cond, then, otherwise } = *self.terms.node(t) else { return t };
        let key = (path.chosen.clone(), t);
        if let Some(&answer) = path.known.get(&key) {
            return answer;
        }
        let answer = match self.decided(path, cond) {
            Terms::TRUE => self.decided_choice(path, then),
            Terms::FALSE => self.decided_choice(path, otherwise),
            c => {
                let not_c = self.terms.not(c);
                let a = self.decided_where(path, c, then);
                let b = self.decided_where(path, not_c, otherwise);
                self.terms.ite(c, a, b)
            }
        };
        path.known.insert(key, answer);
        answer
    }

    fn decided_where(&mut self, path: &mut Path, chosen: Term, t: Term) -> Term {
        if path.chosen.len() >= MAX_STEPS {
            return self.decided_choice(path, t);
        }
        let mark = path.units.mark();
        path.units.assume(&self.terms, chosen);
        path.chosen.push(chosen);
        let answer = self.decided_choice(path, t);
        path.chosen.pop();
        path.units.forget(mark);
        answer
    }
}
