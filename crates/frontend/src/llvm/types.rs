//! The type table of a module.
//!
//! Invariant: a [`TypeRef`] that is out of range reads as `Type::Void`, so that nobody who holds
//! one from a malformed file has to check it.

use super::bitstream::{Cursor, Entry, Record};
use super::{ReadError, codes};

/// Index into the type table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeRef(pub u32);

impl TypeRef {
    /// No type: the result of a store, a branch.
    pub const NONE: TypeRef = TypeRef(u32::MAX);
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Void,
    Label,
    Metadata,
    /// Tokens, target types, opaque structs: nothing with a size.
    Unsized,
    Int(u32),
    /// Floating point of this many bits.
    Float(u32),
    Ptr,
    Array {
        len: u64,
        of: TypeRef,
    },
    Vector {
        len: u64,
        of: TypeRef,
    },
    Struct {
        name: String,
        packed: bool,
        fields: Vec<TypeRef>,
    },
    Function {
        variadic: bool,
        ret: TypeRef,
        params: Vec<TypeRef>,
    },
}

#[derive(Debug, Default)]
pub struct TypeTable {
    types: Vec<Type>,
}

impl TypeTable {
    pub fn get(&self, id: TypeRef) -> &Type {
        self.types.get(id.0 as usize).unwrap_or(&Type::Void)
    }
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// The first type equal to `wanted`, if the module has one.
    pub fn find(&self, wanted: &Type) -> Option<TypeRef> {
        self.types.iter().position(|t| t == wanted).map(|i| TypeRef(i as u32))
    }

    /// The `index`-th part of an aggregate.
    pub fn element(&self, id: TypeRef, index: u64) -> Option<TypeRef> {
        match self.get(id) {
            Type::Struct { fields, .. } => fields.get(usize::try_from(index).ok()?).copied(),
            Type::Array { of, .. } | Type::Vector { of, .. } => Some(*of),
            _ => None,
        }
    }

    pub(super) fn read<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        record: &mut Record<'a>,
    ) -> Result<(), ReadError> {
        cursor.enter()?;
        let mut name = String::new();
        loop {
            match cursor.next(record)? {
                Entry::End => return Ok(()),
                Entry::Block(_) => {
                    cursor.skip()?;
                }
                Entry::Record(codes::ty::NUMENTRY) => {}
                Entry::Record(codes::ty::STRUCT_NAME) => name = record.text(0),
                Entry::Record(code) => {
                    let ty = decode(code, record, &mut name)?;
                    self.types.push(ty);
                }
            }
        }
    }
}

fn decode(code: u32, record: &Record<'_>, name: &mut String) -> Result<Type, ReadError> {
    use codes::ty;
    let type_at = |i: usize| record.op(i).map(|t| TypeRef(t as u32));
    let types_from = |from: usize| record.ops.iter().skip(from).map(|&t| TypeRef(t as u32));
    Ok(match code {
        ty::VOID => Type::Void,
        ty::LABEL => Type::Label,
        ty::METADATA => Type::Metadata,
        ty::HALF | ty::BFLOAT => Type::Float(16),
        ty::FLOAT => Type::Float(32),
        ty::DOUBLE | ty::X86_MMX => Type::Float(64),
        ty::X86_FP80 => Type::Float(80),
        ty::FP128 | ty::PPC_FP128 => Type::Float(128),
        ty::INTEGER => Type::Int(record.op(0)? as u32),
        ty::OPAQUE_POINTER => Type::Ptr,
        ty::ARRAY => Type::Array { len: record.op(0)?, of: type_at(1)? },
        ty::VECTOR => Type::Vector { len: record.op(0)?, of: type_at(1)? },
        ty::STRUCT_ANON | ty::STRUCT_NAMED => Type::Struct {
            name: if code == ty::STRUCT_NAMED { std::mem::take(name) } else { String::new() },
            packed: record.op(0)? != 0,
            fields: types_from(1).collect(),
        },
        ty::FUNCTION => Type::Function {
            variadic: record.op(0)? != 0,
            ret: type_at(1)?,
            params: types_from(2).collect(),
        },
        ty::OPAQUE | ty::TARGET_TYPE => {
            name.clear();
            Type::Unsized
        }
        _ => Type::Unsized,
    })
}
