//! What the path of an exit says about the returned value.
//!
//! A value that is too large to be told becomes a symbol, and the path is not told either; but
//! "it was compared with this constant, and was equal" is what callers ask again. So for every
//! constant that the function compares with, the answer that the path gives is kept.

use crate::exec::Exec;
use crate::outcome::MAX_WIDTH;
use crate::state::{Pc, State};
use leakproof_guard::{Cmp, Node, Term, Terms};
use leakproof_ir::{InstKind, Terminator, ValueId, ValueKind};

/// Constants that results are asked about.
const MAX_QUESTIONS: usize = 8;

/// A question about a result that has an answer on every path of an outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answered {
    cmp: Cmp,
    constant: u64,
    yes: bool,
}

impl Exec<'_> {
    /// The returned value as far as the path to the exit knows it: without alternatives that it
    /// rules out, null or not null if it tested that.
    pub(crate) fn known_result(&mut self, state: &State, value: Term) -> Term {
        let value = self.pruned(state, value);
        if !self.terms.has_addr(value) {
            return value;
        }
        let null = self.terms.is_null(value);
        match self.pcs.simplify(&mut self.terms, state.pc, null) {
            Terms::TRUE => Terms::NULL,
            Terms::FALSE => self.without_null(value),
            _ => value,
        }
    }

    /// A choice between pointers that is known not to be null. Null goes from its outside only: the conditions on the way
    /// to others inside are what the path knows of them.
    fn without_null(&mut self, value: Term) -> Term {
        match self.terms.node(value).clone() {
            Node::Ite { then: Terms::NULL, otherwise: rest, .. }
            | Node::Ite { then: rest, otherwise: Terms::NULL, .. } => self.without_null(rest),
            _ => self.one_but_null(value),
        }
    }

    /// A choice between pointers with null left out wherever it stands, for a way that null has left.
    pub(crate) fn never_null(&mut self, value: Term) -> Term {
        match self.terms.node(value).clone() {
            Node::Ite { cond, then, otherwise } if self.terms.width(value) <= MAX_WIDTH => {
                match (self.never_null(then), self.never_null(otherwise)) {
                    (Terms::NULL, rest) | (rest, Terms::NULL) => rest,
                    (then, otherwise) => self.terms.ite(cond, then, otherwise),
                }
            }
            _ => self.one_but_null(value),
        }
    }

    fn one_but_null(&mut self, value: Term) -> Term {
        match self.terms.node(value).clone() {
            Node::Any(items) if items.contains(&Terms::NULL) => {
                self.terms.any(items.iter().copied().filter(|&t| t != Terms::NULL))
            }
            _ => value,
        }
    }

    /// What a path answers about the value returned at its end.
    pub(crate) fn answers(&mut self, pc: Pc, value: Option<Term>) -> Vec<Answered> {
        let Some(v) = value.filter(|&v| self.terms.as_int(v).is_none()) else { return Vec::new() };
        if self.terms.bits(v) < 2 || self.terms.has_addr(v) {
            return Vec::new();
        }
        let mut answered = Vec::new();
        for (cmp, constant) in self.questions(self.terms.bits(v)) {
            let holds = self.comparison(cmp, v, constant);
            match self.pcs.simplify(&mut self.terms, pc, holds) {
                Terms::TRUE => answered.push(Answered { cmp, constant, yes: true }),
                Terms::FALSE => answered.push(Answered { cmp, constant, yes: false }),
                _ => {}
            }
        }
        answered
    }

    /// The answers as a condition on the value that callers are told.
    pub(crate) fn answers_about(&mut self, answers: &[Answered], told: Term) -> Term {
        let mut parts = Vec::new();
        for a in answers {
            let holds = self.comparison(a.cmp, told, a.constant);
            parts.push(if a.yes { holds } else { self.terms.not(holds) });
        }
        self.terms.and(parts)
    }

    fn comparison(&mut self, cmp: Cmp, value: Term, constant: u64) -> Term {
        let c = self.terms.int(self.terms.bits(value), constant);
        self.terms.cmp(cmp, value, c)
    }

    /// Is it negative; is it zero; is it one of the constants that the function compares with?
    fn questions(&self, bits: u16) -> Vec<(Cmp, u64)> {
        let mut constants = vec![0];
        let insts = self.body.insts.iter().flat_map(|(_, inst)| match inst.kind {
            InstKind::Cmp { lhs, rhs, .. } => [self.literal(lhs), self.literal(rhs)],
            _ => [None, None],
        });
        let cases = self.body.blocks.iter().flat_map(|(_, block)| match &block.term {
            Terminator::Switch { cases, .. } => cases.as_slice(),
            _ => &[],
        });
        let seen = insts.flatten().chain(cases.map(|(c, _)| *c));
        for c in seen.map(|c| leakproof_guard::truncate(bits, c)) {
            if constants.len() < MAX_QUESTIONS && !constants.contains(&c) {
                constants.push(c);
            }
        }
        let equalities = constants.into_iter().map(|c| (Cmp::Eq, c));
        [(Cmp::SLt, 0)].into_iter().chain(equalities).collect()
    }

    fn literal(&self, v: ValueId) -> Option<u64> {
        match self.function.values[v].kind {
            ValueKind::Int(n) => Some(n),
            _ => None,
        }
    }
}
