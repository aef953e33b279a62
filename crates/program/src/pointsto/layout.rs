//! Object layouts: which byte offsets of an object are the same to the analysis.
//!
//! In: source types. Out: `Layouts`, where array elements fold onto element zero, so that
//! `a[3].f` and `a[i].f` are one field, and bytes of a scalar fold onto its first. Invariants: folding
//! is a function of the offset alone, hence consistent for all accesses of an object whatever types
//! they are made through; types of equal shape share a layout, whatever unit they come from.

mod relation;

use leakproof_ir::{Field, Module, SourceType, TypeId};
use relation::Relations;
use rustc_hash::FxHashMap;

/// Malformed input may nest types without end.
const MAX_DEPTH: u32 = 32;
/// Larger objects are not looked into: offsets are kept in 32 bits.
const MAX_SIZE: u64 = 1 << 30;
/// A union without arrays of pointers is looked at word by word.
const WORD: u32 = 8;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct LayoutId(u32);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Layout {
    size: u32,
    /// Some member is a pointer, or a union.
    pointers: bool,
    shape: Shape,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Shape {
    /// One place.
    Scalar,
    /// A pointer to `void`: what it points to only its user knows.
    VoidPointer,
    /// One place when it holds arrays of pointers, otherwise each word is a place.
    Union {
        folded: bool,
    },
    Array {
        elem: LayoutId,
    },
    Struct {
        /// The tag; 0 when it has none.
        name: u32,
        /// Start, end and layout of members, by start.
        members: Vec<(u32, u32, LayoutId)>,
        /// The last member is an array that runs past the end of the struct.
        flexible: bool,
    },
}

#[derive(Default)]
pub(super) struct Layouts {
    layouts: Vec<Layout>,
    by_shape: FxHashMap<Layout, LayoutId>,
    by_type: FxHashMap<(u32, TypeId), LayoutId>,
    names: FxHashMap<String, u32>,
    relations: Relations,
}

impl Layouts {
    pub fn of(&mut self, module: u32, source: &Module, ty: TypeId) -> LayoutId {
        Builder { layouts: self, module, source }.build(ty, 0)
    }

    /// A number for a tag; 0 for none.
    fn name(&mut self, tag: &str) -> u32 {
        if tag.is_empty() {
            return 0;
        }
        let next = self.names.len() as u32 + 1;
        *self.names.entry(tag.to_owned()).or_insert(next)
    }

    fn intern(&mut self, layout: Layout) -> LayoutId {
        let next = LayoutId(self.layouts.len() as u32);
        let id = *self.by_shape.entry(layout.clone()).or_insert(next);
        if id == next {
            self.layouts.push(layout);
        }
        id
    }

    pub fn size(&self, id: LayoutId) -> u32 {
        self.layouts[id.0 as usize].size
    }

    /// The layout of a pointer.
    pub fn pointer(&mut self) -> LayoutId {
        self.intern(Layout { size: 8, pointers: true, shape: Shape::Scalar })
    }

    /// One step down: the element or member of an array or struct in which `offset` lies, and
    /// the offset inside it; `None` for anything else, between members and past the end.
    fn part_at(&self, id: LayoutId, offset: u32) -> Option<(LayoutId, u32)> {
        match &self.layouts[id.0 as usize].shape {
            Shape::Scalar | Shape::VoidPointer | Shape::Union { .. } => None,
            Shape::Array { elem } => Some((*elem, offset.checked_rem(self.size(*elem))?)),
            Shape::Struct { members, .. } => {
                let at = members.partition_point(|m| m.0 <= offset).checked_sub(1)?;
                let (start, end, inner) = members[at];
                (offset < end).then_some((inner, offset - start))
            }
        }
    }

    /// A pointer is at `offset`.
    pub fn is_pointer_at(&self, id: LayoutId, offset: u32) -> bool {
        let (mut id, mut rest) = (id, offset);
        while let Some(part) = self.part_at(id, rest) {
            (id, rest) = part;
        }
        let layout = &self.layouts[id.0 as usize];
        matches!(layout.shape, Shape::Scalar | Shape::VoidPointer)
            && layout.pointers
            && layout.size == 8
            && rest == 0
    }

    pub fn has_pointers(&self, id: LayoutId) -> bool {
        self.layouts[id.0 as usize].pointers
    }

    /// `offset` lies in a member, not the first, that holds no pointers: a buffer or a number.
    pub fn in_plain_member(&self, id: LayoutId, offset: u32) -> bool {
        let (mut id, mut rest) = (id, offset);
        while self.has_pointers(id) {
            match self.part_at(id, rest) {
                Some(part) => (id, rest) = part,
                None => return false,
            }
        }
        offset > 0
    }

    /// Its last member is an array that runs past the end.
    pub fn is_flexible(&self, id: LayoutId) -> bool {
        matches!(self.layouts[id.0 as usize].shape, Shape::Struct { flexible: true, .. })
    }

    /// The offset that stands for `offset`; `None` between members and past the end.
    pub fn fold(&self, id: LayoutId, offset: u32) -> Option<u32> {
        let mut array = |_: u32| false;
        self.walk(id, offset, &mut array)
    }

    /// A step by any multiple of `stride` from `offset` stays on the same folded offset.
    pub fn strides(&self, id: LayoutId, offset: u32, stride: u64) -> bool {
        let mut found = false;
        self.walk(id, offset, &mut |elem| {
            found |= elem > 0 && stride.is_multiple_of(u64::from(elem));
            found
        });
        found
    }

    /// Descends to `offset`, telling `array` the element sizes on the way until it has enough.
    fn walk(&self, id: LayoutId, offset: u32, array: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        let (mut id, mut rest, mut base) = (id, offset, 0);
        loop {
            let layout = &self.layouts[id.0 as usize];
            match &layout.shape {
                Shape::Scalar | Shape::VoidPointer => {
                    return (rest < layout.size.max(1)).then_some(base);
                }
                Shape::Union { folded } => {
                    let word = if *folded { 0 } else { rest / WORD * WORD };
                    return (rest < layout.size).then_some(base + word);
                }
                Shape::Array { elem } => {
                    let size = self.size(*elem);
                    if array(size) || size == 0 {
                        return Some(base);
                    }
                    (id, rest) = self.part_at(id, rest)?;
                }
                Shape::Struct { .. } => {
                    let (inner, inside) = self.part_at(id, rest)?;
                    (id, rest, base) = (inner, inside, base + rest - inside);
                }
            }
        }
    }
}

struct Builder<'a> {
    layouts: &'a mut Layouts,
    module: u32,
    source: &'a Module,
}

