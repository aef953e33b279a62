//! The `scanf` family: whitespace, literals, numbers, words, sets, characters, counts.
//!
//! Formats with anything else go to the C library as they are. Each byte that decides how far an item
//! goes is a decision; the values of numbers are expressions of their digits.

use super::example::Example;
use super::hooks::{lost_sight, take_arguments};
use super::libc::{self, File};
use super::memory::{Byte, Text};
use super::number::{Growing, decide_digit};
use super::string::{decide_in, decide_is};
use super::{compared, nodes, shadow, stdio};
use crate::abi::FROM_NOWHERE;
use crate::compute::mask;
use core::ffi::{c_char, c_int};

pub const SPACES: &[u8] = b" \t\n\x0b\x0c\r";
const EOF: c_int = -1;
/// Conversions to floating point.
pub const FRACTIONS: &[u8] = b"aefgEG";
/// Digits of a fraction that are kept.
const LONGEST_FRACTION: usize = 64;

/// Where the bytes come from.
enum Origin {
    Memory(Text),
    Stream(*mut File),
}

/// Bytes with one that may be put back.
struct Bytes {
    origin: Origin,
    held: Option<Option<Byte>>,
    taken: usize,
    /// The input byte that a stream began with.
    first: Option<u32>,
}

impl Bytes {
    /// The next byte; `None` at the end.
    fn next(&mut self) -> Option<Byte> {
        self.taken += 1;
        if let Some(held) = self.held.take() {
            return held;
        }
        match &mut self.origin {
            Origin::Memory(text) => {
                let byte = text.next();
                (!decide_is(byte, 0)).then_some(byte)
            }
            Origin::Stream(stream) => {
                let (c, s) = stdio::get_byte(*stream);
                let byte = (c != EOF).then_some(Byte { value: c as u8, shadow: s });
                if self.taken == 1 {
                    self.first = variable_before(*stream, byte);
                }
                byte
            }
        }
    }

    fn back(&mut self, byte: Option<Byte>) {
        self.taken -= 1;
        self.held = Some(byte);
    }

    fn skip_spaces(&mut self) {
        loop {
            let byte = self.next();
            if !byte.is_some_and(|b| decide_in(b, SPACES)) {
                return self.back(byte);
            }
        }
    }

    /// Where a number was wanted and `byte` came, there could be one.
    fn suggest_number(&self, byte: Option<Byte>) {
        let variable = match (&self.origin, byte) {
            (Origin::Stream(stream), byte) => variable_before(*stream, byte),
            (Origin::Memory(_), Some(byte)) => variable_of(byte),
            (Origin::Memory(_), None) => None,
        };
        if let Some(variable) = variable {
            compared::could_come(variable, b"1 ");
        }
    }

    /// What was looked at but not taken goes back to the stream.
    fn finish(self) {
        if let (Origin::Stream(stream), Some(Some(byte))) = (self.origin, self.held) {
            // SAFETY: a stream that the program handed over.
            unsafe { libc::ungetc(c_int::from(byte.value), stream) };
        }
    }
}

fn variable_of(byte: Byte) -> Option<u32> {
    Some(compared::variable_of(byte)).filter(|v| *v != FROM_NOWHERE)
}

/// The input byte that a stream gave, or would have given where it ended.
fn variable_before(stream: *mut File, byte: Option<Byte>) -> Option<u32> {
    match byte {
        Some(byte) => variable_of(byte),
        None => stdio::variable_next(stream),
    }
}

/// One conversion of a format.
#[derive(Clone, Copy)]
pub struct Item {
    pub kind: u8,
    width: usize,
    suppressed: bool,
    /// Bytes of an integer to store.
    size: u32,
    /// Where the set of `%[` starts and ends.
    set: (usize, usize),
}

pub struct Format {
    text: &'static [u8],
    at: usize,
}

impl Format {
    pub fn new(text: &'static [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// The next byte of the format.
    pub fn next(&mut self) -> Option<u8> {
        let byte = self.text.get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte
    }

    /// The set of a conversion, with a `^` before it if it has one.
    pub fn set(&self, item: Item) -> &'static [u8] {
        self.text.get(item.set.0..item.set.1).unwrap_or_default()
    }

    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn accept(&mut self, byte: u8) -> bool {
        let hit = self.peek() == byte;
        self.at += usize::from(hit);
        hit
    }

