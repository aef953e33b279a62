//! The values of one function that are an object, or point into it: over casts, offsets, joins, and
//! local variables that stayed in memory. Without paths.

use leakproof_ir::{Body, Function, Inst, InstId, InstKind, ValueId, ValueKind, VarId};
use std::collections::BTreeSet;

/// What an address is computed from, what is known best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    pub body: &'f Body,
    values: BTreeSet<ValueId>,
    /// Local variables in memory, with offset.
    cells: BTreeSet<(ValueId, i64)>,
    /// The object is what a parameter points to.
    pub is_param: bool,
}

/// A local variable: in registers, or in memory.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    var: VarId,
    slot: Option<ValueId>,
}

impl Variable {
    /// Whether a value is the variable's address.
    pub fn is_slot(&self, value: ValueId) -> bool {
        self.slot == Some(value)
    }

    pub fn is_in_memory(&self) -> bool {
        self.slot.is_some()
    }

    /// What an instruction sets the variable to.
    pub fn set_by(&self, kind: &InstKind) -> Option<ValueId> {
        match kind {
            InstKind::Store { ptr, value } if self.is_slot(*ptr) => Some(*value),
            InstKind::VarSet { var, value } if *var == self.var => Some(*value),
            _ => None,
        }
    }
}

/// The local variable of a name, when there is exactly one.
pub fn variable(body: &Body, name: &str) -> Option<Variable> {
    let mut named = body.vars.iter().filter(|(_, v)| v.name == name);
    let (var, _) = named.next()?;
    let slots = body.insts.values().filter(|i| match i.kind {
        InstKind::Alloca { var: of, .. } => of == Some(var),
        _ => false,
    });
    let slots: Vec<ValueId> = slots.filter_map(|i| i.result).collect();
    let slot = slots.first().copied();
    (named.next().is_none() && slots.len() <= 1).then_some(Variable { var, slot })
}

impl<'f> Flow<'f> {
    pub fn of_param(function: &'f Function, body: &'f Body, param: ValueId) -> Flow<'f> {
        let (values, cells) = ([param].into(), BTreeSet::new());
        let mut flow = Flow { function, body, values, cells, is_param: true };
        flow.spread();
        flow
    }

    /// The object that a call makes: its result, or what it leaves in locals of the caller. Of
    /// several locals the one that is named counts, if it is among them.
    pub fn of_call(
        function: &'f Function,
        body: &'f Body,
        site: (u32, u32),
        holder: &str,
    ) -> Option<Flow<'f>> {
        let (values, cells) = (BTreeSet::new(), BTreeSet::new());
        let mut flow = Flow { function, body, values, cells, is_param: false };
        let here = |i: &&Inst| (i.loc.line, i.loc.column) == site;
        for inst in body.insts.values().filter(here) {
            let InstKind::Call { args, .. } = &inst.kind else { continue };
            let pointer = inst.result.filter(|r| function.values[*r].ty.is_ptr());
            match pointer {
                Some(result) => drop(flow.values.insert(result)),
                None => {
                    let named = flow.variable(holder).and_then(|v| v.slot.map(|slot| (slot, 0)));
                    let cells: Vec<_> = args.iter().filter_map(|a| flow.cell(*a)).collect();
                    match named.filter(|cell| cells.contains(cell)) {
                        Some(cell) => drop(flow.cells.insert(cell)),
                        None => flow.cells.extend(cells),
                    }
                }
            }
        }
        let found = !flow.values.is_empty() || !flow.cells.is_empty();
        flow.spread();
        found.then_some(flow)
    }

    /// The local variable of a name, when there is exactly one.
    pub fn variable(&self, name: &str) -> Option<Variable> {
        variable(self.body, name)
    }

    /// Whether a value is certainly not the object that was there before the call that makes one: null,
    /// or what the call just made.
    pub fn is_other(&self, value: ValueId, site: (u32, u32)) -> bool {
        let inst = match self.function.values[value].kind {
            ValueKind::Null => return true,
            ValueKind::Inst(inst) => &self.body.insts[inst],
            _ => return false,
        };
        match &inst.kind {
            InstKind::Cast { value, .. } => self.is_other(*value, site),
            InstKind::Call { .. } => (inst.loc.line, inst.loc.column) == site,
            _ => false,
        }
    }

    pub fn is_object(&self, value: ValueId) -> bool {
        self.values.contains(&value)
    }

    /// The instructions that do something with what the object's pointer refers to, or hand it on.
    pub fn lookups(&self) -> BTreeSet<InstId> {
        let is = |v: &ValueId| self.values.contains(v);
        let looks = |inst: &Inst| match &inst.kind {
            InstKind::Load { ptr, .. } | InstKind::AtomicRmw { ptr, .. } => is(ptr),
            InstKind::CmpXchg { ptr, .. } => is(ptr),
            InstKind::Store { ptr, value } => is(ptr) || is(value),
            InstKind::MemCopy { dst, src, .. } => is(dst) || is(src),
            InstKind::MemSet { dst, .. } => is(dst),
            InstKind::Call { args, .. } => args.iter().any(is),
            _ => false,
        };
        let found = self.body.insts.iter().filter(|(_, inst)| looks(inst));
        found.map(|(id, _)| id).collect()
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
            InstKind::Load { ptr, .. } => self.cell(*ptr).is_some_and(|c| self.cells.contains(&c)),
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
        self.joined_root(ptr, &mut BTreeSet::new())
    }

    /// The same; joins that are being looked at say nothing of their own.
    fn joined_root(&self, ptr: ValueId, joins: &mut BTreeSet<ValueId>) -> Root {
        let mut at = ptr;
        loop {
            if self.values.contains(&at) {
                return Root::Own;
            }
            let inst = match self.function.values[at].kind {
                ValueKind::Inst(inst) => inst,
                // Nothing is stored behind null.
                ValueKind::Null => return Root::Own,
                _ => return Root::Foreign,
            };
            match &self.body.insts[inst].kind {
                InstKind::Alloca { .. } => return Root::Local,
                InstKind::Call { .. } => return Root::Made,
                InstKind::Offset { base, .. } => at = *base,
                InstKind::Cast { value, .. } => at = *value,
                InstKind::Load { ptr, .. } if self.cell(*ptr).is_some() => return Root::Made,
                InstKind::Phi { incoming } => {
                    if !joins.insert(at) {
                        return Root::Own;
                    }
                    let roots = incoming.iter().map(|(_, v)| self.joined_root(*v, joins));
                    return roots.max().unwrap_or(Root::Foreign);
                }
                InstKind::Select { then, otherwise, .. } => {
                    let then = self.joined_root(*then, joins);
                    return then.max(self.joined_root(*otherwise, joins));
                }
                _ => return Root::Foreign,
            }
        }
    }
}
