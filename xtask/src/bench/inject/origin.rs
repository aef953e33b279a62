//! Where a released pointer comes from, as far as the function that releases it can see.

use leakproof_ir::{Body, Function, InstKind, ValueId, ValueKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A call or a local variable: the function made the object or had it made.
    #[default]
    Local,
    /// A parameter, or what it points to: a destructor's work.
    Given,
    /// A global variable.
    Global,
}

/// The origin of a value; of several, the one that comes first in `Origin`.
pub fn origin(function: &Function, body: &Body, value: ValueId) -> Origin {
    let mut seen = BTreeSet::new();
    let mut work = vec![value];
    let mut best = None;
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        let found = match function.values[value].kind {
            ValueKind::Param(_) => Some(Origin::Given),
            ValueKind::Global(..) => Some(Origin::Global),
            ValueKind::Inst(inst) => follow(&body.insts[inst].kind, &mut work),
            _ => None,
        };
        best = best.into_iter().chain(found).min();
    }
    best.unwrap_or_default()
}

/// Goes on from a computed value, or ends at one that the function has from a call or a local.
fn follow(kind: &InstKind, work: &mut Vec<ValueId>) -> Option<Origin> {
    match kind {
        InstKind::Load { ptr: from, .. }
        | InstKind::Offset { base: from, .. }
        | InstKind::Cast { value: from, .. } => work.push(*from),
        InstKind::Select { then, otherwise, .. } => work.extend([*then, *otherwise]),
        InstKind::Phi { incoming } => work.extend(incoming.iter().map(|(_, v)| *v)),
        _ => return Some(Origin::Local),
    }
    None
}
