//! Functions on strings. Comparisons and lengths become expressions over all bytes that matter, also
//! those that this run did not get to; searches and copies become decisions, one per symbolic byte.

use super::hooks::{decided, give, is_active, take_arguments};
use super::memory::{Byte, Text, measure, transfer};
use super::{compared, libc, nodes};
use crate::abi::op;
use core::ffi::{c_char, c_int, c_void};

/// Bytes beyond which expressions are not built.
const MAX: usize = 256;

type Chars = *const c_char;

/// How bytes are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Exact,
    Ignored,
}

fn lower(byte: Byte) -> Byte {
    let value = byte.value.to_ascii_lowercase();
    if !byte.is_symbolic() {
        return Byte { value, shadow: 0 };
    }
    let upper = nodes::between(byte.shadow, u64::from(b'A'), u64::from(b'Z'));
    let moved = nodes::apply(op::ADD, byte.shadow, nodes::constant(8, 32));
    Byte { value, shadow: nodes::choose(upper, moved, byte.shadow) }
}

/// One position of a comparison that may depend on the input.
#[derive(Clone, Copy)]
struct Pair(Byte, Byte);

/// Compares up to `limit` bytes, strings to their ends; the result is the C library's in sign.
fn compare(a: Chars, b: Chars, limit: usize, case: Case, strings: bool) -> c_int {
    let (mut left, mut right) = (Text::new(a), Text::new(b));
    let mut pairs = [Pair(Byte::END, Byte::END); MAX];
    let (mut count, mut symbolic, mut concrete) = (0, false, None);
    for i in 0..limit {
        let (mut x, mut y) = if strings {
            (left.next(), right.next())
        } else {
            (Byte::at(a as u64 + i as u64), Byte::at(b as u64 + i as u64))
        };
        if case == Case::Ignored {
            (x, y) = (lower(x), lower(y));
        }
        let difference = c_int::from(x.value) - c_int::from(y.value);
        let ends = difference != 0 || (strings && x.value == 0);
        if ends && concrete.is_none() {
            concrete = Some(difference);
        }
        if count == MAX {
            symbolic = false;
            if concrete.is_some() {
                break;
            }
            continue;
        }
        pairs[count] = Pair(x, y);
        count += 1;
        symbolic |= x.is_symbolic() || y.is_symbolic();
        // No input changes anything from here on.
        let fixed = |p: Byte| !p.is_symbolic();
        if (fixed(x) && fixed(y) && ends) || (strings && (is_end(x) || is_end(y))) {
            break;
        }
        if !is_active() && concrete.is_some() {
            break;
        }
    }
    let result = concrete.unwrap_or(0);
    compared::told_apart(a, b, limit, strings);
    if symbolic && count < MAX && is_active() {
        give(nodes::fitting(difference_of(&pairs[..count], strings), result as u64, 32));
    }
    result
}

fn is_end(byte: Byte) -> bool {
    !byte.is_symbolic() && byte.value == 0
}

