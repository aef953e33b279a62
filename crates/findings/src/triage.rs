//! What triage decided: findings held back from `Report::leaks`, and why.
//!
//! Part of the JSON contract. Crate `triage` fills it in; renderers show it. A finding is in exactly
//! one of `Report::leaks`, `suppressed` and `known`, or was counted in `excluded`, `less_sure` or
//! `outside_diff`.

use serde::{Deserialize, Serialize};

use crate::{Finding, Kind};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Triage {
    /// The baseline that was compared with; when set, every finding in `leaks` is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Findings that the baseline already has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<Finding>,
    /// Entries of the baseline that are found no more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<BaselineLeak>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<SuppressedLeak>,
    /// Suppressions that silence nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<UnusedSuppression>,
    /// How many findings lie in paths that the configuration excludes.
    #[serde(skip_serializing_if = "is_zero")]
    pub excluded: u64,
    /// How many findings are less sure than was asked for.
    #[serde(skip_serializing_if = "is_zero")]
    pub less_sure: u64,
    /// The revision given to `--diff`; when set, findings the change does not touch were dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// How many findings the change does not touch.
    #[serde(skip_serializing_if = "is_zero")]
    pub outside_diff: u64,
}

impl Triage {
    pub fn is_empty(&self) -> bool {
        *self == Triage::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SuppressedLeak {
    pub by: SuppressedBy,
    /// Where the suppression stands (`src/a.c:12`, `leakproof.toml`).
    pub at: String,
    pub reason: String,
    pub finding: Finding,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuppressedBy {
    /// A comment on or above a line of the finding, or above its function.
    #[default]
    Comment,
    /// A rule in the configuration file.
    Config,
}

/// A leak as a baseline keeps it: its identity, and enough for a reader to know it again. No line
/// numbers, so that the file changes only when leaks do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineLeak {
    pub id: String,
    pub kind: Kind,
    pub family: String,
    pub file: String,
    pub function: String,
    pub variable: String,
    pub callee: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnusedSuppression {
    /// Where the suppression stands.
    pub at: String,
    /// Why it counts as unused: nothing matched, or it has no reason.
    pub note: String,
}

impl From<&Finding> for BaselineLeak {
    fn from(finding: &Finding) -> Self {
        BaselineLeak {
            id: finding.id.clone(),
            kind: finding.kind,
            family: finding.family.clone(),
            file: finding.leak.file.clone(),
            function: finding.function.clone(),
            variable: finding.variable.clone(),
            callee: finding.alloc.callee.clone(),
        }
    }
}
