//! SSA: definitions dominate uses, and phis have one entry per predecessor.

use super::{Errors, Invariant};
use crate::{
    Arena, BlockId, Body, Cfg, Function, InstId, InstKind, Terminator, ValueId, ValueKind,
};

pub(super) fn check(function: &Function, body: &Body, errors: &mut Errors) {
    let cfg = Cfg::of(body);
    let positions = positions(body);
    let checker = Checker { function, body, cfg: &cfg, positions: &positions };
    for (id, block) in body.blocks.iter() {
        for inst in &block.insts {
            checker.inst(id, *inst, errors);
        }
        if let Some(value) = block.term.operand() {
            checker.used(value, Use { block: id, position: block.insts.len() }, errors);
        }
    }
}

/// Block and place in it of every instruction.
fn positions(body: &Body) -> Arena<InstId, Use> {
    let nowhere = Use { block: Body::ENTRY, position: 0 };
    let mut positions: Arena<InstId, Use> = body.insts.ids().map(|_| nowhere).collect();
    for (block, b) in body.blocks.iter() {
        for (position, inst) in b.insts.iter().enumerate() {
            positions[*inst] = Use { block, position };
        }
    }
    positions
}

/// A point in a block: before its instruction of that number, or at its end.
#[derive(Clone, Copy)]
struct Use {
    block: BlockId,
    position: usize,
}

struct Checker<'a> {
    function: &'a Function,
    body: &'a Body,
    cfg: &'a Cfg,
    positions: &'a Arena<InstId, Use>,
}

impl Checker<'_> {
    fn inst(&self, block: BlockId, id: InstId, errors: &mut Errors) {
        match &self.body.insts[id].kind {
            InstKind::Phi { incoming } => {
                self.phi_entries(block, id, incoming, errors);
                for (from, value) in incoming {
                    self.incoming(*value, *from, block, errors);
                }
            }
            kind => kind.for_each_operand(|v| self.used(v, self.positions[id], errors)),
        }
    }

    fn phi_entries(
        &self,
        block: BlockId,
        id: InstId,
        incoming: &[(BlockId, ValueId)],
        errors: &mut Errors,
    ) {
        let mut sources: Vec<BlockId> = incoming.iter().map(|(b, _)| *b).collect();
        sources.sort_unstable();
        let preds = &self.cfg.preds[block];
        errors.check(sources == *preds, Invariant::Phis, format!("{block} {id}"), || {
            format!("has entries for {sources:?}, but the predecessors are {preds:?}")
        });
    }

    /// A phi reads at the end of the predecessor, on the edge to its own block.
    fn incoming(&self, value: ValueId, from: BlockId, to: BlockId, errors: &mut Errors) {
        let end = self.body.blocks[from].insts.len();
        let invoked = self.invoke_of(value).filter(|(home, _)| *home == from);
        match invoked {
            Some((_, normal)) => {
                let Terminator::Invoke { unwind, .. } = self.body.blocks[from].term else { return };
                let fine = to == normal && normal != unwind;
                self.report(fine || !self.cfg.is_reachable(from), value, from, errors);
            }
            None => self.used(value, Use { block: from, position: end }, errors),
        }
    }

    fn used(&self, value: ValueId, at: Use, errors: &mut Errors) {
        let ValueKind::Inst(inst) = self.function.values[value].kind else { return };
        if !self.cfg.is_reachable(at.block) {
            return;
        }
        let home = self.positions[inst];
        let holds = match self.invoke_of(value) {
            Some((from, normal)) => self.on_normal_edge(from, normal, at.block),
            None if home.block == at.block => home.position < at.position,
            None => self.cfg.dominates(home.block, at.block),
        };
        self.report(holds, value, at.block, errors);
    }

    fn report(&self, holds: bool, value: ValueId, block: BlockId, errors: &mut Errors) {
        errors.check(holds, Invariant::Dominance, block, || {
            format!("{value} is used here, where its definition may not have run")
        });
    }

    /// The block and normal successor of the invoke whose call yields this value.
    fn invoke_of(&self, value: ValueId) -> Option<(BlockId, BlockId)> {
        let ValueKind::Inst(inst) = self.function.values[value].kind else { return None };
        let home = self.positions[inst].block;
        match self.body.blocks[home].term {
            Terminator::Invoke { call, normal, .. } if call == inst => Some((home, normal)),
            _ => None,
        }
    }

    /// Does every path to `block` take the normal edge of the invoke in `from`?
    fn on_normal_edge(&self, from: BlockId, normal: BlockId, block: BlockId) -> bool {
        let Terminator::Invoke { unwind, .. } = self.body.blocks[from].term else { return false };
        let mut others = self.cfg.preds[normal].iter().filter(|p| **p != from);
        normal != unwind
            && self.cfg.dominates(normal, block)
            && others.all(|p| self.cfg.dominates(normal, *p))
    }
}
