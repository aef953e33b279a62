//! Source types from debug info.
//!
//! A type is converted when something that is kept mentions it, once, and without recursion: the
//! id is given at once, the content is filled in by [`SourceTypes::finish`]. Typedefs, `volatile`,
//! `restrict` and `_Atomic` are looked through, `const` is kept.
//! Record layouts are LLVM 19's (`METADATA_DERIVED_TYPE` and so on): the numbers in the accessor
//! calls below are operand positions.

use crate::llvm::{self, Constant, MdId, MdNode, md_code};
use leakproof_ir::{Arena, Field, SourceType, TypeId};

/// DWARF tags, encodings and flags that C and C++ use.
mod dw {
    pub const ARRAY: u64 = 0x01;
    pub const CLASS: u64 = 0x02;
    pub const ENUMERATION: u64 = 0x04;
    pub const MEMBER: u64 = 0x0d;
    pub const POINTER: u64 = 0x0f;
    pub const REFERENCE: u64 = 0x10;
    pub const STRUCTURE: u64 = 0x13;
    pub const TYPEDEF: u64 = 0x16;
    pub const UNION: u64 = 0x17;
    pub const INHERITANCE: u64 = 0x1c;
    pub const PTR_TO_MEMBER: u64 = 0x1f;
    pub const CONST: u64 = 0x26;
    pub const UNSPECIFIED: u64 = 0x3b;
    pub const RVALUE_REFERENCE: u64 = 0x42;

    pub const SIGNED: u64 = 5;
    pub const SIGNED_CHAR: u64 = 6;

    pub const STATIC_MEMBER: u64 = 1 << 12;

    /// C++ of 1998, 2003, 2011, 2014, 2017, 2020.
    pub const CPP_LANGUAGES: [u64; 6] = [0x04, 0x19, 0x1a, 0x21, 0x2a, 0x2b];
}

/// How many typedefs and qualifiers one type may pile up: more is a cycle.
const MAX_WRAPPERS: usize = 100;

/// A struct's name as LLVM's type names spell it, and the struct.
#[derive(Clone, Debug)]
pub struct StructKey {
    pub name: String,
    pub ty: TypeId,
}

#[derive(Default)]
pub struct SourceTypes {
    types: Arena<TypeId, SourceType>,
    /// By metadata id.
    memo: Vec<Option<TypeId>>,
    queue: Vec<(TypeId, MdId)>,
    void: Option<TypeId>,
    keys: Vec<StructKey>,
    /// The unit is C++: a struct in a struct is named after it.
    nested_names: bool,
}

impl SourceTypes {
    pub fn new(raw: &llvm::Module) -> Self {
        let units = raw.metadata.units.iter().map(|unit| raw.metadata.node(*unit));
        let nested_names =
            units.into_iter().any(|unit| dw::CPP_LANGUAGES.contains(&unit.number(1)));
        Self { nested_names, ..Self::default() }
    }
    pub fn into_arena(self) -> Arena<TypeId, SourceType> {
        self.types
    }
    pub fn arena(&self) -> &Arena<TypeId, SourceType> {
        &self.types
    }
    pub fn keys(&self) -> &[StructKey] {
        &self.keys
    }

    /// Drops what is known about metadata of the function that was left.
    pub fn forget_from(&mut self, first: MdId) {
        self.memo.truncate(first.0 as usize);
    }

    pub fn void(&mut self) -> TypeId {
        *self.void.get_or_insert_with(|| self.types.push(SourceType::Void))
    }

    /// The id of a type node, converted together with all that it mentions.
    pub fn convert(&mut self, raw: &llvm::Module, node: Option<MdId>) -> TypeId {
        let id = self.reserve(raw, node);
        self.finish(raw);
        id
    }

    fn reserve(&mut self, raw: &llvm::Module, node: Option<MdId>) -> TypeId {
        let Some(node) = self.look_through(raw, node) else { return self.void() };
        let index = node.0 as usize;
        if index >= raw.metadata.len() {
            return self.void();
        }
        if index >= self.memo.len() {
            self.memo.resize(raw.metadata.len(), None);
        }
        if let Some(id) = self.memo[index] {
            return id;
        }
        let id = self.types.push(SourceType::Void);
        self.memo[index] = Some(id);
        self.queue.push((id, node));
        id
    }

    fn finish(&mut self, raw: &llvm::Module) {
        while let Some((id, node)) = self.queue.pop() {
            let content = self.content(raw, id, node);
            self.types[id] = content;
        }
    }

