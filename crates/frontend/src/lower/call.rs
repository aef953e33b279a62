//! Calls, and LLVM's intrinsics, which look like calls.

use super::constant::{Static, bin_op};
use super::function::FunctionLowering;
use super::intrinsic::{Extremum, Intrinsic};
use super::promote::{intrinsic, value_arguments};
use crate::llvm::{Constant, MdId, Range, TypeRef, md_code};
use leakproof_ir::{BinOp, Callee, Index, InstId, InstKind, Pred, Ty, ValueId, ValueKind};
use smallvec::{SmallVec, smallvec};

/// Where the result of a call goes: value number and type.
pub type CallResult = Option<(u32, TypeRef)>;

impl FunctionLowering<'_> {
    pub fn call(&mut self, result: CallResult, callee: u32, args: Range, attributes: u64) {
        match intrinsic(self.unit, callee) {
            Some(Intrinsic::DebugDeclare | Intrinsic::DebugValue) => {
                self.debug_call(intrinsic(self.unit, callee), args);
            }
            Some(intrinsic) => self.intrinsic(intrinsic, result, callee, args),
            None => {
                self.real_call(result, callee, args, attributes);
            }
        }
    }

    /// A call of something that is not LLVM's own.
    pub fn real_call(
        &mut self,
        result: CallResult,
        callee: u32,
        args: Range,
        attributes: u64,
    ) -> InstId {
        let args = self.arguments(args);
        let callee = self.callee(callee);
        let declared = match callee {
            Callee::Direct(f) => self.unit.out.functions[f].attrs.noreturn,
            _ => false,
        };
        let noreturn = declared || self.unit.raw.attributes.list(attributes).noreturn;
        let kind = InstKind::Call { callee, args, noreturn };
        let id = self.insts.next_id();
        match result {
            Some((number, ty)) => {
                let ty = self.unit.shapes.ty(ty);
                self.define(number, kind, ty);
            }
            None => {
                self.emit(kind);
            }
        }
        id
    }

    fn arguments(&mut self, args: Range) -> SmallVec<[ValueId; 4]> {
        args.of(&self.body.pool).iter().map(|v| self.value(*v as u32)).collect()
    }

    fn callee(&mut self, callee: u32) -> Callee {
        if self.unit.raw.constant(callee) == Some(Constant::Asm) {
            return Callee::Asm;
        }
        if let Static::Function(f) = self.unit.evaluate(callee, 0) {
            return Callee::Direct(f);
        }
        let value = self.value(callee);
        match self.values[value].kind {
            // A promoted variable that holds a known function.
            ValueKind::Function(f) => Callee::Direct(f),
            _ => Callee::Indirect(value),
        }
    }

    fn intrinsic(
        &mut self,
        intrinsic: Intrinsic,
        result: CallResult,
        callee: u32,
        raw_args: Range,
    ) {
        let numbers = value_arguments(self.unit, callee, raw_args.of(&self.body.pool));
        let needed = intrinsic.arguments();
        let args: SmallVec<[ValueId; 4]> =
            numbers.into_iter().take(needed).map(|v| self.value(v)).collect();
        match (intrinsic, args.as_slice(), result) {
            (Intrinsic::MemCopy, &[dst, src, len, ..], _) => {
                self.emit(InstKind::MemCopy { dst, src, len });
            }
            (Intrinsic::MemSet, &[dst, byte, len, ..], _) => {
                self.emit(InstKind::MemSet { dst, byte, len });
            }
            (Intrinsic::VaStart, &[list, ..], _) => {
                self.emit(InstKind::VaStart { list });
            }
            (Intrinsic::VaCopy, &[dst, src, ..], _) => {
                self.emit(InstKind::VaCopy { dst, src });
            }
            (Intrinsic::LifetimeStart | Intrinsic::LifetimeEnd, _, _) => {
                self.lifetime(intrinsic, raw_args);
            }
            (Intrinsic::Same, &[value, ..], Some((number, _))) => self.alias(number, value),
            (Intrinsic::Overflow(op), &[lhs, rhs, ..], Some(result)) => {
                self.overflow(result, op, lhs, rhs);
            }
            (Intrinsic::Extremum(which), &[lhs, rhs, ..], Some((number, ty))) => {
                let ty = self.unit.shapes.ty(ty);
                self.extremum(number, ty, which, lhs, rhs);
            }
            (Intrinsic::Abs, &[value, ..], Some((number, ty))) => {
                let ty = self.unit.shapes.ty(ty);
                self.abs(number, ty, value);
            }
            (Intrinsic::PtrMask, &[base, mask, ..], Some((number, _))) => {
                let indices = smallvec![Index { value: mask, scale: 1 }];
                let kind = InstKind::Offset { base, offset: 0, indices, ty: None };
                self.define(number, kind, Ty::Ptr);
            }
            (_, args, Some((number, ty))) => {
                let ty = self.unit.shapes.ty(ty);
                let operands = args.iter().copied().collect();
                self.define(number, InstKind::Opaque { operands }, ty);
            }
            // Without a result and without a meaning to us.
            (_, _, None) => {}
        }
    }

    fn overflow(&mut self, (number, ty): (u32, TypeRef), op: u64, lhs: ValueId, rhs: ValueId) {
        let tuple_ty = self.unit.shapes.ty(ty);
        let value_ty = self.values[lhs].ty;
        let operands = smallvec![lhs, rhs];
        let (Ty::Int(_), Some(op)) = (value_ty, bin_op(op)) else {
            self.define(number, InstKind::Opaque { operands }, tuple_ty);
            return;
        };
        let value = self.emit_value(InstKind::Bin { op, lhs, rhs }, value_ty);
        // Sums and products of sizes are far from 64 bits: a check for that is a formality. Differences are not.
        let flag = match value_ty {
            Ty::Int(64) if op != BinOp::Sub => self.int(0, Ty::Int(1)),
            _ => self.emit_value(InstKind::Opaque { operands }, Ty::Int(1)),
        };
        let tuple = self.undef(tuple_ty);
        let tuple = self.emit_value(InstKind::Insert { tuple, index: 0, value }, tuple_ty);
        self.define(number, InstKind::Insert { tuple, index: 1, value: flag }, tuple_ty);
    }

    fn extremum(&mut self, number: u32, ty: Ty, which: Extremum, lhs: ValueId, rhs: ValueId) {
        let pred = match which {
            Extremum::UMax => Pred::UGt,
            Extremum::UMin => Pred::ULt,
            Extremum::SMax => Pred::SGt,
            Extremum::SMin => Pred::SLt,
        };
        if !matches!(ty, Ty::Int(_)) {
            self.define(number, InstKind::Opaque { operands: smallvec![lhs, rhs] }, ty);
            return;
        }
        let cond = self.emit_value(InstKind::Cmp { pred, lhs, rhs }, Ty::Int(1));
        self.define(number, InstKind::Select { cond, then: lhs, otherwise: rhs }, ty);
    }

    fn abs(&mut self, number: u32, ty: Ty, value: ValueId) {
        if !matches!(ty, Ty::Int(_)) {
            self.define(number, InstKind::Opaque { operands: smallvec![value] }, ty);
            return;
        }
        let zero = self.int(0, ty);
        let minus = InstKind::Bin { op: BinOp::Sub, lhs: zero, rhs: value };
        let minus = self.emit_value(minus, ty);
        let cond = InstKind::Cmp { pred: Pred::SLt, lhs: value, rhs: zero };
        let cond = self.emit_value(cond, Ty::Int(1));
        self.define(number, InstKind::Select { cond, then: minus, otherwise: value }, ty);
    }

    /// Debug info in the form of calls, as older tools write it: the arguments are metadata.
    fn debug_call(&mut self, which: Option<Intrinsic>, args: Range) {
        let &[value, variable, expression] = args.of(&self.body.pool) else { return };
        let [value, variable, expression] = [value, variable, expression].map(|v| MdId(v as u32));
        let node = self.unit.raw.metadata.node(value);
        if which == Some(Intrinsic::DebugValue) && node.code == md_code::VALUE {
            let value = node.number(1) as u32;
            self.variable_value(variable, expression, value);
        }
    }
}
