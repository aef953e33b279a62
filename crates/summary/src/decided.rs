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
/// Choices inside a pointer that count with the path.
const MAX_STEPS: u32 = 4;

/// What paths make of conditions and pointers.
type Known = FxHashMap<(Term, Term), Term>;

impl Exec<'_> {
    /// The state with facts and pointers that its own path decides: the path is not told to
    /// callers.
    pub(crate) fn settled(&mut self, mut state: State) -> State {
        let path = self.pcs.formula(&mut self.terms, state.pc);
        let mut given = Assumption::all(&necessary(&self.terms, path));
        let literals = self.pcs.path(state.pc);
        let mut known = FxHashMap::default();
        let cells: Vec<(Cell, Term)> = state.mem.iter().map(|(c, t)| (*c, *t)).collect();
        for ((base, slot), t) in cells {
            let simpler = self.terms.assuming(t, &mut given);
            let simpler = match slot {
                Slot::Live | Slot::Freed | Slot::Escaped => {
                    let simpler = self.pcs.simplify(&mut self.terms, state.pc, simpler);
                    let path = self.speaking_of(simpler, &literals);
                    self.decided(path, simpler, &mut known)
                }
                _ if slot.is_contents() && self.terms.has_addr(simpler) => {
                    let pruned = self.pruned(&state, simpler);
                    let path = self.speaking_of(pruned, &literals);
                    self.decided_pointer(path, pruned, &mut known, MAX_STEPS)
                }
                _ => simpler,
            };
            if simpler != t {
                state.mem.insert((base, slot), simpler);
            }
        }
        state
    }

    /// Those literals of a path that speak of the same things as a term: the others decide nothing about it, and
    /// long paths are not asked about.
    fn speaking_of(&mut self, t: Term, literals: &[Term]) -> Term {
        let about = self.terms.mentions(t);
        let relevant = literals.iter().copied().filter(|&l| self.terms.mentions(l) & about != 0);
        let relevant: Vec<Term> = relevant.collect();
        self.terms.and(relevant)
    }

    /// A condition, or what the path makes of it.
    fn decided(&mut self, path: Term, t: Term, known: &mut Known) -> Term {
        if matches!(self.terms.node(t), Node::Bool(_))
            || self.terms.size(path) + self.terms.size(t) > MAX_QUESTION
        {
            return t;
        }
        if let Some(&answer) = known.get(&(path, t)) {
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
        known.insert((path, t), answer);
        answer
    }

    /// A pointer without the alternatives that the path rules out. On the first so many steps, what was chosen on
    /// the way to an alternative counts with the path: `p == NULL || q` says something of `q` where `p` is not null.
    fn decided_pointer(&mut self, path: Term, t: Term, known: &mut Known, steps: u32) -> Term {
        let Node::Ite { cond, then, otherwise } = *self.terms.node(t) else { return t };
        if let Some(&answer) = known.get(&(path, t)) {
            return answer;
        }
        let rest = steps.saturating_sub(1);
        let answer = match self.decided(path, cond, known) {
            Terms::TRUE => self.decided_pointer(path, then, known, rest),
            Terms::FALSE => self.decided_pointer(path, otherwise, known, rest),
            c => {
                let not_c = self.terms.not(c);
                let (yes, no) = match steps {
                    0 => (path, path),
                    _ => (self.terms.and2(path, c), self.terms.and2(path, not_c)),
                };
                let a = self.decided_pointer(yes, then, known, rest);
                let b = self.decided_pointer(no, otherwise, known, rest);
                self.terms.ite(c, a, b)
            }
        };
        known.insert((path, t), answer);
        answer
    }
}
