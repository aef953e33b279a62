//! What a run may not do: use up the machine, reach the network, write outside its folder, signal
//! others.
//!
//! Each measure is taken where the kernel has it; a kernel without one runs the program with the rest.
//! All of them are inherited by whatever the program starts.

use super::config;
use super::libc::{getpid, number, open_raw, syscall};
use crate::abi::switch;
use core::ffi::{c_int, c_long};

pub fn enter() {
    let c = config::get();
    limit(0, u64::from(c.cpu_seconds), u64::from(c.cpu_seconds) + 1);
    limit(1, u64::from(c.file_mib) << 20, u64::from(c.file_mib) << 20);
    limit(9, u64::from(c.memory_mib) << 20, u64::from(c.memory_mib) << 20);
    limit(4, 0, 0);
    limit(6, 4096, 4096);
    const PDEATHSIG: c_long = 1;
    const NO_NEW_PRIVS: c_long = 38;
    const KILL: c_long = 9;
    // SAFETY: changes of this process only.
    unsafe {
        syscall(number::PRCTL, PDEATHSIG, KILL, 0 as c_long, 0 as c_long, 0 as c_long);
        syscall(number::PRCTL, NO_NEW_PRIVS, 1 as c_long, 0 as c_long, 0 as c_long, 0 as c_long);
    }
    if config::is_on(switch::ISOLATE) {
        keep_writes_inside();
        filter_calls();
    }
}

#[repr(C)]
struct Limit {
    soft: u64,
    hard: u64,
}

fn limit(what: c_long, soft: u64, hard: u64) {
    let value = Limit { soft, hard };
    // SAFETY: a limit of this process.
    unsafe { syscall(number::SETRLIMIT, what, &raw const value) };
}

/// Writing, creating and removing files is for the scratch folder and the harmless devices only.
fn keep_writes_inside() {
    // WRITE_FILE, REMOVE_DIR, REMOVE_FILE, MAKE_CHAR .. MAKE_SYM.
    const WRITES: u64 = 1 << 1 | 0x1ff0;
    let handled = WRITES;
    // SAFETY: the kernel copies the attributes; an unknown call fails and changes nothing.
    let ruleset = unsafe {
        syscall(number::LANDLOCK_CREATE, &raw const handled, size_of::<u64>(), 0 as c_long)
    };
    if ruleset < 0 {
        return;
    }
    allow(ruleset, config::get().scratch.as_ptr(), WRITES);
    for device in [c"/dev/null", c"/dev/tty", c"/dev/full", c"/dev/zero"] {
        allow(ruleset, device.as_ptr().cast(), 1 << 1);
    }
    // SAFETY: a restriction of this process.
    unsafe {
        syscall(number::LANDLOCK_RESTRICT, ruleset, 0 as c_long);
        syscall(number::CLOSE, ruleset);
    }
}

#[repr(C, packed)]
struct Beneath {
    access: u64,
    folder: c_int,
}

fn allow(ruleset: c_long, path: *const u8, access: u64) {
    const PATH_BENEATH: c_long = 1;
    let folder = open_raw(path.cast(), false);
    if folder < 0 {
        return;
    }
    let rule = Beneath { access, folder };
    // SAFETY: the kernel copies the rule.
    unsafe { syscall(number::LANDLOCK_ADD, ruleset, PATH_BENEATH, &raw const rule, 0 as c_long) };
    super::libc::close_raw(folder);
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Filter {
    code: u16,
    yes: u8,
    no: u8,
    value: u32,
}

#[repr(C)]
struct Program {
    length: u16,
    filter: *const Filter,
}

const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;
const ALLOW: u32 = 0x7fff_0000;
const DENY: u32 = 0x0005_0000 | 13;

/// No sockets but local ones, no signals but to itself.
fn filter_calls() {
    const SOCKET: u32 = 41;
    const KILL: u32 = 62;
    const X86_64: u32 = 0xc000_003e;
    const LOCAL: u32 = 1;
    let step = |code, yes, no, value| Filter { code, yes, no, value };
    // SAFETY: names this process.
    let me = unsafe { getpid() } as u32;
    let filter = [
        step(LOAD, 0, 0, 4),
        step(JUMP_EQUAL, 0, 8, X86_64),
        step(LOAD, 0, 0, 0),
        step(JUMP_EQUAL, 0, 2, SOCKET),
        step(LOAD, 0, 0, 16),
        step(JUMP_EQUAL, 4, 3, LOCAL),
        step(JUMP_EQUAL, 0, 3, KILL),
        step(LOAD, 0, 0, 16),
        step(JUMP_EQUAL, 1, 0, me),
        step(RETURN, 0, 0, DENY),
        step(RETURN, 0, 0, ALLOW),
    ];
    let program = Program { length: filter.len() as u16, filter: filter.as_ptr() };
    const SET_MODE_FILTER: c_long = 1;
    // SAFETY: the kernel copies the program.
    unsafe { syscall(number::SECCOMP, SET_MODE_FILTER, 0 as c_long, &raw const program) };
}
