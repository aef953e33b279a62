//! Unit propagation over the boolean structure of terms, kept for many questions about one path.
//!
//! In: conditions that hold (`assume`). Out: whether a further one can hold beside them (`rules_out`). Every
//! conjunction is a gate: it holds when all its parts do, and when it does not and all parts but one hold, that
//! one does not. A comparison with a constant decides others of the same value. A question costs what follows from
//! it, however long the path is. "Cannot" is certain; what would need a case split is left open.

use crate::{Cmp, Node, Term, Terms};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Comparisons of one value that are looked at together.
const MAX_RELATED: usize = 24;

/// Disjunctions that one question may be split by, and how many alternatives each may have.
const MAX_SPLITS: usize = 8;
const MAX_ALTERNATIVES: usize = 8;

/// A gate or atom with a sign: odd when it is negated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Literal(u32);

impl Literal {
    /// Of no gate.
    const NONE: Self = Self(u32::MAX);

    fn new(node: usize, holds: bool) -> Self {
        Self((node as u32) << 1 | u32::from(!holds))
    }
    fn node(self) -> usize {
        (self.0 >> 1) as usize
    }
    fn holds(self) -> bool {
        self.0 & 1 == 0
    }
    fn negated(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// A conjunction, or an atom, which has no parts. What it is known to be stands in `Units::truths`.
struct Gate {
    /// Where its parts are among those of all gates.
    first: u32,
    end: u32,
    /// How many of the parts are known to hold, and have told so.
    holding: u32,
    /// Its wholes have counted it.
    told: bool,
    /// An atom has no parts, and holds by itself or not.
    atom: Option<Term>,
    /// What an atom states, among the bounds.
    bound: Option<u32>,
    /// The conjunctions it is a part of, and whether as itself or negated.
    wholes: SmallVec<[Literal; 4]>,
}

impl Gate {
    fn parts(&self) -> std::ops::Range<usize> {
        self.first as usize..self.end as usize
    }
}

/// `subject cmp constant`: the signed values for which it holds.
#[derive(Clone, Copy)]
struct Bound {
    subject: Term,
    lo: i64,
    hi: i64,
    /// All values that the subject can have.
    range: (i64, i64),
}

impl Bound {
    /// What an atom states; none when it does not compare with a constant.
    fn of(terms: &Terms, atom: Term) -> Option<Self> {
        let Node::Cmp { cmp, lhs, rhs } = *terms.node(atom) else { return None };
        let (subject, constant, flipped) = match (terms.as_signed(lhs), terms.as_signed(rhs)) {
            (None, Some(c)) => (lhs, c, false),
            (Some(c), None) => (rhs, c, true),
            _ => return None,
        };
        let (lo, hi) = match (cmp, flipped) {
            (Cmp::Eq, _) => (constant, constant),
            (Cmp::SLt, false) => (i64::MIN, constant.checked_sub(1)?),
            (Cmp::SLe, false) => (i64::MIN, constant),
            (Cmp::SLt, true) => (constant.checked_add(1)?, i64::MAX),
            (Cmp::SLe, true) => (constant, i64::MAX),
            (Cmp::ULt | Cmp::ULe, _) => return None,
        };
        Some(Self { subject, lo, hi, range: terms.range(subject) })
    }
}

/// The values that are left for a subject.
struct Values {
    lo: i64,
    hi: i64,
    excluded: SmallVec<[i64; 8]>,
}

impl Values {
    fn of(bound: &Bound) -> Self {
        Self { lo: bound.range.0, hi: bound.range.1, excluded: SmallVec::new() }
    }

    /// Keeps those for which the bound holds, or does not; false when there are none.
    fn narrow(&mut self, b: &Bound, holds: bool) -> bool {
        match (holds, b.lo, b.hi) {
            (true, lo, hi) => {
                self.lo = self.lo.max(lo);
                self.hi = self.hi.min(hi);
            }
            (false, lo, hi) if lo == hi => self.excluded.push(lo),
            (false, i64::MIN, hi) => self.lo = self.lo.max(hi.saturating_add(1)),
            (false, lo, _) => self.hi = self.hi.min(lo.saturating_sub(1)),
        }
        let only_excluded = self.lo == self.hi && self.excluded.contains(&self.lo);
        self.lo <= self.hi && !only_excluded
    }

    /// Whether a bound holds for all of them, or for none.
    fn decide(&self, b: &Bound) -> Option<bool> {
        if b.lo > self.hi || b.hi < self.lo || (b.lo == b.hi && self.excluded.contains(&b.lo)) {
            return Some(false);
        }
        (b.lo <= self.lo && self.hi <= b.hi).then_some(true)
    }
}

/// How much was assumed.
#[derive(Clone, Copy)]
pub struct Mark {
    assumed: usize,
    contradiction: bool,
}

/// What is assumed, and all that follows.
#[derive(Default)]
pub struct Units {
    /// By term; `NONE` for those that nobody spoke of.
    literals: Vec<Literal>,
    /// The terms that have a literal.
    spoken_of: Vec<Term>,
    gates: Vec<Gate>,
    /// The parts of all gates.
    parts: Vec<Literal>,
    /// What gates are known to be. Apart from them, as it is looked at most.
    truths: Vec<Option<bool>>,
    bounds: Vec<Bound>,
    /// Comparisons by the value that they speak of.
    related: FxHashMap<Term, Vec<u32>>,
    /// Gates that have a truth, in the order in which they got it.
    trail: Vec<u32>,
    /// So many of them have told their wholes.
    told: usize,
    contradiction: bool,
    /// Questions are asked beside the first so many of the trail.
    basis: usize,
    /// By gate: whether it was found that it may hold beside the basis, and that it may not.
    possible: Vec<[bool; 2]>,
}

impl Units {
    /// Nothing is assumed any more, and nothing was ever spoken of. The memory stays for the next path.
    pub fn clear(&mut self) {
        for t in self.spoken_of.drain(..) {
            self.literals[t.0 as usize] = Literal::NONE;
        }
        self.gates.clear();
        self.parts.clear();
        self.truths.clear();
        self.bounds.clear();
        self.related.clear();
        self.trail.clear();
        self.told = 0;
        self.contradiction = false;
        self.basis = 0;
        self.possible.clear();
    }

    /// From now on questions are asked beside what is assumed so far: of what is found possible, it is remembered.
    pub fn ask_from_here(&mut self) {
        self.basis = self.trail.len();
        self.possible.fill([false; 2]);
    }

    /// From now on the condition holds.
    pub fn assume(&mut self, terms: &Terms, t: Term) {
        if self.contradiction {
            return;
        }
        let literal = self.literal(terms, t);
        let consistent = self.set(literal) && self.propagate();
        self.contradiction |= !consistent;
    }

    /// Whether the conditions that were assumed contradict each other.
    pub fn is_contradiction(&self) -> bool {
        self.contradiction
    }

    /// Whether a condition cannot hold beside what is assumed.
    pub fn rules_out(&mut self, terms: &Terms, t: Term) -> bool {
        if self.contradiction {
            return true;
        }
        let mark = self.mark();
        let literal = self.literal(terms, t);
        let known = mark.assumed == self.basis && self.is_possible(literal);
        let possible = known || (self.set(literal) && self.propagate());
        if possible && !known {
            self.note_possible();
        }
        self.forget(mark);
        !possible
    }

    /// Whether the literal followed from something that did not contradict the basis. What follows from it follows
    /// from that, too, and gates that were added since are only names for what others are: it does not contradict
    /// it either.
    fn is_possible(&self, literal: Literal) -> bool {
        self.possible[literal.node()][usize::from(literal.holds())]
    }

    /// What is known now is consistent.
    fn note_possible(&mut self) {
        for &gate in self.trail.get(self.basis..).unwrap_or_default() {
            if let Some(holds) = self.truths[gate as usize] {
                self.possible[gate as usize][usize::from(holds)] = true;
            }
        }
    }

    /// The atoms that are known, with their truth.
    pub fn known_atoms(&self) -> Vec<(Term, bool)> {
        self.atoms_since(0)
    }

    fn atoms_since(&self, assumed: usize) -> Vec<(Term, bool)> {
        let known = self.trail[assumed..].iter().map(|&g| g as usize);
        known.filter_map(|g| self.gates[g].atom.zip(self.truths[g])).collect()
    }

    /// The atoms, with their truth, that are not known yet and follow from a condition beside what is assumed; none
    /// when it is ruled out. That takes one case split more than `rules_out`: it also is when every alternative of some
    /// disjunction is.
    pub fn consequences(&mut self, terms: &Terms, t: Term) -> Option<Vec<(Term, bool)>> {
        let mark = self.mark();
        self.assume(terms, t);
        let ruled_out = self.contradiction || self.has_no_case();
        let new = (!ruled_out).then(|| self.atoms_since(mark.assumed));
        self.forget(mark);
        new
    }

    /// Whether some disjunction that must hold has no alternative left.
    fn has_no_case(&mut self) -> bool {
        let latest = self.trail.iter().rev().map(|&g| g as usize);
        let mut open: SmallVec<[usize; MAX_SPLITS]> =
            latest.filter(|&g| self.is_open(g)).take(MAX_SPLITS).collect();
        while let Some(&gate) = open.first() {
            if !self.has_case(gate, &mut open) {
                return true;
            }
        }
        false
    }

    /// Whether one of the parts of a conjunction may be what does not hold. All of those that are open and of which one
    /// does not hold then are not open any more: they have a case, too.
    fn has_case(&mut self, gate: usize, open: &mut SmallVec<[usize; MAX_SPLITS]>) -> bool {
        self.gates[gate].parts().any(|i| {
            let part = self.parts[i];
            if self.truth(part) == Some(true) {
                return false;
            }
            let mark = self.mark();
            let possible = self.set(part.negated()) && self.propagate();
            if possible {
                self.note_possible();
                open.retain(|g| self.is_open(*g));
            }
            self.forget(mark);
            possible
        })
    }

    /// A conjunction that does not hold, of which it is not known which part does not.
    fn is_open(&self, gate: usize) -> bool {
        let Gate { atom, .. } = self.gates[gate];
        let parts = &self.parts[self.gates[gate].parts()];
        atom.is_none()
            && self.truths[gate] == Some(false)
            && parts.len() <= MAX_ALTERNATIVES
            && parts.iter().all(|&p| self.truth(p) != Some(false))
    }

    /// The state to which `forget` goes back.
    pub fn mark(&self) -> Mark {
        Mark { assumed: self.trail.len(), contradiction: self.contradiction }
    }

    /// Takes back what was assumed since.
    pub fn forget(&mut self, mark: Mark) {
        while self.trail.len() > mark.assumed {
            let Some(gate) = self.trail.pop().map(|g| g as usize) else { break };
            if self.gates[gate].told {
                self.count_wholes(gate, |holding| holding - 1);
                self.gates[gate].told = false;
            }
            self.truths[gate] = None;
        }
        self.told = self.told.min(self.trail.len());
        self.contradiction = mark.contradiction;
    }

    /// The literal of a condition, with the gates below it.
    fn literal(&mut self, terms: &Terms, root: Term) -> Literal {
        if self.literals.len() < terms.len() {
            self.literals.resize(terms.len(), Literal::NONE);
        }
        let mut work: SmallVec<[(Term, bool); 32]> = SmallVec::new();
        work.push((root, false));
        while let Some((t, ready)) = work.pop() {
            if self.literal_of(t) != Literal::NONE {
                continue;
            }
            let node = terms.node(t);
            match node {
                Node::Not(x) if !ready => work.extend([(t, true), (*x, false)]),
                Node::And(items) | Node::Or(items) if !ready => {
                    work.push((t, true));
                    work.extend(items.iter().map(|&i| (i, false)));
                }
                _ => {
                    self.literals[t.0 as usize] = self.define(terms, t, node);
                    self.spoken_of.push(t);
                }
            }
        }
        self.literal_of(root)
    }

    fn literal_of(&self, t: Term) -> Literal {
        self.literals[t.0 as usize]
    }

    fn define(&mut self, terms: &Terms, t: Term, node: &Node) -> Literal {
        match node {
            Node::Not(x) => self.literal_of(*x).negated(),
            Node::And(items) => self.conjunction(items, true),
            Node::Or(items) => self.conjunction(items, false).negated(),
            Node::Bool(true) => self.conjunction(&[], true),
            Node::Bool(false) => self.conjunction(&[], true).negated(),
            _ => Literal::new(self.atom(terms, t), true),
        }
    }

    fn atom(&mut self, terms: &Terms, t: Term) -> usize {
        let atom = self.gate(Some(t));
        if let Some(bound) = Bound::of(terms, t) {
            self.gates[atom].bound = Some(self.bounds.len() as u32);
            self.bounds.push(bound);
            self.related.entry(bound.subject).or_default().push(atom as u32);
        }
        atom
    }

    /// All of the items have this truth.
    fn conjunction(&mut self, items: &[Term], truth: bool) -> Literal {
        let whole = self.gate(None);
        for &item in items {
            let literal = self.literal_of(item);
            let part = if truth { literal } else { literal.negated() };
            self.parts.push(part);
            self.gates[part.node()].wholes.push(Literal::new(whole, part.holds()));
        }
        self.gates[whole].end = self.parts.len() as u32;
        self.start(whole);
        Literal::new(whole, true)
    }

    /// What a new conjunction is by the parts that are known already. It is known no longer than what was assumed
    /// last: a question may be left open by this, but never answered wrongly.
    fn start(&mut self, whole: usize) {
        let parts = &self.parts[self.gates[whole].parts()];
        let is_told = |p: Literal| self.gates[p.node()].told;
        let (mut known, mut told, mut fails) = (0, 0, false);
        for &part in parts {
            let truth = self.truth(part);
            known += usize::from(truth.is_some());
            told += u32::from(truth == Some(true) && is_told(part));
            fails |= truth == Some(false);
        }
        let all_known = known == parts.len();
        self.gates[whole].holding = told;
        if fails {
            self.set(Literal::new(whole, false));
        } else if all_known {
            self.set(Literal::new(whole, true));
        }
    }

    fn truth(&self, literal: Literal) -> Option<bool> {
        self.truths[literal.node()].map(|t| t == literal.holds())
    }

    /// False when the opposite is known.
    fn set(&mut self, literal: Literal) -> bool {
        match &mut self.truths[literal.node()] {
            Some(truth) => *truth == literal.holds(),
            unknown => {
                *unknown = Some(literal.holds());
                self.trail.push(literal.node() as u32);
                true
            }
        }
    }

    /// Tells what is known to whom it concerns; false when something contradicts.
    fn propagate(&mut self) -> bool {
        while self.told < self.trail.len() {
            let gate = self.trail[self.told] as usize;
            self.told += 1;
            self.count_wholes(gate, |holding| holding + 1);
            self.gates[gate].told = true;
            if !(self.tell_parts(gate) && self.tell_wholes(gate) && self.tell_related(gate)) {
                return false;
            }
        }
        true
    }

    /// Corrects the counts of the conjunctions in which a gate is a part that holds.
    fn count_wholes(&mut self, gate: usize, correct: impl Fn(u32) -> u32) {
        let truth = self.truths[gate];
        for i in 0..self.gates[gate].wholes.len() {
            let whole = self.gates[gate].wholes[i];
            if truth == Some(whole.holds()) {
                let counted = &mut self.gates[whole.node()].holding;
                *counted = correct(*counted);
            }
        }
    }

    fn tell_parts(&mut self, gate: usize) -> bool {
        if self.gates[gate].atom.is_some() {
            return true;
        }
        if self.truths[gate] == Some(true) {
            return self.gates[gate].parts().all(|i| self.set(self.parts[i]));
        }
        self.tell_last_part(gate)
    }

    /// A conjunction that does not hold, of which all parts but one do: that one does not.
    fn tell_last_part(&mut self, gate: usize) -> bool {
        if self.truths[gate] != Some(false) {
            return true;
        }
        let parts = self.gates[gate].parts();
        if (self.gates[gate].holding as usize) + 1 < parts.len() {
            return true;
        }
        match self.parts[parts].iter().find(|&&p| self.truth(p) != Some(true)) {
            Some(&last) => self.set(last.negated()),
            None => false,
        }
    }

    fn tell_wholes(&mut self, gate: usize) -> bool {
        let truth = self.truths[gate];
        (0..self.gates[gate].wholes.len()).all(|i| {
            let whole = self.gates[gate].wholes[i];
            let node = whole.node();
            if truth != Some(whole.holds()) {
                self.set(Literal::new(node, false))
            } else if self.gates[node].holding as usize == self.gates[node].parts().len() {
                self.set(Literal::new(node, true))
            } else {
                self.tell_last_part(node)
            }
        })
    }

    /// Comparisons of the same value, as far as those that are known decide them.
    fn tell_related(&mut self, gate: usize) -> bool {
        let Some(bound) = self.bound(gate) else { return true };
        let related = &self.related[&bound.subject];
        let related: SmallVec<[u32; MAX_RELATED]> =
            related.iter().rev().take(MAX_RELATED).copied().collect();
        let mut left = Values::of(bound);
        let mut known = related.iter().filter_map(|&g| self.known_bound(g as usize));
        if !known.all(|(b, holds)| left.narrow(b, holds)) {
            return false;
        }
        related.into_iter().map(|g| g as usize).all(|g| match self.truths[g] {
            Some(_) => true,
            None => match self.bound(g).and_then(|b| left.decide(b)) {
                Some(holds) => self.set(Literal::new(g, holds)),
                None => true,
            },
        })
    }

    /// What an atom states.
    fn bound(&self, gate: usize) -> Option<&Bound> {
        self.gates[gate].bound.map(|b| &self.bounds[b as usize])
    }

    fn known_bound(&self, gate: usize) -> Option<(&Bound, bool)> {
        self.bound(gate).zip(self.truths[gate])
    }

    /// A new gate without parts, which an atom never gets.
    fn gate(&mut self, atom: Option<Term>) -> usize {
        let end = self.parts.len() as u32;
        let wholes = SmallVec::new();
        self.gates.push(Gate {
            first: end,
            end,
            holding: 0,
            told: false,
            atom,
            bound: None,
            wholes,
        });
        self.truths.push(None);
        self.possible.push([false; 2]);
        self.gates.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::Units;
    use crate::{Cmp, SymInfo, Term, Terms};

    fn symbol(terms: &mut Terms, bits: u16) -> Term {
        let info = SymInfo { bits, range: None, nonzero: false, outside: false };
        let sym = terms.new_sym(info);
        terms.sym(sym)
    }

    #[test]
    fn the_last_of_several_outcomes_is_what_is_left() {
        let mut terms = Terms::new();
        let (a, b, c) = (symbol(&mut terms, 1), symbol(&mut terms, 1), symbol(&mut terms, 1));
        let one = terms.or([a, b, c]);
        let mut units = Units::default();
        units.assume(&terms, one);
        let not_a = terms.not(a);
        units.assume(&terms, not_a);
        let neither = {
            let (b, c) = (terms.not(b), terms.not(c));
            terms.and2(b, c)
        };
        assert!(units.rules_out(&terms, neither));
        assert!(!units.rules_out(&terms, b) && !units.is_contradiction());
        let mark = units.mark();
        let not_b = terms.not(b);
        units.assume(&terms, not_b);
        let not_c = terms.not(c);
        assert!(units.rules_out(&terms, not_c));
        units.forget(mark);
        assert!(!units.rules_out(&terms, not_c));
    }

    #[test]
    fn parts_that_are_known_before_the_whole_count_once() {
        let mut terms = Terms::new();
        let (a, b, c) = (symbol(&mut terms, 1), symbol(&mut terms, 1), symbol(&mut terms, 1));
        let mut units = Units::default();
        units.assume(&terms, a);
        units.assume(&terms, b);
        let inner = terms.and2(a, b);
        let (not_inner, d) = (terms.not(inner), symbol(&mut terms, 1));
        let either = terms.or([not_inner, c, d]);
        units.assume(&terms, either);
        assert!(!units.is_contradiction());
        let (not_c, not_d) = (terms.not(c), terms.not(d));
        assert!(!units.rules_out(&terms, not_c));
        units.assume(&terms, not_c);
        assert!(!units.is_contradiction() && units.rules_out(&terms, not_d));
    }

    #[test]
    fn comparisons_with_constants_decide_each_other() {
        let mut terms = Terms::new();
        let x = symbol(&mut terms, 32);
        let (two, five) = (terms.int(32, 2), terms.int(32, 5));
        let (is_two, is_five) = (terms.eq(x, two), terms.eq(x, five));
        let below = terms.cmp(Cmp::SLt, x, five);
        let mut units = Units::default();
        units.assume(&terms, is_two);
        assert!(units.rules_out(&terms, is_five));
        let not_below = terms.not(below);
        assert!(units.rules_out(&terms, not_below) && !units.rules_out(&terms, below));
    }

    #[test]
    fn what_no_case_allows_is_ruled_out_by_cases_only() {
        let mut terms = Terms::new();
        let (a, b) = (symbol(&mut terms, 1), symbol(&mut terms, 1));
        let (not_a, not_b) = (terms.not(a), terms.not(b));
        let mut units = Units::default();
        for both in [[a, b], [not_a, b], [a, not_b]] {
            let one = terms.or(both);
            units.assume(&terms, one);
        }
        let one_fails = terms.or2(not_a, not_b);
        assert!(!units.rules_out(&terms, one_fails));
        assert_eq!(units.consequences(&terms, one_fails), None);
        let one_holds = terms.or2(a, b);
        assert!(units.consequences(&terms, one_holds).is_some());
    }

    #[test]
    fn what_follows_from_a_condition_is_told_apart_from_what_is_known() {
        let mut terms = Terms::new();
        let [a, b, c] = [0; 3].map(|_| symbol(&mut terms, 1));
        let mut units = Units::default();
        units.assume(&terms, c);
        let not_a = terms.not(a);
        let implied = terms.or2(not_a, b);
        units.assume(&terms, implied);
        assert_eq!(units.known_atoms(), [(c, true)]);
        assert_eq!(units.consequences(&terms, a), Some(vec![(a, true), (b, true)]));
        let not_b = terms.not(b);
        assert_eq!(units.consequences(&terms, not_b), Some(vec![(b, false), (a, false)]));
        assert_eq!(units.known_atoms(), [(c, true)]);
    }

    #[test]
    fn contradictions_stay_until_they_are_forgotten() {
        let mut terms = Terms::new();
        let a = symbol(&mut terms, 1);
        let not_a = terms.not(a);
        let mut units = Units::default();
        let mark = units.mark();
        units.assume(&terms, a);
        units.assume(&terms, not_a);
        assert!(units.is_contradiction() && units.rules_out(&terms, Terms::TRUE));
        units.forget(mark);
        assert!(!units.is_contradiction() && !units.rules_out(&terms, not_a));
    }
}
