//! Memory: what pointers refer to, loads, stores, copies, release and escape.
//!
//! A pointer term is a choice between leaves (addresses, symbols). An update goes to every leaf
//! under its condition; with one leaf it is exact. Distinct symbols are taken to point to
//! distinct objects. What cannot be followed escapes: it is never dropped.

use crate::exec::{Drop, DropKind, Exec};
use crate::state::State;
use crate::vocabulary::{BaseKind, ObjectId, Place, Slot, SymKind, What};
use leakproof_guard::{Base, Cast, Node, Op, SymInfo, Term, Terms};
use leakproof_ir::{InitValue, InstId, Loc};
use rustc_hash::FxHashSet;

/// More alternatives than this for one pointer are not told apart.
const MAX_LEAVES: usize = 24;
/// `memcpy` of at most this many bytes copies cell by cell.
const MAX_COPY: i64 = 512;
/// A condition of escape that is larger than this is taken as met.
const MAX_ESCAPE_CONDITION: u32 = 80;
/// Objects of callers that escape are followed as far as this many dereferences away.
const MAX_ESCAPE_DEPTH: u32 = 2;
/// How deep contents escape with their owner.
const ESCAPE_DEPTH: u32 = 4;

/// One alternative of a pointer.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    pub cond: Term,
    pub target: Leaves,
    /// The pointer is one of several that an array holds: updates through it are weak, releases
    /// through it count for all.
    pub any: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaves {
    Cell(Base, Slot),
    /// Null or another integer.
    Int,
}

