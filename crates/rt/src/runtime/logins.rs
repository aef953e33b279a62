//! Records of logins (`utmp`): the C library reads them from a file by itself, so the program does not see the file,
//! but every byte of a record is one of the file's.

use super::cell::Global;
use super::files::{self, Input};
use super::hooks::take_arguments;
use core::ffi::{c_char, c_int, c_void};

/// Bytes of a `struct utmp`.
const RECORD: usize = 384;

unsafe extern "C" {
    fn utmpname(path: *const c_char) -> c_int;
    fn setutent();
    fn getutent() -> *mut c_void;
}

/// The file that records come from, if it is an input, and where the next begins.
static READER: Global<(Option<Input>, u64)> = Global::new((None, 0));

#[unsafe(no_mangle)]
extern "C" fn lp_w_utmpname(path: *const c_char) -> c_int {
    take_arguments::<0>(core::ptr::null());
    *READER.get() = (files::of_path(path), 0);
    // SAFETY: the real function.
    unsafe { utmpname(path) }
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_setutent() {
    take_arguments::<0>(core::ptr::null());
    READER.get().1 = 0;
    // SAFETY: the real function.
    unsafe { setutent() };
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_getutent() -> *mut c_void {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: the real function.
    let record = unsafe { getutent() };
    if let (Some(input), position) = READER.get() {
        if record.is_null() {
            input.decide_has(*position + RECORD as u64 - 1, false);
        } else {
            input.arrived(*position, record as u64, RECORD, RECORD);
            *position += RECORD as u64;
        }
    }
    record
}

// The same functions by the names that POSIX gave them.

#[unsafe(no_mangle)]
extern "C" fn lp_w_utmpxname(path: *const c_char) -> c_int {
    lp_w_utmpname(path)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_setutxent() {
    lp_w_setutent();
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_getutxent() -> *mut c_void {
    lp_w_getutent()
}
