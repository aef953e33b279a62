//! Bytes of files that arrive at a place of their own: `pread` and `mmap`.

use super::files;
use super::hooks::take_arguments;
use super::{libc, shadow};
use core::ffi::{c_int, c_void};

const FAILED: usize = usize::MAX;

macro_rules! readers {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(fd: c_int, buffer: *mut c_void, size: usize, from: i64) -> isize {
            take_arguments::<0>(core::ptr::null());
            // SAFETY: the real function.
            let count = unsafe { libc::pread(fd, buffer, size, from) };
            let arrived = usize::try_from(count).ok();
            if let Some((input, count)) = files::of_descriptor(fd).zip(arrived) {
                input.arrived(from as u64, buffer as u64, count, size);
            }
            count
        }
    )*};
}

readers! { lp_w_pread lp_w_pread64 }

macro_rules! mappers {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(
            wanted: *mut c_void,
            size: usize,
            rights: c_int,
            flags: c_int,
            fd: c_int,
            from: i64,
        ) -> *mut c_void {
            take_arguments::<0>(core::ptr::null());
            // SAFETY: the real function.
            let at = unsafe { libc::mmap(wanted, size, rights, flags, fd, from) };
            if at as usize != FAILED {
                shadow::clear(at as u64, size as u64);
                if let Some(input) = files::of_descriptor(fd) {
                    input.appeared(from as u64, at as u64, size);
                }
            }
            at
        }
    )*};
}

mappers! { lp_w_mmap lp_w_mmap64 }

#[unsafe(no_mangle)]
extern "C" fn lp_w_munmap(at: *mut c_void, size: usize) -> c_int {
    take_arguments::<0>(core::ptr::null());
    shadow::clear(at as u64, size as u64);
    // SAFETY: the real function.
    unsafe { libc::munmap(at, size) }
}
