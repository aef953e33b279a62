//! Character classes of the C locale, as conditions on the character.

use super::hooks::{give, take_arguments};
use super::{libc, nodes, trace};
use crate::abi::op;
use core::ffi::{c_int, c_void};

type Ranges = &'static [(u8, u8)];

const DIGIT: Ranges = &[(b'0', b'9')];
const UPPER: Ranges = &[(b'A', b'Z')];
const LOWER: Ranges = &[(b'a', b'z')];
const ALPHA: Ranges = &[(b'A', b'Z'), (b'a', b'z')];
const ALNUM: Ranges = &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')];
const SPACE: Ranges = &[(b'\t', b'\r'), (b' ', b' ')];
const BLANK: Ranges = &[(b'\t', b'\t'), (b' ', b' ')];
const CONTROL: Ranges = &[(0, 31), (127, 127)];
const GRAPH: Ranges = &[(33, 126)];
const PRINT: Ranges = &[(32, 126)];
const PUNCTUATION: Ranges = &[(33, 47), (58, 64), (91, 96), (123, 126)];
const HEXADECIMAL: Ranges = &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')];

/// Whether a number lies in one of the ranges.
pub fn within(s: u32, ranges: Ranges) -> u32 {
    let mut any = nodes::constant(1, 0);
    for (low, high) in ranges {
        any = nodes::apply(op::OR, any, nodes::between(s, u64::from(*low), u64::from(*high)));
    }
    any
}

fn classify(me: *const c_void, c: c_int, real: c_int, ranges: Ranges) -> c_int {
    let [s] = take_arguments(me);
    let s = nodes::fitting(s, c as u64, 32);
    if s == 0 {
        return real;
    }
    let condition = within(s, ranges);
    let inside = trace::node(condition).value != 0;
    if inside != (real != 0) {
        // Another locale.
        return real;
    }
    give(nodes::make(op::ZEXT, 32, condition, 0, 0, u64::from(inside)));
    c_int::from(inside)
}

macro_rules! classes {
    ($($model:ident $real:ident $ranges:ident;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $model(c: c_int) -> c_int {
            // SAFETY: the real function takes what the program's own call would pass.
            classify($model as *const c_void, c, unsafe { libc::$real(c) }, $ranges)
        }
    )*};
}

classes! {
    lp_w_isalnum isalnum ALNUM;
    lp_w_isalpha isalpha ALPHA;
    lp_w_isblank isblank BLANK;
    lp_w_iscntrl iscntrl CONTROL;
    lp_w_isdigit isdigit DIGIT;
    lp_w_isgraph isgraph GRAPH;
    lp_w_islower islower LOWER;
    lp_w_isprint isprint PRINT;
    lp_w_ispunct ispunct PUNCTUATION;
    lp_w_isspace isspace SPACE;
    lp_w_isupper isupper UPPER;
    lp_w_isxdigit isxdigit HEXADECIMAL;
}

fn shift(me: *const c_void, c: c_int, real: c_int, ranges: Ranges, by: u32) -> c_int {
    let [s] = take_arguments(me);
    let s = nodes::fitting(s, c as u64, 32);
    if s != 0 {
        let moved = nodes::apply(op::ADD, s, nodes::constant(32, u64::from(by)));
        give(nodes::fitting(nodes::choose(within(s, ranges), moved, s), real as u64, 32));
    }
    real
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_tolower(c: c_int) -> c_int {
    // SAFETY: the real function takes what the program's own call would pass.
    shift(lp_w_tolower as *const c_void, c, unsafe { libc::tolower(c) }, UPPER, 32)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_toupper(c: c_int) -> c_int {
    // SAFETY: the real function takes what the program's own call would pass.
    shift(
        lp_w_toupper as *const c_void,
        c,
        unsafe { libc::toupper(c) },
        LOWER,
        0u32.wrapping_sub(32),
    )
}
