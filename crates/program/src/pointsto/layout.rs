//! Object layouts: which byte offsets of an object are the same to the analysis.
//!
//! In: source types. Out: `Layouts`, where array elements fold onto element zero, so that
//! `a[3].f` and `a[i].f` are one field. Invariant: folding is a function of the offset alone, hence
//! consistent for all accesses of an object whatever types they are made through.

use leakproof_ir::{Module, SourceType, TypeId};
use rustc_hash::FxHashMap;

/// Malformed input may nest types without end.
const MAX_DEPTH: u32 = 32;
/// Larger objects are not looked into: offsets are kept in 32 bits.
const MAX_SIZE: u64 = 1 << 30;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LayoutId(u32);

struct Layout {
    size: u32,
    shape: Shape,
}

enum Shape {
    /// No arrays inside: every offset stands for itself.
    Plain,
    Array {
        elem: LayoutId,
    },
    Struct {
        /// Start, end and layout of members that contain arrays or end in one, by start.
        members: Vec<(u32, u32, LayoutId)>,
        /// The last member is an array that runs past the end of the struct.
        flexible: bool,
    },
    /// A union with arrays of pointers in it: one place.
    Folded,
}

#[derive(Default)]
pub(super) struct Layouts {
    layouts: Vec<Layout>,
    by_type: FxHashMap<(u32, TypeId), LayoutId>,
}

impl Layouts {
    pub fn of(&mut self, module: u32, source: &Module, ty: TypeId) -> LayoutId {
        self.build(module, source, ty, 0)
    }

    fn build(&mut self, module: u32, source: &Module, ty: TypeId, depth: u32) -> LayoutId {
        if let Some(&known) = self.by_type.get(&(module, ty)) {
            return known;
        }
        let layout = match source.types.get(ty) {
            Some(t) if depth < MAX_DEPTH => self.shape(module, source, t, depth),
            _ => Layout { size: 0, shape: Shape::Plain },
        };
        let id = LayoutId(self.layouts.len() as u32);
        self.layouts.push(layout);
        self.by_type.insert((module, ty), id);
        id
    }

    fn shape(&mut self, module: u32, source: &Module, ty: &SourceType, depth: u32) -> Layout {
        let plain = |size: u64| Layout { size: clamp(size), shape: Shape::Plain };
        match ty {
            SourceType::Void | SourceType::Function { .. } => plain(0),
            SourceType::Scalar { size, .. } => plain(*size),
            SourceType::Pointer { .. } => plain(8),
            SourceType::Const { of } => {
                let inner = self.build(module, source, *of, depth + 1);
                self.same_as(inner)
            }
            SourceType::Array { of, count } => {
                let elem = self.build(module, source, *of, depth + 1);
                let size = u64::from(self.size(elem)).saturating_mul(*count);
                Layout { size: clamp(size), shape: Shape::Array { elem } }
            }
            SourceType::Struct { size, fields, union: false, .. } => {
                let mut members = Vec::new();
                for field in fields {
                    let inner = self.build(module, source, field.ty, depth + 1);
                    members.push((clamp(field.offset), inner));
                }
                self.structure(clamp(*size), members)
            }
            SourceType::Struct { size, fields, union: true, .. } => {
                let folded = fields.iter().any(|f| pointer_array(source, f.ty, depth + 1));
                let shape = if folded { Shape::Folded } else { Shape::Plain };
                Layout { size: clamp(*size), shape }
            }
        }
    }

    /// `const T` is laid out as `T`.
    fn same_as(&self, id: LayoutId) -> Layout {
        let inner = &self.layouts[id.0 as usize];
        let shape = match &inner.shape {
            Shape::Plain => Shape::Plain,
            Shape::Folded => Shape::Folded,
            Shape::Array { elem } => Shape::Array { elem: *elem },
            Shape::Struct { members, flexible } => {
                Shape::Struct { members: members.clone(), flexible: *flexible }
            }
        };
        Layout { size: inner.size, shape }
    }

    fn structure(&self, size: u32, fields: Vec<(u32, LayoutId)>) -> Layout {
        let last = fields.iter().map(|f| f.0).max();
        let mut flexible = false;
        let mut members = Vec::new();
        for (offset, inner) in fields {
            let own = self.size(inner);
            // C's old way of writing a flexible array member is an array of one at the end.
            let open_end = Some(offset) == last && self.is_open_array(inner, size);
            flexible |= open_end;
            if open_end || !matches!(self.layouts[inner.0 as usize].shape, Shape::Plain) {
                let end = if open_end { u32::MAX } else { offset.saturating_add(own) };
                members.push((offset, end, inner));
            }
        }
        members.sort_by_key(|m| m.0);
        if members.is_empty() {
            return Layout { size, shape: Shape::Plain };
        }
        Layout { size, shape: Shape::Struct { members, flexible } }
    }

    fn is_open_array(&self, id: LayoutId, struct_size: u32) -> bool {
        let layout = &self.layouts[id.0 as usize];
        match layout.shape {
            Shape::Array { elem } => {
                layout.size <= self.size(elem) && layout.size < struct_size.max(1)
            }
            Shape::Struct { flexible, .. } => flexible,
            Shape::Plain | Shape::Folded => false,
        }
    }

    pub fn size(&self, id: LayoutId) -> u32 {
        self.layouts[id.0 as usize].size
    }

    /// Its last member is an array that runs past the end.
    pub fn is_flexible(&self, id: LayoutId) -> bool {
        matches!(self.layouts[id.0 as usize].shape, Shape::Struct { flexible: true, .. })
    }

    /// The offset that stands for `offset`.
    pub fn fold(&self, id: LayoutId, offset: u32) -> u32 {
        self.walk(id, offset, |_| false).0
    }

    /// A step by any multiple of `stride` from `offset` stays on the same folded offset.
    pub fn strides(&self, id: LayoutId, offset: u32, stride: u64) -> bool {
        self.walk(id, offset, |elem| elem > 0 && stride.is_multiple_of(u64::from(elem))).1
    }

    /// Descends to `offset`; true when `found` accepted the element size of an array on the way.
    fn walk(&self, id: LayoutId, offset: u32, found: impl Fn(u32) -> bool) -> (u32, bool) {
        let (mut id, mut rest, mut base) = (id, offset, 0);
        loop {
            match &self.layouts[id.0 as usize].shape {
                Shape::Plain => return (base + rest, false),
                Shape::Folded => return (base, true),
                Shape::Array { elem } => {
                    let size = self.size(*elem);
                    if found(size) {
                        return (
                            base + if size == 0 { 0 } else { self.fold(*elem, rest % size) },
                            true,
                        );
                    }
                    if size == 0 {
                        return (base, false);
                    }
                    (id, rest) = (*elem, rest % size);
                }
                Shape::Struct { members, .. } => {
                    let at = members.partition_point(|m| m.0 <= rest);
                    match at.checked_sub(1).map(|i| members[i]) {
                        Some((start, end, inner)) if rest < end => {
                            (id, rest, base) = (inner, rest - start, base + start);
                        }
                        _ => return (base + rest, false),
                    }
                }
            }
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
