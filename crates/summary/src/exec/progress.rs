//! Whether a loop comes to something new in a later turn.
//!
//! Two turns show what a loop does, unless the first one only sets the stage: a state machine, a parser that makes an
//! object in one state and forgets it in the next. A small number that gets a constant which it did not have is such
//! progress. Counters make none, nor do pointers: lists grow in every turn.

use super::{Edge, Exec, phi_result};
use crate::cfg::LoopId;
use crate::state::{Cell, State, differences};
use crate::vocabulary::BaseKind;
use leakproof_guard::{Node, Term};
use leakproof_ir::{BlockId, InstKind, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop that comes to something new in every turn takes so many.
pub(super) const MAX_TURNS: u32 = 4;

/// A loop with more instructions than this takes no more turns than others, nor does one in a function that has taken more
/// steps.
const MAX_LENGTH: usize = 150;
const MAX_STEPS: u64 = 20_000;

/// A choice between more values than this is not looked into.
const MAX_WIDTH: u32 = 16;

/// A variable of the loop's header, or a cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Carried {
    Phi(usize),
    Cell(Cell),
}

/// What was carried round a loop so far.
pub(super) struct Progress {
    is_wanted: bool,
    /// Which of the header's variables decide what a turn does: others change without a state.
    deciding: Vec<bool>,
    turns: u32,
    /// What changed in some turn, and the constants that it had.
    seen: FxHashMap<Carried, FxHashSet<Term>>,
}

impl Progress {
    pub fn new(is_wanted: bool, deciding: Vec<bool>) -> Self {
        Self { is_wanted, deciding, turns: 0, seen: FxHashMap::default() }
    }
}

impl Exec<'_> {
    /// Whether a loop may take more turns than others.
    pub(super) fn may_take_more_turns(&self, l: LoopId) -> bool {
        let lp = &self.cfg.loops[l.0 as usize];
        !self.repeating
            && self.turns > 1
            && self.steps <= MAX_STEPS
            && lp.blocks.iter().map(|&b| self.body.blocks[b].insts.len()).sum::<usize>()
                <= MAX_LENGTH
    }

    /// Which of a header's variables are compared, or switched by.
    pub(super) fn deciding_phis(&self, header: BlockId) -> Vec<bool> {
        let body = self.body;
        let mut tested: FxHashSet<ValueId> = FxHashSet::default();
        for (_, block) in body.blocks.iter() {
            if let Terminator::Switch { value, .. } = block.term {
                tested.insert(value);
            }
        }
        for inst in body.insts.values() {
            if let InstKind::Cmp { lhs, rhs, .. } = inst.kind {
                tested.extend([lhs, rhs]);
            }
        }
        let widened = body.insts.values().filter_map(|inst| match inst.kind {
            InstKind::Cast { value, .. } if inst.result.is_some_and(|r| tested.contains(&r)) => {
                Some(value)
            }
            _ => None,
        });
        let widened: Vec<ValueId> = widened.collect();
        tested.extend(widened);
        let phis = body.blocks[header].insts.iter().filter_map(|&i| phi_result(&body.insts[i]));
        phis.map(|phi| tested.contains(&phi)).collect()
    }

    /// Whether the turn that was just taken came to something that the one before it did not.
    pub(super) fn goes_on(
        &mut self,
        progress: &mut Progress,
        entered: &State,
        before: &[Term],
        counters: &[bool],
        edges: &[Edge],
    ) -> bool {
        if !progress.is_wanted {
            return false;
        }
        let mut changes: Vec<(Carried, Option<Term>, Term)> = Vec::new();
        for edge in edges {
            for (i, (&old, &new)) in before.iter().zip(&edge.phis).enumerate() {
                let decides = progress.deciding.get(i) == Some(&true);
                if old != new && decides && counters.get(i) != Some(&true) {
                    changes.push((Carried::Phi(i), Some(old), new));
                }
            }
            for (cell, old, new) in differences(entered, &edge.state) {
                if let Some(new) = new.filter(|_| self.is_carried(cell)) {
                    changes.push((Carried::Cell(cell), old, new));
                }
            }
        }
        let first = progress.turns == 0;
        progress.turns += 1;
        let mut goes_on = false;
        let mut found = Vec::new();
        for (carried, old, new) in changes {
            let known = progress.seen.get(&carried);
            let constants = self.constants_in(new);
            goes_on |= !first
                && match known {
                    None => !constants.is_empty(),
                    Some(known) => constants.iter().any(|c| !known.contains(c)),
                };
            found.push((carried, old, constants));
        }
        for (carried, old, constants) in found {
            let old = old.map(|t| self.constants_in(t)).unwrap_or_default();
            progress.seen.entry(carried).or_default().extend(old.into_iter().chain(constants));
        }
        goes_on
    }

    /// The function's own memory: what callees leave in that of others is seldom the state of this loop.
    fn is_carried(&self, cell: Cell) -> bool {
        cell.1.is_contents()
            && !self.counted.contains(&cell)
            && matches!(self.kind(cell.0), BaseKind::Slot(_))
    }

    /// The constants that a number is a choice of, and nothing else: those of a flag or state, not sizes or null.
    fn constants_in(&self, t: Term) -> Vec<Term> {
        if self.terms.bits(t) >= 64 || self.terms.width(t) > MAX_WIDTH {
            return Vec::new();
        }
        let values = self.terms.alternatives(t);
        let is_constant = |t: &Term| matches!(self.terms.node(*t), Node::Int { .. });
        if values.iter().all(is_constant) { values.to_vec() } else { Vec::new() }
    }
}
