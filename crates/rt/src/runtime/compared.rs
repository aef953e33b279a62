//! Texts that the program compares: an input with the other text in the place of the one may go another
//! way, also when that is longer or shorter, which no expression over the bytes of this run can say.

use super::cell::Global;
use super::hooks::is_active;
use super::memory::{self, Byte};
use super::{path, trace};
use crate::abi::{FROM_NOWHERE, LONGEST_COMPARED, header, op};
use core::ffi::c_char;

/// What is remembered of pairs that were told already.
const REMEMBERED: usize = 1024;
static TOLD: Global<[u32; REMEMBERED]> = Global::new([0; REMEMBERED]);

/// One side of a comparison.
#[derive(Clone, Copy)]
struct Side<'t> {
    bytes: &'t [u8],
    /// The variable of its first byte, when all of it stands in the input as it is.
    source: u32,
}

impl Side<'_> {
    /// Up to `limit` bytes, a string to its end; `None` when it is too long.
    fn new(text: *const c_char, limit: usize, is_string: bool) -> Option<Self> {
        let most = limit.min(LONGEST_COMPARED + 1);
        let length = if is_string { memory::measure(text, most).0 } else { most };
        if length > LONGEST_COMPARED {
            return None;
        }
        // SAFETY: bytes that the program's own call compares.
        let bytes = unsafe { core::slice::from_raw_parts(text.cast::<u8>(), length) };
        let first = variable_at(text as u64);
        let last = variable_at(text as u64 + length.saturating_sub(1) as u64);
        let is_whole = last == first.wrapping_add(length.saturating_sub(1) as u32);
        let source = if is_whole && first != FROM_NOWHERE { first } else { FROM_NOWHERE };
        Some(Self { bytes, source })
    }

    fn is_of_input(self) -> bool {
        self.source != FROM_NOWHERE
    }
}

/// The input byte that a byte of memory is.
fn variable_at(address: u64) -> u32 {
    variable_of(Byte::at(address))
}

/// The input byte that a byte is.
pub fn variable_of(byte: Byte) -> u32 {
    let node = trace::node(byte.shadow);
    if node.op == op::VAR { node.a } else { FROM_NOWHERE }
}

/// These were compared, up to `limit` bytes of each; the same text twice tells that one was found.
pub fn told_apart(a: *const c_char, b: *const c_char, limit: usize, are_strings: bool) {
    if !is_active() || limit == 0 {
        return;
    }
    let (a, b) = (Side::new(a, limit, are_strings), Side::new(b, limit, are_strings));
    let (Some(a), Some(b)) = (a, b) else { return };
    if !a.is_of_input() && !b.is_of_input() {
        tell(a, b);
    }
    if a.is_of_input() {
        tell(a, b);
    }
    if b.is_of_input() {
        tell(b, a);
    }
}

/// In the place of the `length` bytes of a text there could be one of these.
pub fn could_be(text: *const c_char, length: usize, others: &[&[u8]]) {
    if !is_active() {
        return;
    }
    let is = Side::new(text, length, false).filter(|s| s.is_of_input());
    if let Some(is) = is {
        others
            .iter()
            .filter(|o| **o != is.bytes)
            .for_each(|o| tell(is, Side { bytes: o, source: FROM_NOWHERE }));
    }
}

/// Before the input byte of this variable there could be a text.
pub fn could_come(variable: u32, other: &[u8]) {
    let is = Side { bytes: &[], source: variable };
    tell(is, Side { bytes: other, source: FROM_NOWHERE });
}

/// In the place of `is` there could be `wanted`.
fn tell(is: Side<'_>, wanted: Side<'_>) {
    let site = path::site();
    let hash = hash(is, wanted, site);
    let slot = &mut TOLD.get()[hash as usize % REMEMBERED];
    if *slot == hash {
        return;
    }
    *slot = hash;
    let lengths = (is.bytes.len() | wanted.bytes.len() << 16) as u32;
    let head = [*trace::word(header::EVENTS), site, is.source, lengths];
    trace::add_compared(head, is.bytes, wanted.bytes);
}

fn hash(is: Side<'_>, wanted: Side<'_>, site: u32) -> u32 {
    let mut hash = 0x811c_9dc5_u32;
    let mut add = |byte: u8| hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    site.to_le_bytes().into_iter().chain(is.source.to_le_bytes()).for_each(&mut add);
    let texts = is.bytes.iter().chain(&[0]).chain(wanted.bytes);
    texts.copied().for_each(add);
    hash
}
