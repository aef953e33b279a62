//! What a validated program may not do: use up the machine, reach the network, change files outside its
//! folder, read the user's terminal, leave its process group, signal others.
//!
//! The runtime enters it when a run starts, and `leakproof-instrument --confined` before it becomes a witness's
//! program. Each measure is taken where the kernel has it; a kernel without one runs the program with the
//! rest. All of them are inherited by whatever the program starts.

use crate::network;
use crate::system::{number, syscall};
use core::ffi::{c_char, c_int, c_long};

unsafe extern "C" {
    fn getpid() -> c_int;
}

/// The limits of one program.
pub struct Walls {
    pub cpu_seconds: u32,
    pub file_mib: u32,
    /// Address space; zero: no limit, as sanitizers need.
    pub memory_mib: u32,
    /// The only folder where files may change: terminated, and alive while `isolate` runs.
    pub folder: *const c_char,
    /// Whether the program uses sockets, and needs a network of its own for them: that costs time.
    pub network: bool,
}

/// Limits this process and its children.
pub fn limit(walls: &Walls) {
    const CPU: c_long = 0;
    const FILE_SIZE: c_long = 1;
    const CORE: c_long = 4;
    const PROCESSES: c_long = 6;
    const ADDRESS_SPACE: c_long = 9;
    let mib = |n: u32| u64::from(n) << 20;
    set_limit(CPU, u64::from(walls.cpu_seconds), u64::from(walls.cpu_seconds) + 1);
    set_limit(FILE_SIZE, mib(walls.file_mib), mib(walls.file_mib));
    if walls.memory_mib > 0 {
        set_limit(ADDRESS_SPACE, mib(walls.memory_mib), mib(walls.memory_mib));
    }
    set_limit(CORE, 0, 0);
    set_limit(PROCESSES, 4096, 4096);
    const PDEATHSIG: c_long = 1;
    const NO_NEW_PRIVS: c_long = 38;
    const KILL: c_long = 9;
    // SAFETY: changes of this process only.
    unsafe {
        syscall(number::PRCTL, PDEATHSIG, KILL, 0 as c_long, 0 as c_long, 0 as c_long);
        syscall(number::PRCTL, NO_NEW_PRIVS, 1 as c_long, 0 as c_long, 0 as c_long, 0 as c_long);
    }
}

/// Closes this process and its children in, for good.
pub fn isolate(walls: &Walls) {
    leave_terminal();
    let has_network = walls.network && network::enter();
    keep_writes_inside(walls.folder);
    filter_calls(has_network);
}

#[repr(C)]
struct Limit {
    soft: u64,
    hard: u64,
}

fn set_limit(what: c_long, soft: u64, hard: u64) {
    let value = Limit { soft, hard };
    // SAFETY: a limit of this process.
    unsafe { syscall(number::SETRLIMIT, what, &raw const value) };
}

fn open(path: *const c_char) -> c_long {
    const CLOEXEC: c_long = 0o2_000_000;
    // SAFETY: opens for reading; the kernel checks the path.
    unsafe { syscall(number::OPEN, path, CLOEXEC, 0 as c_long) }
}

fn close(file: c_long) {
    // SAFETY: a descriptor of ours.
    unsafe { syscall(number::CLOSE, file) };
}

/// Without a terminal of its own a program that asks for one is told so, instead of being stopped.
fn leave_terminal() {
    const TIOCNOTTY: c_long = 0x5422;
    let terminal = open(c"/dev/tty".as_ptr());
    if terminal >= 0 {
        // SAFETY: changes this process only.
        unsafe { syscall(number::IOCTL, terminal, TIOCNOTTY, 0 as c_long) };
        close(terminal);
    }
}

/// Landlock's rights: WRITE_FILE, REMOVE_DIR, REMOVE_FILE, MAKE_CHAR .. MAKE_SYM.
const WRITE_FILE: u64 = 1 << 1;
const WRITES: u64 = WRITE_FILE | 0x1ff0;
/// Rights that later kernels know: moving between folders, and `truncate`.
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;

/// Writing, creating and removing files is for the scratch folder and the harmless devices only.
fn keep_writes_inside(folder: *const c_char) {
    const ASK_VERSION: c_long = 1;
    // SAFETY: asks for a number.
    let version =
        unsafe { syscall(number::LANDLOCK_CREATE, 0 as c_long, 0 as c_long, ASK_VERSION) };
    let handled = match version {
        ..=0 => return,
        1 => WRITES,
        2 => WRITES | REFER,
        _ => WRITES | REFER | TRUNCATE,
    };
    // SAFETY: the kernel copies the attributes.
    let ruleset = unsafe {
        syscall(number::LANDLOCK_CREATE, &raw const handled, size_of::<u64>(), 0 as c_long)
    };
    if ruleset < 0 {
        return;
    }
    allow(ruleset, folder, handled);
    for device in [c"/dev/null", c"/dev/full", c"/dev/zero"] {
        allow(ruleset, device.as_ptr(), WRITE_FILE);
    }
    // SAFETY: a restriction of this process.
    unsafe { syscall(number::LANDLOCK_RESTRICT, ruleset, 0 as c_long) };
    close(ruleset);
}

