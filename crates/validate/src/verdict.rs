//! What validation came to, and why.

use crate::input::Input;
use leakproof_findings::Verdict;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The result for one warning.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    /// One sentence.
    pub reason: String,
    pub cause: Cause,
    /// Of an infeasible path: the branches that exclude each other.
    pub core: Vec<String>,
    /// Of a MUST-LEAK: what refers to the object.
    pub qualifier: Option<Qualifier>,
    /// The input that runs into the leak.
    pub witness: Option<Input>,
    pub stats: SearchStats,
}

/// What a verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An object was left over.
    Leaked,
    /// Branches of the path exclude each other.
    InfeasiblePath,
    /// In all runs over the path: used after the leak point, and freed.
    UsedAndFreed,
    /// In all runs over the path: freed, but at least once not used after the leak point.
    FreedUnused,
    /// What called the function can still free it.
    HandedOver,
    /// No run over the path came to its end.
    CutOff,
    /// No run passed the path.
    NotReached,
    /// A leak was seen, but its witness does not show it.
    NotConfirmed,
    /// There was no time left for it.
    NoTime,
}

impl Cause {
    /// As JSON has it.
    pub fn key(self) -> &'static str {
        match self {
            Cause::Leaked => "leaked",
            Cause::InfeasiblePath => "infeasible-path",
            Cause::UsedAndFreed => "used-and-freed",
            Cause::FreedUnused => "freed-unused",
            Cause::HandedOver => "handed-over",
            Cause::CutOff => "cut-off",
            Cause::NotReached => "not-reached",
            Cause::NotConfirmed => "not-confirmed",
            Cause::NoTime => "no-time",
        }
    }
}

/// How a leaked object is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Qualifier {
    /// Nothing refers to it once the leak point is passed.
    LostAtPoint,
    /// Something still did then, but nothing does at the end.
    LostLater,
    /// It is still referenced at the end, but was never freed.
    StillReferenced,
}

impl Qualifier {
    /// As JSON has it.
    pub fn key(self) -> &'static str {
        match self {
            Qualifier::LostAtPoint => "lost-at-point",
            Qualifier::LostLater => "lost-later",
            Qualifier::StillReferenced => "still-referenced",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Qualifier::LostAtPoint => "lost at the leak point",
            Qualifier::LostLater => "lost after the leak point",
            Qualifier::StillReferenced => "still referenced but never freed",
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct SearchStats {
    pub runs: u64,
    /// Runs that passed the whole path and the leak point.
    pub covering: u64,
    /// Questions to the solver, and those that were answered without.
    pub queries: u64,
    pub guessed: u64,
    pub unsatisfiable: u64,
    pub unknown: u64,
    pub elapsed: Duration,
    /// Processor time.
    pub spent: Duration,
}
