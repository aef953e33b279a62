//! What in a function always happens before something else.

use leakproof_ir::{BlockId, Body, InstId, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

pub struct Order<'a> {
    body: &'a Body,
    /// The block of an instruction, and its place there.
    places: FxHashMap<InstId, (BlockId, usize)>,
}

impl<'a> Order<'a> {
    pub fn of(body: &'a Body) -> Self {
        let mut places = FxHashMap::default();
        for (block, b) in body.blocks.iter() {
            places.extend(b.insts.iter().enumerate().map(|(i, inst)| (*inst, (block, i))));
        }
        Self { body, places }
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
