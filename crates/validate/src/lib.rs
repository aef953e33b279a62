//! Runs programs into their leak warnings: path-guided concolic testing, verdicts, witnesses.
//!
//! In: a program's units, warnings (a, p, e), seeds. Out: a verdict with its reason for each warning, and
//! an input for each MUST-LEAK. `source` chooses the units, `build` instruments and links them, `target`
//! finds the warning in the program, `search` runs and asks the solver, `witness` writes what anyone
//! can run. Invariant: nothing is run outside a scratch folder and its limits.

mod assignment;
mod build;
mod candidates;
mod clock;
mod config;
mod confirmation;
mod edit;
mod error;
mod extension;
mod feasibility;
mod foreign;
mod formats;
mod guess;
mod harness;
mod input;
mod leaks;
mod libraries;
mod map;
mod missing;
mod patched;
mod relevance;
mod run;
mod samples;
mod search;
mod seeds;
mod siblings;
mod source;
mod splice;
mod target;
mod trace;
mod validator;
mod values;
mod verdict;
mod warning;
mod witness;

pub use assignment::assigned_at;
pub use build::{Tools, find_instrumenter};
pub use config::RunLimits;
pub use error::ValidateError;
pub use foreign::{Foreign, ForeignError, Unplaced, read as read_foreign};
pub use harness::{Harness, HarnessError, choose_function, write as write_harness};
pub use input::{Fault, Input};
pub use patched::{Afterwards, replay_patched};
pub use run::RunOptions;
pub use search::SearchOptions;
pub use seeds::{default_seeds, harness_seeds};
pub use source::{Program, SourceUnit, Sources, choose};
pub use target::Rejection;
pub use validator::{Options, Validated, Validator};
pub use verdict::{Cause, Outcome, Qualifier, SearchStats};
pub use warning::{Direction, Spot, Step, Warning, WarningError};
pub use witness::{NOTE_FILE, Replay, SCRIPT, Shown, WitnessNote, replay};
