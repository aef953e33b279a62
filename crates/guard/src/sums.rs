//! Sums that are compared as signed numbers.
//!
//! What C compares as signed it has computed as signed, and such sums do not wrap: a program whose sums do has no
//! meaning. So a constant may go from one side of an order to the other, and `x < x + 1` holds.
//!
//! Not so where a number without a sign was computed and only then taken as signed, as sequence numbers are
//! (`(int)(a - b) < 0`), nor under `-fwrapv`: of such programs, only what happens without wrapping is seen.

use crate::{Cast, Cmp, Node, Op, Term, Terms, sign_extend, signed_limits};
use std::cmp::Ordering;

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
            (Some(x), None) if a != 0 => Some(match self.limit(self.bits(x), b - a) {
                Ok(limit) => self.cmp(cmp, x, limit),
                Err(side) => Self::bool(side == Ordering::Greater),
            }),
            (None, Some(y)) if b != 0 => Some(match self.limit(self.bits(y), a - b) {
                Ok(limit) => self.cmp(cmp, limit, y),
                Err(side) => Self::bool(side == Ordering::Less),
            }),
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

    /// A constant of this width, or on which side of all of them it lies.
    fn limit(&mut self, bits: u16, value: i128) -> Result<Term, Ordering> {
        let (lo, hi) = signed_limits(bits);
        match i64::try_from(value) {
            Ok(v) if (lo..=hi).contains(&v) => Ok(self.int(bits, v as u64)),
            _ => Err(value.cmp(&0)),
        }
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
