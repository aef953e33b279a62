//! The beginning and the end of a run, `main`'s arguments, and calls that are made to fail.

use super::cell::Global;
use super::hooks::{give, lp_concretised, set_main_thread};
use super::libc::{self, map, map_file, open_raw};
use super::stdio::symbolic_text;
use super::{config, files, nodes, path, scan, shadow, trace};
use crate::abi::{
    FOLDER_VARIABLE, LENGTH, MAGIC, MAX_ARGS, SOURCE_ARGC, SOURCE_ARGS, SOURCE_NAME, SOURCE_SHIFT,
    TRACE_SIZE, VERSION, event, flag, header, mark, op, outcome, switch,
};
use crate::sandbox::{self, Walls};
use core::ffi::{c_char, c_int};

/// The process that the trace belongs to; children that it forks are not told about.
static PROCESS: Global<c_int> = Global::new(0);

#[used]
#[unsafe(link_section = ".init_array.00001")]
static START: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = start;

#[used]
#[unsafe(link_section = ".fini_array.00001")]
static FINISH: extern "C" fn() = finish;

/// Path of a file of the run's folder.
struct Path {
    bytes: [u8; 512],
}

impl Path {
    fn of(folder: *const c_char, name: &[u8]) -> Self {
        let mut bytes = [0; 512];
        let mut at = 0;
        // SAFETY: a terminated string.
        while at < 480 && unsafe { *folder.add(at) } != 0 {
            bytes[at] = unsafe { *folder.add(at) } as u8;
            at += 1;
        }
        bytes[at..at + name.len()].copy_from_slice(name);
        Self { bytes }
    }
}

/// The value of the variable that names the folder; null when there is none.
fn folder(environment: *const *const c_char) -> *const c_char {
    let name = FOLDER_VARIABLE.as_bytes();
    let mut at = environment;
    // SAFETY: a list of terminated strings that ends in null.
    unsafe {
        while !(*at).is_null() {
            let entry = *at;
            let same = name.iter().enumerate().all(|(i, b)| *entry.add(i) as u8 == *b);
            if same && *entry.add(name.len()) as u8 == b'=' {
                return entry.add(name.len() + 1);
            }
            at = at.add(1);
        }
    }
    core::ptr::null()
}

extern "C" fn start(_: c_int, _: *const *const c_char, environment: *const *const c_char) {
    let folder = folder(environment);
    if folder.is_null() {
        return;
    }
    let config = open_raw(Path::of(folder, b"/config").bytes.as_ptr().cast(), false);
    let trace = open_raw(Path::of(folder, b"/trace").bytes.as_ptr().cast(), true);
    if config < 0 || trace < 0 {
        return;
    }
    let base = map_file(trace, TRACE_SIZE);
    if !base.is_null() && config::read(config) {
        trace::set_base(base);
        set_main_thread();
        // SAFETY: names this process.
        *PROCESS.get() = unsafe { libc::getpid() };
        *trace::word(header::MAGIC) = MAGIC;
        *trace::word(header::VERSION) = VERSION;
        trace::raise(flag::STARTED);
        // SAFETY: the function lives as long as the program.
        unsafe { libc::__register_atfork(None, None, Some(trace::detach), core::ptr::null_mut()) };
        files::start();
    }
    libc::close_raw(config);
    libc::close_raw(trace);
    enter_sandbox();
}

fn enter_sandbox() {
    let c = config::get();
    let walls = Walls {
        cpu_seconds: c.cpu_seconds,
        file_mib: c.file_mib,
        memory_mib: c.memory_mib,
        folder: c.scratch.as_ptr().cast(),
        network: config::is_on(switch::NETWORK),
    };
    sandbox::limit(&walls);
    if config::is_on(switch::ISOLATE) {
        sandbox::isolate(&walls);
    }
}

pub fn is_ours() -> bool {
    // SAFETY: names this process.
    trace::is_open() && *PROCESS.get() == unsafe { libc::getpid() }
}

fn note_end(how: u32) {
    // SAFETY: a plain word.
    if unsafe { lp_concretised } != 0 {
        trace::raise(flag::CONCRETISED);
    }
    *trace::word(header::PROCESSOR_TIME) = libc::processor_time() as u32;
    *trace::word(header::OUTCOME) = how;
}

extern "C" fn finish() {
    if !is_ours() || *trace::word(header::OUTCOME) != outcome::ABNORMAL {
        return;
    }
    if config::is_on(switch::TRACK) {
        // The program is over: what only the stack holds is held by nobody.
        scan::with_references(None, |number, referenced| {
            let o = trace::object(number);
            o.marks |= mark::SCANNED_AT_EXIT;
            if referenced {
                o.marks |= mark::REFERENCED_AT_EXIT;
            }
        });
    }
    note_end(outcome::EXIT);
}