    /// The node behind typedefs and the qualifiers that do not count; `None` for void. A typedef
    /// of a struct that has no name of its own names it.
    fn look_through(&mut self, raw: &llvm::Module, node: Option<MdId>) -> Option<MdId> {
        let mut current = node?;
        let mut alias = None;
        for _ in 0..MAX_WRAPPERS {
            let node = raw.metadata.node(current);
            match (node.code, node.number(1)) {
                (md_code::DERIVED_TYPE, dw::TYPEDEF) => {
                    alias = Some(current);
                    current = node.reference(6)?;
                }
                (md_code::DERIVED_TYPE, tag) if !has_content(tag) => current = node.reference(6)?,
                (md_code::COMPOSITE_TYPE, _) => {
                    if let Some(alias) = alias
                        && raw.metadata.text(node.reference(2)).is_empty()
                    {
                        self.name_struct(raw, current, alias);
                    }
                    return Some(current);
                }
                _ => return Some(current),
            }
        }
        None
    }

    fn name_struct(&mut self, raw: &llvm::Module, structure: MdId, alias: MdId) {
        let index = structure.0 as usize;
        if self.memo.get(index).is_some_and(Option::is_some) || index >= raw.metadata.len() {
            return;
        }
        // Reserved here with its name, so that whoever fills it in finds the name.
        self.memo.resize(self.memo.len().max(raw.metadata.len()), None);
        let name = if self.nested_names {
            qualified_name(raw, alias)
        } else {
            text(raw, raw.metadata.node(alias).reference(2))
        };
        let id = self.types.push(SourceType::Void);
        self.memo[index] = Some(id);
        self.keys.push(StructKey { name, ty: id });
        self.queue.push((id, structure));
    }

    fn content(&mut self, raw: &llvm::Module, id: TypeId, node_id: MdId) -> SourceType {
        let node = raw.metadata.node(node_id);
        match node.code {
            md_code::BASIC_TYPE => basic(raw, node),
            md_code::DERIVED_TYPE => self.derived(raw, node),
            md_code::SUBROUTINE_TYPE => self.function(raw, node),
            md_code::COMPOSITE_TYPE => match node.number(1) {
                dw::ARRAY => self.array(raw, node),
                dw::ENUMERATION => self.enumeration(raw, node),
                dw::STRUCTURE | dw::CLASS | dw::UNION => self.structure(raw, id, node_id, node),
                _ => scalar(raw, node, 2, 7, false),
            },
            _ => SourceType::Void,
        }
    }

    fn derived(&mut self, raw: &llvm::Module, node: MdNode<'_>) -> SourceType {
        let base = self.reserve(raw, node.reference(6));
        match node.number(1) {
            dw::CONST => SourceType::Const { of: base },
            dw::POINTER | dw::REFERENCE | dw::RVALUE_REFERENCE => SourceType::Pointer { to: base },
            _ => {
                SourceType::Scalar { name: String::new(), size: node.number(7) / 8, signed: false }
            }
        }
    }

    /// Types of a function: the result first, then the parameters; a missing one at the end
    /// stands for `...`.
    fn function(&mut self, raw: &llvm::Module, node: MdNode<'_>) -> SourceType {
        let list = node.reference(2).map(|list| raw.metadata.node(list));
        let types: Vec<Option<MdId>> =
            list.map_or_else(Vec::new, |l| (0..l.len()).map(|i| l.reference(i)).collect());
        let variadic = types.len() > 1 && types.last() == Some(&None);
        let params = types.get(1..types.len() - usize::from(variadic)).unwrap_or_default();
        let params = params.iter().map(|p| self.reserve(raw, *p)).collect();
        let ret = self.reserve(raw, types.first().copied().flatten());
        SourceType::Function { params, ret, variadic }
    }

    fn array(&mut self, raw: &llvm::Module, node: MdNode<'_>) -> SourceType {
        let mut of = self.reserve(raw, node.reference(6));
        let ranges = node.reference(11).map(|list| raw.metadata.node(list));
        let counts: Vec<u64> = ranges.map_or_else(Vec::new, |list| {
            (0..list.len()).map(|i| subrange_count(raw, list.reference(i))).collect()
        });
        // `int a[2][3]` is one node with two ranges: an array of arrays to us.
        for count in counts.iter().skip(1).rev() {
            of = self.types.push(SourceType::Array { of, count: *count });
        }
        SourceType::Array { of, count: counts.first().copied().unwrap_or(0) }
    }

    fn enumeration(&mut self, raw: &llvm::Module, node: MdNode<'_>) -> SourceType {
        let base = node.reference(6).map(|base| raw.metadata.node(base));
        let signed = base.is_some_and(is_signed);
        scalar(raw, node, 2, 7, signed)
    }

