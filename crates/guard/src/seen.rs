//! Terms or bases that a walk has met: most walks are short, and the others use a table of bits that is kept.

use smallvec::SmallVec;
use std::cell::Cell;
use std::marker::PhantomData;

/// So many are looked through one by one.
const FEW: usize = 24;

pub struct Seen<T> {
    few: SmallVec<[u32; FEW]>,
    many: Option<Bits>,
    of: PhantomData<T>,
}

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Self { few: SmallVec::new(), many: None, of: PhantomData }
    }
}

impl<T: Into<u32>> Seen<T> {
    /// True when it was not met before.
    pub fn insert(&mut self, met: T) -> bool {
        let number = met.into();
        if let Some(many) = &mut self.many {
            return many.insert(number);
        }
        if self.few.contains(&number) {
            return false;
        }
        if self.few.len() < FEW {
            self.few.push(number);
        } else {
            let mut many = SPARE.try_with(Cell::take).unwrap_or_default();
            for &n in &self.few {
                many.insert(n);
            }
            many.insert(number);
            self.many = Some(many);
        }
        true
    }
}

impl<T> Drop for Seen<T> {
    fn drop(&mut self) {
        if let Some(mut many) = self.many.take() {
            many.clear();
            // A thread that ends needs none.
            let _ = SPARE.try_with(|spare| spare.set(many));
        }
    }
}

thread_local! {
    /// The table of the last walk of this thread, for the next one.
    static SPARE: Cell<Bits> = Cell::default();
}

/// A set of numbers, of which those that lie close are met together.
#[derive(Default)]
struct Bits {
    words: Vec<u64>,
    /// Where words are that are not zero.
    used: Vec<u32>,
}

impl Bits {
    fn insert(&mut self, number: u32) -> bool {
        let at = number / 64;
        if at as usize >= self.words.len() {
            self.words.resize(at as usize + 1, 0);
        }
        let (word, bit) = (&mut self.words[at as usize], 1 << (number % 64));
        if *word == 0 {
            self.used.push(at);
        }
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Costs what was inserted.
    fn clear(&mut self) {
        for at in self.used.drain(..) {
            self.words[at as usize] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FEW, Seen};
    use crate::Term;

    #[test]
    fn everything_is_met_once_by_every_walk() {
        for _ in 0..2 {
            let mut seen = Seen::default();
            let terms = || (0..3 * FEW as u32).map(|n| Term(n * 50));
            assert!(terms().all(|t| seen.insert(t)));
            assert!(terms().all(|t| !seen.insert(t)));
        }
    }
}
