//! A table from terms to terms for one walk over many of them.
//!
//! There are many walks, and each looks at other terms: a table by number needs no hashing, and the next walk goes
//! on with the memory of the last one, in which entries of other walks do not count.

use crate::Term;
use std::cell::Cell;

#[derive(Clone, Copy)]
struct Entry {
    /// The walk that it is from.
    walk: u32,
    found: Term,
}

#[derive(Default)]
struct Table {
    entries: Vec<Entry>,
    /// Walks that used the table.
    walks: u32,
}

thread_local! {
    static SPARE: Cell<Table> = Cell::default();
}

pub(crate) struct Found(Table);

impl Default for Found {
    fn default() -> Self {
        let mut table = SPARE.try_with(Cell::take).unwrap_or_default();
        if table.walks == u32::MAX {
            table = Table::default();
        }
        // Entries that nobody wrote are from walk zero.
        table.walks += 1;
        Self(table)
    }
}

impl Drop for Found {
    fn drop(&mut self) {
        let table = std::mem::take(&mut self.0);
        // A thread that ends needs none.
        let _ = SPARE.try_with(|spare| spare.set(table));
    }
}

impl Found {
    pub fn get(&self, t: Term) -> Option<Term> {
        let entry = self.0.entries.get(t.0 as usize)?;
        (entry.walk == self.0.walks).then_some(entry.found)
    }

    pub fn insert(&mut self, t: Term, found: Term) {
        let Table { entries, walks } = &mut self.0;
        let index = t.0 as usize;
        if index >= entries.len() {
            // At least twice as many: terms come one after the other.
            let size = (index + 1).next_power_of_two();
            entries.resize(size, Entry { walk: 0, found: t });
        }
        entries[index] = Entry { walk: *walks, found };
    }
}
