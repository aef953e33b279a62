//! Which heap blocks something still refers to: LeakSanitizer's question.
//!
//! Roots are the writable data of the program and its libraries, their thread-local data, and the main
//! thread's stack above a given frame. From there every aligned word that points into a block makes the
//! block referenced, and its content is searched in turn. Runs under the heap's lock or at the end.

use super::libc::{
    __libc_malloc, __libc_stack_end, DlInfo, ProgramHeader, dl_iterate_phdr, map, peek,
};
use super::object::{lp_track_length, lp_track_low};
use super::table::{self, Entry};
use super::trace::{object, object_count};
use crate::abi::state;
use core::ffi::{c_int, c_void};

/// Blocks beyond which no scan is made.
const MAX_BLOCKS: usize = 1 << 19;

struct Scan {
    /// Blocks by address.
    blocks: *mut Entry,
    count: usize,
    seen: *mut u8,
    /// Blocks that are referenced but not yet searched.
    open: *mut u32,
    open_count: usize,
    /// What is being searched are the C library's own data, its allocator's among them.
    in_library: bool,
}

/// Sets `bit` on every tracked object that is in use and that nothing refers to.
pub fn mark_unreferenced(stack_from: u64, bit: u32) {
    with_references(Some(stack_from), |number, referenced| {
        if !referenced {
            object(number).marks |= bit;
        }
    });
}

/// Calls `tell` for every tracked object in use; does nothing when there is too much to look at.
pub fn with_references(stack_from: Option<u64>, mut tell: impl FnMut(u32, bool)) {
    let count = table::count();
    let in_use = |i: u32| object(i).state <= state::USED_AFTER;
    if count == 0 || count > MAX_BLOCKS || !(0..object_count()).any(in_use) {
        return;
    }
    let Some(mut scan) = Scan::new(count) else { return };
    // Our own note of where tracked objects are is no reference; kept as something else meanwhile.
    // SAFETY: plain words.
    let kept = unsafe { (!lp_track_low, lp_track_length) };
    unsafe { (lp_track_low, lp_track_length) = (0, 0) };
    // SAFETY: the callback gets the scan that outlives the call.
    unsafe { dl_iterate_phdr(module_roots, (&raw mut scan).cast()) };
    if let Some(from) = stack_from {
        // SAFETY: set by the loader before anything runs.
        scan.span(from, unsafe { __libc_stack_end } as u64);
    }
    scan.follow();
    // SAFETY: plain words.
    unsafe { (lp_track_low, lp_track_length) = (!kept.0, kept.1) };
    for i in 0..object_count() {
        if object(i).state <= state::USED_AFTER {
            tell(i, scan.is_seen(object(i).address));
        }
    }
}

impl Scan {
    fn new(count: usize) -> Option<Self> {
        let blocks: *mut Entry = map(count * size_of::<Entry>()).cast();
        let seen = map(count);
        let open: *mut u32 = map(count * 4).cast();
        if blocks.is_null() || seen.is_null() || open.is_null() {
            return None;
        }
        let mut filled = 0;
        table::for_each(|e| {
            if filled < count {
                // SAFETY: below `count`.
                unsafe { blocks.add(filled).write(e) };
                filled += 1;
            }
        });
        // SAFETY: `filled` entries were written.
        unsafe { core::slice::from_raw_parts_mut(blocks, filled) }
            .sort_unstable_by_key(|e| e.address);
        Some(Self { blocks, count: filled, seen, open, open_count: 0, in_library: false })
    }

    fn sorted(&self) -> &'static [Entry] {
        // SAFETY: written by `new`; never unmapped.
        unsafe { core::slice::from_raw_parts(self.blocks, self.count) }
    }

    /// The block that an address lies in.
    fn block_at(&self, address: u64) -> Option<usize> {
        let list = self.sorted();
        let after = list.partition_point(|e| e.address <= address);
        let index = after.checked_sub(1)?;
        let e = list[index];
        (address < e.address + e.size.max(1)).then_some(index)
    }

    fn is_seen(&self, address: u64) -> bool {
        // SAFETY: `block_at` gives an index below `count`.
        self.block_at(address).is_some_and(|i| unsafe { *self.seen.add(i) } != 0)
    }

    fn word(&mut self, value: u64) {
        let Some(index) = self.block_at(value) else { return };
        if self.in_library && value == next_chunk(self.sorted()[index]) {
            return;
        }
        // SAFETY: below `count`; each block is opened once.
        unsafe {
            if *self.seen.add(index) == 0 {
                *self.seen.add(index) = 1;
                *self.open.add(self.open_count) = index as u32;
                self.open_count += 1;
            }
        }
    }

    /// Searches memory that is known to be there.
    fn span(&mut self, from: u64, to: u64) {
        let mut at = from.next_multiple_of(8);
        while at + 8 <= to {
            // SAFETY: data segments, the live stack and heap blocks in use are readable.
            self.word(unsafe { core::ptr::read_volatile(at as *const u64) });
            at += 8;
        }
    }

    fn follow(&mut self) {
        while self.open_count > 0 {
            self.open_count -= 1;
            // SAFETY: below the number of opened blocks.
            let index = unsafe { *self.open.add(self.open_count) } as usize;
            let e = self.sorted()[index];
            self.span(e.address, e.address + e.size);
        }
    }
}

/// Where the allocator takes the chunk behind a block to begin: at its size, which may lie inside the block's
/// last word. The allocator refers to chunks that are free, and those are no references to the block.
fn next_chunk(block: Entry) -> u64 {
    const HEADER: u64 = 16;
    const SMALLEST: u64 = 32;
    block.address - HEADER + (block.size + 8).next_multiple_of(16).max(SMALLEST)
}

extern "C" fn module_roots(info: *mut DlInfo, _size: usize, scan: *mut c_void) -> c_int {
    const LOAD: u32 = 1;
    const TLS: u32 = 7;
    const WRITABLE: u32 = 2;
    // SAFETY: the loader's description of a module, and the scan passed in.
    let (info, scan) = unsafe { (&*info, &mut *scan.cast::<Scan>()) };
    // SAFETY: the loader says how many there are.
    let headers: &[ProgramHeader] =
        unsafe { core::slice::from_raw_parts(info.headers, usize::from(info.count)) };
    let of_library = |h: &&ProgramHeader| {
        let start = info.address + h.virtual_address;
        h.kind == LOAD
            && (start..start + h.memory_size).contains(&(__libc_malloc as *const () as u64))
    };
    scan.in_library = headers.iter().any(|h| of_library(&h));
    for h in headers {
        if h.kind == LOAD && h.flags & WRITABLE != 0 {
            readable(scan, info.address + h.virtual_address, h.memory_size);
        }
        if h.kind == TLS && !info.tls_data.is_null() {
            readable(scan, info.tls_data as u64, h.memory_size);
        }
    }
    scan.in_library = false;
    0
}

/// Searches a segment by pages, since the loader may have made parts of it inaccessible.
fn readable(scan: &mut Scan, start: u64, size: u64) {
    const PAGE: u64 = 4096;
    let mut at = start;
    while at < start + size {
        let end = ((at / PAGE + 1) * PAGE).min(start + size);
        let mut probe = [0u8; 1];
        if peek(at, &mut probe) {
            scan.span(at, end);
        }
        at = end;
    }
}
