//! Machine types, and first-class aggregates taken apart into their scalar leaves.
//!
//! A struct or array that LLVM passes round as one value is a `Ty::Tuple` with one element per
//! scalar leaf, nested aggregates flattened. Loads and stores of it become loads and stores of the
//! leaves at their offsets.

use super::function::FunctionLowering;
use crate::llvm::{self, Range, Type, TypeRef};
use leakproof_ir::{InstKind, Ty, ValueId};
use smallvec::SmallVec;
use std::rc::Rc;

/// Aggregates with more leaves than this (C code has none) are opaque bits.
const MAX_LEAVES: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    pub offset: u64,
    pub ty: Ty,
}

/// The machine type of every type of the bitcode, and the leaves of the aggregates.
pub struct Shapes {
    tys: Vec<Ty>,
    leaves: Vec<Option<Rc<[Leaf]>>>,
}

impl Shapes {
    pub fn new(raw: &llvm::Module) -> Self {
        let mut shapes = Self { tys: Vec::new(), leaves: Vec::new() };
        for index in 0..raw.types.len() {
            let (ty, leaves) = shape(raw, TypeRef(index as u32));
            shapes.tys.push(ty);
            shapes.leaves.push(leaves);
        }
        shapes
    }

    /// Types that the module does not name (results of vector code) are opaque.
    pub fn ty(&self, ty: TypeRef) -> Ty {
        self.tys.get(ty.0 as usize).copied().unwrap_or(Ty::Opaque(0))
    }

    pub fn leaves(&self, ty: TypeRef) -> Rc<[Leaf]> {
        let leaves = self.leaves.get(ty.0 as usize).and_then(Clone::clone);
        leaves.unwrap_or_else(|| Rc::from([]))
    }
}

fn shape(raw: &llvm::Module, id: TypeRef) -> (Ty, Option<Rc<[Leaf]>>) {
    let size = || u32::try_from(raw.layout.store_size(id)).unwrap_or(u32::MAX);
    let ty = match raw.types.get(id) {
        Type::Void | Type::Label | Type::Metadata | Type::Function { .. } => Ty::Void,
        Type::Unsized => Ty::Opaque(0),
        Type::Int(bits) => u16::try_from(*bits).map_or(Ty::Opaque(size()), Ty::Int),
        Type::Ptr => Ty::Ptr,
        Type::Float(_) | Type::Vector { .. } => Ty::Opaque(size()),
        Type::Struct { .. } | Type::Array { .. } => {
            let mut leaves = Vec::new();
            return match collect(raw, id, 0, 0, &mut leaves) {
                Some(()) => (Ty::Tuple(leaves.len() as u16), Some(leaves.into())),
                None => (Ty::Opaque(size()), None),
            };
        }
    };
    (ty, None)
}

/// Adds the leaves of a type; `None` when there are too many.
fn collect(
    raw: &llvm::Module,
    id: TypeRef,
    offset: u64,
    depth: u32,
    out: &mut Vec<Leaf>,
) -> Option<()> {
    if out.len() >= MAX_LEAVES || depth > MAX_LEAVES as u32 {
        return None;
    }
    match raw.types.get(id) {
        Type::Struct { fields, .. } => {
            for (field, at) in fields.iter().zip(raw.layout.field_offsets(id)) {
                collect(raw, *field, offset + at, depth + 1, out)?;
            }
        }
        Type::Array { len, of } => {
            let stride = raw.layout.alloc_size(*of);
            for index in 0..(*len).min(MAX_LEAVES as u64 + 1) {
                collect(raw, *of, offset + stride * index, depth + 1, out)?;
            }
        }
        _ => {
            let (ty, _) = shape(raw, id);
            out.push(Leaf { offset, ty });
        }
    }
    Some(())
}