#[unsafe(no_mangle)]
extern "C" fn lp_w__exit(status: c_int) -> ! {
    if is_ours() {
        note_end(outcome::UNDERSCORE_EXIT);
    }
    // SAFETY: the real function.
    unsafe { libc::_exit(status) }
}

#[unsafe(no_mangle)]
extern "C" fn lp_w__Exit(status: c_int) -> ! {
    lp_w__exit(status)
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_quick_exit(status: c_int) -> ! {
    if is_ours() {
        note_end(outcome::UNDERSCORE_EXIT);
    }
    // SAFETY: the real function.
    unsafe { libc::quick_exit(status) }
}

/// Programs stay in the process group that the tool ends.
#[unsafe(no_mangle)]
extern "C" fn lp_w_setsid() -> c_int {
    // SAFETY: names this process.
    unsafe { libc::getpid() }
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_setpgid(_process: c_int, _group: c_int) -> c_int {
    0
}

#[unsafe(no_mangle)]
extern "C" fn lp_w_daemon(_stay: c_int, _keep: c_int) -> c_int {
    0
}

#[unsafe(no_mangle)]
extern "C" fn lp_rt_argc(_given: u32) -> u32 {
    trace::raise(flag::MAIN);
    let c = config::get();
    let argc = c.argc.max(1);
    if config::is_symbolic() && c.has_arguments {
        let id = SOURCE_ARGC << SOURCE_SHIFT | LENGTH;
        give(nodes::variable(id, 32, u64::from(argc)));
    }
    argc
}

/// The argument vector of the configuration, the program's name included.
#[unsafe(no_mangle)]
unsafe extern "C" fn lp_rt_argv(given: *const *mut c_char) -> *const *mut c_char {
    let c = config::get();
    let vector: *mut *mut c_char = map((MAX_ARGS as usize + 2) * 8).cast();
    if vector.is_null() || !trace::is_open() {
        return given;
    }
    // SAFETY: within the mapping; `main` always gets a first entry, if only null.
    unsafe {
        *vector = match c.name.get(0) {
            Some(name) => symbolic_text(name, SOURCE_NAME),
            None => *given,
        };
        let count = c.argc.max(1) - 1;
        for i in 0..count.min(c.arguments.count()).min(MAX_ARGS) {
            if let Some(text) = c.arguments.get(i) {
                *vector.add(i as usize + 1) = symbolic_text(text, SOURCE_ARGS + i);
            }
        }
    }
    if config::is_symbolic() && c.has_arguments {
        mark_end(vector as u64, c.argc.max(1));
    }
    vector
}

/// The null pointer at the end of the vector: something else would be there if there were more.
fn mark_end(vector: u64, argc: u32) {
    let id = SOURCE_ARGC << SOURCE_SHIFT | LENGTH;
    let count = nodes::variable(id, 32, u64::from(argc));
    let more = nodes::apply(op::ULT, nodes::constant(32, u64::from(argc)), count);
    let end = nodes::choose(more, nodes::constant(64, 1), nodes::constant(64, 0));
    shadow::store(vector + u64::from(argc) * 8, 8, 0, end);
}

static CALLS: Global<[u32; 128]> = Global::new([0; 128]);
/// Calls per function that the trace tells of.
const MAX_TOLD: u32 = 200;

/// Asked by the failure injector before each call that may fail: shall it?
#[unsafe(no_mangle)]
extern "C" fn lp_fault(function: c_int) -> c_int {
    if !is_ours() || *trace::word(header::FLAGS) & flag::MAIN == 0 {
        return 0;
    }
    let Some(count) = CALLS.get().get_mut(function as usize) else { return 0 };
    *count += 1;
    let call = *count;
    let chosen = |pair: &[u32]| pair[0] == function as u32 && pair[1] == call;
    let fails = config::get().faults.chunks_exact(2).any(chosen);
    if config::is_on(switch::FAULTS) && (call <= MAX_TOLD || fails) {
        trace::event(event::FAULT, function as u16, path::site(), call, u32::from(fails));
    }
    c_int::from(fails)
}

/// Told by the failure injector when the call that it just asked about failed for want of permission.
#[unsafe(no_mangle)]
extern "C" fn lp_refused(function: c_int) {
    let call = CALLS.get().get(function as usize).copied().unwrap_or(0);
    if is_ours() && call > 0 && config::is_on(switch::ISOLATE) {
        trace::event(event::FAULT, function as u16, path::site(), call, 2);
    }
}

#[cfg(all(leakproof_standalone, not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: ends the process; the trace then says that the run was cut off.
    unsafe { libc::_exit(134) }
}