impl Exec<'_> {
    /// The alternatives of a pointer in `state`; `None` when there are too many.
    pub fn leaves(&mut self, state: &State, pointer: Term) -> Option<Vec<Leaf>> {
        let mut out = Vec::new();
        self.steps += 1;
        self.collect_leaves(state, pointer, Terms::TRUE, false, &mut out).then_some(out)
    }

    fn collect_leaves(
        &mut self,
        state: &State,
        t: Term,
        cond: Term,
        any: bool,
        out: &mut Vec<Leaf>,
    ) -> bool {
        if out.len() >= MAX_LEAVES {
            return false;
        }
        let target = match self.terms.node(t).clone() {
            Node::Ite { cond: c, then, otherwise } => {
                let c = self.pcs.simplify(&mut self.terms, state.pc, c);
                let not_c = self.terms.not(c);
                let (yes, no) = (self.terms.and2(cond, c), self.terms.and2(cond, not_c));
                return (yes == Terms::FALSE || self.collect_leaves(state, then, yes, any, out))
                    && (no == Terms::FALSE || self.collect_leaves(state, otherwise, no, any, out));
            }
            Node::Any(items) => {
                return items.iter().all(|&i| self.collect_leaves(state, i, cond, true, out));
            }
            Node::Tuple(items) => {
                return items.iter().all(|&i| self.collect_leaves(state, i, cond, any, out));
            }
            Node::Bin { lhs, rhs, .. } if self.terms.has_addr(t) => {
                let inner = if self.terms.has_addr(lhs) { lhs } else { rhs };
                return self.collect_leaves(state, inner, cond, any, out);
            }
            Node::Cast { value, .. } if self.terms.has_addr(t) => {
                return self.collect_leaves(state, value, cond, any, out);
            }
            Node::Addr { base, offset } => Leaves::Cell(base, Slot::At(offset)),
            Node::Elem { base, offset, stride, .. } => {
                let rem = offset.rem_euclid(i64::from(stride)) as u32;
                Leaves::Cell(base, Slot::Every { stride, rem })
            }
            Node::Int { .. } | Node::Bool(_) => Leaves::Int,
            _ => Leaves::Cell(self.pointee(t), Slot::At(0)),
        };
        out.push(Leaf { cond, target, any });
        true
    }

    // ---- loads -----------------------------------------------------------------------------

    pub fn load(&mut self, state: &State, pointer: Term, bits: u16, loc: Loc) -> Term {
        let Some(leaves) = self.leaves(state, pointer) else {
            return self.opaque(bits, What::Unknown, "", loc);
        };
        let mut result: Option<Term> = None;
        let mut alternatives = Vec::new();
        for leaf in leaves.iter().rev() {
            let Leaves::Cell(base, slot) = leaf.target else { continue };
            let value = match slot {
                Slot::Every { .. } => self.read_element(state, base, slot, bits, pointer),
                _ => self.read(state, base, slot, bits),
            };
            if leaf.any {
                alternatives.push(value);
                continue;
            }
            result = Some(match result {
                None => value,
                Some(rest) => self.terms.ite(leaf.cond, value, rest),
            });
        }
        if !alternatives.is_empty() {
            alternatives.extend(result);
            return self.terms.any(alternatives);
        }
        result.unwrap_or_else(|| self.opaque(bits, What::Unknown, "", loc))
    }

    /// The element of an array at `pointer`. Numbers in elements that nobody wrote differ from
    /// element to element; pointers are taken as the same, as their owners treat them alike.
    fn read_element(
        &mut self,
        state: &State,
        base: Base,
        slot: Slot,
        bits: u16,
        pointer: Term,
    ) -> Term {
        let all = self.read(state, base, slot, bits);
        let Node::Sym(s) = *self.terms.node(all) else { return all };
        if bits >= 64 || !matches!(self.sym_kinds[s.0 as usize], SymKind::Init { .. }) {
            return all;
        }
        if let Some(&t) = self.elements.get(&(all, pointer)) {
            return t;
        }
        let sym = self.terms.new_sym(self.terms.sym_info(s));
        self.sym_kinds.push(self.sym_kinds[s.0 as usize].clone());
        let t = self.terms.sym(sym);
        self.elements.insert((all, pointer), t);
        t
    }

    /// What a cell holds, as a value of `bits` bits.
    pub fn read(&mut self, state: &State, base: Base, slot: Slot, bits: u16) -> Term {
        match slot {
            Slot::At(offset) => match state.mem.get(&(base, slot)) {
                Some(&t) => self.resized(t, bits),
                None => self.read_unwritten(state, base, offset, bits),
            },
            Slot::Every { stride, rem } => self.read_every(state, base, stride, rem, bits),
            _ => state.fact(base, slot),
        }
    }

    fn read_unwritten(&mut self, state: &State, base: Base, offset: i64, bits: u16) -> Term {
        let mut values: Vec<Term> = state
            .contents_of(base)
            .filter(|(slot, _)| covers(*slot, offset))
            .map(|(_, t)| t)
            .collect();
        if values.is_empty() {
            return self.initial(state, base, Slot::At(offset), bits);
        }
        for t in &mut values {
            *t = self.resized(*t, bits);
        }
        self.terms.any(values)
    }

    fn read_every(&mut self, state: &State, base: Base, stride: u32, rem: u32, bits: u16) -> Term {
        let mut values: Vec<Term> = state
            .contents_of(base)
            .filter(|(slot, _)| meets(*slot, stride, rem))
            .map(|(_, t)| t)
            .collect();
        if values.is_empty() {
            return self.initial(state, base, Slot::Every { stride, rem }, bits);
        }
        for t in &mut values {
            *t = self.resized(*t, bits);
        }
        self.terms.any(values)
    }

    /// A stored value read with another width.
    fn resized(&mut self, t: Term, bits: u16) -> Term {
        let have = self.terms.bits(t);
        if have == bits || have == 0 {
            return t;
        }
        if have == 1 || have > bits {
            let cast = if have == 1 { Cast::ZExt } else { Cast::Trunc };
            return self.terms.cast(cast, bits, t);
        }
        if self.terms.as_int(t) == Some(0) {
            return self.terms.int(bits, 0);
        }
        self.opaque(bits, What::Unknown, "", Loc::default())
    }

    /// What an unwritten cell holds: the function's input, zero, or nobody knows.
    pub fn initial(&mut self, state: &State, base: Base, slot: Slot, bits: u16) -> Term {
        let epoch = state.mem.get(&(base, Slot::Epoch)).copied().unwrap_or(Terms::NULL);
        self.initial_in(epoch, base, slot, bits)
    }

    fn initial_in(&mut self, epoch: Term, base: Base, slot: Slot, bits: u16) -> Term {
        if let Node::Ite { cond, then, otherwise } = *self.terms.node(epoch) {
            if self.terms.width(epoch) > 8 {
                // Too many generations to tell apart: any of them is unknown enough.
                return self.unknown_since(epoch, base, slot, bits);
            }
            let a = self.initial_in(then, base, slot, bits);
            let b = self.initial_in(otherwise, base, slot, bits);
            return self.terms.ite(cond, a, b);
        }
        if self.terms.as_int(epoch) == Some(1) {
            return self.terms.int(bits, 0);
        }
        if let Node::Tuple(parts) = self.terms.node(epoch).clone() {
            return self.initial_of_copy(&parts, slot, bits);
        }
        if let (Slot::At(offset), BaseKind::Global(_)) = (slot, self.kind(base))
            && let Some(t) = self.constant_contents(base, offset, bits)
        {
            return t;
        }
        self.unknown_since(epoch, base, slot, bits)
    }

    /// The symbol for a cell's contents at the start of an epoch.
    fn unknown_since(&mut self, epoch: Term, base: Base, slot: Slot, bits: u16) -> Term {
        if let Some(&t) = self.inits.get(&(base, slot, epoch, bits)) {
            return t;
        }
        let outside = epoch == Terms::NULL;
        let sym = self.terms.new_sym(SymInfo { bits, range: None, nonzero: false, outside });
        self.sym_kinds.push(SymKind::Init { base, slot, epoch });
        let t = self.terms.sym(sym);
        self.inits.insert((base, slot, epoch, bits), t);
        t
    }

    /// Unwritten cells of a copy hold what the original's unwritten cells held.
    fn initial_of_copy(&mut self, parts: &[Term], slot: Slot, bits: u16) -> Term {
        let (original, epoch) = (parts[0], parts[1]);
        let base = match *self.terms.node(original) {
            Node::Addr { base, offset: 0 } => base,
            _ => self.pointee(original),
        };
        self.initial_in(epoch, base, slot, bits)
    }

    /// The whole object at `src` moves to the object at `dst` (realloc). Where it is not known
    /// which object that was, its contents are kept by somebody, and that is all.
    pub fn move_contents(&mut self, state: &mut State, dst: Term, src: Term, at: Place) {
        self.copy(state, dst, src, None, at);
        let from = self.leaves(state, src).unwrap_or_default();
        if from.iter().any(|leaf| leaf.any) {
            self.escape_contents(state, &from, None);
        }
        let Node::Addr { base: to, offset: 0 } = *self.terms.node(dst) else { return };
        for leaf in from {
            if let Leaves::Cell(from, Slot::At(0)) = leaf.target {
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
    }

    /// The initial value of a constant global.
    fn constant_contents(&mut self, base: Base, offset: i64, bits: u16) -> Option<Term> {
        let BaseKind::Global(r) = self.kind(base) else { return None };
        let global = self.ctx.program.global(r);
        let init = global.init.as_ref().filter(|_| global.constant)?;
        let offset = u64::try_from(offset).ok()?;
        for entry in init {
            match &entry.value {
                InitValue::Bytes(bytes)
                    if bits == 8
                        && (entry.offset..entry.offset + bytes.len() as u64).contains(&offset) =>
                {
                    let byte = bytes[(offset - entry.offset) as usize];
                    return Some(self.terms.int(8, u64::from(byte)));
                }
                InitValue::Int { bits: b, value } if entry.offset == offset && *b == bits => {
                    return Some(self.terms.int(bits, *value));
                }
                InitValue::Function(f) if entry.offset == offset => {
                    use leakproof_program::Target;
                    let (Target::Defined(f) | Target::External(f)) =
                        self.ctx.program.resolve(r.module, *f);
                    let base = self.base(BaseKind::Func(f));
                    return Some(self.terms.addr(base, 0));
                }
                InitValue::Global(g, at) if entry.offset == offset => {
                    let target = self.ctx.program.resolve_global(r.module, *g);
                    let base = self.base(BaseKind::Global(target));
                    return Some(self.terms.addr(base, *at));
                }
                _ => {}
            }
        }
        let covered = init.iter().any(|e| {
            let len = match &e.value {
                InitValue::Bytes(b) => b.len() as u64,
                InitValue::Opaque(n) => u64::from(*n),
                _ => 8,
            };
            (e.offset..e.offset + len).contains(&offset)
        });
        (!covered && offset < global.size).then(|| self.terms.int(bits, 0))
    }

    // ---- stores ----------------------------------------------------------------------------

    pub fn store(&mut self, state: &mut State, pointer: Term, value: Term, at: Place) {
        let Some(leaves) = self.leaves(state, pointer) else {
            self.escape(state, value);
            return;
        };
        if self.terms.has_addr(value) {
            let kept = self.all_bases(value);
            for base in kept {
                self.stored.entry(base).or_default().push((state.pc, value));
            }
        }
        for leaf in leaves {
            match leaf.target {
                Leaves::Cell(base, slot) => {
                    self.write(state, base, slot, leaf.cond, value, leaf.any, at);
                }
                // The program would crash here: nothing on this path is a leak.
                Leaves::Int => self.escape_if(state, value, leaf.cond),
            }
        }
    }

    /// Whether a base belongs to a structure of somebody else that this function only walked
    /// into: what was hung up there is the structure's, also when it is moved about.
    fn is_inside_structure(&self, base: Base) -> bool {
        self.kind(base) == BaseKind::Pointee
            && self.terms.as_pointee(base).is_none_or(|p| self.pointer_depth(p) != Some(0))
    }

    #[expect(clippy::too_many_arguments, reason = "one update, fully described")]
    fn write(
        &mut self,
        state: &mut State,
        base: Base,
        slot: Slot,
        cond: Term,
        value: Term,
        weak: bool,
        at: Place,
    ) {
        if let Slot::Every { stride, rem } = slot {
            self.write_every(state, base, stride, rem, value, at);
            return;
        }
        let bits = self.terms.bits(value);
        let needs_old = weak || cond != Terms::TRUE || state.mem.contains_key(&(base, slot));
        let old = if needs_old { Some(self.read(state, base, slot, bits)) } else { None };
        let new = match old {
            Some(old) if weak => self.terms.any([old, value]),
            Some(old) => self.terms.ite(cond, value, old),
            None => value,
        };
        if let Some(old) = old {
            self.log_drop(state, old, (base, slot), at, DropKind::Overwritten);
            if self.terms.has_addr(old) && self.is_inside_structure(base) {
                self.escape_if(state, old, cond);
            }
        }
        state.mem.insert((base, slot), new);
        self.written_at.insert((base, slot), at);
    }

    /// A store to some element: the summarising cell and every cell it may be gain the value.
    fn write_every(
        &mut self,
        state: &mut State,
        base: Base,
        stride: u32,
        rem: u32,
        value: Term,
        at: Place,
    ) {
        let key = (base, Slot::Every { stride, rem });
        let met: Vec<(Slot, Term)> =
            state.contents_of(base).filter(|(s, _)| meets(*s, stride, rem)).collect();
        for (slot, old) in met {
            if self.terms.bits(old) == self.terms.bits(value) {
                let both = self.terms.any([old, value]);
                state.mem.insert((base, slot), both);
            }
        }
        if !state.mem.contains_key(&key) {
            state.mem.insert(key, value);
        }
        self.written_at.insert(key, at);
    }

    pub fn log_drop(
        &mut self,
        state: &State,
        old: Term,
        holder: (Base, Slot),
        at: Place,
        kind: DropKind,
    ) {
        if self.terms.has_addr(old) {
            let seq = self.tick();
            self.drops.push(Drop { seq, pc: state.pc, at, old, holder, kind });
        }
    }

    /// memcpy: contents of `src` to `dst`, `len` bytes when known.
    pub fn copy(&mut self, state: &mut State, dst: Term, src: Term, len: Option<i64>, at: Place) {
        let (Some(to), Some(from)) = (self.leaves(state, dst), self.leaves(state, src)) else {
            for base in self.all_bases(src) {
                self.escape_contents_of(state, base);
            }
            return;
        };
        for target in &to {
            let (dst_base, dst_off) = match (target.target, target.any) {
                (Leaves::Cell(base, Slot::At(offset)), false) => (base, offset),
                (Leaves::Cell(base, Slot::Every { stride, rem }), _) => {
                    self.copy_to_element(state, (base, stride, rem), &from, len, at);
                    continue;
                }
                _ => {
                    self.escape_contents(state, &from, len);
                    continue;
                }
            };
            for source in &from {
                let cond = self.terms.and2(target.cond, source.cond);
                if let Leaves::Cell(base, Slot::Every { .. }) = source.target {
                    self.escape_contents_of(state, base);
                }
                if let Leaves::Cell(src_base, Slot::At(src_off)) = source.target {
                    let cells = self.cells_to_copy(state, src_base, src_off, len);
                    for (offset, value) in cells {
                        let to = Slot::At(dst_off + (offset - src_off));
                        self.write(state, dst_base, to, cond, value, source.any, at);
                    }
                    self.copy_every(state, dst_base, src_base, at);
                }
            }
        }
    }

    /// A struct becomes an element of an array: its fields are those of some element.
    fn copy_to_element(
        &mut self,
        state: &mut State,
        (base, stride, rem): (Base, u32, u32),
        from: &[Leaf],
        len: Option<i64>,
        at: Place,
    ) {
        for source in from {
            let (Leaves::Cell(src, Slot::At(start)), true) = (source.target, stride > 0) else {
                self.escape_contents(state, std::slice::from_ref(source), len);
                continue;
            };
            for (offset, value) in self.cells_to_copy(state, src, start, len) {
                let within = (i64::from(rem) + (offset - start)).rem_euclid(i64::from(stride));
                self.write_every(state, base, stride, within as u32, value, at);
            }
        }
    }

    /// Array cells are copied with their base: which elements they stand for is not known.
    fn copy_every(&mut self, state: &mut State, dst: Base, src: Base, at: Place) {
        let cells: Vec<(Slot, Term)> = state
            .contents_of(src)
            .filter(|(s, t)| matches!(s, Slot::Every { .. }) && self.terms.has_addr(*t))
            .collect();
        for (slot, value) in cells {
            if let Slot::Every { stride, rem } = slot {
                self.write_every(state, dst, stride, rem, value, at);
            }
        }
    }

    fn cells_to_copy(
        &mut self,
        state: &State,
        base: Base,
        start: i64,
        len: Option<i64>,
    ) -> Vec<(i64, Term)> {
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

    fn escape_contents(&mut self, state: &mut State, leaves: &[Leaf], len: Option<i64>) {
        for leaf in leaves {
            if let Leaves::Cell(base, slot) = leaf.target {
                self.escape_contents_of(state, base);
                if let Slot::At(start) = slot {
                    let copied = self.cells_to_copy(state, base, start, len);
                    copied.into_iter().for_each(|(_, t)| self.escape(state, t));
                }
            }
        }
    }

    fn escape_contents_of(&mut self, state: &mut State, base: Base) {
        let values: Vec<Term> = state.contents_of(base).map(|(_, t)| t).collect();
        values.into_iter().for_each(|t| self.escape(state, t));
    }

    /// memset: zero is remembered, anything else is only known to hold no pointer.
    pub fn fill(&mut self, state: &mut State, dst: Term, zero: bool, len: Option<i64>, at: Place) {
        let Some(leaves) = self.leaves(state, dst) else { return };
        for leaf in leaves {
            let Leaves::Cell(base, Slot::At(start)) = leaf.target else { continue };
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

    // ---- release and escape ------------------------------------------------------------------

    /// The object that `pointer` refers to is released under `cond`.
    pub fn free(&mut self, state: &mut State, pointer: Term, cond: Term, inst: InstId, at: Place) {
        self.log_release(state, pointer, cond, inst, at);
        let Some(leaves) = self.leaves(state, pointer) else {
            self.escape(state, pointer);
            return;
        };
        let element = self.is_element(pointer);
        for leaf in leaves {
            let Leaves::Cell(base, slot) = leaf.target else { continue };
            let when = self.terms.and2(cond, leaf.cond);
            let released = match (slot, self.kind(base)) {
                // Nobody releases the middle of an object: this is not the path that was meant.
                (Slot::At(offset), BaseKind::Heap(_)) if offset != 0 => continue,
                // The object around a member (`container_of`) has a pointer of its own.
                (Slot::At(offset), BaseKind::Pointee) if offset != 0 => {
                    let around = self.terms.addr(base, offset);
                    self.pointee(around)
                }
                _ => base,
            };
            if element || leaf.any {
                self.element_frees.push(released);
            }
            self.free_base(state, released, when, inst, at);
        }
    }

    /// Whether a pointer is what some element of an array held.
    fn is_element(&self, pointer: Term) -> bool {
        match self.terms.node(pointer) {
            Node::Sym(s) => matches!(
                self.sym_kinds[s.0 as usize],
                SymKind::Init { slot: Slot::Every { .. }, .. }
            ),
            Node::Ite { then, otherwise, .. } => {
                self.is_element(*then) || self.is_element(*otherwise)
            }
            _ => false,
        }
    }

    pub fn free_base(
        &mut self,
        state: &mut State,
        base: Base,
        when: Term,
        inst: InstId,
        at: Place,
    ) {
        if when == Terms::FALSE || !self.is_releasable(base) {
            return;
        }
        let old = state.fact(base, Slot::Freed);
        let freed = self.terms.or2(old, when);
        state.mem.insert((base, Slot::Freed), freed);
        self.written_at.insert((base, Slot::Freed), at);
        self.frees.push((inst, base));
        let inner: Vec<(Slot, Term)> = state.contents_of(base).collect();
        for (slot, value) in inner {
            self.log_drop(state, value, (base, slot), at, DropKind::OwnerFreed);
        }
    }

    fn is_releasable(&self, base: Base) -> bool {
        matches!(self.kind(base), BaseKind::Heap(_) | BaseKind::Pointee)
    }

    /// Somebody unknown now holds `value`: every object in it, and what those hold, is out of
    /// sight.
    pub fn escape(&mut self, state: &mut State, value: Term) {
        self.escape_if(state, value, Terms::TRUE);
    }

    pub fn escape_if(&mut self, state: &mut State, value: Term, cond: Term) {
        for (base, leaf_cond) in self.targets(state, value) {
            let when = self.terms.and2(cond, leaf_cond);
            self.escape_base(state, base, when);
        }
    }

    /// A base escapes with all that it leads to, which is not told apart any further.
    pub(crate) fn escape_base(&mut self, state: &mut State, base: Base, when: Term) {
        let mut seen = FxHashSet::default();
        let mut work = vec![(base, ESCAPE_DEPTH)];
        while let Some((base, depth)) = work.pop() {
            if when == Terms::FALSE || !self.may_be_owned(base) || !seen.insert(base) {
                continue;
            }
            let old = state.fact(base, Slot::Escaped);
            if old == Terms::TRUE {
                // What is stored in it later is out of sight by being there.
                continue;
            }
            let mut escaped = self.terms.or2(old, when);
            if escaped == old {
                continue;
            }
            if self.terms.size(escaped) > MAX_ESCAPE_CONDITION {
                escaped = Terms::TRUE;
            }
            state.mem.insert((base, Slot::Escaped), escaped);
            if depth > 0 {
                let inner: Vec<Term> = state
                    .contents_of(base)
                    .map(|(_, t)| t)
                    .filter(|&t| self.terms.has_addr(t) || self.is_callers(t))
                    .collect();
                for t in inner {
                    work.extend(self.all_bases(t).into_iter().map(|b| (b, depth - 1)));
                }
            }
        }
    }

    /// Whether this function or its caller may have to release the base.
    pub(crate) fn may_be_owned(&self, base: Base) -> bool {
        match self.kind(base) {
            BaseKind::Pointee => {
                let pointer = self.terms.as_pointee(base);
                let depth = pointer.and_then(|p| self.argument_depth(p));
                depth.is_some_and(|d| d <= MAX_ESCAPE_DEPTH)
            }
            BaseKind::Func(_) | BaseKind::Global(_) => false,
            _ => true,
        }
    }

    /// Whether a pointer is an argument or what an argument points to: the caller may own it.
    pub(crate) fn is_callers(&self, t: Term) -> bool {
        self.terms.bits(t) == 64
            && matches!(self.terms.node(t), Node::Sym(_))
            && self.argument_depth(t).is_some_and(|d| d <= 1)
    }

    /// Every base whose address occurs anywhere in a term.
    pub fn all_bases(&mut self, t: Term) -> Vec<Base> {
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut work = vec![t];
        while let Some(t) = work.pop() {
            if !seen.insert(t) {
                continue;
            }
            let node = self.terms.node(t).clone();
            match node {
                Node::Addr { base, .. } | Node::Elem { base, .. } => found.push(base),
                Node::Ite { then, otherwise, .. } => work.extend([then, otherwise]),
                Node::Sym(_) if self.terms.bits(t) == 64 => found.push(self.pointee(t)),
                Node::Any(items) | Node::Tuple(items) => work.extend(items.iter().copied()),
                Node::Bin { lhs, rhs, .. } => work.extend([lhs, rhs]),
                Node::Cast { value, .. } => work.push(value),
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// An unknown function may have written to what `pointer` refers to.
    pub fn forget_contents(&mut self, state: &mut State, pointer: Term, name: &str, loc: Loc) {
        let bases = match self.leaves(state, pointer) {
            Some(leaves) => leaves
                .iter()
                .filter_map(|l| match l.target {
                    Leaves::Cell(b, _) => Some((b, l.cond)),
                    Leaves::Int => None,
                })
                .collect(),
            None => Vec::new(),
        };
        for (base, cond) in bases {
            if !matches!(self.kind(base), BaseKind::Func(_) | BaseKind::Var(_)) {
                self.forget_base(state, base, cond, name, loc);
            }
        }
    }

    fn forget_base(&mut self, state: &mut State, base: Base, cond: Term, name: &str, loc: Loc) {
        let slots: Vec<(Slot, Term)> = state.contents_of(base).collect();
        let fresh = self.opaque(64, What::Written, name, loc);
        for (slot, old) in slots {
            if self.terms.has_addr(old) {
                // An owned pointer is taken to stay where it is.
                continue;
            }
            if cond == Terms::TRUE {
                state.mem.remove(&(base, slot));
            } else {
                let bits = self.terms.bits(old);
                let unknown = self.initial_in(fresh, base, slot, bits);
                let merged = self.terms.ite(cond, unknown, old);
                state.mem.insert((base, slot), merged);
            }
        }
        let old = state.mem.get(&(base, Slot::Epoch)).copied().unwrap_or(Terms::NULL);
        let epoch = self.terms.ite(cond, fresh, old);
        state.mem.insert((base, Slot::Epoch), epoch);
    }

    /// Whether a value is "one of several", which no model decides.
    pub fn holds_any(&self, t: Term) -> bool {
        match self.terms.node(t) {
            Node::Any(_) => true,
            Node::Ite { then, otherwise, .. } if self.terms.width(t) < 100 => {
                self.holds_any(*then) || self.holds_any(*otherwise)
            }
            _ => false,
        }
    }

    /// The heap object of a base.
    pub fn object_of(&self, base: Base) -> Option<ObjectId> {
        match self.kind(base) {
            BaseKind::Heap(o) => Some(o),
            _ => None,
        }
    }

    /// A pointer somewhere into what `pointer` points to.
    pub fn inside(&mut self, pointer: Term, name: &str, loc: Loc) -> Term {
        let index = self.opaque(64, What::Result, name, loc);
        self.terms.index(pointer, 1, index)
    }

    /// Integer addition, aware of addresses.
    pub fn add(&mut self, lhs: Term, rhs: Term) -> Term {
        if self.terms.bits(lhs) == 64 && (self.terms.has_addr(lhs) || self.terms.has_addr(rhs)) {
            let (p, i) = if self.terms.has_addr(lhs) { (lhs, rhs) } else { (rhs, lhs) };
            return match self.terms.as_signed(i) {
                Some(k) => self.terms.offset(p, k),
                None if !self.terms.has_addr(i) => self.terms.index(p, 1, i),
                None => self.terms.bin(Op::Add, lhs, rhs),
            };
        }
        self.terms.bin(Op::Add, lhs, rhs)
    }
}

fn covers(slot: Slot, offset: i64) -> bool {
    match slot {
        Slot::Every { stride, rem } => {
            (offset - i64::from(rem)).rem_euclid(i64::from(stride.max(1))) == 0
        }
        _ => false,
    }
}

/// Whether a cell may be one of the elements at `rem` modulo `stride`.
fn meets(slot: Slot, stride: u32, rem: u32) -> bool {
    match slot {
        Slot::At(offset) => (offset - i64::from(rem)).rem_euclid(i64::from(stride.max(1))) == 0,
        Slot::Every { stride: s, rem: r } => {
            let g = gcd(stride.max(1), s.max(1));
            r % g == rem % g
        }
        _ => false,
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
