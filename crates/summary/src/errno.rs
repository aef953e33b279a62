//! `errno`: a number of the library's that says why a call failed.
//!
//! It is one cell that all functions share. Functions that set it and say so with their result (`errno = ENOSPC; return
//! -1`) tell their callers; everything else that may fail leaves it unknown. So the cell is there only while something
//! is known of it: what it held when a function was entered is never asked.

use crate::exec::Exec;
use crate::state::State;
use crate::vocabulary::{BaseKind, Slot, What};
use leakproof_guard::{Node, Term};
use leakproof_ir::Loc;
use leakproof_models::{IntRange, Model, Returns};

/// How its symbols are called, whichever function yielded its address.
pub const NAME: &str = "__errno_location";

/// What the library writes there.
const RANGE: (i64, i64) = (0, 4095);

impl Exec<'_> {
    /// Its address. From here on it is a number that stays until the next call that may fail.
    pub(crate) fn address_of_errno(
        &mut self,
        range: IntRange,
        state: &mut State,
        loc: Loc,
    ) -> Term {
        let base = self.base(BaseKind::Errno);
        if !state.mem.contains_key(&(base, Slot::At(0))) {
            let range = Some((range.min, range.max));
            let number = self.symbol_in(32, range, What::Input, NAME, loc);
            state.mem.insert((base, Slot::At(0)), number);
        }
        self.terms.addr(base, 0)
    }

    /// What it holds when nothing is known of it.
    pub(crate) fn any_errno(&mut self, bits: u16) -> Term {
        self.symbol_in(bits, Some(RANGE), What::Input, NAME, Loc::default())
    }

    /// A call may have written it.
    pub(crate) fn forget_errno(&mut self, state: &mut State) {
        let base = self.base(BaseKind::Errno);
        state.mem.remove(&(base, Slot::At(0)));
    }

    /// Whether a value is worth telling to callers: a number that the function chose, on some way.
    pub(crate) fn is_chosen_number(&self, value: Term) -> bool {
        let alternatives = self.terms.alternatives(value);
        alternatives.iter().any(|&t| matches!(self.terms.node(t), Node::Int { .. }))
    }
}

/// Whether a function of the library may leave another number: one that can fail.
pub fn may_set_errno(model: &Model) -> bool {
    let yields_it = |r: &Returns| matches!(r, Returns::NonNullTo(_));
    model.outcomes.iter().any(|o| o.failure)
        && !model.outcomes.iter().any(|o| yields_it(&o.returns))
}
