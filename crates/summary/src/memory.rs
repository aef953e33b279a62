//! Memory: what pointers refer to, loads, stores; copies, release and escape are modules of it.
//!
//! A pointer term is a choice between leaves (addresses, symbols). An update goes to every leaf
//! under its condition; with one leaf it is exact. Distinct symbols are taken to point to
//! distinct objects. What cannot be followed escapes: it is never dropped.

mod constant;
mod copy;
mod last;
mod release;

pub(crate) use copy::Escaped;
pub(crate) use release::MAX_ESCAPE_DEPTH;

use crate::elements::Elements;
use crate::exec::{Drop, DropKind, Exec, Stored};
use crate::state::{Cell, State};
use crate::vocabulary::{BaseKind, ObjectId, Origin, Place, Slot, SymKind, What};
use leakproof_guard::{
    Area, Base, Cast, Node, Op, Seen, Sym, SymInfo, Term, Terms, for_each_child,
};
use leakproof_ir::{InstKind, Loc};
use smallvec::{SmallVec, smallvec};

/// More alternatives than this for one pointer are not told apart.
const MAX_LEAVES: usize = 24;

/// The bases in a term: mostly few.
pub type Bases = SmallVec<[Base; 8]>;

/// The alternatives of a pointer: mostly one.
pub type LeafList = SmallVec<[Leaf; 2]>;

/// One alternative of a pointer.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    pub cond: Term,
    pub target: Leaves,
    /// The alternative itself.
    pub(crate) pointer: Term,
    /// The pointer was computed from this alternative, aligned for instance: where in the object it points is not known.
    pub computed: bool,
    /// The pointer is one of several that an array holds: updates through it are weak, releases
    /// through it count for all.
    pub any: bool,
}

/// The way from a pointer to one of its alternatives.
#[derive(Clone, Copy)]
struct Way {
    cond: Term,
    any: bool,
    computed: bool,
    /// The most alternatives that are wanted.
    most: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaves {
    Cell(Base, Slot),
    /// Null or another integer.
    Int,
}

impl Exec<'_> {
    /// The alternatives of a pointer in `state`; `None` when there are too many.
    pub fn leaves(&mut self, state: &State, pointer: Term) -> Option<LeafList> {
        self.leaves_up_to(state, pointer, MAX_LEAVES)
    }

    /// The same, with a limit of the caller's.
    pub fn leaves_up_to(&mut self, state: &State, pointer: Term, most: usize) -> Option<LeafList> {
        let mut out = LeafList::new();
        self.steps += 1;
        let way = Way { cond: Terms::TRUE, any: false, computed: false, most };
        self.collect_leaves(state, pointer, way, &mut out).then_some(out)
    }

    fn collect_leaves(&mut self, state: &State, t: Term, way: Way, out: &mut LeafList) -> bool {
        if out.len() >= way.most {
            return false;
        }
        let target = match self.terms.node(t).clone() {
            Node::Ite { cond: c, then, otherwise } => {
                let c = self.pcs.simplify(&mut self.terms, state.pc, c);
                let not_c = self.terms.not(c);
                let yes = Way { cond: self.terms.and2(way.cond, c), ..way };
                let no = Way { cond: self.terms.and2(way.cond, not_c), ..way };
                return (yes.cond == Terms::FALSE || self.collect_leaves(state, then, yes, out))
                    && (no.cond == Terms::FALSE || self.collect_leaves(state, otherwise, no, out));
            }
            Node::Any(items) => {
                let any = Way { any: true, ..way };
                return items.iter().all(|&i| self.collect_leaves(state, i, any, out));
            }
            Node::Tuple(items) => {
                return items.iter().all(|&i| self.collect_leaves(state, i, way, out));
            }
            Node::Bin { lhs, rhs, .. } if self.terms.has_addr(t) => {
                let inner = if self.terms.has_addr(lhs) { lhs } else { rhs };
                let computed = Way { computed: true, ..way };
                return self.collect_leaves(state, inner, computed, out);
            }
            Node::Cast { value, .. } if self.terms.has_addr(t) => {
                return self.collect_leaves(state, value, way, out);
            }
            Node::Addr { base, offset } => Leaves::Cell(base, Slot::At(offset)),
            Node::Elem { base, offset, stride, area, .. } => {
                Leaves::Cell(base, Slot::Every(Elements::around(offset, stride, area)))
            }
            Node::Int { .. } | Node::Bool(_) => Leaves::Int,
            _ => Leaves::Cell(self.pointee(t), Slot::At(0)),
        };
        let Way { cond, any, computed, .. } = way;
        out.push(Leaf { cond, target, pointer: t, any, computed });
        true
    }

