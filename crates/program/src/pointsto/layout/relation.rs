//! When memory of one type may be looked at as another.
//!
//! C lets an object be accessed as its own type, as a member of it, as a union it is in, and in
//! practice as a struct that begins alike. Anything else is a different view of the memory, whose
//! contents are kept apart (see `object`).

use super::{LayoutId, Layouts, Shape};
use rustc_hash::FxHashMap;

/// Structs of different names must agree in this many first members to be used for each other.
const ALIKE: usize = 4;
/// Members compared.
const MAX_LEAVES: usize = 64;

/// A scalar member: offset, size, whether it is a pointer.
type Leaf = (u32, u32, bool);

/// Answers given before.
#[derive(Default)]
pub(super) struct Relations {
    held: FxHashMap<(LayoutId, u32, LayoutId), u32>,
    within: FxHashMap<(LayoutId, LayoutId), bool>,
    shared: FxHashMap<(LayoutId, LayoutId), u32>,
}

impl Layouts {
    /// How many bytes of a `ty` may be accessed at `offset` of a `whole`; `u32::MAX` for all.
    pub fn holds(&mut self, whole: LayoutId, offset: u32, ty: LayoutId) -> u32 {
        if offset == 0 && whole == ty {
            return u32::MAX;
        }
        if let Some(&known) = self.relations.held.get(&(whole, offset, ty)) {
            return known;
        }
        let found = self.look(whole, offset, ty);
        self.relations.held.insert((whole, offset, ty), found);
        found
    }

    fn look(&mut self, whole: LayoutId, offset: u32, ty: LayoutId) -> u32 {
        let (mut id, mut rest) = (whole, offset);
        let mut best = 0;
        loop {
            if rest == 0 {
                best = best.max(self.shared(id, ty));
            }
            if best == u32::MAX {
                return best;
            }
            if matches!(self.layouts[id.0 as usize].shape, Shape::Union { .. }) {
                return u32::MAX;
            }
            match self.part_at(id, rest) {
                Some(part) => (id, rest) = part,
                None => return best,
            }
        }
    }

    /// A `ty` may be accessed somewhere in a `whole`.
    pub fn holds_somewhere(&mut self, whole: LayoutId, ty: LayoutId) -> bool {
        if let Some(&known) = self.relations.within.get(&(whole, ty)) {
            return known;
        }
        // Breaks cycles of malformed types.
        self.relations.within.insert((whole, ty), false);
        let mut found = self.shared(whole, ty) == u32::MAX;
        if !found {
            found = match self.layouts[whole.0 as usize].shape.clone() {
                Shape::Scalar | Shape::VoidPointer => false,
                Shape::Union { .. } => true,
                Shape::Array { elem } => self.holds_somewhere(elem, ty),
                Shape::Struct { members, .. } => {
                    members.iter().any(|m| self.holds_somewhere(m.2, ty))
                }
            };
        }
        self.relations.within.insert((whole, ty), found);
        found
    }

    /// The member at `offset` is a pointer to `void`.
    pub fn is_void_pointer(&self, whole: LayoutId, offset: i64) -> bool {
        let (mut id, Ok(mut rest)) = (whole, u32::try_from(offset)) else { return false };
        loop {
            match &self.layouts[id.0 as usize].shape {
                Shape::VoidPointer => return true,
                Shape::Struct { members, .. } => {
                    let at = members.partition_point(|m| m.0 <= rest);
                    match at.checked_sub(1).map(|i| members[i]) {
                        Some((start, end, inner)) if rest < end => {
                            (id, rest) = (inner, rest - start);
                        }
                        _ => return false,
                    }
                }
                Shape::Scalar | Shape::Union { .. } | Shape::Array { .. } => return false,
            }
        }
    }

    /// The struct that a struct begins with.
    pub fn first_member(&self, ty: LayoutId) -> Option<LayoutId> {
        let Shape::Struct { members, .. } = &self.layouts[ty.0 as usize].shape else { return None };
        let &(0, _, first) = members.first()? else { return None };
        self.struct_at(first, 0).filter(|&f| self.size(f) > 0 && !self.is_flexible(f))
    }

    /// The outermost struct that begins at `offset`.
    pub fn struct_at(&self, whole: LayoutId, offset: u32) -> Option<LayoutId> {
        let (mut id, mut rest) = (whole, offset);
        while rest != 0 || !matches!(self.layouts[id.0 as usize].shape, Shape::Struct { .. }) {
            (id, rest) = self.part_at(id, rest)?;
        }
        Some(id)
    }

    /// How many first bytes two structs have in common; `u32::MAX` when they are the same struct.
    pub fn shared(&mut self, a: LayoutId, b: LayoutId) -> u32 {
        if a == b {
            return u32::MAX;
        }
        let (a, b) = (a.min(b), a.max(b));
        if let Some(&known) = self.relations.shared.get(&(a, b)) {
            return known;
        }
        let found = if self.same_tag(a, b) {
            u32::MAX
        } else {
            self.shared_member(a, b).max(self.begin_alike(a, b))
        };
        self.relations.shared.insert((a, b), found);
        found
    }

    fn same_tag(&self, a: LayoutId, b: LayoutId) -> bool {
        match (&self.layouts[a.0 as usize].shape, &self.layouts[b.0 as usize].shape) {
            (Shape::Struct { name: x, .. }, Shape::Struct { name: y, .. }) => x == y && *x != 0,
            _ => false,
        }
    }

    /// Size of the largest struct that both begin with (a common base), one of them included.
    fn shared_member(&self, a: LayoutId, b: LayoutId) -> u32 {
        let mut first = Some(a);
        while let Some(x) = first {
            let mut second = Some(b);
            while let Some(y) = second {
                if x == y || self.same_tag(x, y) {
                    return self.size(x).min(self.size(y));
                }
                second = self.first_member(y);
            }
            first = self.first_member(x);
        }
        0
    }

    fn begin_alike(&self, a: LayoutId, b: LayoutId) -> u32 {
        let is_struct =
            |id: LayoutId| matches!(self.layouts[id.0 as usize].shape, Shape::Struct { .. });
        if !is_struct(a) || !is_struct(b) {
            return 0;
        }
        let (mut x, mut y) = (Vec::new(), Vec::new());
        self.leaves(a, 0, &mut x);
        self.leaves(b, 0, &mut y);
        let same = x.iter().zip(&y).take_while(|(p, q)| p == q).count();
        if same < ALIKE { 0 } else { x[same - 1].0 + x[same - 1].1 }
    }

    fn leaves(&self, id: LayoutId, base: u32, out: &mut Vec<Leaf>) {
        let layout = &self.layouts[id.0 as usize];
        match &layout.shape {
            _ if out.len() >= MAX_LEAVES => {}
            Shape::Struct { members, .. } => {
                members.iter().for_each(|m| self.leaves(m.2, base + m.0, out));
            }
            Shape::Scalar | Shape::VoidPointer | Shape::Union { .. } | Shape::Array { .. } => {
                out.push((base, layout.size, layout.pointers));
            }
        }
    }
}
