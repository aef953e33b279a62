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
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key(pub Operation, pub Term, pub Term, pub Term);

const SMALLEST: usize = 1 << 6;
const LARGEST: usize = 1 << 15;

#[derive(Debug, Default)]
pub(crate) struct Memo {
    slots: Vec<Option<(Key, Term)>>,
    /// Results kept since the table grew.
    kept: usize,
}

impl Memo {
    pub fn get(&self, key: Key) -> Option<Term> {
        match self.slots.get(self.slot(key))? {
            Some((known, result)) if *known == key => Some(*result),
            _ => None,
        }
    }

    pub fn keep(&mut self, key: Key, result: Term) {
        if self.kept >= self.slots.len() && self.slots.len() < LARGEST {
            self.grow();
        }
        let slot = self.slot(key);
        self.slots[slot] = Some((key, result));
        self.kept += 1;
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 4).clamp(SMALLEST, LARGEST);
        let old = std::mem::replace(&mut self.slots, vec![None; size]);
        for (key, result) in old.into_iter().flatten() {
            let slot = self.slot(key);
            self.slots[slot] = Some((key, result));
        }
        self.kept = 0;
    }

    /// Sizes are powers of two; of an empty table there is no slot.
    fn slot(&self, Key(operation, a, b, c): Key) -> usize {
        const K: u64 = 0x9e37_79b9_7f4a_7c15;
        let kind = match operation {
            Operation::And => 0,
            Operation::Or => 1,
            Operation::Ite => 2,
            Operation::Cmp(cmp) => 3 + cmp as u64,
        };
        let first = (u64::from(a.0) << 32 | u64::from(b.0)).wrapping_mul(K);
        let both = (first.rotate_left(23) ^ (u64::from(c.0) << 8 | kind)).wrapping_mul(K);
        (both >> 40) as usize & self.slots.len().wrapping_sub(1)
    }
}
