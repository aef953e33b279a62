//! Stands in front of the C library's allocator, so that every block is known whoever asks for it: the
//! program, the C library on its behalf (`strdup`, `getline`, `fopen`) or C++'s `operator new`.

use super::libc::{
    self, __libc_calloc, __libc_free, __libc_malloc, __libc_memalign, __libc_realloc,
};
use super::{config, object, path, shadow, table};
use crate::abi::switch;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

static LOCK: AtomicBool = AtomicBool::new(false);

/// Runs `f` while no other thread is in the heap's tables.
pub fn locked<T>(f: impl FnOnce() -> T) -> T {
    while LOCK.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
        core::hint::spin_loop();
    }
    let result = f();
    LOCK.store(false, Ordering::Release);
    result
}

fn note(block: *mut c_void, size: usize) -> *mut c_void {
    if block.is_null() || !config::is_on(switch::TRACK) {
        return block;
    }
    locked(|| {
        let (address, size) = (block as u64, size as u64);
        let number = if path::is_at_site() { object::created(address, size) } else { 0 };
        table::insert(address, size, number);
    });
    block
}

fn forget(block: *mut c_void) {
    if block.is_null() || !config::is_on(switch::TRACK) {
        return;
    }
    locked(|| {
        if let Some(entry) = table::remove(block as u64)
            && entry.object != 0
        {
            object::freed(entry.object);
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: the real allocator.
    note(unsafe { __libc_malloc(size) }, size)
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: the real allocator.
    note(unsafe { __libc_calloc(count, size) }, count.saturating_mul(size))
}

#[unsafe(no_mangle)]
extern "C" fn free(block: *mut c_void) {
    let errno = libc::errno();
    forget(block);
    // SAFETY: the real allocator.
    unsafe { __libc_free(block) };
    libc::set_errno(errno);
}

#[unsafe(no_mangle)]
extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    let before = locked(|| table::find(old as u64));
    // SAFETY: the real allocator.
    let block = unsafe { __libc_realloc(old, size) };
    if !config::is_on(switch::TRACK) {
        return block;
    }
    if block.is_null() {
        if size == 0 {
            forget(old);
        }
        return block;
    }
    let (from, to) = (old as u64, block as u64);
    match before.filter(|_| !old.is_null()) {
        Some(entry) => {
            if config::is_symbolic() && from != to {
                shadow::copy(to, from, entry.size.min(size as u64));
            }
            locked(|| keep(entry, to, size as u64));
        }
        None => {
            note(block, size);
        }
    }
    block
}

/// The block of `entry` is now at `to`.
fn keep(entry: table::Entry, to: u64, size: u64) {
    table::remove(entry.address);
    let number = match entry.object {
        0 if path::is_at_site() => object::created(to, size),
        0 => 0,
        tracked => {
            object::moved(tracked, to, size);
            tracked
        }
    };
    table::insert(to, size, number);
}

#[unsafe(no_mangle)]
extern "C" fn reallocarray(old: *mut c_void, count: usize, size: usize) -> *mut c_void {
    const ENOMEM: c_int = 12;
    match count.checked_mul(size) {
        Some(total) => realloc(old, total),
        None => {
            libc::set_errno(ENOMEM);
            core::ptr::null_mut()
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn memalign(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: the real allocator.
    note(unsafe { __libc_memalign(alignment, size) }, size)
}

#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    memalign(alignment, size)
}

#[unsafe(no_mangle)]
extern "C" fn valloc(size: usize) -> *mut c_void {
    memalign(4096, size)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(out: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    const EINVAL: c_int = 22;
    const ENOMEM: c_int = 12;
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
        return EINVAL;
    }
    let block = memalign(alignment, size);
    if block.is_null() {
        return ENOMEM;
    }
    // SAFETY: the caller's variable.
    unsafe { *out = block };
    0
}
