//! Copies of bytes: `memcpy`, struct assignment, `realloc`.
//!
//! Bytes keep their type. What is a struct at the source is that struct at the destination: in its own
//! cells if the destination can hold it, otherwise in the view of that type. Pointers go to
//! pointers, raw memory to anything. A copy with many ends goes through a stage per type, so that
//! generic copying code does not relate the fields of unrelated types.
//! Invariant: ends and cells found later are related like those found before.

use super::ObjectKind;
use super::layout::LayoutId;
use super::memory::Mirror;
use super::object::{ANYWHERE, Loc, Location, NONE, Obj, Shape, UNKNOWN};
use super::solver::{Solver, Val};

/// Above this many (destination, source) pairs a copy goes through stages.
const MAX_PAIRS: usize = 16;

/// Above this many pairs in all, what is copied is out of sight. Programs that build packets in
/// one buffer, from many structs at many places, would relate all of them with each other, and
/// each relation makes views that are copied in their turn.
const MAX_ALL_PAIRS: u64 = 50_000;

/// What kind of bytes are at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    Struct(LayoutId),
    Pointer,
    Raw,
    Unknown,
}

/// `memcpy(dst, src, len)` and what its ends were found to be.
pub(super) struct ByteCopy {
    len: u64,
    dsts: Vec<Loc>,
    srcs: Vec<Loc>,
    /// Once pairs are too many: one object per kind of bytes.
    stages: Option<Vec<(Content, Loc)>>,
}

impl Solver {
    /// `memcpy(dst, src, len)`; `u64::MAX` for an unknown length.
    pub fn copy_bytes(&mut self, dst: Val, src: Val, len: u64) {
        if dst == Val::Nothing || src == Val::Nothing {
            return;
        }
        let id = self.copies.len() as u32;
        self.copies.push(ByteCopy { len, dsts: Vec::new(), srcs: Vec::new(), stages: None });
        for (end, is_dst) in [(dst, true), (src, false)] {
            match end {
                Val::Nothing => {}
                Val::Addr(loc) => self.copy_end(id, is_dst, loc),
                Val::Var(n) => self.watch_copy(n, id, is_dst),
            }
        }
    }

    /// One end of a copy was found to be `loc`.
    pub fn copy_end(&mut self, id: u32, is_dst: bool, loc: Loc) {
        if self.is_opaque(loc) {
            return;
        }
        let copy = &mut self.copies[id as usize];
        let own = if is_dst { &mut copy.dsts } else { &mut copy.srcs };
        own.push(loc);
        if copy.stages.is_some() {
            return self.stage_end(id, is_dst, loc);
        }
        if copy.dsts.len() * copy.srcs.len() > MAX_PAIRS {
            return self.start_stages(id);
        }
        let len = copy.len;
        let others = if is_dst { copy.srcs.clone() } else { copy.dsts.clone() };
        for other in others {
            let (dst, src) = if is_dst { (loc, other) } else { (other, loc) };
            self.pair(dst, src, len);
        }
    }

    fn is_opaque(&self, loc: Loc) -> bool {
        let obj = self.mem.locs[loc as usize].object;
        loc != UNKNOWN && self.mem.objects[obj as usize].opaque
    }

    fn start_stages(&mut self, id: u32) {
        let copy = &mut self.copies[id as usize];
        copy.stages = Some(Vec::new());
        for src in std::mem::take(&mut copy.srcs) {
            self.stage_end(id, false, src);
        }
    }

    fn stage_end(&mut self, id: u32, is_dst: bool, loc: Loc) {
        let len = self.copies[id as usize].len;
        if is_dst {
            for (_, stage) in self.copies[id as usize].stages.clone().unwrap_or_default() {
                self.pair(loc, stage, len);
            }
            return;
        }
        let content = self.content_kind(loc);
        let stages = self.copies[id as usize].stages.get_or_insert_default();
        let stage = match stages.iter().find(|s| s.0 == content) {
            Some(&(_, stage)) => stage,
            None => self.add_stage(id, content),
        };
        if stage != UNKNOWN {
            self.pair(stage, loc, len);
        }
    }

    fn add_stage(&mut self, id: u32, content: Content) -> Loc {
        let (layout, repeats) = match content {
            Content::Struct(ty) => (Some(ty), true),
            Content::Pointer => (Some(self.mem.layouts.pointer()), true),
            Content::Raw | Content::Unknown => (None, false),
        };
        let stage = match content {
            Content::Unknown => UNKNOWN,
            _ => {
                let shape = Shape { size: u64::MAX, layout, repeats };
                let object = self.mem.add(ObjectKind::Library, shape);
                self.mem.objects[object as usize].view = true;
                self.mem.base(object)
            }
        };
        let copy = &mut self.copies[id as usize];
        copy.stages.get_or_insert_default().push((content, stage));
        let (len, dsts) = (copy.len, copy.dsts.clone());
        for dst in dsts {
            self.pair(dst, stage, len);
        }
        stage
    }

    /// An unknown offset in an array of structs is taken for the start of an element.
    fn content_kind(&self, loc: Loc) -> Content {
        if loc == UNKNOWN {
            return Content::Unknown;
        }
        let Location { object, offset, .. } = self.mem.locs[loc as usize];
        let Some(layout) = self.mem.objects[object as usize].layout else { return Content::Raw };
        let offset = if offset == ANYWHERE { 0 } else { offset };
        match self.mem.layouts.struct_at(layout, offset) {
            Some(ty) => Content::Struct(ty),
            None if self.mem.layouts.is_pointer_at(layout, offset) => Content::Pointer,
            None => Content::Raw,
        }
    }

