//! Which file a descriptor or a path stands for.

use super::libc::{number, syscall};
use core::ffi::{c_char, c_int, c_long};

/// Device and number of a file: the same for all of its names.
pub type Identity = (u64, u64);

/// `struct stat` as the kernel writes it; device and number come first.
type Status = [u64; 18];

pub fn of_descriptor(fd: c_int) -> Option<Identity> {
    let mut status: Status = [0; 18];
    // SAFETY: the kernel writes one status.
    let failed = unsafe { syscall(number::FSTAT, c_long::from(fd), status.as_mut_ptr()) };
    (failed == 0).then_some((status[0], status[1]))
}

pub fn of_path(path: *const c_char) -> Option<Identity> {
    let mut status: Status = [0; 18];
    // SAFETY: the kernel checks the path and writes one status.
    let failed = unsafe { syscall(number::STAT, path, status.as_mut_ptr()) };
    (failed == 0).then_some((status[0], status[1]))
}

/// A terminated path that needs no allocator.
pub struct Path {
    bytes: [u8; 1024],
}

impl Path {
    /// `name` in `folder`; cut when it is longer than any of ours.
    pub fn within(folder: &[u8], name: &[u8]) -> Self {
        let mut bytes = [0; 1024];
        let all = folder.iter().chain(b"/").chain(name);
        bytes[..1023].iter_mut().zip(all).for_each(|(to, from)| *to = *from);
        Self { bytes }
    }

    pub fn as_ptr(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }
}
