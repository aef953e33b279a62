//! Drops blocks that only jump on and have no position: what is left of cleanup code whose slots
//! were promoted. Empty blocks with a position stay, since they stand for a statement (`return`,
//! `break`, the end of a loop body) that reports point at.

use leakproof_ir::{Arena, Block, BlockId, Inst, InstId, InstKind, Terminator};

/// The blocks that remain, renumbered; phis and branches are adjusted.
pub fn drop_empty_blocks(
    blocks: Vec<Block>,
    insts: &mut Arena<InstId, Inst>,
) -> Arena<BlockId, Block> {
    let mut compactor = Compactor { preds: predecessors(&blocks), blocks, insts };
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
}

impl Compactor<'_> {
    /// Leads the predecessors of an empty block past it, if that is possible.
    fn bypass(&mut self, block: usize) -> bool {
        let content = &self.blocks[block];
        let Terminator::Jump(target) = content.term else { return false };
        let empty = content.insts.is_empty() && !content.term_loc.is_known();
        if !empty || target.0 as usize == block || target.0 == 0 {
            return false;
        }
        let preds = std::mem::take(&mut self.preds[block]);
        if !self.move_phi_entries(block as u32, target, &preds) {
            self.preds[block] = preds;
            return false;
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
            let InstKind::Phi { incoming } = &mut self.insts[phi].kind else { continue };
            let Some(at) = incoming.iter().position(|(b, _)| b.0 == block) else { continue };
            let (_, value) = incoming[at];
            incoming.splice(at..=at, preds.iter().map(|p| (BlockId(*p), value)));
        }
        true
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
