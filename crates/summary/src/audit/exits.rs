//! Ways out of loops that a run did not take any more, although memory decides about them.
//!
//! In: the log of a run and an instruction that releases something. Out: where a loop around it could be left and
//! was not after that, when code behind that mentions what is released. The flag that ends the loop may be set by somebody who was not seen;
//! then nothing of what comes behind is in the log, and silence about it proves nothing.

use super::Audit;
use crate::cfg::{Loop, for_each_term_operand};
use crate::exec::{Exec, reads_memory};
use crate::vocabulary::Place;
use leakproof_ir::{BlockId, InstId, InstKind, ValueId, ValueKind};
use rustc_hash::FxHashSet;

impl Exec<'_> {
    pub fn untaken_exit(&self, audit: &Audit, release: InstId) -> Option<Place> {
        let (block, _) = self.body.blocks.iter().find(|(_, b)| b.insts.contains(&release))?;
        let first = audit.releases.iter().filter(|r| r.inst == release).map(|r| r.seq).min()?;
        let around = self.cfg.loops.iter().filter(|l| l.blocks.contains(&block));
        let found: Vec<_> = around.flat_map(|l| self.untaken_exits(audit, first, l)).collect();
        if found.is_empty() {
            return None;
        }
        let names = self.names_of_released(release);
        let mentioned = |from: BlockId| self.is_mentioned_from(from, release, &names);
        let (from, _) = found.into_iter().find(|(_, to)| mentioned(*to))?;
        let insts = &self.body.blocks[from].insts;
        let loc = insts.iter().rev().map(|i| self.body.insts[*i].loc).find(|l| l.is_known());
        Some(self.place(loc.unwrap_or(self.function.loc)))
    }

    /// Edges out of a loop that were not taken after a moment, from blocks that were run, where memory decides.
    fn untaken_exits(&self, audit: &Audit, after: u32, l: &Loop) -> Vec<(BlockId, BlockId)> {
        let run: FxHashSet<BlockId> = audit.ways.keys().map(|(from, _)| *from).collect();
        let mut found = Vec::new();
        for &from in l.blocks.iter().filter(|b| run.contains(b)) {
            let term = &self.body.blocks[from].term;
            let untaken = |to: &BlockId| {
                let leaves = !l.blocks.contains(to) && !self.cfg.is_cut(from, *to);
                leaves && audit.ways.get(&(from, *to)).is_none_or(|&last| last < after)
            };
            let left: Vec<BlockId> = term.successors().iter().copied().filter(untaken).collect();
            if !left.is_empty() && self.is_decided_by_memory(from) {
                found.extend(left.into_iter().map(|to| (from, to)));
            }
        }
        found.sort_unstable();
        found
    }

    /// Whether the way on from a block depends on what is read from memory.
    fn is_decided_by_memory(&self, block: BlockId) -> bool {
        let mut work = Vec::new();
        for_each_term_operand(&self.body.blocks[block].term, |v| work.push(v));
        self.values_behind(work).into_iter().filter_map(|v| self.kind_of(v)).any(reads_memory)
    }

    /// All values that may be the same reference as an argument of a release, and the variables that it is kept in.
    fn names_of_released(&self, release: InstId) -> FxHashSet<ValueId> {
        let mut names = FxHashSet::default();
        if let InstKind::Call { args, .. } = &self.body.insts[release].kind {
            names.extend(args.iter().copied().filter(|v| self.is_name(*v)));
        }
        let mut before = 0;
        while before < names.len() {
            before = names.len();
            for inst in self.body.insts.values() {
                let linked = self.linked(&inst.kind, inst.result);
                if linked.iter().any(|v| names.contains(v)) {
                    names.extend(linked);
                }
            }
        }
        names
    }

    /// Values that are one reference, as far as an instruction tells.
    fn linked(&self, kind: &InstKind, result: Option<ValueId>) -> Vec<ValueId> {
        let mut list: Vec<ValueId> = result.into_iter().collect();
        match kind {
            InstKind::Phi { incoming } => list.extend(incoming.iter().map(|(_, v)| *v)),
            InstKind::Select { then, otherwise, .. } => list.extend([*then, *otherwise]),
            InstKind::Cast { value, .. } => list.push(*value),
            InstKind::Offset { base, .. } => list.push(*base),
            InstKind::Load { ptr, .. } => list.push(*ptr),
            InstKind::Store { ptr, value } => list.extend([*ptr, *value]),
            _ => return Vec::new(),
        }
        list.retain(|v| self.is_name(*v));
        list
    }

    fn is_name(&self, v: ValueId) -> bool {
        use ValueKind as K;
        let value = &self.function.values[v];
        let is_place = matches!(value.kind, K::Inst(_) | K::Param(..) | K::Global(..));
        is_place && value.ty.is_ptr()
    }

    /// Whether code that is come to from a block does something with a reference.
    fn is_mentioned_from(
        &self,
        start: BlockId,
        release: InstId,
        names: &FxHashSet<ValueId>,
    ) -> bool {
        let (mut work, mut seen) = (vec![start], FxHashSet::default());
        while let Some(b) = work.pop() {
            if !seen.insert(b) {
                continue;
            }
            let block = &self.body.blocks[b];
            for &i in block.insts.iter().filter(|i| **i != release) {
                let kind = &self.body.insts[i].kind;
                let mut mentioned = false;
                if !matches!(kind, InstKind::Phi { .. } | InstKind::VarSet { .. }) {
                    kind.for_each_operand(|v| mentioned |= names.contains(&v));
                }
                if mentioned {
                    return true;
                }
            }
            let mut returned = false;
            for_each_term_operand(&block.term, |v| returned |= names.contains(&v));
            if returned {
                return true;
            }
            work.extend(block.term.successors());
        }
        false
    }
}
