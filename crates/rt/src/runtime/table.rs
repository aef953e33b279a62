//! All blocks of the heap that are in use: address to size and, for tracked ones, object.
//!
//! A hash table with linear probing in memory of its own. Guarded by the heap's lock.

use super::cell::Global;
use super::libc::map;

const CAPACITY: usize = 1 << 21;

#[derive(Clone, Copy)]
pub struct Entry {
    /// 0: free slot.
    pub address: u64,
    pub size: u64,
    /// Number of the tracked object plus one; 0 when it is not tracked.
    pub object: u32,
}

struct Table {
    slots: *mut Entry,
    count: usize,
}

static TABLE: Global<Table> = Global::new(Table { slots: core::ptr::null_mut(), count: 0 });

fn slot(index: usize) -> &'static mut Entry {
    // SAFETY: callers made sure that the table exists; the index is reduced.
    unsafe { &mut *TABLE.get().slots.add(index & (CAPACITY - 1)) }
}

fn home(address: u64) -> usize {
    ((address >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 43) as usize
}

pub fn insert(address: u64, size: u64, object: u32) {
    let table = TABLE.get();
    if table.slots.is_null() {
        table.slots = map(CAPACITY * size_of::<Entry>()).cast();
    }
    // Beyond this the table would only get slow; what is not in it is not scanned.
    if table.slots.is_null() || table.count > CAPACITY / 4 * 3 {
        return;
    }
    let mut i = home(address);
    while slot(i).address != 0 && slot(i).address != address {
        i += 1;
    }
    table.count += usize::from(slot(i).address == 0);
    *slot(i) = Entry { address, size, object };
}

pub fn find(address: u64) -> Option<Entry> {
    if TABLE.get().slots.is_null() {
        return None;
    }
    let mut i = home(address);
    while slot(i).address != 0 {
        if slot(i).address == address {
            return Some(*slot(i));
        }
        i += 1;
    }
    None
}

/// Takes an entry out and closes the gap it leaves.
pub fn remove(address: u64) -> Option<Entry> {
    if TABLE.get().slots.is_null() {
        return None;
    }
    let mut i = home(address);
    while slot(i).address != address {
        if slot(i).address == 0 {
            return None;
        }
        i += 1;
    }
    let found = *slot(i);
    TABLE.get().count -= 1;
    let mut gap = i & (CAPACITY - 1);
    let mut next = gap;
    loop {
        next = (next + 1) & (CAPACITY - 1);
        let entry = *slot(next);
        if entry.address == 0 {
            break;
        }
        let wanted = home(entry.address) & (CAPACITY - 1);
        // Whether `gap` lies cyclically between where the entry wants to be and where it is.
        let distance_to_gap = gap.wrapping_sub(wanted) & (CAPACITY - 1);
        let distance_to_next = next.wrapping_sub(wanted) & (CAPACITY - 1);
        if distance_to_gap < distance_to_next {
            *slot(gap) = entry;
            gap = next;
        }
    }
    slot(gap).address = 0;
    Some(found)
}

pub fn count() -> usize {
    TABLE.get().count
}

/// Calls `each` for every block.
pub fn for_each(mut each: impl FnMut(Entry)) {
    if TABLE.get().slots.is_null() {
        return;
    }
    for i in 0..CAPACITY {
        if slot(i).address != 0 {
            each(*slot(i));
        }
    }
}
