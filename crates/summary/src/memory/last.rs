//! Elements of arrays that were written last.
//!
//! All elements of an array are one cell (`Slot::Every`), which is too coarse for code that fills an element and then
//! looks at it: `a[n].name = strdup(s); a[n].kind = 1; if (!a[n].name)`. So the last few writes are kept by their
//! pointers (`Slot::Last`), as long as nothing was written that may be the same element.

use crate::elements::Elements;
use crate::exec::Exec;
use crate::memory::{Leaf, Leaves};
use crate::state::State;
use crate::vocabulary::Slot;
use leakproof_guard::{Base, Node, Op, Term};
use smallvec::SmallVec;

/// More writes than this are not kept: the fields of an element are few.
const MAX_WRITES: usize = 6;

/// Pointers that are one of more than this are not looked into.
const MAX_CHOICES: u32 = 8;

impl Exec<'_> {
    /// What was written to the element at `pointer`, if nothing that may be the same was written since.
    pub(super) fn written_through(
        &self,
        state: &State,
        leaves: &[Leaf],
        pointer: Term,
    ) -> Option<Term> {
        let places = leaves.iter().filter_map(|leaf| match leaf.target {
            Leaves::Cell(base, _) => Some((base, leaf.pointer)),
            Leaves::Int => None,
        });
        let mut places = places.collect::<SmallVec<[(Base, Term); 2]>>().into_iter();
        let (base, only) = places.next()?;
        let several = places.len() > 0;
        if several && places.any(|(b, _)| b != base) {
            return None;
        }
        let through = |w: &[Term; 2]| w[0] == pointer || !several && w[0] == only;
        self.last_writes(state, base).into_iter().find(through).map(|w| w[1])
    }

    /// What an element is known to hold.
    pub(crate) fn remembered(&self, state: &State, base: Base, place: Term) -> Option<Term> {
        self.last_writes(state, base).into_iter().find(|w| w[0] == place).map(|w| w[1])
    }

    /// The places in and behind an element of which is known what they hold, with their distances from it.
    pub(super) fn remembered_behind(
        &self,
        state: &State,
        base: Base,
        element: Term,
    ) -> Vec<(i64, Term)> {
        let places = self.last_writes(state, base).into_iter().map(|w| w[0]);
        let distance = |place: Term| match (self.terms.node(place), self.terms.node(element)) {
            (
                Node::Elem { base, offset, index, .. },
                Node::Elem { base: b, offset: o, index: i, .. },
            ) if (base, index) == (b, i) => Some(offset - o).filter(|by| *by >= 0),
            _ => None,
        };
        places.filter_map(|place| Some((distance(place)?, place))).collect()
    }

    /// Whose number an element has, and how much less than that number in steps of the array: the last one, when it is the
    /// count less one. Nothing for those behind.
    pub(crate) fn counted_by(&self, element: Term) -> Option<(Term, i64)> {
        let Node::Elem { index, .. } = *self.terms.node(element) else { return None };
        let Linear { number, times, added } = self.linear(index);
        (times != 0 && added % times == 0).then(|| (number, added / times))
    }

    /// The element that was written, when the cell of all elements holds nothing else.
    pub(crate) fn only_element(
        &self,
        state: &State,
        base: Base,
        slot: Slot,
        value: Term,
    ) -> Option<Term> {
        let Slot::Every(elements) = slot else { return None };
        let is_it = |w: &[Term; 2]| w[1] == value && self.is_one_of(w[0], elements);
        self.last_writes(state, base).into_iter().find(is_it).map(|w| w[0])
    }

    /// Earlier writes to elements at a known distance from `pointer`, as `a + i` and `a + i + 1` are: writing one
    /// leaves the other.
    pub(crate) fn written_beside(
        &self,
        state: &State,
        base: Base,
        pointer: Term,
    ) -> Vec<[Term; 2]> {
        let mut writes = self.last_writes(state, base);
        writes.retain(|w| self.are_neighbours(pointer, w[0]));
        writes
    }

    /// Remembers that an element was just written, and what was `beside` it.
    pub(crate) fn remember_last(
        &mut self,
        state: &mut State,
        base: Base,
        beside: Vec<[Term; 2]>,
        write: [Term; 2],
    ) {
        let mut writes = self.last_writes(state, base);
        writes.retain(|w| !beside.contains(w));
        writes.extend(beside);
        writes.push(write);
        let oldest = writes.len().saturating_sub(MAX_WRITES);
        self.set_last_writes(state, base, &writes[oldest..]);
    }

    /// A part of an object was written: what may have been there is forgotten.
    pub(super) fn forget_last(&mut self, state: &mut State, base: Base, slot: Slot) {
        let before = self.last_writes(state, base);
        let mut after = before.clone();
        after.retain(|w| self.is_apart(w[0], slot));
        if after.len() != before.len() {
            self.set_last_writes(state, base, &after);
        }
    }

    /// What two states both remember.
    pub(crate) fn shared_last(&mut self, x: Term, y: Term) -> Option<Term> {
        let other = self.writes_in(y);
        let mut shared = self.writes_in(x);
        shared.retain(|w| other.contains(w));
        (!shared.is_empty()).then(|| self.terms.tuple(shared.concat()))
    }

    fn last_writes(&self, state: &State, base: Base) -> Vec<[Term; 2]> {
        state.mem.get(&(base, Slot::Last)).map(|&t| self.writes_in(t)).unwrap_or_default()
    }

    fn writes_in(&self, remembered: Term) -> Vec<[Term; 2]> {
        match self.terms.node(remembered) {
            Node::Tuple(parts) => parts.chunks_exact(2).map(|w| [w[0], w[1]]).collect(),
            _ => Vec::new(),
        }
    }

    fn set_last_writes(&mut self, state: &mut State, base: Base, writes: &[[Term; 2]]) {
        if writes.is_empty() {
            state.mem.remove(&(base, Slot::Last));
        } else {
            let all = self.terms.tuple(writes.concat());
            state.mem.insert((base, Slot::Last), all);
        }
    }

    fn is_one_of(&self, pointer: Term, elements: Elements) -> bool {
        match *self.terms.node(pointer) {
            Node::Elem { offset, stride, area, .. } => {
                Elements::around(offset, stride, area) == elements
            }
            _ => false,
        }
    }

    /// Whether a pointer into the object cannot be to this part of it.
    fn is_apart(&self, pointer: Term, slot: Slot) -> bool {
        match *self.terms.node(pointer) {
            Node::Int { .. } => true,
            Node::Addr { offset, .. } => match slot {
                Slot::At(o) => o != offset,
                Slot::Every(elements) => !elements.covers(offset),
                _ => false,
            },
            Node::Elem { offset, stride, area, .. } => {
                !Elements::around(offset, stride, area).meets(slot)
            }
            Node::Ite { then, otherwise, .. } if self.terms.width(pointer) <= MAX_CHOICES => {
                self.is_apart(then, slot) && self.is_apart(otherwise, slot)
            }
            _ => false,
        }
    }

    /// Whether two pointers are to different elements: so many bytes apart, as those at `i` and `i + 1` are.
    fn are_neighbours(&self, a: Term, b: Term) -> bool {
        match (self.terms.node(a), self.terms.node(b)) {
            (
                Node::Elem { base, offset, index, .. },
                Node::Elem { base: b, offset: o, index: i, .. },
            ) => {
                let (mut here, mut there) = (self.linear(*index), self.linear(*i));
                here.added = here.added.wrapping_add(*offset);
                there.added = there.added.wrapping_add(*o);
                (base, here.number, here.times) == (b, there.number, there.times)
                    && here.added != there.added
            }
            _ => false,
        }
    }

    /// An index in bytes as a multiple of a number and what is added to that. Indices are taken not to overflow.
    fn linear(&self, index: Term) -> Linear {
        let whole = Linear { number: index, times: 1, added: 0 };
        match *self.terms.node(index) {
            Node::Cast { value, .. } => self.linear(value),
            Node::Bin { op, lhs, rhs } => {
                let Some(k) = self.terms.as_signed(rhs) else { return whole };
                let inner = self.linear(lhs);
                match op {
                    Op::Add => Linear { added: inner.added.wrapping_add(k), ..inner },
                    Op::Mul => inner.scaled(k),
                    Op::Shl if (0..63).contains(&k) => inner.scaled(1 << k),
                    _ => whole,
                }
            }
            _ => whole,
        }
    }
}

/// `number * times + added`.
struct Linear {
    number: Term,
    times: i64,
    added: i64,
}

impl Linear {
    fn scaled(self, by: i64) -> Self {
        let (times, added) = (self.times.wrapping_mul(by), self.added.wrapping_mul(by));
        Self { times, added, ..self }
    }
}
