//! Drops blocks that only jump on and have no position: what is left of cleanup code whose slots
//! were promoted. Empty blocks with a position stay, since they stand for a statement (`return`,
//! `break`, the end of a loop body) that reports point at.
//!
//! A block with phis is empty too when only the phis of the next block read them: they then hear
//! from its predecessors directly, and several `return`s do not meet before the function's end.

use leakproof_ir::{Arena, Block, BlockId, Inst, InstId, InstKind, Terminator, ValueId};

/// The blocks that remain, renumbered; phis and branches are adjusted.
pub fn drop_empty_blocks(
    blocks: Vec<Block>,
    insts: &mut Arena<InstId, Inst>,
) -> Arena<BlockId, Block> {
    let (preds, uses) = (predecessors(&blocks), count_uses(&blocks, insts));
    let mut compactor = Compactor { preds, blocks, insts, uses };
    let count = compactor.blocks.len();
    let dropped: Vec<bool> = (0..count).map(|block| block > 0 && compactor.bypass(block)).collect();
    if dropped.contains(&true) {
        return compactor.renumber(&dropped);
    }
    compactor.blocks.into_iter().collect()
}

fn predecessors(blocks: &[Block]) -> Vec<Vec<u32>> {
    let mut preds: Vec<Vec<u32>> = vec![Vec::new(); blocks.len()];
    for (block, content) in (0u32..).zip(blocks) {
        for succ in content.term.successors() {
            let list = &mut preds[succ.0 as usize];
            // Several edges from one block come one after the other.
            if list.last() != Some(&block) {
                list.push(block);
            }
        }
    }
    preds
}

struct Compactor<'i> {
    blocks: Vec<Block>,
    /// Each predecessor once.
    preds: Vec<Vec<u32>>,
    insts: &'i mut Arena<InstId, Inst>,
    /// How often each value is read.
    uses: Vec<u32>,
}