    /// The conversion after a `%`; `None` when we do not know it.
    pub fn item(&mut self) -> Option<Item> {
        let suppressed = self.accept(b'*');
        let mut width = 0;
        while self.peek().is_ascii_digit() {
            width = width * 10 + usize::from(self.peek() - b'0');
            self.at += 1;
        }
        let mut size = 4;
        while let b'h' | b'l' | b'j' | b'z' | b't' = self.peek() {
            size = match (self.peek(), size) {
                (b'h', 2) => 1,
                (b'h', _) => 2,
                _ => 8,
            };
            self.at += 1;
        }
        let kind = self.peek();
        self.at += 1;
        let start = self.at;
        if kind == b'[' {
            self.at += usize::from(self.peek() == b'^');
            self.at += usize::from(self.peek() == b']');
            while self.peek() != b']' {
                if self.peek() == 0 {
                    return None;
                }
                self.at += 1;
            }
            self.at += 1;
        }
        let known = b"diuxXocs[n%".contains(&kind) || FRACTIONS.contains(&kind);
        let wide = size == 8 && b"cs[".contains(&kind);
        known
            .then_some(Item {
                kind,
                width,
                suppressed,
                size,
                set: (start, self.at.saturating_sub(1)),
            })
            .filter(|_| !wide)
    }
}

/// Whether we know all of a format.
fn is_known(text: &'static [u8]) -> bool {
    let mut format = Format::new(text);
    while let Some(byte) = format.next() {
        if byte == b'%' && format.item().is_none() {
            return false;
        }
    }
    true
}

struct Scanner {
    bytes: Bytes,
    format: Format,
    arguments: *const u64,
    count: usize,
    used: usize,
    assigned: c_int,
}

/// Why scanning ended early.
enum Stop {
    Mismatch,
    End,
}

impl Scanner {
    fn argument(&mut self) -> u64 {
        let value = if self.used < self.count {
            // SAFETY: below the number of arguments that the caller passed.
            unsafe { *self.arguments.add(self.used) }
        } else {
            0
        };
        self.used += 1;
        value
    }

    fn run(&mut self) -> Result<(), Stop> {
        while let Some(byte) = self.format.next() {
            if SPACES.contains(&byte) {
                self.bytes.skip_spaces();
            } else if byte != b'%' {
                self.literal(byte)?;
            } else if let Some(item) = self.format.item() {
                self.convert(item)?;
            }
        }
        Ok(())
    }

    fn literal(&mut self, wanted: u8) -> Result<(), Stop> {
        let byte = self.bytes.next();
        match byte {
            Some(b) if decide_is(b, wanted) => Ok(()),
            Some(_) => {
                self.bytes.back(byte);
                Err(Stop::Mismatch)
            }
            None => Err(Stop::End),
        }
    }

    fn convert(&mut self, item: Item) -> Result<(), Stop> {
        if !matches!(item.kind, b'c' | b'[' | b'n') {
            self.bytes.skip_spaces();
        }
        match item.kind {
            b'%' => self.literal(b'%'),
            b'n' => {
                let taken = self.bytes.taken as u64;
                self.store(item, taken, 0);
                Ok(())
            }
            b'c' | b's' | b'[' => self.word(item),
            kind if FRACTIONS.contains(&kind) => self.fraction(item),
            _ => self.number(item),
        }
    }

    fn number(&mut self, item: Item) -> Result<(), Stop> {
        let base = match item.kind {
            b'x' | b'X' => 16,
            b'o' => 8,
            _ => 10,
        };
        let limit = if item.width == 0 { usize::MAX } else { item.width };
        let mut byte = self.bytes.next();
        if byte.is_none() {
            self.bytes.suggest_number(byte);
            return Err(Stop::End);
        }
        let negative = byte.is_some_and(|b| decide_is(b, b'-'));
        let mut length = 0;
        if negative || byte.is_some_and(|b| decide_is(b, b'+')) {
            byte = self.bytes.next();
            length += 1;
        }
        let mut number = Growing::default();
        while let Some(b) = byte.filter(|b| length < limit && decide_digit(*b, base)) {
            number.push(b, base);
            length += 1;
            byte = self.bytes.next();
        }
        if number.digits == 0 && length == 0 {
            self.bytes.suggest_number(byte);
        }
        self.bytes.back(byte);
        if number.digits == 0 {
            return Err(Stop::Mismatch);
        }
        let value = if negative { number.value.wrapping_neg() } else { number.value };
        self.store(item, value, number.shadow(negative));
        self.assigned += c_int::from(!item.suppressed);
        Ok(())
    }

