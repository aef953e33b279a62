//! The only crate that links solvers: is a formula satisfiable, and by which values?
//!
//! A question is answered lazily. Its boolean skeleton goes to a SAT solver, comparisons being
//! propositions about which only the obvious is known; the few comparisons that a propositional
//! model needs go to Z3, with integers as bit-vectors of their C width; what Z3 refutes is
//! learned by the skeleton, and so on until either agrees to the end. Most questions never get
//! as far as Z3.

mod encode;
mod guess;
mod order;
mod session;
mod skeleton;
mod theory;
mod trace;

use leakproof_guard::Assignment;
pub use session::Session;
pub use trace::{Claim, TraceAnswer, children, solve_trace};

/// The answer to one question.
#[derive(Debug)]
pub enum Answer {
    /// Satisfiable, by these values.
    Sat(Assignment),
    Unsat,
    /// A limit was met. Of a path that may be possible: which of its conditions hold.
    Unknown(Assignment),
}

/// Limits of one question. All count steps, so that the answer does not depend on how busy the
/// machine is; `milliseconds` is the safety net behind them.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Exchanges between skeleton and theory.
    pub rounds: u32,
    /// Conflicts of the SAT solver.
    pub conflicts: u64,
    /// Z3's own steps, and time, for one set of comparisons.
    pub resources: u32,
    pub milliseconds: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rounds: 60, conflicts: 20_000, resources: 200_000, milliseconds: 2_000 }
    }
}

/// The version of the linked Z3.
pub fn version() -> String {
    z3::full_version().to_string()
}
