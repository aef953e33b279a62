//! The points-to set of one node: a log in insertion order, with a hash table once it is large.
//!
//! The log is what difference propagation needs: cursors into it say how far a consumer has read.
//! Most sets that are searched hold a few dozen locations from all over the program: a table of them
//! fits into a few cache lines, which pages of a bitmap do not.
//! Invariant: no location is in the log twice.

use rustc_hash::FxHashSet;

/// Above this size membership is answered by the table.
const LINEAR: usize = 12;

#[derive(Default)]
pub(super) struct LocSet {
    log: Vec<u32>,
    table: Option<Box<FxHashSet<u32>>>,
}

impl LocSet {
    /// True when it was not there.
    pub fn insert(&mut self, loc: u32) -> bool {
        let added = match &mut self.table {
            Some(table) => table.insert(loc),
            None => !self.log.contains(&loc),
        };
        if added {
            self.log.push(loc);
            if self.table.is_none() && self.log.len() > LINEAR {
                self.build_table();
            }
        }
        added
    }

    fn build_table(&mut self) {
        self.table = Some(Box::new(self.log.iter().copied().collect()));
    }

    /// Drops locations; the cursors move with what stays before them.
    pub fn retain(&mut self, cursors: [&mut u32; 2], keep: impl Fn(u32) -> bool) {
        if self.log.iter().all(|&loc| keep(loc)) {
            return;
        }
        for cursor in cursors {
            let before = &self.log[..*cursor as usize];
            *cursor = before.iter().filter(|loc| keep(**loc)).count() as u32;
        }
        self.log.retain(|loc| keep(*loc));
        self.table = None;
        if self.log.len() > LINEAR {
            self.build_table();
        }
    }

    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// All locations in insertion order.
    pub fn as_slice(&self) -> &[u32] {
        &self.log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_stay_where_they_were() {
        let mut set = LocSet::default();
        (0..40).for_each(|loc| assert!(set.insert(loc)));
        let (mut a, mut b) = (10, 40);
        set.retain([&mut a, &mut b], |loc| loc % 2 == 1);
        assert_eq!((a, b, set.len()), (5, 20, 20));
        assert!(!set.insert(39) && set.insert(38));
    }

    #[test]
    fn keeps_order_and_refuses_duplicates_with_and_without_the_table() {
        let mut set = LocSet::default();
        let locs: Vec<u32> = (0..100).map(|i| i * 37 % 4001).collect();
        for &loc in &locs {
            assert!(set.insert(loc));
            assert!(!set.insert(loc));
        }
        assert_eq!(set.as_slice(), locs);
        assert!(!set.insert(37) && set.insert(38) && set.insert(1 << 20));
    }
}
