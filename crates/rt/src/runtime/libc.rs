//! The few functions of the C library and the kernel that the runtime calls.

pub use crate::system::{number, syscall};
use core::ffi::{c_char, c_int, c_long, c_void};

pub type File = c_void;

unsafe extern "C" {
    pub fn __libc_malloc(size: usize) -> *mut c_void;
    pub fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    pub fn __libc_realloc(old: *mut c_void, size: usize) -> *mut c_void;
    pub fn __libc_free(old: *mut c_void);
    pub fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    pub fn __errno_location() -> *mut c_int;
    pub fn pthread_self() -> usize;
    pub fn __register_atfork(
        before: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
        library: *mut c_void,
    ) -> c_int;
    pub fn getenv(name: *const c_char) -> *mut c_char;
    pub fn fileno(stream: *mut File) -> c_int;
    pub fn ftello(stream: *mut File) -> i64;
    pub fn ungetc(byte: c_int, stream: *mut File) -> c_int;
    pub fn fgetc(stream: *mut File) -> c_int;
    pub fn fgets(buffer: *mut c_char, size: c_int, stream: *mut File) -> *mut c_char;
    pub fn fread(buffer: *mut c_void, size: usize, count: usize, stream: *mut File) -> usize;
    pub fn getdelim(line: *mut *mut c_char, n: *mut usize, end: c_int, stream: *mut File) -> isize;
    pub fn getline(line: *mut *mut c_char, n: *mut usize, stream: *mut File) -> isize;
    pub fn read(fd: c_int, buffer: *mut c_void, size: usize) -> isize;
    pub fn pread(fd: c_int, buffer: *mut c_void, size: usize, from: i64) -> isize;
    pub fn mmap(
        wanted: *mut c_void,
        size: usize,
        rights: c_int,
        flags: c_int,
        fd: c_int,
        from: i64,
    ) -> *mut c_void;
    pub fn munmap(at: *mut c_void, size: usize) -> c_int;
    pub fn stat(path: *const c_char, status: *mut c_void) -> c_int;
    pub fn lstat(path: *const c_char, status: *mut c_void) -> c_int;
    pub fn fstat(fd: c_int, status: *mut c_void) -> c_int;
    pub fn lseek(fd: c_int, offset: i64, from: c_int) -> i64;
    pub fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    pub fn openat(folder: c_int, path: *const c_char, flags: c_int, ...) -> c_int;
    pub fn close(fd: c_int) -> c_int;
    pub fn fopen(path: *const c_char, mode: *const c_char) -> *mut File;
    pub fn fdopen(fd: c_int, mode: *const c_char) -> *mut File;
    pub fn freopen(path: *const c_char, mode: *const c_char, stream: *mut File) -> *mut File;
    pub fn fclose(stream: *mut File) -> c_int;
    pub fn strdup(text: *const c_char) -> *mut c_char;
    pub fn strndup(text: *const c_char, size: usize) -> *mut c_char;
    pub fn strcoll(a: *const c_char, b: *const c_char) -> c_int;
    pub fn strtol(text: *const c_char, end: *mut *mut c_char, base: c_int) -> i64;
    pub fn strtoul(text: *const c_char, end: *mut *mut c_char, base: c_int) -> u64;
    pub fn strtod(text: *const c_char, end: *mut *mut c_char) -> f64;
    pub fn vsscanf(text: *const c_char, format: *const c_char, arguments: *mut c_void) -> c_int;
    pub fn vfscanf(stream: *mut File, format: *const c_char, arguments: *mut c_void) -> c_int;
    pub fn isalnum(c: c_int) -> c_int;
    pub fn isalpha(c: c_int) -> c_int;
    pub fn isblank(c: c_int) -> c_int;
    pub fn iscntrl(c: c_int) -> c_int;
    pub fn isdigit(c: c_int) -> c_int;
    pub fn isgraph(c: c_int) -> c_int;
    pub fn islower(c: c_int) -> c_int;
    pub fn isprint(c: c_int) -> c_int;
    pub fn ispunct(c: c_int) -> c_int;
    pub fn isspace(c: c_int) -> c_int;
    pub fn isupper(c: c_int) -> c_int;
    pub fn isxdigit(c: c_int) -> c_int;
    pub fn tolower(c: c_int) -> c_int;
    pub fn toupper(c: c_int) -> c_int;
    pub fn getpid() -> c_int;
    pub fn dl_iterate_phdr(
        callback: extern "C" fn(*mut DlInfo, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    pub fn quick_exit(status: c_int) -> !;
    pub fn _exit(status: c_int) -> !;
    pub static __libc_stack_end: *mut c_void;
    pub static stdin: *mut File;
}

/// `struct dl_phdr_info`.
#[repr(C)]
pub struct DlInfo {
    pub address: u64,
    pub name: *const c_char,
    pub headers: *const ProgramHeader,
    pub count: u16,
    pub adds: u64,
    pub subs: u64,
    pub tls_module: usize,
    pub tls_data: *mut c_void,
}

/// `Elf64_Phdr`.
#[repr(C)]
pub struct ProgramHeader {
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub virtual_address: u64,
    pub physical_address: u64,
    pub file_size: u64,
    pub memory_size: u64,
    pub alignment: u64,
}

/// Fresh zeroed memory that no allocator knows of; null when there is none.
pub fn map(size: usize) -> *mut u8 {
    const PROT_READ_WRITE: c_long = 3;
    // MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    const FLAGS: c_long = 0x4022;
    // SAFETY: an anonymous mapping at an address of the kernel's choice.
    let at = unsafe {
        syscall(number::MMAP, 0 as c_long, size, PROT_READ_WRITE, FLAGS, -1 as c_long, 0 as c_long)
    };
    if at == -1 { core::ptr::null_mut() } else { at as *mut u8 }
}

/// Zeros of this process alone in the place of a mapping.
pub fn map_over(at: *mut u8, size: usize) {
    const PROT_READ_WRITE: c_long = 3;
    // MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED
    const FLAGS: c_long = 0x4032;
    // SAFETY: a mapping of ours, whose contents nobody needs any more.
    unsafe { syscall(number::MMAP, at, size, PROT_READ_WRITE, FLAGS, -1 as c_long, 0 as c_long) };
}

/// Gives back what `map` gave.
pub fn unmap(at: *mut u8, size: usize) {
    if size > 0 {
        // SAFETY: a mapping of ours that nothing refers to any more.
        unsafe { syscall(number::MUNMAP, at, size) };
    }
}

/// Processor time of this process so far, in microseconds.
pub fn processor_time() -> u64 {
    const PROCESS_CPUTIME: c_long = 2;
    let mut time = [0i64; 2];
    // SAFETY: the kernel writes seconds and nanoseconds.
    unsafe { syscall(number::CLOCK_GETTIME, PROCESS_CPUTIME, time.as_mut_ptr()) };
    time[0] as u64 * 1_000_000 + time[1] as u64 / 1000
}

/// A file mapped for both sides to see; null when that fails.
pub fn map_file(fd: c_int, size: usize) -> *mut u8 {
    // SAFETY: a shared mapping at an address of the kernel's choice.
    let at = unsafe {
        syscall(
            number::MMAP,
            0 as c_long,
            size,
            3 as c_long,
            1 as c_long,
            c_long::from(fd),
            0 as c_long,
        )
    };
    if at == -1 { core::ptr::null_mut() } else { at as *mut u8 }
}

/// Opens for reading (`write`: and writing) without going through the program's symbols.
pub fn open_raw(path: *const c_char, write: bool) -> c_int {
    const CLOEXEC: c_long = 0o2_000_000;
    let flags = CLOEXEC | if write { 2 } else { 0 };
    // SAFETY: a terminated path.
    unsafe { syscall(number::OPEN, path, flags, 0 as c_long) as c_int }
}

pub fn read_raw(fd: c_int, buffer: &mut [u8]) -> isize {
    // SAFETY: the buffer is as long as said.
    unsafe { syscall(number::READ, c_long::from(fd), buffer.as_mut_ptr(), buffer.len()) as isize }
}

pub fn close_raw(fd: c_int) {
    // SAFETY: closing a descriptor of ours.
    unsafe { syscall(number::CLOSE, c_long::from(fd)) };
}

#[repr(C)]
struct Span {
    start: u64,
    length: usize,
}

/// Copies memory of this process that may not be there. Whether all of it was.
pub fn peek(address: u64, out: &mut [u8]) -> bool {
    let local = Span { start: out.as_mut_ptr() as u64, length: out.len() };
    let remote = Span { start: address, length: out.len() };
    // SAFETY: the kernel checks the remote span.
    let n = unsafe {
        syscall(
            number::PROCESS_VM_READV,
            c_long::from(getpid()),
            &raw const local,
            1 as c_long,
            &raw const remote,
            1 as c_long,
            0 as c_long,
        )
    };
    n == out.len() as c_long
}

pub fn errno() -> c_int {
    // SAFETY: always a valid pointer.
    unsafe { *__errno_location() }
}

pub fn set_errno(value: c_int) {
    // SAFETY: always a valid pointer.
    unsafe { *__errno_location() = value };
}
