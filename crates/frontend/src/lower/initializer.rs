//! Initial values of globals, flattened to the parts that are not zero.

use super::constant::Static;
use super::unit::Unit;
use crate::llvm::{Constant, Range, Type, TypeRef};
use leakproof_ir::{GlobalId, InitEntry, InitValue, Ty};

/// Arrays of numbers longer than this are kept as one opaque block: no analysis reads tables of
/// that size, and they would dominate the module.
const MAX_NUMBERS: usize = 4096;
/// How deep aggregates may nest: more is a cycle.
const MAX_DEPTH: u32 = 200;
/// Globals with more parts than this are opaque: elements may be shared, so that a small file can
/// describe a value of any size.
const MAX_ENTRIES: usize = 1 << 20;

impl Unit {
    pub fn lower_initializers(&mut self) {
        for index in 0..self.raw.globals.len() {
            let Some(value) = self.raw.globals[index].init else { continue };
            let mut entries = Vec::new();
            self.flatten(value, 0, 0, &mut entries);
            if entries.len() > MAX_ENTRIES {
                let size = self.raw.layout.alloc_size(self.raw.globals[index].ty);
                let value = InitValue::Opaque(opaque_size(size));
                entries = vec![InitEntry { offset: 0, value }];
            }
            self.out.globals[GlobalId(index as u32)].init = Some(entries);
        }
    }

    fn flatten(&self, value: u32, offset: u64, depth: u32, out: &mut Vec<InitEntry>) {
        if out.len() > MAX_ENTRIES {
            return;
        }
        let ty = self.raw.type_of(value);
        match self.raw.constant(value) {
            Some(Constant::Null | Constant::Undef) => {}
            Some(Constant::Aggregate(elements)) if depth < MAX_DEPTH => {
                self.flatten_aggregate(ty, elements, offset, depth, out);
            }
            Some(Constant::Bytes(range)) => {
                let bytes = range.of(&self.raw.constants.bytes).to_vec();
                out.push(InitEntry { offset, value: InitValue::Bytes(bytes) });
            }
            Some(Constant::Data(numbers)) => self.flatten_numbers(ty, numbers, offset, out),
            _ => out.extend(self.flatten_scalar(value, offset)),
        }
    }

    fn flatten_aggregate(
        &self,
        ty: TypeRef,
        elements: Range,
        offset: u64,
        depth: u32,
        out: &mut Vec<InitEntry>,
    ) {
        let elements = elements.of(&self.raw.constants.pool);
        let offsets = self.raw.layout.field_offsets(ty);
        let stride = match self.raw.types.get(ty) {
            Type::Array { of, .. } | Type::Vector { of, .. } => self.raw.layout.alloc_size(*of),
            _ => 0,
        };
        for (index, element) in elements.iter().enumerate() {
            let at = offsets.get(index).copied().unwrap_or(stride.wrapping_mul(index as u64));
            self.flatten(*element as u32, offset.wrapping_add(at), depth + 1, out);
        }
    }

    fn flatten_numbers(&self, ty: TypeRef, range: Range, offset: u64, out: &mut Vec<InitEntry>) {
        let numbers = range.of(&self.raw.constants.pool);
        let element = match self.raw.types.get(ty) {
            Type::Array { of, .. } | Type::Vector { of, .. } => *of,
            _ => return,
        };
        let size = self.raw.layout.alloc_size(element) as usize;
        let is_int = matches!(self.raw.types.get(element), Type::Int(_));
        let value = if is_int && (1..=8).contains(&size) && numbers.len() <= MAX_NUMBERS {
            let bytes = numbers.iter().flat_map(|n| n.to_le_bytes().into_iter().take(size));
            InitValue::Bytes(bytes.collect())
        } else {
            InitValue::Opaque(opaque_size(self.raw.layout.alloc_size(ty)))
        };
        out.push(InitEntry { offset, value });
    }

    fn flatten_scalar(&self, value: u32, offset: u64) -> Option<InitEntry> {
        let ty = self.raw.type_of(value);
        let value = match self.evaluate(value, 0) {
            Static::Int(0) | Static::Null | Static::Undef => return None,
            Static::Int(value) => {
                let bits = match self.shapes.ty(ty) {
                    Ty::Int(bits) => bits,
                    other => (other.size() * 8) as u16,
                };
                InitValue::Int { bits, value }
            }
            Static::Global(g, at) => InitValue::Global(g, at),
            Static::Function(f) => InitValue::Function(f),
            Static::Computed => InitValue::Opaque(opaque_size(self.raw.layout.alloc_size(ty))),
        };
        Some(InitEntry { offset, value })
    }
}

fn opaque_size(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
