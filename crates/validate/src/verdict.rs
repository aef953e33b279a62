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
    /// Of a MUST-LEAK: what refers to the object.
    pub qualifier: Option<Qualifier>,
    /// The input that runs into the leak.
    pub witness: Option<Input>,
    pub stats: SearchStats,
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
    pub queries: u64,
    pub unsatisfiable: u64,
    pub unknown: u64,
    pub elapsed: Duration,
    /// Processor time.
    pub spent: Duration,
}
