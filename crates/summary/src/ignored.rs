//! Results that nobody looks at.
//!
//! Some functions return what they were given, or a new object where that was null (`set(w, u)`, `append(list, item)`).
//! Who calls one and leaves the result alone gave it something: what it was given is not null, unless that is known.

use crate::call::Call;
use crate::exec::Exec;
use crate::state::State;
use crate::summary::{Expr, Root, Summary};
use leakproof_guard::Node;
use leakproof_ir::{Body, ValueId};
use rustc_hash::FxHashSet;

impl Exec<'_> {
    /// Notes that an argument is not null where the function would return a new object in its place, and nobody
    /// looks at what it returns.
    pub(crate) fn know_argument_by_ignored_result(
        &mut self,
        call: &Call<'_>,
        summary: &Summary,
        state: &mut State,
    ) {
        let Some(index) = argument_or_new(summary) else { return };
        if self.body.insts[call.inst].result.is_some_and(|v| self.used_values().contains(&v)) {
            return;
        }
        let Some(&argument) = call.args.get(index as usize) else { return };
        if matches!(self.terms.node(argument), Node::Sym(_)) {
            self.know_not_zero(argument, state);
        }
    }

    fn used_values(&mut self) -> &FxHashSet<ValueId> {
        let body = self.body;
        self.used.get_or_insert_with(|| used_values(body))
    }
}

/// The argument that a function returns, if it returns that or a new object.
fn argument_or_new(summary: &Summary) -> Option<u32> {
    let mut arguments = FxHashSet::default();
    let mut makes = false;
    for r in summary.alternatives(summary.value?) {
        match summary.pool[r.0 as usize] {
            Expr::Arg { index, .. } => arguments.extend([index]),
            Expr::Addr { root: Root::Object(_), .. } => makes = true,
            _ => {}
        }
    }
    match arguments.len() {
        1 if makes => arguments.into_iter().next(),
        _ => None,
    }
}

/// The values that some instruction reads.
pub fn used_values(body: &Body) -> FxHashSet<ValueId> {
    let mut used: FxHashSet<ValueId> = FxHashSet::default();
    for (_, inst) in body.insts.iter() {
        inst.kind.for_each_operand(|v| used.extend([v]));
    }
    used.extend(body.blocks.iter().filter_map(|(_, b)| b.term.operand()));
    used
}
