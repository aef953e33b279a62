//! Unit propagation over the boolean structure of terms, kept for many questions about one path.
//!
//! In: conditions that hold (`assume`). Out: whether a further one can hold beside them (`rules_out`). Every
//! conjunction is a gate: it holds when all its parts do, and when it does not and all parts but one hold, that
//! one does not. A comparison with a constant decides others of the same value. A question costs what follows from
//! it, however long the path is. "Cannot" is certain; what would need a case split is left open.

use crate::{Cmp, Node, Term, Terms};
use rustc_hash::FxHashMap;

/// Comparisons of one value that are looked at together.
const MAX_RELATED: usize = 24;

/// Disjunctions that one question may be split by, and how many alternatives each may have.
const MAX_SPLITS: usize = 8;
const MAX_ALTERNATIVES: usize = 8;

/// A gate or atom with a sign: odd when it is negated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Literal(u32);

impl Literal {
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

/// A conjunction, or an atom, which has no parts.
struct Gate {
    parts: Vec<Literal>,
    /// The conjunctions it is a part of, and whether as itself or negated.
    wholes: Vec<Literal>,
    truth: Option<bool>,
    /// How many of the parts are known to hold, and have told so.
    holding: usize,
    /// Its wholes have counted it.
    told: bool,
    /// An atom has no parts, and holds by itself or not.
    atom: Option<Term>,
    bound: Option<Bound>,
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
#[derive(Clone)]
struct Values {
    lo: i64,
    hi: i64,
    excluded: Vec<i64>,
}

impl Values {
    fn of(bound: &Bound) -> Self {
        Self { lo: bound.range.0, hi: bound.range.1, excluded: Vec::new() }
    }

    /// Those for which the bound holds, or does not; none when there are none.
    fn narrowed(mut self, b: &Bound, holds: bool) -> Option<Self> {
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
        (self.lo <= self.hi && !only_excluded).then_some(self)
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
    literals: FxHashMap<Term, Literal>,
    gates: Vec<Gate>,
    /// Comparisons by the value that they speak of.
    related: FxHashMap<Term, Vec<usize>>,
    /// Gates that have a truth, in the order in which they got it.
    trail: Vec<usize>,
    /// So many of them have told their wholes.
    told: usize,
    contradiction: bool,
}

impl Units {
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
        let mark = self.mark();
        self.assume(terms, t);
        let ruled_out = self.contradiction;
        self.forget(mark);
        ruled_out
    }

    /// As `rules_out`, with one case split: it is also ruled out when every alternative of some disjunction is.
    pub fn rules_out_by_cases(&mut self, terms: &Terms, t: Term) -> bool {
        let mark = self.mark();
        self.assume(terms, t);
        let ruled_out = self.contradiction || self.has_no_case();
        self.forget(mark);
        ruled_out
    }

    /// The atoms that are known, with their truth.
    pub fn known_atoms(&self) -> Vec<(Term, bool)> {
        self.atoms_since(0)
    }

    fn atoms_since(&self, assumed: usize) -> Vec<(Term, bool)> {
        let gates = self.trail[assumed..].iter().map(|&g| &self.gates[g]);
        gates.filter_map(|gate| gate.atom.zip(gate.truth)).collect()
    }

    /// The atoms, with their truth, that are not known yet and follow from a condition beside what is assumed.
    pub fn consequences(&mut self, terms: &Terms, t: Term) -> Vec<(Term, bool)> {
        let mark = self.mark();
        self.assume(terms, t);
        let new = self.atoms_since(mark.assumed);
        self.forget(mark);
        new
    }

    /// Whether some disjunction that must hold has no alternative left.
    fn has_no_case(&mut self) -> bool {
        let open: Vec<usize> =
            self.trail.iter().rev().copied().filter(|&g| self.is_open(g)).collect();
        open.into_iter().take(MAX_SPLITS).any(|g| {
            (0..self.gates[g].parts.len()).all(|i| {
                let part = self.gates[g].parts[i];
                self.truth(part) == Some(true) || self.excludes(part.negated())
            })
        })
    }

    /// A conjunction that does not hold, of which it is not known which part does not.
    fn is_open(&self, gate: usize) -> bool {
        let Gate { parts, truth, atom, .. } = &self.gates[gate];
        atom.is_none()
            && *truth == Some(false)
            && parts.len() <= MAX_ALTERNATIVES
            && parts.iter().all(|&p| self.truth(p) != Some(false))
    }

    fn excludes(&mut self, literal: Literal) -> bool {
        let mark = self.mark();
        let consistent = self.set(literal) && self.propagate();
        self.forget(mark);
        !consistent
    }

    /// The state to which `forget` goes back.
    pub fn mark(&self) -> Mark {
        Mark { assumed: self.trail.len(), contradiction: self.contradiction }
    }

    /// Takes back what was assumed since.
    pub fn forget(&mut self, mark: Mark) {
        while self.trail.len() > mark.assumed {
            let Some(gate) = self.trail.pop() else { break };
            if self.gates[gate].told {
                self.count_wholes(gate, |holding| holding - 1);
                self.gates[gate].told = false;
            }
            self.gates[gate].truth = None;
        }
        self.told = self.told.min(self.trail.len());
        self.contradiction = mark.contradiction;
    }

    /// The literal of a condition, with the gates below it.
    fn literal(&mut self, terms: &Terms, root: Term) -> Literal {
        let mut work = vec![(root, false)];
        while let Some((t, ready)) = work.pop() {
            if self.literals.contains_key(&t) {
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
                    let literal = self.define(terms, t, node);
                    self.literals.insert(t, literal);
                }
            }
        }
        self.literals[&root]
    }

