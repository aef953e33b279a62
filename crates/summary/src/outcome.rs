//! The exits of a function as one state, for its summary.
//!
//! Exactly, as long as that is small: every difference between two exits depends on the paths
//! that led to them. Otherwise by outcome: exits that return the same kind of value and did the
//! same to every object are one outcome, and which of them a call has is a private symbol. So
//! everything that one outcome does stays together, whatever the conditions that were cut.

use crate::exec::Exec;
use crate::state::{Cell, PathConditions, State};
use crate::vocabulary::{BaseKind, Slot, SymKind, What};
use leakproof_guard::{Node, Term, Terms, signed_limits};
use leakproof_ir::Loc;
use rustc_hash::FxHashMap;

/// More outcomes than this are not told apart.
const MAX_OUTCOMES: usize = 10;
/// What callers are told about when an outcome happens: so many conditions of at most this size.
const MAX_LITERALS: usize = 8;
const MAX_LITERAL: u32 = 10;

/// Conditions and numbers larger than this are not told.
const MAX_CONDITION: u32 = 12;

/// What a caller can tell about a returned value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Returned {
    Nothing,
    Null,
    Negative,
    Positive,
    Object(u32),
    Unknown,
}

/// What tells outcomes apart: the kind of value, and the facts about objects, certain or not.
type Key = (Returned, Vec<(Cell, bool)>);

