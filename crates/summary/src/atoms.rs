//! Conditions with some of their atoms decided, by whether they occur plainly or negated.

use crate::exec::Exec;
use leakproof_guard::{Node, Term, Terms};
use rustc_hash::FxHashMap;

/// What became of conditions that were wanted to hold, or not to.
pub(crate) type Decided = FxHashMap<(Term, bool), Term>;

impl Exec<'_> {
    /// `t` with the atoms decided that `decide` knows; it is asked with whether the atom is wanted
    /// to hold for `t` to be as `wanted`.
    pub(crate) fn with_atoms(
        &mut self,
        t: Term,
        wanted: bool,
        known: &mut Decided,
        decide: &impl Fn(&Self, Term, bool) -> Option<bool>,
    ) -> Term {
        if let Some(&done) = known.get(&(t, wanted)) {
            return done;
        }
        let new = match self.terms.node(t).clone() {
            Node::Not(x) => {
                let inner = self.with_atoms(x, !wanted, known, decide);
                self.terms.not(inner)
            }
            Node::And(items) => {
                let items: Vec<Term> =
                    items.iter().map(|&i| self.with_atoms(i, wanted, known, decide)).collect();
                self.terms.and(items)
            }
            Node::Or(items) => {
                let items: Vec<Term> =
                    items.iter().map(|&i| self.with_atoms(i, wanted, known, decide)).collect();
                self.terms.or(items)
            }
            Node::Bool(_) => t,
            _ => decide(self, t, wanted).map_or(t, Terms::bool),
        };
        known.insert((t, wanted), new);
        new
    }
}
