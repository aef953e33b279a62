//! Functions that open, read and close files.

use super::files::{self, Input};
use super::hooks::{give, take_arguments};
use super::libc::{self, File};
use super::memory::Byte;
use super::string::decide_is;
use super::{config, nodes, shadow};
use crate::abi::{SOURCE_ENV, SOURCE_SHIFT, op};
use core::ffi::{c_char, c_int, c_void};

const EOF: c_int = -1;

/// The variable of the byte that a stream would give next, whether there is one or not.
pub fn variable_next(stream: *mut File) -> Option<u32> {
    let position = files::stream_position(stream)?;
    files::of_stream(stream).map(|input| input.variable(position))
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_open(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: the real function; a mode that was not passed is not looked at.
    let fd = unsafe { libc::open(path, flags, mode) };
    files::opened(fd, path);
    fd
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_open64(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    lp_w_open(path, flags, mode)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: the real function; a mode that was not passed is not looked at.
    let fd = unsafe { libc::openat(folder, path, flags, mode) };
    files::opened(fd, path);
    fd
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_openat64(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mode: c_int,
) -> c_int {
    lp_w_openat(folder, path, flags, mode)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_close(fd: c_int) -> c_int {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: the real function.
    let result = unsafe { libc::close(fd) };
    if result == 0 {
        files::closed(fd);
    }
    result
}

fn stream_opened(stream: *mut File, path: *const c_char) -> *mut File {
    if !stream.is_null() {
        // SAFETY: just opened.
        files::opened(unsafe { libc::fileno(stream) }, path);
    }
    stream
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_fopen(path: *const c_char, mode: *const c_char) -> *mut File {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: the real function.
    stream_opened(unsafe { libc::fopen(path, mode) }, path)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_fopen64(path: *const c_char, mode: *const c_char) -> *mut File {
    lp_w_fopen(path, mode)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_fdopen(fd: c_int, mode: *const c_char) -> *mut File {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: the real function.
    unsafe { libc::fdopen(fd, mode) }
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_freopen(path: *const c_char, mode: *const c_char, old: *mut File) -> *mut File {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: the real function.
    let stream = unsafe { libc::freopen(path, mode, old) };
    if path.is_null() { stream } else { stream_opened(stream, path) }
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_fclose(stream: *mut File) -> c_int {
    take_arguments::<0>(core::ptr::null());
    // SAFETY: a stream that the program handed over.
    let fd = unsafe { libc::fileno(stream) };
    files::closed(fd);
    // SAFETY: the real function.
    unsafe { libc::fclose(stream) }
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_read(fd: c_int, buffer: *mut c_void, size: usize) -> isize {
    take_arguments::<0>(core::ptr::null());
    let input = files::of_descriptor(fd).zip(files::position(fd));
    // SAFETY: the real function.
    let count = unsafe { libc::read(fd, buffer, size) };
    if let (Some((input, position)), Ok(count)) = (input, usize::try_from(count)) {
        input.arrived(position, buffer as u64, count, size);
    }
    count
}

/// The input behind a stream and where it stands.
fn place(stream: *mut File) -> Option<(Input, u64)> {
    files::of_stream(stream).zip(files::stream_position(stream))
}

/// Reads one byte; its expression is 0 when it is not symbolic or at the end.
pub fn get_byte(stream: *mut File) -> (c_int, u32) {
    let input = place(stream);
    // SAFETY: the real function.
    let c = unsafe { libc::fgetc(stream) };
    match input {
        Some((input, position)) if c == EOF => {
            input.decide_has(position, false);
            (c, 0)
        }
        Some((input, position)) => {
            input.decide_has(position, true);
            let s = nodes::fitting(input.byte(position), c as u64, 8);
            (c, s)
        }
        None => (c, 0),
    }
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_fgetc(stream: *mut File) -> c_int {
    take_arguments::<0>(core::ptr::null());
    let (c, s) = get_byte(stream);
    if s != 0 {
        give(nodes::make(op::ZEXT, 32, s, 0, 0, c as u64));
    }
    c
}

macro_rules! getters {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(stream: *mut File) -> c_int {
            lp_w_fgetc(stream)
        }
    )*};
}

getters! { lp_w_getc lp_w_getc_unlocked lp_w_fgetc_unlocked }

#[unsafe(no_mangle)]
extern "C" fn lp_w_getchar() -> c_int {
    // SAFETY: the C library's own stream.
    lp_w_fgetc(unsafe { libc::stdin })
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_getchar_unlocked() -> c_int {
    lp_w_getchar()
}

/// A line of `count` bytes arrived from `position`; it was allowed `limit` bytes.
fn line_arrived(input: Input, position: u64, line: u64, count: usize, limit: usize, end: u8) {
    if count == 0 {
        input.decide_has(position, false);
        return;
    }
    let last = Byte { value: byte_at(line + count as u64 - 1), shadow: 0 };
    let complete = last.value == end || count == limit;
    input.arrived(position, line, count, if complete { count } else { count + 1 });
    shadow::store_byte(line + count as u64, 0, 0);
    for i in 0..count as u64 {
        decide_is(Byte::at(line + i), end);
    }
}

fn byte_at(address: u64) -> u8 {
    // SAFETY: within a line that was just read.
    unsafe { *(address as *const u8) }
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_fgets(buffer: *mut c_char, size: c_int, stream: *mut File) -> *mut c_char {
    take_arguments::<0>(core::ptr::null());
    let input = place(stream);
    // SAFETY: the real function.
    let line = unsafe { libc::fgets(buffer, size, stream) };
    if let Some((input, position)) = input {
        let after = files::stream_position(stream).unwrap_or(position);
        let count = if line.is_null() { 0 } else { after.saturating_sub(position) as usize };
        line_arrived(input, position, buffer as u64, count, (size.max(1) - 1) as usize, b'\n');
    }
    line
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_fgets_unlocked(b: *mut c_char, size: c_int, stream: *mut File) -> *mut c_char {
    lp_w_fgets(b, size, stream)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_fread(b: *mut c_void, size: usize, count: usize, stream: *mut File) -> usize {
    take_arguments::<0>(core::ptr::null());
    let input = place(stream);
    // SAFETY: the real function.
    let items = unsafe { libc::fread(b, size, count, stream) };
    if let Some((input, position)) = input {
        let after = files::stream_position(stream).unwrap_or(position);
        let arrived = after.saturating_sub(position) as usize;
        if items < count && (2..=files::LARGEST_RECORD).contains(&size) {
            // Another whole item, even if not all of them.
            input.decide_has(position + ((items + 1) * size) as u64 - 1, false);
        }
        input.arrived(position, b as u64, arrived, size.saturating_mul(count));
    }
    items
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_fread_unlocked(
    b: *mut c_void,
    size: usize,
    count: usize,
    stream: *mut File,
) -> usize {
    lp_w_fread(b, size, count, stream)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lp_w_getdelim(
    line: *mut *mut c_char,
    n: *mut usize,
    end: c_int,
    stream: *mut File,
) -> isize {
    take_arguments::<0>(core::ptr::null());
    let input = place(stream);
    // SAFETY: the real function.
    let count = unsafe { libc::getdelim(line, n, end, stream) };
    // SAFETY: the caller's variable.
    delimited(input, unsafe { *line }, count, end as u8);
    count
}

fn delimited(input: Option<(Input, u64)>, line: *mut c_char, count: isize, end: u8) {
    if let Some((input, position)) = input {
        let count = usize::try_from(count).unwrap_or(0);
        line_arrived(input, position, line as u64, count, usize::MAX, end);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lp_w___getdelim(
    line: *mut *mut c_char,
    n: *mut usize,
    end: c_int,
    stream: *mut File,
) -> isize {
    // SAFETY: the same contract.
    unsafe { lp_w_getdelim(line, n, end, stream) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lp_w_getline(
    line: *mut *mut c_char,
    n: *mut usize,
    stream: *mut File,
) -> isize {
    take_arguments::<0>(core::ptr::null());
    let input = place(stream);
    // SAFETY: the real function.
    let count = unsafe { libc::getline(line, n, stream) };
    // SAFETY: the caller's variable.
    delimited(input, unsafe { *line }, count, b'\n');
    count
}

/// A text of the configuration in memory of its own, with symbolic bytes and room to grow.
pub fn symbolic_text(text: config::Text, source: u32) -> *mut c_char {
    let capacity = text.capacity.max(text.bytes.len() as u32) as usize;
    let buffer = libc::map(capacity + 1);
    if buffer.is_null() {
        return buffer.cast();
    }
    for i in 0..capacity {
        let value = text.bytes.get(i).copied().unwrap_or(0);
        // SAFETY: within the mapping, whose last byte stays zero.
        unsafe { *buffer.add(i) = value };
        if config::is_symbolic() {
            let id = source << SOURCE_SHIFT | i as u32;
            let s = nodes::variable(id, 8, u64::from(value));
            shadow::store_byte(buffer as u64 + i as u64, value, s);
        }
    }
    buffer.cast()
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_getenv(name: *const c_char) -> *mut c_char {
    static MADE: super::cell::Global<[*mut c_char; 32]> =
        super::cell::Global::new([core::ptr::null_mut(); 32]);
    take_arguments::<0>(core::ptr::null());
    let (length, _) = super::memory::measure(name, 4096);
    // SAFETY: a terminated string of that length.
    let wanted = unsafe { core::slice::from_raw_parts(name.cast::<u8>(), length) };
    let texts = &config::get().environment;
    for i in 0..texts.count().min(32) {
        let Some(text) = texts.get(i).filter(|t| t.name == wanted) else { continue };
        let slot = &mut MADE.get()[i as usize];
        if slot.is_null() {
            *slot = symbolic_text(text, SOURCE_ENV + i);
        }
        return *slot;
    }
    // SAFETY: the real function.
    unsafe { libc::getenv(name) }
}
