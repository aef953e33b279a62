//! Joins: several ways into a block become one state, with if-then-else where they differ.

use super::{Edge, Exec};
use crate::state::{Cell, Cells, State, differences};
use crate::vocabulary::{BaseKind, Slot};
use leakproof_guard::{Term, Terms};
use leakproof_ir::BlockId;

impl Exec<'_> {
    /// All edges into `b` as one.
    pub(super) fn take_merged(&mut self, b: BlockId) -> Option<Edge> {
        let edges = self.pending.remove(&b)?;
        self.merged_down_to(edges, 1).pop()
    }

    /// At most `count` edges: those whose paths parted last become one first. None when that costs
    /// more than is left: nothing that follows would count.
    pub(super) fn merged_down_to(&mut self, mut edges: Vec<Edge>, count: usize) -> Vec<Edge> {
        while edges.len() > count {
            self.check_limits();
            if self.limit.is_some() {
                return Vec::new();
            }
            let (i, j) = self.deepest_pair(&edges);
            let second = edges.remove(j);
            let first = edges.remove(i);
            let merged = self.merge(first, second);
            edges.insert(i, merged);
        }
        edges
    }

    /// The two edges whose paths parted last.
    fn deepest_pair(&self, edges: &[Edge]) -> (usize, usize) {
        let mut best = (0, 1, 0);
        // Looking at neighbours first keeps joins of large switches linear.
        let window = if edges.len() > 32 { 2 } else { edges.len() };
        for i in 0..edges.len() {
            for j in i + 1..edges.len().min(i + window) {
                let depth = self.pcs.depth_of_join(edges[i].state.pc, edges[j].state.pc);
                if depth > best.2 {
                    best = (i, j, depth);
                }
            }
        }
        (best.0, best.1)
    }

    fn merge(&mut self, a: Edge, b: Edge) -> Edge {
        let (state, chooser) = self.merge_states(&a.state, &b.state);
        let phis =
            a.phis.iter().zip(&b.phis).map(|(&x, &y)| self.terms.ite(chooser, x, y)).collect();
        let loc = if a.loc.is_known() { a.loc } else { b.loc };
        Edge { state, phis, loc, jump: a.jump && b.jump }
    }

    /// The join of two states, and the condition under which it was `a`.
    pub fn merge_states(&mut self, a: &State, b: &State) -> (State, Term) {
        let (pc, chooser) = self.pcs.join(&mut self.terms, a.pc, b.pc);
        let mem = self.chosen_cells(a, b, chooser);
        (State { pc, mem }, chooser)
    }

    /// What cells hold: as in `a` when `chooser` holds, else as in `b`.
    pub(crate) fn chosen_cells(&mut self, a: &State, b: &State, chooser: Term) -> Cells {
        let mut mem = a.mem.clone();
        let changed = differences(a, b);
        self.steps += changed.len() as u64;
        for (cell, left, right) in changed {
            let merged = match (left, right) {
                _ if cell.1 == Slot::Last => {
                    match left.zip(right).and_then(|(x, y)| self.shared_last(x, y)) {
                        Some(shared) => mem.insert(cell, shared),
                        None => mem.remove(&cell),
                    };
                    continue;
                }
                // Under which condition is of use to nobody.
                _ if matches!(cell.1, Slot::Star(_)) => Terms::TRUE,
                // An object that does not exist on the other side has no contents there.
                (Some(x), None) if self.is_absent(b, cell) => x,
                (None, Some(y)) if self.is_absent(a, cell) => y,
                _ if cell.1 == Slot::Epoch => {
                    let (x, y) = (left.unwrap_or(Terms::NULL), right.unwrap_or(Terms::NULL));
                    self.terms.choose(chooser, x, y)
                }
                (Some(x), Some(y)) => {
                    let bits = self.terms.bits(x).max(self.terms.bits(y));
                    let (x, y) = (self.resized(x, bits), self.resized(y, bits));
                    self.terms.ite(chooser, x, y)
                }
                (Some(x), None) => match self.untouched(b, cell, x) {
                    Some(y) => self.terms.ite(chooser, x, y),
                    None => x,
                },
                (None, Some(y)) => match self.untouched(a, cell, y) {
                    Some(x) => self.terms.ite(chooser, x, y),
                    None => y,
                },
                (None, None) => continue,
            };
            mem.insert(cell, merged);
        }
        mem
    }

    /// Whether the cell belongs to a heap object that does not exist in `state`.
    fn is_absent(&self, state: &State, (base, slot): Cell) -> bool {
        (slot.is_contents() || slot == Slot::Epoch)
            && matches!(self.kind(base), BaseKind::Heap(_))
            && !state.mem.contains_key(&(base, Slot::Live))
    }

    /// What a cell holds that `state` never touched; `None` when it cannot matter there.
    fn untouched(&mut self, state: &State, cell: Cell, like: Term) -> Option<Term> {
        match (self.kind(cell.0), cell.1) {
            (_, Slot::Thrown) => Some(Terms::FALSE),
            (BaseKind::Values, _) => None,
            (_, Slot::Epoch) => Some(Terms::NULL),
            (_, slot) if !slot.is_contents() => Some(Terms::FALSE),
            _ => {
                let bits = self.terms.bits(like);
                Some(self.initial(state, cell.0, cell.1, bits))
            }
        }
    }
}
