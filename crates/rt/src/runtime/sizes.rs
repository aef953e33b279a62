//! Sizes of files, which programs ask for before they read: what `stat`, `lseek` and `ftell` say about an input.
//!
//! Invariant: an expression is given only where its value is what the C library said.

use super::files::{self, Input};
use super::hooks::{give, take_arguments};
use super::libc::{self, File};
use super::{nodes, shadow};
use crate::abi::op;
use core::ffi::{c_char, c_int, c_long, c_void};

/// Where `struct stat` has the size.
const SIZE_OFFSET: u64 = 48;

/// The length of an input as a long number, if that is what the program was told.
fn length_node(input: Option<Input>, told: i64) -> u32 {
    let node = input.map_or(0, Input::length);
    let value = told as u64;
    match nodes::fitting(node, value, 32) {
        0 => 0,
        node => nodes::make(op::ZEXT, 64, node, 0, 0, value),
    }
}

/// A status was written.
fn status_arrived(input: Option<Input>, status: *mut c_void) {
    let address = status as u64 + SIZE_OFFSET;
    // SAFETY: the C library wrote one status there.
    let size = unsafe { *(address as *const i64) };
    let node = length_node(input, size);
    shadow::clear(status as u64, SIZE_OFFSET + 8);
    if node != 0 {
        shadow::store(address, 8, size as u64, node);
    }
}

macro_rules! statuses {
    ($($name:ident calls $real:ident ($from:ident: $kind:ty) by $find:path;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($from: $kind, status: *mut c_void) -> c_int {
            take_arguments::<0>(core::ptr::null());
            // SAFETY: the real function.
            let result = unsafe { libc::$real($from, status) };
            if result == 0 {
                status_arrived($find($from), status);
            }
            result
        }
    )*};
}

statuses! {
    lp_w_stat calls stat (path: *const c_char) by files::of_path;
    lp_w_stat64 calls stat (path: *const c_char) by files::of_path;
    lp_w_lstat calls lstat (path: *const c_char) by files::of_path;
    lp_w_lstat64 calls lstat (path: *const c_char) by files::of_path;
    lp_w_fstat calls fstat (fd: c_int) by files::of_descriptor;
    lp_w_fstat64 calls fstat (fd: c_int) by files::of_descriptor;
}

/// Where a file stands, in the caller's hands. The end is where its length is.
fn place_told(input: Option<Input>, place: i64) -> i64 {
    let node = length_node(input, place);
    if node != 0 {
        give(node);
    }
    place
}

macro_rules! seekers {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(fd: c_int, offset: i64, from: c_int) -> i64 {
            const SEEK_END: c_int = 2;
            take_arguments::<0>(core::ptr::null());
            // SAFETY: the real function.
            let place = unsafe { libc::lseek(fd, offset, from) };
            let input = files::of_descriptor(fd).filter(|_| from == SEEK_END && offset == 0);
            place_told(input, place)
        }
    )*};
}

seekers! { lp_w_lseek lp_w_lseek64 }

macro_rules! tellers {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(stream: *mut File) -> c_long {
            take_arguments::<0>(core::ptr::null());
            // SAFETY: the real function.
            let place = unsafe { libc::ftello(stream) };
            place_told(files::of_stream(stream), place)
        }
    )*};
}

tellers! { lp_w_ftell lp_w_ftello lp_w_ftello64 }
