//! Conditions with some of their atoms decided, by whether they occur plainly or negated.

use crate::exec::Exec;
use leakproof_guard::{Marks, Node, Term, Terms};
use rustc_hash::FxHashMap;

/// What became of conditions that were wanted to hold, or not to.
pub(crate) type Decided = FxHashMap<(Term, bool), Term>;

/// What decides the atoms: the same purpose decides the same atom alike.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Purpose {
    pub kind: Kind,
    /// Atoms that speak of these symbols are left alone.
    pub except: Box<[Term]>,
}

impl Purpose {
    fn is_shared(&self) -> bool {
        matches!(self.kind, Kind::Lost { .. }) && self.except.is_empty()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// What is out of sight, with the outcomes of calls or without.
    Lost { outcomes: bool },
    /// All but what had failed before this symbol.
    Cut { first: u32 },
}

/// The same conditions are asked about for many objects and exits: what became of them, by purpose.
#[derive(Default)]
pub(crate) struct Favours(FxHashMap<Purpose, Decided>);

/// So many purposes are remembered: there are few at a time, besides those that all objects share.
const MAX_PURPOSES: usize = 16;

impl Favours {
    pub fn take(&mut self, purpose: &Purpose) -> Decided {
        self.0.remove(purpose).unwrap_or_default()
    }

    pub fn keep(&mut self, purpose: Purpose, decided: Decided) {
        if self.0.len() >= MAX_PURPOSES {
            self.0.retain(|p, _| p.is_shared());
        }
        self.0.insert(purpose, decided);
    }
}

impl Exec<'_> {
    /// `t` with the atoms decided that `decide` knows; it is asked with whether the atom is wanted
    /// to hold for `t` to be as `wanted`. Unless all are at stake, terms with none of the marks
    /// that are stay as they are.
    pub(crate) fn with_atoms(
        &mut self,
        t: Term,
        wanted: bool,
        at_stake: Marks,
        known: &mut Decided,
        decide: &impl Fn(&Self, Term, bool) -> Option<bool>,
    ) -> Term {
        if at_stake != Marks::ALL && !self.terms.marks(t).intersects(at_stake) {
            return t;
        }
        if let Some(&done) = known.get(&(t, wanted)) {
            return done;
        }
        let new = match self.terms.node(t).clone() {
            Node::Not(x) => {
                let inner = self.with_atoms(x, !wanted, at_stake, known, decide);
                self.terms.not(inner)
            }
            Node::And(items) => {
                match self.all_with_atoms(&items, wanted, at_stake, known, decide) {
                    Some(all) => self.terms.and(all),
                    None => t,
                }
            }
            Node::Or(items) => match self.all_with_atoms(&items, wanted, at_stake, known, decide) {
                Some(all) => self.terms.or(all),
                None => t,
            },
            Node::Bool(_) => t,
            _ => decide(self, t, wanted).map_or(t, Terms::bool),
        };
        known.insert((t, wanted), new);
        new
    }

    /// The items with their atoms decided; none when that changes nothing.
    fn all_with_atoms(
        &mut self,
        items: &[Term],
        wanted: bool,
        at_stake: Marks,
        known: &mut Decided,
        decide: &impl Fn(&Self, Term, bool) -> Option<bool>,
    ) -> Option<Vec<Term>> {
        let mut all = Vec::new();
        for (i, &item) in items.iter().enumerate() {
            let new = self.with_atoms(item, wanted, at_stake, known, decide);
            if new != item && all.is_empty() {
                all.reserve_exact(items.len());
                all.extend_from_slice(&items[..i]);
            }
            if new != item || !all.is_empty() {
                all.push(new);
            }
        }
        (!all.is_empty()).then_some(all)
    }
}
