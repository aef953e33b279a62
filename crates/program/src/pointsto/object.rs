//! Abstract objects and the locations in them.
//!
//! A location is an object with a folded byte offset, or "anywhere in it" (`ANYWHERE`). Locations
//! are what points-to sets contain. What they hold is kept per class of objects (see `memory`): at
//! first each object is a class of its own.
//! Memory that is accessed as a struct which its layout does not hold is looked at through a *view*,
//! so that fields of unrelated types never mix. Memory without a type has views of its own, one per
//! struct; for all memory of another type (buffers of characters, casts, and what flows together
//! by imprecision) there is one view per struct.
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
/// Offset of the location of what users gave to a library.
pub(super) const USERS: u32 = u32::MAX - 1;
/// Absent index.
pub(super) const NONE: u32 = u32::MAX;

/// Fields told apart in an object without a layout; further ones are "anywhere".
const MAX_CELLS: usize = 48;
/// Types through which one object is known to be looked at.
const MAX_VIEWS: usize = 32;
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
    /// Its contents never change: it keeps a class of its own.
    pub constant: bool,
    pub escaped: bool,
    /// Locations by offset, "anywhere" excluded.
    pub cells: SmallVec<[(u32, Loc); 2]>,
    /// The location "anywhere in it".
    pub anywhere: Loc,
    /// The struct type that this is the view of.
    pub view: bool,
    /// A view shares its beginning with the view of its first member.
    pub prefix: Obj,
    /// Types through which this object was looked at, and the views.
    pub seen_as: Vec<(LayoutId, Obj)>,
    /// The object that this is a view of; itself otherwise.
    pub root: Obj,
    /// Of a library's memory: the place of pointers that its users gave it.
    pub users: Loc,
    /// Where the whole object was copied to, and how many bytes of it.
    pub copied_to: Vec<(Loc, u64)>,
}

