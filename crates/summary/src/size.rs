//! Sizes: how much memory is asked for.
//!
//! A size that is computed is not zero, unless the path says so: that a sum or product comes out as zero is arithmetic gone
//! wrong, which programs do not count on. It does not matter whether the library is asked or a function of the program's own
//! that hands the size on to it, or multiplies it with another one before.

use crate::call::Call;
use crate::exec::Exec;
use crate::state::State;
use crate::summary::Summary;
use crate::vocabulary::SymKind;
use leakproof_guard::{Node, Op, Term, Terms};
use leakproof_ir::Ty;

/// Sizes that are one of more than this are not looked into.
const MAX_CHOICES: u32 = 8;

impl Exec<'_> {
    /// Whether an argument of a function of the library is zero. A computed one is not, and what follows knows that: the
    /// program may ask later. Who judges a release that the program makes depend on it needs it all the same.
    pub(crate) fn is_zero(&mut self, v: Term, state: &mut State) -> Term {
        self.note_size(v);
        let zero = self.terms.is_null(v);
        if !self.is_computed(v) || self.audit.is_some() {
            return zero;
        }
        let zero = self.pcs.simplify(&mut self.terms, state.pc, zero);
        if zero != Terms::TRUE {
            self.know_not_zero(v, state);
        }
        Terms::bool(zero == Terms::TRUE)
    }

    /// Notes what a call of the program's own function says of the sizes that it is given.
    pub(crate) fn know_sizes(&mut self, call: &Call<'_>, summary: &Summary, state: &mut State) {
        for &i in &summary.sizes {
            let Some(&size) = call.args.get(i as usize) else { continue };
            self.note_size(size);
            if self.is_computed(size) && self.audit.is_none() {
                self.know_not_zero(size, state);
            }
        }
    }

    /// Remembers that a parameter is a size, or one of the factors of a size.
    fn note_size(&mut self, t: Term) {
        let s = match *self.terms.node(t) {
            Node::Sym(s) => s,
            Node::Cast { value, .. } => return self.note_size(value),
            Node::Bin { op: Op::Mul, lhs, rhs } => {
                self.note_size(lhs);
                return self.note_size(rhs);
            }
            _ => return,
        };
        let SymKind::Arg(index) = self.sym_kinds[s.0 as usize] else { return };
        let parameter = self.function.params.get(index as usize);
        if parameter.is_some_and(|p| self.function.ty(p.value) != Ty::Ptr) {
            self.sizes.insert(index);
        }
    }

    /// Whether a number is the outcome of arithmetic, be it one of two: `(n ? n * 2 : 8) * size`.
    fn is_computed(&self, t: Term) -> bool {
        match *self.terms.node(t) {
            Node::Bin { .. } => true,
            Node::Cast { value, .. } => self.is_computed(value),
            Node::Ite { then, otherwise, .. } if self.terms.width(t) <= MAX_CHOICES => {
                let is_size =
                    |t| self.terms.as_int(t).is_some_and(|n| n != 0) || self.is_computed(t);
                is_size(then) && is_size(otherwise)
            }
            _ => false,
        }
    }
}
