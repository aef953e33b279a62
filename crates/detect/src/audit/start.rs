//! What global variables hold when the program starts.
//!
//! In: a run of `main` and what a pointer in it refers to. Out: whether that is the initial value of a
//! global variable of the program, and that is null: then there is nothing to release. Nobody calls
//! `main` a second time.

use crate::component::Env;
use leakproof_guard::{Base, Node, Terms};
use leakproof_program::FuncRef;
use leakproof_summary::{BaseKind, Exec, Slot, SymKind};

/// Bytes of a pointer.
const POINTER: u64 = 8;

pub fn is_null(env: &Env<'_>, exec: &Exec<'_>, base: Base) -> bool {
    let symbol = exec.terms.as_pointee(base).and_then(|p| match exec.terms.node(p) {
        Node::Sym(s) => Some(*s),
        _ => None,
    });
    let Some(SymKind::Init { base, slot: Slot::At(at), epoch: Terms::NULL }) =
        symbol.map(|s| &exec.sym_kinds[s.0 as usize])
    else {
        return false;
    };
    let (BaseKind::Global(global), Ok(at)) = (exec.kind(*base), u64::try_from(*at)) else {
        return false;
    };
    let entries = &env.program.global(global).init;
    let covers = |offset: u64| offset < at + POINTER && at < offset + POINTER;
    let zero = entries.as_ref().is_some_and(|list| !list.iter().any(|e| covers(e.offset)));
    zero && is_start(env, exec.me)
}

/// Whether a function is where the program starts, and nothing else comes to it.
fn is_start(env: &Env<'_>, f: FuncRef) -> bool {
    env.program.function(f).name == "main" && env.calls.callers_of(f).is_empty()
}
