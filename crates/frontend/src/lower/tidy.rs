//! The last step of a body: phis that say nothing go, and ids follow the order of the code.
//!
//! A phi whose entries are all the same value (or the phi itself) is replaced by that value, which
//! dominates it since it dominates all its predecessors. Afterwards instructions are numbered in
//! block order, equal constants are one value, and constants that nobody reads are gone.

use leakproof_ir::{
    Arena, Block, BlockId, Callee, Inst, InstId, InstKind, Terminator, Ty, Value, ValueId,
    ValueKind,
};
use rustc_hash::FxHashMap;

pub struct Tidied {
    pub insts: Arena<InstId, Inst>,
    pub blocks: Arena<BlockId, Block>,
    pub values: Arena<ValueId, Value>,
    /// New id of each instruction; `None` for those that are gone.
    pub new_ids: Vec<Option<InstId>>,
}

/// `values` starts with the `params` parameters, which keep their ids.
pub fn tidy(
    insts: Arena<InstId, Inst>,
    blocks: Arena<BlockId, Block>,
    values: Arena<ValueId, Value>,
    params: usize,
) -> Tidied {
    let replaced = trivial_phis(&insts);
    let mut renumbering = Renumbering {
        old_values: &values,
        replaced: &replaced,
        values: values.values().take(params).copied().collect(),
        new_values: vec![None; values.len()],
        constants: FxHashMap::default(),
    };
    for param in values.ids().take(params) {
        renumbering.new_values[param.0 as usize] = Some(param);
    }
    renumbering.run(insts, blocks)
}

/// For each value that a trivial phi defines, what to read instead.
fn trivial_phis(insts: &Arena<InstId, Inst>) -> FxHashMap<ValueId, ValueId> {
    let mut replaced: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let phis = insts.values().filter_map(|inst| match &inst.kind {
        InstKind::Phi { incoming } => Some((inst.result?, incoming)),
        _ => None,
    });
    let phis: Vec<_> = phis.collect();
    // Replacing one phi may make another trivial; every round removes at least one.
    loop {
        let before = replaced.len();
        for &(result, incoming) in &phis {
            if replaced.contains_key(&result) {
                continue;
            }
            let mut entries = incoming.iter().map(|(_, v)| resolve(&replaced, *v));
            let others = entries.by_ref().find(|v| *v != result);
            if let Some(value) = others
                && entries.all(|v| v == value || v == result)
            {
                replaced.insert(result, value);
            }
        }
        if replaced.len() == before {
            return replaced;
        }
    }
}

fn resolve(replaced: &FxHashMap<ValueId, ValueId>, mut value: ValueId) -> ValueId {
    while let Some(next) = replaced.get(&value) {
        value = *next;
    }
    value
}

struct Renumbering<'t> {
    old_values: &'t Arena<ValueId, Value>,
    replaced: &'t FxHashMap<ValueId, ValueId>,
    values: Arena<ValueId, Value>,
    new_values: Vec<Option<ValueId>>,
    constants: FxHashMap<(ValueKind, Ty), ValueId>,
}

