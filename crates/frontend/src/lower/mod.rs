//! Lowers one translation unit from LLVM bitcode to [`leakproof_ir::Module`].
//!
//! In: the bytes that clang wrote (or a `.bc`/`.ll` file), the unit's name, and how paths are to
//! be shown. Out: the module, self-contained: no LLVM type, id or lifetime is left in it.
//! The steps, in order, each in its file:
//! 1. `symbols`: functions, globals and aliases get their ids, so that bodies can refer to them;
//! 2. `initializer`: initial values of globals;
//! 3. per function: `cfg` (reachable blocks, dominators), `promote` (which stack slots become SSA
//!    values, where phis go), then `function` walks the dominator tree and lowers instruction by
//!    instruction (`instruction`, `address`, `aggregate`, `call`, `control`, `variable`);
//! 4. `struct_names`: address computations learn the source struct whose field they select, which
//!    is known only when all debug types have been seen.
//!
//! Invariants: blocks that cannot be reached are gone; every operand of an instruction other than
//! a phi is defined in a block that dominates it; the same bytes give the same module.

mod address;
mod aggregate;
mod call;
mod cfg;
mod constant;
mod control;
mod function;
mod initializer;
mod instruction;
mod intrinsic;
mod location;
mod promote;
mod source_type;
mod struct_names;
mod symbols;
mod unit;
mod variable;

use crate::PathStyle;
use crate::llvm::{self, ReadError, normalise};
use leakproof_ir::Module;

/// Why there is no module for some bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    #[error("the file is empty")]
    Empty,
    #[error("neither LLVM bitcode nor textual LLVM IR")]
    NotIr,
    /// LLVM's words for what is wrong with textual IR or with bitcode of another release.
    #[error("not valid LLVM IR: {0}")]
    Invalid(String),
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Lowers bitcode or textual LLVM IR. Calls from several threads do not disturb each other.
pub fn lower_bitcode(
    bytes: &[u8],
    unit_name: &str,
    path_style: &PathStyle,
) -> Result<Module, LowerError> {
    if bytes.is_empty() {
        return Err(LowerError::Empty);
    }
    let Some(raw) = llvm::strip_wrapper(bytes) else {
        return lower_text(bytes, unit_name, path_style);
    };
    match unit::lower(raw, unit_name, path_style) {
        Err(ReadError::OtherVersion(_)) => lower_foreign(bytes, true, unit_name, path_style),
        result => Ok(result?),
    }
}

fn lower_text(bytes: &[u8], unit_name: &str, style: &PathStyle) -> Result<Module, LowerError> {
    if bytes.contains(&0) {
        return Err(LowerError::NotIr);
    }
    if bytes.trim_ascii().is_empty() {
        return Err(LowerError::Empty);
    }
    lower_foreign(bytes, false, unit_name, style)
}

fn lower_foreign(
    bytes: &[u8],
    is_bitcode: bool,
    unit_name: &str,
    style: &PathStyle,
) -> Result<Module, LowerError> {
    let current = normalise::to_current_bitcode(bytes, is_bitcode).map_err(|complaint| {
        LowerError::Invalid(complaint.lines().next().unwrap_or_default().trim().to_owned())
    })?;
    Ok(unit::lower(&current, unit_name, style)?)
}