    /// A number with a fraction: each byte of it is decided, its value is not followed.
    fn fraction(&mut self, item: Item) -> Result<(), Stop> {
        let mut text = [0u8; LONGEST_FRACTION];
        let (mut length, mut digits) = (0, 0);
        let limit = if item.width == 0 { usize::MAX } else { item.width };
        let mut byte = self.bytes.next();
        if byte.is_none() {
            self.bytes.suggest_number(byte);
            return Err(Stop::End);
        }
        while let Some(b) = byte.filter(|_| length < limit.min(LONGEST_FRACTION - 1)) {
            let before = &text[..length];
            let is_digit = decide_digit(b, 10);
            if !is_digit && !goes_on(before, b, digits) {
                break;
            }
            digits += usize::from(is_digit);
            text[length] = b.value;
            length += 1;
            byte = self.bytes.next();
        }
        if length == 0 {
            self.bytes.suggest_number(byte);
        }
        self.bytes.back(byte);
        if digits == 0 {
            return Err(Stop::Mismatch);
        }
        // SAFETY: a terminated text of our own.
        let value = unsafe { libc::strtod(text.as_ptr().cast(), core::ptr::null_mut()) };
        let bits =
            if item.size == 8 { value.to_bits() } else { u64::from((value as f32).to_bits()) };
        self.store(item, bits, 0);
        self.assigned += c_int::from(!item.suppressed);
        Ok(())
    }

    fn store(&mut self, item: Item, value: u64, s: u32) {
        if item.suppressed {
            return;
        }
        let to = self.argument();
        let size = item.size;
        for i in 0..size {
            // SAFETY: the caller's variable of that size.
            unsafe { *((to + u64::from(i)) as *mut u8) = (value >> (8 * i)) as u8 };
        }
        let s = nodes::fitting(s, value, 64);
        let s = if s == 0 { 0 } else { nodes::extract(s, 0, size * 8) };
        shadow::store(to, size, value & mask(size * 8), s);
    }

    fn word(&mut self, item: Item) -> Result<(), Stop> {
        let to = if item.suppressed { 0 } else { self.argument() };
        let limit = match (item.width, item.kind) {
            (0, b'c') => 1,
            (0, _) => usize::MAX,
            (n, _) => n,
        };
        let mut length = 0;
        while length < limit {
            let byte = self.bytes.next();
            let Some(b) = byte.filter(|b| self.belongs(item, *b)) else {
                self.bytes.back(byte);
                if length == 0 {
                    return Err(if byte.is_none() { Stop::End } else { Stop::Mismatch });
                }
                break;
            };
            put(to, length, b);
            length += 1;
        }
        if item.kind != b'c' {
            put(to, length, Byte::END);
        }
        self.assigned += c_int::from(!item.suppressed);
        Ok(())
    }

    fn belongs(&self, item: Item, byte: Byte) -> bool {
        match item.kind {
            b'c' => true,
            b's' => !decide_in(byte, SPACES),
            _ => {
                let set = self.format.set(item);
                let (set, wanted) = set.strip_prefix(b"^").map_or((set, true), |s| (s, false));
                let mut all = [0u8; 256];
                let count = expand(set, &mut all);
                decide_in(byte, &all[..count]) == wanted
            }
        }
    }
}

/// Whether a number with a fraction goes on with a byte that is no digit, behind these bytes with so many digits.
fn goes_on(before: &[u8], byte: Byte, digits: usize) -> bool {
    let has = |wanted: &[u8]| before.iter().any(|b| wanted.contains(b));
    let may_have_sign = before.last().is_none_or(|b| b"eE".contains(b));
    (may_have_sign && decide_in(byte, b"+-"))
        || (!has(b".eE") && decide_is(byte, b'.'))
        || (digits > 0 && !has(b"eE") && decide_in(byte, b"eE"))
}

