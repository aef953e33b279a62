//! Abstract objects and the locations in them.
//!
//! A location is an object with a folded byte offset, or "anywhere in it" (`ANYWHERE`). Locations
//! are what points-to sets contain. This file only names places; what they hold is in `memory`.
//! Invariant: an object has at most one location per folded offset.

use super::ObjectKind;
use super::layout::{LayoutId, Layouts};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

pub(super) type Loc = u32;
pub(super) type Obj = u32;

/// The location that stands for every escaped object and for memory never seen.
pub(super) const UNKNOWN: Loc = 0;
/// Offset of the location "anywhere in the object".
pub(super) const ANYWHERE: u32 = u32::MAX;
/// Absent index.
pub(super) const NONE: u32 = u32::MAX;

/// Fields told apart in an object without a layout; further ones are "anywhere".
const MAX_CELLS: usize = 48;
/// The same for an object whose layout is known.
const MAX_TYPED_CELLS: usize = 1024;
/// Offsets at or above this are "anywhere" without a layout.
const MAX_OFFSET: i64 = 1 << 12;

pub(super) struct Object {
    pub kind: ObjectKind,
    /// Bytes; `u64::MAX` when unknown.
    pub size: u64,
    pub layout: Option<LayoutId>,
    /// Heap objects may be arrays of their type: offsets repeat with this period (0: they do not).
    pub period: u32,
    /// All offsets are one place.
    pub single: bool,
    /// Holds no pointers and is never written (functions, literals).
    pub opaque: bool,
    pub escaped: bool,
    /// Locations by offset, "anywhere" excluded.
    pub cells: SmallVec<[(u32, Loc); 2]>,
    /// The location "anywhere in it".
    pub anywhere: Loc,
    /// Copies of this object's bytes that were made, as indices into the mirror table.
    pub mirrors: Vec<u32>,
}

pub(super) struct Location {
    pub object: Obj,
    pub offset: u32,
    /// Node of what is read from here; `NONE` until it matters.
    pub read: u32,
    /// Node of what is written here. Differs from `read` only for "anywhere".
    pub write: u32,
}

/// How an object's memory is laid out.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub size: u64,
    pub layout: Option<LayoutId>,
    pub repeats: bool,
}

impl Shape {
    pub const UNTYPED: Shape = Shape { size: u64::MAX, layout: None, repeats: false };
}

#[derive(Default)]
pub(super) struct Objects {
    pub objects: Vec<Object>,
    pub locs: Vec<Location>,
    pub layouts: Layouts,
    /// (object, offset) of objects with many cells, where a linear table would be slow.
    large: FxHashMap<(Obj, u32), Loc>,
}

/// Cells are looked up by hash above this count.
const LARGE: usize = 24;

impl Objects {
    /// An object; its first location (offset 0) comes with it.
    pub fn add(&mut self, kind: ObjectKind, shape: Shape) -> Obj {
        let obj = self.objects.len() as Obj;
        let period = match shape.layout {
            Some(l) if shape.repeats && !self.layouts.is_flexible(l) => self.layouts.size(l),
            _ => 0,
        };
        // A repeating scalar is one place: this is every string buffer.
        let single = shape.repeats && (1..=8).contains(&period);
        self.objects.push(Object {
            kind,
            size: shape.size,
            layout: shape.layout,
            period,
            single,
            opaque: false,
            escaped: false,
            cells: SmallVec::new(),
            anywhere: NONE,
            mirrors: Vec::new(),
        });
        let base = self.add_loc(obj, 0);
        self.objects[obj as usize].cells.push((0, base));
        obj
    }

    pub fn base(&self, obj: Obj) -> Loc {
        self.objects[obj as usize].cells[0].1
    }

    fn add_loc(&mut self, object: Obj, offset: u32) -> Loc {
        let loc = self.locs.len() as Loc;
        self.locs.push(Location { object, offset, read: NONE, write: NONE });
        loc
    }

