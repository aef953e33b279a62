//! What the path to an exit says about the objects and pointers there.
//!
//! Callers are told outcomes, not paths. A fact that the path rules out must go before: a message
//! that is set only on failure would otherwise be there on success as well.

use crate::exec::Exec;
use crate::outcome::MAX_WIDTH;
use crate::state::{Cell, State};
use crate::vocabulary::{BaseKind, Slot, SymKind};
use leakproof_guard::{Assumption, Node, Term, Terms, Units, necessary};
use rustc_hash::FxHashMap;

/// Choices inside a value that count with the path.
const MAX_STEPS: usize = 4;

/// Alternatives of a number that the path may decide.
const MAX_STATUS: u32 = 16;

/// Conditions on inputs that are told with the existence of an object.
const MAX_NEEDED: usize = 4;

/// Questions about one path.
#[derive(Default)]
struct Path {
    units: Units,
    /// What was chosen on the way to the alternative that is looked at: the number of each list of choices that
    /// this one begins with.
    chosen: Vec<u32>,
    /// The number of a list of choices, by that of the list without the last one, and the last one. That of the
    /// empty list is zero.
    choices: FxHashMap<(u32, Term), u32>,
    /// Answers, by the number of what was chosen.
    known: FxHashMap<(u32, Term), Term>,
}

impl Path {
    /// What an answer about a term depends on.
    fn key(&self, t: Term) -> (u32, Term) {
        (self.chosen.last().copied().unwrap_or(0), t)
    }

    fn choose(&mut self, chosen: Term) {
        let (key, next) = (self.key(chosen), self.choices.len() as u32 + 1);
        let number = *self.choices.entry(key).or_insert(next);
        self.chosen.push(number);
    }
}

impl Exec<'_> {
    /// The state with facts and pointers that its own path decides, since the path is not told to callers, and what the
    /// path says about inputs; none when it contradicts itself.
    pub(crate) fn settled(&mut self, state: State) -> Option<(State, Vec<Term>)> {
        let formula = self.pcs.formula(&mut self.terms, state.pc);
        let mut path = Path { units: std::mem::take(&mut self.units), ..Path::default() };
        path.units.clear();
        for t in self.pcs.path(state.pc) {
            path.units.assume(&self.terms, t);
        }
        path.units.ask_from_here();
        let settled = (!path.units.is_contradiction()).then(|| {
            let given = Assumption::all(&necessary(&self.terms, formula));
            self.settled_on(&mut path, given, state)
        });
        self.units = path.units;
        settled
    }

    fn settled_on(
        &mut self,
        path: &mut Path,
        mut given: Assumption,
        mut state: State,
    ) -> (State, Vec<Term>) {
        let inputs = self.short_inputs(path.units.known_atoms());
        let cells: Vec<(Cell, Term)> = state.mem.iter().map(|(c, t)| (*c, *t)).collect();
        for ((base, slot), t) in cells {
            let simpler = self.terms.assuming(t, &mut given);
            let simpler = match slot {
                Slot::Live | Slot::Freed | Slot::Escaped => {
                    let simpler = self.pcs.simplify(&mut self.terms, state.pc, simpler);
                    match slot {
                        _ if !self.concerns_callers(base) => simpler,
                        Slot::Live => self.decided_existence(path, simpler),
                        _ => self.decided(path, simpler),
                    }
                }
                _ if slot.is_contents()
                    && (self.terms.has_addr(simpler)
                        || self.is_told_status((base, slot), simpler)) =>
                {
                    let pruned = self.pruned(&state, simpler);
                    self.decided_choice(path, pruned)
                }
                _ => simpler,
            };
            if simpler != t {
                state.mem.insert((base, slot), simpler);
            }
        }
        (state, inputs)
    }

    /// Whether a value is a choice between few numbers that is left with the callers, or what they had there: how it went.
    fn is_told_status(&self, cell: Cell, t: Term) -> bool {
        let is_known = |v: Term| self.terms.as_int(v).is_some() || self.is_entry_value(v, cell);
        matches!(self.terms.node(t), Node::Ite { .. })
            && self.terms.width(t) <= MAX_STATUS
            && matches!(self.kind(cell.0), BaseKind::Pointee | BaseKind::Global(_))
            && self.terms.alternatives(t).into_iter().all(is_known)
    }

    /// The condition under which something exists, or false when the path rules it out in every case: dear, and asked
    /// only about this. With it goes what it needs of the inputs on this path, since the path is not told: what is made
    /// only on request, or only the first time, callers know not to get.
    fn decided_existence(&mut self, path: &mut Path, t: Term) -> Term {
        let open = match self.decided(path, t) {
            decided @ (Terms::TRUE | Terms::FALSE) => return decided,
            open => open,
        };
        let Some(consequences) = path.units.consequences(&self.terms, open) else {
            return Terms::FALSE;
        };
        let needed = self.short_inputs(consequences);
        let parts: Vec<Term> = needed.into_iter().take(MAX_NEEDED).chain([open]).collect();
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
        let key = path.key(t);
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
        let key = path.key(t);
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
        path.choose(chosen);
        let answer = self.decided_choice(path, t);
        path.chosen.pop();
        path.units.forget(mark);
        answer
    }
}
