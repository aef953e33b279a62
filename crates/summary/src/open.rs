//! Outcomes that may happen whatever callers know.
//!
//! When a summary is cut, the conditions of an outcome are not told, and a caller may know that
//! they do not hold. Not so where they speak only of how calls of the library went, and of inputs
//! that are told: then the outcome happens sooner or later.

use crate::atoms::Decided;
use crate::exec::Exec;
use crate::marks::{ARGUMENT, CUT, FAILURE, GLOBAL, OPEN};
use crate::outcome::MAX_PATH;
use crate::state::State;
use leakproof_guard::{Marks, Node, Term, Terms, is_contradiction};

impl Exec<'_> {
    /// Whether a state is reached by some choice of what is open, given that `told` holds as far as
    /// it speaks of arguments and globals. What they point to callers may have lost sight of.
    pub(crate) fn is_open(&mut self, state: &State, told: &[Term]) -> bool {
        let path = self.pcs.formula(&mut self.terms, state.pc);
        if self.terms.size(path) > MAX_PATH {
            return false;
        }
        let mut known = Decided::default();
        let told: Vec<Term> = told.iter().copied().filter(|&t| self.speaks_of_plain(t)).collect();
        for t in told {
            known.insert((t, true), Terms::TRUE);
            let not = self.terms.not(t);
            known.insert((not, false), Terms::FALSE);
        }
        // What is not open is decided against it.
        let against = |exec: &Self, atom: Term, wanted: bool| {
            (!exec.speaks_of_open(atom, wanted)).then_some(!wanted)
        };
        let worst = self.with_atoms(path, true, Marks::ALL, &mut known, &against);
        worst != Terms::FALSE && !is_contradiction(&self.terms, worst)
    }

    fn speaks_of_plain(&self, t: Term) -> bool {
        self.speaks_only_of(t, ARGUMENT | GLOBAL)
    }

    /// Whether an atom depends only on what is open. Outcomes whose conditions were cut may be left
    /// out, but not counted on.
    fn speaks_of_open(&self, t: Term, wanted: bool) -> bool {
        let left_out = !wanted && matches!(self.terms.node(t), Node::Sym(_));
        let open = if left_out { FAILURE | OPEN | CUT } else { FAILURE | OPEN };
        self.speaks_only_of(t, open)
    }
}
