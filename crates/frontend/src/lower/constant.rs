//! Constants: what they are without running anything, and as values of a function.

use super::function::FunctionLowering;
use super::unit::{Callable, Unit};
use crate::llvm::{Constant, Range, Type, TypeRef, Value};
use leakproof_ir::{
    BinOp, CastOp, FuncId, GlobalId, InstKind, Ty, Value as IrValue, ValueId, ValueKind,
};

/// How deep constant expressions may nest. Compilers write a few levels; since an operand may be
/// shared, the work may double with each.
const MAX_DEPTH: u32 = 16;

/// A constant whose value is known before the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Static {
    Int(u64),
    Null,
    Global(GlobalId, i64),
    Function(FuncId),
    Undef,
    /// An expression of addresses, or bits that are not modelled.
    Computed,
}

impl Unit {
    /// The symbol and offset that a constant address consists of.
    pub fn address_of(&self, value: u32) -> Option<(Value, i64)> {
        match self.evaluate(value, 0) {
            Static::Global(g, offset) => Some((Value::Global(g.0), offset)),
            Static::Function(_) => self.function_behind(value).map(|f| (Value::Function(f), 0)),
            _ => None,
        }
    }

    /// The number of the bitcode function at the end of casts and aliases.
    fn function_behind(&self, mut value: u32) -> Option<u32> {
        for _ in 0..MAX_DEPTH {
            value = match self.raw.values.get(value as usize)?.0 {
                Value::Function(f) => return Some(f),
                Value::Alias(a) => self.raw.aliases.get(a as usize)?.target,
                Value::Const(c) => match self.raw.constants.get(c) {
                    Constant::Cast { value, .. } | Constant::Same(value) => value,
                    Constant::Gep { operands, .. } => {
                        *operands.of(&self.raw.constants.pool).first()? as u32
                    }
                    _ => return None,
                },
                _ => return None,
            };
        }
        None
    }

    pub fn evaluate(&self, value: u32, depth: u32) -> Static {
        if depth > MAX_DEPTH {
            return Static::Undef;
        }
        let Some(&(kind, ty)) = self.raw.values.get(value as usize) else { return Static::Undef };
        match kind {
            Value::Global(index) => Static::Global(GlobalId(index), 0),
            Value::Function(index) => match self.callables.get(index as usize) {
                Some(Callable::Function(id)) => Static::Function(*id),
                _ => Static::Undef,
            },
            Value::Ifunc(index) => {
                self.ifuncs.get(index as usize).map_or(Static::Undef, |f| Static::Function(*f))
            }
            Value::Alias(index) => match self.raw.aliases.get(index as usize) {
                Some(alias) => self.evaluate(alias.target, depth + 1),
                None => Static::Undef,
            },
            Value::Const(index) => self.evaluate_constant(self.raw.constants.get(index), ty, depth),
            Value::Arg(_) | Value::Inst(_) => Static::Undef,
        }
    }

    fn evaluate_constant(&self, constant: Constant, ty: TypeRef, depth: u32) -> Static {
        match constant {
            Constant::Null => match self.shapes.ty(ty) {
                Ty::Ptr => Static::Null,
                Ty::Int(_) => Static::Int(0),
                _ => Static::Computed,
            },
            Constant::Undef => Static::Undef,
            Constant::Int(value) => Static::Int(value),
            Constant::Same(value) => self.evaluate(value, depth + 1),
            Constant::Cast { op, value } => self.evaluate_cast(op, value, ty, depth),
            Constant::Bin { op, lhs, rhs } => {
                match (self.evaluate(lhs, depth + 1), self.evaluate(rhs, depth + 1)) {
                    (Static::Int(l), Static::Int(r)) => fold(op, l, r, self.shapes.ty(ty)),
                    _ => Static::Computed,
                }
            }
            Constant::Gep { source, operands } => self.evaluate_gep(source, operands, depth),
            _ => Static::Computed,
        }
    }

    fn evaluate_cast(&self, op: u64, value: u32, ty: TypeRef, depth: u32) -> Static {
        let operand = self.evaluate(value, depth + 1);
        let to = self.shapes.ty(ty);
        match (cast_op(op), operand) {
            (_, Static::Undef) => Static::Undef,
            (Some(CastOp::IntToPtr) | None, Static::Int(0)) if to == Ty::Ptr => Static::Null,
            (Some(CastOp::PtrToInt), Static::Null) => Static::Int(0),
            (Some(CastOp::SExt), Static::Int(v)) => {
                let from = self.shapes.ty(self.raw.type_of(value));
                Static::Int(mask(sign_extend(v, from), to))
            }
            (_, Static::Int(v)) => Static::Int(mask(v, to)),
            // Casts between pointers change nothing.
            (None, same) if to == Ty::Ptr => same,
            _ => Static::Computed,
        }
    }

