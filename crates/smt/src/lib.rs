//! The only crate that links an SMT solver (Z3): one question in, one answer out.
//!
//! Integers are bit-vectors of their C width, pointers bit-vectors of 64 bits; distinct objects
//! have fixed, far-apart addresses. One solver context per thread, dropped with the thread.

mod encode;

use encode::Encoder;
use leakproof_guard::{Assignment, Term, Terms};
use z3::{Params, SatResult, Solver};

/// The solver's answer.
#[derive(Debug)]
pub enum Answer {
    /// Satisfiable, by these values.
    Sat(Assignment),
    Unsat,
    /// Time or resource limit.
    Unknown,
}

/// Limits of one question. `resources` counts Z3's own steps, so that the answer does not depend
/// on how busy the machine is; `milliseconds` is the safety net behind it.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub milliseconds: u32,
    pub resources: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { milliseconds: 5_000, resources: 300_000 }
    }
}

/// Is there an assignment that makes `formula` true?
pub fn solve(terms: &Terms, formula: Term, limits: Limits) -> Answer {
    let solver = Solver::new_for_logic("QF_BV").unwrap_or_default();
    let mut params = Params::new();
    params.set_u32("timeout", limits.milliseconds);
    params.set_u32("rlimit", limits.resources);
    solver.set_params(&params);
    let mut encoder = Encoder::new(terms);
    let goal = encoder.boolean(formula);
    solver.assert(&goal);
    for axiom in encoder.take_axioms() {
        solver.assert(&axiom);
    }
    match solver.check() {
        SatResult::Unsat => Answer::Unsat,
        SatResult::Unknown => Answer::Unknown,
        SatResult::Sat => match solver.get_model() {
            Some(model) => Answer::Sat(encoder.assignment(&model)),
            None => Answer::Unknown,
        },
    }
}

/// The version of the linked Z3.
pub fn version() -> String {
    z3::full_version().to_string()
}
