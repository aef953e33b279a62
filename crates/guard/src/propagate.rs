//! Unit propagation: what a formula makes necessary is put into the rest of it, again and again.

use crate::{Assumption, Term, Terms, is_contradiction, necessary};

/// Chains of consequences are followed this far.
const ROUNDS: u32 = 6;

/// Larger formulas go to the solver at once.
const MAX_SIZE: u32 = 5_000;

/// Whether `t` is refuted by the consequences of its necessary literals. Dearer than
/// `is_contradiction`, and much cheaper than a solver.
pub fn is_refuted(terms: &mut Terms, t: Term) -> bool {
    let mut rest = t;
    for _ in 0..ROUNDS {
        if rest == Terms::FALSE || is_contradiction(terms, rest) {
            return true;
        }
        if terms.size(rest) > MAX_SIZE {
            return false;
        }
        let literals = necessary(terms, rest);
        let others = terms.assuming(rest, &mut Assumption::all(&literals));
        let stated = literals.into_iter().map(|(t, truth)| if truth { t } else { terms.not(t) });
        let mut parts: Vec<Term> = stated.collect();
        parts.push(others);
        let next = terms.and(parts);
        if next == rest {
            return false;
        }
        rest = next;
    }
    false
}
