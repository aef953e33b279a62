//! Address computations.

use super::constant::{Static, sign_extend};
use super::function::FunctionLowering;
use super::unit::PendingField;
use crate::llvm::{Range, Type, TypeRef};
use leakproof_ir::{Index, InstKind, Ty, ValueKind};
use smallvec::SmallVec;

/// What an address computation adds up to.
#[derive(Default)]
struct Sum {
    offset: i64,
    indices: SmallVec<[Index; 1]>,
    /// The outermost struct of which a field is selected.
    structure: Option<TypeRef>,
}

impl FunctionLowering<'_> {
    pub fn gep(&mut self, number: u32, ty: TypeRef, source: TypeRef, operands: Range) {
        let result = self.unit.shapes.ty(ty);
        let sum = match operands.of(&self.body.pool).split_first() {
            Some((_, indices)) if result == Ty::Ptr => self.add_up(source, indices),
            _ => None,
        };
        let mut operands = operands.of(&self.body.pool).iter().map(|v| *v as u32);
        let (Some(sum), Some(base)) = (sum, operands.next()) else {
            let operands = operands.map(|v| self.value(v)).collect();
            self.define(number, InstKind::Opaque { operands }, result);
            return;
        };
        let base = self.value(base);
        let inst = self.insts.next_id();
        if let Some(structure) = sum.structure {
            self.unit.pending.push(PendingField { function: self.function, inst, structure });
        }
        let Sum { offset, indices, .. } = sum;
        self.define(number, InstKind::Offset { base, offset, indices, ty: None }, Ty::Ptr);
    }

    /// `None` when a struct has no field of that number.
    fn add_up(&mut self, source: TypeRef, indices: &[u64]) -> Option<Sum> {
        let mut sum = Sum::default();
        let mut ty = source;
        for (position, index) in indices.iter().map(|v| *v as u32).enumerate() {
            let constant = self.constant_index(index);
            let raw = &self.unit.raw;
            if position > 0 && matches!(raw.types.get(ty), Type::Struct { .. }) {
                let field = constant?;
                let offset = raw.layout.field_offsets(ty).get(usize::try_from(field).ok()?)?;
                sum.offset = sum.offset.wrapping_add(*offset as i64);
                sum.structure.get_or_insert(ty);
                ty = raw.types.element(ty, field)?;
                continue;
            }
            if position > 0 {
                ty = raw.types.element(ty, 0)?;
            }
            let scale = raw.layout.alloc_size(ty) as i64;
            match constant {
                Some(bits) => {
                    let steps = sign_extend(bits, self.unit.shapes.ty(raw.type_of(index))) as i64;
                    sum.offset = sum.offset.wrapping_add(steps.wrapping_mul(scale));
                }
                None if scale == 0 => {}
                None => sum.indices.push(Index { value: self.value(index), scale }),
            }
        }
        Some(sum)
    }

    /// The number that an index is, be it written so or known since slots were promoted.
    fn constant_index(&mut self, index: u32) -> Option<u64> {
        if let Static::Int(bits) = self.unit.evaluate(index, 0) {
            return Some(bits);
        }
        let value = self.value(index);
        match self.values[value].kind {
            ValueKind::Int(bits) => Some(bits),
            _ => None,
        }
    }
}