    fn define(&mut self, terms: &Terms, t: Term, node: &Node) -> Literal {
        match node {
            Node::Not(x) => self.literals[x].negated(),
            Node::And(items) => self.conjunction(items, true),
            Node::Or(items) => self.conjunction(items, false).negated(),
            Node::Bool(true) => self.conjunction_of(Vec::new()),
            Node::Bool(false) => self.conjunction_of(Vec::new()).negated(),
            _ => Literal::new(self.atom(terms, t), true),
        }
    }

    fn atom(&mut self, terms: &Terms, t: Term) -> usize {
        let atom = self.gate(Vec::new());
        self.gates[atom].atom = Some(t);
        if let Some(bound) = Bound::of(terms, t) {
            self.gates[atom].bound = Some(bound);
            self.related.entry(bound.subject).or_default().push(atom);
        }
        atom
    }

    /// All of the items have this truth.
    fn conjunction(&mut self, items: &[Term], truth: bool) -> Literal {
        let parts = items.iter().map(|i| self.literals[i]);
        self.conjunction_of(parts.map(|p| if truth { p } else { p.negated() }).collect())
    }

    fn conjunction_of(&mut self, parts: Vec<Literal>) -> Literal {
        let whole = self.gate(parts);
        for i in 0..self.gates[whole].parts.len() {
            let part = self.gates[whole].parts[i];
            self.gates[part.node()].wholes.push(Literal::new(whole, part.holds()));
        }
        self.start(whole);
        Literal::new(whole, true)
    }

    /// What a new conjunction is by the parts that are known already. It is known no longer than what was assumed
    /// last: a question may be left open by this, but never answered wrongly.
    fn start(&mut self, whole: usize) {
        let parts = &self.gates[whole].parts;
        let known: Vec<bool> = parts.iter().filter_map(|&p| self.truth(p)).collect();
        let told =
            parts.iter().filter(|p| self.truth(**p) == Some(true) && self.gates[p.node()].told);
        self.gates[whole].holding = told.count();
        if known.contains(&false) {
            self.set(Literal::new(whole, false));
        } else if known.len() == self.gates[whole].parts.len() {
            self.set(Literal::new(whole, true));
        }
    }

    fn truth(&self, literal: Literal) -> Option<bool> {
        self.gates[literal.node()].truth.map(|t| t == literal.holds())
    }

    /// False when the opposite is known.
    fn set(&mut self, literal: Literal) -> bool {
        let gate = &mut self.gates[literal.node()];
        match gate.truth {
            Some(truth) => truth == literal.holds(),
            None => {
                gate.truth = Some(literal.holds());
                self.trail.push(literal.node());
                true
            }
        }
    }

    /// Tells what is known to whom it concerns; false when something contradicts.
    fn propagate(&mut self) -> bool {
        while self.told < self.trail.len() {
            let gate = self.trail[self.told];
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
    fn count_wholes(&mut self, gate: usize, correct: impl Fn(usize) -> usize) {
        let truth = self.gates[gate].truth;
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
        if self.gates[gate].truth == Some(true) {
            return (0..self.gates[gate].parts.len()).all(|i| self.set(self.gates[gate].parts[i]));
        }
        self.tell_last_part(gate)
    }

    /// A conjunction that does not hold, of which all parts but one do: that one does not.
    fn tell_last_part(&mut self, gate: usize) -> bool {
        let Gate { parts, holding, truth, .. } = &self.gates[gate];
        if *truth != Some(false) || holding + 1 < parts.len() {
            return true;
        }
        match parts.iter().find(|&&p| self.truth(p) != Some(true)) {
            Some(&last) => self.set(last.negated()),
            None => false,
        }
    }

    fn tell_wholes(&mut self, gate: usize) -> bool {
        let truth = self.gates[gate].truth;
        (0..self.gates[gate].wholes.len()).all(|i| {
            let whole = self.gates[gate].wholes[i];
            let node = whole.node();
            if truth != Some(whole.holds()) {
                self.set(Literal::new(node, false))
            } else if self.gates[node].holding == self.gates[node].parts.len() {
                self.set(Literal::new(node, true))
            } else {
                self.tell_last_part(node)
            }
        })
    }

    /// Comparisons of the same value, as far as those that are known decide them.
    fn tell_related(&mut self, gate: usize) -> bool {
        let Some(bound) = self.gates[gate].bound else { return true };
        let related = &self.related[&bound.subject];
        let related: Vec<usize> = related.iter().rev().take(MAX_RELATED).copied().collect();
        let mut known = related.iter().filter_map(|&g| self.known_bound(g));
        let left =
            known.try_fold(Values::of(&bound), |values, (b, holds)| values.narrowed(&b, holds));
        let Some(values) = left else { return false };
        related.into_iter().all(|g| match self.known_bound(g) {
            Some(_) => true,
            None => match self.gates[g].bound.and_then(|b| values.decide(&b)) {
                Some(holds) => self.set(Literal::new(g, holds)),
                None => true,
            },
        })
    }

    fn known_bound(&self, gate: usize) -> Option<(Bound, bool)> {
        self.gates[gate].bound.zip(self.gates[gate].truth)
    }

    fn gate(&mut self, parts: Vec<Literal>) -> usize {
        let (wholes, holding) = (Vec::new(), 0);
        self.gates.push(Gate {
            parts,
            wholes,
            truth: None,
            holding,
            told: false,
            atom: None,
            bound: None,
        });
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
        assert!(!units.rules_out(&terms, one_fails) && units.rules_out_by_cases(&terms, one_fails));
        let one_holds = terms.or2(a, b);
        assert!(!units.rules_out_by_cases(&terms, one_holds));
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
        assert_eq!(units.consequences(&terms, a), [(a, true), (b, true)]);
        let not_b = terms.not(b);
        assert_eq!(units.consequences(&terms, not_b), [(b, false), (a, false)]);
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
