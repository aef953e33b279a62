//! leakproof's own compact intermediate representation.
//!
//! One `Module` per translation unit: typed `u32` ids into arenas, SSA values, few instructions,
//! every instruction with its source position, every promoted local traceable through `VarSet`.
//! There is no LLVM type here and nothing else of the project is known to this crate.

mod entity;
mod inst;
mod module;
mod types;

pub use entity::*;
pub use inst::*;
pub use module::*;
pub use types::*;
