//! Boolean constructors: conjunction, disjunction, negation, with the simplifications that keep
//! reach conditions small (complements, absorption, unit propagation, factoring of diamonds).

use crate::memo::{Key, Operation};
use crate::term::{Kind, hash_of_list};
use crate::{Node, Term, Terms};
use smallvec::SmallVec;

/// Operand lists longer than this are not searched for pairwise simplifications.
const PAIRWISE_LIMIT: usize = 12;

/// Operands under work.
type List = SmallVec<[Term; 16]>;

impl Terms {
    pub fn not(&mut self, t: Term) -> Term {
        match t {
            Self::TRUE => Self::FALSE,
            Self::FALSE => Self::TRUE,
            _ => match self.negation(t) {
                Some(known) => known,
                None => self.intern(Node::Not(t)),
            },
        }
    }

    /// Whether `a` is the negation of `b`, by structure.
    pub fn complementary(&self, a: Term, b: Term) -> bool {
        self.negation(a) == Some(b)
    }

    pub fn and2(&mut self, a: Term, b: Term) -> Term {
        if a == b || b == Self::TRUE || a == Self::FALSE {
            return a;
        }
        if a == Self::TRUE || b == Self::FALSE {
            return b;
        }
        let key = Key(Operation::And, a.min(b), a.max(b), Self::TRUE);
        self.memo.get(key).unwrap_or_else(|| {
            let both = self.and([a, b]);
            self.memo.keep(key, both);
            both
        })
    }

