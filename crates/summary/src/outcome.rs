//! The exits of a function as one state, for its summary.
//!
//! Exactly, as long as that is small: every difference between two exits depends on the paths
//! that led to them. Otherwise by outcome: exits that return the same kind of value and did the
//! same to every object are one outcome, and which of them a call has is a private symbol. So
//! everything that one outcome does stays together, whatever the conditions that were cut.

use crate::exec::Exec;
use crate::export::MAX_NUMBER_DEPTH;
use crate::marks::{ARGUMENT, GLOBAL, OTHERS, OWN};
use crate::result::Answered;
use crate::state::{Cell, PathConditions, State};
use crate::vocabulary::{BaseKind, Slot, SymKind, What};
use crate::way::Way;
use leakproof_guard::{Assumption, Base, Cmp, Node, Sym, Term, Terms, necessary, signed_limits};
use leakproof_ir::Loc;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;

/// More outcomes than this are not told apart.
const MAX_OUTCOMES: usize = 10;
/// How much more a difference in objects that are near to callers counts than one in others.
const NEAR: usize = 4;
/// What callers are told about when an outcome happens: so many conditions of at most this size.
const MAX_LITERALS: usize = 8;
const MAX_LITERAL: u32 = 10;
/// Those that are about a number that callers get may be this large.
const MAX_GIVEN: u32 = 40;
/// What follows from larger paths is not worked out.
pub(crate) const MAX_PATH: u32 = 3000;
/// So many are kept of each exit until then.
const MAX_INPUTS: usize = 24;

/// A choice between more numbers than this is not told.
const MAX_NUMBERS: u32 = 4;

/// A choice with more branches than this is not looked through.
pub(crate) const MAX_WIDTH: u32 = 32;

/// Of a pointer that one outcome leaves in a larger form than this only the alternatives are told: together, all outcomes
/// would be too large, and nothing would be known of any.
const MAX_VALUE: u32 = 100;

/// Conditions and numbers larger than this are not told.
const MAX_CONDITION: u32 = 12;

/// What a caller can tell about a returned value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Returned {
    Nothing,
    Exception,
    Null,
    Negative,
    Positive,
    Object(u32),
    Unknown,
}

/// What tells outcomes apart: the kind of value, and the facts about objects, certain or not.
type Key = (Returned, Vec<(Cell, bool)>);

/// Exits that are one outcome.
struct Outcome {
    key: Key,
    state: State,
    value: Option<Term>,
    /// What all their paths say about the value.
    answers: Vec<Answered>,
    /// Small conditions on inputs that hold on all their paths.
    inputs: Vec<Term>,
}