impl Compactor<'_> {
    /// Leads the predecessors of an empty block past it, if that is possible.
    fn bypass(&mut self, block: usize) -> bool {
        let content = &self.blocks[block];
        let Terminator::Jump(target) = content.term else { return false };
        let silent = !content.term_loc.is_known() && self.are_phis_for(block, target);
        if !silent || target.0 as usize == block || target.0 == 0 {
            return false;
        }
        let preds = std::mem::take(&mut self.preds[block]);
        if !self.move_phi_entries(block as u32, target, &preds) {
            self.preds[block] = preds;
            return false;
        }
        for id in std::mem::take(&mut self.blocks[block].insts) {
            self.insts[id].kind.for_each_operand(|v| self.uses[v.0 as usize] -= 1);
        }
        for &pred in &preds {
            let from = BlockId(block as u32);
            replace(&mut self.blocks[pred as usize].term, |b| if b == from { target } else { b });
        }
        let list = &mut self.preds[target.0 as usize];
        list.retain(|p| *p as usize != block);
        for pred in preds {
            if !list.contains(&pred) {
                list.push(pred);
            }
        }
        true
    }

    /// Phis of the target hear from the predecessors instead of the block. `false`, and nothing
    /// done, when one of them leads to the target already: its two ways must stay apart.
    fn move_phi_entries(&mut self, block: u32, target: BlockId, preds: &[u32]) -> bool {
        let target_insts = &self.blocks[target.0 as usize].insts;
        let is_phi = |i: &&InstId| matches!(self.insts[**i].kind, InstKind::Phi { .. });
        let phis: Vec<InstId> = target_insts.iter().take_while(is_phi).copied().collect();
        let existing = &self.preds[target.0 as usize];
        if !phis.is_empty() && preds.iter().any(|p| existing.contains(p)) {
            return false;
        }
        for phi in phis {
            self.move_entry(phi, block, preds);
        }
        true
    }

    /// One entry of a phi becomes one per predecessor of the block that it was for.
    fn move_entry(&mut self, phi: InstId, block: u32, preds: &[u32]) {
        let InstKind::Phi { incoming } = &self.insts[phi].kind else { return };
        let Some(at) = incoming.iter().position(|(b, _)| b.0 == block) else { return };
        let (_, value) = incoming[at];
        let own = self.own_phi(block, value);
        let new: Vec<(BlockId, ValueId)> = preds
            .iter()
            .map(|p| {
                let told = own.as_ref().and_then(|list| list.iter().find(|(b, _)| b.0 == *p));
                told.copied().unwrap_or((BlockId(*p), value))
            })
            .collect();
        new.iter().for_each(|(_, v)| self.uses[v.0 as usize] += 1);
        self.uses[value.0 as usize] -= 1;
        if let InstKind::Phi { incoming } = &mut self.insts[phi].kind {
            incoming.splice(at..=at, new);
        }
    }

    /// The entries of the phi in `block` that defines `value`.
    fn own_phi(&self, block: u32, value: ValueId) -> Option<Vec<(BlockId, ValueId)>> {
        self.blocks[block as usize].insts.iter().find_map(|id| match &self.insts[*id] {
            Inst { kind: InstKind::Phi { incoming }, result: Some(result), .. }
                if *result == value =>
            {
                Some(incoming.clone())
            }
            _ => None,
        })
    }

    /// Whether a block consists of phis that nobody reads but the phis of `target`.
    fn are_phis_for(&self, block: usize, target: BlockId) -> bool {
        let insts = &self.blocks[block].insts;
        insts.iter().all(|id| {
            let inst = &self.insts[*id];
            let (InstKind::Phi { incoming }, Some(result)) = (&inst.kind, inst.result) else {
                return false;
            };
            // A block without predecessors left says nothing of its values.
            !incoming.is_empty()
                && self.uses_of(result) == self.entries(target, block as u32, result)
        })
    }

    fn uses_of(&self, value: ValueId) -> u32 {
        self.uses.get(value.0 as usize).copied().unwrap_or(0)
    }

    /// How many phis of `target` take `value` when they are reached from `block`.
    fn entries(&self, target: BlockId, block: u32, value: ValueId) -> u32 {
        let takes = |id: &&InstId| match &self.insts[**id].kind {
            InstKind::Phi { incoming } => incoming.contains(&(BlockId(block), value)),
            _ => false,
        };
        self.blocks[target.0 as usize].insts.iter().filter(takes).count() as u32
    }

    fn renumber(mut self, dropped: &[bool]) -> Arena<BlockId, Block> {
        let mut next = 0;
        let ids: Vec<BlockId> = dropped
            .iter()
            .map(|dropped| {
                let id = BlockId(next);
                next += u32::from(!dropped);
                id
            })
            .collect();
        for (block, _) in self.blocks.iter_mut().zip(dropped).filter(|(_, dropped)| !**dropped) {
            replace(&mut block.term, |b| ids[b.0 as usize]);
        }
        for (_, inst) in self.insts.iter_mut() {
            if let InstKind::Phi { incoming } = &mut inst.kind {
                incoming.iter_mut().for_each(|(b, _)| *b = ids[b.0 as usize]);
            }
        }
        let kept = self.blocks.into_iter().zip(dropped).filter(|(_, dropped)| !**dropped);
        kept.map(|(block, _)| block).collect()
    }
}

/// How often instructions and terminators read each value.
fn count_uses(blocks: &[Block], insts: &Arena<InstId, Inst>) -> Vec<u32> {
    let mut uses = Vec::new();
    let mut count = |value: ValueId| {
        let index = value.0 as usize;
        if uses.len() <= index {
            uses.resize(index + 1, 0);
        }
        uses[index] += 1;
    };
    for block in blocks {
        for id in &block.insts {
            insts[*id].kind.for_each_operand(&mut count);
        }
        block.term.operand().into_iter().for_each(&mut count);
    }
    uses
}

/// Replaces every block that a terminator names.
fn replace(term: &mut Terminator, f: impl Fn(BlockId) -> BlockId) {
    match term {
        Terminator::Jump(target) => *target = f(*target),
        Terminator::Branch { then, otherwise, .. } => {
            *then = f(*then);
            *otherwise = f(*otherwise);
        }
        Terminator::Switch { cases, default, .. } => {
            cases.iter_mut().for_each(|(_, b)| *b = f(*b));
            *default = f(*default);
        }
        Terminator::Invoke { normal, unwind, .. } => {
            *normal = f(*normal);
            *unwind = f(*unwind);
        }
        Terminator::Indirect { targets } => targets.iter_mut().for_each(|b| *b = f(*b)),
        Terminator::Return(_) | Terminator::Unreachable | Terminator::Resume => {}
    }
}
