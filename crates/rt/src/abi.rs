//! The formats that the runtime shares with the tool: expression nodes, events, tracked objects, the
//! layout of the trace file, and the order of the words in the configuration.
//!
//! Both sides are compiled from this file. Everything is little-endian; ids of nodes are indices into
//! the node table, and 0 stands for "not symbolic".

pub const MAGIC: u32 = 0x4c50_5254;
pub const VERSION: u32 = 5;

/// Names the folder with the `config` and `trace` files of a run.
pub const FOLDER_VARIABLE: &str = "LEAKPROOF_RT";

/// Bits of an id that number things within one unit; the bits above are the unit.
pub const LOCAL_BITS: u32 = 18;
pub const MAX_LOCAL: u32 = (1 << LOCAL_BITS) - 1;
pub const MAX_UNIT: u32 = (1 << (32 - LOCAL_BITS)) - 2;

/// What a node computes. Comparisons have one bit; `GT` and `GE` are made by swapping.
pub mod op {
    pub const CONST: u8 = 1;
    pub const VAR: u8 = 2;
    pub const ADD: u8 = 3;
    pub const SUB: u8 = 4;
    pub const MUL: u8 = 5;
    pub const UDIV: u8 = 6;
    pub const SDIV: u8 = 7;
    pub const UREM: u8 = 8;
    pub const SREM: u8 = 9;
    pub const SHL: u8 = 10;
    pub const LSHR: u8 = 11;
    pub const ASHR: u8 = 12;
    pub const AND: u8 = 13;
    pub const OR: u8 = 14;
    pub const XOR: u8 = 15;
    pub const EQ: u8 = 16;
    pub const NE: u8 = 17;
    pub const ULT: u8 = 18;
    pub const ULE: u8 = 19;
    pub const SLT: u8 = 20;
    pub const SLE: u8 = 21;
    pub const ZEXT: u8 = 22;
    pub const SEXT: u8 = 23;
    /// `bits` bits of `a` from bit `c` on.
    pub const EXTRACT: u8 = 24;
    /// `a` above `b`.
    pub const CONCAT: u8 = 25;
    /// `a` ? `b` : `c`.
    pub const ITE: u8 = 26;
}

/// One expression with the value it has in this run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Node {
    pub op: u8,
    pub bits: u8,
    pub pad: u16,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    pub value: u64,
}

pub const NODE_SIZE: usize = 24;

