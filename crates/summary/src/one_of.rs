//! Calls through a pointer that may lead to one of several functions.
//!
//! Each is called on the state before the call, and the states after are joined. Where the pointer's own value says when
//! it is which, that is the choice. Otherwise nothing else knows the choice, and which function it is often goes with
//! something that is out of sight: what one of them does to objects of others counts for all.

use crate::call::Call;
use crate::exec::Exec;
use crate::state::{State, differences};
use crate::vocabulary::{Slot, What};
use leakproof_guard::{Term, Terms};
use leakproof_program::Target;
use std::sync::Arc;

/// One of the functions that a call may reach.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    pub target: Target,
    /// When it is this one; `None`: nobody knows.
    pub when: Option<Term>,
}

impl Exec<'_> {
    /// Any one of several functions is called.
    pub(crate) fn call_one_of(
        &mut self,
        call: &Call<'_>,
        choices: &[Choice],
        state: &mut State,
    ) -> Option<Option<Term>> {
        let mut rest = state.clone();
        let mut done: Option<(State, Option<Term>)> = None;
        let mut borrowed = false;
        let first = self.created.len();
        let is_known = choices.iter().all(|c| c.when.is_some());
        for (i, &Choice { target, when }) in choices.iter().enumerate() {
            let made = self.created.len();
            let chosen = match when.filter(|_| is_known) {
                _ if i + 1 == choices.len() => Terms::TRUE,
                Some(when) => when,
                None => self.opaque(1, What::Choice, &self.name_of(target), call.loc),
            };
            let not_chosen = self.terms.not(chosen);
            let mut branch = rest.clone();
            match self.pcs.extend(&mut self.terms, rest.pc, chosen) {
                Some(pc) => branch.pc = pc,
                None => continue,
            }
            if let Some(value) = self.call_target(call, target, &mut branch) {
                borrowed |= self.created.len() == made && value != Some(Terms::NULL);
                done = Some(match done {
                    None => (branch, value),
                    Some((other, w)) => {
                        let (mut both, v) =
                            self.join_outcomes(other.clone(), w, branch.clone(), value);
                        if !is_known {
                            self.unite_releases(&other, &branch, &mut both);
                        }
                        (both, v)
                    }
                });
            }
            match self.pcs.extend(&mut self.terms, rest.pc, not_chosen) {
                Some(pc) => rest.pc = pc,
                None => break,
            }
        }
        let (after, value) = done?;
        *state = after;
        if borrowed && !is_known {
            // Some of them hand out what they keep: the caller cannot be meant to release it.
            let handed_out = self.created[first..].to_vec();
            for id in handed_out {
                let address = self.terms.addr(self.objects[id.0 as usize].base, 0);
                self.escape(state, address);
            }
        }
        Some(value)
    }

    /// Which function a pointer calls often goes with which one allocated: what one of them
    /// releases or takes counts for all.
    fn unite_releases(&mut self, a: &State, b: &State, both: &mut State) {
        for (cell, left, right) in differences(a, b) {
            if matches!(cell.1, Slot::Freed | Slot::Escaped) {
                let (x, y) = (left.unwrap_or(Terms::FALSE), right.unwrap_or(Terms::FALSE));
                let either = self.terms.or2(x, y);
                both.mem.insert(cell, either);
            }
        }
    }

    fn name_of(&self, target: Target) -> Arc<str> {
        let (Target::Defined(f) | Target::External(f)) = target;
        self.ctx.program.function(f).source_name.as_str().into()
    }
}
