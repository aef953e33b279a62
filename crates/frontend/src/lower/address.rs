//! Address computations.

use super::constant::sign_extend;
use super::function::FunctionLowering;
use super::unit::PendingField;
use crate::llvm::{Range, Type, TypeRef};
use leakproof_ir::{Index, InstKind, Ty, ValueId, ValueKind};
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
        let operands: SmallVec<[ValueId; 4]> =
            operands.of(&self.body.pool).iter().map(|v| self.value(*v as u32)).collect();
        let result = self.unit.shapes.ty(ty);
        let sum = match operands.split_first() {
            Some((base, indices)) if result == Ty::Ptr => {
                self.add_up(source, indices).map(|sum| (*base, sum))
            }
            _ => None,
        };
        let Some((base, sum)) = sum else {
            let operands = operands.into_iter().collect();
            self.define(number, InstKind::Opaque { operands }, result);
            return;
        };
        let inst = self.insts.next_id();
        if let Some(structure) = sum.structure {
            self.unit.pending.push(PendingField { function: self.function, inst, structure });
        }
        let Sum { offset, indices, .. } = sum;
        self.define(number, InstKind::Offset { base, offset, indices, ty: None }, Ty::Ptr);
    }

    /// `None` when a struct has no field of that number.
    fn add_up(&self, source: TypeRef, indices: &[ValueId]) -> Option<Sum> {
        let raw = &self.unit.raw;
        let mut sum = Sum::default();
        let mut ty = source;
        for (position, &index) in indices.iter().enumerate() {
            let field = match (self.values[index].kind, raw.types.get(ty)) {
                (ValueKind::Int(field), Type::Struct { .. }) if position > 0 => Some(field),
                (_, Type::Struct { .. }) if position > 0 => return None,
                _ => None,
            };
            if let Some(field) = field {
                let offset = raw.layout.field_offsets(ty).get(usize::try_from(field).ok()?)?;
                sum.offset = sum.offset.wrapping_add(*offset as i64);
                sum.structure.get_or_insert(ty);
                ty = raw.types.element(ty, field)?;
                continue;
            }
            if position > 0 {
                ty = raw.types.element(ty, 0)?;
            }
            self.add_index(index, raw.layout.alloc_size(ty) as i64, &mut sum);
        }
        Some(sum)
    }

    fn add_index(&self, index: ValueId, scale: i64, sum: &mut Sum) {
        let value = self.values[index];
        match value.kind {
            ValueKind::Int(bits) => {
                let steps = sign_extend(bits, value.ty) as i64;
                sum.offset = sum.offset.wrapping_add(steps.wrapping_mul(scale));
            }
            _ if scale == 0 => {}
            _ => sum.indices.push(Index { value: index, scale }),
        }
    }
}
