//! The order of addresses in different objects.
//!
//! Objects do not overlap: one lies below the other as a whole, wherever in them the pointers point. So a new object is
//! not between two addresses of another one: `p >= pool && p < pool + size`, where an allocator has two sources, is false.

use crate::{BaseInfo, Cmp, Node, Term, Terms};

impl Terms {
    /// Which of two objects lies below the other, where two pointers into them are compared.
    pub(crate) fn order_of_objects(&mut self, cmp: Cmp, lhs: Term, rhs: Term) -> Option<Term> {
        if !matches!(cmp, Cmp::ULt | Cmp::ULe) {
            return None;
        }
        let (a, b) = (self.start_of_object(lhs)?, self.start_of_object(rhs)?);
        if a == b || self.known_equality(a, b).or_else(|| self.known_equality(b, a)) != Some(false)
        {
            return None;
        }
        let below = if a < b { (a, b) } else { (b, a) };
        let ordered = self.intern(Node::Cmp { cmp: Cmp::ULt, lhs: below.0, rhs: below.1 });
        Some(if a < b { ordered } else { self.not(ordered) })
    }

    /// A pointer to the start of the object that a pointer points into.
    fn start_of_object(&mut self, t: Term) -> Option<Term> {
        match *self.node(t) {
            Node::Addr { base, .. } | Node::Elem { base, .. } => match self.base_info(base) {
                BaseInfo::Pointee(p) => Some(p),
                BaseInfo::Distinct { .. } => Some(self.addr(base, 0)),
            },
            Node::Sym(s) => self.sym_info(s).outside.then_some(t),
            _ => None,
        }
    }
}
