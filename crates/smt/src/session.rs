//! Questions about the terms of one function: what was learned for one serves the next.

use crate::skeleton::Skeleton;
use crate::theory::{self, Theory, Verdict};
use crate::{Answer, Limits};
use leakproof_guard::{Assignment, Node, Term, Terms, for_each_child};
use rustc_hash::FxHashSet;

pub struct Session {
    skeleton: Skeleton,
    theory: Theory,
    checks: u64,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    pub fn new() -> Self {
        Self { skeleton: Skeleton::new(), theory: Theory::default(), checks: 0 }
    }

    /// How often comparisons had to be asked about: what questions cost. Many are answered without.
    pub fn checks(&self) -> u64 {
        self.checks
    }

    /// Is there an assignment that makes `formula` true? All questions of a session are about
    /// the same, growing arena of terms.
    pub fn solve(&mut self, terms: &Terms, formula: Term, limits: Limits) -> Answer {
        let root = self.skeleton.literal(terms, formula);
        for _ in 0..limits.rounds {
            match self.skeleton.solve(root, limits.conflicts) {
                None => return Answer::Unknown(Assignment::default()),
                Some(false) => return Answer::Unsat,
                Some(true) => {}
            }
            let needed = Needed::of(terms, &self.skeleton, formula);
            self.checks += 1;
            let truth = |t| self.skeleton.truth(t);
            match self.theory.check(terms, &needed.atoms, &truth, limits) {
                Verdict::Consistent(mut values) => {
                    self.add_symbols(terms, &needed, &mut values);
                    return Answer::Sat(values);
                }
                Verdict::Inconsistent(core) => {
                    let mut together = core.clone();
                    for (atom, _) in core {
                        together.extend(self.conditions_of(terms, atom));
                    }
                    self.skeleton.exclude(&together);
                }
                Verdict::Unknown => return self.undecided(terms, &needed),
            }
        }
        Answer::Unknown(Assignment::default())
    }

    /// What the skeleton says, which no values were found for.
    fn undecided(&self, terms: &Terms, needed: &Needed) -> Answer {
        let mut values = Assignment::default();
        self.add_symbols(terms, needed, &mut values);
        Answer::Unknown(values)
    }

    /// Conditions that decided which alternatives of an atom's operands were meant.
    fn conditions_of(&self, terms: &Terms, atom: Term) -> Vec<(Term, bool)> {
        let mut found = Vec::new();
        theory::for_each_condition(terms, atom, &|t| self.skeleton.truth(t), &mut |t, holds| {
            found.push((t, holds));
        });
        found
    }

    fn add_symbols(&self, terms: &Terms, needed: &Needed, values: &mut Assignment) {
        for &(t, holds) in &needed.atoms {
            if let Node::Sym(s) = terms.node(t) {
                values.syms.insert(*s, u64::from(holds));
            }
        }
    }
}

/// The atoms that suffice to make a formula true in the model at hand.
struct Needed {
    atoms: Vec<(Term, bool)>,
}

impl Needed {
    fn of(terms: &Terms, skeleton: &Skeleton, formula: Term) -> Self {
        let mut atoms = Vec::new();
        let mut seen = FxHashSet::default();
        let mut work = vec![formula];
        while let Some(t) = work.pop() {
            if !seen.insert(t) {
                continue;
            }
            let holds = skeleton.truth(t);
            match terms.node(t) {
                Node::Bool(_) => {}
                Node::Not(x) => work.push(*x),
                Node::And(parts) if !holds => work.extend(reason(skeleton, parts, false, &seen)),
                Node::Or(parts) if holds => work.extend(reason(skeleton, parts, true, &seen)),
                Node::And(_) | Node::Or(_) => for_each_child(terms.node(t), |c| work.push(c)),
                _ => {
                    atoms.push((t, holds));
                    let truth = |t| skeleton.truth(t);
                    theory::for_each_condition(terms, t, &truth, &mut |c, _| work.push(c));
                }
            }
        }
        Self { atoms }
    }
}

/// One of the parts that has the value in the model: one that is needed anyway, if there is.
fn reason(
    skeleton: &Skeleton,
    parts: &[Term],
    value: bool,
    seen: &FxHashSet<Term>,
) -> Option<Term> {
    let mut candidates = parts.iter().copied().filter(|&p| skeleton.truth(p) == value);
    let first = candidates.next();
    if first.is_some_and(|t| seen.contains(&t)) {
        return first;
    }
    candidates.find(|t| seen.contains(t)).or(first)
}