impl Builder<'_> {
    fn build(&mut self, ty: TypeId, depth: u32) -> LayoutId {
        if let Some(&known) = self.layouts.by_type.get(&(self.module, ty)) {
            return known;
        }
        let source = self.source;
        let id = match source.types.get(ty) {
            Some(SourceType::Const { of }) if depth < MAX_DEPTH => self.build(*of, depth + 1),
            Some(other) if depth < MAX_DEPTH => {
                let layout = self.layout(other, depth);
                self.layouts.intern(layout)
            }
            _ => self.layouts.intern(Layout { size: 0, pointers: true, shape: Shape::Scalar }),
        };
        self.layouts.by_type.insert((self.module, ty), id);
        id
    }

    fn layout(&mut self, ty: &SourceType, depth: u32) -> Layout {
        let scalar =
            |size: u64, pointers| Layout { size: clamp(size), pointers, shape: Shape::Scalar };
        match ty {
            SourceType::Void | SourceType::Function { .. } | SourceType::Const { .. } => {
                scalar(0, true)
            }
            SourceType::Scalar { size, .. } => scalar(*size, false),
            SourceType::Pointer { to } => match self.source.types.get(*to) {
                Some(SourceType::Void) => {
                    Layout { size: 8, pointers: true, shape: Shape::VoidPointer }
                }
                _ => scalar(8, true),
            },
            SourceType::Array { of, count } => {
                let elem = self.build(*of, depth + 1);
                let size = u64::from(self.layouts.size(elem)).saturating_mul(*count);
                let pointers = self.layouts.has_pointers(elem);
                Layout { size: clamp(size), pointers, shape: Shape::Array { elem } }
            }
            SourceType::Struct { name, size, fields, union: false } => {
                let name = self.layouts.name(name);
                self.structure(name, clamp(*size), fields, depth)
            }
            SourceType::Struct { size, fields, union: true, .. } => {
                let folded = fields.iter().any(|f| pointer_array(self.source, f.ty, depth + 1));
                Layout { size: clamp(*size), pointers: true, shape: Shape::Union { folded } }
            }
        }
    }

    fn structure(&mut self, name: u32, size: u32, fields: &[Field], depth: u32) -> Layout {
        let last = fields.iter().map(|f| clamp(f.offset)).max();
        let mut flexible = false;
        let mut members: Vec<(u32, u32, LayoutId)> = Vec::with_capacity(fields.len());
        for field in fields {
            let start = clamp(field.offset);
            let inner = self.build(field.ty, depth + 1);
            let open = Some(start) == last && self.is_open_array(inner, size);
            flexible |= open;
            let own = self.layouts.size(inner).max(1);
            let end = if open { u32::MAX } else { start.saturating_add(own) };
            members.push((start, end, inner));
        }
        // Bit-fields share their first byte, empty members share that of the next: the largest counts.
        members.sort_by_key(|m| (m.0, std::cmp::Reverse(m.1)));
        members.dedup_by_key(|m| m.0);
        let pointers = members.iter().any(|m| self.layouts.has_pointers(m.2));
        Layout { size, pointers, shape: Shape::Struct { name, members, flexible } }
    }

    /// A flexible array member, or C's old way of writing one: an array of one at the end.
    fn is_open_array(&self, id: LayoutId, struct_size: u32) -> bool {
        let layout = &self.layouts.layouts[id.0 as usize];
        match layout.shape {
            Shape::Array { elem } => {
                layout.size <= self.layouts.size(elem) && layout.size < struct_size.max(1)
            }
            Shape::Struct { flexible, .. } => flexible,
            Shape::Scalar | Shape::VoidPointer | Shape::Union { .. } => false,
        }
    }
}

fn clamp(size: u64) -> u32 {
    size.min(MAX_SIZE) as u32
}

/// The type contains an array whose elements hold pointers.
fn pointer_array(source: &Module, ty: TypeId, depth: u32) -> bool {
    match source.types.get(ty) {
        Some(SourceType::Array { of, .. }) => holds_pointer(source, *of, depth + 1),
        Some(SourceType::Const { of }) => {
            depth < MAX_DEPTH && pointer_array(source, *of, depth + 1)
        }
        Some(SourceType::Struct { fields, .. }) => {
            depth < MAX_DEPTH && fields.iter().any(|f| pointer_array(source, f.ty, depth + 1))
        }
        _ => false,
    }
}

fn holds_pointer(source: &Module, ty: TypeId, depth: u32) -> bool {
    match source.types.get(ty) {
        Some(SourceType::Pointer { .. }) => true,
        Some(SourceType::Const { of } | SourceType::Array { of, .. }) => {
            depth >= MAX_DEPTH || holds_pointer(source, *of, depth + 1)
        }
        Some(SourceType::Struct { fields, .. }) => {
            depth >= MAX_DEPTH || fields.iter().any(|f| holds_pointer(source, f.ty, depth + 1))
        }
        _ => false,
    }
}
