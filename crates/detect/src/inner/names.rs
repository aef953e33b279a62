//! The names by which structs are known in all units.

use super::fields::StructName;
use leakproof_ir::{Module, SourceType, TypeId};
use rustc_hash::FxHashMap;

/// The structs of one unit, each named by what it is called and how it looks.
pub struct StructNames(FxHashMap<TypeId, StructName>);

impl StructNames {
    pub fn in_unit(module: &Module) -> Self {
        let named = module.types.ids().filter_map(|ty| Some((ty, name(module, ty)?)));
        Self(named.collect())
    }

    pub fn of(&self, ty: TypeId) -> Option<StructName> {
        self.0.get(&ty).cloned()
    }
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
