//! Sums that are compared as signed numbers.
//!
//! What C compares as signed it has computed as signed, and such sums do not wrap: a program whose sums do has no
//! meaning. So a constant may go from one side of an order to the other, and `x < x + 1` holds.

use crate::{Cast, Cmp, Node, Op, Term, Terms, sign_extend, signed_limits};

/// Narrower numbers are parts of wider ones, which are what is computed with.
const MIN_BITS: u16 = 32;

impl Terms {
    /// A signed order of sums with constants, as one without or with one constant only.
    pub(crate) fn order_of_sums(&mut self, cmp: Cmp, lhs: Term, rhs: Term) -> Option<Term> {
        if !matches!(cmp, Cmp::SLt | Cmp::SLe) || self.bits(lhs) < MIN_BITS {
            return None;
        }
        let ((x, a), (y, b)) = (self.sum(lhs), self.sum(rhs));
        match (x, y) {
            (Some(x), Some(y)) if x == y => {
                Some(Self::bool(if cmp == Cmp::SLt { a < b } else { a <= b }))
            }
            (Some(x), None) if a != 0 => Some(self.below(cmp, x, b - a)),
            (None, Some(y)) if b != 0 => Some(self.above(cmp, a - b, y)),
            (Some(x), Some(y)) if a == b && a != 0 => Some(self.cmp(cmp, x, y)),
            _ => None,
        }
    }

    /// A term as an unknown and a constant that is added to it.
    fn sum(&self, t: Term) -> (Option<Term>, i128) {
        let bits = self.bits(t);
        match *self.node(t) {
            Node::Int { value, .. } => (None, i128::from(sign_extend(bits, value))),
            Node::Bin { op: Op::Add, lhs, rhs } => match self.as_signed(rhs) {
                Some(k) => (Some(lhs), i128::from(k)),
                None => (Some(t), 0),
            },
            _ => (Some(t), 0),
        }
    }

    fn below(&mut self, cmp: Cmp, x: Term, limit: i128) -> Term {
        let (lo, hi) = signed_limits(self.bits(x));
        if limit > i128::from(hi) {
            return Self::TRUE;
        }
        if limit < i128::from(lo) {
            return Self::FALSE;
        }
        let limit = self.int(self.bits(x), limit as i64 as u64);
        self.cmp(cmp, x, limit)
    }

    fn above(&mut self, cmp: Cmp, limit: i128, y: Term) -> Term {
        let (lo, hi) = signed_limits(self.bits(y));
        if limit < i128::from(lo) {
            return Self::TRUE;
        }
        if limit > i128::from(hi) {
            return Self::FALSE;
        }
        let limit = self.int(self.bits(y), limit as i64 as u64);
        self.cmp(cmp, limit, y)
    }

    /// The sums and differences that an order of signed numbers takes for ones that do not wrap. `chosen` says which
    /// branch of an if-then-else counts.
    pub fn signed_sums(
        &self,
        cmp: Cmp,
        sides: [Term; 2],
        chosen: impl Fn(Term) -> Term,
    ) -> Vec<Term> {
        let mut found = Vec::new();
        if !matches!(cmp, Cmp::SLt | Cmp::SLe) {
            return found;
        }
        let mut work = sides.to_vec();
        while let Some(t) = work.pop() {
            match *self.node(t) {
                Node::Ite { .. } => work.push(chosen(t)),
                Node::Cast { cast: Cast::SExt, value, .. } => work.push(value),
                Node::Bin { op: Op::Add | Op::Sub, lhs, rhs }
                    if self.bits(t) >= MIN_BITS && !found.contains(&t) =>
                {
                    found.push(t);
                    work.extend([lhs, rhs]);
                }
                _ => {}
            }
        }
        found
    }
}

/// Whether a sum or difference of two signed numbers fits.
pub fn fits_signed(op: Op, bits: u16, a: u64, b: u64) -> bool {
    let (a, b) = (i128::from(sign_extend(bits, a)), i128::from(sign_extend(bits, b)));
    let (lo, hi) = signed_limits(bits);
    let result = if op == Op::Sub { a - b } else { a + b };
    (i128::from(lo)..=i128::from(hi)).contains(&result)
}
