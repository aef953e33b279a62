//! Values that make some comparisons true, by trying: most questions have a simple answer.
//!
//! Every comparison says which values of its unknowns are worth a try: those that make both sides equal, and the
//! neighbours of these. The unknowns get their values one after the other; each is held against the comparisons that
//! have no other unknown left. What is found is an answer, since it was checked; that nothing is found says nothing, and
//! the solver is asked. Terms mean what `encode` says they mean.

use crate::encode::is_nonlinear;
use crate::theory::Truth;
use leakproof_guard::{
    Assignment, BaseInfo, Cast, Node, Op, Term, Terms, base_address, fits_signed, fold,
    for_each_child, holds, sign_extend, truncate,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;

/// Values that are tried in all.
const MAX_TRIALS: usize = 400;
/// Unknowns beyond which no guess is made.
const MAX_UNKNOWNS: usize = 200;
/// Terms that are looked at for that.
const MAX_STEPS: u32 = 20_000;

/// A bit-vector: its value and its width.
type Bits = (u64, u16);

/// Terms, with the truth of the conditions inside them.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub terms: &'a Terms,
    pub truth: Truth<'a>,
}

struct Guess<'a> {
    reader: Reader<'a>,
    terms: &'a Terms,
    atoms: &'a [(Term, bool)],
    /// In the order in which they get values.
    unknowns: Vec<Term>,
    /// By unknown: the comparisons that have no later one.
    decided_by: Vec<Vec<usize>>,
    values: FxHashMap<Term, u64>,
    trials: usize,
    steps: Cell<u32>,
}

/// An assignment that makes every atom as true as it is said to be.
pub fn guess(reader: Reader<'_>, atoms: &[(Term, bool)]) -> Option<Assignment> {
    let mut guess = Guess {
        reader,
        terms: reader.terms,
        atoms,
        unknowns: Vec::new(),
        decided_by: Vec::new(),
        values: FxHashMap::default(),
        trials: 0,
        steps: Cell::new(0),
    };
    (guess.order_unknowns() && guess.assign(0)).then(|| guess.assignment())
}

impl Reader<'_> {
    /// The unknowns of an atom, as they are met.
    pub fn unknowns_in(&self, atom: Term) -> Vec<Term> {
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut work = vec![atom];
        while let Some(t) = work.pop() {
            if !seen.insert(t) || (t != atom && self.terms.bits(t) == 1) {
                continue;
            }
            match self.terms.node(t) {
                _ if self.is_unknown(t) => found.push(t),
                Node::Ite { .. } => work.push(self.chosen(t)),
                node => {
                    for_each_child(node, |c| work.push(c));
                    work.extend(self.pointer_below(t));
                }
            }
        }
        found
    }

    fn is_unknown(&self, t: Term) -> bool {
        match *self.terms.node(t) {
            Node::Sym(_) | Node::Any(_) => true,
            Node::Bin { op, lhs, rhs } => is_nonlinear(self.terms, op, lhs, rhs),
            _ => false,
        }
    }

    /// The pointer on which an address is based that is no constant.
    fn pointer_below(&self, t: Term) -> Option<Term> {
        match self.terms.node(t) {
            Node::Addr { base, .. } | Node::Elem { base, .. } => self.terms.as_pointee(*base),
            _ => None,
        }
    }

    fn chosen(&self, t: Term) -> Term {
        match *self.terms.node(t) {
            Node::Ite { cond, then, .. } if (self.truth)(cond) => then,
            Node::Ite { otherwise, .. } => otherwise,
            _ => t,
        }
    }
}

