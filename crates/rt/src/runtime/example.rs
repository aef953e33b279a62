//! A text that fits a format of `scanf`: where one was read that does not, this could have been.
//!
//! Each byte that a format decides is a decision of its own, and a line such as `set %31s = %d` needs many of them in a
//! row, in each of which the program goes the same way. The whole line is one step.

use super::scanf::{FRACTIONS, Format, Item, SPACES, expand};
use crate::abi::LONGEST_COMPARED;

/// Bytes that belong to most words.
const USUAL: &[u8] = b"a1A-";

/// A text with the least that the format asks for.
pub struct Example {
    bytes: [u8; LONGEST_COMPARED],
    length: usize,
    is_behind_item: bool,
}

impl Example {
    /// `None` when the format is no more than one item, or too long.
    pub fn of(format: &'static [u8]) -> Option<Self> {
        let mut example = Self { bytes: [0; LONGEST_COMPARED], length: 0, is_behind_item: false };
        let mut format = Format::new(format);
        while let Some(byte) = format.next() {
            if SPACES.contains(&byte) {
                example.separate();
            } else if byte != b'%' {
                example.push(byte);
                example.is_behind_item = false;
            } else {
                let item = format.item()?;
                example.item(item, format.set(item));
            }
        }
        if example.bytes().ends_with(b" ") {
            example.length -= 1;
        }
        (example.length > 1 && example.length < LONGEST_COMPARED).then_some(example)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The same as a line of its own.
    pub fn as_line(mut self) -> Self {
        self.push(b'\n');
        self
    }

    fn push(&mut self, byte: u8) {
        if self.length < LONGEST_COMPARED {
            self.bytes[self.length] = byte;
            self.length += 1;
        }
    }

    fn separate(&mut self) {
        if self.length > 0 && !self.bytes().ends_with(b" ") {
            self.push(b' ');
        }
        self.is_behind_item = false;
    }

    fn item(&mut self, item: Item, set: &[u8]) {
        if item.kind == b'n' {
            return;
        }
        let is_number = b"diuxXo".contains(&item.kind) || FRACTIONS.contains(&item.kind);
        // What skips blanks would else be taken for more of what is before it.
        if self.is_behind_item && (is_number || item.kind == b's') {
            self.separate();
        }
        let byte = match item.kind {
            b'%' => b'%',
            b'[' => member(set),
            _ if is_number => b'1',
            _ => b'a',
        };
        self.push(byte);
        self.is_behind_item = item.kind != b'%';
    }
}

/// A byte of a set.
fn member(set: &[u8]) -> u8 {
    let mut all = [0u8; 256];
    match set.strip_prefix(b"^") {
        Some(others) => {
            let count = expand(others, &mut all);
            let other = USUAL.iter().find(|b| !all[..count].contains(b));
            other.copied().unwrap_or(b'a')
        }
        None => {
            let count = expand(set, &mut all);
            let usual = USUAL.iter().find(|b| all[..count].contains(b));
            usual.copied().unwrap_or(if count > 0 { all[0] } else { b'a' })
        }
    }
}
