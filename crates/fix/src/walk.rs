//! The ways of one function from an event to a release, as far as the reference that is released still
//! refers to what it did at the event.
//!
//! In: a function's code, the event's instruction, which branches are possible after it, and the
//! instructions that give the reference something else (`ends`). Out: whether a way comes to the
//! release.

use leakproof_ir::{BlockId, Body, InstId, InstKind, Terminator};
use std::collections::BTreeSet;

/// When a release happens: on the way to what a line does, or after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub line: u32,
    pub after: bool,
}

/// Ways through one function to one moment.
pub struct Ways<'w> {
    body: &'w Body,
    moment: Moment,
    there: BTreeSet<BlockId>,
    ends: BTreeSet<InstId>,
}

impl<'w> Ways<'w> {
    pub fn new(body: &'w Body, moment: Moment, ends: BTreeSet<InstId>) -> Self {
        Self { body, moment, there: blocks_at(body, moment.line), ends }
    }

    /// Before which instruction of a block the release happens, if it does there.
    pub fn release_at(&self, block: BlockId) -> Option<usize> {
        self.there.contains(&block).then(|| self.release_in(block))
    }

    /// Whether a way leads from an instruction to the release, over edges that are possible.
    pub fn lead_from(
        &self,
        block: BlockId,
        inst: InstId,
        possible: impl Fn(BlockId, BlockId) -> bool,
    ) -> bool {
        let insts = &self.body.blocks[block].insts;
        let next = insts.iter().position(|i| *i == inst).map_or(0, |at| at + 1);
        if self.is_later_here(block, inst, next) {
            return true;
        }
        if self.end_in(block, next).is_some() {
            return false;
        }
        let mut seen = BTreeSet::new();
        let mut work = vec![block];
        while let Some(from) = work.pop() {
            for to in self.body.blocks[from].term.successors() {
                if !possible(from, to) || !seen.insert(to) {
                    continue;
                }
                let end = self.end_in(to, 0);
                if self.there.contains(&to) && end.is_none_or(|end| end >= self.release_in(to)) {
                    return true;
                }
                if end.is_none() {
                    work.push(to);
                }
            }
        }
        false
    }

    /// Whether a way leads from the start of the function to the release without any end.
    pub fn lead_from_start(&self) -> bool {
        let Some(entry) = self.body.blocks.iter().next().map(|(id, _)| id) else { return true };
        let mut seen: BTreeSet<BlockId> = [entry].into();
        let mut work = vec![entry];
        while let Some(block) = work.pop() {
            let end = self.end_in(block, 0);
            if self.there.contains(&block) && end.is_none_or(|end| end >= self.release_in(block)) {
                return true;
            }
            if end.is_none() {
                let next = self.body.blocks[block].term.successors();
                work.extend(next.into_iter().filter(|n| seen.insert(*n)));
            }
        }
        false
    }

    /// Whether a way leads from the release to one of some instructions.
    pub fn lead_to(&self, wanted: &BTreeSet<InstId>) -> bool {
        let mut seen = BTreeSet::new();
        let mut work: Vec<(BlockId, usize)> =
            self.there.iter().map(|b| (*b, self.release_in(*b))).collect();
        while let Some((block, from)) = work.pop() {
            let b = &self.body.blocks[block];
            let end = self.end_in(block, from);
            let rest = &b.insts[from..end.unwrap_or(b.insts.len())];
            if rest.iter().any(|i| wanted.contains(i)) {
                return true;
            }
            if end.is_none() {
                let next = b.term.successors();
                work.extend(next.into_iter().filter(|n| seen.insert(*n)).map(|n| (n, 0)));
            }
        }
        false
    }

    /// Whether the release comes after an instruction in its own block.
    fn is_later_here(&self, block: BlockId, inst: InstId, next: usize) -> bool {
        let Moment { line, after } = self.moment;
        let b = &self.body.blocks[block];
        let rest = b.insts[next..].iter();
        let mut lines = rest.map(|i| self.body.insts[*i].loc.line).chain([b.term_loc.line]);
        let own = self.body.insts[inst].loc.line;
        let later = (own == line && after) || (own != line && lines.any(|l| l == line));
        later && self.end_in(block, next).is_none_or(|end| end >= self.release_in(block))
    }

    /// The first instruction of a block from which on the reference is another one.
    fn end_in(&self, block: BlockId, from: usize) -> Option<usize> {
        let insts = &self.body.blocks[block].insts;
        (from..insts.len()).find(|&n| self.ends.contains(&insts[n]))
    }

    /// Before which instruction of a block the release happens.
    fn release_in(&self, block: BlockId) -> usize {
        let insts = &self.body.blocks[block].insts;
        let at = |i: &InstId| self.body.insts[*i].loc.line == self.moment.line;
        let found = match self.moment.after {
            true => insts.iter().rposition(at).map(|n| n + 1),
            false => insts.iter().position(at),
        };
        found.unwrap_or(insts.len())
    }
}

/// The blocks that have code of a line. All `return`s meet in one block, which has the line of one of
/// them: it counts only when nothing else does.
fn blocks_at(body: &Body, line: u32) -> BTreeSet<BlockId> {
    let at = |b: &BlockId| {
        let block = &body.blocks[*b];
        block.term_loc.line == line || block.insts.iter().any(|i| body.insts[*i].loc.line == line)
    };
    let shared = |b: &BlockId| {
        let block = &body.blocks[*b];
        let only_joins = |i: &InstId| matches!(body.insts[*i].kind, InstKind::Phi { .. });
        matches!(block.term, Terminator::Return(_)) && block.insts.iter().all(only_joins)
    };
    let all: BTreeSet<BlockId> = body.blocks.iter().map(|(id, _)| id).filter(at).collect();
    let own: BTreeSet<BlockId> = all.iter().copied().filter(|b| !shared(b)).collect();
    if own.is_empty() { all } else { own }
}