    pub fn or2(&mut self, a: Term, b: Term) -> Term {
        if a == b || b == Self::FALSE || a == Self::TRUE {
            return a;
        }
        if a == Self::FALSE || b == Self::TRUE {
            return b;
        }
        let key = Key(Operation::Or, a.min(b), a.max(b), Self::TRUE);
        self.memo.get(key).unwrap_or_else(|| {
            let either = self.or([a, b]);
            self.memo.keep(key, either);
            either
        })
    }

    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        let not_a = self.not(a);
        self.or2(not_a, b)
    }

    pub fn and(&mut self, items: impl IntoIterator<Item = Term>) -> Term {
        let mut list = List::new();
        for item in items {
            match self.node(item) {
                Node::Bool(true) => {}
                Node::Bool(false) => return Self::FALSE,
                Node::And(inner) => list.extend(inner.iter().copied()),
                _ => list.push(item),
            }
        }
        self.finish(list, true)
    }

    pub fn or(&mut self, items: impl IntoIterator<Item = Term>) -> Term {
        let mut list = List::new();
        for item in items {
            match self.node(item) {
                Node::Bool(false) => {}
                Node::Bool(true) => return Self::TRUE,
                Node::Or(inner) => list.extend(inner.iter().copied()),
                _ => list.push(item),
            }
        }
        self.finish(list, false)
    }

    /// Builds the n-ary node from flattened operands: `conj` says conjunction or disjunction.
    fn finish(&mut self, mut list: List, conj: bool) -> Term {
        list.sort_unstable();
        list.dedup();
        match list.as_slice() {
            [] => return Self::bool(conj),
            [only] => return *only,
            _ => {}
        }
        // What exists was found to have no simpler form when it was made.
        let kind = if conj { Kind::And } else { Kind::Or };
        let hash = hash_of_list(&list, kind);
        if let Some(known) = self.known_list(&list, kind, hash) {
            return known;
        }
        if self.has_complements(&list) {
            return Self::bool(!conj);
        }
        if list.len() <= PAIRWISE_LIMIT
            && let Some(simpler) = self.simplified(&list, conj)
        {
            return simpler;
        }
        self.add(kind.node(&list), hash)
    }

    fn has_complements(&self, sorted: &[Term]) -> bool {
        // A negation is younger than what it negates.
        sorted
            .iter()
            .any(|&t| self.negation(t).is_some_and(|x| x < t && sorted.binary_search(&x).is_ok()))
    }

    fn simplified(&mut self, list: &[Term], conj: bool) -> Option<Term> {
        match list.iter().filter(|t| self.dual_operands(**t, conj).is_some()).count() {
            0 => None,
            1 => self.propagate_units(list, conj),
            _ => self.propagate_units(list, conj).or_else(|| self.factor(list, conj)),
        }
    }

    /// The operands, in order, when the term is of the dual connective.
    fn dual_operands(&self, t: Term, conj: bool) -> Option<&[Term]> {
        match self.node(t) {
            Node::Or(ts) if conj => Some(ts),
            Node::And(ts) if !conj => Some(ts),
            _ => None,
        }
    }

    /// In a conjunction, an operand `a` removes `a | x` (absorption) and turns `!a | x` into `x`.
    fn propagate_units(&mut self, list: &[Term], conj: bool) -> Option<Term> {
        for (i, &clause) in list.iter().enumerate() {
            let Some(parts) = self.dual_operands(clause, conj) else { continue };
            let is_part = |t: Term| parts.binary_search(&t).is_ok();
            if list.iter().any(|&t| is_part(t)) {
                let rest = without(list, i);
                return Some(self.rebuild(rest, conj));
            }
            if list.iter().any(|&t| self.negation(t).is_some_and(is_part)) {
                let ruled_out =
                    |p: Term| self.negation(p).is_some_and(|n| list.binary_search(&n).is_ok());
                let kept: List = parts.iter().copied().filter(|&p| !ruled_out(p)).collect();
                let mut rest = without(list, i);
                rest.push(self.rebuild(kept, !conj));
                return Some(self.rebuild(rest, conj));
            }
        }
        None
    }

    /// `(c & x) | (c & !x & y)` becomes `c & (x | y)`; with no `y` just `c`. Operands that are not
    /// of the dual connective have had their turn as units.
    fn factor(&mut self, list: &[Term], conj: bool) -> Option<Term> {
        for i in 0..list.len() {
            if self.dual_operands(list[i], conj).is_none() {
                continue;
            }
            for j in i + 1..list.len() {
                if let Some(merged) = self.factor_pair(list[i], list[j], conj) {
                    let mut rest = without(list, j);
                    rest.remove(i);
                    rest.push(merged);
                    return Some(self.rebuild(rest, conj));
                }
            }
        }
        None
    }

    fn factor_pair(&mut self, a: Term, b: Term, conj: bool) -> Option<Term> {
        let (xs, ys) = (self.dual_operands(a, conj)?, self.dual_operands(b, conj)?);
        if both_have_more(xs, ys) {
            return None;
        }
        let in_both = |t: &Term| xs.binary_search(t).is_ok() && ys.binary_search(t).is_ok();
        let common: List = xs.iter().copied().filter(in_both).collect();
        let only_x: List = xs.iter().copied().filter(|t| !in_both(t)).collect();
        let only_y: List = ys.iter().copied().filter(|t| !in_both(t)).collect();
        let (unit, other) = match (only_x.as_slice(), only_y.as_slice()) {
            ([], _) | (_, []) => return Some(self.rebuild(common, !conj)),
            ([u], other) | (other, [u]) => (*u, other),
            _ => return None,
        };
        let rest: List = other.iter().copied().filter(|&t| !self.complementary(t, unit)).collect();
        if rest.len() == other.len() {
            return None;
        }
        let mut parts = common;
        if !rest.is_empty() {
            let y = self.rebuild(rest, !conj);
            parts.push(self.rebuild(SmallVec::from_slice(&[unit, y]), conj));
        }
        Some(self.rebuild(parts, !conj))
    }

    fn rebuild(&mut self, list: List, conj: bool) -> Term {
        if conj { self.and(list) } else { self.or(list) }
    }
}

fn without(list: &[Term], index: usize) -> List {
    let mut rest = List::from_slice(list);
    rest.remove(index);
    rest
}

/// Whether each of two sorted lists has at least two terms that the other lacks.
fn both_have_more(xs: &[Term], ys: &[Term]) -> bool {
    let (mut i, mut j, mut only_x, mut only_y) = (0, 0, 0, 0);
    while (only_x < 2 || only_y < 2) && (i < xs.len() || j < ys.len()) {
        match (xs.get(i), ys.get(j)) {
            (Some(x), Some(y)) if x == y => (i, j) = (i + 1, j + 1),
            (Some(x), y) if y.is_none_or(|y| x < y) => (i, only_x) = (i + 1, only_x + 1),
            _ => (j, only_y) = (j + 1, only_y + 1),
        }
    }
    only_x >= 2 && only_y >= 2
}
