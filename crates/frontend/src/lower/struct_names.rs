//! From LLVM's struct types to the structs of the source, so that fields have names.
//!
//! LLVM's names are `struct.foo`, `union.bar`, `class.ns::Baz`, with `.12` behind them where two
//! share a name and `.base` for a base class without its tail padding. Template arguments are
//! left out of the last part of a name. Structs without a name (`struct.anon.3`) are found through
//! the field, global or local variable that holds them, or because only one nameless struct of the
//! source has their layout.

use super::unit::Unit;
use crate::llvm::{Type, TypeRef};
use leakproof_ir::{InstKind, SourceType, TypeId};
use rustc_hash::FxHashMap;

/// How many arrays may be inside each other: more is a cycle.
const MAX_NESTING: usize = 100;

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
        for ty in self.all_types() {
            if let Some(structure) = self.by_name(ty) {
                self.add(ty, structure, &mut work);
            }
        }
        let globals = self.unit.raw.globals.iter().zip(self.unit.out.globals.values());
        let globals = globals.filter_map(|(raw, global)| Some((raw.ty, global.ty?)));
        for (raw, source) in globals.chain(self.unit.slot_types.iter().copied()) {
            self.by_variable(raw, source, &mut work);
        }
        self.spread(&mut work);
        for ty in self.all_types() {
            if let Some(structure) = self.by_layout(ty) {
                self.add(ty, structure, &mut work);
            }
        }
        self.spread(&mut work);
        self.found
    }

    fn all_types(&self) -> impl Iterator<Item = TypeRef> + use<> {
        (0..self.unit.raw.types.len() as u32).map(TypeRef)
    }

    fn add(&mut self, ty: TypeRef, structure: TypeId, work: &mut Vec<TypeRef>) {
        if self.found.insert(ty, structure).is_none() {
            work.push(ty);
        }
    }

    fn spread(&mut self, work: &mut Vec<TypeRef>) {
        while let Some(outer) = work.pop() {
            self.inner(outer, work);
        }
    }

    /// The type of a variable and the source type that it was declared with.
    fn by_variable(&mut self, raw: TypeRef, source: TypeId, work: &mut Vec<TypeRef>) {
        let (raw, source) = (self.strip_arrays(raw), self.strip(source));
        if self.is_named_struct(raw)
            && !self.found.contains_key(&raw)
            && self.size_of(source) == Some(self.unit.raw.layout.alloc_size(raw))
        {
            self.add(raw, source, work);
        }
    }

    /// The only nameless struct of the source that has the layout of a nameless struct.
    fn by_layout(&self, ty: TypeRef) -> Option<TypeId> {
        let Type::Struct { name, .. } = self.unit.raw.types.get(ty) else { return None };
        if self.found.contains_key(&ty) || !name.contains(".anon") {
            return None;
        }
        let size = self.unit.raw.layout.alloc_size(ty);
        let offsets = self.unit.raw.layout.field_offsets(ty);
        let mut fitting = self.unit.types.arena().iter().filter(|(_, source)| match source {
            SourceType::Struct { name, size: found, fields, union: false } => {
                name.is_empty()
                    && *found == size
                    && fields.iter().map(|f| &f.offset).eq(offsets.iter())
            }
            _ => false,
        });
        let (first, _) = fitting.next()?;
        fitting.all(|(other, _)| self.same_fields(first, other)).then_some(first)
    }

    fn is_named_struct(&self, ty: TypeRef) -> bool {
        matches!(self.unit.raw.types.get(ty), Type::Struct { name, .. } if !name.is_empty())
    }

    fn strip_arrays(&self, mut ty: TypeRef) -> TypeRef {
        for _ in 0..MAX_NESTING {
            let Type::Array { of, .. } = self.unit.raw.types.get(ty) else { break };
            ty = *of;
        }
        ty
    }

    fn size_of(&self, id: TypeId) -> Option<u64> {
        match &self.unit.types.arena()[id] {
            SourceType::Struct { size, .. } => Some(*size),
            _ => None,
        }
    }

    fn by_name(&self, ty: TypeRef) -> Option<TypeId> {
        let Type::Struct { name, .. } = self.unit.raw.types.get(ty) else { return None };
        let (_, name) = name.split_once('.')?;
        let name = &without_template_arguments(name);
        let base = name.strip_suffix(".base");
        let numberless =
            name.rsplit_once('.').filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit()));
        let numberless = numberless.map(|(n, _)| n.strip_suffix(".base").unwrap_or(n));
        let names = [Some(name.as_str()), base, numberless];
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
            let inner = self.strip_arrays(*field);
            if !self.is_named_struct(inner) || self.found.contains_key(&inner) {
                continue;
            }
            let size = raw.layout.alloc_size(inner);
            if let Some(structure) = self.field_struct(self.found[&outer], *offset, size) {
                self.add(inner, structure, work);
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
        for _ in 0..MAX_NESTING {
            match &self.unit.types.arena()[id] {
                SourceType::Const { of } | SourceType::Array { of, .. } => id = *of,
                _ => break,
            }
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
