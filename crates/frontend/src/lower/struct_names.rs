//! From LLVM's struct types to the structs of the source, so that fields have names.
//!
//! LLVM's names are `struct.foo`, `union.bar`, `class.ns::Baz`, with `.12` behind them where two
//! share a name and `.base` for a base class without its tail padding. Template arguments are not
//! part of them. Structs without a name (`struct.anon.3`) are found through the field that holds
//! them.

use super::unit::Unit;
use crate::llvm::{Type, TypeRef};
use leakproof_ir::{InstKind, SourceType, TypeId};
use rustc_hash::FxHashMap;

/// Fills in the source struct of every address computation that selects a field.
pub fn resolve(unit: &mut Unit) {
    if unit.pending.is_empty() {
        return;
    }
    let found = Resolver::new(unit).run();
    for field in std::mem::take(&mut unit.pending) {
        let Some(structure) = found.get(&field.structure) else { continue };
        let body = unit.out.functions[field.function].body.as_mut();
        if let Some(InstKind::Offset { ty, .. }) = body.map(|b| &mut b.insts[field.inst].kind) {
            *ty = Some(*structure);
        }
    }
}

struct Resolver<'u> {
    unit: &'u Unit,
    by_name: FxHashMap<String, Vec<TypeId>>,
    found: FxHashMap<TypeRef, TypeId>,
}

impl<'u> Resolver<'u> {
    fn new(unit: &'u Unit) -> Self {
        let mut by_name: FxHashMap<String, Vec<TypeId>> = FxHashMap::default();
        for key in unit.types.keys() {
            let list = by_name.entry(without_template_arguments(&key.name)).or_default();
            if !list.contains(&key.ty) {
                list.push(key.ty);
            }
        }
        Self { unit, by_name, found: FxHashMap::default() }
    }

    fn run(mut self) -> FxHashMap<TypeRef, TypeId> {
        let mut work = Vec::new();
        for index in 0..self.unit.raw.types.len() {
            let ty = TypeRef(index as u32);
            if let Some(structure) = self.by_name(ty) {
                self.found.insert(ty, structure);
                work.push(ty);
            }
        }
        while let Some(outer) = work.pop() {
            self.inner(outer, &mut work);
        }
        self.found
    }

    fn by_name(&self, ty: TypeRef) -> Option<TypeId> {
        let Type::Struct { name, .. } = self.unit.raw.types.get(ty) else { return None };
        let (_, name) = name.split_once('.')?;
        let base = name.strip_suffix(".base");
        let numberless =
            name.rsplit_once('.').filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit()));
        let names =
            [Some(name), base, numberless.map(|(n, _)| n.strip_suffix(".base").unwrap_or(n))];
        let candidates = names.into_iter().flatten().find_map(|n| self.by_name.get(n))?;
        let size = base.is_none().then(|| self.unit.raw.layout.alloc_size(ty));
        self.choose(candidates, size)
    }

    /// The candidate of the right size; none when several differ in what they call their fields.
    fn choose(&self, candidates: &[TypeId], size: Option<u64>) -> Option<TypeId> {
        let arena = self.unit.types.arena();
        let mut fitting = candidates.iter().filter(|id| match &arena[**id] {
            SourceType::Struct { size: found, fields, .. } => {
                !fields.is_empty() && size.is_none_or(|size| size == *found)
            }
            _ => false,
        });
        let first = *fitting.next()?;
        fitting.all(|other| self.same_fields(first, *other)).then_some(first)
    }

    fn same_fields(&self, a: TypeId, b: TypeId) -> bool {
        let arena = self.unit.types.arena();
        let (SourceType::Struct { fields: a, .. }, SourceType::Struct { fields: b, .. }) =
            (&arena[a], &arena[b])
        else {
            return false;
        };
        a.len() == b.len()
            && a.iter().zip(b).all(|(a, b)| (&a.name, a.offset) == (&b.name, b.offset))
    }

    /// Structs that are fields of a known one are known by their place in it.
    fn inner(&mut self, outer: TypeRef, work: &mut Vec<TypeRef>) {
        let raw = &self.unit.raw;
        let Type::Struct { fields, .. } = raw.types.get(outer) else { return };
        for (field, offset) in fields.iter().zip(raw.layout.field_offsets(outer)) {
            let mut inner = *field;
            while let Type::Array { of, .. } = raw.types.get(inner) {
                inner = *of;
            }
            if !matches!(raw.types.get(inner), Type::Struct { .. })
                || self.found.contains_key(&inner)
            {
                continue;
            }
            let size = raw.layout.alloc_size(inner);
            if let Some(structure) = self.field_struct(self.found[&outer], *offset, size) {
                self.found.insert(inner, structure);
                work.push(inner);
            }
        }
    }

    /// The struct of this size that a source struct has at this offset.
    fn field_struct(&self, outer: TypeId, offset: u64, size: u64) -> Option<TypeId> {
        let arena = self.unit.types.arena();
        let SourceType::Struct { fields, .. } = &arena[outer] else { return None };
        let at = fields.iter().filter(|f| f.offset == offset);
        at.map(|f| self.strip(f.ty)).find(
            |id| matches!(&arena[*id], SourceType::Struct { size: found, .. } if *found == size),
        )
    }

    fn strip(&self, mut id: TypeId) -> TypeId {
        while let SourceType::Const { of } | SourceType::Array { of, .. } =
            &self.unit.types.arena()[id]
        {
            id = *of;
        }
        id
    }
}

/// `ns::Vec<int>::Node<char>` as LLVM's type names have it: `ns::Vec::Node`.
fn without_template_arguments(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut depth = 0u32;
    for c in name.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}
