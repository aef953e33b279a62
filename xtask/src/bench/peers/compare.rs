//! Warnings of peers and findings of leakproof side by side, matched by the function they are about.

use super::functions::Functions;
use super::warning::Warning;
use leakproof_findings::{Finding, Report};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A function of a file.
type Place = (String, String);

/// What is compared on one tree for one peer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Overlap {
    pub memory: usize,
    pub resources: usize,
    /// Warnings in a function in which leakproof has a finding too.
    pub shared: usize,
    pub missing: Vec<Missing>,
}

/// A warning of a peer in a function in which leakproof finds nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Missing {
    pub program: String,
    pub tool: String,
    pub file: String,
    pub line: u32,
    pub function: String,
    pub resource: bool,
    pub message: String,
}

/// The findings of leakproof on a tree, by function.
pub struct Ours {
    findings: Vec<BTreeSet<Place>>,
}

impl Ours {
    pub fn new(report: &Report) -> Self {
        Self { findings: report.leaks.iter().map(places).collect() }
    }

    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Findings about none of the functions in which a peer warns.
    pub fn alone(&self, warned: &BTreeSet<Place>) -> usize {
        self.findings.iter().filter(|places| places.is_disjoint(warned)).count()
    }

    fn knows(&self, place: &Place) -> bool {
        self.findings.iter().any(|places| places.contains(place))
    }
}

/// Where a finding would be seen by others: where the object is lost and where it was made.
fn places(finding: &Finding) -> BTreeSet<Place> {
    let made = finding.alloc_trace.iter().chain([&finding.alloc]);
    let mut places: BTreeSet<Place> = made.map(|a| (a.file.clone(), a.function.clone())).collect();
    places.insert((finding.leak.file.clone(), finding.function.clone()));
    places
}

/// The functions in which these warnings stand.
pub fn warned(warnings: &[Warning], functions: &Functions) -> BTreeSet<Place> {
    warnings.iter().map(|w| place(w, functions)).collect()
}

fn place(warning: &Warning, functions: &Functions) -> Place {
    let function = functions.at(&warning.file, warning.line).unwrap_or_default();
    (warning.file.clone(), function.to_owned())
}

/// What one peer has on a tree beside ours. One line of source is one warning.
pub fn overlap(
    program: &str,
    tool: &str,
    warnings: &[Warning],
    ours: &Ours,
    functions: &Functions,
) -> Overlap {
    let mut overlap = Overlap::default();
    let mut lines = BTreeSet::new();
    for warning in warnings {
        if !lines.insert((&warning.file, warning.line)) {
            continue;
        }
        *(if warning.resource { &mut overlap.resources } else { &mut overlap.memory }) += 1;
        let place = place(warning, functions);
        if ours.knows(&place) {
            overlap.shared += 1;
            continue;
        }
        overlap.missing.push(Missing {
            program: program.to_owned(),
            tool: tool.to_owned(),
            file: warning.file.clone(),
            line: warning.line,
            function: place.1,
            resource: warning.resource,
            message: warning.message.clone(),
        });
    }
    overlap
}