    fn evaluate_gep(&self, source: TypeRef, operands: Range, depth: u32) -> Static {
        let Some((base, indices)) = operands.of(&self.raw.constants.pool).split_first() else {
            return Static::Undef;
        };
        let Some(offset) = self.constant_offset(source, indices, depth) else {
            return Static::Computed;
        };
        match self.evaluate(*base as u32, depth + 1) {
            Static::Global(g, at) => Static::Global(g, at.wrapping_add(offset)),
            Static::Null if offset == 0 => Static::Null,
            Static::Null => Static::Int(offset as u64),
            Static::Int(at) => Static::Int(at.wrapping_add(offset as u64)),
            same if offset == 0 => same,
            _ => Static::Undef,
        }
    }

    fn constant_offset(&self, source: TypeRef, indices: &[u64], depth: u32) -> Option<i64> {
        let mut offset = 0i64;
        let mut ty = source;
        for (position, &index) in indices.iter().enumerate() {
            let Static::Int(bits) = self.evaluate(index as u32, depth + 1) else { return None };
            let steps = sign_extend(bits, self.shapes.ty(self.raw.type_of(index as u32))) as i64;
            let step = if position == 0 {
                steps.wrapping_mul(self.raw.layout.alloc_size(ty) as i64)
            } else if let Type::Struct { .. } = self.raw.types.get(ty) {
                let field = *self.raw.layout.field_offsets(ty).get(bits as usize)?;
                ty = self.raw.types.element(ty, bits)?;
                field as i64
            } else {
                ty = self.raw.types.element(ty, bits)?;
                steps.wrapping_mul(self.raw.layout.alloc_size(ty) as i64)
            };
            offset = offset.wrapping_add(step);
        }
        Some(offset)
    }
}

