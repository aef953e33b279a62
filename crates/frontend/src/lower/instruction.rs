//! Instructions other than calls and terminators.

use super::constant::{bin_op, cast_op};
use super::function::{Content, FunctionLowering};
use crate::llvm::{Constant, Inst, Op, Range, TypeRef};
use leakproof_ir::{InstKind, Pred, RmwOp, Ty, ValueId};
use smallvec::{SmallVec, smallvec};

impl FunctionLowering<'_> {
    pub fn instruction(&mut self, inst: &Inst) {
        let Some(number) = inst.value else { return self.effect(inst) };
        let ty = self.unit.shapes.ty(inst.ty);
        match inst.op {
            Op::Alloca { ty, count } => self.alloca(number, ty, count),
            Op::Load { ptr, volatile } => self.load(number, inst.ty, ptr, volatile),
            Op::Bin { op, lhs, rhs } => self.binary(number, ty, op, lhs, rhs),
            Op::Cast { op, value } => self.cast(number, ty, op, value),
            Op::Gep { source, operands } => self.gep(number, inst.ty, source, operands),
            Op::Select { cond, then, otherwise } => {
                self.select(number, ty, [cond, then, otherwise])
            }
            Op::Cmp { pred, lhs, rhs } => self.compare(number, inst.ty, pred, lhs, rhs),
            Op::AtomicRmw { op, ptr, value } => {
                let (ptr, value) = (self.value(ptr), self.value(value));
                self.define(number, InstKind::AtomicRmw { op: rmw_op(op), ptr, value }, ty);
            }
            Op::CmpXchg { ptr, expected, new } => {
                let (ptr, expected) = (self.value(ptr), self.value(expected));
                let new = self.value(new);
                self.define(number, InstKind::CmpXchg { ptr, expected, new }, Ty::Tuple(2));
            }
            Op::ExtractValue { tuple, path } => self.extract_value(number, inst.ty, tuple, path),
            Op::InsertValue { tuple, value, path } => {
                self.insert_value(number, inst.ty, tuple, value, path);
            }
            Op::Call { callee, args, attributes } => {
                self.call(Some((number, inst.ty)), callee, args, attributes);
            }
            Op::VaArg { list } => {
                let ptr = self.value(list);
                self.define(number, InstKind::Load { ptr, volatile: false }, ty);
            }
            Op::Freeze { value } => {
                let value = self.value(value);
                self.alias(number, value);
            }
            Op::Phi { incoming } => self.phi(number, inst.ty, incoming),
            Op::Opaque { operands } => self.opaque(number, ty, operands),
            _ => {}
        }
    }

    /// Instructions without a result.
    fn effect(&mut self, inst: &Inst) {
        match inst.op {
            Op::Store { ptr, value, .. } => self.store(ptr, value),
            Op::Call { callee, args, attributes } => self.call(None, callee, args, attributes),
            _ => {}
        }
    }

    fn alloca(&mut self, number: u32, ty: TypeRef, count: u32) {
        if self.slots.promoted(number).is_some() {
            return;
        }
        let size = self.unit.raw.layout.alloc_size(ty);
        let single = self.unit.raw.constant(count) == Some(Constant::Int(1));
        let count = (!single).then(|| self.value(count));
        let var = self.slot_vars.get(&number).copied();
        let source = var.and_then(|v| self.vars[v].ty);
        self.unit.slot_types.extend(source.map(|source| (ty, source)));
        let kind = InstKind::Alloca { size, count, var, ty: source };
        // Slots stand together at the top of the function; each has the position of its variable.
        let here = self.loc;
        self.loc = var.map_or(here, |v| self.vars[v].loc);
        self.define(number, kind, Ty::Ptr);
        self.loc = here;
    }

    fn load(&mut self, number: u32, ty: TypeRef, ptr: u32, volatile: bool) {
        if let Some(slot) = self.slots.promoted(ptr) {
            let content = self.content(slot);
            return self.alias(number, content);
        }
        let ptr = self.value(ptr);
        match self.unit.shapes.ty(ty) {
            Ty::Tuple(_) => self.load_tuple(number, ty, ptr),
            ty => {
                self.define(number, InstKind::Load { ptr, volatile }, ty);
            }
        }
    }

    fn store(&mut self, ptr: u32, value: u32) {
        if let Some(slot) = self.slots.promoted(ptr) {
            self.set_content(slot, Content::Number(value));
            return self.assigned(ptr, value);
        }
        let raw_ty = self.unit.raw.type_of(value);
        let content = self.value(value);
        let ptr = self.value(ptr);
        match self.unit.shapes.ty(raw_ty) {
            Ty::Tuple(_) => self.store_tuple(raw_ty, ptr, content),
            _ => {
                self.emit(InstKind::Store { ptr, value: content });
            }
        }
    }

    fn binary(&mut self, number: u32, ty: Ty, op: u64, lhs: u32, rhs: u32) {
        let (lhs, rhs) = (self.value(lhs), self.value(rhs));
        let kind = match (bin_op(op), ty) {
            (Some(op), Ty::Int(_)) => InstKind::Bin { op, lhs, rhs },
            _ => InstKind::Opaque { operands: smallvec![lhs, rhs] },
        };
        self.define(number, kind, ty);
    }

    fn cast(&mut self, number: u32, ty: Ty, op: u64, value: u32) {
        const BITCAST: u64 = 11;
        const ADDRSPACECAST: u64 = 12;
        let value = self.value(value);
        let from = self.values[value].ty;
        let scalar = |ty: Ty| matches!(ty, Ty::Int(_) | Ty::Ptr);
        match cast_op(op) {
            Some(op) if scalar(ty) && scalar(from) => {
                self.define(number, InstKind::Cast { op, value }, ty);
            }
            None if matches!(op, BITCAST | ADDRSPACECAST) && from == ty => {
                self.alias(number, value)
            }
            _ => {
                self.define(number, InstKind::Opaque { operands: smallvec![value] }, ty);
            }
        }
    }

    fn select(&mut self, number: u32, ty: Ty, operands: [u32; 3]) {
        let [cond, then, otherwise] = operands.map(|v| self.value(v));
        let kind = if self.values[cond].ty == Ty::Int(1) {
            InstKind::Select { cond, then, otherwise }
        } else {
            InstKind::Opaque { operands: smallvec![cond, then, otherwise] }
        };
        self.define(number, kind, ty);
    }

    fn compare(&mut self, number: u32, ty: TypeRef, pred: u64, lhs: u32, rhs: u32) {
        let (lhs, rhs) = (self.value(lhs), self.value(rhs));
        let scalar = matches!(self.values[lhs].ty, Ty::Int(_) | Ty::Ptr);
        match int_pred(pred) {
            Some(pred) if scalar => {
                self.define(number, InstKind::Cmp { pred, lhs, rhs }, Ty::Int(1));
            }
            _ => {
                let ty = self.unit.shapes.ty(ty);
                self.define(number, InstKind::Opaque { operands: smallvec![lhs, rhs] }, ty);
            }
        }
    }

    fn phi(&mut self, number: u32, ty: TypeRef, incoming: Range) {
        let ty = self.unit.shapes.ty(ty);
        let here = std::mem::take(&mut self.loc);
        self.add_phi(number, incoming, ty);
        self.loc = here;
    }

    fn opaque(&mut self, number: u32, ty: Ty, operands: Range) {
        let operands: SmallVec<[ValueId; 2]> =
            operands.of(&self.body.pool).iter().map(|v| self.value(*v as u32)).collect();
        self.define(number, InstKind::Opaque { operands }, ty);
    }
}

fn rmw_op(op: u64) -> RmwOp {
    match op {
        0 => RmwOp::Xchg,
        1 => RmwOp::Add,
        2 => RmwOp::Sub,
        3 => RmwOp::And,
        5 => RmwOp::Or,
        _ => RmwOp::Other,
    }
}

/// The integer predicate with this number in the format; `None` for floating point.
fn int_pred(pred: u64) -> Option<Pred> {
    use Pred::{Eq, Ne, SGe, SGt, SLe, SLt, UGe, UGt, ULe, ULt};
    let table = [Eq, Ne, UGt, UGe, ULt, ULe, SGt, SGe, SLt, SLe];
    table.get(usize::try_from(pred.checked_sub(32)?).ok()?).copied()
}
