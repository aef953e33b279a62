//! The names by which structs are known in all units.

use super::fields::StructName;
use leakproof_ir::{Module, SourceType, TypeId};
use rustc_hash::FxHashMap;

/// Of larger structs only the first parts count.
const MAX_PARTS: usize = 40;

/// The structs of one unit, each named by what it is called and how it looks.
pub struct StructNames(FxHashMap<TypeId, StructName>);

impl StructNames {
    pub fn in_unit(module: &Module) -> Self {
        let named = module.types.ids().filter_map(|ty| Some((ty, name(module, ty)?)));
        Self(named.collect())
    }

    /// The structs that are members of others, with their offsets, through however many levels.
    pub fn parts(
        &self,
        module: &Module,
    ) -> impl Iterator<Item = (StructName, Vec<(u64, StructName)>)> {
        self.0.iter().filter_map(|(ty, name)| {
            let mut parts = Vec::new();
            self.collect_parts(module, *ty, 0, &mut parts);
            (!parts.is_empty()).then(|| (name.clone(), parts))
        })
    }

    fn collect_parts(
        &self,
        module: &Module,
        ty: TypeId,
        start: u64,
        parts: &mut Vec<(u64, StructName)>,
    ) {
        match &module.types[ty] {
            SourceType::Const { of } => self.collect_parts(module, *of, start, parts),
            SourceType::Struct { fields, union: false, .. } => {
                for field in fields {
                    if let Some(name) = self.of(field.ty).filter(|_| parts.len() < MAX_PARTS) {
                        parts.push((start + field.offset, name));
                        self.collect_parts(module, field.ty, start + field.offset, parts);
                    }
                }
            }
            _ => {}
        }
    }

    pub fn of(&self, ty: TypeId) -> Option<StructName> {
        self.0.get(&ty).cloned()
    }
}

/// The struct that a pointer type leads to.
pub fn name_behind(module: &Module, pointer: TypeId) -> Option<StructName> {
    name(module, module.pointee(pointer)?)
}

fn name(module: &Module, ty: TypeId) -> Option<StructName> {
    match &module.types[ty] {
        SourceType::Const { of } => name(module, *of),
        SourceType::Struct { name, size, fields, union: false } => {
            let members: Vec<String> =
                fields.iter().map(|f| format!("{}@{}", f.name, f.offset)).collect();
            Some(format!("{name} {size} {}", members.join(" ")).into())
        }
        _ => None,
    }
}
