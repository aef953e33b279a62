//! Lowers one translation unit from LLVM bitcode to [`leakproof_ir::Module`].
//!
//! In: the bytes that clang wrote, the unit's name, and how paths are to be shown. Out: the module, self-contained: no LLVM type, id or lifetime is left in it.
//! The steps, in order, each in its file:
//! 1. `symbols`: functions, globals and aliases get their ids, so that bodies can refer to them;
//! 2. `initializer`: initial values of globals;
//! 3. per function: `thread` (cleanup code is copied per destination), `cfg` (reachable blocks, dominators), `promote` (which stack slots become SSA
//!    values, where phis go), then `function` walks the dominator tree and lowers instruction by
//!    instruction (`instruction`, `address`, `aggregate`, `call`, `control`, `variable`), and
//!    `scope`, `compact` and `tidy` drop what says nothing and number the rest in order;
//! 4. `struct_names`: address computations learn the source struct whose field they select, which
//!    is known only when all debug types have been seen.
//!
//! Invariants: blocks that cannot be reached are gone; every operand of an instruction other than
//! a phi is defined in a block that dominates it; the same bytes give the same module.

mod address;
mod aggregate;
mod call;
mod cfg;
mod compact;
mod constant;
mod control;
mod function;
mod initializer;
mod instruction;
mod intrinsic;
mod location;
mod promote;
mod scope;
mod source_type;
mod struct_names;
mod symbols;
mod thread;
mod tidy;
mod unit;
mod variable;

use crate::PathStyle;
use crate::llvm::{self, ReadError};
use leakproof_ir::Module;

/// Why there is no module for some bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    #[error("the file is empty")]
    Empty,
    /// Textual IR and bitcode of other releases have to go through clang first.
    #[error("no LLVM bitcode")]
    NotBitcode,
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Lowers bitcode as clang writes it. There is no state between calls, so that units may be
/// lowered on several threads.
pub fn lower_bitcode(
    bytes: &[u8],
    unit_name: &str,
    path_style: &PathStyle,
) -> Result<Module, LowerError> {
    if bytes.is_empty() {
        return Err(LowerError::Empty);
    }
    let raw = llvm::strip_wrapper(bytes).ok_or(LowerError::NotBitcode)?;
    Ok(unit::lower(raw, unit_name, path_style)?)
}