    pub fn anywhere(&mut self, obj: Obj) -> Loc {
        let o = &self.objects[obj as usize];
        if o.single || o.opaque {
            return self.base(obj);
        }
        if o.anywhere == NONE {
            let loc = self.add_loc(obj, ANYWHERE);
            self.objects[obj as usize].anywhere = loc;
        }
        self.objects[obj as usize].anywhere
    }

    /// The location at a byte offset.
    pub fn at(&mut self, obj: Obj, offset: i64) -> Loc {
        match self.folded(obj, offset) {
            Some(folded) => self.cell(obj, folded),
            None => self.anywhere(obj),
        }
    }

    fn cell(&mut self, obj: Obj, offset: u32) -> Loc {
        let cells = &self.objects[obj as usize].cells;
        if cells.len() > LARGE {
            if let Some(&loc) = self.large.get(&(obj, offset)) {
                return loc;
            }
        } else if let Some(&(_, loc)) = cells.iter().find(|c| c.0 == offset) {
            return loc;
        }
        let typed = self.objects[obj as usize].layout.is_some();
        if cells.len() >= if typed { MAX_TYPED_CELLS } else { MAX_CELLS } {
            return self.anywhere(obj);
        }
        let loc = self.add_loc(obj, offset);
        self.objects[obj as usize].cells.push((offset, loc));
        self.index_large(obj, offset, loc);
        loc
    }

    fn index_large(&mut self, obj: Obj, offset: u32, loc: Loc) {
        let cells = &self.objects[obj as usize].cells;
        if cells.len() == LARGE + 1 {
            self.large.extend(cells.iter().map(|&(o, l)| ((obj, o), l)));
        } else if cells.len() > LARGE {
            self.large.insert((obj, offset), loc);
        }
    }

    /// The offset that stands for `offset`, `None` for "anywhere".
    fn folded(&self, obj: Obj, offset: i64) -> Option<u32> {
        let o = &self.objects[obj as usize];
        if o.single || o.opaque {
            return Some(0);
        }
        let Some(layout) = o.layout else {
            let inside = (0..MAX_OFFSET).contains(&offset) && (offset as u64) < o.size;
            return (inside && offset % 8 == 0).then_some(offset as u32);
        };
        let offset = if o.period > 0 { offset.rem_euclid(i64::from(o.period)) } else { offset };
        let end =
            if self.layouts.is_flexible(layout) { 1 << 30 } else { o.size.min(1 << 30) as i64 };
        if !(0..end).contains(&offset) {
            return None;
        }
        Some(self.layouts.fold(layout, offset as u32))
    }

    /// Where `loc + delta` is.
    pub fn shift(&mut self, loc: Loc, delta: i64) -> Loc {
        if loc == UNKNOWN || delta == 0 {
            return loc;
        }
        let Location { object, offset, .. } = self.locs[loc as usize];
        if offset == ANYWHERE {
            return loc;
        }
        // Element zero stands for all elements: a step back is a step to another element.
        if delta < 0 && self.stays(object, offset, delta.unsigned_abs()) {
            return loc;
        }
        self.at(object, i64::from(offset).saturating_add(delta))
    }

    /// Where `loc + delta + i * stride` is for unknown `i`. Stride 0: no regularity.
    pub fn shift_indexed(&mut self, loc: Loc, delta: i64, stride: u64) -> Loc {
        let loc = self.shift(loc, delta);
        if loc == UNKNOWN {
            return loc;
        }
        let Location { object, offset, .. } = self.locs[loc as usize];
        if offset != ANYWHERE && self.stays(object, offset, stride) {
            return loc;
        }
        self.anywhere(object)
    }

    /// Steps of a multiple of `stride` lead to the same folded offset.
    fn stays(&self, obj: Obj, offset: u32, stride: u64) -> bool {
        let o = &self.objects[obj as usize];
        if o.single || o.opaque {
            return true;
        }
        let repeats = o.period > 0 && stride.is_multiple_of(u64::from(o.period));
        let in_array = o.layout.is_some_and(|l| self.layouts.strides(l, offset, stride));
        stride > 0 && (repeats || in_array)
    }
}
