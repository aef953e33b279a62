//! Arguments that a call cannot come back without.
//!
//! A function that goes through a pointer on every way to its exits comes back only to callers who passed one: they know that
//! it is not null as if they had gone through it themselves.

use crate::call::Call;
use crate::exec::Exec;
use crate::state::State;
use crate::summary::Summary;
use leakproof_models::{Effect, Outcome, Place, Root};

impl Exec<'_> {
    /// The parameters that are known not to be null at every exit, be it only because they were used.
    pub(crate) fn used_parameters(&mut self) -> Vec<u32> {
        let mut used = self.pointer_parameters();
        used.retain(|(index, t)| {
            let there = self.terms.is_not_null(*t);
            !self.expected.contains(index)
                && self.exits.iter().all(|e| self.pcs.says(e.state.pc, there))
        });
        used.into_iter().map(|(index, _)| index).collect()
    }

    /// Whether a call comes back that goes through its arguments; who goes on then knows that they are not null.
    pub(crate) fn survives_callee(
        &mut self,
        call: &Call<'_>,
        summary: &Summary,
        state: &mut State,
    ) -> bool {
        summary.used.iter().all(|&i| match call.args.get(i as usize) {
            Some(&argument) => self.survives_use(argument, true, state),
            None => true,
        })
    }

    /// The same for a function of the library.
    pub(crate) fn survives_outcome(
        &mut self,
        call: &Call<'_>,
        outcome: &Outcome,
        state: &mut State,
    ) -> bool {
        outcome.effects.iter().all(|effect| match effect {
            Effect::Needs(Place { root: Root::Arg(n), derefs }) if derefs.is_empty() => {
                let argument = call.args.get(*n).copied();
                argument.is_none_or(|p| self.survives_use(p, true, state))
            }
            _ => true,
        })
    }
}