impl FunctionLowering<'_> {
    /// A constant as a value of this function. What has to be computed from addresses is computed
    /// at the start of the entry block.
    pub fn constant(&mut self, value: u32) -> ValueId {
        let ty = self.unit.shapes.ty(self.unit.raw.type_of(value));
        match self.unit.evaluate(value, 0) {
            Static::Int(v) => self.plain(ValueKind::Int(v), ty),
            Static::Null => self.plain(ValueKind::Null, ty),
            Static::Global(g, offset) => self.plain(ValueKind::Global(g, offset), Ty::Ptr),
            Static::Function(f) => self.plain(ValueKind::Function(f), Ty::Ptr),
            Static::Undef => self.plain(ValueKind::Undef, ty),
            Static::Computed => self.computed(value, ty),
        }
    }

    /// A value that no instruction defines.
    pub fn plain(&mut self, kind: ValueKind, ty: Ty) -> ValueId {
        self.values.push(IrValue { kind, ty })
    }

    pub fn int(&mut self, value: u64, ty: Ty) -> ValueId {
        self.plain(ValueKind::Int(mask(value, ty)), ty)
    }

    pub fn undef(&mut self, ty: Ty) -> ValueId {
        self.plain(ValueKind::Undef, ty)
    }

    fn computed(&mut self, value: u32, ty: Ty) -> ValueId {
        let Some(constant) = self.unit.raw.constant(value) else { return self.undef(ty) };
        if self.constant_depth > MAX_DEPTH {
            return self.undef(ty);
        }
        self.constant_depth += 1;
        let result = match constant {
            Constant::Cast { op, value } if cast_op(op).is_some() => {
                let op = cast_op(op).unwrap_or(CastOp::PtrToInt);
                let value = self.value(value);
                self.emit_early(InstKind::Cast { op, value }, ty)
            }
            Constant::Bin { op, lhs, rhs } => match bin_op(op) {
                Some(op) => {
                    let (lhs, rhs) = (self.value(lhs), self.value(rhs));
                    self.emit_early(InstKind::Bin { op, lhs, rhs }, ty)
                }
                None => self.undef(ty),
            },
            Constant::Aggregate(_) | Constant::Null | Constant::Data(_) | Constant::Bytes(_) => {
                self.constant_tuple(value, ty)
            }
            _ => self.undef(ty),
        };
        self.constant_depth -= 1;
        result
    }

    /// An aggregate constant, put together leaf by leaf.
    fn constant_tuple(&mut self, value: u32, ty: Ty) -> ValueId {
        let Ty::Tuple(_) = ty else { return self.undef(ty) };
        let leaves = self.constant_leaves(value);
        let mut tuple = self.undef(ty);
        for (index, leaf) in (0u32..).zip(leaves) {
            if self.values[leaf].kind != ValueKind::Undef {
                tuple = self.emit_early(InstKind::Insert { tuple, index, value: leaf }, ty);
            }
        }
        tuple
    }

    fn constant_leaves(&mut self, value: u32) -> Vec<ValueId> {
        let raw_ty = self.unit.raw.type_of(value);
        let leaves = self.unit.shapes.leaves(raw_ty);
        match self.unit.raw.constant(value) {
            Some(Constant::Null) => leaves.iter().map(|leaf| self.zero(leaf.ty)).collect(),
            Some(Constant::Aggregate(range)) => {
                let elements = range.of(&self.unit.raw.constants.pool).to_vec();
                let mut out = Vec::with_capacity(leaves.len());
                for element in elements {
                    self.push_leaves(element as u32, &mut out);
                }
                out.truncate(leaves.len());
                out
            }
            Some(Constant::Data(range)) => {
                let data = range.of(&self.unit.raw.constants.pool).to_vec();
                let ints = leaves.iter().zip(data).map(|(leaf, bits)| match leaf.ty {
                    Ty::Int(_) => self.int(bits, leaf.ty),
                    ty => self.undef(ty),
                });
                ints.collect()
            }
            _ => Vec::new(),
        }
    }

    fn push_leaves(&mut self, element: u32, out: &mut Vec<ValueId>) {
        let ty = self.unit.shapes.ty(self.unit.raw.type_of(element));
        if !matches!(ty, Ty::Tuple(_)) {
            out.push(self.value(element));
            return;
        }
        let mut leaves = Vec::new();
        if self.constant_depth < MAX_DEPTH {
            self.constant_depth += 1;
            leaves = self.constant_leaves(element);
            self.constant_depth -= 1;
        }
        // What is undefined or too deep must not shift the leaves behind it.
        let shape = self.unit.shapes.leaves(self.unit.raw.type_of(element));
        for (index, leaf) in shape.iter().enumerate() {
            out.push(leaves.get(index).copied().unwrap_or_else(|| self.undef(leaf.ty)));
        }
    }

    fn zero(&mut self, ty: Ty) -> ValueId {
        match ty {
            Ty::Ptr => self.plain(ValueKind::Null, ty),
            Ty::Int(_) => self.int(0, ty),
            _ => self.undef(ty),
        }
    }
}

/// The cast with this number in the format; `None` for those that keep the bits and for floating
/// point.
pub fn cast_op(op: u64) -> Option<CastOp> {
    match op {
        0 => Some(CastOp::Trunc),
        1 => Some(CastOp::ZExt),
        2 => Some(CastOp::SExt),
        9 => Some(CastOp::PtrToInt),
        10 => Some(CastOp::IntToPtr),
        _ => None,
    }
}

/// The operation with this number in the format.
pub fn bin_op(op: u64) -> Option<BinOp> {
    use BinOp::{AShr, Add, And, LShr, Mul, Or, SDiv, SRem, Shl, Sub, UDiv, URem, Xor};
    let table = [Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor];
    table.get(usize::try_from(op).ok()?).copied()
}

fn fold(op: u64, lhs: u64, rhs: u64, ty: Ty) -> Static {
    let value = match bin_op(op) {
        Some(BinOp::Add) => lhs.wrapping_add(rhs),
        Some(BinOp::Sub) => lhs.wrapping_sub(rhs),
        Some(BinOp::Mul) => lhs.wrapping_mul(rhs),
        Some(BinOp::And) => lhs & rhs,
        Some(BinOp::Or) => lhs | rhs,
        Some(BinOp::Xor) => lhs ^ rhs,
        _ => return Static::Computed,
    };
    Static::Int(mask(value, ty))
}

/// `value` cut to the width of `ty`.
pub fn mask(value: u64, ty: Ty) -> u64 {
    match ty {
        Ty::Int(bits) if bits < 64 => value & ((1 << bits) - 1),
        _ => value,
    }
}

pub fn sign_extend(value: u64, ty: Ty) -> u64 {
    match ty {
        Ty::Int(bits @ 1..64) => {
            let shift = 64 - u32::from(bits);
            ((value << shift) as i64 >> shift) as u64
        }
        _ => value,
    }
}