/// The bytes of a set with its ranges written out.
pub fn expand(set: &[u8], out: &mut [u8; 256]) -> usize {
    let (mut i, mut count) = (0, 0);
    while i < set.len() {
        let last = if i + 2 < set.len() && set[i + 1] == b'-' { set[i + 2] } else { set[i] };
        for byte in set[i]..=last.max(set[i]) {
            if count < out.len() {
                out[count] = byte;
                count += 1;
            }
        }
        i += if last == set[i] { 1 } else { 3 };
    }
    count
}

fn put(to: u64, index: usize, byte: Byte) {
    if to != 0 {
        let at = to + index as u64;
        // SAFETY: the caller's buffer.
        unsafe { *(at as *mut u8) = byte.value };
        shadow::store_byte(at, byte.value, byte.shadow);
    }
}

/// `va_list` on x86-64: everything on the stack.
#[repr(C)]
struct Arguments {
    general: u32,
    floating: u32,
    overflow: *const u64,
    saved: *const u64,
}

fn terminated(text: *const c_char) -> &'static [u8] {
    super::string::set_of(text)
}

/// How long the first line of a text is.
fn length_of_line(text: *const c_char) -> usize {
    let bytes = terminated(text);
    bytes.iter().position(|b| *b == b'\n').unwrap_or(bytes.len())
}

fn scan(origin: Origin, format: *const c_char, count: c_int, arguments: *const u64) -> c_int {
    let text = terminated(format);
    let given = match &origin {
        Origin::Memory(text) => Some(text.start()),
        Origin::Stream(_) => None,
    };
    let bytes = Bytes { origin, held: None, taken: 0, first: None };
    let count = count.max(0) as usize;
    let format = Format::new(text);
    let mut scanner = Scanner { bytes, format, arguments, count, used: 0, assigned: 0 };
    let stop = scanner.run();
    if stop.is_err()
        && let Some(example) = Example::of(text)
    {
        match given {
            Some(line) => compared::could_be(line, length_of_line(line), &[example.bytes()]),
            None => {
                let first = scanner.bytes.first;
                first.inspect(|v| compared::could_come(*v, example.as_line().bytes()));
            }
        }
    }
    let assigned = scanner.assigned;
    scanner.bytes.finish();
    match stop {
        Err(Stop::End) if assigned == 0 => EOF,
        _ => assigned,
    }
}

fn fallback(arguments: *const u64) -> Arguments {
    lost_sight();
    Arguments { general: 48, floating: 304, overflow: arguments, saved: core::ptr::null() }
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_sscanf(
    text: *const c_char,
    format: *const c_char,
    n: c_int,
    a: *const u64,
) -> c_int {
    take_arguments::<0>(core::ptr::null());
    if !is_known(terminated(format)) {
        let mut list = fallback(a);
        // SAFETY: the real function with all its arguments.
        return unsafe { libc::vsscanf(text, format, (&raw mut list).cast()) };
    }
    scan(Origin::Memory(Text::new(text)), format, n, a)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_fscanf(
    stream: *mut File,
    format: *const c_char,
    n: c_int,
    a: *const u64,
) -> c_int {
    take_arguments::<0>(core::ptr::null());
    if !is_known(terminated(format)) {
        let mut list = fallback(a);
        // SAFETY: the real function with all its arguments.
        return unsafe { libc::vfscanf(stream, format, (&raw mut list).cast()) };
    }
    scan(Origin::Stream(stream), format, n, a)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_scanf(format: *const c_char, n: c_int, a: *const u64) -> c_int {
    // SAFETY: the C library's own stream.
    lp_w_fscanf(unsafe { libc::stdin }, format, n, a)
}

macro_rules! spellings {
    ($($of_text:ident $of_stream:ident $of_input:ident;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $of_text(t: *const c_char, f: *const c_char, n: c_int, a: *const u64) -> c_int {
            lp_w_sscanf(t, f, n, a)
        }
        #[unsafe(no_mangle)]
        extern "C" fn $of_stream(s: *mut File, f: *const c_char, n: c_int, a: *const u64) -> c_int {
            lp_w_fscanf(s, f, n, a)
        }
        #[unsafe(no_mangle)]
        extern "C" fn $of_input(f: *const c_char, n: c_int, a: *const u64) -> c_int {
            lp_w_scanf(f, n, a)
        }
    )*};
}

spellings! {
    lp_w___isoc99_sscanf lp_w___isoc99_fscanf lp_w___isoc99_scanf;
    lp_w___isoc23_sscanf lp_w___isoc23_fscanf lp_w___isoc23_scanf;
}
