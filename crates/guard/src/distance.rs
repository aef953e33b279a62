//! Distances between pointers into the same object, and the number of elements they stand for.

use crate::term::{Base, Node, Op, Term, Terms};

/// A pointer taken apart: its object, and how far into it.
struct Place {
    base: Base,
    offset: i64,
    /// Stride and number of steps.
    steps: Option<(u32, Term)>,
}

impl Terms {
    /// `lhs - rhs` in bytes, when both point into one object.
    pub(crate) fn distance(&mut self, lhs: Term, rhs: Term) -> Option<Term> {
        let (a, b) = (self.place(lhs)?, self.place(rhs)?);
        if a.base != b.base {
            return None;
        }
        let steps = match (a.steps, b.steps) {
            (steps, None) => steps,
            (Some((s, i)), Some((t, j))) if s == t => Some((s, self.bin(Op::Sub, i, j))),
            _ => return None,
        };
        let apart = self.int(64, a.offset.wrapping_sub(b.offset) as u64);
        let Some((stride, number)) = steps else { return Some(apart) };
        let stride = self.int(64, u64::from(stride));
        let bytes = self.bin(Op::Mul, number, stride);
        Some(self.bin(Op::Add, bytes, apart))
    }

    fn place(&self, pointer: Term) -> Option<Place> {
        match *self.node(pointer) {
            Node::Addr { base, offset } => Some(Place { base, offset, steps: None }),
            Node::Elem { base, offset, stride, index } if self.bits(index) == 64 => {
                Some(Place { base, offset, steps: Some((stride, index)) })
            }
            Node::Sym(_) => {
                let base = *self.pointees.get(&pointer)?;
                Some(Place { base, offset: 0, steps: None })
            }
            _ => None,
        }
    }

    /// `t / by` for a number that is a multiple of it by how it was made. That the product had
    /// gone over the end of its type is left out: distances do not.
    pub(crate) fn exact_quotient(&mut self, t: Term, by: u64) -> Option<Term> {
        let bits = self.bits(t);
        if let Some(value) = self.as_signed(t) {
            let by = i64::try_from(by).ok().filter(|&by| by > 0 && value % by == 0)?;
            return Some(self.int(bits, (value / by) as u64));
        }
        match *self.node(t) {
            Node::Bin { op: Op::Mul, lhs, rhs } => {
                let factor = self.as_int(rhs).filter(|f| by > 0 && f % by == 0)?;
                let rest = self.int(bits, factor / by);
                Some(self.bin(Op::Mul, lhs, rest))
            }
            Node::Bin { op: Op::Add, lhs, rhs } => {
                let (a, b) = (self.exact_quotient(lhs, by)?, self.exact_quotient(rhs, by)?);
                Some(self.bin(Op::Add, a, b))
            }
            _ => None,
        }
    }
}
