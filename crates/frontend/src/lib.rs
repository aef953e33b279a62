//! From a user's project to IR modules.
//!
//! In: compile databases, watched builds, source files, LLVM bitcode. Out: one verified
//! `leakproof_ir::Module` per translation unit, in the order of the project, and a list of units that
//! were left out with the reason. clang runs as a child process, once per unit; its bitcode is read
//! by `llvm` and lowered by `lower`; nothing of LLVM is visible outside this crate. Lowered units are
//! kept in `cache`, so an unchanged project starts no clang.

pub mod arguments;
pub mod cache;
pub mod cancel;
pub mod clang;
pub mod command;
mod compile;
pub mod database;
mod deps;
mod error;
mod flags;
mod llvm;
mod load;
mod lower;
mod overlay;
mod paths;
mod processes;
mod progress;
mod project;
mod unit;
pub mod usage;
pub mod watch;

pub use compile::{CompileFailure, Compiled, Compiler};
pub use error::FrontendError;
pub use flags::takes_argument;
pub use load::{LoadOptions, Loaded, Prepared, Timings, load, prepare, worker_count};
pub use lower::{LowerError, lower_bitcode};
pub use overlay::{Overlay, OverlayError, Recompiler};
pub use paths::{PathStyle, display_name, display_path, normalize};
pub use progress::{Progress, Silent, UnitDone};
pub use project::{Project, Request};
pub use unit::{FileClass, SourceKind, Unit};
