//! The result vocabulary: what `check` finds, `validate` proves and `fix` mends.
//!
//! These types *are* the JSON output contract (version 1): field names and order are public.
//! Paths are as the user would name them from the current directory, lines and columns 1-based.

mod id;
mod sources;
mod triage;

pub use id::{assign_ids, finish};
pub use sources::{SourceFile, SourceState, Sources};
pub use triage::{BaselineLeak, SuppressedBy, SuppressedLeak, Triage, UnusedSuppression};

use serde::{Deserialize, Serialize};

/// The whole result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub version: u32,
    pub leaks: Vec<Finding>,
    pub skipped: Vec<Skipped>,
    pub stats: Stats,
    /// The source files that `leaks` point into, as they were at the time of the analysis.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceStamp>,
    /// What was held back from `leaks`, and why; absent when nothing was.
    #[serde(default, skip_serializing_if = "Triage::is_empty")]
    pub triage: Triage,
}

/// Names one state of one source file, so that a later reader can tell that it changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceStamp {
    pub file: String,
    /// BLAKE3 of the content, in hexadecimal; empty when the file could not be read.
    pub blake3: String,
}

pub const REPORT_VERSION: u32 = 1;

/// One leak: an object, the path on which it leaks, and the point where that happens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable fingerprint: survives edits elsewhere in the file.
    pub id: String,
    pub kind: Kind,
    /// What leaks: `memory`, another family of memory (`new`, `curl.slist`), or a family of other
    /// resources (`file`, `dir`, ...) when enabled.
    pub family: String,
    /// The object is no memory but another resource: a file, a lock, a handle.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resource: bool,
    /// Where the object is lost or forgotten: where a person would put the fix.
    pub function: String,
    /// The variable or access path that held the last reference (`p`, `queue.buf`); may be empty.
    pub variable: String,
    /// Of a forgotten object to which `variable` is not known to refer any more when the function
    /// returns: what referred to it last, empty when that is not known either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
    pub evidence: Evidence,
    /// The allocation as seen from `function`: the call that yields the object.
    pub alloc: AllocSite,
    /// From `alloc` down to the call of the library allocator.
    pub alloc_trace: Vec<AllocSite>,
    pub leak: Location,
    pub path: Vec<PathStep>,
    /// The condition under which it leaks, in source terms; empty when it always does.
    pub condition: String,
    pub verdict: Option<Verdict>,
    /// Why `verdict` is what it is; absent when it was not validated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
    pub fix: Option<Fix>,
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The last reference was overwritten or went out of scope.
    #[default]
    Lost,
    /// Local variables still refer to the object when the function exits.
    Forgotten,
    /// No leak: the object is released again.
    #[serde(rename = "double-free")]
    DoubleFree,
    /// No leak: the object is used after its release.
    #[serde(rename = "use-after-free")]
    UseAfterFree,
}

/// How sure we are, least sure first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// The solver gave up, an opaque callee is assumed not to take ownership, or a field to own.
    #[default]
    Assumed,
    /// The solver has a model of the path.
    Feasible,
    /// An input runs into it.
    Witnessed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Verdict {
    #[serde(rename = "MUST-LEAK")]
    MustLeak,
    #[serde(rename = "LIKELY-NOT-LEAK")]
    LikelyNotLeak,
    #[serde(rename = "BLOAT")]
    Bloat,
    #[serde(rename = "MAY-LEAK")]
    MayLeak,
}

/// What running the program showed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validation {
    /// One sentence.
    pub reason: String,
    /// What the verdict rests on, in a word: `infeasible-path`, say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Of an infeasible path: the branches that exclude each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub core: Vec<String>,
    /// Of a MUST-LEAK: `lost-at-point`, `lost-later` or `still-referenced`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qualifier: Option<String>,
    /// Folder of the witness, as the user would name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<String>,
    /// How often the program was run, and how often on the reported path.
    pub runs: u64,
    pub on_path: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocSite {
    pub file: String,
    pub line: u32,
    pub column: u32,
    /// The function that contains the call.
    pub function: String,
    /// The function called.
    pub callee: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathStep {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
    pub event: Event,
    /// One sentence for a reader: `assuming 'n' is greater than 0`.
    pub note: String,
}

/// What happens at a path step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Event {
    /// The object is allocated.
    Alloc,
    /// A branch is taken.
    Branch,
    /// The object is passed to a call that does not take it.
    Call,
    /// A reference to the object is stored or copied.
    Store,
    /// A reference to the object is overwritten or its holder released.
    Drop,
    /// The object leaks.
    Leak,
}

/// A proposed source change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    pub applicability: Applicability,
    pub description: String,
    pub edits: Vec<Edit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Applicability {
    Safe,
    Suggested,
}

/// Replace the text between two positions (end exclusive; columns in bytes, 1-based).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    pub file: String,
    pub start_line: u32,
    pub start_column: u32,
    pub end_line: u32,
    pub end_column: u32,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    pub file: String,
    pub reason: String,
}

/// Counts that do not depend on timing or thread count, so that output is byte-identical.
/// Times and memory go to `--stats` on stderr.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    pub units: u64,
    pub functions: u64,
    pub instructions: u64,
    /// Heap objects tracked.
    pub objects: u64,
    /// (object, exit) pairs that stage 1 could not rule out.
    pub candidates: u64,
    /// Candidates that stage 2 proved infeasible.
    pub infeasible: u64,
    pub solver_queries: u64,
    pub solver_timeouts: u64,
    /// Functions that hit a budget, with the reason.
    pub limited: Vec<Skipped>,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Lost => "lost",
            Kind::Forgotten => "forgotten",
            Kind::DoubleFree => "double-free",
            Kind::UseAfterFree => "use-after-free",
        }
    }

    /// Whether it is about an object that is never released.
    pub fn is_leak(self) -> bool {
        matches!(self, Kind::Lost | Kind::Forgotten)
    }
}

impl Evidence {
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Assumed => "assumed",
            Evidence::Feasible => "feasible",
            Evidence::Witnessed => "witnessed",
        }
    }
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::MustLeak => "MUST-LEAK",
            Verdict::LikelyNotLeak => "LIKELY-NOT-LEAK",
            Verdict::Bloat => "BLOAT",
            Verdict::MayLeak => "MAY-LEAK",
        }
    }
}

impl Event {
    pub fn name(self) -> &'static str {
        match self {
            Event::Alloc => "alloc",
            Event::Branch => "branch",
            Event::Call => "call",
            Event::Store => "store",
            Event::Drop => "drop",
            Event::Leak => "leak",
        }
    }
}
