//! The operands of a node: a few of them stand in the node itself.
//!
//! Most conjunctions, disjunctions and choices have few operands. With a piece of memory of its own for each list, an
//! arena of a hundred thousand terms would wait for memory most of the time.

use crate::Term;
use std::fmt::{self, Debug, Formatter};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// So many fit into a node without making it larger.
const FEW: usize = 6;

#[derive(Clone)]
enum Items {
    Few(u8, [Term; FEW]),
    Many(Arc<[Term]>),
}

/// Terms in order, cheap to clone.
#[derive(Clone)]
pub struct List(Items);

impl From<&[Term]> for List {
    fn from(terms: &[Term]) -> Self {
        if terms.len() > FEW {
            return Self(Items::Many(terms.into()));
        }
        let mut few = [Term(0); FEW];
        few[..terms.len()].copy_from_slice(terms);
        Self(Items::Few(terms.len() as u8, few))
    }
}

impl Deref for List {
    type Target = [Term];

    fn deref(&self) -> &[Term] {
        match &self.0 {
            Items::Few(count, terms) => &terms[..usize::from(*count)],
            Items::Many(terms) => terms,
        }
    }
}

impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for List {}

impl Hash for List {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl Debug for List {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::{FEW, List};
    use crate::{Node, Term};

    #[test]
    fn a_list_is_what_it_was_made_of_however_long() {
        for length in [0, 1, FEW, FEW + 1, 3 * FEW] {
            let terms: Vec<Term> = (0..length as u32).map(Term).collect();
            let list = List::from(terms.as_slice());
            assert_eq!(*list, *terms);
            assert_eq!(list.clone(), list);
        }
    }

    #[test]
    fn lists_do_not_make_nodes_larger() {
        assert_eq!(size_of::<Node>(), 40);
    }
}
