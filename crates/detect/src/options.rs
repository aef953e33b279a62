//! What a user can choose about the analysis.

use crate::audit::Watch;
use crate::effort::Meter;
use crate::misuse::Also;
use leakproof_smt::Limits;
use leakproof_summary::Budget;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub struct Options {
    /// Worker threads; 0 means one per core.
    pub jobs: usize,
    /// 0: every path, 1: one finding per allocation and leak point, 2: one per allocation.
    pub level: u8,
    /// Report objects that locals of `main` still refer to when it returns.
    pub at_exit: bool,
    /// Resource families reported besides memory (`file`, `dir`, ...).
    pub families: BTreeSet<String>,
    /// Releases to judge.
    pub watch: Vec<Watch>,
    /// Whether to collect which function releases what another one allocates.
    pub pairs: bool,
    /// What to look for besides leaks.
    pub also: Also,
    pub budget: Budget,
    pub solver: Limits,
    /// Asked for the peak memory after each stage.
    pub meter: Meter,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            jobs: 0,
            level: 1,
            at_exit: false,
            families: BTreeSet::new(),
            watch: Vec::new(),
            pairs: false,
            also: Also::default(),
            budget: Budget::default(),
            solver: Limits::default(),
            meter: || 0.0,
        }
    }
}
