//! Lengths and counts that a function returns beside error codes.
//!
//! A function that returns a negative constant where it fails returns what it computed where it does not: `return total`.
//! Arithmetic alone does not say that a sum is not negative, but whoever calls the function could not tell the two
//! apart, and asks `if (n < 0)`.

use crate::exec::Exec;
use crate::vocabulary::{SymKind, What};
use leakproof_guard::{Cmp, Node, Op, Term};

/// A number that is one of more than this is not looked into.
const MAX_CHOICES: u32 = 16;

impl Exec<'_> {
    /// Says at all exits that return what was added up that it is not negative, where others return error codes.
    pub(crate) fn know_lengths(&mut self) {
        if !self.exits.iter().any(|e| e.value.is_some_and(|v| self.is_error_code(v))) {
            return;
        }
        for exit in 0..self.exits.len() {
            let Some(value) = self.exits[exit].value else { continue };
            if self.terms.as_int(value).is_some() || !self.is_length(value) {
                continue;
            }
            let zero = self.terms.int(self.terms.bits(value), 0);
            let at_least_zero = self.terms.cmp(Cmp::SLe, zero, value);
            let pc = self.exits[exit].state.pc;
            if let Some(pc) = self.pcs.extend(&mut self.terms, pc, at_least_zero) {
                self.exits[exit].state.pc = pc;
            }
        }
    }

    /// Whether a value is a negative constant, whichever of its alternatives it is.
    fn is_error_code(&self, value: Term) -> bool {
        let is_negative = |t: Term| self.terms.as_signed(t).is_some_and(|n| n < 0);
        self.terms.bits(value) > 8
            && self.terms.width(value) <= MAX_CHOICES
            && self.terms.alternatives(value).into_iter().all(is_negative)
    }

    /// Whether a number can only be a length: of each of its alternatives it is known, or it was added up.
    fn is_length(&self, value: Term) -> bool {
        let is_length = |t: Term| match self.terms.as_signed(t) {
            Some(n) => n >= 0,
            None => self.is_added_up(t),
        };
        self.terms.width(value) <= MAX_CHOICES
            && self.terms.alternatives(value).into_iter().all(is_length)
    }

    /// Whether a number is a sum or product, or was counted in a loop.
    fn is_added_up(&self, value: Term) -> bool {
        match *self.terms.node(value) {
            Node::Bin { op: Op::Add, rhs, .. } => self.terms.as_signed(rhs).is_none_or(|n| n >= 0),
            Node::Bin { op: Op::Mul, .. } => true,
            Node::Cast { value, .. } => self.is_added_up(value),
            Node::Sym(s) => match &self.sym_kinds[s.0 as usize] {
                SymKind::Opaque(origin) => origin.what == What::Loop,
                _ => false,
            },
            _ => false,
        }
    }
}
