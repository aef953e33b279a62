//! What the path to an exit says about the objects and pointers there.
//!
//! Callers are told outcomes, not paths. A fact that the path rules out must go before: a message
//! that is set only on failure would otherwise be there on success as well.

use crate::exec::Exec;
use crate::state::{Cell, State};
use crate::vocabulary::Slot;
use leakproof_guard::{Assumption, Node, Term, Terms, is_contradiction, necessary};
use rustc_hash::FxHashMap;

/// A condition that is larger than this together with the path is not asked about.
const MAX_QUESTION: u32 = 600;

impl Exec<'_> {
    /// The state with facts and pointers that its own path decides: the path is not told to
    /// callers.
    pub(crate) fn settled(&mut self, mut state: State) -> State {
        let path = self.pcs.formula(&mut self.terms, state.pc);
        let mut given = Assumption::all(&necessary(&self.terms, path));
        let mut known = FxHashMap::default();
        let cells: Vec<(Cell, Term)> = state.mem.iter().map(|(c, t)| (*c, *t)).collect();
        for ((base, slot), t) in cells {
            let simpler = self.terms.assuming(t, &mut given);
            let simpler = match slot {
                Slot::Live | Slot::Freed | Slot::Escaped => {
                    let simpler = self.pcs.simplify(&mut self.terms, state.pc, simpler);
                    self.decided(path, simpler, &mut known)
                }
                _ if slot.is_contents() && self.terms.has_addr(simpler) => {
                    let pruned = self.pruned(&state, simpler);
                    self.decided_pointer(path, pruned, &mut known)
                }
                _ => simpler,
            };
            if simpler != t {
                state.mem.insert((base, slot), simpler);
            }
        }
        state
    }

    /// A condition, or what the path makes of it.
    fn decided(&mut self, path: Term, t: Term, known: &mut FxHashMap<Term, Term>) -> Term {
        if matches!(self.terms.node(t), Node::Bool(_))
            || self.terms.size(path) + self.terms.size(t) > MAX_QUESTION
        {
            return t;
        }
        if let Some(&answer) = known.get(&t) {
            return answer;
        }
        let both = self.terms.and2(path, t);
        let answer = if is_contradiction(&self.terms, both) {
            Terms::FALSE
        } else {
            let not = self.terms.not(t);
            let neither = self.terms.and2(path, not);
            if is_contradiction(&self.terms, neither) { Terms::TRUE } else { t }
        };
        known.insert(t, answer);
        answer
    }

    /// A pointer without the alternatives that the path rules out.
    fn decided_pointer(&mut self, path: Term, t: Term, known: &mut FxHashMap<Term, Term>) -> Term {
        let Node::Ite { cond, then, otherwise } = *self.terms.node(t) else { return t };
        if let Some(&answer) = known.get(&t) {
            return answer;
        }
        let answer = match self.decided(path, cond, known) {
            Terms::TRUE => self.decided_pointer(path, then, known),
            Terms::FALSE => self.decided_pointer(path, otherwise, known),
            c => {
                let a = self.decided_pointer(path, then, known);
                let b = self.decided_pointer(path, otherwise, known);
                self.terms.ite(c, a, b)
            }
        };
        known.insert(t, answer);
        answer
    }
}