#[derive(Clone, Copy)]
pub(super) struct Location {
    pub object: Obj,
    pub offset: u32,
    /// Node of what is held here, once it matters; always `NONE` for "anywhere".
    pub node: u32,
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
    views: FxHashMap<LayoutId, Obj>,
    /// Objects looked at through a view since somebody asked.
    pub seen: Vec<(Obj, LayoutId, Obj)>,
    /// Per location: its object escaped.
    pub escaped: Vec<bool>,
    /// How often something escaped: tells whether it is worth looking again.
    pub escapes: u32,
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
            constant: false,
            escaped: false,
            cells: SmallVec::new(),
            anywhere: NONE,
            view: false,
            prefix: NONE,
            seen_as: Vec::new(),
            root: obj,
            users: NONE,
            copied_to: Vec::new(),
        });
        let base = self.add_loc(obj, 0);
        self.objects[obj as usize].cells.push((0, base));
        obj
    }

    /// Memory of a library. Its own pointers lead to itself; pointers that its users gave it are
    /// found in members of type `void *`.
    pub fn add_library(&mut self) -> Obj {
        let library = self.add(ObjectKind::Library, Shape::UNTYPED);
        let users = self.add_loc(library, USERS);
        let o = &mut self.objects[library as usize];
        (o.single, o.constant, o.users) = (true, true, users);
        library
    }

    pub fn base(&self, obj: Obj) -> Loc {
        self.objects[obj as usize].cells[0].1
    }

    fn add_loc(&mut self, object: Obj, offset: u32) -> Loc {
        let loc = self.locs.len() as Loc;
        self.locs.push(Location { object, offset, node: NONE });
        let o = &self.objects[object as usize];
        self.escaped.push(o.escaped && !o.opaque);
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

    /// The location is a buffer or a number inside an object that also holds pointers: who gets its
    /// address gets no more than that member. (Its own pointer would be that of its first member.)
    pub fn is_plain_member(&self, loc: Loc) -> bool {
        let Location { object, offset, .. } = self.locs[loc as usize];
        let layout = self.objects[object as usize].layout;
        offset != ANYWHERE && layout.is_some_and(|l| self.layouts.in_plain_member(l, offset))
    }

    /// Code outside sees the object from now on. False: it did already.
    pub fn mark_escaped(&mut self, obj: Obj) -> bool {
        let o = &mut self.objects[obj as usize];
        if std::mem::replace(&mut o.escaped, true) {
            return false;
        }
        self.escapes += 1;
        // Functions stay in sets: the call graph wants them by name.
        if o.opaque {
            return true;
        }
        for &(_, loc) in &o.cells {
            self.escaped[loc as usize] = true;
        }
        if o.anywhere != NONE {
            self.escaped[o.anywhere as usize] = true;
        }
        true
    }

    /// The location at a byte offset.
    pub fn at(&mut self, obj: Obj, offset: i64) -> Loc {
        match self.folded(obj, offset) {
            Some(folded) => self.cell(self.owner(obj, folded), folded),
            None => self.anywhere(obj),
        }
    }

    /// The view that has the cell at `offset`: of the innermost first member that reaches so far.
    fn owner(&self, mut obj: Obj, offset: u32) -> Obj {
        loop {
            let prefix = self.objects[obj as usize].prefix;
            if prefix == NONE || offset >= self.objects[prefix as usize].period {
                return obj;
            }
            obj = prefix;
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
        self.layouts.fold(layout, offset as u32)
    }

    /// Where a `ty` begins whose address is `loc` and whose member at `member` is meant: here, or in
    /// a view.
    pub fn viewed(&mut self, loc: Loc, ty: LayoutId, member: i64) -> Loc {
        let Location { object, offset, .. } = self.locs[loc as usize];
        let o = &self.objects[object as usize];
        if loc == UNKNOWN || o.opaque {
            return loc;
        }
        if o.single && o.layout.is_none() {
            let users = self.layouts.is_void_pointer(ty, member);
            return if users && o.users != NONE { o.users } else { loc };
        }
        let fits = match o.layout {
            None => false,
            Some(own) if offset == ANYWHERE => self.layouts.holds_somewhere(own, ty),
            Some(own) => {
                let held = self.layouts.holds(own, offset, ty);
                held == u32::MAX || (0..i64::from(held)).contains(&member)
            }
        };
        if fits {
            return loc;
        }
        let untyped = self.objects[object as usize].layout.is_none();
        let seen = &mut self.objects[object as usize].seen_as;
        if seen.iter().any(|s| s.0 == ty) || seen.len() >= MAX_VIEWS {
            let view = seen.iter().find(|s| s.0 == ty).map(|s| s.1);
            let view = view.unwrap_or_else(|| self.view(ty));
            return self.base(view);
        }
        let view = if untyped { self.own_view(object, ty) } else { self.view(ty) };
        self.objects[object as usize].seen_as.push((ty, view));
        self.seen.push((object, ty, view));
        self.base(view)
    }

    /// A view of one object. Structs that begin alike share one, so it needs no prefix.
    fn own_view(&mut self, object: Obj, ty: LayoutId) -> Obj {
        for i in 0..self.objects[object as usize].seen_as.len() {
            let (other, view) = self.objects[object as usize].seen_as[i];
            let first = self.objects[view as usize].layout.unwrap_or(other);
            if self.layouts.shared(first, ty) > 0 {
                return view;
            }
        }
        let kind = self.objects[object as usize].kind;
        let shape = Shape { size: u64::MAX, layout: Some(ty), repeats: true };
        let view = self.add(kind, shape);
        self.objects[view as usize].root = object;
        view
    }

    /// The view of a struct type.
    pub fn view(&mut self, ty: LayoutId) -> Obj {
        if let Some(&view) = self.views.get(&ty) {
            return view;
        }
        let shape = Shape { size: u64::MAX, layout: Some(ty), repeats: true };
        let view = self.add(ObjectKind::Library, shape);
        self.objects[view as usize].view = true;
        self.views.insert(ty, view);
        if let Some(first) = self.layouts.first_member(ty) {
            self.objects[view as usize].prefix = self.view(first);
        }
        view
    }

    /// Where `loc + delta` is.
    pub fn shift(&mut self, loc: Loc, delta: i64) -> Loc {
        if loc == UNKNOWN || delta == 0 {
            return loc;
        }
        let Location { object, offset, .. } = self.locs[loc as usize];
        if offset == ANYWHERE || offset == USERS {
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
        if offset != ANYWHERE && (offset == USERS || self.stays(object, offset, stride)) {
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
