//! A lowered translation unit: functions, globals, source types and files.
//!
//! Everything is plain data: built once by the frontend (or the text parser), then read only.

use crate::{
    Arena, BlockId, FileId, FuncId, GlobalId, InstId, InstKind, SourceType, Terminator, Ty, TypeId,
    ValueId, VarId,
};
use serde::{Deserialize, Serialize};

/// One translation unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// The unit's main source file, as the user would name it.
    pub name: String,
    pub files: Arena<FileId, String>,
    pub types: Arena<TypeId, SourceType>,
    pub globals: Arena<GlobalId, Global>,
    pub functions: Arena<FuncId, Function>,
    pub aliases: Vec<Alias>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Linkage {
    External,
    /// `static`: invisible to other units.
    Internal,
    /// May be overridden by a strong definition (`weak`, C `common`).
    Weak,
    /// Any one of the equivalent copies may be kept (C++ inline, templates).
    LinkOnce,
    /// A body for analysis only; the real definition lives elsewhere (C99 `inline`).
    AvailableExternally,
}

/// A symbol that stands for another (`__attribute__((alias))`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alias {
    pub name: String,
    pub linkage: Linkage,
    pub target: AliasTarget,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AliasTarget {
    Function(FuncId),
    Global(GlobalId),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Global {
    pub name: String,
    /// The name in the source; empty for string literals and other unnamed constants.
    pub source_name: String,
    pub linkage: Linkage,
    /// The C `const` of the whole object: never written.
    pub constant: bool,
    pub thread_local: bool,
    pub size: u64,
    pub ty: Option<TypeId>,
    /// `None`: defined elsewhere. Bytes that no entry covers are zero.
    pub init: Option<Vec<InitEntry>>,
    pub loc: Loc,
}

/// A non-zero part of a global's initial value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InitEntry {
    pub offset: u64,
    pub value: InitValue,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InitValue {
    Int {
        bits: u16,
        value: u64,
    },
    Bytes(Vec<u8>),
    Function(FuncId),
    /// Address of a global plus an offset.
    Global(GlobalId, i64),
    /// Bits that are not modelled (floats, relocation arithmetic); the number is a size in bytes.
    Opaque(u32),
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Loc {
    /// Meaningless when `line` is 0.
    pub file: u32,
    /// 1-based; 0 means that the compiler gave no position.
    pub line: u32,
    pub column: u32,
}

impl Loc {
    pub fn new(file: FileId, line: u32, column: u32) -> Self {
        Self { file: file.0, line, column }
    }
    pub fn file(self) -> Option<FileId> {
        (self.line != 0).then_some(FileId(self.file))
    }
    pub fn is_known(self) -> bool {
        self.line != 0
    }
}

/// Attributes that the compiler passed on and that analyses use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FuncAttrs {
    pub noreturn: bool,
    /// The result aliases nothing (`__attribute__((malloc))`, `operator new`).
    pub noalias_return: bool,
    /// The result is never null (`returns_nonnull`, throwing `operator new`).
    pub nonnull_return: bool,
    /// `alloc-family` of allocators and deallocators, when given.
    pub alloc_family: Option<String>,
    /// `alloc_size` was given.
    pub alloc_size: bool,
    /// Parameter that an `allockind("free"/"realloc")` function releases.
    pub alloc_ptr: Option<u32>,
    /// Runs before `main` / after it (`constructor`, `destructor`).
    pub constructor: bool,
    pub destructor: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    pub value: ValueId,
    /// Empty when the source gives none.
    pub name: String,
    pub ty: Option<TypeId>,
    /// Hidden pointer through which a struct is returned.
    pub sret: bool,
    /// The callee gets its own copy of the pointee.
    pub byval: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Linker symbol.
    pub name: String,
    /// As the programmer spells it (demangled, without parameters).
    pub source_name: String,
    pub linkage: Linkage,
    pub attrs: FuncAttrs,
    pub params: Vec<Param>,
    pub ret: Ty,
    /// Source signature (`SourceType::Function`), when known; declarations have it too, so that
    /// `const` parameters of external functions are visible.
    pub signature: Option<TypeId>,
    pub variadic: bool,
    pub loc: Loc,
    pub body: Option<Body>,
    /// Values of a declaration's parameters live here too.
    pub values: Arena<ValueId, Value>,
}

/// What a value is and the machine type it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    pub kind: ValueKind,
    pub ty: Ty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ValueKind {
    Param(u32),
    Inst(InstId),
    /// Zero-extended to 64 bits; wider constants are `Undef`.
    Int(u64),
    Null,
    /// Undefined, poison, or a constant that is not modelled.
    Undef,
    Global(GlobalId, i64),
    Function(FuncId),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    pub insts: Arena<InstId, Inst>,
    /// The first block is the entry.
    pub blocks: Arena<BlockId, Block>,
    pub vars: Arena<VarId, Var>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inst {
    pub kind: InstKind,
    /// The SSA value it defines, if any.
    pub result: Option<ValueId>,
    pub loc: Loc,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    pub insts: Vec<InstId>,
    pub term: Terminator,
    pub term_loc: Loc,
}

/// A local variable or parameter of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Var {
    pub name: String,
    pub ty: Option<TypeId>,
    /// Position of the declaration.
    pub loc: Loc,
    /// 1-based parameter number.
    pub param: Option<u32>,
}

/// Where headers of libraries are installed.
const LIBRARY_FOLDERS: [&str; 3] = ["/usr/include/", "/usr/lib/", "/usr/local/include/"];

impl Module {
    pub fn file_name(&self, loc: Loc) -> &str {
        loc.file().and_then(|f| self.files.get(f)).map_or("", String::as_str)
    }

    /// Whether a position is in a header of an installed library: code that is not the user's to mend. Files of
    /// the project are named from the current folder.
    pub fn is_in_library(&self, loc: Loc) -> bool {
        let file = self.file_name(loc);
        file.starts_with('/') && LIBRARY_FOLDERS.iter().any(|folder| file.starts_with(folder))
    }

    /// Whether a type is a pointer that leads to a struct, over however many pointers.
    pub fn points_to_struct(&self, ty: TypeId) -> bool {
        match &self.types[ty] {
            SourceType::Pointer { to } => self.is_struct(*to) || self.points_to_struct(*to),
            SourceType::Const { of } => self.points_to_struct(*of),
            _ => false,
        }
    }

    /// Whether a type is a pointer to something constant.
    pub fn points_to_constant(&self, ty: TypeId) -> bool {
        let to = self.pointee(ty).map(|to| &self.types[to]);
        matches!(to, Some(SourceType::Const { .. }))
    }

    /// What a pointer is declared to point to.
    pub fn pointee(&self, ty: TypeId) -> Option<TypeId> {
        match self.types[ty] {
            SourceType::Pointer { to } => Some(to),
            SourceType::Const { of } => self.pointee(of),
            _ => None,
        }
    }

    /// Whether a type is a pointer to a pointer.
    pub fn points_to_pointer(&self, ty: TypeId) -> bool {
        self.pointee(ty).is_some_and(|to| self.pointee(to).is_some())
    }

    /// The size of the array that a struct has as its member at an offset. Arrays of one element
    /// and less are often longer than they say.
    pub fn array_member_size(&self, ty: TypeId, at: u64) -> Option<u64> {
        let member = self.member_at(ty, at)?;
        match self.types[member] {
            SourceType::Array { count: 2.., .. } => self.size_of(member),
            _ => None,
        }
    }

    /// The type of the member that a struct has at an offset; those of a union have no place of
    /// their own.
    pub fn member_at(&self, ty: TypeId, at: u64) -> Option<TypeId> {
        match &self.types[ty] {
            SourceType::Const { of } => self.member_at(*of, at),
            SourceType::Struct { fields, union: false, .. } => {
                fields.iter().find(|f| f.offset == at).map(|f| f.ty)
            }
            _ => None,
        }
    }

    /// The size of what a pointer is declared to point to.
    pub fn size_of_pointee(&self, ty: TypeId) -> Option<u64> {
        self.pointee(ty).and_then(|to| self.size_of(to))
    }

    /// The size of a value of a type, in bytes.
    pub fn size_of(&self, ty: TypeId) -> Option<u64> {
        match &self.types[ty] {
            SourceType::Scalar { size, .. } | SourceType::Struct { size, .. } => Some(*size),
            SourceType::Pointer { .. } => Some(8),
            SourceType::Const { of } => self.size_of(*of),
            SourceType::Array { of, count } => self.size_of(*of)?.checked_mul(*count),
            SourceType::Void | SourceType::Function { .. } => None,
        }
    }

    fn is_struct(&self, ty: TypeId) -> bool {
        match &self.types[ty] {
            SourceType::Struct { .. } => true,
            SourceType::Const { of } => self.is_struct(*of),
            _ => false,
        }
    }
}

impl Function {
    pub fn is_definition(&self) -> bool {
        self.body.is_some()
    }
    pub fn ty(&self, value: ValueId) -> Ty {
        self.values[value].ty
    }
}

impl Body {
    pub const ENTRY: BlockId = BlockId(0);

    /// The source variable that a value was given to, the first of several.
    pub fn variable_of(&self, v: ValueId) -> Option<&Var> {
        self.insts.iter().find_map(|(_, inst)| match inst.kind {
            InstKind::VarSet { var, value } if value == v => Some(&self.vars[var]),
            _ => None,
        })
    }
}