/// The difference at the first place where the strings differ, from the last place backwards.
fn difference_of(pairs: &[Pair], strings: bool) -> u32 {
    let zero = nodes::constant(32, 0);
    let mut result = zero;
    for Pair(x, y) in pairs.iter().rev() {
        if !x.is_symbolic() && !y.is_symbolic() && x.value == y.value && !(strings && x.value == 0)
        {
            continue;
        }
        let (nx, ny) = (x.node(), y.node());
        if strings {
            let ends = nodes::apply(op::EQ, nx, nodes::constant(8, 0));
            result = nodes::choose(ends, zero, result);
        }
        let wide = |n| nodes::make(op::ZEXT, 32, n, 0, 0, super::trace::node(n).value);
        let difference = nodes::apply(op::SUB, wide(nx), wide(ny));
        result = nodes::choose(nodes::apply(op::NE, nx, ny), difference, result);
    }
    result
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strcmp(a: Chars, b: Chars) -> c_int {
    take_arguments::<0>(core::ptr::null());
    compare(a, b, usize::MAX, Case::Exact, true)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strcoll(a: Chars, b: Chars) -> c_int {
    take_arguments::<0>(core::ptr::null());
    let ours = compare(a, b, usize::MAX, Case::Exact, true);
    // SAFETY: strings that the program handed over.
    let real = unsafe { libc::strcoll(a, b) };
    if ours.signum() == real.signum() {
        return ours;
    }
    give(0);
    real
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strncmp(a: Chars, b: Chars, limit: usize) -> c_int {
    take_arguments::<0>(core::ptr::null());
    compare(a, b, limit, Case::Exact, true)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strcasecmp(a: Chars, b: Chars) -> c_int {
    take_arguments::<0>(core::ptr::null());
    compare(a, b, usize::MAX, Case::Ignored, true)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strncasecmp(a: Chars, b: Chars, limit: usize) -> c_int {
    take_arguments::<0>(core::ptr::null());
    compare(a, b, limit, Case::Ignored, true)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_memcmp(a: Chars, b: Chars, size: usize) -> c_int {
    take_arguments::<0>(core::ptr::null());
    compare(a, b, size, Case::Exact, false)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_bcmp(a: Chars, b: Chars, size: usize) -> c_int {
    lp_w_memcmp(a, b, size)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strlen(text: Chars) -> usize {
    lp_w_strnlen(text, usize::MAX)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strnlen(text: Chars, limit: usize) -> usize {
    take_arguments::<0>(core::ptr::null());
    let (length, symbolic) = measure(text, limit);
    if symbolic && length < MAX {
        let mut bytes = [Byte::END; MAX];
        let mut rest = Text::new(text);
        let mut count = 0;
        while count < MAX.min(limit) {
            bytes[count] = rest.next();
            if is_end(bytes[count]) {
                break;
            }
            count += 1;
        }
        let mut result = nodes::constant(64, count as u64);
        for (i, byte) in bytes[..count].iter().enumerate().rev().filter(|(_, b)| b.is_symbolic()) {
            let ends = nodes::apply(op::EQ, byte.shadow, nodes::constant(8, 0));
            result = nodes::choose(ends, nodes::constant(64, i as u64), result);
        }
        give(nodes::fitting(result, length as u64, 64));
    }
    length
}

/// Decides that the string has this length.
pub fn decide_length(text: Chars, length: usize) {
    if !is_active() || length > 4096 {
        return;
    }
    for i in 0..=length {
        decide_is(Byte::at(text as u64 + i as u64), 0);
    }
}

/// Whether the byte is `wanted`: a decision if it is symbolic.
pub fn decide_is(byte: Byte, wanted: u8) -> bool {
    if byte.is_symbolic() {
        decided(nodes::apply(op::EQ, byte.shadow, nodes::constant(8, u64::from(wanted))));
    }
    byte.value == wanted
}

/// Whether the byte is in the set.
pub fn decide_in(byte: Byte, set: &[u8]) -> bool {
    if byte.is_symbolic() && set.len() <= 64 {
        let mut any = nodes::constant(1, 0);
        for wanted in set {
            let same = nodes::apply(op::EQ, byte.shadow, nodes::constant(8, u64::from(*wanted)));
            any = nodes::apply(op::OR, any, same);
        }
        decided(any);
    }
    set.contains(&byte.value)
}

/// The bytes of a set given as a string.
pub fn set_of(text: Chars) -> &'static [u8] {
    let (length, _) = measure(text, usize::MAX);
    // SAFETY: a string that the program handed over, used only during the call.
    unsafe { core::slice::from_raw_parts(text.cast(), length) }
}

/// The byte that a search is for, given as an `int` with shadow `s`.
fn wanted_byte(value: c_int, s: u32) -> Byte {
    let s = nodes::fitting(s, value as u64, 32);
    let shadow = if s == 0 { 0 } else { nodes::extract(s, 0, 8) };
    Byte { value: value as u8, shadow }
}

/// Decides whether two bytes are the same; either may depend on the input.
fn decide_same(a: Byte, b: Byte) -> bool {
    if !b.is_symbolic() {
        return decide_is(a, b.value);
    }
    if !a.is_symbolic() {
        return decide_is(b, a.value);
    }
    decided(nodes::apply(op::EQ, a.shadow, b.shadow));
    a.value == b.value
}

/// Where the byte is, going forward to the string's end; `Err` is the end.
fn find(text: Chars, wanted: Byte) -> Result<usize, usize> {
    for i in 0.. {
        let byte = Byte::at(text as u64 + i as u64);
        if decide_same(byte, wanted) {
            return Ok(i);
        }
        if decide_is(byte, 0) {
            return Err(i);
        }
    }
    Err(0)
}

fn offset(text: Chars, by: usize) -> *mut c_char {
    text.wrapping_add(by).cast_mut()
}

fn first(text: Chars, wanted: Byte) -> *mut c_char {
    find(text, wanted).map_or(core::ptr::null_mut(), |i| offset(text, i))
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strchr(text: Chars, wanted: c_int) -> *mut c_char {
    let [_, s] = take_arguments(lp_w_strchr as *const c_void);
    first(text, wanted_byte(wanted, s))
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_index(text: Chars, wanted: c_int) -> *mut c_char {
    let [_, s] = take_arguments(lp_w_index as *const c_void);
    first(text, wanted_byte(wanted, s))
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strchrnul(text: Chars, wanted: c_int) -> *mut c_char {
    let [_, s] = take_arguments(lp_w_strchrnul as *const c_void);
    match find(text, wanted_byte(wanted, s)) {
        Ok(i) | Err(i) => offset(text, i),
    }
}

fn find_in(text: Chars, wanted: Byte, size: usize) -> *mut c_char {
    let found = (0..size).find(|i| decide_same(Byte::at(text as u64 + *i as u64), wanted));
    found.map_or(core::ptr::null_mut(), |i| offset(text, i))
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_rawmemchr(text: Chars, wanted: c_int) -> *mut c_char {
    let [_, s] = take_arguments(lp_w_rawmemchr as *const c_void);
    find_in(text, wanted_byte(wanted, s), usize::MAX)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_memchr(text: Chars, wanted: c_int, size: usize) -> *mut c_char {
    let [_, s, _] = take_arguments(lp_w_memchr as *const c_void);
    find_in(text, wanted_byte(wanted, s), size)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_memrchr(text: Chars, wanted: c_int, size: usize) -> *mut c_char {
    let [_, s, _] = take_arguments(lp_w_memrchr as *const c_void);
    find_last_in(text, wanted_byte(wanted, s), size)
}

/// The last of `size` bytes that is the wanted one.
fn find_last_in(text: Chars, wanted: Byte, size: usize) -> *mut c_char {
    let at = |i: &usize| decide_same(Byte::at(text as u64 + *i as u64), wanted);
    let found = (0..size).rev().find(at);
    found.map_or(core::ptr::null_mut(), |i| offset(text, i))
}

fn last(text: Chars, wanted: Byte) -> *mut c_char {
    let (length, _) = measure(text, usize::MAX);
    decide_length(text, length);
    find_last_in(text, wanted, length + 1)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strrchr(text: Chars, wanted: c_int) -> *mut c_char {
    let [_, s] = take_arguments(lp_w_strrchr as *const c_void);
    last(text, wanted_byte(wanted, s))
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_rindex(text: Chars, wanted: c_int) -> *mut c_char {
    let [_, s] = take_arguments(lp_w_rindex as *const c_void);
    last(text, wanted_byte(wanted, s))
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strstr(text: Chars, needle: Chars) -> *mut c_char {
    take_arguments::<0>(core::ptr::null());
    let wanted = needle;
    let needle = set_of(needle);
    let (length, symbolic) = measure(text, usize::MAX);
    for start in 0..=length {
        let at = |i: usize| Byte::at(text as u64 + (start + i) as u64);
        let fits = start + needle.len() <= length;
        if symbolic && fits && needle.len() <= MAX && is_active() {
            let mut same = nodes::constant(1, 1);
            for (i, wanted) in needle.iter().enumerate() {
                let wanted = nodes::constant(8, u64::from(*wanted));
                same = nodes::and(same, nodes::apply(op::EQ, at(i).node(), wanted));
            }
            decided(same);
        }
        if fits && needle.iter().enumerate().all(|(i, w)| at(i).value == *w) {
            return offset(text, start);
        }
    }
    compared::told_apart(text, wanted, usize::MAX, true);
    core::ptr::null_mut()
}

/// How many bytes at the start are (`wanted`) or are not in the set.
pub fn span(text: Chars, set: &[u8], wanted: bool) -> usize {
    let mut length = 0;
    loop {
        let byte = Byte::at(text as u64 + length as u64);
        if decide_is(byte, 0) || decide_in(byte, set) != wanted {
            return length;
        }
        length += 1;
    }
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strspn(text: Chars, set: Chars) -> usize {
    take_arguments::<0>(core::ptr::null());
    span(text, set_of(set), true)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strcspn(text: Chars, set: Chars) -> usize {
    take_arguments::<0>(core::ptr::null());
    span(text, set_of(set), false)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strpbrk(text: Chars, set: Chars) -> *mut c_char {
    take_arguments::<0>(core::ptr::null());
    let at = offset(text, span(text, set_of(set), false));
    // SAFETY: within the string.
    if unsafe { *at } == 0 { core::ptr::null_mut() } else { at }
}

fn copy_string(to: *mut c_char, from: Chars) -> usize {
    let (length, _) = measure(from, usize::MAX);
    decide_length(from, length);
    transfer(to.cast(), from.cast(), length + 1);
    length
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strcpy(to: *mut c_char, from: Chars) -> *mut c_char {
    take_arguments::<0>(core::ptr::null());
    copy_string(to, from);
    to
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_stpcpy(to: *mut c_char, from: Chars) -> *mut c_char {
    take_arguments::<0>(core::ptr::null());
    offset(to, copy_string(to, from))
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strncpy(to: *mut c_char, from: Chars, size: usize) -> *mut c_char {
    take_arguments::<0>(core::ptr::null());
    let (length, _) = measure(from, size);
    decide_length(from, length.min(size.saturating_sub(1)));
    transfer(to.cast(), from.cast(), length);
    lp_w_memset_rest(to, length, size);
    to
}

fn lp_w_memset_rest(to: *mut c_char, length: usize, size: usize) {
    for i in length..size {
        super::shadow::store_byte(to as u64 + i as u64, 0, 0);
        // SAFETY: within what the program's own call would write.
        unsafe { *to.add(i) = 0 };
    }
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strcat(to: *mut c_char, from: Chars) -> *mut c_char {
    take_arguments::<0>(core::ptr::null());
    let (length, _) = measure(to, usize::MAX);
    decide_length(to, length);
    copy_string(offset(to, length), from);
    to
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strncat(to: *mut c_char, from: Chars, size: usize) -> *mut c_char {
    take_arguments::<0>(core::ptr::null());
    let (length, _) = measure(to, usize::MAX);
    let (added, _) = measure(from, size);
    decide_length(to, length);
    decide_length(from, added.min(size.saturating_sub(1)));
    transfer(offset(to, length).cast(), from.cast(), added);
    lp_w_memset_rest(to, length + added, length + added + 1);
    to
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strdup(text: Chars) -> *mut c_char {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: the real function, which may be made to fail.
    let made = unsafe { libc::strdup(text) };
    if !made.is_null() {
        copy_string(made, text);
    }
    made
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strndup(text: Chars, size: usize) -> *mut c_char {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: the real function, which may be made to fail.
    let made = unsafe { libc::strndup(text, size) };
    if !made.is_null() {
        let (length, _) = measure(text, size);
        decide_length(text, length.min(size.saturating_sub(1)));
        transfer(made.cast(), text.cast::<c_void>(), length);
    }
    made
}