impl Guess<'_> {
    /// Lists the unknowns; false when a comparison without any does not hold.
    fn order_unknowns(&mut self) -> bool {
        let mut position: FxHashMap<Term, usize> = FxHashMap::default();
        let mut constant = Vec::new();
        for (i, &(atom, _)) in self.atoms.iter().enumerate() {
            let mut last = None;
            for unknown in self.reader.unknowns_in(atom) {
                let at = *position.entry(unknown).or_insert_with(|| {
                    self.unknowns.push(unknown);
                    self.decided_by.push(Vec::new());
                    self.unknowns.len() - 1
                });
                last = last.max(Some(at));
            }
            match last {
                Some(at) => self.decided_by[at].push(i),
                None => constant.push(i),
            }
        }
        self.unknowns.len() <= MAX_UNKNOWNS && constant.into_iter().all(|i| self.is_met(i))
    }

    /// Gives values to the unknowns from this one on.
    fn assign(&mut self, at: usize) -> bool {
        let Some(&unknown) = self.unknowns.get(at) else { return true };
        for value in self.candidates(at) {
            if self.trials >= MAX_TRIALS {
                return false;
            }
            self.trials += 1;
            self.values.insert(unknown, value);
            let met = (0..self.decided_by[at].len()).all(|i| self.is_met(self.decided_by[at][i]));
            if met && self.assign(at + 1) {
                return true;
            }
        }
        self.values.remove(&unknown);
        false
    }

    /// Values for an unknown: what its comparisons aim at, then some that are as good as any.
    fn candidates(&self, at: usize) -> Vec<u64> {
        let unknown = self.unknowns[at];
        let bits = self.width(unknown);
        let mut values = Vec::new();
        for &i in &self.decided_by[at] {
            self.aim(i, unknown, &mut values);
        }
        // Different for each unknown, so that what is to differ does.
        let own = if bits == 64 { 0x7000_0000_0000 + ((at as u64) << 20) } else { at as u64 + 2 };
        values.extend([0, 1, own, u64::MAX]);
        let mut seen = FxHashSet::default();
        values.iter_mut().for_each(|v| *v = truncate(bits, *v));
        values.retain(|&v| self.is_allowed(unknown, v) && seen.insert(v));
        values
    }

    /// Adds the values of the unknown near which the truth of an atom changes.
    fn aim(&self, atom: usize, unknown: Term, values: &mut Vec<u64>) {
        let (t, truth) = self.atoms[atom];
        let Node::Cmp { cmp, lhs, rhs } = *self.terms.node(t) else { return };
        for (side, other) in [(lhs, rhs), (rhs, lhs)] {
            let Some((goal, _)) = self.value(other) else { continue };
            let near = [goal, goal.wrapping_add(1), goal.wrapping_sub(1)];
            let skip = usize::from(cmp == leakproof_guard::Cmp::Eq && !truth);
            let aimed = near.into_iter().skip(skip).filter_map(|v| self.solved(side, unknown, v));
            values.extend(aimed);
        }
    }

    /// The value of the unknown for which `t` has this value, if that is plain to see.
    fn solved(&self, mut t: Term, unknown: Term, mut goal: u64) -> Option<u64> {
        while t != unknown {
            (t, goal) = match *self.terms.node(t) {
                Node::Ite { .. } => (self.reader.chosen(t), goal),
                Node::Cast { value, .. } => (value, truncate(self.terms.bits(value), goal)),
                Node::Addr { offset, .. } => {
                    (self.reader.pointer_below(t)?, goal.wrapping_sub(offset as u64))
                }
                Node::Elem { offset, index, .. } => {
                    let rest = goal.wrapping_sub(offset as u64);
                    match (self.start(t), self.value(index)) {
                        (Some(start), None) => (index, rest.wrapping_sub(start)),
                        (None, Some((i, _))) => {
                            (self.reader.pointer_below(t)?, rest.wrapping_sub(i))
                        }
                        _ => return None,
                    }
                }
                Node::Bin { op, lhs, rhs } => match (op, self.value(lhs), self.value(rhs)) {
                    (Op::Add, None, Some((c, _))) => (lhs, goal.wrapping_sub(c)),
                    (Op::Add, Some((c, _)), None) => (rhs, goal.wrapping_sub(c)),
                    (Op::Sub, None, Some((c, _))) => (lhs, goal.wrapping_add(c)),
                    (Op::Sub, Some((c, _)), None) => (rhs, c.wrapping_sub(goal)),
                    (Op::Xor, None, Some((c, _))) => (lhs, goal ^ c),
                    (Op::And | Op::Or, None, Some(_)) => (lhs, goal),
                    (Op::Mul, None, Some((c, _))) => (lhs, goal.checked_div(c)?),
                    (Op::Mul, Some((c, _)), None) => (rhs, goal.checked_div(c)?),
                    (Op::UDiv, None, Some((c, _))) => (lhs, goal.wrapping_mul(c)),
                    (Op::Shl, None, Some((c, _))) => (lhs, goal.checked_shr(c as u32)?),
                    (Op::LShr | Op::AShr, None, Some((c, _))) => (lhs, goal.checked_shl(c as u32)?),
                    _ => return None,
                },
                _ => return None,
            };
        }
        Some(goal)
    }

    /// What is known of the unknown wherever it occurs.
    fn is_allowed(&self, unknown: Term, value: u64) -> bool {
        let signed = sign_extend(self.width(unknown), value);
        let Node::Sym(s) = *self.terms.node(unknown) else {
            let (lo, hi) = self.terms.range(unknown);
            return lo <= signed && signed <= hi;
        };
        let info = self.terms.sym_info(s);
        info.range.is_none_or(|(lo, hi)| lo <= signed && signed <= hi)
            && !(info.nonzero && value == 0)
    }

    fn is_met(&self, atom: usize) -> bool {
        let (t, truth) = self.atoms[atom];
        let Node::Cmp { cmp, lhs, rhs } = *self.terms.node(t) else { return false };
        let (Some(a), Some(b)) = (self.value(lhs), self.value(rhs)) else { return false };
        let bits = self.terms.bits(lhs).max(self.terms.bits(rhs)).max(2);
        holds(cmp, bits, truncate(bits, a.0), truncate(bits, b.0)) == truth
            && self
                .terms
                .signed_sums(cmp, [lhs, rhs], |t| self.reader.chosen(t))
                .iter()
                .all(|&t| self.fits(t))
    }

    /// Whether a sum or difference of signed numbers does not wrap.
    fn fits(&self, sum: Term) -> bool {
        let Node::Bin { op, lhs, rhs } = *self.terms.node(sum) else { return true };
        let (a, b) = (self.value(lhs), self.value(rhs));
        a.zip(b).is_some_and(|(a, b)| fits_signed(op, self.terms.bits(lhs), a.0, b.0))
    }

    fn width(&self, t: Term) -> u16 {
        self.terms.bits(t).max(2)
    }

    /// The value of a term, if all its unknowns have one.
    fn value(&self, t: Term) -> Option<Bits> {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > MAX_STEPS {
            return None;
        }
        if self.terms.bits(t) == 1 {
            return Some((u64::from((self.reader.truth)(t)), 8));
        }
        if self.reader.is_unknown(t) {
            return Some((*self.values.get(&t)?, self.width(t)));
        }
        let bits = self.terms.bits(t);
        let value = match *self.terms.node(t) {
            Node::Int { value, .. } => value,
            Node::Addr { offset, .. } => self.start(t)?.wrapping_add(offset as u64),
            Node::Elem { offset, index, .. } => {
                self.start(t)?.wrapping_add(offset as u64).wrapping_add(self.value(index)?.0)
            }
            Node::Ite { .. } => self.value(self.reader.chosen(t))?.0,
            Node::Bin { op, lhs, rhs } => {
                let bits = self.terms.bits(lhs);
                let (a, b) = (self.value(lhs)?.0, self.value(rhs)?.0);
                fold(op, bits, truncate(bits, a), truncate(bits, b))?
            }
            Node::Cast { cast, value, .. } => {
                let (v, have) = self.value(value)?;
                if cast == Cast::SExt { sign_extend(have, v) as u64 } else { v }
            }
            Node::Tuple(_) => 0,
            _ => return None,
        };
        Some((truncate(bits, value), bits))
    }

    /// Where the object of an address begins.
    fn start(&self, t: Term) -> Option<u64> {
        let (Node::Addr { base, .. } | Node::Elem { base, .. }) = *self.terms.node(t) else {
            return None;
        };
        match self.terms.base_info(base) {
            BaseInfo::Distinct { .. } => Some(base_address(base)),
            BaseInfo::Pointee(p) => Some(self.value(p)?.0),
        }
    }

    fn assignment(&self) -> Assignment {
        let mut result = Assignment::default();
        for (&t, &value) in &self.values {
            match *self.terms.node(t) {
                Node::Sym(s) => drop(result.syms.insert(s, value)),
                _ => drop(result.unknowns.insert(t, value)),
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_guard::{Cmp, SymInfo};

    fn symbol(terms: &mut Terms, range: Option<(i64, i64)>) -> Term {
        let s = terms.new_sym(SymInfo { bits: 32, range, nonzero: false, outside: false });
        terms.sym(s)
    }

    fn guessed(terms: &Terms, atoms: &[(Term, bool)]) -> Option<Assignment> {
        guess(Reader { terms, truth: &|_| false }, atoms)
    }

    #[test]
    fn values_make_every_comparison_as_true_as_it_is_said_to_be() {
        let mut terms = Terms::new();
        let (x, y) = (symbol(&mut terms, None), symbol(&mut terms, None));
        let (three, nine) = (terms.int(32, 3), terms.int(32, 9));
        let sum = terms.bin(Op::Add, x, y);
        let is_nine = terms.cmp(Cmp::Eq, sum, nine);
        let is_small = terms.cmp(Cmp::SLt, x, three);
        let found = guessed(&terms, &[(is_nine, true), (is_small, false)]).unwrap();
        let value = |t: Term| match *terms.node(t) {
            Node::Sym(s) => found.syms[&s],
            _ => unreachable!("{t:?} is a symbol"),
        };
        assert_eq!(truncate(32, value(x).wrapping_add(value(y))), 9);
        assert!(sign_extend(32, value(x)) >= 3);
    }

    #[test]
    fn what_is_known_of_an_unknown_is_kept_to() {
        let mut terms = Terms::new();
        let (x, y) = (symbol(&mut terms, Some((0, 8))), symbol(&mut terms, Some((8, 9))));
        let eight = terms.int(32, 8);
        let equal = terms.cmp(Cmp::Eq, x, y);
        let is_eight = terms.cmp(Cmp::Eq, y, eight);
        assert!(guessed(&terms, &[(equal, true), (is_eight, true)]).is_some());
        assert!(guessed(&terms, &[(equal, true), (is_eight, false)]).is_none());
    }
}
