//! The values of one function that are an object, or point into it: over casts, offsets, joins, and
//! local variables that stayed in memory. Without paths.

use leakproof_ir::{Body, Function, Inst, InstKind, ValueId, ValueKind};
use std::collections::BTreeSet;

/// What an address is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// The object itself.
    Own,
    /// A local variable.
    Local,
    /// The result of a call.
    Made,
    Foreign,
}

/// The references that one function has to one object.
pub struct Flow<'f> {
    function: &'f Function,
    body: &'f Body,
    values: BTreeSet<ValueId>,
    /// Local variables in memory, with offset.
    cells: BTreeSet<(ValueId, i64)>,
    /// The object is what a parameter points to.
    pub is_param: bool,
}

impl<'f> Flow<'f> {
    pub fn of_param(function: &'f Function, body: &'f Body, param: ValueId) -> Flow<'f> {
        let (values, cells) = ([param].into(), BTreeSet::new());
        let mut flow = Flow { function, body, values, cells, is_param: true };
        flow.spread();
        flow
    }

    /// The object that a call makes: its result, or what it leaves in locals of the caller.
    pub fn of_call(
        function: &'f Function,
        body: &'f Body,
        line: u32,
        column: u32,
    ) -> Option<Flow<'f>> {
        let (values, cells) = (BTreeSet::new(), BTreeSet::new());
        let mut flow = Flow { function, body, values, cells, is_param: false };
        let here = |i: &&Inst| (i.loc.line, i.loc.column) == (line, column);
        for inst in body.insts.values().filter(here) {
            let InstKind::Call { args, .. } = &inst.kind else { continue };
            let pointer = inst.result.filter(|r| function.values[*r].ty.is_ptr());
            match pointer {
                Some(result) => drop(flow.values.insert(result)),
                None => {
                    let cells: Vec<_> = args.iter().filter_map(|a| flow.cell(*a)).collect();
                    flow.cells.extend(cells);
                }
            }
        }
        let found = !flow.values.is_empty() || !flow.cells.is_empty();
        flow.spread();
        found.then_some(flow)
    }

    pub fn is_object(&self, value: ValueId) -> bool {
        self.values.contains(&value)
    }

    fn spread(&mut self) {
        loop {
            let before = (self.values.len(), self.cells.len());
            for inst in self.body.insts.values() {
                self.step(inst);
            }
            if before == (self.values.len(), self.cells.len()) {
                return;
            }
        }
    }

    fn step(&mut self, inst: &Inst) {
        let is = |v: &ValueId| self.values.contains(v);
        let carries = match &inst.kind {
            InstKind::Cast { value, .. } => is(value),
            InstKind::Offset { base, .. } => is(base),
            InstKind::Phi { incoming } => incoming.iter().any(|(_, v)| is(v)),
            InstKind::Select { then, otherwise, .. } => is(then) || is(otherwise),
            InstKind::Load { ptr } => self.cell(*ptr).is_some_and(|c| self.cells.contains(&c)),
            InstKind::Store { ptr, value } if is(value) => {
                let cell = self.cell(*ptr);
                self.cells.extend(cell);
                return;
            }
            _ => false,
        };
        if carries {
            self.values.extend(inst.result);
        }
    }

    /// The local variable, with offset, that an address is of.
    fn cell(&self, ptr: ValueId) -> Option<(ValueId, i64)> {
        let (mut at, mut sum) = (ptr, 0i64);
        loop {
            let ValueKind::Inst(inst) = self.function.values[at].kind else { return None };
            match &self.body.insts[inst].kind {
                InstKind::Alloca { .. } => return Some((at, sum)),
                InstKind::Offset { base, offset, indices, .. } if indices.is_empty() => {
                    (at, sum) = (*base, sum.saturating_add(*offset));
                }
                _ => return None,
            }
        }
    }

    /// Where an address comes from.
    pub fn root(&self, ptr: ValueId) -> Root {
        let mut at = ptr;
        // Each step goes to an earlier value, except over joins, which end it.
        loop {
            if self.values.contains(&at) {
                return Root::Own;
            }
            let ValueKind::Inst(inst) = self.function.values[at].kind else {
                return Root::Foreign;
            };
            match &self.body.insts[inst].kind {
                InstKind::Alloca { .. } => return Root::Local,
                InstKind::Call { .. } => return Root::Made,
                InstKind::Offset { base, .. } => at = *base,
                InstKind::Cast { value, .. } => at = *value,
                InstKind::Load { ptr } if self.cell(*ptr).is_some() => return Root::Made,
                _ => return Root::Foreign,
            }
        }
    }
}