    // ---- loads -----------------------------------------------------------------------------

    pub fn load(&mut self, state: &State, pointer: Term, bits: u16, loc: Loc) -> Term {
        let Some(leaves) = self.leaves(state, pointer) else {
            return self.opaque(bits, What::Unknown, "", loc);
        };
        if let Some(written) = self.written_through(state, &leaves, pointer) {
            return self.resized(written, bits);
        }
        let several = leaves.len() > 1;
        let mut result: Option<Term> = None;
        let mut alternatives = Vec::new();
        for leaf in leaves.iter().rev() {
            let Leaves::Cell(base, slot) = leaf.target else { continue };
            let row = self.constant_element(leaf.pointer, bits);
            let row = row.or_else(|| {
                let written = self.remembered(state, base, leaf.pointer).filter(|_| several)?;
                Some(self.resized(written, bits))
            });
            let value = match (slot, row) {
                (_, Some(value)) => value,
                (Slot::Every { .. }, _) => self.read_element(state, base, slot, bits, leaf.pointer),
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
        match *self.terms.node(all) {
            Node::Int { .. } => all,
            _ if bits >= 64 => all,
            Node::Sym(s) if matches!(self.sym_kinds[s.0 as usize], SymKind::Init { .. }) => {
                self.number_at(all, pointer, s)
            }
            Node::Sym(_) => all,
            _ => self.number_among(state, (base, slot), all, pointer),
        }
    }

    /// A pointer that was read from an array and is going to be compared with null. The pointers of an array
    /// are one, but whether one of them is null says nothing about the others: many arrays end with one.
    pub(crate) fn element_or_null(&mut self, pointer: Term, all: Term) -> Term {
        let Node::Sym(like) = *self.terms.node(all) else { return all };
        let is_element = matches!(self.terms.node(pointer), Node::Elem { .. })
            && matches!(
                self.sym_kinds[like.0 as usize],
                SymKind::Init { slot: Slot::Every(_), .. }
            );
        if !is_element {
            return all;
        }
        let own = self.number_at(all, pointer, like);
        let null = self.terms.is_null(own);
        self.terms.ite(null, Terms::NULL, all)
    }

    /// The number at `pointer`, which is one of those that `all` stands for: a symbol of its own,
    /// as much of an input as `like`.
    fn number_at(&mut self, all: Term, pointer: Term, like: Sym) -> Term {
        if let Some(&t) = self.elements.get(&(all, pointer)) {
            return t;
        }
        let kind = self.sym_kinds[like.0 as usize].clone();
        let t = self.add_symbol(self.terms.sym_info(like), kind);
        self.elements.insert((all, pointer), t);
        t
    }

    /// The number at `pointer` in an array of which some elements were written: it may be one of
    /// those, and it may be what was there before. Callers know what was there under the same name,
    /// so of their memory only that it is unknown is said.
    fn number_among(&mut self, state: &State, cell: Cell, all: Term, pointer: Term) -> Term {
        let bits = self.terms.bits(all);
        let before = self.initial(state, cell.0, cell.1, bits);
        let before = self.pruned(state, before);
        let own = matches!(self.kind(cell.0), BaseKind::Heap(_) | BaseKind::Slot(_));
        match *self.terms.node(before) {
            Node::Sym(like) if own => self.number_at(all, pointer, like),
            _ if self.elements.contains_key(&(all, pointer)) => self.elements[&(all, pointer)],
            _ => {
                let t = self.opaque(bits, What::Unknown, "", Loc::default());
                self.elements.insert((all, pointer), t);
                t
            }
        }
    }

    /// What a cell holds, as a value of `bits` bits.
    pub fn read(&mut self, state: &State, base: Base, slot: Slot, bits: u16) -> Term {
        match slot {
            Slot::At(offset) => match state.mem.get(&(base, slot)) {
                Some(&t) => self.resized(t, bits),
                None => self.read_unwritten(state, base, offset, bits),
            },
            Slot::Every(elements) => self.read_every(state, base, elements, bits),
            _ => state.fact(base, slot),
        }
    }

    fn read_unwritten(&mut self, state: &State, base: Base, offset: i64, bits: u16) -> Term {
        let mut values: Vec<Term> = Vec::new();
        if self.arrays.contains(&base) {
            let covering = |slot: Slot| matches!(slot, Slot::Every(e) if e.covers(offset));
            values.extend(state.contents_of(base).filter(|(s, _)| covering(*s)).map(|(_, t)| t));
        }
        if values.is_empty() {
            return self.initial(state, base, Slot::At(offset), bits);
        }
        for t in &mut values {
            *t = self.resized(*t, bits);
        }
        if bits >= 64 {
            return self.terms.any(values);
        }
        values.push(self.initial(state, base, Slot::At(offset), bits));
        let all = self.terms.any(values);
        if let Node::Int { .. } = self.terms.node(all) {
            return all;
        }
        let pointer = self.terms.addr(base, offset);
        self.number_among(state, (base, Slot::At(offset)), all, pointer)
    }

    fn read_every(&mut self, state: &State, base: Base, elements: Elements, bits: u16) -> Term {
        let mut values: Vec<Term> = state
            .contents_of(base)
            .filter(|(slot, _)| elements.meets(*slot))
            .map(|(_, t)| t)
            .collect();
        if values.is_empty() {
            return self.initial(state, base, Slot::Every(elements), bits);
        }
        for t in &mut values {
            *t = self.resized(*t, bits);
        }
        if bits < 64 {
            // Not every element was written.
            values.push(self.initial(state, base, Slot::Every(elements), bits));
        }
        self.terms.any(values)
    }

    /// A stored value read with another width.
    pub(crate) fn resized(&mut self, t: Term, bits: u16) -> Term {
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
        if self.kind(base) == BaseKind::Errno {
            return self.any_errno(bits);
        }
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
        if bits == 64
            && let Some(function) = self.bound_contents(base, slot, epoch)
        {
            return function;
        }
        if bits > 8 {
            self.wide.insert(base);
        }
        let outside = epoch == Terms::NULL;
        let info = SymInfo { bits, range: None, nonzero: false, outside };
        let t = self.add_symbol(info, SymKind::Init { base, slot, epoch });
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

    // ---- stores ----------------------------------------------------------------------------

    pub fn store(&mut self, state: &mut State, pointer: Term, value: Term, at: Place) {
        let Some(leaves) = self.leaves(state, pointer) else {
            self.escape(state, value);
            return;
        };
        if self.terms.has_addr(value) {
            let kept = self.all_bases(value);
            for base in kept {
                let stored = Stored { pc: state.pc, value, to: pointer };
                self.stored.entry(base).or_default().push(stored);
            }
        }
        // Whoever stores through a pointer that may be null does not go on where it is.
        let only = leaves.iter().filter(|l| self.can_take(l.target, value)).count() == 1;
        for leaf in leaves {
            match leaf.target {
                Leaves::Cell(base, slot) if self.can_take(leaf.target, value) => {
                    let cond = if only { Terms::TRUE } else { leaf.cond };
                    let through = if only { leaf.pointer } else { pointer };
                    let beside = self.written_beside(state, base, through);
                    self.log_replaced(state, (base, slot), leaf.pointer, cond, at);
                    self.write(state, base, slot, cond, value, leaf.any, at);
                    if matches!(slot, Slot::Every { .. }) && !leaf.any {
                        self.remember_last(state, base, beside, [through, value]);
                    }
                }
                // The program would crash here: nothing on this path is a leak.
                _ => self.escape_if(state, value, leaf.cond),
            }
        }
    }

    /// Nobody stores into what is released: where that is not ruled out, it was not told apart from something else.
    fn note_alive(&mut self, state: &State, base: Base, slot: Slot, value: Term) {
        let freed = state.fact(base, Slot::Freed);
        if freed != Terms::FALSE
            && self.kind(base) == BaseKind::Pointee
            && self.terms.has_addr(value)
        {
            self.alive_at_store.insert((base, slot), freed);
        }
    }

    /// An element of which is known what it holds is given something else.
    pub(super) fn log_replaced(
        &mut self,
        state: &State,
        cell: Cell,
        place: Term,
        cond: Term,
        at: Place,
    ) {
        if let (Slot::Every(_), Some(old)) = (cell.1, self.remembered(state, cell.0, place)) {
            self.log_drop(state, cond, old, cell, at, DropKind::Overwritten);
        }
    }

    /// Whether a value can be stored at a place: not at a number, and no pointer in a variable that is too small for
    /// one, as in a table of options whose targets have different types.
    fn can_take(&self, target: Leaves, value: Term) -> bool {
        let Leaves::Cell(base, slot) = target else { return false };
        let (Slot::At(offset), true) = (slot, self.terms.has_addr(value)) else { return true };
        let size = match self.kind(base) {
            // The variable of a caller has a size, too, but its type is not at hand.
            kind @ BaseKind::Slot(_) if self.locals.get(&kind) != Some(&base) => return true,
            BaseKind::Slot(inst) => match self.body.insts[inst].kind {
                InstKind::Alloca { size, count: None, .. } => size,
                _ => return true,
            },
            BaseKind::Global(g) => self.ctx.program.global(g).size,
            _ => return true,
        };
        let end = offset.saturating_add(i64::from(self.terms.bits(value) / 8));
        size == 0 || u64::try_from(end).is_ok_and(|end| end <= size)
    }

    /// Whether a base belongs to a structure of somebody else that this function only walked
    /// into: what was hung up there is the structure's, also when it is moved about.
    fn is_inside_structure(&self, base: Base) -> bool {
        self.kind(base) == BaseKind::Pointee
            && self.terms.as_pointee(base).is_none_or(|p| self.pointer_depth(p) != Some(0))
    }

    /// Whether a pointer was found behind arguments and members only. Elements of an array are different pointers.
    fn is_one_place(&self, pointer: Term) -> bool {
        let Node::Sym(s) = *self.terms.node(pointer) else { return false };
        match self.sym_kinds[s.0 as usize] {
            SymKind::Arg(_) => true,
            SymKind::Init { base, slot: Slot::At(_), .. } => {
                self.terms.as_pointee(base).is_none_or(|p| self.is_one_place(p))
            }
            _ => false,
        }
    }

    /// Whether a new object takes the place of others that were never stored anywhere else: they cannot have been
    /// moved under another name of the place before.
    fn is_replaced(&mut self, (base, slot): Cell, old: Term, new: Term) -> bool {
        let Slot::At(offset) = slot else { return false };
        let replaced = self.all_bases(old);
        let another = self
            .all_bases(new)
            .into_iter()
            .any(|b| matches!(self.kind(b), BaseKind::Heap(_)) && !replaced.contains(&b));
        let here = match self.terms.as_pointee(base) {
            Some(pointer) if self.is_one_place(pointer) => self.terms.offset(pointer, offset),
            _ => return false,
        };
        let is_only_here =
            |b: Base| self.stored.get(&b).is_none_or(|l| l.iter().all(|s| s.to == here));
        another && replaced.into_iter().all(is_only_here)
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
        if let Slot::Every(elements) = slot {
            self.write_every(state, base, elements, value, at);
            return;
        }
        self.forget_last(state, base, slot);
        if self.terms.bits(value) > 8 {
            self.wide.insert(base);
        }
        self.note_alive(state, base, slot, value);
        let known = state.mem.get(&(base, slot)).copied();
        let stays = weak || cond != Terms::TRUE;
        let new = if stays {
            let bits = known.map_or(0, |old| self.terms.bits(old)).max(self.terms.bits(value));
            let (old, value) = (self.read(state, base, slot, bits), self.resized(value, bits));
            if weak { self.terms.any([old, value]) } else { self.terms.ite(cond, value, old) }
        } else {
            value
        };
        if let Some(old) = known {
            self.log_drop(state, cond, old, (base, slot), at, DropKind::Overwritten);
            if self.terms.has_addr(old)
                && self.is_inside_structure(base)
                && !self.is_always_full((base, slot))
                && !(cond == Terms::TRUE && !weak && self.is_replaced((base, slot), old, value))
            {
                self.escape_if(state, old, cond);
            }
        }
        state.mem.insert((base, slot), new);
        self.written_at.entry((base, slot)).or_insert(at);
    }

    /// A store to some element: the summarising cell and every cell it may be gain the value.
    fn write_every(
        &mut self,
        state: &mut State,
        base: Base,
        elements: Elements,
        value: Term,
        at: Place,
    ) {
        let key = (base, Slot::Every(elements));
        self.forget_last(state, base, key.1);
        let met: Vec<(Slot, Term)> =
            state.contents_of(base).filter(|(s, _)| elements.meets(*s)).collect();
        for (slot, old) in met {
            // Members of a union: a number may be there where a pointer is stored now.
            if self.terms.bits(old) <= self.terms.bits(value) {
                let old = self.resized(old, self.terms.bits(value));
                let both = self.terms.any([old, value]);
                state.mem.insert((base, slot), both);
            }
        }
        if !state.mem.contains_key(&key) {
            let elements = self.with_copied_elements(state, base, key.1, value);
            state.mem.insert(key, elements);
            self.arrays.insert(base);
        }
        self.written_at.entry(key).or_insert(at);
    }

    /// A pointer in an array with those that were copied there with an older one: `realloc` carries over what
    /// this function never wrote.
    fn with_copied_elements(&mut self, state: &State, base: Base, slot: Slot, new: Term) -> Term {
        let epoch = state.mem.get(&(base, Slot::Epoch)).copied().unwrap_or(Terms::NULL);
        let is_copy = self
            .terms
            .alternatives(epoch)
            .into_iter()
            .any(|t| matches!(self.terms.node(t), Node::Tuple(_)));
        if !is_copy || self.terms.bits(new) < 64 {
            return new;
        }
        let old = self.initial_in(epoch, base, slot, 64);
        self.terms.any([old, new])
    }

    pub fn log_drop(
        &mut self,
        state: &State,
        when: Term,
        old: Term,
        holder: (Base, Slot),
        at: Place,
        kind: DropKind,
    ) {
        if self.terms.has_addr(old) {
            let seq = self.tick();
            self.drops.push(Drop { seq, pc: state.pc, when, at, old, holder, kind });
        }
    }

    /// Every base whose address occurs anywhere in a term, in order.
    pub fn all_bases(&mut self, t: Term) -> Bases {
        match self.terms.node(t) {
            Node::Addr { base, .. } | Node::Elem { base, .. } => smallvec![*base],
            Node::Sym(_) if self.terms.bits(t) == 64 => smallvec![self.pointee(t)],
            node if is_composed(node) => match self.bases_in.get(&t) {
                Some(known) => known.clone(),
                None => {
                    let found = self.collect_bases(t);
                    self.bases_in.insert(t, found.clone());
                    found
                }
            },
            _ => Bases::new(),
        }
    }

    fn collect_bases(&mut self, t: Term) -> Bases {
        let mut found = Bases::new();
        let mut seen = Seen::default();
        let mut work: SmallVec<[Term; 32]> = smallvec![t];
        while let Some(t) = work.pop() {
            let node = self.terms.node(t);
            if is_composed(node) && !seen.insert(t) {
                continue;
            }
            match node {
                Node::Addr { base, .. } | Node::Elem { base, .. } => found.push(*base),
                Node::Sym(_) if self.terms.bits(t) == 64 => found.push(self.pointee(t)),
                node if is_composed(node) => match self.bases_in.get(&t) {
                    Some(known) => found.extend_from_slice(known),
                    None => for_each_operand(node, |t| work.push(t)),
                },
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// An unknown function may have written to what `pointer` refers to, which is so many bytes
    /// long where that is known.
    pub fn forget_contents(
        &mut self,
        state: &mut State,
        pointer: Term,
        length: Option<i64>,
        name: &str,
        loc: Loc,
    ) {
        for leaf in self.leaves(state, pointer).unwrap_or_default() {
            let Leaves::Cell(base, slot) = leaf.target else { continue };
            match (self.kind(base), slot) {
                (BaseKind::Func(_) | BaseKind::Var(_), _) => {}
                (_, Slot::At(start)) if start > 0 => {
                    let hi = length.map_or(i64::MAX, |n| start.saturating_add(n));
                    let origin = self.origin(What::Written, name, loc);
                    self.forget_numbers(state, base, Area { lo: start, hi }, u16::MAX, &origin);
                }
                _ => self.forget_base(state, base, leaf.cond, name, loc),
            }
        }
    }

    /// Numbers in a part of an object, up to so many bits wide, are no longer known; what is around
    /// it stays. Elements count as in it when their area is known.
    pub(crate) fn forget_numbers(
        &mut self,
        state: &mut State,
        base: Base,
        part: Area,
        widest: u16,
        origin: &Origin,
    ) {
        state.mem.remove(&(base, Slot::Last));
        let cells: Vec<(Slot, Term)> = state.contents_of(base).collect();
        for (slot, old) in cells {
            let inside = match slot {
                Slot::At(offset) => part.contains(offset),
                Slot::Every(e) => e.area != Area::WHOLE && e.area.meets(part),
                _ => false,
            };
            let bits = self.terms.bits(old);
            if inside && bits <= widest && !self.terms.has_addr(old) {
                let info = SymInfo { bits, range: None, nonzero: false, outside: false };
                let unknown = self.symbol(info, origin.clone());
                state.mem.insert((base, slot), unknown);
            }
        }
    }

    fn forget_base(&mut self, state: &mut State, base: Base, cond: Term, name: &str, loc: Loc) {
        state.mem.remove(&(base, Slot::Last));
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

/// Whether other terms are in a value whose addresses are its own.
fn is_composed(node: &Node) -> bool {
    matches!(
        node,
        Node::Ite { .. } | Node::Any(_) | Node::Tuple(_) | Node::Bin { .. } | Node::Cast { .. }
    )
}

/// Calls `f` on the parts of a value that its addresses come from: conditions are none.
fn for_each_operand(node: &Node, f: impl FnMut(Term)) {
    match node {
        Node::Ite { then, otherwise, .. } => [*then, *otherwise].into_iter().for_each(f),
        node => for_each_child(node, f),
    }
}
