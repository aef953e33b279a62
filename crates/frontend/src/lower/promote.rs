//! Which stack slots become SSA values, and where their phis go.
//!
//! The classic construction (Cytron et al.), pruned by liveness: a phi is placed only where the
//! slot is read before it is written again. This matters beyond size: a dead phi would look like
//! a reference that is still held. It is done here and not by LLVM's mem2reg because that drops
//! the positions of assignments, and the overwriting of a last reference is reported at one.
//!
//! A slot is promoted when it is a scalar that is only loaded and stored as a whole, not volatile
//! or atomic. The start of its lifetime makes its content undefined.

use super::cfg::Cfg;
use super::intrinsic::Intrinsic;
use super::unit::{Callable, Unit};
use crate::llvm::{Body, Constant, Inst, Op, Range, Type, TypeRef, Value};
use leakproof_ir::Ty;
use smallvec::SmallVec;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Value number of the alloca.
    pub value: u32,
    pub ty: Ty,
    promotable: bool,
    /// Block in which it was written last while scanning.
    written_in: u32,
    exposed_in: u32,
}

#[derive(Debug, Default)]
pub struct Slots {
    pub slots: Vec<Slot>,
    /// Slot of a value number (minus that of the first parameter); `NONE` for others.
    by_value: Vec<u32>,
    first_value: u32,
    /// (slot, block) that writes it, and that reads it before writing it.
    defs: Vec<(u32, u32)>,
    uses: Vec<(u32, u32)>,
    /// Slots for which each block has a phi.
    pub phis: Vec<Vec<u32>>,
}

impl Slots {
    pub fn new(unit: &Unit, body: &Body, cfg: &Cfg) -> Self {
        let mut slots = Self { first_value: body.first_arg, ..Self::default() };
        slots.by_value = vec![NONE; unit.raw.values.len().saturating_sub(body.first_arg as usize)];
        slots.find(unit, body, cfg);
        slots.scan(unit, body, cfg);
        slots.place_phis(body.blocks.len(), cfg);
        slots
    }

    /// The promoted slot that a value number is the address of.
    pub fn promoted(&self, value: u32) -> Option<usize> {
        let slot = self.candidate(value)?;
        self.slots[slot as usize].promotable.then_some(slot as usize)
    }

    fn candidate(&self, value: u32) -> Option<u32> {
        let index = value.checked_sub(self.first_value)?;
        self.by_value.get(index as usize).copied().filter(|slot| *slot != NONE)
    }

    fn find(&mut self, unit: &Unit, body: &Body, cfg: &Cfg) {
        for &block in &cfg.order {
            for inst in body.blocks[block as usize].of(&body.insts) {
                let (Op::Alloca { ty, count }, Some(value)) = (inst.op, inst.value) else {
                    continue;
                };
                let ty = unit.shapes.ty(ty);
                let scalar = matches!(ty, Ty::Int(_) | Ty::Ptr | Ty::Opaque(1..));
                if !scalar || unit.raw.constant(count) != Some(Constant::Int(1)) {
                    continue;
                }
                let index = (value - self.first_value) as usize;
                self.by_value[index] = self.slots.len() as u32;
                self.slots.push(Slot {
                    value,
                    ty,
                    promotable: true,
                    written_in: NONE,
                    exposed_in: NONE,
                });
            }
        }
    }

    fn scan(&mut self, unit: &Unit, body: &Body, cfg: &Cfg) {
        if self.slots.is_empty() {
            return;
        }
        for &block in &cfg.order {
            for inst in body.blocks[block as usize].of(&body.insts) {
                self.scan_inst(unit, body, block, inst);
            }
        }
    }

