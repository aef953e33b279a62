//! Where variables begin and end.
//!
//! In: clang's lifetime markers. Out: at the end of a scope, `ScopeEnd` for a slot in memory and a
//! `VarSet` to an undefined value for a promoted variable. The end stands at the statement that
//! leaves the scope (`continue`, `break`, `goto`) or at the closing brace. When the function itself
//! ends there is no end of scopes: what the locals hold then is still theirs.

use super::function::{Content, FunctionLowering};
use super::intrinsic::Intrinsic;
use crate::llvm::Range;
use leakproof_ir::{
    Arena, Block, Inst, InstId, InstKind, Loc, Terminator, Ty, Value, ValueId, ValueKind,
};

impl FunctionLowering<'_> {
    /// A marker; its last argument is the slot.
    pub fn lifetime(&mut self, intrinsic: Intrinsic, args: Range) {
        let Some(number) = args.of(&self.body.pool).last().map(|v| *v as u32) else { return };
        match (self.slots.promoted(number), intrinsic) {
            (Some(slot), Intrinsic::LifetimeStart) => self.set_content(slot, Content::Undefined),
            (Some(slot), Intrinsic::LifetimeEnd) => self.end_variable(slot, number),
            (None, Intrinsic::LifetimeEnd) => {
                let slot = self.value(number);
                self.at_way_out(|s| {
                    s.emit(InstKind::ScopeEnd { slot });
                });
            }
            _ => {}
        }
    }

    /// Only pointers: nobody asks what became of a number.
    fn end_variable(&mut self, slot: usize, number: u32) {
        let Some(&var) = self.slot_vars.get(&number) else { return };
        if self.slots.slots[slot].ty != Ty::Ptr {
            return;
        }
        let value = self.undef(Ty::Ptr);
        self.at_way_out(|s| {
            s.emit(InstKind::VarSet { var, value });
        });
    }

    /// Emits at the statement that leaves the scope, if that is known.
    fn at_way_out(&mut self, emit: impl FnOnce(&mut Self)) {
        let here = self.loc;
        if self.way_in.is_known() {
            self.loc = self.way_in;
        }
        emit(self);
        self.loc = here;
    }
}

/// Drops the ends of scopes after which the function returns without doing anything else.
pub fn drop_final_scope_ends(
    blocks: &mut [Block],
    insts: &Arena<InstId, Inst>,
    values: &Arena<ValueId, Value>,
) {
    let ends = |id: &InstId| is_end(&insts[*id], values);
    let silent = |id: &InstId| matches!(insts[*id].kind, InstKind::Phi { .. }) || ends(id);
    let mut preds: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
    for (index, block) in blocks.iter().enumerate() {
        if let Terminator::Jump(target) = block.term {
            preds[target.0 as usize].push(index);
        }
    }
    let returns = |b: &usize| matches!(blocks[*b].term, Terminator::Return(_));
    let mut work: Vec<usize> = (0..blocks.len()).filter(returns).collect();
    while let Some(index) = work.pop() {
        let block = &mut blocks[index];
        let tail = block.insts.iter().rposition(|id| !silent(id)).map_or(0, |at| at + 1);
        if tail == 0 {
            work.append(&mut preds[index]);
        }
        let kept: Vec<InstId> = block.insts.drain(tail..).filter(|id| !ends(id)).collect();
        block.insts.extend(kept);
    }
}

/// The jump after the end of a scope has the position of the statement that left the scope.
pub fn place_jumps(blocks: &mut [Block], ways_out: &[Loc]) {
    for (block, way_out) in blocks.iter_mut().zip(ways_out) {
        let jump = matches!(block.term, Terminator::Jump(_)) && !block.term_loc.is_known();
        if jump && !block.insts.is_empty() {
            block.term_loc = *way_out;
        }
    }
}

fn is_end(inst: &Inst, values: &Arena<ValueId, Value>) -> bool {
    match inst.kind {
        InstKind::ScopeEnd { .. } => true,
        InstKind::VarSet { value, .. } => values[value].kind == ValueKind::Undef,
        _ => false,
    }
}
