//! Shadow memory: for each byte of the program's memory, which byte of which expression it holds.
//!
//! An entry also keeps the byte's value. Memory that somebody changed without telling us no longer
//! agrees with its entry, and is then not symbolic: entries need not be cleared by code we do not see.

use super::cell::Global;
use super::libc::map;
use super::nodes;
use super::trace::node;
use crate::abi::op;

const PAGE_BITS: u32 = 12;
const PAGE: u64 = 1 << PAGE_BITS;
const BUCKETS: usize = 1 << 16;

/// For each page number modulo its size, whether any such page may hold something symbolic.
#[unsafe(no_mangle)]
pub static mut lp_filter: [u8; 65536] = [0; 65536];
/// Whether anything symbolic is in memory at all.
#[unsafe(no_mangle)]
pub static mut lp_any: u32 = 0;

#[derive(Clone, Copy)]
struct Bucket {
    page: u64,
    entries: *mut u64,
}

static BUCKET_TABLE: Global<*mut Bucket> = Global::new(core::ptr::null_mut());

fn may_hold(page: u64) -> bool {
    // SAFETY: the index is within the table.
    unsafe { lp_filter[(page & 0xffff) as usize] != 0 }
}

/// The entries of a page, made when `make` says so.
fn page_entries(page: u64, make: bool) -> *mut u64 {
    if !make && !may_hold(page) {
        return core::ptr::null_mut();
    }
    if BUCKET_TABLE.get().is_null() {
        *BUCKET_TABLE.get() = map(BUCKETS * size_of::<Bucket>()).cast();
    }
    let table = *BUCKET_TABLE.get();
    if table.is_null() {
        return table.cast();
    }
    let mut i = (page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize;
    for _ in 0..BUCKETS {
        // SAFETY: within the table.
        let bucket = unsafe { &mut *table.add(i % BUCKETS) };
        if bucket.page == page && !bucket.entries.is_null() {
            return bucket.entries;
        }
        if bucket.entries.is_null() {
            if make {
                *bucket = Bucket { page, entries: map(PAGE as usize * 8).cast() };
                // SAFETY: the index is within the table.
                unsafe {
                    lp_filter[(page & 0xffff) as usize] = 1;
                    lp_any = 1;
                }
            }
            return bucket.entries;
        }
        i += 1;
    }
    core::ptr::null_mut()
}

fn entry(address: u64, make: bool) -> Option<&'static mut u64> {
    let entries = page_entries(address >> PAGE_BITS, make);
    if entries.is_null() {
        return None;
    }
    // SAFETY: the page has `PAGE` entries.
    Some(unsafe { &mut *entries.add((address & (PAGE - 1)) as usize) })
}

fn pack(shadow: u32, index: u32, byte: u8) -> u64 {
    u64::from(shadow) | u64::from(index) << 32 | u64::from(byte) << 40
}

/// The expression and the byte of it that memory holds at `address`, where its value is `byte`.
fn lookup(address: u64, byte: u8) -> (u32, u32) {
    match entry(address, false) {
        Some(e) if *e as u32 != 0 && (*e >> 40) as u8 == byte => {
            (*e as u32, (*e >> 32) as u32 & 0xff)
        }
        _ => (0, 0),
    }
}

/// Whether any byte of the span is symbolic, whatever its value.
pub fn any_in(address: u64, size: u64) -> bool {
    (0..size).any(|i| entry(address + i, false).is_some_and(|e| *e as u32 != 0))
}

/// The 8-bit expression of one byte; 0 when it is not symbolic.
pub fn byte(address: u64, value: u8) -> u32 {
    match lookup(address, value) {
        (0, _) => 0,
        (shadow, index) => nodes::extract(shadow, index * 8, 8),
    }
}

/// The expression of `size` bytes (at most 8) whose value is `value`.
pub fn load(address: u64, size: u32, value: u64) -> u32 {
    let at = |i: u32| lookup(address.wrapping_add(u64::from(i)), (value >> (8 * i)) as u8);
    let (first, start) = at(0);
    if first != 0 && start == 0 && u32::from(node(first).bits) == size * 8 {
        let same = |i| at(i) == (first, i);
        if (1..size).all(same) {
            return first;
        }
    }
    if (0..size).all(|i| at(i).0 == 0) {
        return 0;
    }
    let mut whole = 0;
    for i in 0..size {
        let (shadow, index) = at(i);
        let part = match shadow {
            0 => nodes::constant(8, value >> (8 * i)),
            _ => nodes::extract(shadow, index * 8, 8),
        };
        whole = if whole == 0 { part } else { nodes::concat(part, whole) };
    }
    whole
}

/// Memory now holds `value`, which `shadow` describes (0: nothing symbolic).
pub fn store(address: u64, size: u32, value: u64, shadow: u32) {
    let bits = size * 8;
    let mut shadow = shadow;
    if shadow != 0 && u32::from(node(shadow).bits) < bits {
        shadow = nodes::make(op::ZEXT, bits, shadow, 0, 0, node(shadow).value);
    }
    let shadow = nodes::fitting(shadow, value, bits);
    for i in 0..size {
        let made = pack(shadow, i, (value >> (8 * i)) as u8);
        if let Some(e) = entry(address.wrapping_add(u64::from(i)), shadow != 0) {
            *e = if shadow == 0 { 0 } else { made };
        }
    }
}

/// One byte that `shadow` (8 bits) describes.
pub fn store_byte(address: u64, value: u8, shadow: u32) {
    store(address, 1, u64::from(value), shadow);
}

/// `size` bytes at `to` are about to become a copy of those at `from`; the spans may overlap.
pub fn copy(to: u64, from: u64, size: u64) {
    let one = |i: u64| {
        let given = entry(from + i, false).map_or(0, |e| *e);
        if let Some(e) = entry(to + i, given != 0) {
            *e = given;
        }
    };
    if to > from && to < from + size {
        (0..size).rev().for_each(one);
        return;
    }
    let mut i = 0;
    while i < size {
        if may_hold((from + i) >> PAGE_BITS) || may_hold((to + i) >> PAGE_BITS) {
            one(i);
            i += 1;
        } else {
            let rest = |address: u64| PAGE - (address + i) % PAGE;
            i += rest(from).min(rest(to));
        }
    }
}

pub fn clear(address: u64, size: u64) {
    let mut at = address;
    while at < address + size {
        let page = at >> PAGE_BITS;
        if !may_hold(page) {
            at = (page + 1) << PAGE_BITS;
            continue;
        }
        if let Some(e) = entry(at, false) {
            *e = 0;
        }
        at += 1;
    }
}