    fn structure(
        &mut self,
        raw: &llvm::Module,
        id: TypeId,
        node_id: MdId,
        node: MdNode<'_>,
    ) -> SourceType {
        let mut name = text(raw, node.reference(2));
        if self.nested_names && !name.is_empty() {
            name = qualified_name(raw, node_id);
        }
        if name.is_empty() {
            // The typedef that named it, if any, is the last thing known about it.
            let key = self.keys.iter().rev().find(|k| k.ty == id);
            name = key.map_or_else(String::new, |k| k.name.clone());
        } else {
            self.keys.push(StructKey { name: name.clone(), ty: id });
        }
        let elements = node.reference(11).map(|list| raw.metadata.node(list));
        let elements = elements.iter().flat_map(|l| (0..l.len()).filter_map(|i| l.reference(i)));
        let mut fields = Vec::new();
        for element in elements {
            fields.extend(self.field(raw, raw.metadata.node(element)));
        }
        let union = node.number(1) == dw::UNION;
        SourceType::Struct { name, size: node.number(7) / 8, fields, union }
    }

    /// A data member or base class; `None` for member functions, nested types, static members.
    fn field(&mut self, raw: &llvm::Module, node: MdNode<'_>) -> Option<Field> {
        if node.code != md_code::DERIVED_TYPE || node.number(10) & dw::STATIC_MEMBER != 0 {
            return None;
        }
        let name = match node.number(1) {
            dw::MEMBER => text(raw, node.reference(2)),
            dw::INHERITANCE => String::new(),
            _ => return None,
        };
        let ty = self.reserve(raw, node.reference(6));
        Some(Field { name, offset: node.number(9) / 8, ty })
    }
}

/// Whether a derived type is more than a wrapper to look through.
fn has_content(tag: u64) -> bool {
    matches!(
        tag,
        dw::CONST | dw::POINTER | dw::REFERENCE | dw::RVALUE_REFERENCE | dw::PTR_TO_MEMBER
    )
}

fn basic(raw: &llvm::Module, node: MdNode<'_>) -> SourceType {
    // `decltype(nullptr)` is the only unspecified type, and it is a pointer to the machine; its
    // pointee is of no interest.
    let size = if node.number(1) == dw::UNSPECIFIED { 64 } else { node.number(3) };
    let name = text(raw, node.reference(2));
    SourceType::Scalar { name, size: size / 8, signed: is_signed(node) }
}

fn is_signed(node: MdNode<'_>) -> bool {
    node.code == md_code::BASIC_TYPE && matches!(node.number(5), dw::SIGNED | dw::SIGNED_CHAR)
}

fn scalar(
    raw: &llvm::Module,
    node: MdNode<'_>,
    name: usize,
    size: usize,
    signed: bool,
) -> SourceType {
    let name = text(raw, node.reference(name));
    SourceType::Scalar { name, size: node.number(size) / 8, signed }
}

/// The number of elements of one array dimension; 0 when it is unknown or not constant.
fn subrange_count(raw: &llvm::Module, node: Option<MdId>) -> u64 {
    let Some(node) = node.map(|n| raw.metadata.node(n)) else { return 0 };
    let version = node.number(0) >> 1;
    let count = if version == 0 {
        node.number(1)
    } else {
        let value = node.reference(1).map(|c| raw.metadata.node(c));
        match value {
            Some(value) if value.code == md_code::VALUE => {
                match raw.constant(value.number(1) as u32) {
                    Some(Constant::Int(count)) => count,
                    _ => 0,
                }
            }
            _ => 0,
        }
    };
    // A flexible array member has the count -1.
    if count as i64 > 0 { count } else { 0 }
}

fn text(raw: &llvm::Module, id: Option<MdId>) -> String {
    String::from_utf8_lossy(raw.metadata.text(id)).into_owned()
}

/// The name of a type, function or namespace with the namespaces and classes around it.
pub fn qualified_name(raw: &llvm::Module, id: MdId) -> String {
    let mut parts = Vec::new();
    let mut current = Some(id);
    while let Some(id) = current.filter(|_| parts.len() < MAX_WRAPPERS) {
        let node = raw.metadata.node(id);
        let (name, scope) = match node.code {
            md_code::COMPOSITE_TYPE | md_code::DERIVED_TYPE => (2, 5),
            md_code::SUBPROGRAM | md_code::NAMESPACE => (2, 1),
            _ => break,
        };
        // A type that is local to a function is not named after it.
        if node.code == md_code::SUBPROGRAM && !parts.is_empty() {
            break;
        }
        let name = text(raw, node.reference(name));
        parts.push(match node.code {
            md_code::NAMESPACE if name.is_empty() => "(anonymous namespace)".to_owned(),
            _ => name,
        });
        current = node.reference(scope);
    }
    parts.reverse();
    parts.join("::")
}
