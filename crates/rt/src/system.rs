//! Calls of the kernel, by number: what the runtime needs must not go through the program's own library.

use core::ffi::c_long;

unsafe extern "C" {
    pub fn syscall(number: c_long, ...) -> c_long;
}

/// Numbers of system calls on x86-64.
pub mod number {
    use core::ffi::c_long;

    pub const WRITE: c_long = 1;
    pub const OPEN: c_long = 2;
    pub const CLOSE: c_long = 3;
    pub const IOCTL: c_long = 16;
    pub const SOCKET: c_long = 41;
    pub const GETUID: c_long = 102;
    pub const GETGID: c_long = 104;
    pub const PRCTL: c_long = 157;
    pub const SETRLIMIT: c_long = 160;
    pub const UNSHARE: c_long = 272;
    pub const SECCOMP: c_long = 317;
    pub const LANDLOCK_CREATE: c_long = 444;
    pub const LANDLOCK_ADD: c_long = 445;
    pub const LANDLOCK_RESTRICT: c_long = 446;

    #[cfg(feature = "runtime")]
    pub const READ: c_long = 0;
    #[cfg(feature = "runtime")]
    pub const STAT: c_long = 4;
    #[cfg(feature = "runtime")]
    pub const FSTAT: c_long = 5;
    #[cfg(feature = "runtime")]
    pub const MMAP: c_long = 9;
    #[cfg(feature = "runtime")]
    pub const MUNMAP: c_long = 11;
    #[cfg(feature = "runtime")]
    pub const CLOCK_GETTIME: c_long = 228;
    #[cfg(feature = "runtime")]
    pub const PROCESS_VM_READV: c_long = 310;
}
