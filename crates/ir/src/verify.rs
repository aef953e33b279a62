//! The verifier: a `Module` in, every broken invariant out.
//!
//! The invariants, by the name under which errors report them:
//!
//! - `ids`: every id (file, type, global, function, block, instruction, value, variable) that
//!   anything holds lies in its arena; symbols are unique among functions, globals and aliases.
//! - `types`: source types are finite: a type contains itself only behind a pointer, and every
//!   cycle of types passes a struct; fields do not start behind the end of their struct.
//! - `init`: entries of a global's initial value ascend, do not overlap and stay inside it.
//! - `locations`: a known position names an existing file.
//! - `links`: a value of kind `Inst(i)` is the result of `i` and the other way round; the same for
//!   parameters; every instruction stands in exactly one block.
//! - `constants`: `Int` has an integer type it fits (or `ptr`, for addresses like `(void *)-1`);
//!   null and symbols are `ptr`; nothing has type `void`.
//! - `blocks`: a body has blocks; the entry has no predecessor; phis stand first in their block;
//!   an `Invoke` names the call that is the last instruction of its block.
//! - `phis`: one entry for each predecessor block, none else, none twice.
//! - `dominance`: a definition dominates its uses, a phi's at the end of the predecessor; the
//!   result of an invoked call is there on the normal edge only.
//! - `operands`: operand and result types are what the instruction asks for; instructions that
//!   yield nothing have no result, the others (calls and `opaque` excepted) have one.
//!
//! Analyses may rely on all of these without checking. The verifier itself relies on nothing: it
//! does not panic on any module.

mod dominance;
mod operands;
mod structure;

use crate::{Body, FuncId, Function, Module};
use std::fmt;

/// Which invariant a module breaks; see the list above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invariant {
    Ids,
    Types,
    Init,
    Locations,
    Links,
    Constants,
    Blocks,
    Phis,
    Dominance,
    Operands,
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Invariant::Ids => "ids",
            Invariant::Types => "types",
            Invariant::Init => "init",
            Invariant::Locations => "locations",
            Invariant::Links => "links",
            Invariant::Constants => "constants",
            Invariant::Blocks => "blocks",
            Invariant::Phis => "phis",
            Invariant::Dominance => "dominance",
            Invariant::Operands => "operands",
        })
    }
}

/// One broken invariant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {detail} ({invariant})")]
pub struct VerifyError {
    pub invariant: Invariant,
    /// The function it is in, if any.
    pub function: Option<FuncId>,
    /// Where, in ids: `f3 bb2 i17`, `t5`.
    pub place: String,
    pub detail: String,
}

/// Checks all invariants and returns every error found, in order of the module.
pub fn verify(module: &Module) -> Result<(), Vec<VerifyError>> {
    let mut errors = Errors { function: None, list: Vec::new() };
    structure::check_module(module, &mut errors);
    for (id, function) in module.functions.iter() {
        errors.function = Some(id);
        check_function(module, function, &mut errors);
    }
    if errors.list.is_empty() { Ok(()) } else { Err(errors.list) }
}

/// The later checks index freely, so they only run on functions that passed the earlier ones.
fn check_function(module: &Module, function: &Function, errors: &mut Errors) {
    let before = errors.list.len();
    structure::check_function(module, function, errors);
    let Some(body) = function.body.as_ref().filter(|_| errors.list.len() == before) else {
        return;
    };
    structure::check_blocks(body, errors);
    if errors.list.len() == before {
        operands::check(function, body, errors);
        dominance::check(function, body, errors);
    }
}

struct Errors {
    function: Option<FuncId>,
    list: Vec<VerifyError>,
}

impl Errors {
    fn add(&mut self, invariant: Invariant, place: impl fmt::Display, detail: impl Into<String>) {
        let place = match self.function {
            Some(f) => format!("{f} {place}"),
            None => place.to_string(),
        };
        let function = self.function;
        self.list.push(VerifyError { invariant, function, place, detail: detail.into() });
    }

    /// Records an error unless `holds`.
    fn check(
        &mut self,
        holds: bool,
        invariant: Invariant,
        place: impl fmt::Display,
        detail: impl FnOnce() -> String,
    ) {
        if !holds {
            self.add(invariant, place, detail());
        }
    }
}

/// An instruction with its block, for messages.
fn place(body: &Body, inst: crate::InstId) -> String {
    let block = body.blocks.iter().find(|(_, b)| b.insts.contains(&inst));
    block.map_or_else(|| inst.to_string(), |(b, _)| format!("{b} {inst}"))
}