    fn scan_inst(&mut self, unit: &Unit, body: &Body, block: u32, inst: &Inst) {
        match inst.op {
            Op::Load { ptr, volatile } => {
                self.read(ptr, block, !volatile && self.is_whole(unit, ptr, inst.ty));
            }
            Op::Store { ptr, value, volatile } => {
                self.escape(value);
                let ty = unit.raw.type_of(value);
                self.write(ptr, block, !volatile && self.is_whole(unit, ptr, ty));
            }
            Op::Call { callee, args, .. } => self.scan_call(unit, body, block, callee, args),
            op => for_each_operand(body, op, |value| self.escape(value)),
        }
    }

    fn scan_call(&mut self, unit: &Unit, body: &Body, block: u32, callee: u32, args: Range) {
        let args = args.of(&body.pool);
        match intrinsic(unit, callee) {
            Some(Intrinsic::LifetimeStart) => {
                args.iter().for_each(|arg| self.write(*arg as u32, block, true));
            }
            // The arguments of debug intrinsics are metadata, not values.
            Some(
                Intrinsic::LifetimeEnd
                | Intrinsic::DebugDeclare
                | Intrinsic::DebugValue
                | Intrinsic::Nothing,
            ) => {}
            Some(_) => {
                value_arguments(unit, callee, args).into_iter().for_each(|arg| self.escape(arg));
            }
            None => args.iter().for_each(|arg| self.escape(*arg as u32)),
        }
    }

    fn is_whole(&self, unit: &Unit, ptr: u32, ty: TypeRef) -> bool {
        let slot = self.candidate(ptr).map(|slot| self.slots[slot as usize].ty);
        slot.is_none_or(|slot| slot == unit.shapes.ty(ty))
    }

    fn escape(&mut self, value: u32) {
        if let Some(slot) = self.candidate(value) {
            self.slots[slot as usize].promotable = false;
        }
    }

    fn read(&mut self, ptr: u32, block: u32, plain: bool) {
        let Some(index) = self.candidate(ptr) else { return };
        let slot = &mut self.slots[index as usize];
        slot.promotable &= plain;
        if slot.written_in != block && slot.exposed_in != block {
            slot.exposed_in = block;
            self.uses.push((index, block));
        }
    }

    fn write(&mut self, ptr: u32, block: u32, plain: bool) {
        let Some(index) = self.candidate(ptr) else { return };
        let slot = &mut self.slots[index as usize];
        slot.promotable &= plain;
        if slot.written_in != block {
            slot.written_in = block;
            self.defs.push((index, block));
        }
    }

    fn place_phis(&mut self, blocks: usize, cfg: &Cfg) {
        self.phis = vec![Vec::new(); blocks];
        // Sorting groups the blocks of a slot.
        self.defs.sort_unstable();
        self.uses.sort_unstable();
        let mut marks = Marks {
            live: vec![NONE; blocks],
            defines: vec![NONE; blocks],
            has_phi: vec![NONE; blocks],
        };
        for index in 0..self.slots.len() as u32 {
            let uses = group(&self.uses, index);
            if self.slots[index as usize].promotable && !uses.is_empty() {
                place(index, group(&self.defs, index), uses, cfg, &mut marks, &mut self.phis);
            }
        }
    }
}

/// Per block, the slot for which something was last found true.
struct Marks {
    live: Vec<u32>,
    defines: Vec<u32>,
    has_phi: Vec<u32>,
}

fn group(pairs: &[(u32, u32)], slot: u32) -> &[(u32, u32)] {
    let start = pairs.partition_point(|p| p.0 < slot);
    let end = pairs.partition_point(|p| p.0 <= slot);
    &pairs[start..end]
}

