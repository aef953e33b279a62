//! Loops that nothing inside them ends.
//!
//! `while (!stop)` ends when somebody else changes the variable: a signal handler, another thread. Where a loop was not left
//! after its turns, what its conditions read of memory that others can reach is taken as changed, and one more turn
//! comes out of it. What is `volatile` may change in every turn of every loop.
//!
//! A loop that is not left then either goes on until the process ends. What its turns make and no longer refer to when the
//! next one begins is lost as it would be at a `return`; what was there before the loop stays in use.

use super::{Edge, Exec, Exit, ExitKind};
use crate::cfg::LoopId;
use crate::vocabulary::{BaseKind, Slot, What};
use leakproof_guard::{Node, Term};
use leakproof_ir::{BlockId, Entity, InstId, InstKind, Ty, ValueId, ValueKind};
use rustc_hash::FxHashSet;

/// Where a loop without a way out begins another turn.
pub struct Endless {
    /// How many objects there were before the loop.
    pub made_before: usize,
    /// The values that later turns use.
    pub refers: Vec<Term>,
}

impl Exec<'_> {
    /// How many ways out of a loop are known: edges to what follows, and ends of the function.
    pub(super) fn ways_out_of(&self, l: LoopId) -> usize {
        let inside = &self.cfg.loops[l.0 as usize].blocks;
        let left = self.pending.iter().filter(|(b, _)| !inside.contains(b));
        let edges: usize = left.map(|(_, edges)| edges.len()).sum();
        edges + self.exits.iter().filter(|e| e.endless().is_none()).count()
    }

    /// One more turn of a loop after others changed what it waits for.
    pub(super) fn wait_for_others(&mut self, l: LoopId, mut entry: Edge) {
        let awaited = self.loads_that_decide_leaving(l);
        if !self.change(&awaited, &mut entry) {
            return;
        }
        let (header, items) = {
            let lp = &self.cfg.loops[l.0 as usize];
            (lp.header, lp.items.clone())
        };
        self.repeating = true;
        self.pending.entry(header).or_default().push(entry);
        self.run_items(&items, None);
        self.take_back_edges(header);
    }

    /// What a loop reads of `volatile` variables.
    pub(super) fn volatile_loads(&self, l: LoopId) -> Vec<InstId> {
        self.loads_in(l, |kind| matches!(kind, InstKind::Load { volatile: true, .. }))
    }

    /// Notes what a loop has lost sight of when another turn begins, and the one after that, and so on.
    pub(super) fn go_on_for_ever(&mut self, l: LoopId, made_before: usize, edges: Vec<Edge>) {
        let used = self.values_used_by_turns(l);
        let header = self.cfg.loops[l.0 as usize].header;
        let carried = self.phis_of(header).map(|phi| used.contains(&phi)).collect::<Vec<bool>>();
        let from_before: Vec<ValueId> =
            used.into_iter().filter(|&v| !self.is_defined_in(v, l)).collect();
        for edge in edges {
            let phis = edge.phis.iter().zip(&carried);
            let mut refers: Vec<Term> = phis.filter(|(_, used)| **used).map(|(&t, _)| t).collect();
            refers.extend(from_before.iter().map(|&v| self.value(&edge.state, v)));
            let kind = ExitKind::Endless(Endless { made_before, refers });
            self.exits.push(Exit { state: edge.state, value: None, loc: edge.loc, kind });
        }
    }

    /// Makes what some instructions load unknown, as far as it is a number that others can reach. Whether there is any.
    pub(super) fn change(&mut self, loads: &[InstId], edge: &mut Edge) -> bool {
        let mut changed = false;
        for &load in loads {
            let inst = &self.body.insts[load];
            let (InstKind::Load { ptr, .. }, Some(result)) = (&inst.kind, inst.result) else {
                continue;
            };
            let ty = self.function.values[result].ty;
            let pointer = self.value(&edge.state, *ptr);
            let Node::Addr { base, offset } = *self.terms.node(pointer) else { continue };
            let is_shared = matches!(self.kind(base), BaseKind::Global(_) | BaseKind::Pointee);
            if matches!(ty, Ty::Ptr | Ty::Tuple(_)) || !is_shared {
                continue;
            }
            let value = self.opaque(self.bits_of(ty), What::Loop, "", inst.loc);
            edge.state.mem.insert((base, Slot::At(offset)), value);
            changed = true;
        }
        changed
    }

    /// What is loaded in a loop and has a say in whether it is left.
    fn loads_that_decide_leaving(&self, l: LoopId) -> Vec<InstId> {
        let inside = &self.cfg.loops[l.0 as usize].blocks;
        let blocks = inside.iter().map(|&b| &self.body.blocks[b]);
        let leaving = blocks.filter(|b| b.term.successors().iter().any(|to| !inside.contains(to)));
        let deciding = self.values_behind(leaving.filter_map(|b| b.term.operand()).collect());
        let decides =
            |i: &InstId| self.body.insts[*i].result.is_some_and(|v| deciding.contains(&v));
        let mut loads = self.loads_in(l, |_| true);
        loads.retain(decides);
        loads
    }

    /// The values that others are computed from, as far back as to what is read from memory or told by callees.
    pub(crate) fn values_behind(&self, mut work: Vec<ValueId>) -> FxHashSet<ValueId> {
        let mut behind = FxHashSet::default();
        while let Some(v) = work.pop() {
            if let Some(kind) = self.kind_of(v)
                && behind.insert(v)
                && !reads_memory(kind)
                && !matches!(kind, InstKind::Call { .. })
            {
                kind.for_each_operand(|operand| work.push(operand));
            }
        }
        behind
    }

    fn loads_in(&self, l: LoopId, wanted: impl Fn(&InstKind) -> bool) -> Vec<InstId> {
        let mut loads = Vec::new();
        for &b in &self.cfg.loops[l.0 as usize].blocks {
            let insts = self.body.blocks[b].insts.iter().copied();
            loads.extend(insts.filter(|&i| {
                let kind = &self.body.insts[i].kind;
                matches!(kind, InstKind::Load { .. }) && wanted(kind)
            }));
        }
        loads.sort_unstable();
        loads
    }

    /// The values that the turns of a loop use. That a variable has a value is no use of it.
    fn values_used_by_turns(&self, l: LoopId) -> FxHashSet<ValueId> {
        let mut work = Vec::new();
        for &b in &self.cfg.loops[l.0 as usize].blocks {
            let block = &self.body.blocks[b];
            for &i in &block.insts {
                let kind = &self.body.insts[i].kind;
                if !matches!(kind, InstKind::VarSet { .. } | InstKind::Phi { .. }) {
                    kind.for_each_operand(|v| work.push(v));
                }
            }
            work.extend(block.term.operand());
        }
        let mut used = FxHashSet::default();
        while let Some(v) = work.pop() {
            let ValueKind::Inst(i) = self.function.values[v].kind else { continue };
            if used.insert(v) && matches!(self.body.insts[i].kind, InstKind::Phi { .. }) {
                self.body.insts[i].kind.for_each_operand(|operand| work.push(operand));
            }
        }
        used
    }

    fn phis_of(&self, b: BlockId) -> impl Iterator<Item = ValueId> {
        let insts = self.body.blocks[b].insts.iter().map(|&i| &self.body.insts[i]);
        insts.filter(|i| matches!(i.kind, InstKind::Phi { .. })).filter_map(|i| i.result)
    }

    fn is_defined_in(&self, v: ValueId, l: LoopId) -> bool {
        self.def_loop[v.index()].is_some_and(|d| self.cfg.is_inside(Some(d), l))
    }
}

pub(crate) fn reads_memory(kind: &InstKind) -> bool {
    matches!(kind, InstKind::Load { .. } | InstKind::AtomicRmw { .. } | InstKind::CmpXchg { .. })
}
