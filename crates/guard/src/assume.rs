//! A term under the assumption that some of its conditions hold, or do not.

use crate::found::Found;
use crate::{Node, Term, Terms};

/// Assumptions, with the terms already rewritten under them.
pub struct Assumption {
    /// The oldest term that something is assumed about.
    first: Option<Term>,
    /// The condition mentions all of these, when there is just one.
    mentions: u64,
    known: Found,
}

impl Assumption {
    /// One condition, whose parts other terms must have to be rewritten.
    pub fn new(terms: &Terms, atom: Term, truth: bool) -> Self {
        Self { mentions: terms.mentions(atom), ..Self::all(&[(atom, truth)]) }
    }

    /// Several conditions, each with its truth.
    pub fn all(literals: &[(Term, bool)]) -> Self {
        let mut known = Found::default();
        for &(t, truth) in literals {
            known.insert(t, Terms::bool(truth));
        }
        Self { first: literals.iter().map(|(t, _)| *t).min(), mentions: 0, known }
    }
}

impl Terms {
    /// `t` with the assumption put in everywhere.
    pub fn assuming(&mut self, t: Term, given: &mut Assumption) -> Term {
        // Parts are made before the whole: an older term cannot have any of them in it.
        if given.first.is_none_or(|first| t < first)
            || self.mentions(t) & given.mentions != given.mentions
        {
            return t;
        }
        if let Some(known) = given.known.get(t) {
            return known;
        }
        if self.is_leaf(t) {
            return t;
        }
        let new = self.rewritten(t, given);
        given.known.insert(t, new);
        new
    }

    /// Nothing can be assumed about parts of these.
    fn is_leaf(&self, t: Term) -> bool {
        let node = self.node(t);
        matches!(node, Node::Int { .. } | Node::Sym(_) | Node::Addr { .. } | Node::Elem { .. })
    }

    /// Terms whose parts stay as they are stay themselves: constructors would only find them again.
    fn rewritten(&mut self, t: Term, given: &mut Assumption) -> Term {
        match self.node(t).clone() {
            Node::Not(x) => {
                let x = self.assuming(x, given);
                self.not(x)
            }
            Node::And(items) => match self.all_assuming(&items, given) {
                Some(items) => self.and(items),
                None => t,
            },
            Node::Or(items) => match self.all_assuming(&items, given) {
                Some(items) => self.or(items),
                None => t,
            },
            Node::Any(items) => match self.all_assuming(&items, given) {
                Some(items) => self.any(items),
                None => t,
            },
            Node::Tuple(items) => match self.all_assuming(&items, given) {
                Some(items) => self.tuple(items),
                None => t,
            },
            Node::Ite { cond, then, otherwise } => {
                let cond = self.assuming(cond, given);
                match cond {
                    Self::TRUE => self.assuming(then, given),
                    Self::FALSE => self.assuming(otherwise, given),
                    _ => {
                        let a = self.assuming(then, given);
                        let b = self.assuming(otherwise, given);
                        self.ite(cond, a, b)
                    }
                }
            }
            Node::Cmp { cmp, lhs, rhs } => {
                let (a, b) = (self.assuming(lhs, given), self.assuming(rhs, given));
                if (a, b) == (lhs, rhs) { t } else { self.cmp(cmp, a, b) }
            }
            Node::Bin { op, lhs, rhs } => {
                let (a, b) = (self.assuming(lhs, given), self.assuming(rhs, given));
                if (a, b) == (lhs, rhs) { t } else { self.bin(op, a, b) }
            }
            Node::Cast { cast, value, bits } => {
                let inner = self.assuming(value, given);
                if inner == value { t } else { self.cast(cast, bits, inner) }
            }
            _ => t,
        }
    }

    /// The items under the assumption; none when that changes nothing.
    fn all_assuming(&mut self, items: &[Term], given: &mut Assumption) -> Option<Vec<Term>> {
        let mut rest = items.iter().enumerate();
        let (first, new) = rest.find_map(|(i, &item)| {
            let new = self.assuming(item, given);
            (new != item).then_some((i, new))
        })?;
        let mut all = Vec::with_capacity(items.len());
        all.extend_from_slice(&items[..first]);
        all.push(new);
        all.extend(rest.map(|(_, &item)| self.assuming(item, given)));
        Some(all)
    }
}
