//! Distances between pointers into the same object, and the number of elements they stand for.

use crate::term::{Base, Node, Op, Term, Terms};

/// A pointer taken apart: its object, and how far into it.
struct Place {
    base: Base,
    offset: i64,
    /// More bytes, an unknown number of them.
    index: Option<Term>,
}

impl Terms {
    /// `lhs - rhs` in bytes, when both point into one object.
    pub(crate) fn distance(&mut self, lhs: Term, rhs: Term) -> Option<Term> {
        let (a, b) = (self.place(lhs)?, self.place(rhs)?);
        if a.base != b.base {
            return None;
        }
        let apart = self.int(64, a.offset.wrapping_sub(b.offset) as u64);
        let bytes = match (a.index, b.index) {
            (None, None) => return Some(apart),
            (Some(i), None) => i,
            (Some(i), Some(j)) => self.bin(Op::Sub, i, j),
            (None, Some(_)) => return None,
        };
        Some(self.bin(Op::Add, bytes, apart))
    }

    fn place(&self, pointer: Term) -> Option<Place> {
        match *self.node(pointer) {
            Node::Addr { base, offset } => Some(Place { base, offset, index: None }),
            Node::Elem { base, offset, index, .. } if self.bits(index) == 64 => {
                Some(Place { base, offset, index: Some(index) })
            }
            Node::Sym(_) => {
                let base = *self.pointees.get(&pointer)?;
                Some(Place { base, offset: 0, index: None })
            }
            _ => None,
        }
    }

    /// `t / by` for a number that is a multiple of it by how it was made. That the product had
    /// gone over the end of its type is left out: distances do not.
    pub fn exact_quotient(&mut self, t: Term, by: u64) -> Option<Term> {
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

#[cfg(test)]
mod tests {
    use crate::{Op, SymInfo, Term, Terms};

    fn symbol(terms: &mut Terms) -> Term {
        let sym = terms.new_sym(SymInfo { bits: 64, range: None, nonzero: false, outside: false });
        terms.sym(sym)
    }

    #[test]
    fn pointers_into_one_object_are_a_number_apart() {
        let mut terms = Terms::new();
        let base = terms.new_distinct_base(true);
        let (first, third) = (terms.addr(base, 8), terms.addr(base, 24));
        let apart = terms.bin(Op::Sub, third, first);
        assert_eq!(terms.as_signed(apart), Some(16));
    }

    #[test]
    fn pointers_into_two_objects_are_not() {
        let mut terms = Terms::new();
        let (a, b) = (terms.new_distinct_base(true), terms.new_distinct_base(true));
        let (a, b) = (terms.addr(a, 8), terms.addr(b, 0));
        let apart = terms.bin(Op::Sub, a, b);
        assert_eq!(terms.as_int(apart), None);
    }

    /// `(&v[n + 1] - &v[0]) / 8` is `n + 1`.
    #[test]
    fn the_number_of_elements_is_known_as_far_as_the_index() {
        let mut terms = Terms::new();
        let base = terms.new_distinct_base(true);
        let (start, n, eight) = (terms.addr(base, 0), symbol(&mut terms), terms.int(64, 8));
        let bytes = terms.bin(Op::Mul, n, eight);
        let end = terms.index(start, 8, bytes);
        let end = terms.offset(end, 8);
        let apart = terms.bin(Op::Sub, end, start);
        let count = terms.bin(Op::SDiv, apart, eight);
        let one = terms.int(64, 1);
        assert_eq!(count, terms.bin(Op::Add, n, one));
    }

    #[test]
    fn what_is_no_multiple_is_not_divided() {
        let mut terms = Terms::new();
        let (n, four, eight) = (symbol(&mut terms), terms.int(64, 4), terms.int(64, 8));
        let product = terms.bin(Op::Mul, n, four);
        assert_eq!(terms.exact_quotient(product, 8), None);
        let quotient = terms.bin(Op::SDiv, product, eight);
        assert_ne!(quotient, n);
    }
}
