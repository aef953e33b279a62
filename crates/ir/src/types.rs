//! Machine types of SSA values (`Ty`) and source types of variables and fields (`SourceType`).
//!
//! `Ty` decides semantics (width, pointer or not). `SourceType` only serves names, constness and
//! access paths: an analysis result never depends on a source type being present.

use crate::TypeId;
use serde::{Deserialize, Serialize};

/// What an SSA value is to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ty {
    Void,
    /// Integer of this many bits (1 for conditions).
    Int(u16),
    Ptr,
    /// Floating point or vector: bits that no analysis looks into; the number is its size in bytes.
    Opaque(u32),
    /// A first-class aggregate (struct returned in registers, cmpxchg result) of this many elements.
    Tuple(u16),
}

impl Ty {
    pub fn is_ptr(self) -> bool {
        self == Ty::Ptr
    }
    /// Size in memory in bytes. Tuples only pass through registers and have none.
    pub fn size(self) -> u64 {
        match self {
            Ty::Void | Ty::Tuple(_) => 0,
            Ty::Int(bits) => u64::from(bits).div_ceil(8),
            Ty::Ptr => 8,
            Ty::Opaque(bytes) => u64::from(bytes),
        }
    }
}

/// A type as the programmer wrote it, with typedefs looked through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SourceType {
    Void,
    /// Any scalar without a pointer: int, char, float, enum.
    Scalar {
        name: String,
        size: u64,
        signed: bool,
    },
    Pointer {
        to: TypeId,
    },
    /// `const` (and only `const`) is kept: it tells that a callee does not take ownership.
    Const {
        of: TypeId,
    },
    Array {
        of: TypeId,
        count: u64,
    },
    Struct {
        name: String,
        size: u64,
        fields: Vec<Field>,
        union: bool,
    },
    Function {
        params: Vec<TypeId>,
        ret: TypeId,
        variadic: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Empty for an anonymous member.
    pub name: String,
    /// Offset in bytes from the start of the struct (bit-fields: of the byte they start in).
    pub offset: u64,
    pub ty: TypeId,
}
