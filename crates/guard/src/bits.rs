//! Bits of numbers: which may be set, which are, and masks that say nothing new.
//!
//! Bit-fields and flags are written as `(old & ~mask) | (new << n)` and read as `(word >> n) & mask`. Reading what was
//! written gives that back, and writing one leaves the others as they were.

use crate::{Cast, Node, Op, Term, Terms, sign_extend, truncate};

/// How deep bits are looked for: writing a field adds two levels.
const MAX_DEPTH: u32 = 6;
/// Masks are not pushed into wider choices.
const MAX_WIDTH: u32 = 40;

impl Terms {
    /// The bits of a number that may be one.
    fn possible_bits(&self, t: Term) -> u64 {
        self.possible_within(t, MAX_DEPTH)
    }

    fn possible_within(&self, t: Term, depth: u32) -> u64 {
        let all = truncate(self.bits(t), u64::MAX);
        if depth == 0 {
            return all;
        }
        let possible_bits = |t| self.possible_within(t, depth - 1);
        let possible = match *self.node(t) {
            Node::Int { value, .. } => value,
            Node::Ite { then, otherwise, .. } => possible_bits(then) | possible_bits(otherwise),
            Node::Cast { cast: Cast::SExt, value, .. } => {
                sign_extend(self.bits(value), possible_bits(value)) as u64
            }
            Node::Cast { value, .. } if self.bits(value) > 1 => possible_bits(value),
            Node::Bin { op, lhs, rhs } => match (op, self.shift(t)) {
                (Op::And, _) => possible_bits(lhs) & possible_bits(rhs),
                (Op::Or | Op::Xor, _) => possible_bits(lhs) | possible_bits(rhs),
                (Op::Shl, Some(by)) => possible_bits(lhs) << by,
                (Op::LShr, Some(by)) => possible_bits(lhs) >> by,
                _ => all,
            },
            _ => all,
        };
        possible & all
    }

    /// The bits of a number that are one.
    fn certain_bits(&self, t: Term) -> u64 {
        self.certain_within(t, MAX_DEPTH)
    }

    fn certain_within(&self, t: Term, depth: u32) -> u64 {
        if depth == 0 {
            return 0;
        }
        let certain_bits = |t| self.certain_within(t, depth - 1);
        let certain = match *self.node(t) {
            Node::Int { value, .. } => value,
            Node::Ite { then, otherwise, .. } => certain_bits(then) & certain_bits(otherwise),
            Node::Cast { cast: Cast::ZExt | Cast::Trunc, value, .. } if self.bits(value) > 1 => {
                certain_bits(value)
            }
            Node::Bin { op, lhs, rhs } => match (op, self.shift(t)) {
                (Op::And, _) => certain_bits(lhs) & certain_bits(rhs),
                (Op::Or, _) => certain_bits(lhs) | certain_bits(rhs),
                (Op::Shl, Some(by)) => certain_bits(lhs) << by,
                (Op::LShr, Some(by)) => certain_bits(lhs) >> by,
                _ => 0,
            },
            _ => 0,
        };
        truncate(self.bits(t), certain)
    }

    /// By how much a shift moves, where that is known.
    fn shift(&self, t: Term) -> Option<u64> {
        let Node::Bin { op: Op::Shl | Op::LShr, rhs, .. } = *self.node(t) else { return None };
        self.as_int(rhs).filter(|&by| by < u64::from(self.bits(t)))
    }

    /// Whether a number cannot be this constant, by its bits.
    pub(crate) fn differs_in_bits(&self, t: Term, constant: u64) -> bool {
        matches!(self.node(t), Node::Bin { .. } | Node::Cast { .. })
            && (constant & !self.possible_bits(t) != 0 || self.certain_bits(t) & !constant != 0)
    }

