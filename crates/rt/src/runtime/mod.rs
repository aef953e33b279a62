//! The runtime proper: everything that runs inside an instrumented program.
//!
//! `hooks` is what instrumented code calls, `heap` stands in front of the C library's allocator,
//! `library` models functions of the C library, `start` sets a run up and closes it. Symbolic work is
//! done on the main thread only; the heap has a lock of its own.

mod cell;
mod compared;
mod config;
mod ctype;
mod example;
mod files;
mod heap;
mod hooks;
mod identity;
mod libc;
mod logins;
mod mapped;
mod memory;
mod missing;
mod nodes;
mod number;
mod object;
mod path;
mod scan;
mod scanf;
mod shadow;
mod sizes;
mod start;
mod stdio;
mod string;
mod table;
mod token;
mod trace;
