//! The runtime of validated programs, and the formats it shares with the tool.
//!
//! Two faces. As a library of the tool it is only `abi` (layout of traces and configurations),
//! `compute` (what expressions mean), `map` (what the instrumenter tells about a program) and `confine` (the sandbox
//! for programs that are not instrumented). With the feature `runtime` it is also the code
//! that runs inside the instrumented program: shadow memory, expressions, object tracking, failing
//! calls. Crate `validate` compiles that by itself, without the standard library, into an archive that
//! instrumented programs are linked with. Invariant: the runtime never changes what the program
//! computes, except for the inputs and failures that its configuration names.

#![cfg_attr(all(feature = "runtime", not(test)), no_std)]
#![expect(
    unsafe_code,
    reason = "it runs under a C program and looks at its memory, and calls the kernel"
)]

pub mod abi;
pub mod compute;
#[cfg(feature = "map")]
pub mod confine;
#[cfg(feature = "map")]
pub mod map;
mod network;
#[cfg(feature = "runtime")]
mod runtime;
mod sandbox;
mod system;