    /// `t & mask`, where that is simpler than what it says.
    pub(crate) fn masked(&mut self, t: Term, mask: u64) -> Option<Term> {
        if self.has_addr(t) {
            return None;
        }
        let bits = self.bits(t);
        let (possible, certain) = (self.possible_bits(t), self.certain_bits(t));
        if possible & mask == certain & mask {
            return Some(self.int(bits, certain & mask));
        }
        if possible & !mask == 0 {
            return Some(t);
        }
        match *self.node(t) {
            Node::Bin { op: Op::And, lhs, rhs } => {
                let inner = self.as_int(rhs)?;
                Some(self.with_mask(lhs, inner & mask))
            }
            Node::Bin { op: Op::Or, lhs, rhs } => {
                if self.possible_bits(lhs) & mask == 0 {
                    return Some(self.with_mask(rhs, mask));
                }
                let in_rhs = self.possible_bits(rhs) & mask;
                (in_rhs == 0).then(|| self.with_mask(lhs, mask))
            }
            Node::Bin { op: Op::LShr, lhs, rhs } => {
                let by = self.shift(t)?;
                let inner = self.masked(lhs, truncate(bits, mask << by))?;
                Some(self.bin(Op::LShr, inner, rhs))
            }
            Node::Ite { cond, then, otherwise } if self.width(t) <= MAX_WIDTH => {
                let (a, b) = (self.masked(then, mask), self.masked(otherwise, mask));
                if a.is_none() && b.is_none() {
                    return None;
                }
                let a = a.unwrap_or_else(|| self.plain_mask(then, mask));
                let b = b.unwrap_or_else(|| self.plain_mask(otherwise, mask));
                Some(self.ite(cond, a, b))
            }
            Node::Cast { cast: Cast::ZExt, value, .. } if self.bits(value) > 1 => {
                let inner = self.masked(value, truncate(self.bits(value), mask))?;
                Some(self.cast(Cast::ZExt, bits, inner))
            }
            Node::Cast { cast: Cast::Trunc, value, .. } => {
                let inner = self.masked(value, mask)?;
                Some(self.cast(Cast::Trunc, bits, inner))
            }
            _ => None,
        }
    }

    /// `t & mask` as it stands.
    fn plain_mask(&mut self, t: Term, mask: u64) -> Term {
        let rhs = self.int(self.bits(t), mask);
        self.intern(Node::Bin { op: Op::And, lhs: t, rhs })
    }

    fn with_mask(&mut self, t: Term, mask: u64) -> Term {
        let mask = self.int(self.bits(t), mask);
        self.bin(Op::And, t, mask)
    }

    /// `t >> by`, where that gives back what was shifted to the left before.
    pub(crate) fn shifted_back(&mut self, t: Term, by: u64) -> Option<Term> {
        match *self.node(t) {
            Node::Bin { op: Op::Shl, lhs, .. } if self.shift(t) == Some(by) => {
                let kept = truncate(self.bits(t), u64::MAX) >> by;
                Some(self.with_mask(lhs, kept))
            }
            Node::Bin { op: Op::And, lhs, rhs } => {
                let mask = self.as_int(rhs)?;
                let inner = self.shifted_back(lhs, by)?;
                Some(self.with_mask(inner, mask >> by))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SymInfo;

    fn symbol(terms: &mut Terms, bits: u16) -> Term {
        let s = terms.new_sym(SymInfo { bits, range: None, nonzero: false, outside: false });
        terms.sym(s)
    }

    /// `(word & ~(mask << by)) | ((value & mask) << by)`
    fn written(terms: &mut Terms, word: Term, by: u64, mask: u64, value: Term) -> Term {
        let bits = terms.bits(word);
        let rest = terms.int(bits, !(mask << by));
        let rest = terms.bin(Op::And, word, rest);
        let value = terms.with_mask(value, mask);
        let by = terms.int(bits, by);
        let moved = terms.bin(Op::Shl, value, by);
        terms.bin(Op::Or, rest, moved)
    }

    fn read(terms: &mut Terms, word: Term, by: u64, mask: u64) -> Term {
        let by = terms.int(terms.bits(word), by);
        let moved = terms.bin(Op::LShr, word, by);
        terms.with_mask(moved, mask)
    }

    #[test]
    fn a_field_holds_what_was_written_last() {
        let mut terms = Terms::new();
        let (word, value) = (symbol(&mut terms, 8), symbol(&mut terms, 8));
        let one = terms.int(8, 1);
        let after = written(&mut terms, word, 3, 7, value);
        let after = written(&mut terms, after, 0, 1, one);
        let low = terms.with_mask(value, 7);
        assert_eq!(read(&mut terms, after, 3, 7), low);
        assert_eq!(read(&mut terms, after, 0, 1), one);
    }

    #[test]
    fn other_fields_are_as_they_were() {
        let mut terms = Terms::new();
        let (word, value) = (symbol(&mut terms, 8), symbol(&mut terms, 8));
        let after = written(&mut terms, word, 3, 7, value);
        let (before, now) = (read(&mut terms, word, 0, 7), read(&mut terms, after, 0, 7));
        assert_eq!(before, now);
    }

    #[test]
    fn a_set_bit_is_not_zero() {
        let mut terms = Terms::new();
        let word = symbol(&mut terms, 32);
        let four = terms.int(32, 4);
        let set = terms.bin(Op::Or, word, four);
        assert_eq!(terms.is_null(set), Terms::FALSE);
        assert_ne!(terms.is_null(word), Terms::FALSE);
    }
}
