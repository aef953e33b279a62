//! What a caller can never be told is taken out of the exits before they are joined.
//!
//! A function that walks lists and trees leaves behind cells of structures that its callers have no
//! name for, and variables of its own. Joining exits and telling outcomes apart would work out for
//! all of them what they hold when. They count only as far as an object that a caller may have to
//! release is in them.

use crate::exec::Exec;
use crate::memory::MAX_ESCAPE_DEPTH;
use crate::state::Cell;
use crate::vocabulary::BaseKind;
use leakproof_guard::{Base, Node, Seen, Term};
use rustc_hash::{FxHashMap, FxHashSet};

impl Exec<'_> {
    pub(crate) fn forget_untold(&mut self) {
        let mut kept: FxHashSet<Base> = FxHashSet::default();
        let mut untold: FxHashSet<Base> = FxHashSet::default();
        let mut answers: FxHashMap<Term, bool> = FxHashMap::default();
        for i in 0..self.exits.len() {
            let mem = self.exits[i].state.mem.clone();
            for (&(base, slot), &value) in &mem {
                if kept.contains(&base) || !self.is_untold(base) {
                    continue;
                }
                let mut holds_owned =
                    || *answers.entry(value).or_insert_with(|| self.may_hold_owned(value));
                if slot.is_contents() && holds_owned() {
                    kept.insert(base);
                } else {
                    untold.insert(base);
                }
            }
        }
        for exit in &mut self.exits {
            let gone = |(base, _): &Cell| untold.contains(base) && !kept.contains(base);
            let cells: Vec<Cell> = exit.state.mem.keys().filter(|c| gone(c)).copied().collect();
            for cell in cells {
                exit.state.mem.remove(&cell);
            }
        }
    }

    /// Whether one of the alternatives of a value leads to something that a caller may own.
    fn may_hold_owned(&self, value: Term) -> bool {
        let mut seen = Seen::default();
        let mut work = vec![value];
        while let Some(t) = work.pop() {
            if !seen.insert(t) {
                continue;
            }
            let owned = match self.terms.node(t) {
                Node::Addr { base, .. } | Node::Elem { base, .. } => self.may_be_owned(*base),
                _ => self.argument_depth(t).is_some_and(|d| d <= MAX_ESCAPE_DEPTH),
            };
            if owned {
                return true;
            }
            match self.terms.node(t) {
                Node::Ite { then, otherwise, .. } => work.extend([*then, *otherwise]),
                Node::Any(items) | Node::Tuple(items) => work.extend(items.iter().copied()),
                Node::Bin { lhs, rhs, .. } => work.extend([*lhs, *rhs]),
                Node::Cast { value, .. } => work.push(*value),
                _ => {}
            }
        }
        false
    }

    /// Whether callers have no name for a base: a variable, or what no input leads to.
    pub(crate) fn is_untold(&self, base: Base) -> bool {
        match self.kind(base) {
            BaseKind::Var(_) | BaseKind::Slot(_) => true,
            BaseKind::Pointee => {
                self.terms.as_pointee(base).is_none_or(|p| self.pointer_depth(p).is_none())
            }
            _ => false,
        }
    }
}