/// Outcomes joined by symbols.
struct Chosen {
    state: State,
    value: Option<Term>,
    /// What is told about when which of them happens.
    told: Term,
}

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
        let (open, cut) = self.outcomes();
        let open = self.choice(open, What::Open);
        let cut = self.choice(cut, What::Outcome);
        let either = match (open, cut) {
            (Some(open), Some(cut)) => {
                let name = self.function.source_name.clone();
                let is_cut = self.opaque(1, What::Cut, &name, Loc::default());
                self.either(is_cut, cut, open)
            }
            (open, cut) => open.or(cut)?,
        };
        let mut state = either.state;
        state.pc = self.pcs.extend(&mut self.terms, PathConditions::ROOT, either.told)?;
        Some((state, either.value))
    }

    /// One of some outcomes, by symbols of their own.
    fn choice(&mut self, mut outcomes: Vec<Outcome>, what: What) -> Option<Chosen> {
        let last = outcomes.pop()?;
        let mut chosen = self.chosen(last);
        while let Some(outcome) = outcomes.pop() {
            let name = self.function.source_name.clone();
            let chooser = self.opaque(1, what, &name, Loc::default());
            let next = self.chosen(outcome);
            chosen = self.either(chooser, next, chosen);
        }
        Some(chosen)
    }

    fn chosen(&mut self, outcome: Outcome) -> Chosen {
        let told = self.told_condition(&outcome);
        let state = State { pc: PathConditions::ROOT, mem: outcome.state.mem };
        Chosen { state, value: outcome.value, told }
    }

    fn either(&mut self, chooser: Term, a: Chosen, b: Chosen) -> Chosen {
        let mem = self.chosen_cells(&a.state, &b.state, chooser);
        Chosen {
            state: State { pc: PathConditions::ROOT, mem },
            value: self.chosen_value(chooser, a.value, b.value),
            told: self.terms.ite(chooser, a.told, b.told),
        }
    }

    fn pruned_exits(&mut self) -> Vec<(State, Option<Term>)> {
        let mut exits = Vec::new();
        for i in 0..self.exits.len() {
            let state = self.exits[i].state.clone();
            let value = self.exits[i].value.map(|v| self.known_result(&state, v));
            let state = self.without_unreached(state, value);
            exits.push((state, value));
        }
        exits
    }

    /// What callers are told about when an outcome happens.
    fn told_condition(&mut self, outcome: &Outcome) -> Term {
        let inputs = self.terms.and(outcome.inputs.iter().copied().take(MAX_LITERALS));
        match outcome.value {
            Some(v) => {
                let answers = self.answers_about(&outcome.answers, v);
                self.terms.and2(inputs, answers)
            }
            None => inputs,
        }
    }

    /// The outcomes, each as short as callers are told: those that happen whatever else they know,
    /// and the others.
    fn outcomes(&mut self) -> (Vec<Outcome>, Vec<Outcome>) {
        let mut cut = FxHashMap::default();
        let (mut certain, mut others) = (Vec::new(), Vec::new());
        for o in self.grouped_exits() {
            let told = &o.inputs[..o.inputs.len().min(MAX_LITERALS)];
            let open = self.is_open(&o.state, told);
            let state = self.shortened_state(o.state, &mut cut);
            let value = o.value.map(|v| self.shortened_result(v, o.key.0, &mut cut));
            let mut state = self.without_unreached(state, value);
            let mut value = value;
            self.give_up_large_values(&mut state, &mut value, MAX_VALUE);
            if let (Some(full), Some(told)) = (o.value, value.filter(|v| o.value != Some(*v))) {
                self.hand_over_on_success(&mut state, full, told);
            }
            if open {
                self.hand_over_for_certain(&mut state);
            }
            let list = if open { &mut certain } else { &mut others };
            list.push(Outcome { state, value, ..o });
        }
        (certain, others)
    }

    /// Of an outcome that callers are to count on they are told only the objects that are certain:
    /// whether the others are there was cut.
    fn hand_over_for_certain(&mut self, state: &mut State) {
        for i in 0..self.objects.len() {
            let cell = (self.objects[i].base, Slot::Live);
            if let Some(&live) = state.mem.get(&cell) {
                let certain = self.certain(live);
                state.mem.insert(cell, certain);
            }
        }
    }

    /// A result that may mean success or failure was cut. What was handed over through arguments
    /// was then handed over on success, as it is the custom: zero, or one where the other is zero, or
    /// not negative where something is counted and failures are negative.
    fn hand_over_on_success(&mut self, state: &mut State, full: Term, told: Term) {
        if self.terms.bits(told) < 2 || self.terms.has_addr(full) {
            return;
        }
        let values = self.terms.alternatives(full);
        let known: Vec<Option<i64>> = values.iter().map(|&t| self.terms.as_signed(t)).collect();
        let may_be_zero = |&t: &Term| matches!(self.terms.range(t), (lo, hi) if lo <= 0 && hi >= 0);
        if values.len() < 2 || !values.iter().any(may_be_zero) {
            return;
        }
        let zero = self.terms.int(self.terms.bits(told), 0);
        let is_zero = self.terms.eq(told, zero);
        let is_flag = known.iter().all(|v| matches!(v, Some(0 | 1)));
        let succeeded = if is_flag {
            self.terms.not(is_zero)
        } else if values.iter().any(|&t| self.is_counted(t)) && self.fails_below_zero() {
            let is_negative = self.terms.cmp(Cmp::SLt, told, zero);
            self.terms.not(is_negative)
        } else {
            is_zero
        };
        for i in 0..self.objects.len() {
            let cell = (self.objects[i].base, Slot::Live);
            if let Some(&live) = state.mem.get(&cell) {
                let both = self.terms.and2(live, succeeded);
                state.mem.insert(cell, both);
            }
        }
    }

    /// Whether a number is computed here, in a loop for instance. Others are the results of callees.
    fn is_counted(&self, t: Term) -> bool {
        match *self.terms.node(t) {
            Node::Bin { .. } => true,
            Node::Cast { value, .. } => self.is_counted(value),
            Node::Sym(s) => {
                matches!(&self.sym_kinds[s.0 as usize], SymKind::Opaque(o) if o.what == What::Loop)
            }
            _ => false,
        }
    }

    /// Whether some exit returns a negative number.
    fn fails_below_zero(&self) -> bool {
        let results = self.exits.iter().filter_map(|e| e.value);
        results.flat_map(|v| self.terms.alternatives(v)).any(|t| self.terms.range(t).1 < 0)
    }

    /// The exits, those of the same outcome joined; of too many outcomes, the nearest.
    fn grouped_exits(&mut self) -> Vec<Outcome> {
        let mut list: Vec<Outcome> = Vec::new();
        for way in self.settled_ways() {
            let next = self.outcome(way);
            match list.iter().position(|o| o.key == next.key && o.answers == next.answers) {
                Some(i) => {
                    let old = list.remove(i);
                    list.insert(i, self.joined_outcome(old, next));
                }
                None => list.push(next),
            }
            if list.len() > MAX_OUTCOMES
                && let Some((i, j)) = self.nearest_pair(&list)
            {
                let second = list.remove(j);
                let first = list.remove(i);
                list.insert(i, self.joined_outcome(first, second));
            }
        }
        list
    }

    /// The two outcomes that callers can do best without telling apart.
    fn nearest_pair(&self, list: &[Outcome]) -> Option<(usize, usize)> {
        let pairs = (0..list.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        let alike = pairs.filter(|&(i, j)| list[i].key.0 == list[j].key.0);
        alike.min_by_key(|&(i, j)| self.distance(&list[i], &list[j]))
    }

    /// In how much two outcomes differ: what happened to objects, what is said about the result,
    /// and on which inputs they happen.
    fn distance(&self, a: &Outcome, b: &Outcome) -> usize {
        let opposed =
            a.inputs.iter().filter(|&&x| b.inputs.iter().any(|&y| self.terms.complementary(x, y)));
        let facts: usize =
            differing_sorted(&a.key.1, &b.key.1).map(|(cell, _)| self.weight(cell)).sum();
        facts + differing(&a.answers, &b.answers) + opposed.count()
    }

    /// What became of objects that callers get, or handed in themselves, matters more than what became of others that
    /// these lead to.
    fn weight(&self, (base, _): Cell) -> usize {
        let near = match self.terms.as_pointee(base) {
            Some(pointer) => self.pointer_depth(pointer) == Some(0),
            None => true,
        };
        if near { NEAR } else { 1 }
    }

    fn outcome(&mut self, way: Way) -> Outcome {
        let Way { state, value, answers, mut inputs } = way;
        let key = self.outcome_key(&state, value);
        inputs.extend(self.kept_literals(&state, value));
        inputs.sort_by_key(|&t| (self.terms.size(t), t));
        inputs.dedup();
        inputs.truncate(MAX_INPUTS);
        Outcome { key, state, value, answers, inputs }
    }

    fn joined_outcome(&mut self, mut a: Outcome, mut b: Outcome) -> Outcome {
        self.guard_changes(&mut a, &b.state);
        self.guard_changes(&mut b, &a.state);
        let (state, value) = self.join_outcomes(a.state, a.value, b.state, b.value);
        let answers = a.answers.into_iter().filter(|x| b.answers.contains(x)).collect();
        let mut inputs = self.kept_literals(&state, value);
        let shared = a.inputs.into_iter().filter(|x| b.inputs.contains(x));
        inputs.extend(shared);
        inputs.sort_by_key(|&t| (self.terms.size(t), t));
        inputs.dedup();
        Outcome { key: a.key, state, value, answers, inputs }
    }

    /// Puts what an outcome knows of the old contents of a cell before the new ones, where another outcome does not
    /// change it alike: what is set only while it is null stays as it is afterwards, also when it is cut
    /// which of the outcomes it was.
    fn guard_changes(&mut self, outcome: &mut Outcome, other: &State) {
        let mut known: FxHashMap<Sym, Vec<Term>> = FxHashMap::default();
        for &t in &outcome.inputs {
            let symbols = self.symbols_in(t);
            if let (1, Some(&s)) = (symbols.len(), symbols.iter().next()) {
                known.entry(s).or_default().push(t);
            }
        }
        let mut symbols: Vec<Sym> = known.keys().copied().collect();
        symbols.sort_unstable();
        for s in symbols {
            let SymKind::Init { base, slot, epoch: Terms::NULL } = self.sym_kinds[s.0 as usize]
            else {
                continue;
            };
            let cell = (base, slot);
            let Some(&new) = outcome.state.mem.get(&cell) else { continue };
            let old = self.terms.sym(s);
            let alike = other.mem.get(&cell) == Some(&new);
            if !alike && new != old && self.terms.bits(new) == self.terms.bits(old) {
                let condition = self.terms.and(known[&s].iter().copied());
                let guarded = self.terms.ite(condition, new, old);
                outcome.state.mem.insert(cell, guarded);
            }
        }
    }

    /// The state with every value shortened; pointers that this loses are out of sight.
    fn shortened_state(&mut self, mut state: State, cut: &mut FxHashMap<Term, Term>) -> State {
        let mut cells: Vec<(Cell, Term)> = state.mem.iter().map(|(c, t)| (*c, *t)).collect();
        cells.sort_by_key(|(_, t)| !self.terms.has_addr(*t));
        for (cell, t) in cells {
            // What is made once, and the flag that says so: globals keep them from call to call.
            let is_global = matches!(self.kind(cell.0), BaseKind::Global(_));
            let short = if is_global && self.is_known_choice(t) {
                self.shortened_choice(t, cut)
            } else {
                let set_once = is_global && self.is_too_large_a_number(t);
                let kept = set_once.then(|| self.kept_or_changed(t, cell, cut)).flatten();
                kept.unwrap_or_else(|| self.shortened(t, cut))
            };
            let short = self.or_unchanged(cell, t, short);
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
            Node::Ite { cond, then, otherwise }
                if pointer || self.goes_with_others(t, cond, cut) =>
            {
                let c = self.shortened(cond, cut);
                let (a, b) = (self.shortened(then, cut), self.shortened(otherwise, cut));
                self.terms.ite(c, a, b)
            }
            Node::And(_) | Node::Or(_) if self.terms.size(t) <= 4 * MAX_CONDITION => t,
            Node::Tuple(_) => t,
            // Which object it points into is told; where in it, is not.
            Node::Elem { base, offset, stride, index, area } if pointer => {
                let index = self.shortened(index, cut);
                self.terms.elem_in(base, offset, stride, index, area)
            }
            _ if pointer => t,
            _ => self.cut_off(t),
        };
        cut.insert(t, short);
        short
    }

    /// Whether a value is one of two that callers know: what was there before, or a constant. With more, the
    /// conditions of callers grow until their questions are too dear.
    fn is_known_choice(&self, t: Term) -> bool {
        if self.terms.width(t) > MAX_WIDTH {
            return false;
        }
        let values = self.terms.alternatives(t);
        let mut known = values.iter().map(|&t| self.is_known_to_callers(t));
        let is_pointer = self.terms.bits(t) == 64;
        values.len() <= 2 && if is_pointer { known.any(|k| k) } else { known.all(|k| k) }
    }

    /// A choice with its conditions shortened, and all its alternatives.
    fn shortened_choice(&mut self, t: Term, cut: &mut FxHashMap<Term, Term>) -> Term {
        match *self.terms.node(t) {
            Node::Ite { cond, then, otherwise } => {
                let c = self.shortened(cond, cut);
                let a = self.shortened_choice(then, cut);
                let b = self.shortened_choice(otherwise, cut);
                self.terms.ite(c, a, b)
            }
            _ => t,
        }
    }

    /// Whether nothing of a value would be told.
    fn is_too_large_a_number(&self, t: Term) -> bool {
        self.terms.size(t) > MAX_CONDITION && !self.terms.has_addr(t)
    }

    /// What a cell held before, or something else, where that needs something of what it held: what is set only while it
    /// is null stays as it is afterwards, whatever the conditions that are cut.
    fn kept_or_changed(
        &mut self,
        t: Term,
        cell: Cell,
        cut: &mut FxHashMap<Term, Term>,
    ) -> Option<Term> {
        let old = self.entry_value_in(t, cell)?;
        let needed = self.needed_of_old(t, old)?;
        let kept = self.where_equal(t, old, &mut FxHashMap::default());
        let changed = self.terms.not(kept);
        let changed = self.shortened(changed, cut);
        let new = self.shortened(t, cut);
        let changed = self.terms.and2(needed, changed);
        Some(self.terms.ite(changed, new, old))
    }

    /// Whether what was there before must be null, or must not, to be replaced.
    fn needed_of_old(&mut self, t: Term, old: Term) -> Option<Term> {
        let zero = self.terms.int(self.terms.bits(old), 0);
        let is_zero = self.terms.eq(old, zero);
        let decides = |exec: &mut Self, truth| {
            let mut given = Assumption::new(&exec.terms, is_zero, truth);
            exec.terms.assuming(t, &mut given) == old
        };
        if decides(self, false) {
            Some(is_zero)
        } else {
            decides(self, true).then(|| self.terms.not(is_zero))
        }
    }

    fn is_known_to_callers(&self, t: Term) -> bool {
        match *self.terms.node(t) {
            Node::Sym(s) => match &self.sym_kinds[s.0 as usize] {
                SymKind::Init { epoch, .. } => *epoch == Terms::NULL,
                _ => false,
            },
            _ => self.terms.as_int(t).is_some(),
        }
    }

    /// A symbol in the place of a condition or number; with a condition is told what it needs of the inputs.
    fn cut_off(&mut self, t: Term) -> Term {
        let bits = self.terms.bits(t).max(1);
        let what = if bits == 1 { What::Inner } else { What::Unknown };
        let name = self.function.source_name.clone();
        let range = (bits > 1).then(|| self.range_of_choice(t));
        let symbol = self.symbol_in(bits, range, what, &name, Loc::default());
        if bits > 1 || self.terms.size(t) > MAX_PATH {
            return symbol;
        }
        let needed = self.short_inputs(necessary(&self.terms, t));
        let parts: Vec<Term> = needed.into_iter().take(MAX_LITERALS).chain([symbol]).collect();
        self.terms.and(parts)
    }

    /// Those of some literals that callers can be told, the shortest first.
    pub(crate) fn short_inputs(&mut self, mut literals: Vec<(Term, bool)>) -> Vec<Term> {
        literals.retain(|&(atom, _)| self.is_short_input(atom));
        literals.sort_unstable_by_key(|&(atom, _)| (self.terms.size(atom), atom));
        let said = literals.into_iter().map(|(atom, truth)| match truth {
            true => atom,
            false => self.terms.not(atom),
        });
        said.collect()
    }

    /// Whether a condition speaks of nothing but inputs, and is short enough to be told.
    fn is_short_input(&self, t: Term) -> bool {
        self.terms.size(t) <= MAX_LITERAL && self.speaks_of_inputs(t, &FxHashSet::default())
    }

    /// Whether a number is a choice by the same condition as something that was shortened before: a count goes
    /// with the pointer that it belongs to.
    fn goes_with_others(&self, t: Term, cond: Term, cut: &FxHashMap<Term, Term>) -> bool {
        let positive = match *self.terms.node(cond) {
            Node::Not(x) => x,
            _ => cond,
        };
        self.terms.width(t) <= MAX_NUMBERS && cut.contains_key(&positive)
    }

    /// What all the values that a number is a choice of lie between.
    fn range_of_choice(&self, t: Term) -> (i64, i64) {
        let ranges = self.terms.alternatives(t).into_iter().map(|t| self.terms.range(t));
        let both = ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        both.unwrap_or_else(|| signed_limits(self.terms.bits(t)))
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

    /// The key of a settled state: facts that hold, and facts that may.
    fn outcome_key(&self, state: &State, value: Option<Term>) -> Key {
        let facts = state
            .mem
            .iter()
            .filter(|((base, slot), t)| {
                matches!(slot, Slot::Live | Slot::Freed | Slot::Escaped)
                    && self.concerns_callers(*base)
                    && **t != Terms::FALSE
            })
            .map(|(cell, t)| (*cell, *t == Terms::TRUE));
        let kind = match self.is_thrown(state) {
            Terms::TRUE => Returned::Exception,
            _ => self.returned_kind(value),
        };
        (kind, facts.collect())
    }

    /// Whether it is an object that callers get, or one that they may have handed in.
    pub(crate) fn concerns_callers(&self, base: Base) -> bool {
        matches!(self.kind(base), BaseKind::Heap(_) | BaseKind::Pointee) && self.may_be_owned(base)
    }

    pub(crate) fn returned_kind(&self, value: Option<Term>) -> Returned {
        let Some(t) = value else { return Returned::Nothing };
        match (self.terms.node(t), self.terms.as_signed(t)) {
            (_, Some(0)) | (Node::Bool(false), _) => Returned::Null,
            (_, Some(n)) if n < 0 => Returned::Negative,
            (_, Some(_)) | (Node::Bool(true), _) => Returned::Positive,
            (Node::Addr { base, .. }, _) => Returned::Object(base.0),
            _ => Returned::Unknown,
        }
    }

    /// The small conditions on inputs, and on numbers that callers are given, that hold whenever `state` is reached,
    /// the smallest first: those on the path, and those that follow from it.
    fn kept_literals(&mut self, state: &State, value: Option<Term>) -> Vec<Term> {
        let given = self.numbers_given(state, value);
        let mut kept = self.pcs.path(state.pc);
        let whole = self.pcs.formula(&mut self.terms, state.pc);
        if self.terms.size(whole) <= MAX_PATH {
            for (t, truth) in necessary(&self.terms, whole) {
                kept.push(if truth { t } else { self.terms.not(t) });
            }
        }
        kept.retain(|&t| {
            let most = if self.speaks_of_given(t, &given) { MAX_GIVEN } else { MAX_LITERAL };
            self.terms.size(t) <= most && self.speaks_of_inputs(t, &given)
        });
        kept.sort_by_key(|&t| (self.terms.size(t), t));
        kept.dedup();
        kept.truncate(MAX_INPUTS);
        kept
    }

    /// Symbols that callers get as numbers: the result, and what they find in their own memory.
    fn numbers_given(&self, state: &State, value: Option<Term>) -> FxHashSet<Sym> {
        let near = |base: Base| match self.terms.as_pointee(base) {
            Some(p) => self.pointer_depth(p).is_some_and(|d| d <= MAX_NUMBER_DEPTH),
            None => matches!(self.kind(base), BaseKind::Global(_)),
        };
        let told = state.mem.iter().filter(|((base, slot), _)| slot.is_contents() && near(*base));
        let numbers = told.map(|(_, &t)| t).chain(value);
        let symbols = numbers.filter_map(|t| match *self.terms.node(t) {
            Node::Sym(s) => Some(s),
            _ => None,
        });
        symbols.collect()
    }

    /// Whether a condition is about one of the numbers that callers get, and nothing else: one of several tokens.
    fn speaks_of_given(&self, t: Term, given: &FxHashSet<Sym>) -> bool {
        let size = self.terms.size(t);
        let small = !given.is_empty() && size > MAX_LITERAL && size <= MAX_GIVEN;
        small && self.symbols_in(t).iter().all(|s| given.contains(s))
    }

    fn speaks_of_inputs(&self, t: Term, given: &FxHashSet<Sym>) -> bool {
        if given.is_empty() && !self.speaks_only_of(t, ARGUMENT | GLOBAL | OWN | OTHERS) {
            return false;
        }
        let symbols = self.symbols_in(t);
        symbols.iter().all(|s| match &self.sym_kinds[s.0 as usize] {
            SymKind::Arg(_) => true,
            _ if given.contains(s) => true,
            SymKind::Init { slot: Slot::Every { .. }, .. } => false,
            SymKind::Init { base, epoch, .. } => *epoch == Terms::NULL && self.is_nameable(*base),
            SymKind::Opaque(_) => false,
        })
    }
}

/// The items of two sorted lists, in which nothing is twice, that only one of them has.
fn differing_sorted<T: Ord + Copy>(a: &[T], b: &[T]) -> impl Iterator<Item = T> {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        loop {
            let order = match (a.get(i), b.get(j)) {
                (Some(x), Some(y)) => x.cmp(y),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return None,
            };
            i += usize::from(order.is_le());
            j += usize::from(order.is_ge());
            match order {
                Ordering::Less => return Some(a[i - 1]),
                Ordering::Greater => return Some(b[j - 1]),
                Ordering::Equal => {}
            }
        }
    })
}

fn differing<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    let only = |x: &[T], y: &[T]| x.iter().filter(|f| !y.contains(f)).count();
    only(a, b) + only(b, a)
}
