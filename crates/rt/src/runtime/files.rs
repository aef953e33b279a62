//! Which open files and streams are symbolic inputs, and the bytes and lengths of these.

use super::cell::Global;
use super::hooks::{decided, is_active};
use super::identity::{self, Identity};
use super::libc::{self, File};
use super::{config, nodes, shadow};
use crate::abi::{LENGTH, SOURCE_SHIFT, SOURCE_STDIN, op};
use core::ffi::{c_char, c_int, c_long};

const MAX_FD: usize = 1024;
/// Who asks for more at once reads whatever there is.
pub const LARGEST_RECORD: usize = 512;

/// Number of the configuration's file plus one, for each descriptor.
static DESCRIPTORS: Global<[u8; MAX_FD]> = Global::new([0; MAX_FD]);

/// An input file as the program reads it.
#[derive(Clone, Copy)]
pub struct Input {
    number: u32,
}

pub fn start() {
    if config::get().files.count() > 0 {
        set(0, 1);
    }
}

fn set(fd: c_int, number: u8) {
    if let Some(slot) = usize::try_from(fd).ok().and_then(|i| DESCRIPTORS.get().get_mut(i)) {
        *slot = number;
    }
}

/// `path` was opened as `fd` for reading.
pub fn opened(fd: c_int, path: *const c_char) {
    if fd < 0 {
        return;
    }
    set(fd, identity::of_descriptor(fd).and_then(number_of).unwrap_or(0));
    let (length, _) = super::memory::measure(path, 4096);
    // SAFETY: a terminated string of that length.
    if unsafe { core::slice::from_raw_parts(path.cast::<u8>(), length) } == b"/dev/stdin" {
        set(fd, 1);
    }
}

/// The input with this name.
pub fn of_path(path: *const c_char) -> Option<Input> {
    let error = libc::errno();
    let number = identity::of_path(path).and_then(number_of);
    libc::set_errno(error);
    let number = number.filter(|_| is_active())?;
    Some(Input { number: u32::from(number) - 1 })
}

/// Which of the configuration's files this is, plus one. Names do not tell: programs change folders, open
/// relative to others, and follow links.
fn number_of(wanted: Identity) -> Option<u8> {
    let c = config::get();
    let error = libc::errno();
    let is_it = |i: &u32| {
        let path = c.files.get(*i).map(|f| identity::Path::within(c.scratch, f.name));
        path.and_then(|p| identity::of_path(p.as_ptr())) == Some(wanted)
    };
    let number = (1..c.files.count()).find(is_it).map(|i| i as u8 + 1);
    libc::set_errno(error);
    number
}

pub fn closed(fd: c_int) {
    set(fd, 0);
}

pub fn of_descriptor(fd: c_int) -> Option<Input> {
    let number = *DESCRIPTORS.get().get(usize::try_from(fd).ok()?)?;
    (number != 0 && is_active()).then(|| Input { number: u32::from(number) - 1 })
}

pub fn of_stream(stream: *mut File) -> Option<Input> {
    // SAFETY: a stream that the program handed over.
    of_descriptor(unsafe { libc::fileno(stream) })
}

/// Where a descriptor stands.
pub fn position(fd: c_int) -> Option<u64> {
    const LSEEK: c_long = 8;
    // SAFETY: asks only.
    let at = unsafe { libc::syscall(LSEEK, c_long::from(fd), 0 as c_long, 1 as c_long) };
    u64::try_from(at).ok()
}

/// Where a stream stands.
pub fn stream_position(stream: *mut File) -> Option<u64> {
    // SAFETY: a stream that the program handed over.
    u64::try_from(unsafe { libc::ftello(stream) }).ok()
}

impl Input {
    fn source(self) -> u32 {
        SOURCE_STDIN + self.number
    }

    fn content(self) -> &'static [u8] {
        config::get().files.get(self.number).map_or(&[], |f| f.bytes)
    }

    /// The expression of the byte at `position`; 0 beyond what is described.
    pub fn byte(self, position: u64) -> u32 {
        match self.content().get(position as usize) {
            Some(value) if position < u64::from(LENGTH) => {
                let id = self.source() << SOURCE_SHIFT | position as u32;
                nodes::variable(id, 8, u64::from(*value))
            }
            _ => 0,
        }
    }

    /// The variable of the byte at `position`, whether there is one or not.
    pub fn variable(self, position: u64) -> u32 {
        self.source() << SOURCE_SHIFT | position.min(u64::from(LENGTH) - 1) as u32
    }

    /// The expression of the file's length.
    pub fn length(self) -> u32 {
        let id = self.source() << SOURCE_SHIFT | LENGTH;
        nodes::variable(id, 32, self.content().len() as u64)
    }

    /// Decides that there is (not) a byte at `position`.
    pub fn decide_has(self, position: u64, has: bool) {
        let there = nodes::apply(op::ULT, nodes::constant(32, position), self.length());
        if (super::trace::node(there).value != 0) == has {
            decided(there);
        }
    }

    /// The file can be seen in memory from `position` on. How long it is the program learns elsewhere.
    pub fn appeared(self, position: u64, memory: u64, size: usize) {
        let left = self.content().len().saturating_sub(position as usize);
        for i in 0..size.min(left) as u64 {
            if let Some(value) = self.content().get((position + i) as usize) {
                shadow::store_byte(memory + i, *value, self.byte(position + i));
            }
        }
    }

    /// `count` of `wanted` bytes were read from `position` into memory.
    pub fn arrived(self, position: u64, memory: u64, count: usize, wanted: usize) {
        for i in 0..count as u64 {
            // SAFETY: just written by the real function.
            let value = unsafe { *((memory + i) as *const u8) };
            shadow::store_byte(memory + i, value, self.byte(position + i));
        }
        if count < wanted {
            // First whether there is enough, so that the other way is a record that is read whole.
            if wanted <= LARGEST_RECORD {
                self.decide_has(position + wanted as u64 - 1, false);
            }
            let end = nodes::constant(32, position + count as u64);
            let ends = nodes::apply(op::EQ, self.length(), end);
            if super::trace::node(ends).value != 0 {
                decided(ends);
            }
        } else if count > 0 {
            self.decide_has(position + count as u64 - 1, true);
        }
    }
}
