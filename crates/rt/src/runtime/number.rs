//! Numbers in text: `strtol` and its relatives.
//!
//! When the caller does not ask where the number ends, the value is one expression over all the digits
//! there could be, so that one question to the solver gives a number of any length. Otherwise
//! each digit is a decision.

use super::hooks::{give, is_active, take_arguments};
use super::memory::{Byte, Text, measure};
use super::string::{decide_in, decide_is};
use super::{compared, libc, nodes, trace};
use crate::abi::op;
use core::ffi::{c_char, c_int};

/// Digits beyond which a value could overflow and is no longer described.
const MAX_DIGITS: usize = 18;
/// Digits that one expression covers.
const OPEN_DIGITS: usize = 10;

const SPACES: &[u8] = b" \t\n\x0b\x0c\r";

/// What a digit of base `base` contributes, and whether it is one.
pub fn digit_value(byte: u8, base: u32) -> Option<u32> {
    (byte as char).to_digit(36).filter(|d| *d < base)
}

/// Whether the byte is a digit, as a condition.
fn is_digit(byte: Byte, base: u32) -> u32 {
    let n = byte.node();
    let decimal = nodes::between(n, 48, 47 + u64::from(base.min(10)));
    if base <= 10 {
        return decimal;
    }
    let extra = u64::from(base - 10);
    let letters =
        nodes::apply(op::OR, nodes::between(n, 65, 64 + extra), nodes::between(n, 97, 96 + extra));
    nodes::apply(op::OR, decimal, letters)
}

/// The digit's value in 64 bits.
fn digit(byte: Byte, base: u32) -> u32 {
    let n = byte.node();
    let from = |zero: u64| nodes::apply(op::SUB, n, nodes::constant(8, zero));
    let mut value = from(48);
    if base > 10 {
        let is_lower = nodes::apply(op::ULE, nodes::constant(8, 97), n);
        let is_upper = nodes::apply(op::ULE, nodes::constant(8, 65), n);
        value = nodes::choose(is_upper, from(55), value);
        value = nodes::choose(is_lower, from(87), value);
    }
    nodes::make(op::ZEXT, 64, value, 0, 0, trace::node(value).value)
}

fn appended(value: u32, byte: Byte, base: u32) -> u32 {
    let scaled = nodes::apply(op::MUL, value, nodes::constant(64, u64::from(base)));
    nodes::apply(op::ADD, scaled, digit(byte, base))
}

/// Decides whether the byte is a digit.
pub fn decide_digit(byte: Byte, base: u32) -> bool {
    if byte.is_symbolic() {
        super::hooks::decided(is_digit(byte, base));
    }
    digit_value(byte.value, base).is_some()
}

/// A number while its digits come in.
#[derive(Default)]
pub struct Growing {
    pub digits: usize,
    pub value: u64,
    shadow: u32,
    symbolic: bool,
}

impl Growing {
    pub fn push(&mut self, byte: Byte, base: u32) {
        self.digits += 1;
        let d = u64::from(digit_value(byte.value, base).unwrap_or(0));
        self.value = self.value.wrapping_mul(u64::from(base)).wrapping_add(d);
        self.symbolic |= byte.is_symbolic();
        if self.symbolic && self.digits <= MAX_DIGITS {
            if self.shadow == 0 {
                let before = self.value.wrapping_sub(d) / u64::from(base);
                self.shadow = nodes::constant(64, before);
            }
            self.shadow = appended(self.shadow, byte, base);
        }
    }

    /// The expression of the (negated) value in 64 bits.
    pub fn shadow(&self, negative: bool) -> u32 {
        match (self.symbolic && self.digits <= MAX_DIGITS, negative) {
            (false, _) => 0,
            (true, false) => self.shadow,
            (true, true) => nodes::apply(op::SUB, nodes::constant(64, 0), self.shadow),
        }
    }
}

/// Skips white space and a sign, deciding on each; where the digits start, and whether it was a minus.
fn prefix(text: *const c_char) -> (usize, bool) {
    let mut i = 0;
    while decide_in(Byte::at(text as u64 + i as u64), SPACES) {
        i += 1;
    }
    let byte = Byte::at(text as u64 + i as u64);
    if decide_is(byte, b'-') {
        return (i + 1, true);
    }
    (i + usize::from(decide_is(byte, b'+')), false)
}

/// The value as one expression over the digits there could be.
fn open_value(text: *const c_char, negative: bool) -> u32 {
    let mut rest = Text::new(text);
    let mut active = nodes::constant(1, 1);
    let mut value = nodes::constant(64, 0);
    let mut any = false;
    for _ in 0..OPEN_DIGITS {
        let byte = rest.next();
        any |= byte.is_symbolic();
        active = nodes::and(active, is_digit(byte, 10));
        value = nodes::choose(active, appended(value, byte, 10), value);
        if !byte.is_symbolic() && digit_value(byte.value, 10).is_none() {
            break;
        }
    }
    // More digits than that: not described.
    if !any || (trace::node(active).value != 0 && digit_value(rest.next().value, 10).is_some()) {
        return 0;
    }
    if negative { nodes::apply(op::SUB, nodes::constant(64, 0), value) } else { value }
}

