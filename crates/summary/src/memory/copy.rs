//! Copies of whole stretches of memory: `memcpy`, `realloc`, `memset`.
//!
//! Cells are copied one by one where it is known where they go; what goes somewhere else escapes.

use super::{Leaf, Leaves};
use crate::elements::Elements;
use crate::exec::Exec;
use crate::state::State;
use crate::vocabulary::{BaseKind, Place, Slot, SymKind, What};
use leakproof_guard::{Area, Base, Node, Term, Terms};
use leakproof_ir::{Module, SourceType, TypeId};
use rustc_hash::FxHashSet;

/// `memcpy` of at most this many bytes copies cell by cell.
const MAX_COPY: i64 = 512;
const POINTER_SIZE: u32 = 8;

/// Values that escaped as they are: they need not again, as long as nothing is made that they may lead to.
pub(crate) type Escaped = FxHashSet<Term>;

impl Exec<'_> {
    /// memcpy: contents of `src` to `dst`, `len` bytes when known.
    pub fn copy(&mut self, state: &mut State, dst: Term, src: Term, len: Option<i64>, at: Place) {
        self.copy_after(state, (dst, src, len), at, &mut Escaped::default());
    }

    /// The same, after some values escaped.
    fn copy_after(
        &mut self,
        state: &mut State,
        (dst, src, len): (Term, Term, Option<i64>),
        at: Place,
        escaped: &mut Escaped,
    ) {
        let (Some(to), Some(from)) = (self.leaves(state, dst), self.leaves(state, src)) else {
            for base in self.all_bases(src) {
                self.escape_contents_of(state, base, escaped);
            }
            return;
        };
        if len.is_none() {
            self.escape_copied(state, &to, &from);
        }
        for target in &to {
            let (dst_base, dst_off) = match (target.target, target.any) {
                (Leaves::Cell(base, Slot::At(offset)), false) => (base, offset),
                (Leaves::Cell(base, Slot::Every(elements)), _) => {
                    let moved: Vec<(i64, Term)> =
                        from.iter().flat_map(|leaf| self.remembered_in(state, leaf, len)).collect();
                    if dst != src {
                        self.replace_element(state, target, len, at);
                    }
                    for (by, value) in moved {
                        self.write_every(state, base, elements.moved_within(by), value, at);
                    }
                    self.copy_to_element(state, (base, elements), &from, len, at, escaped);
                    continue;
                }
                _ => {
                    self.escape_contents(state, &from, len, escaped);
                    continue;
                }
            };
            for source in &from {
                let cond = self.terms.and2(target.cond, source.cond);
                if let Leaves::Cell(base, Slot::Every { .. }) = source.target {
                    self.escape_contents_of(state, base, escaped);
                    for (by, value) in self.remembered_in(state, source, len) {
                        let to = Slot::At(dst_off + by);
                        self.write(state, dst_base, to, cond, value, source.any, at);
                    }
                }
                if let Leaves::Cell(src_base, Slot::At(src_off)) = source.target {
                    let cells = self.cells_to_copy(state, src_base, src_off, len);
                    for (offset, value) in cells {
                        let to = Slot::At(dst_off + (offset - src_off));
                        self.write(state, dst_base, to, cond, value, source.any, at);
                    }
                    let by = dst_off - src_off;
                    self.copy_every(state, dst_base, (src_base, src_off, len), by, at);
                }
            }
            if dst_off == 0 && len.is_none_or(|n| n > MAX_COPY) {
                self.inherit(state, dst_base, &from);
            }
        }
    }

    /// What an element that is copied is known to hold, with the distances from its start.
    fn remembered_in(&self, state: &State, source: &Leaf, len: Option<i64>) -> Vec<(i64, Term)> {
        let Leaves::Cell(base, Slot::Every(_)) = source.target else { return Vec::new() };
        let behind = self.remembered_behind(state, base, source.pointer).into_iter();
        let copied = behind.filter(|(by, _)| len.is_none_or(|n| *by < n));
        copied.filter_map(|(by, place)| Some((by, self.remembered(state, base, place)?))).collect()
    }

    /// An element of which is known what it holds is overwritten.
    fn replace_element(&mut self, state: &mut State, to: &Leaf, len: Option<i64>, at: Place) {
        let Leaves::Cell(base, Slot::Every(elements)) = to.target else { return };
        for (by, place) in self.remembered_behind(state, base, to.pointer) {
            if !to.any && len.is_none_or(|n| by < n) {
                let cell = (base, Slot::Every(elements.moved_within(by)));
                self.log_replaced(state, cell, place, to.cond, at);
                self.forget_last(state, base, cell.1);
            }
        }
    }

    /// A generic container copies elements whose size it only knows at run time. What a caller
    /// handed in as `void *` may be a pointer, or a struct that holds some: they are kept from then on.
    fn escape_copied(&mut self, state: &mut State, to: &[Leaf], from: &[Leaf]) {
        let is_local = |leaf: &Leaf| matches!(leaf.target, Leaves::Cell(b, _) if matches!(self.kind(b), BaseKind::Slot(_)));
        if to.iter().all(is_local) {
            return;
        }
        for leaf in from {
            if let Leaves::Cell(base, slot @ Slot::At(start)) = leaf.target
                && self.terms.as_pointee(base).is_some_and(|p| self.is_anything(p))
            {
                let members = Slot::Every(Elements::around(start, POINTER_SIZE, Area::WHOLE));
                for slot in [slot, members] {
                    let kept = self.read(state, base, slot, 64);
                    self.escape_if(state, kept, leaf.cond);
                }
            }
        }
    }

    /// Whether a pointer is an argument of type `void *`.
    fn is_anything(&self, pointer: Term) -> bool {
        let Node::Sym(s) = *self.terms.node(pointer) else { return false };
        let SymKind::Arg(n) = self.sym_kinds[s.0 as usize] else { return false };
        let ty = self.function.params.get(n as usize).and_then(|p| p.ty);
        ty.is_some_and(|t| points_to_void(self.module, t))
    }

    /// What is unwritten in `to` is what was unwritten in the objects that were copied there.
    fn inherit(&mut self, state: &mut State, to: Base, from: &[Leaf]) {
        for leaf in from {
            let Leaves::Cell(from, Slot::At(0)) = leaf.target else { continue };
            if from == to {
                continue;
            }
            let old = state.mem.get(&(from, Slot::Epoch)).copied().unwrap_or(Terms::NULL);
            let original = self.terms.addr(from, 0);
            let copied = self.terms.tuple(vec![original, old]);
            let before = state.mem.get(&(to, Slot::Epoch)).copied();
            let epoch = match before.filter(|_| leaf.cond != Terms::TRUE) {
                Some(other) => self.terms.choose(leaf.cond, copied, other),
                None => copied,
            };
            state.mem.insert((to, Slot::Epoch), epoch);
        }
    }

    /// A struct becomes an element of an array: its fields are those of some element.
    fn copy_to_element(
        &mut self,
        state: &mut State,
        (base, elements): (Base, Elements),
        from: &[Leaf],
        len: Option<i64>,
        at: Place,
        escaped: &mut Escaped,
    ) {
        for source in from {
            let Leaves::Cell(src, Slot::At(start)) = source.target else {
                self.escape_contents(state, std::slice::from_ref(source), len, escaped);
                continue;
            };
            for (offset, value) in self.cells_to_copy(state, src, start, len) {
                let field = elements.moved_within(offset - start);
                self.write_every(state, base, field, value, at);
            }
        }
    }

    /// Array cells are copied with their base: which elements they stand for is not known.
    fn copy_every(
        &mut self,
        state: &mut State,
        dst: Base,
        (src, start, len): (Base, i64, Option<i64>),
        by: i64,
        at: Place,
    ) {
        let copied = Area::from(start, len);
        let cells: Vec<(Elements, Term)> = state
            .contents_of(src)
            .filter_map(|(slot, t)| match slot {
                Slot::Every(e) if e.area.meets(copied) && self.terms.has_addr(t) => Some((e, t)),
                _ => None,
            })
            .collect();
        for (elements, value) in cells {
            self.write_every(state, dst, elements.moved(by), value, at);
        }
    }

    fn cells_to_copy(
        &mut self,
        state: &State,
        base: Base,
        start: i64,
        len: Option<i64>,
    ) -> Vec<(i64, Term)> {
        if let (Ok(from), Some(n)) = (u64::try_from(start), len.filter(|n| *n <= MAX_COPY))
            && let Some(cells) = self.constant_cells(base, from, n as u64)
        {
            return cells;
        }
        let end = len.map_or(i64::MAX, |n| start.saturating_add(n));
        let mut cells: Vec<(i64, Term)> = state
            .contents_of(base)
            .filter_map(|(s, t)| match s {
                Slot::At(o) if (start..end).contains(&o) => Some((o, t)),
                _ => None,
            })
            .collect();
        let pointers_unread = !matches!(self.kind(base), BaseKind::Slot(_) | BaseKind::Heap(_))
            || state.mem.contains_key(&(base, Slot::Epoch));
        if let (true, Some(n)) = (pointers_unread, len.filter(|n| *n <= MAX_COPY)) {
            for offset in (start..start + n).step_by(8) {
                let near = cells.iter().any(|(o, _)| (offset..offset + 8).contains(o));
                if !near && offset + 8 <= start + n {
                    let t = self.initial(state, base, Slot::At(offset), 64);
                    cells.push((offset, t));
                }
            }
        }
        cells
    }

    fn escape_contents(
        &mut self,
        state: &mut State,
        leaves: &[Leaf],
        len: Option<i64>,
        escaped: &mut Escaped,
    ) {
        for leaf in leaves {
            if let Leaves::Cell(base, slot) = leaf.target {
                self.escape_contents_of(state, base, escaped);
                if let Slot::At(start) = slot {
                    let copied = self.cells_to_copy(state, base, start, len);
                    self.escape_all(state, copied.into_iter().map(|(_, t)| t), escaped);
                }
            }
        }
    }

    fn escape_contents_of(&mut self, state: &mut State, base: Base, escaped: &mut Escaped) {
        let values: Vec<Term> = state.contents_of(base).map(|(_, t)| t).collect();
        self.escape_all(state, values.into_iter(), escaped);
    }

    fn escape_all(
        &mut self,
        state: &mut State,
        values: impl Iterator<Item = Term>,
        escaped: &mut Escaped,
    ) {
        for t in values {
            if escaped.insert(t) {
                self.escape(state, t);
            }
        }
    }

    /// memset: zero is remembered, anything else is only known to hold no pointer.
    pub fn fill(&mut self, state: &mut State, dst: Term, zero: bool, len: Option<i64>, at: Place) {
        let Some(leaves) = self.leaves(state, dst) else { return };
        for leaf in leaves {
            let Leaves::Cell(base, slot) = leaf.target else { continue };
            state.mem.remove(&(base, Slot::Last));
            let Slot::At(start) = slot else { continue };
            let end = len.map_or(i64::MAX, |n| start.saturating_add(n));
            let cells: Vec<(Slot, Term)> = state.contents_of(base).collect();
            for (slot, old) in cells {
                if matches!(slot, Slot::At(o) if (start..end).contains(&o)) {
                    let bits = self.terms.bits(old);
                    let new = if zero {
                        self.terms.int(bits, 0)
                    } else {
                        self.opaque(bits, What::Unknown, "", at.loc)
                    };
                    self.write(state, base, slot, leaf.cond, new, leaf.any, at);
                }
            }
            if zero && start == 0 && leaf.cond == Terms::TRUE && !leaf.any {
                let one = self.terms.int(64, 1);
                state.mem.insert((base, Slot::Epoch), one);
            }
        }
    }

    /// The whole object at `src` moves to the object at `dst` (realloc). Where it is not known
    /// which object that was, its contents are kept by somebody, and that is all.
    pub fn move_contents(
        &mut self,
        state: &mut State,
        dst: Term,
        src: Term,
        at: Place,
        escaped: &mut Escaped,
    ) {
        self.copy_after(state, (dst, src, None), at, escaped);
        let from = self.leaves(state, src).unwrap_or_default();
        if from.iter().any(|leaf| leaf.any) {
            self.escape_contents(state, &from, None, escaped);
        }
    }
}

fn points_to_void(module: &Module, ty: TypeId) -> bool {
    match module.types[ty] {
        SourceType::Pointer { to } => is_void(module, to),
        SourceType::Const { of } => points_to_void(module, of),
        _ => false,
    }
}

fn is_void(module: &Module, ty: TypeId) -> bool {
    match module.types[ty] {
        SourceType::Void => true,
        SourceType::Const { of } => is_void(module, of),
        _ => false,
    }
}