    /// Copies `len` bytes from `src` to `dst`.
    fn pair(&mut self, dst: Loc, src: Loc, len: u64) {
        if dst == UNKNOWN || src == UNKNOWN {
            return self.pair_unknown(dst, src);
        }
        self.pairs += 1;
        if self.are_copies_exhausted() {
            self.pair_unknown(UNKNOWN, src);
            return self.pair_unknown(dst, UNKNOWN);
        }
        let object = self.mem.locs[src as usize].object;
        if self.is_text(dst) && (self.is_text(src) || self.is_library(src)) {
            return;
        }
        let typed = self.mem.objects[object as usize].layout.is_some();
        let unbounded = len == u64::MAX;
        match self.content_kind(src) {
            Content::Struct(ty) => self.pair_struct(dst, src, ty, len),
            // Of an unknown number of bytes it is the member at this place that is meant.
            Content::Pointer if unbounded => self.pair_cells(dst, src, 8),
            Content::Raw if unbounded && typed => {}
            Content::Pointer | Content::Raw | Content::Unknown => self.pair_cells(dst, src, len),
        }
        if !self.mem.objects[object as usize].copied_to.contains(&(dst, len)) {
            self.mem.objects[object as usize].copied_to.push((dst, len));
            for (ty, view) in self.mem.objects[object as usize].seen_as.clone() {
                self.copy_view(ty, view, dst, len);
            }
        }
    }

    fn are_copies_exhausted(&self) -> bool {
        self.pairs > MAX_ALL_PAIRS
    }

    /// A buffer of characters or numbers.
    fn is_text(&self, loc: Loc) -> bool {
        let o = &self.mem.objects[self.mem.locs[loc as usize].object as usize];
        o.seen_as.is_empty() && o.layout.is_some_and(|l| !self.mem.layouts.has_pointers(l))
    }

    fn is_library(&self, loc: Loc) -> bool {
        let o = &self.mem.objects[self.mem.locs[loc as usize].object as usize];
        o.kind == ObjectKind::Library && !o.view
    }

    fn pair_struct(&mut self, dst: Loc, src: Loc, ty: LayoutId, len: u64) {
        if !self.mem.layouts.has_pointers(ty) {
            return;
        }
        let len = if len == u64::MAX { u64::from(self.mem.layouts.size(ty)) } else { len };
        let (dst, src) = (self.element(dst), self.element(src));
        // When only what both begin with is copied, it is copied as it is.
        let last = len.clamp(1, u64::from(self.mem.layouts.size(ty)).max(1)) as i64 - 1;
        let to = match self.content_kind(dst) {
            Content::Struct(part) if i64::from(self.mem.layouts.size(part)) <= last => {
                let member = i64::from(self.mem.layouts.size(part)) - 1;
                self.viewed(dst, ty, member)
            }
            _ => self.viewed(dst, ty, last),
        };
        self.pair_cells(to, src, len);
    }

    /// Element zero of an array of structs for an unknown offset in it.
    fn element(&self, loc: Loc) -> Loc {
        let Location { object, offset, .. } = self.mem.locs[loc as usize];
        let typed = self.mem.objects[object as usize].layout.is_some();
        if offset == ANYWHERE && typed { self.mem.base(object) } else { loc }
    }

    fn pair_unknown(&mut self, dst: Loc, src: Loc) {
        let whole = self.whole(dst);
        if src == UNKNOWN {
            if let Some(node) = self.write_node(whole) {
                self.insert(node, UNKNOWN);
            }
            return;
        }
        let all = self.whole(src);
        if let Some(all) = self.read_node(all) {
            self.edge(all, self.escape);
        }
    }

    fn whole(&mut self, loc: Loc) -> Loc {
        if loc == UNKNOWN { loc } else { self.mem.anywhere(self.mem.locs[loc as usize].object) }
    }

    /// Relates the cells of two places.
    fn pair_cells(&mut self, dst: Loc, src: Loc, len: u64) {
        let Location { object, offset: from, .. } = self.mem.locs[src as usize];
        let Location { object: target, offset: to, .. } = self.mem.locs[dst as usize];
        let class = self.classes.of(object);
        let o = &self.mem.objects[object as usize];
        let (period, prefix, single) = (o.period, o.prefix, o.single);
        if from == to && class == self.classes.of(target) && from != ANYWHERE {
            return;
        }
        if from == ANYWHERE || to == ANYWHERE || single {
            return self.copy_all(dst, src);
        }
        self.add_mirror(class, Mirror { from, len, object: target, to, period });
        if prefix != NONE {
            let first = self.mem.base(prefix);
            self.pair_cells(dst, first, len);
        }
    }

    /// Everything in the object at `src` may be anywhere in the object at `dst`.
    fn copy_all(&mut self, dst: Loc, src: Loc) {
        let (all, whole) = (self.whole(src), self.whole(dst));
        if let (Some(all), Some(whole)) = (self.read_node(all), self.write_node(whole)) {
            self.edge(all, whole);
        }
    }

    /// What is seen as a `ty` of an object that was copied to `dst`.
    pub fn copy_view(&mut self, ty: LayoutId, view: Obj, dst: Loc, len: u64) {
        if self.are_copies_exhausted() {
            self.pair_unknown(UNKNOWN, self.mem.base(view));
            return self.pair_unknown(dst, UNKNOWN);
        }
        let to = self.viewed(dst, ty, i64::from(self.mem.layouts.size(ty)) - 1);
        if self.mem.locs[to as usize].object != view {
            self.pair_cells(to, self.mem.base(view), len);
        }
    }
}