/// The expression of the number at `text`, which the real function finds to be `result`.
fn describe(text: *const c_char, open: bool, base: c_int, result: u64) {
    let base = match base {
        0 | 10 => 10,
        2..=36 => base as u32,
        _ => return,
    };
    let (length, symbolic) = measure(text, 64);
    if !is_active() || !symbolic || length >= 64 {
        return;
    }
    let (start, negative) = prefix(text);
    let digits = text.wrapping_add(start);
    let shadow = if open && base == 10 {
        open_value(digits, negative)
    } else {
        let mut number = Growing::default();
        let mut i = 0;
        while decide_digit(Byte::at(digits as u64 + i), base) {
            number.push(Byte::at(digits as u64 + i), base);
            i += 1;
        }
        number.shadow(negative)
    };
    give(nodes::fitting(shadow, result, 64));
    suggest(text, |byte| digit_value(byte, base).is_some(), INTEGERS);
}

/// Numbers that programs treat differently: a search finds digits, but not that there could be more or fewer of them.
const INTEGERS: &[&[u8]] = &[b"100", b"-1", b"100000"];
const FRACTIONS: &[&[u8]] = &[b"1", b"-1", b"0.5", b"100", b"0"];

/// Other numbers in the place of the one in a text, or of the word that is none.
fn suggest(text: *const c_char, belongs: impl Fn(u8) -> bool, others: &[&'static [u8]]) {
    let bytes = super::string::set_of(text);
    let blanks = bytes.iter().take_while(|b| SPACES.contains(b)).count();
    let bytes = &bytes[blanks..];
    let signs = bytes.iter().take_while(|b| b"+-".contains(b)).count();
    let digits = bytes[signs..].iter().take_while(|b| belongs(**b)).count();
    let length = match digits {
        0 => bytes.iter().take_while(|b| !SPACES.contains(b)).count(),
        n => signs + n,
    };
    compared::could_be(text.wrapping_add(blanks), length, others);
}

fn belongs_to_fraction(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'.'
}

/// Decides where a number with a fraction and an exponent ends; its value is not followed.
fn decide_fraction(text: *const c_char) {
    let (length, symbolic) = measure(text, 64);
    if !is_active() || !symbolic || length >= 64 {
        return;
    }
    let (mut i, _) = prefix(text);
    let at = |i: usize| Byte::at(text as u64 + i as u64);
    let digits_from = |mut i: usize| {
        while decide_digit(at(i), 10) {
            i += 1;
        }
        i
    };
    i = digits_from(i);
    if decide_is(at(i), b'.') {
        digits_from(i + 1);
    }
    suggest(text, belongs_to_fraction, FRACTIONS);
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strtod(text: *const c_char, end: *mut *mut c_char) -> f64 {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: the real function.
    let result = unsafe { libc::strtod(text, end) };
    let errno = libc::errno();
    decide_fraction(text);
    libc::set_errno(errno);
    result
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strtof(text: *const c_char, end: *mut *mut c_char) -> f32 {
    lp_w_strtod(text, end) as f32
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_atof(text: *const c_char) -> f64 {
    lp_w_strtod(text, core::ptr::null_mut())
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strtol(text: *const c_char, end: *mut *mut c_char, base: c_int) -> i64 {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: the real function.
    let result = unsafe { libc::strtol(text, end, base) };
    let errno = libc::errno();
    describe(text, end.is_null(), base, result as u64);
    libc::set_errno(errno);
    result
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_strtoul(text: *const c_char, end: *mut *mut c_char, base: c_int) -> u64 {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: the real function.
    let result = unsafe { libc::strtoul(text, end, base) };
    let errno = libc::errno();
    describe(text, end.is_null(), base, result);
    libc::set_errno(errno);
    result
}

macro_rules! like {
    ($($name:ident = $model:ident -> $ty:ty;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(text: *const c_char, end: *mut *mut c_char, base: c_int) -> $ty {
            $model(text, end, base)
        }
    )*};
}

like! {
    lp_w_strtoll = lp_w_strtol -> i64;
    lp_w_strtoimax = lp_w_strtol -> i64;
    lp_w___isoc23_strtol = lp_w_strtol -> i64;
    lp_w___isoc23_strtoll = lp_w_strtol -> i64;
    lp_w_strtoull = lp_w_strtoul -> u64;
    lp_w_strtoumax = lp_w_strtoul -> u64;
    lp_w___isoc23_strtoul = lp_w_strtoul -> u64;
    lp_w___isoc23_strtoull = lp_w_strtoul -> u64;
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_atol(text: *const c_char) -> i64 {
    lp_w_strtol(text, core::ptr::null_mut(), 10)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_atoll(text: *const c_char) -> i64 {
    lp_w_atol(text)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_atoi(text: *const c_char) -> c_int {
    let result = lp_w_atol(text);
    // SAFETY: a plain word, set by the call above.
    let shadow = unsafe { super::hooks::lp_ret };
    if shadow != 0 {
        give(nodes::extract(shadow, 0, 32));
    }
    result as c_int
}
