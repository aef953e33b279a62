//! Terms that a walk has met: most walks are short, and need no hash table.

use crate::Term;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// So many are looked through one by one.
const FEW: usize = 24;

#[derive(Default)]
pub struct Seen {
    few: SmallVec<[Term; FEW]>,
    many: FxHashSet<Term>,
}

impl Seen {
    /// True when it was not met before.
    pub fn insert(&mut self, t: Term) -> bool {
        if !self.many.is_empty() {
            return self.many.insert(t);
        }
        if self.few.contains(&t) {
            return false;
        }
        if self.few.len() < FEW {
            self.few.push(t);
        } else {
            self.many.extend(self.few.drain(..));
            self.many.insert(t);
        }
        true
    }
}
