//! Names of files that the program looks for in vain: if there were such a file, it might go another way.

use super::start::is_ours;
use super::{libc, memory, trace};
use crate::abi::{flag, header};
use core::ffi::c_char;

/// Longer names are nobody's configuration.
const LONGEST: usize = 255;

/// A call found no file of this name.
#[unsafe(no_mangle)]
extern "C" fn lp_missing(path: *const c_char) {
    if !is_ours() || *trace::word(header::FLAGS) & flag::MAIN == 0 {
        return;
    }
    let error = libc::errno();
    let (length, _) = memory::measure(path, LONGEST + 1);
    if (1..=LONGEST).contains(&length) {
        // SAFETY: a terminated string of that length.
        let name = unsafe { core::slice::from_raw_parts(path.cast::<u8>(), length) };
        if !trace::missing().split(|b| *b == 0).any(|known| known == name) {
            trace::add_missing(name);
        }
    }
    libc::set_errno(error);
}
