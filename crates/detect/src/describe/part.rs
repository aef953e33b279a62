//! Parts of a type by their offset, as a condition names them: `.set[1]`, `.value.str`.
//!
//! A condition must not say something else than the program tests: what cannot be named exactly has
//! no name.

use super::is_reserved;
use leakproof_ir::{Field, Module, SourceType, TypeId};

/// What follows the name of an object, and the type of the part. `bits` is the width of what was read there.
pub fn part(module: &Module, ty: TypeId, offset: i64, bits: u16) -> Option<(String, TypeId)> {
    match module.types.get(ty)? {
        SourceType::Const { of } => part(module, *of, offset, bits),
        SourceType::Array { of, count } => element(module, *of, *count, offset, bits),
        SourceType::Struct { fields, union: true, .. } => {
            Some(member(module, fields, offset, bits).unwrap_or((String::new(), ty)))
        }
        SourceType::Struct { fields, .. } => {
            let starts = |f: &&Field| i64::try_from(f.offset).is_ok_and(|o| o <= offset);
            let found = fields.iter().rev().find(starts)?;
            named(module, found, offset - found.offset as i64, bits)
        }
        _ => (offset < size(module, ty)?).then_some((String::new(), ty)),
    }
}

fn element(
    module: &Module,
    of: TypeId,
    count: u64,
    offset: i64,
    bits: u16,
) -> Option<(String, TypeId)> {
    let step = size(module, of).filter(|s| *s > 0)?;
    let (index, rest) = (offset / step, offset % step);
    // An array at the end of a struct may be declared shorter than it is.
    if offset < 0 || (count > 1 && index as u64 >= count) {
        return None;
    }
    let (inner, ty) = part(module, of, rest, bits)?;
    Some((format!("[{index}]{inner}"), ty))
}

fn named(module: &Module, field: &Field, rest: i64, bits: u16) -> Option<(String, TypeId)> {
    if is_reserved(&field.name) {
        return None;
    }
    match part(module, field.ty, rest, bits) {
        // Which member of a union without a name it is, nobody can tell.
        Some((inner, _)) if field.name.is_empty() && inner.is_empty() => None,
        Some((inner, ty)) if field.name.is_empty() => Some((inner, ty)),
        Some((inner, ty)) => Some((format!(".{}{inner}", field.name), ty)),
        None if rest == 0 && !field.name.is_empty() => Some((format!(".{}", field.name), field.ty)),
        None => None,
    }
}

/// The one member of a union that can be what was read; none when several can.
fn member(module: &Module, fields: &[Field], offset: i64, bits: u16) -> Option<(String, TypeId)> {
    let fits = |f: &Field| {
        let found = named(module, f, offset - f.offset as i64, bits)?;
        is_read_as(module, found.1, bits).then_some(found)
    };
    let mut fitting = fields.iter().filter_map(fits);
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

/// Whether a value of so many bits is read as this type. Conditions on floating point are not followed.
fn is_read_as(module: &Module, ty: TypeId, bits: u16) -> bool {
    match module.types.get(ty) {
        Some(SourceType::Const { of }) => is_read_as(module, *of, bits),
        Some(SourceType::Scalar { name, size, .. }) => {
            *size * 8 == u64::from(bits) && !name.contains("float") && !name.contains("double")
        }
        Some(SourceType::Pointer { .. }) => bits == 64,
        _ => false,
    }
}

/// The size of a type in bytes.
pub fn size(module: &Module, ty: TypeId) -> Option<i64> {
    match module.types.get(ty)? {
        SourceType::Scalar { size, .. } | SourceType::Struct { size, .. } => {
            i64::try_from(*size).ok()
        }
        SourceType::Pointer { .. } => Some(8),
        SourceType::Const { of } => size(module, *of),
        SourceType::Array { of, count } => {
            size(module, *of)?.checked_mul(i64::try_from(*count).ok()?)
        }
        SourceType::Void | SourceType::Function { .. } => None,
    }
}

/// Whether a type is what a `va_list` is made of: its inside is the compiler's.
pub fn is_argument_list(module: &Module, ty: TypeId) -> bool {
    match module.types.get(ty) {
        Some(SourceType::Struct { name, .. }) => name == "__va_list_tag" || name == "__va_list",
        Some(SourceType::Const { of } | SourceType::Array { of, .. }) => {
            is_argument_list(module, *of)
        }
        _ => false,
    }
}

/// Whether more than one of a type may stand in a row where a pointer to it points. Beyond a struct there is as
/// often the rest of a larger one that starts with it.
pub fn stands_in_rows(module: &Module, ty: TypeId) -> bool {
    match module.types.get(ty) {
        Some(SourceType::Scalar { .. } | SourceType::Pointer { .. }) => true,
        Some(SourceType::Const { of }) => stands_in_rows(module, *of),
        _ => false,
    }
}
