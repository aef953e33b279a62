//! The tables of arenas that are gone, for the next arena of the same thread.
//!
//! There is an arena for every run of a function, and most of them are small. Growing its tables step by step,
//! each time to memory that was not touched before, costs as much as a good part of the work on them.

use crate::Node;
use crate::term::{Entry, Meta};
use hashbrown::HashTable;
use std::cell::Cell;

/// Larger tables are given back: to empty them for a small arena would cost more than growing new ones.
const MAX_KEPT: usize = 1 << 17;

/// The parts of an arena that grow with its terms.
#[derive(Default)]
pub(crate) struct Tables {
    pub nodes: Vec<Node>,
    pub meta: Vec<Meta>,
    pub index: HashTable<Entry>,
}

thread_local! {
    static SPARE: Cell<Tables> = Cell::default();
}

/// Empty tables.
pub(crate) fn take() -> Tables {
    SPARE.try_with(Cell::take).unwrap_or_default()
}

/// Empties tables and keeps them.
pub(crate) fn give(mut tables: Tables) {
    if tables.index.capacity() > MAX_KEPT {
        return;
    }
    tables.nodes.clear();
    tables.meta.clear();
    tables.index.clear();
    // A thread that ends needs none.
    let _ = SPARE.try_with(|spare| spare.set(tables));
}
