//! The program's bytes together with their shadows, as the models of library functions see them; and
//! the functions that copy and fill memory.

use super::hooks::{is_active, take_arguments};
use super::{nodes, shadow};
use core::ffi::{c_char, c_int, c_void};

/// One byte of memory: its value, and its expression if it is symbolic.
#[derive(Clone, Copy)]
pub struct Byte {
    pub value: u8,
    pub shadow: u32,
}

impl Byte {
    pub const END: Byte = Byte { value: 0, shadow: 0 };

    pub fn at(address: u64) -> Self {
        // SAFETY: callers only go where the program's own call would go.
        let value = unsafe { *(address as *const u8) };
        Self { value, shadow: shadow::byte(address, value) }
    }

    pub fn is_symbolic(self) -> bool {
        self.shadow != 0
    }

    /// Its expression, a constant if need be.
    pub fn node(self) -> u32 {
        if self.shadow == 0 { nodes::constant(8, u64::from(self.value)) } else { self.shadow }
    }
}

/// The bytes of a string, also beyond its end as far as they are symbolic: there another input would
/// go on.
pub struct Text {
    at: u64,
    ended: bool,
}

impl Text {
    pub fn new(at: *const i8) -> Self {
        Self { at: at as u64, ended: false }
    }

    /// Where it goes on.
    pub fn start(&self) -> *const c_char {
        self.at as *const c_char
    }

    /// The next byte; after the end only symbolic ones, then `END` for ever.
    pub fn next(&mut self) -> Byte {
        if self.ended && !shadow::any_in(self.at, 1) {
            return Byte::END;
        }
        let byte = Byte::at(self.at);
        if self.ended && !byte.is_symbolic() {
            return Byte::END;
        }
        self.at += 1;
        self.ended |= byte.value == 0;
        byte
    }
}

/// Length of a string, and whether any of its bytes (the end included) is symbolic.
pub fn measure(text: *const i8, limit: usize) -> (usize, bool) {
    let mut length = 0;
    // SAFETY: a string that the program handed over.
    while length < limit && unsafe { *text.add(length) } != 0 {
        length += 1;
    }
    let symbolic = is_active() && shadow::any_in(text as u64, length as u64 + 1);
    (length, symbolic)
}

/// Copies bytes and what they stand for; the spans may overlap.
pub fn transfer(to: *mut c_void, from: *const c_void, size: usize) {
    if is_active() {
        shadow::copy(to as u64, from as u64, size as u64);
    }
    // SAFETY: spans that the program's own call would copy.
    unsafe { core::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), size) };
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_memcpy(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void {
    take_arguments::<0>(core::ptr::null());
    transfer(to, from, size);
    to
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_memmove(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void {
    lp_w_memcpy(to, from, size)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_mempcpy(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void {
    lp_w_memcpy(to, from, size);
    to.cast::<u8>().wrapping_add(size).cast()
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_memset(to: *mut c_void, byte: c_int, size: usize) -> *mut c_void {
    let [_, s, _] = take_arguments(lp_w_memset as *const c_void);
    let s = nodes::fitting(s, byte as u64, 32);
    if is_active() {
        if s == 0 {
            shadow::clear(to as u64, size as u64);
        } else {
            let low = nodes::extract(s, 0, 8);
            (0..size as u64).for_each(|i| shadow::store_byte(to as u64 + i, byte as u8, low));
        }
    }
    // SAFETY: the span that the program's own call would fill.
    unsafe { core::ptr::write_bytes(to.cast::<u8>(), byte as u8, size) };
    to
}