fn place(
    slot: u32,
    defs: &[(u32, u32)],
    uses: &[(u32, u32)],
    cfg: &Cfg,
    marks: &mut Marks,
    phis: &mut [Vec<u32>],
) {
    for (_, block) in defs {
        marks.defines[*block as usize] = slot;
    }
    let mut work: Vec<u32> = uses.iter().map(|(_, block)| *block).collect();
    work.iter().for_each(|block| marks.live[*block as usize] = slot);
    while let Some(block) = work.pop() {
        for &pred in cfg.preds.of(block) {
            let known = marks.live[pred as usize] == slot || marks.defines[pred as usize] == slot;
            if !known {
                marks.live[pred as usize] = slot;
                work.push(pred);
            }
        }
    }
    let mut work: Vec<u32> = defs.iter().map(|(_, block)| *block).collect();
    // The entry defines every slot, as undefined.
    work.push(0);
    while let Some(block) = work.pop() {
        for &join in cfg.frontiers.of(block) {
            let at = join as usize;
            if marks.live[at] == slot && marks.has_phi[at] != slot {
                marks.has_phi[at] = slot;
                phis[at].push(slot);
                work.push(join);
            }
        }
    }
}

/// The intrinsic that a value number is, if it is one.
pub fn intrinsic(unit: &Unit, callee: u32) -> Option<Intrinsic> {
    let Value::Function(index) = unit.raw.values.get(callee as usize)?.0 else { return None };
    match unit.callables.get(index as usize)? {
        Callable::Intrinsic(intrinsic) => Some(*intrinsic),
        Callable::Function(_) => None,
    }
}

/// The arguments of an intrinsic that are values: some take metadata, numbered on its own.
pub fn value_arguments(unit: &Unit, callee: u32, args: &[u64]) -> SmallVec<[u32; 4]> {
    let function = match unit.raw.values.get(callee as usize).map(|v| v.0) {
        Some(Value::Function(index)) => unit.raw.functions.get(index as usize),
        _ => None,
    };
    let params = match function.map(|f| unit.raw.types.get(f.ty)) {
        Some(Type::Function { params, .. }) => params.as_slice(),
        _ => &[],
    };
    let is_value = |position: usize| {
        let param = params.get(position).map(|p| unit.raw.types.get(*p));
        !matches!(param, Some(Type::Metadata))
    };
    let values = args.iter().enumerate().filter(|(position, _)| is_value(*position));
    values.map(|(_, v)| *v as u32).collect()
}

/// Calls `f` with every value that an operation reads.
pub fn for_each_operand(body: &Body, op: Op, mut f: impl FnMut(u32)) {
    let pool = |range: Range| range.of(&body.pool).iter().map(|v| *v as u32);
    let evens = |range: Range| range.of(&body.pool).iter().step_by(2).map(|v| *v as u32);
    match op {
        Op::Bin { lhs, rhs, .. } | Op::Cmp { lhs, rhs, .. } => [lhs, rhs].into_iter().for_each(f),
        Op::Cast { value, .. } | Op::Freeze { value } | Op::VaArg { list: value } => f(value),
        Op::Gep { operands, .. } | Op::Opaque { operands } => pool(operands).for_each(f),
        Op::Select { cond, then, otherwise } => [cond, then, otherwise].into_iter().for_each(f),
        Op::Load { ptr, .. } => f(ptr),
        Op::Store { ptr, value, .. } | Op::AtomicRmw { ptr, value, .. } => {
            [ptr, value].into_iter().for_each(f);
        }
        Op::CmpXchg { ptr, expected, new } => [ptr, expected, new].into_iter().for_each(f),
        Op::ExtractValue { tuple, .. } => f(tuple),
        Op::InsertValue { tuple, value, .. } => [tuple, value].into_iter().for_each(f),
        Op::Call { callee, args, .. }
        | Op::Invoke { callee, args, .. }
        | Op::CallBr { callee, args, .. } => {
            f(callee);
            pool(args).for_each(f);
        }
        Op::Phi { incoming } => evens(incoming).for_each(f),
        Op::Return { value } => value.into_iter().for_each(f),
        Op::Branch { cond, .. } => f(cond),
        Op::Switch { value, .. } => f(value),
        Op::Alloca { .. }
        | Op::Fence
        | Op::Jump { .. }
        | Op::Indirect { .. }
        | Op::Resume
        | Op::Unreachable => {}
    }
}
