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
use leakproof_guard::{Marks, Node, Seen, Sym, Term, Terms, for_each_child};
use leakproof_program::FuncRef;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Marks of symbols for outcomes.
const DECIDING: Marks = OUTCOME.with(CUT);

/// What a symbol for an outcome stands for: a function, and the symbol in its summary.
pub(crate) type OutcomeOf = (FuncRef, u32);

/// The symbols for outcomes of calls, where the callee does not recurse.
#[derive(Default)]
pub(crate) struct Outcomes {
    of: FxHashMap<Sym, OutcomeOf>,
    /// In the order of the calls.
    symbols: FxHashMap<OutcomeOf, Vec<Term>>,
    /// Those in the conditions under which objects exist: the same at most exits. In order.
    made: FxHashMap<Term, Arc<[Sym]>>,
}

impl Outcomes {
    /// `symbol` is the term that is just `s`.
    pub fn insert(&mut self, s: Sym, symbol: Term, of: OutcomeOf) {
        self.of.insert(s, of);
        self.symbols.entry(of).or_default().push(symbol);
    }
}

/// The symbols of outcomes that may come again.
#[derive(Default)]
pub(crate) struct Repeated {
    /// In order.
    symbols: Vec<Term>,
    /// A term that speaks of one of them has one of these bits.
    mentions: u64,
}

impl Repeated {
    fn new(terms: &Terms, mut symbols: Vec<Term>) -> Self {
        symbols.sort_unstable();
        let mentions = symbols.iter().fold(0, |bits, &s| bits | terms.mentions(s));
        Self { symbols, mentions }
    }

    /// In order.
    pub fn symbols(&self) -> &[Term] {
        &self.symbols
    }

    pub fn contains(&self, t: Term) -> bool {
        self.symbols.binary_search(&t).is_ok()
    }

    /// Whether one of them may be in a term. Parts are made before the whole.
    fn may_be_in(&self, terms: &Terms, t: Term) -> bool {
        self.symbols.first().is_some_and(|&first| first <= t)
            && terms.mentions(t) & self.mentions != 0
    }
}

impl Exec<'_> {
    /// The outcomes of later calls in a condition that are those to which the object owes its existence.
    pub(crate) fn repeated(&mut self, state: &State, object: ObjectId, t: Term) -> Repeated {
        let base = self.objects[object.0 as usize].base;
        let live = state.fact(base, Slot::Live);
        if !self.terms.marks(live).intersects(DECIDING) || !self.terms.marks(t).intersects(DECIDING)
        {
            return Repeated::default();
        }
        let made = self.outcomes_that_made(live);
        let replaces = |f: FuncRef| self.released_by.contains(&(base, f));
        let ways = made.iter().filter_map(|s| self.outcomes.of.get(s).copied());
        let ways: FxHashSet<OutcomeOf> = ways.filter(|(f, _)| !replaces(*f)).collect();
        let is_made = |t: &Term| match self.terms.node(*t) {
            Node::Sym(s) => made.binary_search(s).is_ok(),
            _ => false,
        };
        let alike = ways.iter().flat_map(|of| &self.outcomes.symbols[of]).copied();
        let again = Repeated::new(&self.terms, alike.filter(|t| !is_made(t)).collect());
        if again.symbols.is_empty() {
            return again;
        }
        let mut found = again.symbols;
        self.deciding.retain_in(&self.terms, t, &mut found);
        Repeated::new(&self.terms, found)
    }

    fn outcomes_that_made(&mut self, live: Term) -> Arc<[Sym]> {
        if let Some(known) = self.outcomes.made.get(&live) {
            return known.clone();
        }
        let made: Arc<[Sym]> = self.symbols_with(live, DECIDING).into();
        self.outcomes.made.insert(live, made.clone());
        made
    }

    pub(crate) fn speaks_of_repeated(&self, atom: Term, repeated: &Repeated) -> bool {
        let mut seen = Seen::default();
        let mut work: SmallVec<[Term; 32]> = smallvec![atom];
        while let Some(t) = work.pop() {
            if !repeated.may_be_in(&self.terms, t) || !seen.insert(t) {
                continue;
            }
            if repeated.contains(t) {
                return true;
            }
            for_each_child(self.terms.node(t), |c| work.push(c));
        }
        false
    }
}