impl Renumbering<'_> {
    fn run(mut self, mut old: Arena<InstId, Inst>, mut blocks: Arena<BlockId, Block>) -> Tidied {
        let mut new_ids = vec![None; old.len()];
        let mut next = 0;
        for (_, block) in blocks.iter_mut() {
            block.insts.retain(|id| !self.is_gone(&old[*id]));
            for id in &block.insts {
                new_ids[id.0 as usize] = Some(InstId(next));
                self.define(&old[*id], InstId(next));
                next += 1;
            }
        }
        let mut insts = Vec::with_capacity(next as usize);
        for (_, block) in blocks.iter_mut() {
            for id in &mut block.insts {
                let mut inst = take(&mut old[*id]);
                inst.result = inst.result.map(|v| self.value(v));
                map_operands(&mut inst.kind, |v| self.value(v));
                *id = InstId(insts.len() as u32);
                insts.push(inst);
            }
            self.terminator(&mut block.term, &new_ids);
        }
        let insts = insts.into_iter().collect();
        Tidied { insts, blocks, values: self.values, new_ids }
    }

    /// A trivial phi, or the note that a variable has its value, which it had before.
    fn is_gone(&self, inst: &Inst) -> bool {
        match inst.kind {
            InstKind::Phi { .. } => inst.result.is_some_and(|v| self.replaced.contains_key(&v)),
            InstKind::VarSet { value, .. } => {
                !inst.loc.is_known() && self.replaced.contains_key(&value)
            }
            _ => false,
        }
    }

    fn define(&mut self, inst: &Inst, id: InstId) {
        if let Some(result) = inst.result {
            let ty = self.old_values[result].ty;
            let new = self.values.push(Value { kind: ValueKind::Inst(id), ty });
            self.new_values[result.0 as usize] = Some(new);
        }
    }

    fn value(&mut self, old: ValueId) -> ValueId {
        let old = resolve(self.replaced, old);
        if let Some(new) = self.new_values[old.0 as usize] {
            return new;
        }
        // Everything else is defined by now: this is a constant.
        let Renumbering { old_values, values, constants, .. } = self;
        let constant = old_values[old];
        let key = (constant.kind, constant.ty);
        let new = *constants.entry(key).or_insert_with(|| values.push(constant));
        self.new_values[old.0 as usize] = Some(new);
        new
    }

    fn terminator(&mut self, term: &mut Terminator, new_ids: &[Option<InstId>]) {
        match term {
            Terminator::Branch { cond: value, .. }
            | Terminator::Switch { value, .. }
            | Terminator::Return(Some(value)) => *value = self.value(*value),
            Terminator::Invoke { call, .. } => {
                *call = new_ids[call.0 as usize].unwrap_or(*call);
            }
            Terminator::Jump(_)
            | Terminator::Return(None)
            | Terminator::Unreachable
            | Terminator::Resume
            | Terminator::Indirect { .. } => {}
        }
    }
}

/// The instruction, with something cheap left in its place.
fn take(inst: &mut Inst) -> Inst {
    let nothing = InstKind::Load { ptr: ValueId(0), volatile: false };
    Inst { kind: std::mem::replace(&mut inst.kind, nothing), result: inst.result, loc: inst.loc }
}

fn map_operands(kind: &mut InstKind, mut f: impl FnMut(ValueId) -> ValueId) {
    let mut one = |value: &mut ValueId| *value = f(*value);
    match kind {
        InstKind::Alloca { count, .. } => count.iter_mut().for_each(one),
        InstKind::Load { ptr: value, .. }
        | InstKind::Cast { value, .. }
        | InstKind::VarSet { value, .. }
        | InstKind::Extract { tuple: value, .. }
        | InstKind::VaStart { list: value }
        | InstKind::ScopeEnd { slot: value } => one(value),
        InstKind::Store { ptr: a, value: b }
        | InstKind::AtomicRmw { ptr: a, value: b, .. }
        | InstKind::Bin { lhs: a, rhs: b, .. }
        | InstKind::Cmp { lhs: a, rhs: b, .. }
        | InstKind::Insert { tuple: a, value: b, .. }
        | InstKind::VaCopy { dst: a, src: b } => [a, b].into_iter().for_each(one),
        InstKind::Offset { base, indices, .. } => {
            one(base);
            indices.iter_mut().for_each(|i| one(&mut i.value));
        }
        InstKind::Select { cond: a, then: b, otherwise: c }
        | InstKind::MemCopy { dst: a, src: b, len: c }
        | InstKind::MemSet { dst: a, byte: b, len: c }
        | InstKind::CmpXchg { ptr: a, expected: b, new: c } => [a, b, c].into_iter().for_each(one),
        InstKind::Phi { incoming } => incoming.iter_mut().for_each(|(_, v)| one(v)),
        InstKind::Call { callee, args, .. } => {
            if let Callee::Indirect(value) = callee {
                one(value);
            }
            args.iter_mut().for_each(one);
        }
        InstKind::Opaque { operands } => operands.iter_mut().for_each(one),
    }
}
