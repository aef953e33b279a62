//! Boolean constructors: conjunction, disjunction, negation, with the simplifications that keep
//! reach conditions small (complements, absorption, unit propagation, factoring of diamonds).

use crate::{Node, Term, Terms};

/// Operand lists longer than this are not searched for pairwise simplifications.
const PAIRWISE_LIMIT: usize = 12;

impl Terms {
    pub fn not(&mut self, t: Term) -> Term {
        match self.node(t) {
            Node::Bool(b) => Self::bool(!*b),
            Node::Not(inner) => *inner,
            _ => self.intern(Node::Not(t)),
        }
    }

    /// Whether `a` is the negation of `b`, by structure.
    pub fn complementary(&self, a: Term, b: Term) -> bool {
        matches!(self.node(a), Node::Not(x) if *x == b)
            || matches!(self.node(b), Node::Not(x) if *x == a)
    }

    pub fn and2(&mut self, a: Term, b: Term) -> Term {
        if a == b || b == Self::TRUE || a == Self::FALSE {
            return a;
        }
        if a == Self::TRUE || b == Self::FALSE {
            return b;
        }
        self.and([a, b])
    }

    pub fn or2(&mut self, a: Term, b: Term) -> Term {
        if a == b || b == Self::FALSE || a == Self::TRUE {
            return a;
        }
        if a == Self::FALSE || b == Self::TRUE {
            return b;
        }
        self.or([a, b])
    }

    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        let not_a = self.not(a);
        self.or2(not_a, b)
    }

    pub fn and(&mut self, items: impl IntoIterator<Item = Term>) -> Term {
        let mut list = Vec::new();
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
        let mut list = Vec::new();
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
    fn finish(&mut self, mut list: Vec<Term>, conj: bool) -> Term {
        let (unit, zero) = (Self::bool(conj), Self::bool(!conj));
        list.sort_unstable();
        list.dedup();
        if self.has_complements(&list) {
            return zero;
        }
        if list.len() > 1 && list.len() <= PAIRWISE_LIMIT {
            if let Some(simpler) = self.propagate_units(&list, conj) {
                return simpler;
            }
            if let Some(simpler) = self.factor(&list, conj) {
                return simpler;
            }
        }
        match list.as_slice() {
            [] => unit,
            [only] => *only,
            _ if conj => self.intern(Node::And(list.into())),
            _ => self.intern(Node::Or(list.into())),
        }
    }

    fn has_complements(&self, sorted: &[Term]) -> bool {
        sorted
            .iter()
            .any(|&t| matches!(self.node(t), Node::Not(x) if sorted.binary_search(x).is_ok()))
    }

    /// The operands of the dual connective, in order, or the term alone.
    fn dual_operands<'s>(&'s self, t: &'s Term, conj: bool) -> &'s [Term] {
        match self.node(*t) {
            Node::Or(ts) if conj => ts,
            Node::And(ts) if !conj => ts,
            _ => std::slice::from_ref(t),
        }
    }

    fn is_dual(&self, t: Term, conj: bool) -> bool {
        match self.node(t) {
            Node::Or(_) => conj,
            Node::And(_) => !conj,
            _ => false,
        }
    }

    /// In a conjunction, an operand `a` removes `a | x` (absorption) and turns `!a | x` into `x`.
    fn propagate_units(&mut self, list: &[Term], conj: bool) -> Option<Term> {
        let negated: Vec<Term> = list.iter().filter_map(|&t| self.negated(t)).collect();
        for (i, clause) in list.iter().enumerate() {
            if !self.is_dual(*clause, conj) {
                continue;
            }
            let parts = self.dual_operands(clause, conj);
            if parts.iter().any(|p| list.contains(p)) {
                let rest = without(list, i);
                return Some(self.rebuild(rest, conj));
            }
            let ruled_out = |p: Term| {
                negated.contains(&p) || self.negated(p).is_some_and(|x| list.contains(&x))
            };
            if parts.iter().any(|&p| ruled_out(p)) {
                let kept: Vec<Term> = parts.iter().copied().filter(|&p| !ruled_out(p)).collect();
                let mut rest = without(list, i);
                rest.push(self.rebuild(kept, !conj));
                return Some(self.rebuild(rest, conj));
            }
        }
        None
    }

    fn negated(&self, t: Term) -> Option<Term> {
        match self.node(t) {
            Node::Not(x) => Some(*x),
            _ => None,
        }
    }

    /// `(c & x) | (c & !x & y)` becomes `c & (x | y)`; with no `y` just `c`.
    fn factor(&mut self, list: &[Term], conj: bool) -> Option<Term> {
        for i in 0..list.len() {
            for j in i + 1..list.len() {
                if !self.is_dual(list[i], conj) && !self.is_dual(list[j], conj) {
                    continue;
                }
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
        let (xs, ys) = (self.dual_operands(&a, conj), self.dual_operands(&b, conj));
        if both_have_more(xs, ys) {
            return None;
        }
        let common: Vec<Term> = xs.iter().copied().filter(|t| ys.contains(t)).collect();
        let only_x: Vec<Term> = xs.iter().copied().filter(|t| !common.contains(t)).collect();
        let only_y: Vec<Term> = ys.iter().copied().filter(|t| !common.contains(t)).collect();
        let (unit, other) = match (only_x.as_slice(), only_y.as_slice()) {
            ([], _) | (_, []) => return Some(self.rebuild(common, !conj)),
            ([u], other) | (other, [u]) => (*u, other.to_vec()),
            _ => return None,
        };
        let rest: Vec<Term> =
            other.iter().copied().filter(|&t| !self.complementary(t, unit)).collect();
        if rest.len() == other.len() {
            return None;
        }
        let mut parts = common;
        if !rest.is_empty() {
            let y = self.rebuild(rest, !conj);
            parts.push(self.rebuild(vec![unit, y], conj));
        }
        Some(self.rebuild(parts, !conj))
    }

    fn rebuild(&mut self, list: Vec<Term>, conj: bool) -> Term {
        if conj { self.and(list) } else { self.or(list) }
    }
}

fn without(list: &[Term], index: usize) -> Vec<Term> {
    let mut rest = list.to_vec();
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
