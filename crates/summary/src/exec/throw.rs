//! Exceptions: a call that throws goes on at its landing pad, or leaves the function.
//!
//! Which type is thrown is not followed. Where a landing pad asks for types, one of them is taken
//! to fit; so an exception leaves a function only past landing pads that merely clean up.

use super::{Exec, Exit, ExitKind};
use crate::marks::EXCEPTION;
use crate::state::State;
use crate::vocabulary::{BaseKind, Slot, SymKind};
use leakproof_guard::{Base, Node, Term, Terms};
use leakproof_ir::{BlockId, InstId, Loc, Terminator};

/// Where the exception came from, in the cells of SSA values, which have no negative numbers.
const ORIGIN: Slot = Slot::At(-1);
/// More ways out by exceptions than this are joined.
const MAX_THROWN: usize = 16;

impl Exec<'_> {
    /// The call that runs now may be left by an exception in this state.
    pub(crate) fn throw(&mut self, state: State) {
        self.thrown = Some(match self.thrown.take() {
            None => state,
            Some(other) => self.merge_states(&other, &state).0,
        });
    }

    /// Follows an exception out of a call.
    pub(super) fn unwind(&mut self, b: BlockId, call: InstId, mut state: State) {
        let loc = self.body.insts[call].loc;
        match self.body.blocks[b].term {
            Terminator::Invoke { call: invoked, unwind, .. } if invoked == call => {
                let values = self.base(BaseKind::Values);
                let number = self.terms.int(64, self.throw_sites.len() as u64);
                self.throw_sites.push(loc);
                state.mem.insert((values, ORIGIN), number);
                self.follow(b, unwind, state, loc);
            }
            _ => self.leave(state, loc),
        }
    }

    /// The end of a landing pad.
    pub(super) fn leave_by_exception(&mut self, state: State, end: Loc) {
        let tested = self.pcs.path(state.pc).into_iter().any(|t| self.speaks_of_exception(t));
        if !tested {
            let values = self.base(BaseKind::Values);
            let origin = state.mem.get(&(values, ORIGIN)).and_then(|&t| self.terms.as_int(t));
            let loc = origin.and_then(|i| self.throw_sites.get(i as usize)).copied();
            self.leave(state, loc.unwrap_or(end));
        }
    }

    fn speaks_of_exception(&self, t: Term) -> bool {
        self.terms.marks(t).intersects(EXCEPTION)
    }

    /// An exception leaves the function. Out of `main`, it ends the process.
    fn leave(&mut self, mut state: State, loc: Loc) {
        if self.function.name == "main" {
            return;
        }
        let values = self.base(BaseKind::Values);
        state.mem.insert((values, Slot::Thrown), Terms::TRUE);
        let same = self.exits.iter().position(|e| e.is_thrown() && e.loc == loc);
        let full = self.exits.iter().filter(|e| e.is_thrown()).count() >= MAX_THROWN;
        let other =
            same.or_else(|| self.exits.iter().rposition(|e| e.is_thrown()).filter(|_| full));
        match other {
            Some(i) => {
                let before = self.exits[i].state.clone();
                self.exits[i].state = self.merge_states(&before, &state).0;
            }
            None => self.exits.push(Exit { state, value: None, loc, kind: ExitKind::Thrown }),
        }
    }

    /// Whether the state is that of an exception on its way to the caller.
    pub(crate) fn is_thrown(&self, state: &State) -> Term {
        let values = self.locals.get(&BaseKind::Values);
        values.map_or(Terms::FALSE, |&v| state.fact(v, Slot::Thrown))
    }

    /// Whether an exception was thrown on the way.
    pub(crate) fn is_unwinding(&self, state: &State) -> bool {
        let values = self.locals.get(&BaseKind::Values);
        values.is_some_and(|&v| state.mem.contains_key(&(v, ORIGIN)))
    }

    /// Whether the state leaves a constructor by an exception: what the unfinished object holds,
    /// no destructor will release.
    pub fn is_unfinished(&self, state: &State, base: Base) -> bool {
        let this = self.terms.as_pointee(base).map(|p| self.terms.node(p));
        let is_this = matches!(this, Some(Node::Sym(s))
            if self.sym_kinds[s.0 as usize] == SymKind::Arg(0));
        is_this && self.is_thrown(state) == Terms::TRUE && is_constructor(&self.function.name)
    }

    /// Whether a block is where exceptions arrive.
    pub(crate) fn is_landing_pad(&self, b: BlockId) -> bool {
        let mut terms = self.body.blocks.iter().map(|(_, block)| &block.term);
        terms.any(|t| matches!(t, Terminator::Invoke { unwind, .. } if *unwind == b))
    }
}

/// Whether a symbol is a constructor's: in the Itanium ABI its last name is `C1` or `C2`, behind
/// that of the class.
fn is_constructor(symbol: &str) -> bool {
    let marks = ["C1E", "C2E", "C1I", "C2I"];
    let mut places = marks.iter().flat_map(|mark| symbol.match_indices(mark));
    symbol.starts_with("_ZN") && places.any(|(at, _)| ends_class(&symbol[..at]))
}

/// Whether the name of a class ends here: with template arguments, or after as many letters as the
/// number before them says.
fn ends_class(symbol: &str) -> bool {
    let plain = (1..symbol.len()).any(|len| {
        let head = &symbol[..symbol.len() - len];
        let before = head.strip_suffix(&len.to_string());
        before.is_some_and(|b| !b.ends_with(|c: char| c.is_ascii_digit()))
    });
    plain || symbol.ends_with('E')
}

#[cfg(test)]
mod tests {
    use super::is_constructor;

    #[test]
    fn constructors_are_told_by_their_symbols() {
        assert!(is_constructor("_ZN4ConnC2EPKc"));
        assert!(is_constructor("_ZN2ns4ConnC1Ev"));
        assert!(is_constructor("_ZN3BoxIiEC2Ev"));
        assert!(!is_constructor("_ZN2ns2nsEPi"));
        assert!(!is_constructor("_ZN4ConnD2Ev"));
        assert!(!is_constructor("_ZN6abcC2E1fEv"));
        assert!(!is_constructor("parseC2E"));
    }
}