#[repr(C, packed)]
struct Beneath {
    access: u64,
    folder: c_int,
}

fn allow(ruleset: c_long, path: *const c_char, access: u64) {
    const PATH_BENEATH: c_long = 1;
    let folder = open(path);
    if folder < 0 {
        return;
    }
    let rule = Beneath { access, folder: folder as c_int };
    // SAFETY: the kernel copies the rule.
    unsafe { syscall(number::LANDLOCK_ADD, ruleset, PATH_BENEATH, &raw const rule, 0 as c_long) };
    close(folder);
}

/// Calls that do nothing and say that they did: rights, owners and times of files, which Landlock does not
/// watch, new sessions and process groups, which would outlive the run, and locks on memory, which would make every page of our
/// tables a real one.
const PRETENDED: &[u32] = &[
    90, 91, 92, 93, 94, 132, 235, 260, 261, 268, 280,
    452, // chmod, chown, utime and relatives
    188, 189, 190, 197, 198, 199, // extended attributes
    109, 112, // setpgid, setsid
    149, 150, 151, 152, 325, // mlock and relatives
];

/// Calls that fail: those for administrators, and ways around the other measures.
const REFUSED: &[u32] = &[
    155, 161, 165, 166, 428, 429, 430, 442, // roots and mounts
    159, 164, 227, 305, // clocks
    163, 167, 168, 169, 170, 171, 172, 173, 175, 176, 179, 246, 313, 320, 321, // the machine
    129, 200, 297, 424, // signals by other names
    248, 249, 250, // keys
    272, 308, 425, // namespaces, io_uring
];

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
const JUMP_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;
const ALLOW: u32 = 0x7fff_0000;
const PRETEND: u32 = 0x0005_0000;
const REFUSE: u32 = PRETEND | 1;
const DENY: u32 = PRETEND | 13;

/// Places in what the kernel tells of a call.
const CALL: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;

/// What `filter_calls` pushes at most: two steps for every number, twice `only_with`, and the frame.
const MOST_STEPS: usize = 2 * (PRETENDED.len() + REFUSED.len()) + 2 * 6 + 7;

/// A list of steps, built front to back.
struct Steps {
    steps: [Filter; MOST_STEPS],
    count: usize,
}

impl Steps {
    fn push(&mut self, code: u16, yes: u8, no: u8, value: u32) {
        self.steps[self.count] = Filter { code, yes, no, value };
        self.count += 1;
    }

    /// What becomes of the calls with these numbers; the number must be loaded.
    fn all(&mut self, numbers: &[u32], answer: u32) {
        for number in numbers {
            self.push(JUMP_EQUAL, 0, 1, *number);
            self.push(RETURN, 0, 0, answer);
        }
    }

    /// The call is allowed if its first argument is one of two values, else denied.
    fn only_with(&mut self, number: u32, values: [u32; 2]) {
        self.push(JUMP_EQUAL, 0, 5, number);
        self.push(LOAD, 0, 0, FIRST_ARGUMENT);
        self.push(JUMP_EQUAL, 1, 0, values[0]);
        self.push(JUMP_EQUAL, 0, 1, values[1]);
        self.push(RETURN, 0, 0, ALLOW);
        self.push(RETURN, 0, 0, DENY);
    }
}

/// No sockets but local ones unless there is a network with nobody else in it, no signals but to
/// itself and its group, and the lists above.
fn filter_calls(has_network: bool) {
    const SOCKET: u32 = 41;
    const LOCAL: u32 = 1;
    const KILL: u32 = 62;
    const X86_64: u32 = 0xc000_003e;
    const FIRST_OF_X32: u32 = 0x4000_0000;
    // SAFETY: names this process.
    let me = unsafe { getpid() } as u32;
    let nothing = Filter { code: 0, yes: 0, no: 0, value: 0 };
    let mut list = Steps { steps: [nothing; MOST_STEPS], count: 0 };
    list.push(LOAD, 0, 0, ARCHITECTURE);
    // Other calling conventions have other numbers.
    list.push(JUMP_EQUAL, 1, 0, X86_64);
    list.push(RETURN, 0, 0, DENY);
    list.push(LOAD, 0, 0, CALL);
    list.push(JUMP_AT_LEAST, 0, 1, FIRST_OF_X32);
    list.push(RETURN, 0, 0, DENY);
    list.all(PRETENDED, PRETEND);
    list.all(REFUSED, REFUSE);
    if !has_network {
        list.only_with(SOCKET, [LOCAL, LOCAL]);
    }
    list.only_with(KILL, [me, 0]);
    list.push(RETURN, 0, 0, ALLOW);
    let program = Program { length: list.count as u16, filter: list.steps.as_ptr() };
    const SET_MODE_FILTER: c_long = 1;
    // SAFETY: the kernel copies the program.
    unsafe { syscall(number::SECCOMP, SET_MODE_FILTER, 0 as c_long, &raw const program) };
}
