//! `strtok` and its relatives, made of the spans in `string`.

use super::cell::Global;
use super::hooks::take_arguments;
use super::string::{set_of, span};
use core::ffi::c_char;

static LAST: Global<*mut c_char> = Global::new(core::ptr::null_mut());

fn end_token(at: *mut c_char, length: usize) -> *mut c_char {
    let end = at.wrapping_add(length);
    super::shadow::store_byte(end as u64, 0, 0);
    // SAFETY: the token's end lies in the string.
    unsafe {
        if *end == 0 {
            return end;
        }
        *end = 0;
    }
    end.wrapping_add(1)
}

/// The next token; where to go on is put into `rest`.
fn next(text: *mut c_char, set: *const c_char, rest: &mut *mut c_char) -> *mut c_char {
    let start = if text.is_null() { *rest } else { text };
    if start.is_null() {
        return start;
    }
    let set = set_of(set);
    let token = start.wrapping_add(span(start, set, true));
    // SAFETY: within the string.
    if unsafe { *token } == 0 {
        *rest = token;
        return core::ptr::null_mut();
    }
    *rest = end_token(token, span(token, set, false));
    token
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strtok(text: *mut c_char, set: *const c_char) -> *mut c_char {
    take_arguments::<0>(core::ptr::null());
    next(text, set, LAST.get())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lp_w_strtok_r(
    text: *mut c_char,
    set: *const c_char,
    rest: *mut *mut c_char,
) -> *mut c_char {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: the caller's variable.
    next(text, set, unsafe { &mut *rest })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lp_w_strsep(text: *mut *mut c_char, set: *const c_char) -> *mut c_char {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: the caller's variable.
    let slot = unsafe { &mut *text };
    let token = *slot;
    if token.is_null() {
        return token;
    }
    let length = span(token, set_of(set), false);
    let end = token.wrapping_add(length);
    // SAFETY: within the string.
    *slot = if unsafe { *end } == 0 { core::ptr::null_mut() } else { end_token(token, length) };
    token
}
