//! leakproof's own compact intermediate representation.
//!
//! One `Module` per translation unit: typed `u32` ids into arenas, SSA values, few instructions,
//! every instruction with its source position, every promoted local traceable through `VarSet`.
//! There is no LLVM type here and nothing else of the project is known to this crate.

mod cfg;
mod entity;
mod inst;
mod keyword;
mod module;
mod parse;
mod print;
mod types;
mod verify;

pub use cfg::Cfg;
pub use entity::*;
pub use inst::*;
pub use module::*;
pub use parse::{ParseError, parse_module};
pub use print::{print_function, print_module};
pub use types::*;
pub use verify::{Invariant, VerifyError, verify};
