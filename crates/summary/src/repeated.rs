//! Outcomes of calls that made an object and may come again.
//!
//! Whether a call releases or keeps something is decided in the object's favour where its conditions
//! were cut from the summary. Not so where an object exists because a function had an outcome, and a
//! later call of the same function with the same outcome would take it away: `set_error` called twice.
//! What happened once may happen again; what speaks against it is told with the outcome. A function that
//! releases the object in some outcome replaces it.

use crate::exec::Exec;
use crate::marks::{CUT, OUTCOME};
use crate::state::State;
use crate::vocabulary::{ObjectId, Slot};
use leakproof_guard::{Sym, Term};
use leakproof_program::FuncRef;
use rustc_hash::FxHashSet;

/// The symbols of outcomes that may come again.
pub(crate) type Repeated = FxHashSet<Sym>;

/// What a symbol for an outcome stands for: a function, and the symbol in its summary.
pub(crate) type OutcomeOf = (FuncRef, u32);

impl Exec<'_> {
    /// The outcomes of later calls in a condition that are those to which the object owes its existence.
    pub(crate) fn repeated(&self, state: &State, object: ObjectId, t: Term) -> Repeated {
        let outcomes = OUTCOME | CUT;
        let base = self.objects[object.0 as usize].base;
        let live = state.fact(base, Slot::Live);
        if !self.terms.marks(live).intersects(outcomes) || !self.terms.marks(t).intersects(outcomes)
        {
            return Repeated::default();
        }
        let made = self.symbols_with(live, outcomes);
        let replaces = |f: FuncRef| self.released_by.contains(&(base, f));
        let ways = made.iter().filter_map(|s| self.outcome_of.get(s).copied());
        let ways: FxHashSet<OutcomeOf> = ways.filter(|(f, _)| !replaces(*f)).collect();
        let is_again = |s: &Sym| {
            !made.contains(s) && self.outcome_of.get(s).is_some_and(|of| ways.contains(of))
        };
        self.symbols_with(t, outcomes).into_iter().filter(is_again).collect()
    }

    pub(crate) fn speaks_of_repeated(&self, atom: Term, repeated: &Repeated) -> bool {
        !repeated.is_empty()
            && self.symbols_with(atom, OUTCOME | CUT).iter().any(|s| repeated.contains(s))
    }
}
