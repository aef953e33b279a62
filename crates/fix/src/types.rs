//! Source types of the intermediate representation, spelled as C.

use leakproof_ir::{Module, SourceType, TypeId};

/// What an expression refers to, by the name of the struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Referred {
    /// It is such a struct.
    Whole(String),
    /// It points to one, or to a number or another pointer: then there is no name.
    Pointed(String),
    /// It is no reference at all.
    Number,
}

pub fn referred(module: &Module, ty: TypeId) -> Option<Referred> {
    match module.types.get(ty)? {
        SourceType::Const { of } => referred(module, *of),
        SourceType::Scalar { .. } => Some(Referred::Number),
        SourceType::Pointer { to } if is_simple(module, *to) => {
            Some(Referred::Pointed(String::new()))
        }
        SourceType::Pointer { to } => struct_name(module, *to).map(Referred::Pointed),
        _ => struct_name(module, ty).map(Referred::Whole),
    }
}

/// The type of a member, over any number of `.` and `->`: `members` are names in order.
pub fn member(module: &Module, ty: TypeId, members: &[&str]) -> Option<TypeId> {
    let Some((name, rest)) = members.split_first() else { return Some(ty) };
    match module.types.get(ty)? {
        SourceType::Const { of } => member(module, *of, members),
        SourceType::Pointer { to } => member(module, *to, members),
        SourceType::Struct { fields, .. } => {
            let field = fields.iter().find(|f| f.name == *name)?;
            member(module, field.ty, rest)
        }
        _ => None,
    }
}

/// The distance of a member from the start of the struct that a pointer leads to.
pub fn offset(module: &Module, pointer: TypeId, name: &str) -> Option<i64> {
    match module.types.get(pointer)? {
        SourceType::Const { of } | SourceType::Pointer { to: of } => offset(module, *of, name),
        SourceType::Struct { fields, .. } => {
            let field = fields.iter().find(|f| f.name == name)?;
            i64::try_from(field.offset).ok()
        }
        _ => None,
    }
}

/// What a pointer points to.
pub fn pointee(module: &Module, ty: TypeId) -> Option<TypeId> {
    match module.types.get(ty)? {
        SourceType::Const { of } => pointee(module, *of),
        SourceType::Pointer { to } => Some(*to),
        _ => None,
    }
}

/// Whether a type is certainly no struct.
fn is_simple(module: &Module, ty: TypeId) -> bool {
    match module.types.get(ty) {
        Some(SourceType::Const { of }) => is_simple(module, *of),
        Some(SourceType::Scalar { .. } | SourceType::Pointer { .. }) => true,
        _ => false,
    }
}

fn struct_name(module: &Module, ty: TypeId) -> Option<String> {
    match module.types.get(ty)? {
        SourceType::Const { of } => struct_name(module, *of),
        SourceType::Struct { name, .. } if !name.is_empty() => Some(name.clone()),
        _ => None,
    }
}

/// The return type of a function type.
pub fn return_type(module: &Module, signature: TypeId) -> Option<String> {
    match module.types.get(signature)? {
        SourceType::Function { ret, .. } => spell(module, *ret, 0),
        _ => None,
    }
}

/// Pointers to simple things only: others have no short name.
fn spell(module: &Module, ty: TypeId, depth: u32) -> Option<String> {
    match module.types.get(ty)? {
        _ if depth > 4 => None,
        SourceType::Void => Some("void".to_owned()),
        SourceType::Scalar { name, .. } => Some(name.clone()),
        SourceType::Struct { name, union: false, .. } if !name.is_empty() => {
            Some(format!("struct {name}"))
        }
        SourceType::Const { of } => Some(format!("const {}", spell(module, *of, depth + 1)?)),
        SourceType::Pointer { to } => {
            let to = spell(module, *to, depth + 1)?;
            let space = if to.ends_with('*') { "" } else { " " };
            Some(format!("{to}{space}*"))
        }
        _ => None,
    }
}
