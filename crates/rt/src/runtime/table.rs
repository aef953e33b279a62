//! All blocks of the heap that are in use: address to size and, for tracked ones, object.
//!
//! A hash table with linear probing in memory of its own. Guarded by the heap's lock.

use super::cell::Global;
use super::libc::{map, unmap};

/// Slots that the table starts with: most runs have few blocks, and every page touched costs.
const FIRST_CAPACITY: usize = 1 << 10;
/// Slots beyond which the table does not grow; what is not in it is not scanned.
const LAST_CAPACITY: usize = 1 << 22;

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
    /// A power of two; 0 before the first entry.
    capacity: usize,
    count: usize,
}

static TABLE: Global<Table> =
    Global::new(Table { slots: core::ptr::null_mut(), capacity: 0, count: 0 });

fn mask() -> usize {
    TABLE.get().capacity - 1
}

fn slot(index: usize) -> &'static mut Entry {
    // SAFETY: callers made sure that the table exists; the index is reduced.
    unsafe { &mut *TABLE.get().slots.add(index & mask()) }
}

fn home(address: u64) -> usize {
    ((address >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

/// Makes room for one more entry; whether there is some.
fn make_room() -> bool {
    let table = TABLE.get();
    if table.count < table.capacity / 4 * 3 {
        return true;
    }
    let capacity = (table.capacity * 2).max(FIRST_CAPACITY);
    if capacity > LAST_CAPACITY {
        return false;
    }
    let slots: *mut Entry = map(capacity * size_of::<Entry>()).cast();
    if slots.is_null() {
        return false;
    }
    let (old, length) = (table.slots, table.capacity);
    *table = Table { slots, capacity, count: 0 };
    for i in 0..length {
        // SAFETY: within the old table.
        let entry = unsafe { *old.add(i) };
        if entry.address != 0 {
            put(entry);
        }
    }
    unmap(old.cast(), length * size_of::<Entry>());
    true
}

/// Into a table with room.
fn put(entry: Entry) {
    let mut i = home(entry.address);
    while slot(i).address != 0 && slot(i).address != entry.address {
        i += 1;
    }
    TABLE.get().count += usize::from(slot(i).address == 0);
    *slot(i) = entry;
}

pub fn insert(address: u64, size: u64, object: u32) {
    if make_room() {
        put(Entry { address, size, object });
    }
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
    let mut gap = i & mask();
    let mut next = gap;
    loop {
        next = (next + 1) & mask();
        let entry = *slot(next);
        if entry.address == 0 {
            break;
        }
        let wanted = home(entry.address) & mask();
        // Whether `gap` lies cyclically between where the entry wants to be and where it is.
        let distance_to_gap = gap.wrapping_sub(wanted) & mask();
        let distance_to_next = next.wrapping_sub(wanted) & mask();
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
    for i in 0..TABLE.get().capacity {
        if slot(i).address != 0 {
            each(*slot(i));
        }
    }
}
