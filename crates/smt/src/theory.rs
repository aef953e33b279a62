//! Are these comparisons possible together? Z3 decides, about bit-vectors.
//!
//! Conditions inside values are not part of the question: their truth is given, so every
//! if-then-else is one of its branches.

use crate::Limits;
use crate::encode::Encoder;
use crate::guess::{Reader, guess};
use leakproof_guard::{Assignment, BaseInfo, Node, Term, Terms, for_each_child};
use rustc_hash::{FxHashMap, FxHashSet};
use z3::ast::Bool;
use z3::{Params, SatResult, Solver};

pub enum Verdict {
    Consistent(Assignment),
    /// Atoms that exclude each other.
    Inconsistent(Vec<(Term, bool)>),
    Unknown,
}

/// What is given about the truth of conditions.
pub type Truth<'t> = &'t dyn Fn(Term) -> bool;

/// Who answers questions about comparisons.
#[derive(Default)]
pub struct Theory {
    /// Z3, once a question got as far: to make a solver costs more than most questions do.
    solver: Option<Solver>,
}

impl Theory {
    /// Comparisons that share no unknown have nothing to say about each other: each group is a question of its own, and
    /// what is asked of the solver is small. Most groups have an answer that is easily guessed.
    pub fn check(
        &mut self,
        terms: &Terms,
        atoms: &[(Term, bool)],
        truth: Truth<'_>,
        limits: Limits,
    ) -> Verdict {
        let reader = Reader { terms, truth };
        let atoms = atoms.iter().copied().filter(|(t, _)| !matches!(terms.node(*t), Node::Sym(_)));
        let (mut values, mut is_known) = (Assignment::default(), true);
        for group in groups(reader, atoms) {
            let found = match guess(reader, &group) {
                Some(found) => Verdict::Consistent(found),
                None => self.solve(reader, &group, limits),
            };
            match found {
                Verdict::Consistent(found) => {
                    values.syms.extend(found.syms);
                    values.unknowns.extend(found.unknowns);
                }
                Verdict::Inconsistent(core) => return Verdict::Inconsistent(core),
                Verdict::Unknown => is_known = false,
            }
        }
        if is_known { Verdict::Consistent(values) } else { Verdict::Unknown }
    }

    /// What Z3 says, which forgets the question again. The limits are those of the first one.
    fn solve(&mut self, reader: Reader<'_>, atoms: &[(Term, bool)], limits: Limits) -> Verdict {
        let solver = self.solver.get_or_insert_with(|| limited_solver(limits));
        solver.push();
        let verdict = answer(solver, reader, atoms);
        solver.pop(1);
        verdict
    }
}

fn limited_solver(limits: Limits) -> Solver {
    let solver = Solver::new();
    let mut params = Params::new();
    params.set_u32("timeout", limits.milliseconds);
    params.set_u32("rlimit", limits.resources);
    solver.set_params(&params);
    solver
}

/// The atoms, together where they share an unknown.
fn groups(reader: Reader<'_>, atoms: impl Iterator<Item = (Term, bool)>) -> Vec<Vec<(Term, bool)>> {
    let mut groups: Vec<Vec<(Term, bool)>> = Vec::new();
    let mut group_of: FxHashMap<Term, usize> = FxHashMap::default();
    for atom in atoms {
        let unknowns = reader.unknowns_in(atom.0);
        let mut met: Vec<usize> =
            unknowns.iter().filter_map(|u| group_of.get(u).copied()).collect();
        met.sort_unstable();
        met.dedup();
        let home = met.first().copied().unwrap_or(groups.len());
        if home == groups.len() {
            groups.push(Vec::new());
        }
        for &other in met.iter().skip(1) {
            let moved = std::mem::take(&mut groups[other]);
            groups[home].extend(moved);
            group_of.values_mut().filter(|g| **g == other).for_each(|g| *g = home);
        }
        groups[home].push(atom);
        group_of.extend(unknowns.into_iter().map(|u| (u, home)));
    }
    groups.retain(|g| !g.is_empty());
    groups
}

fn answer(solver: &Solver, reader: Reader<'_>, atoms: &[(Term, bool)]) -> Verdict {
    let mut encoder = Encoder::new(reader.terms, reader.truth);
    let mut trackers = Vec::new();
    for (i, &(atom, holds)) in atoms.iter().enumerate() {
        let goal = encoder.boolean(atom);
        let tracker = Bool::new_const(format!("atom{i}"));
        solver.assert(tracker.implies(if holds { goal } else { goal.not() }));
        trackers.push(tracker);
    }
    for axiom in encoder.take_axioms() {
        solver.assert(&axiom);
    }
    match solver.check_assumptions(&trackers) {
        SatResult::Unknown => Verdict::Unknown,
        SatResult::Sat => match solver.get_model() {
            Some(model) => Verdict::Consistent(encoder.assignment(&model)),
            None => Verdict::Unknown,
        },
        SatResult::Unsat => {
            let core = solver.get_unsat_core();
            let used = trackers.iter().zip(atoms).filter(|(t, _)| core.contains(t));
            Verdict::Inconsistent(used.map(|(_, atom)| *atom).collect())
        }
    }
}

/// Calls `f` for every condition that decides between alternatives in an atom's operands.
pub fn for_each_condition(
    terms: &Terms,
    atom: Term,
    truth: Truth<'_>,
    f: &mut dyn FnMut(Term, bool),
) {
    let mut seen = FxHashSet::default();
    let mut work = Vec::new();
    for_each_child(terms.node(atom), |c| work.push(c));
    while let Some(t) = work.pop() {
        if !seen.insert(t) {
            continue;
        }
        if terms.bits(t) == 1 {
            f(t, truth(t));
            continue;
        }
        match terms.node(t) {
            Node::Any(_) => {}
            Node::Ite { cond, then, otherwise } => {
                let holds = truth(*cond);
                f(*cond, holds);
                work.push(if holds { *then } else { *otherwise });
            }
            node => {
                if let Node::Addr { base, .. } | Node::Elem { base, .. } = node
                    && let BaseInfo::Pointee(p) = terms.base_info(*base)
                {
                    work.push(p);
                }
                for_each_child(node, |c| work.push(c));
            }
        }
    }
}
