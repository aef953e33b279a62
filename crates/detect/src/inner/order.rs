//! What in a function always happens before something else.

use super::reader::decides;
use leakproof_ir::{BlockId, Body, InstId, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

pub struct Order<'a> {
    body: &'a Body,
    /// The block of an instruction, and its place there.
    places: FxHashMap<InstId, (BlockId, usize)>,
    /// The blocks that lead to a block.
    before: FxHashMap<BlockId, Vec<BlockId>>,
}

impl<'a> Order<'a> {
    pub fn of(body: &'a Body) -> Self {
        let mut places = FxHashMap::default();
        let mut before: FxHashMap<BlockId, Vec<BlockId>> = FxHashMap::default();
        for (block, b) in body.blocks.iter() {
            for to in b.term.successors() {
                before.entry(to).or_default().push(block);
            }
            places.extend(b.insts.iter().enumerate().map(|(i, inst)| (*inst, (block, i))));
        }
        Self { body, places, before }
    }

    /// Whether `then` is never reached without `first`, unless by a branch on a condition that
    /// `skips` lets pass.
    pub fn is_always_before(
        &self,
        first: InstId,
        then: InstId,
        skips: impl Fn(ValueId) -> bool,
    ) -> bool {
        let (Some(&(before, i)), Some(&(after, j))) =
            (self.places.get(&first), self.places.get(&then))
        else {
            return false;
        };
        if before == after {
            return i < j;
        }
        self.is_on_every_way(before, after)
            || self
                .branch_before(before)
                .is_some_and(|(branch, cond)| skips(cond) && self.is_on_every_way(branch, after))
    }

    /// Whether there is a way from one instruction to another.
    pub fn leads_to(&self, from: InstId, to: InstId) -> bool {
        let (Some(&(start, i)), Some(&(end, j))) = (self.places.get(&from), self.places.get(&to))
        else {
            return false;
        };
        if start == end && i < j {
            return true;
        }
        let mut seen: FxHashSet<BlockId> = FxHashSet::default();
        let mut work = self.body.blocks[start].term.successors().to_vec();
        while let Some(block) = work.pop() {
            if block == end {
                return true;
            }
            if seen.insert(block) {
                work.extend(self.body.blocks[block].term.successors());
            }
        }
        false
    }

    /// What the branches go by that decide if an instruction is reached: from there, some way leads to it, and another
    /// one to the end without it.
    pub fn deciding(&self, inst: InstId) -> Vec<ValueId> {
        let Some(&(target, _)) = self.places.get(&inst) else { return Vec::new() };
        let to_target = self.reaching(|block| block == target, None);
        let is_end = |block: BlockId| self.body.blocks[block].term.successors().is_empty();
        let to_end = self.reaching(is_end, Some(target));
        let blocks = self.body.blocks.iter();
        let both = blocks.filter(|(b, _)| to_target.contains(b) && to_end.contains(b));
        both.filter_map(|(_, block)| decides(&block.term)).collect()
    }

    /// The blocks from which one of these is reached, without going through another one.
    fn reaching(
        &self,
        is_goal: impl Fn(BlockId) -> bool,
        without: Option<BlockId>,
    ) -> FxHashSet<BlockId> {
        let goals = self.body.blocks.iter().map(|(b, _)| b).filter(|&b| is_goal(b));
        let mut work: Vec<BlockId> = goals.filter(|b| Some(*b) != without).collect();
        let mut seen: FxHashSet<BlockId> = work.iter().copied().collect();
        while let Some(block) = work.pop() {
            for &before in self.before.get(&block).into_iter().flatten() {
                if Some(before) != without && seen.insert(before) {
                    work.push(before);
                }
            }
        }
        seen
    }

    /// The only block that leads to this one, when it branches, and on what.
    fn branch_before(&self, block: BlockId) -> Option<(BlockId, ValueId)> {
        let leads = |b: &leakproof_ir::Block| b.term.successors().contains(&block);
        let mut before = self.body.blocks.iter().filter(|(_, b)| leads(b));
        let (only, b) = before.next()?;
        match b.term {
            Terminator::Branch { cond, .. } if before.next().is_none() => Some((only, cond)),
            _ => None,
        }
    }

    /// Whether every way from the entry to `to` leads through `through`.
    fn is_on_every_way(&self, through: BlockId, to: BlockId) -> bool {
        let mut seen: FxHashSet<BlockId> = [through].into_iter().collect();
        let mut work: Vec<BlockId> = self.body.blocks.iter().map(|(b, _)| b).take(1).collect();
        while let Some(block) = work.pop() {
            if seen.insert(block) {
                if block == to {
                    return false;
                }
                work.extend(self.body.blocks[block].term.successors());
            }
        }
        true
    }
}