/// What an event says. `id` is a branch or call of the program map.
pub mod event {
    /// A two-way branch: `taken`, condition `node` (0: not symbolic).
    pub const BRANCH: u8 = 1;
    /// A switch: `taken` is the number of the successor, `node` the value.
    pub const SWITCH: u8 = 2;
    /// A decision inside a library function called at `id`: `taken`, condition `node`.
    pub const LIBRARY: u8 = 3;
    /// What must stay true: condition `node`. Not to be negated.
    pub const ASSERT: u8 = 4;
    /// Call number `node` of function `taken` (of `FAULTS`), at `id`; `aux` is 1 when it was made to fail,
    /// 2 when the sandbox had it fail.
    pub const FAULT: u8 = 5;
    /// The next element of the path was passed; `aux` is how many that makes.
    pub const PROGRESS: u8 = 6;
    /// The leak point was passed with the whole path behind.
    pub const LEAK_POINT: u8 = 7;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Event {
    pub kind: u8,
    pub pad: u8,
    pub taken: u16,
    pub id: u32,
    pub node: u32,
    pub aux: u32,
}

pub const EVENT_SIZE: usize = 16;

/// States of a tracked object (figure 6 of the paper).
pub mod state {
    pub const CREATED: u32 = 1;
    pub const LEAK_POINT: u32 = 2;
    pub const USED_AFTER: u32 = 3;
    pub const FREED_BEFORE: u32 = 4;
    pub const FREED_UNUSED: u32 = 5;
    pub const FREED_USED: u32 = 6;
}

/// Properties of a tracked object.
pub mod mark {
    /// Nothing referred to it when its leak point had been passed.
    pub const LOST_AT_POINT: u32 = 1;
    /// Something referred to it at the end of the run.
    pub const REFERENCED_AT_EXIT: u32 = 2;
    /// The scan at the end was done.
    pub const SCANNED_AT_EXIT: u32 = 4;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Object {
    pub address: u64,
    pub size: u64,
    pub state: u32,
    pub marks: u32,
    /// Number of events before it was made.
    pub event: u32,
    /// How often the outermost call of the allocation's trace had been made.
    pub turn: u32,
}

pub const OBJECT_SIZE: usize = 32;
pub const MAX_OBJECTS: u32 = 4096;

/// How a run ended, as far as the runtime saw.
pub mod outcome {
    /// It was killed, crashed, or replaced by another program.
    pub const ABNORMAL: u32 = 0;
    pub const EXIT: u32 = 1;
    /// `_exit` and the like: nothing is cleaned up, so what is left says nothing.
    pub const UNDERSCORE_EXIT: u32 = 2;
}

/// What limits the meaning of a trace.
pub mod flag {
    pub const NODES_FULL: u32 = 1;
    pub const EVENTS_FULL: u32 = 2;
    pub const OBJECTS_FULL: u32 = 4;
    /// Symbolic data went where expressions do not follow.
    pub const CONCRETISED: u32 = 8;
    pub const STARTED: u32 = 16;
    /// `main` was reached.
    pub const MAIN: u32 = 32;
    /// The leak point was passed more often than the allocation was called.
    pub const UNPAIRED: u32 = 64;
}

/// Words of the trace's header.
pub mod header {
    pub const MAGIC: usize = 0;
    pub const VERSION: usize = 1;
    pub const NODES: usize = 2;
    pub const EVENTS: usize = 3;
    pub const OBJECTS: usize = 4;
    pub const FLAGS: usize = 5;
    pub const OUTCOME: usize = 6;
    /// Elements of the path passed.
    pub const PROGRESS: usize = 7;
    /// How often the leak point was passed, with or without the path.
    pub const POINTS: usize = 8;
    /// How often it was passed after the whole path, when there had been an object.
    pub const COVERED: usize = 9;
    /// Calls of the reported allocation.
    pub const SITES: usize = 10;
    /// Microseconds of processor time until the end; 0 when the run was cut off.
    pub const PROCESSOR_TIME: usize = 11;
    /// Bytes of names that were looked for in vain.
    pub const MISSING: usize = 12;
    /// Bytes of texts that were compared.
    pub const COMPARED: usize = 13;
}

/// Names of files that were looked for in vain, each with a zero behind it.
pub const MISSING_OFFSET: usize = 0x100;
pub const MAX_MISSING: usize = OBJECTS_OFFSET - MISSING_OFFSET;

pub const OBJECTS_OFFSET: usize = 0x1000;
/// Texts that were compared: records of four words (events before it; the call; the variable of the first text's
/// first byte, or `FROM_NOWHERE`; the lengths, the second above bit 16) with both texts behind them, filled up to a whole word.
pub const COMPARED_OFFSET: usize = OBJECTS_OFFSET + MAX_OBJECTS as usize * OBJECT_SIZE;
pub const MAX_COMPARED: usize = EVENTS_OFFSET - COMPARED_OFFSET;
pub const COMPARED_HEAD: usize = 4;
/// Longer texts are not told.
pub const LONGEST_COMPARED: usize = 120;
/// A text that is not in the input as it is.
pub const FROM_NOWHERE: u32 = u32::MAX;

pub const EVENTS_OFFSET: usize = 0x3_0000;
pub const MAX_EVENTS: u32 = 0x10_0000;
pub const NODES_OFFSET: usize = 0x200_0000;
pub const MAX_NODES: u32 = 0x60_0000;
pub const TRACE_SIZE: usize = NODES_OFFSET + MAX_NODES as usize * NODE_SIZE;

/// Symbolic variables: bits above `SOURCE_SHIFT` are the source, those below the byte's place in it.
pub const SOURCE_SHIFT: u32 = 20;
/// The variable that stands for a source's length (32 bits; of the argument vector: `argc`).
pub const LENGTH: u32 = (1 << SOURCE_SHIFT) - 1;
pub const SOURCE_ARGC: u32 = 0;
pub const SOURCE_ARGS: u32 = 1;
pub const MAX_ARGS: u32 = 60;
pub const SOURCE_STDIN: u32 = 64;
/// Files follow standard input, which is number 0 of the configuration's files.
pub const SOURCE_FILES: u32 = 65;
pub const MAX_FILES: u32 = 32;
pub const SOURCE_ENV: u32 = 128;
pub const MAX_ENV: u32 = 32;
/// The name that the program is started by.
pub const SOURCE_NAME: u32 = 192;
/// That name when it is not chosen: the program lies beside the folder that it runs in.
pub const USUAL_NAME: &str = "../program";

/// Switches in the configuration.
pub mod switch {
    pub const SYMBOLIC: u32 = 1;
    pub const TRACK: u32 = 2;
    pub const FAULTS: u32 = 4;
    pub const ISOLATE: u32 = 8;
    /// The program uses sockets.
    pub const NETWORK: u32 = 16;
}

/// Functions whose calls may be made to fail, in the order of their numbers.
pub const FAULTS: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "strdup",
    "strndup",
    "asprintf",
    "vasprintf",
    "getline",
    "getdelim",
    "posix_memalign",
    "aligned_alloc",
    "fopen",
    "fdopen",
    "freopen",
    "tmpfile",
    "open",
    "openat",
    "creat",
    "opendir",
    "readdir",
    "close",
    "fclose",
    "fflush",
    "read",
    "write",
    "pread",
    "pwrite",
    "fread",
    "fwrite",
    "fgets",
    "fputs",
    "fseek",
    "lseek",
    "stat",
    "lstat",
    "fstat",
    "access",
    "mkdir",
    "unlink",
    "rename",
    "readlink",
    "realpath",
    "getcwd",
    "chdir",
    "pipe",
    "dup",
    "dup2",
    "fork",
    "mmap",
    "socket",
    "connect",
    "bind",
    "listen",
    "accept",
    "send",
    "recv",
    "getaddrinfo",
    "setsockopt",
    "select",
    "poll",
    "mkstemp",
    "popen",
    "pthread_create",
    "pthread_mutex_init",
    "setlocale",
    "getpwnam",
    "getpwuid",
    "waitpid",
    "ftruncate",
    "fsync",
    "nanosleep",
];

/// Functions that the runtime understands; calls go to the symbol with `MODEL_PREFIX` instead.
pub const MODELLED: &[&str] = &[
    "strlen",
    "strnlen",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "strcoll",
    "memcmp",
    "bcmp",
    "memchr",
    "memrchr",
    "rawmemchr",
    "strchr",
    "index",
    "strrchr",
    "rindex",
    "strchrnul",
    "strstr",
    "strspn",
    "strcspn",
    "strpbrk",
    "strcpy",
    "strncpy",
    "strcat",
    "strncat",
    "stpcpy",
    "memcpy",
    "memmove",
    "memset",
    "mempcpy",
    "strdup",
    "strndup",
    "strtok",
    "strtok_r",
    "strsep",
    "strtol",
    "strtoul",
    "strtoll",
    "strtoull",
    "strtoimax",
    "strtoumax",
    "atoi",
    "atol",
    "atoll",
    "strtod",
    "strtof",
    "atof",
    "isalnum",
    "isalpha",
    "isblank",
    "iscntrl",
    "isdigit",
    "isgraph",
    "islower",
    "isprint",
    "ispunct",
    "isspace",
    "isupper",
    "isxdigit",
    "tolower",
    "toupper",
    "getenv",
    "getc",
    "fgetc",
    "getc_unlocked",
    "fgetc_unlocked",
    "getchar",
    "getchar_unlocked",
    "fgets",
    "fgets_unlocked",
    "fread",
    "fread_unlocked",
    "getline",
    "getdelim",
    "__getdelim",
    "read",
    "pread",
    "pread64",
    "mmap",
    "mmap64",
    "munmap",
    "stat",
    "stat64",
    "lstat",
    "lstat64",
    "fstat",
    "fstat64",
    "lseek",
    "lseek64",
    "ftell",
    "ftello",
    "ftello64",
    "open",
    "open64",
    "openat",
    "openat64",
    "fopen",
    "fopen64",
    "fdopen",
    "freopen",
    "close",
    "fclose",
    "_exit",
    "_Exit",
    "quick_exit",
    "setsid",
    "setpgid",
    "daemon",
    "utmpname",
    "utmpxname",
    "setutent",
    "setutxent",
    "getutent",
    "getutxent",
    "__isoc99_sscanf",
    "__isoc99_fscanf",
    "__isoc99_scanf",
    "sscanf",
    "fscanf",
    "scanf",
    "__isoc23_strtol",
    "__isoc23_strtoul",
    "__isoc23_strtoll",
    "__isoc23_strtoull",
    "__isoc23_sscanf",
    "__isoc23_fscanf",
    "__isoc23_scanf",
];
pub const MODEL_PREFIX: &str = "lp_w_";

/// Modelled functions with a variable number of arguments: they get `(fixed..., count, arguments)`.
pub const VARIADIC: &[(&str, usize)] = &[
    ("__isoc99_sscanf", 2),
    ("__isoc99_fscanf", 2),
    ("__isoc99_scanf", 1),
    ("sscanf", 2),
    ("fscanf", 2),
    ("scanf", 1),
    ("__isoc23_sscanf", 2),
    ("__isoc23_fscanf", 2),
    ("__isoc23_scanf", 1),
];

/// Shadows of arguments that are handed over at a call.
pub const MAX_PARAMETERS: usize = 32;