impl FunctionLowering<'_> {
    /// Which leaves of an aggregate type the element at `path` covers: first, number.
    fn element(&self, mut ty: TypeRef, path: Range) -> (usize, usize) {
        let mut first = 0;
        for &index in path.of(&self.body.pool) {
            let raw = &self.unit.raw;
            first += match raw.types.get(ty) {
                Type::Struct { fields, .. } => {
                    let before = fields.iter().take(index as usize);
                    before.map(|f| self.leaf_count(*f)).sum::<usize>()
                }
                Type::Array { of, .. } => self.leaf_count(*of).saturating_mul(index as usize),
                _ => 0,
            };
            ty = raw.types.element(ty, index).unwrap_or(TypeRef::NONE);
        }
        (first, self.leaf_count(ty))
    }

    fn leaf_count(&self, ty: TypeRef) -> usize {
        match self.unit.shapes.ty(ty) {
            Ty::Tuple(count) => usize::from(count),
            _ => 1,
        }
    }

    pub fn extract_value(&mut self, result: u32, ty: TypeRef, tuple_value: u32, path: Range) {
        let tuple_ty = self.unit.raw.type_of(tuple_value);
        let tuple = self.value(tuple_value);
        let result_ty = self.unit.shapes.ty(ty);
        if !self.covers(tuple_ty, path) {
            self.define(
                result,
                InstKind::Opaque { operands: smallvec::smallvec![tuple] },
                result_ty,
            );
            return;
        }
        let (first, count) = self.element(tuple_ty, path);
        if !matches!(result_ty, Ty::Tuple(_)) {
            self.define(result, InstKind::Extract { tuple, index: first as u32 }, result_ty);
            return;
        }
        let all = self.unit.shapes.leaves(tuple_ty);
        let mut out = self.undef(result_ty);
        for index in 0..count {
            let leaf_ty = all.get(first + index).map_or(Ty::Opaque(0), |l| l.ty);
            let leaf = InstKind::Extract { tuple, index: (first + index) as u32 };
            let value = self.emit_value(leaf, leaf_ty);
            let insert = InstKind::Insert { tuple: out, index: index as u32, value };
            out = self.emit_value(insert, result_ty);
        }
        self.alias(result, out);
    }

    pub fn insert_value(&mut self, result: u32, ty: TypeRef, tuple: u32, value: u32, path: Range) {
        let result_ty = self.unit.shapes.ty(ty);
        let value_ty = self.unit.raw.type_of(value);
        let (mut out, value) = (self.value(tuple), self.value(value));
        if !self.covers(ty, path) {
            let operands = smallvec::smallvec![out, value];
            self.define(result, InstKind::Opaque { operands }, result_ty);
            return;
        }
        let (first, _) = self.element(ty, path);
        let Ty::Tuple(_) = self.unit.shapes.ty(value_ty) else {
            self.define(
                result,
                InstKind::Insert { tuple: out, index: first as u32, value },
                result_ty,
            );
            return;
        };
        for (index, leaf) in self.unit.shapes.leaves(value_ty).iter().enumerate() {
            let part = InstKind::Extract { tuple: value, index: index as u32 };
            let part = self.emit_value(part, leaf.ty);
            let insert =
                InstKind::Insert { tuple: out, index: (first + index) as u32, value: part };
            out = self.emit_value(insert, result_ty);
        }
        self.alias(result, out);
    }

    /// Whether the type is a tuple to us and the path stays inside it.
    fn covers(&self, ty: TypeRef, path: Range) -> bool {
        let Ty::Tuple(count) = self.unit.shapes.ty(ty) else { return false };
        let (first, len) = self.element(ty, path);
        first + len <= usize::from(count)
    }

    /// A load of an aggregate: its leaves, one by one.
    pub fn load_tuple(&mut self, result: u32, ty: TypeRef, ptr: ValueId) {
        let tuple_ty = self.unit.shapes.ty(ty);
        let mut tuple = self.undef(tuple_ty);
        for (index, leaf) in self.unit.shapes.leaves(ty).iter().enumerate() {
            let at = self.leaf_address(ptr, leaf.offset);
            let value = self.emit_value(InstKind::Load { ptr: at, volatile: false }, leaf.ty);
            tuple =
                self.emit_value(InstKind::Insert { tuple, index: index as u32, value }, tuple_ty);
        }
        self.alias(result, tuple);
    }

    /// A store of an aggregate: its leaves, one by one.
    pub fn store_tuple(&mut self, ty: TypeRef, ptr: ValueId, tuple: ValueId) {
        for (index, leaf) in self.unit.shapes.leaves(ty).iter().enumerate() {
            let part = InstKind::Extract { tuple, index: index as u32 };
            let value = self.emit_value(part, leaf.ty);
            let at = self.leaf_address(ptr, leaf.offset);
            self.emit(InstKind::Store { ptr: at, value });
        }
    }

    fn leaf_address(&mut self, base: ValueId, offset: u64) -> ValueId {
        if offset == 0 {
            return base;
        }
        let offset =
            InstKind::Offset { base, offset: offset as i64, indices: SmallVec::new(), ty: None };
        self.emit_value(offset, Ty::Ptr)
    }
}
