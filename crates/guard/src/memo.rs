//! Results of operations on terms that were worked out before.
//!
//! Constructors simplify by looking at the terms they are given, and terms never change: the same
//! operation on the same terms gives the same term. Loops, ways out and calls repeat most of their
//! operations. The table keeps the latest result per slot and forgets what it displaces, so it
//! stays small; it grows with use, as most functions need next to none.

use crate::Term;

/// What was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    And,
    Or,
    Ite,
    /// A comparison, by its predicate.
    Cmp(crate::Cmp),
    /// One of two values.
    Any,
    /// A pointer that is one of several and was moved; the distance stands in the place of the second operand.
    Offset,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key(pub Operation, pub Term, pub Term, pub Term);

/// A key in little room: the table is looked at all the time, and should stay where that is quick.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Packed([u32; 3]);

impl From<Key> for Packed {
    fn from(Key(operation, a, b, c): Key) -> Self {
        let kind = match operation {
            Operation::And => 0,
            Operation::Or => 1,
            Operation::Ite => 2,
            Operation::Any => 3,
            Operation::Offset => 4,
            Operation::Cmp(cmp) => 5 + cmp as u32,
        };
        debug_assert!(c.0 < 1 << KIND_SHIFT, "no memory holds so many terms");
        Self([a.0, b.0, c.0 | kind << KIND_SHIFT])
    }
}

/// Where the operation stands beside the last operand.
const KIND_SHIFT: u32 = 28;

#[derive(Clone, Copy, Debug)]
struct Slot {
    key: Packed,
    result: Term,
}

/// Of the operations, none is on this term.
const EMPTY: Slot = Slot { key: Packed([u32::MAX; 3]), result: Term(u32::MAX) };

const SMALLEST: usize = 1 << 6;
const LARGEST: usize = 1 << 15;

#[derive(Debug, Default)]
pub(crate) struct Memo {
    slots: Vec<Slot>,
    /// Results kept since the table grew.
    kept: usize,
}

impl Memo {
    pub fn get(&self, key: Key) -> Option<Term> {
        let key = Packed::from(key);
        let slot = self.slots.get(self.place(key))?;
        (slot.key == key).then_some(slot.result)
    }

    pub fn keep(&mut self, key: Key, result: Term) {
        if self.kept >= self.slots.len() && self.slots.len() < LARGEST {
            self.grow();
        }
        let key = Packed::from(key);
        let place = self.place(key);
        self.slots[place] = Slot { key, result };
        self.kept += 1;
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 4).clamp(SMALLEST, LARGEST);
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; size]);
        for slot in old.into_iter().filter(|s| s.key != EMPTY.key) {
            let place = self.place(slot.key);
            self.slots[place] = slot;
        }
        self.kept = 0;
    }

    /// Sizes are powers of two; of an empty table there is no place.
    fn place(&self, Packed([a, b, c]): Packed) -> usize {
        const K: u64 = 0x9e37_79b9_7f4a_7c15;
        let first = (u64::from(a) << 32 | u64::from(b)).wrapping_mul(K);
        let both = (first.rotate_left(23) ^ u64::from(c)).wrapping_mul(K);
        (both >> 40) as usize & self.slots.len().wrapping_sub(1)
    }
}