impl Exec<'_> {
    /// All exits joined by their path conditions.
    pub(crate) fn joined_exits(&mut self) -> Option<(State, Option<Term>)> {
        let mut exits = self.pruned_exits();
        let mut merged = exits.pop()?;
        while let Some((state, value)) = exits.pop() {
            merged = self.join_outcomes(state, value, merged.0, merged.1);
        }
        Some(merged)
    }

    /// All exits joined by private symbols that say which outcome it was.
    pub(crate) fn chosen_exits(&mut self) -> Option<(State, Option<Term>)> {
        let mut outcomes = self.outcomes();
        let (last, value) = outcomes.pop()?;
        let mut condition = self.kept_literals(&last);
        let mut merged = (State { pc: PathConditions::ROOT, mem: last.mem }, value);
        while let Some((state, value)) = outcomes.pop() {
            let name = self.function.source_name.clone();
            let chosen = self.opaque(1, What::Inner, &name, Loc::default());
            let literals = self.kept_literals(&state);
            condition = self.terms.ite(chosen, literals, condition);
            let mem = self.chosen_cells(&state, &merged.0, chosen);
            let value = self.chosen_value(chosen, value, merged.1);
            merged = (State { pc: PathConditions::ROOT, mem }, value);
        }
        merged.0.pc = self.pcs.extend(&mut self.terms, PathConditions::ROOT, condition)?;
        Some(merged)
    }

    fn pruned_exits(&mut self) -> Vec<(State, Option<Term>)> {
        let mut exits = Vec::new();
        for i in 0..self.exits.len() {
            let state = self.exits[i].state.clone();
            let value = self.exits[i].value.map(|v| self.pruned(&state, v));
            exits.push((state, value));
        }
        exits
    }

    /// The outcomes, each as short as callers are told.
    fn outcomes(&mut self) -> Vec<(State, Option<Term>)> {
        let mut cut = FxHashMap::default();
        let mut outcomes = Vec::new();
        for (key, state, value) in self.grouped_exits() {
            let state = self.shortened_state(state, &mut cut);
            let value = value.map(|v| self.shortened_result(v, key.0, &mut cut));
            outcomes.push((state, value));
        }
        outcomes
    }

    /// The exits, those of the same outcome joined.
    fn grouped_exits(&mut self) -> Vec<(Key, State, Option<Term>)> {
        let mut list: Vec<(Key, State, Option<Term>)> = Vec::new();
        for (state, value) in self.pruned_exits() {
            let state = self.settled(state);
            let key = self.outcome_key(&state, value);
            let full = list.len() >= MAX_OUTCOMES;
            let alike = (0..list.len()).filter(|&i| list[i].0.0 == key.0);
            let nearest = alike.min_by_key(|&i| distance(&list[i].0.1, &key.1));
            match nearest.filter(|&i| full || list[i].0 == key) {
                Some(i) => {
                    let (key, other, w) = list.remove(i);
                    let (state, value) = self.join_outcomes(other, w, state, value);
                    list.insert(i, (key, state, value));
                }
                None => list.push((key, state, value)),
            }
        }
        list
    }

    /// The state with every value shortened; pointers that this loses are out of sight.
    fn shortened_state(&mut self, mut state: State, cut: &mut FxHashMap<Term, Term>) -> State {
        let cells: Vec<(Cell, Term)> = state.mem.iter().map(|(c, t)| (*c, *t)).collect();
        for (cell, t) in cells {
            let short = self.shortened(t, cut);
            if short != t {
                state.mem.insert(cell, short);
                self.escape_lost(&mut state, t, short);
            }
        }
        state
    }

    /// The term with conditions and numbers that are too large to be told replaced by symbols:
    /// the same one for the same condition.
    fn shortened(&mut self, t: Term, cut: &mut FxHashMap<Term, Term>) -> Term {
        if self.terms.size(t) <= MAX_CONDITION {
            return t;
        }
        if let Some(&s) = cut.get(&t) {
            return s;
        }
        let pointer = self.terms.bits(t) == 64 && self.terms.has_addr(t);
        let short = match self.terms.node(t).clone() {
            Node::Not(x) => {
                let x = self.shortened(x, cut);
                self.terms.not(x)
            }
            Node::Ite { cond, then, otherwise } if pointer => {
                let c = self.shortened(cond, cut);
                let (a, b) = (self.shortened(then, cut), self.shortened(otherwise, cut));
                self.terms.ite(c, a, b)
            }
            Node::And(_) | Node::Or(_) if self.terms.size(t) <= 4 * MAX_CONDITION => t,
            Node::Tuple(_) => t,
            _ if pointer => t,
            _ => {
                let bits = self.terms.bits(t).max(1);
                let what = if bits == 1 { What::Inner } else { What::Unknown };
                let name = self.function.source_name.clone();
                self.opaque(bits, what, &name, Loc::default())
            }
        };
        cut.insert(t, short);
        short
    }

    /// A shortened result is still of its kind: an error code stays an error code.
    fn shortened_result(
        &mut self,
        t: Term,
        kind: Returned,
        cut: &mut FxHashMap<Term, Term>,
    ) -> Term {
        let short = self.shortened(t, cut);
        let bits = self.terms.bits(t);
        if short == t || bits < 2 {
            return short;
        }
        let (lo, hi) = signed_limits(bits);
        let range = match kind {
            Returned::Negative => (lo, -1),
            Returned::Positive => (1, hi),
            _ => return short,
        };
        let name = self.function.source_name.clone();
        self.symbol_in(bits, Some(range), What::Unknown, &name, Loc::default())
    }

    /// Pointers that a shortened value does not mention any more are out of sight.
    fn escape_lost(&mut self, state: &mut State, old: Term, new: Term) {
        if self.terms.bits(old) != 64 {
            return;
        }
        let kept = self.all_bases(new);
        for base in self.all_bases(old) {
            if !kept.contains(&base) {
                self.escape_base(state, base, Terms::TRUE);
            }
        }
    }

    /// The state with facts and pointers that its own path decides: the path is not told to
    /// callers.
    fn settled(&mut self, mut state: State) -> State {
        let cells: Vec<(Cell, Term)> = state.mem.iter().map(|(c, t)| (*c, *t)).collect();
        for ((base, slot), t) in cells {
            let simpler = match slot {
                Slot::Live | Slot::Freed | Slot::Escaped => {
                    self.pcs.simplify(&mut self.terms, state.pc, t)
                }
                _ if slot.is_contents() && self.terms.has_addr(t) => self.pruned(&state, t),
                _ => t,
            };
            if simpler != t {
                state.mem.insert((base, slot), simpler);
            }
        }
        state
    }

    /// The key of a settled state: facts that hold, and facts that may.
    fn outcome_key(&self, state: &State, value: Option<Term>) -> Key {
        let facts = state
            .mem
            .iter()
            .filter(|((base, slot), t)| {
                matches!(slot, Slot::Live | Slot::Freed | Slot::Escaped)
                    && matches!(self.kind(*base), BaseKind::Heap(_) | BaseKind::Pointee)
                    && **t != Terms::FALSE
            })
            .map(|(cell, t)| (*cell, *t == Terms::TRUE));
        (self.returned_kind(value), facts.collect())
    }

    fn returned_kind(&self, value: Option<Term>) -> Returned {
        let Some(t) = value else { return Returned::Nothing };
        match (self.terms.node(t), self.terms.as_signed(t)) {
            (_, Some(0)) | (Node::Bool(false), _) => Returned::Null,
            (_, Some(n)) if n < 0 => Returned::Negative,
            (_, Some(_)) | (Node::Bool(true), _) => Returned::Positive,
            (Node::Addr { base, .. }, _) => Returned::Object(base.0),
            _ => Returned::Unknown,
        }
    }

    /// The small conditions on inputs that hold whenever `state` is reached.
    fn kept_literals(&mut self, state: &State) -> Term {
        let path = self.pcs.path(state.pc);
        let mut kept: Vec<Term> = path
            .into_iter()
            .filter(|&t| self.terms.size(t) <= MAX_LITERAL && self.speaks_of_inputs(t))
            .collect();
        kept.sort_by_key(|&t| self.terms.size(t));
        kept.truncate(MAX_LITERALS);
        self.terms.and(kept)
    }

    fn speaks_of_inputs(&self, t: Term) -> bool {
        let symbols = self.symbols_in(t);
        symbols.iter().all(|s| match &self.sym_kinds[s.0 as usize] {
            SymKind::Arg(_) => true,
            SymKind::Init { base, epoch, .. } => *epoch == Terms::NULL && self.is_nameable(*base),
            SymKind::Opaque(_) => false,
        })
    }
}

/// How many facts two outcomes differ in.
fn distance(a: &[(Cell, bool)], b: &[(Cell, bool)]) -> usize {
    let only = |x: &[(Cell, bool)], y: &[(Cell, bool)]| x.iter().filter(|f| !y.contains(f)).count();
    only(a, b) + only(b, a)
}
