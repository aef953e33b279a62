//! Results of large makers as one object each.
//!
//! A parser or a deep copy makes what it returns in many places, and its summary is told by outcomes: its callers have
//! as many objects as there are places, each under a condition of its own, and where these grow too large all are in
//! favour of the objects. Or part of what it may return was cut, and nobody knows that it is new; but some caller
//! releases it. So functions of whose results nothing was found are run once more with one object for all
//! that such a call may return.

use super::callee::Program as Calls;
use super::fields::Made;
use crate::component::Outcome;
use crate::describe::Describe;
use leakproof_ir::{Inst, InstKind};
use leakproof_program::FuncRef;
use leakproof_summary::{Place, Planted, Spot, used_values};
use rustc_hash::FxHashSet;

/// The calls whose results are known to leak, by file and line.
pub struct Known(FxHashSet<(String, u32)>);

impl Known {
    pub fn of<'o>(outcomes: impl Iterator<Item = &'o Outcome>) -> Self {
        let findings = outcomes.flat_map(|o| &o.findings);
        Self(findings.map(|f| (f.alloc.file.clone(), f.alloc.line)).collect())
    }

    fn has(&self, calls: &Calls<'_>, at: Place) -> bool {
        let at = Describe::new(calls.program).location(at);
        self.0.contains(&(at.file, at.line))
    }
}

/// The results of calls in a function that are new objects from many places. `released`: the functions whose results some
/// caller releases.
pub fn results_in(
    calls: &Calls<'_>,
    f: FuncRef,
    released: &FxHashSet<FuncRef>,
    known: &Known,
) -> Vec<Planted> {
    let Some(body) = &calls.program.function(f).body else { return Vec::new() };
    let read = used_values(body);
    let results = body.insts.values().filter_map(|inst| {
        let planted = result_of(calls, f, inst, released)?;
        let at = Place { func: f, loc: inst.loc };
        (read.contains(&planted.values[0]) && !known.has(calls, at)).then_some(planted)
    });
    results.collect()
}

fn result_of(
    calls: &Calls<'_>,
    f: FuncRef,
    inst: &Inst,
    released: &FxHashSet<FuncRef>,
) -> Option<Planted> {
    let InstKind::Call { callee, .. } = &inst.kind else { return None };
    let result = inst.result?;
    let maker = calls.defined(f.module, callee)?;
    if calls.summaries.get(maker)?.is_exact() {
        return None;
    }
    let at = Place { func: f, loc: inst.loc };
    let Made { trace, family } = match released.contains(&maker) {
        true => calls.handed_over_by(at, maker)?,
        false => calls.made_by_call(at, f.module, callee)?,
    };
    Some(Planted { values: [result].into(), spot: Spot::Made, trace, family })
}
