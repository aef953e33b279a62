//! One function: walks the dominator tree and lowers block by block.
//!
//! In this order every operand is lowered before its users, phis excepted, whose incoming values
//! are filled in at the end. The current content of each promoted slot is known on the way down
//! and restored on the way up.

use super::cfg::Cfg;
use super::compact::drop_empty_blocks;
use super::intrinsic::Intrinsic;
use super::promote::{Slots, intrinsic};
use super::scope::{drop_final_scope_ends, place_jumps};
use super::tidy::{Tidied, tidy};
use super::unit::Unit;
use crate::llvm::{Body, Inst as RawInst, Op, Range, Value};
use leakproof_ir::{
    Arena, Block, BlockId, Body as IrBody, FuncId, Inst, InstId, InstKind, Loc, Param, Terminator,
    Ty, Value as IrValue, ValueId, ValueKind, Var, VarId,
};
use rustc_hash::FxHashMap;

/// Buffers that are reused from function to function.
#[derive(Default)]
pub struct Scratch {
    map: Vec<Option<ValueId>>,
}

/// The lowering of one body.
pub struct FunctionLowering<'f> {
    pub unit: &'f mut Unit,
    pub body: &'f Body,
    pub function: FuncId,
    pub cfg: Cfg,
    pub slots: Slots,
    pub values: Arena<ValueId, IrValue>,
    pub params: Vec<Param>,
    pub insts: Arena<InstId, Inst>,
    pub vars: Arena<VarId, Var>,
    /// Variable of a debug node, and of the slot at a value number.
    pub var_ids: FxHashMap<u32, VarId>,
    pub slot_vars: FxHashMap<u32, VarId>,
    pub constant_depth: u32,
    /// By value number.
    map: Vec<Option<ValueId>>,
    block_ids: Vec<Option<BlockId>>,
    /// Content of each promoted slot at the current point, and what to restore on the way up.
    contents: Vec<Content>,
    undo: Vec<(usize, Content)>,
    /// The undefined value of each slot, once somebody read it.
    undefined: Vec<Option<ValueId>>,
    /// Instructions that go to the start of the entry block.
    early: Vec<InstId>,
    /// The block being filled, and its number in the bitcode.
    current: Vec<InstId>,
    current_block: u32,
    pub loc: Loc,
    /// Position of the statement that leads into the block being filled, when there is only one,
    /// and of the one that leads out of each block.
    pub way_in: Loc,
    ways_out: Vec<Loc>,
    /// Phis of slots, per block.
    slot_phis: Vec<Vec<SlotPhi>>,
    /// The block that fed the phis of each block last.
    fed_by: Vec<Option<u32>>,
    /// Phis of the bitcode, to be filled in at the end.
    raw_phis: Vec<RawPhi>,
    blocks: Vec<Option<Block>>,
}

impl Unit {
    /// Lowers the body of `function`, which is number `index` in the bitcode.
    pub fn lower_body(
        &mut self,
        function: FuncId,
        index: usize,
        body: &Body,
        scratch: &mut Scratch,
    ) {
        debug_assert!(index < self.raw.functions.len());
        if let Some((_, node)) = body.attachments.iter().find(|(kind, _)| *kind == 0) {
            self.describe_function(function, *node);
        }
        let cfg = Cfg::new(body);
        let slots = Slots::new(self, body, &cfg);
        let declared = &mut self.out.functions[function];
        let values = std::mem::take(&mut declared.values);
        let params = std::mem::take(&mut declared.params);
        let mut map = std::mem::take(&mut scratch.map);
        map.clear();
        map.resize(self.raw.values.len(), None);
        for (number, param) in (body.first_arg as usize..).zip(&params) {
            map[number] = Some(param.value);
        }
        let count = body.blocks.len();
        let mut lowering = FunctionLowering {
            unit: self,
            body,
            function,
            cfg,
            slots,
            values,
            params,
            insts: Arena::new(),
            vars: Arena::new(),
            var_ids: FxHashMap::default(),
            slot_vars: FxHashMap::default(),
            constant_depth: 0,
            map,
            block_ids: Vec::new(),
            contents: Vec::new(),
            undefined: Vec::new(),
            undo: Vec::new(),
            early: Vec::new(),
            current: Vec::new(),
            current_block: 0,
            loc: Loc::default(),
            way_in: Loc::default(),
            ways_out: vec![Loc::default(); count],
            slot_phis: vec![Vec::new(); count],
            fed_by: vec![None; count],
            raw_phis: Vec::new(),
            blocks: vec![None; count],
        };
        lowering.run();
        scratch.map = lowering.finish();
    }
}

/// A phi of the bitcode.
struct RawPhi {
    inst: InstId,
    block: u32,
    incoming: Range,
}

/// What a promoted slot holds.
#[derive(Clone, Copy)]
pub enum Content {
    Undefined,
    Value(ValueId),
    /// A value number that is looked up when somebody reads the slot.
    Number(u32),
}

/// The phi of a promoted slot.
#[derive(Clone, Copy)]
struct SlotPhi {
    slot: usize,
    inst: InstId,
    value: ValueId,
}

/// A step of the walk over the dominator tree.
enum Step {
    Enter(u32),
    /// Undo slot contents down to this length.
    Leave(usize),
}

impl FunctionLowering<'_> {
    fn run(&mut self) {
        self.number_blocks();
        self.declare_variables();
        self.create_slot_phis();
        self.contents = vec![Content::Undefined; self.slots.slots.len()];
        self.undefined = vec![None; self.slots.slots.len()];
        let mut steps = Vec::new();
        if !self.blocks.is_empty() {
            steps.push(Step::Enter(0));
        }
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter(block) => {
                    steps.push(Step::Leave(self.undo.len()));
                    self.lower_block(block);
                    steps.extend(self.cfg.children.of(block).iter().rev().map(|c| Step::Enter(*c)));
                }
                Step::Leave(len) => {
                    while self.undo.len() > len {
                        if let Some((slot, content)) = self.undo.pop() {
                            self.contents[slot] = content;
                        }
                    }
                }
            }
        }
        self.fill_phis();
    }

    /// Ids follow the order in the source, unreachable blocks left out.
    fn number_blocks(&mut self) {
        let mut next = 0;
        for block in 0..self.body.blocks.len() as u32 {
            let id = self.cfg.is_reachable(block).then(|| {
                next += 1;
                BlockId(next - 1)
            });
            self.block_ids.push(id);
        }
    }

    pub fn block_id(&self, block: u32) -> BlockId {
        self.block_ids[block as usize].unwrap_or(IrBody::ENTRY)
    }

    fn lower_block(&mut self, block: u32) {
        self.loc = Loc::default();
        self.way_in = self.way_into(block);
        self.current_block = block;
        self.enter_slot_phis(block);
        let range = self.body.blocks[block as usize];
        let mut term = (Terminator::Unreachable, Loc::default());
        let mut after_phis = false;
        for (index, inst) in (range.start()..).zip(range.of(&self.body.insts)) {
            if !after_phis && !matches!(inst.op, Op::Phi { .. }) {
                after_phis = true;
                self.slot_phi_vars(block);
            }
            if self.body.has_value_records {
                self.records_before(index);
            }
            let before = self.loc;
            self.set_loc(inst);
            if inst.op.is_terminator() {
                term = (self.terminator(block, inst), self.loc);
            } else {
                self.instruction(inst);
                if self.is_lifetime(inst.op) {
                    // The end of a scope is no position for the jump that comes after it.
                    self.loc = before;
                }
            }
        }
        self.feed_successors(block);
        let insts = std::mem::take(&mut self.current);
        let (term, term_loc) = term;
        self.ways_out[block as usize] = if term_loc.is_known() { term_loc } else { self.way_in };
        self.blocks[block as usize] = Some(Block { insts, term, term_loc });
    }

    /// Where the statement stands that jumps to a block, if nothing else leads there.
    fn way_into(&self, block: u32) -> Loc {
        let &[pred] = self.cfg.preds.of(block) else { return Loc::default() };
        match &self.blocks[pred as usize] {
            Some(Block { term: Terminator::Jump(_), .. }) => self.ways_out[pred as usize],
            _ => Loc::default(),
        }
    }

    /// An instruction without a position inherits that of the one before it in the block.
    fn set_loc(&mut self, inst: &RawInst) {
        let loc = self.unit.locations.instruction(&self.unit.raw.metadata, inst.loc);
        if loc.is_known() {
            self.loc = loc;
        }
    }

    fn is_lifetime(&self, op: Op) -> bool {
        let Op::Call { callee, .. } = op else { return false };
        let intrinsic = intrinsic(self.unit, callee);
        matches!(intrinsic, Some(Intrinsic::LifetimeStart | Intrinsic::LifetimeEnd))
    }

    /// Phis exist before the walk, because a block is fed by predecessors that come before it.
    fn create_slot_phis(&mut self) {
        for block in 0..self.body.blocks.len() {
            for slot in std::mem::take(&mut self.slots.phis[block]) {
                let slot = slot as usize;
                let inst = self.insts.next_id();
                let kind = ValueKind::Inst(inst);
                let value = self.values.push(IrValue { kind, ty: self.slots.slots[slot].ty });
                let kind = InstKind::Phi { incoming: Vec::new() };
                self.insts.push(Inst { kind, result: Some(value), loc: Loc::default() });
                self.slot_phis[block].push(SlotPhi { slot, inst, value });
            }
        }
    }

    fn enter_slot_phis(&mut self, block: u32) {
        for index in 0..self.slot_phis[block as usize].len() {
            let phi = self.slot_phis[block as usize][index];
            self.current.push(phi.inst);
            self.set_content(phi.slot, Content::Value(phi.value));
        }
    }

    /// Variables have the value of the phi from here on.
    fn slot_phi_vars(&mut self, block: u32) {
        for index in 0..self.slot_phis[block as usize].len() {
            let SlotPhi { slot, value, .. } = self.slot_phis[block as usize][index];
            let number = self.slots.slots[slot].value;
            if let Some(&var) = self.slot_vars.get(&number) {
                self.emit(InstKind::VarSet { var, value });
            }
        }
    }

    /// Tells the phis of the successors what the slots hold at the end of this block.
    fn feed_successors(&mut self, block: u32) {
        let from = self.block_id(block);
        for index in 0..self.cfg.succs.of(block).len() {
            let target = self.cfg.succs.of(block)[index];
            // A block that is reached by two edges is fed once.
            if self.fed_by[target as usize].replace(block) == Some(block) {
                continue;
            }
            for phi in 0..self.slot_phis[target as usize].len() {
                let phi = self.slot_phis[target as usize][phi];
                let content = self.content(phi.slot);
                if let InstKind::Phi { incoming } = &mut self.insts[phi.inst].kind {
                    incoming.push((from, content));
                }
            }
        }
    }

    fn fill_phis(&mut self) {
        for phi in std::mem::take(&mut self.raw_phis) {
            let mut incoming: Vec<(BlockId, ValueId)> = Vec::new();
            for pair in phi.incoming.of(&self.body.pool).chunks_exact(2) {
                let block = pair[1] as u32;
                let id = self.block_id(block);
                // Edges may have gone with unreachable code and decided branches.
                let is_edge = self.cfg.preds.of(phi.block).contains(&block);
                if is_edge && incoming.iter().all(|(b, _)| *b != id) {
                    let value = self.value(pair[0] as u32);
                    incoming.push((id, value));
                }
            }
            self.insts[phi.inst].kind = InstKind::Phi { incoming };
        }
    }

    /// Stores the body; gives back the buffer.
    fn finish(mut self) -> Vec<Option<ValueId>> {
        let reached = self.blocks.into_iter().zip(self.ways_out);
        let (mut blocks, ways): (Vec<Block>, Vec<Loc>) =
            reached.filter_map(|(block, way)| Some((block?, way))).unzip();
        drop_final_scope_ends(&mut blocks, &self.insts, &self.values);
        place_jumps(&mut blocks, &ways);
        let mut blocks = drop_empty_blocks(blocks, &mut self.insts);
        if let Some((_, entry)) = blocks.iter_mut().next() {
            self.early.append(&mut entry.insts);
            entry.insts = self.early;
        }
        let tidied = tidy(self.insts, blocks, self.values, self.params.len());
        for field in self.unit.pending.iter_mut().rev() {
            if field.function != self.function {
                break;
            }
            field.inst = tidied.new_ids[field.inst.0 as usize].unwrap_or(field.inst);
        }
        let function = &mut self.unit.out.functions[self.function];
        function.values = tidied.values;
        function.params = self.params;
        let Tidied { insts, blocks, .. } = tidied;
        function.body = Some(IrBody { insts, blocks, vars: self.vars });
        self.map
    }

    /// What a promoted slot holds.
    pub fn content(&mut self, slot: usize) -> ValueId {
        match (self.contents[slot], self.undefined[slot]) {
            (Content::Value(value), _) | (Content::Undefined, Some(value)) => value,
            (Content::Number(number), _) => self.value(number),
            (Content::Undefined, None) => {
                let value = self.undef(self.slots.slots[slot].ty);
                self.undefined[slot] = Some(value);
                value
            }
        }
    }

    /// Gives a promoted slot a new content.
    pub fn set_content(&mut self, slot: usize, content: Content) {
        let old = std::mem::replace(&mut self.contents[slot], content);
        self.undo.push((slot, old));
    }

    /// The value at a value number of the bitcode.
    pub fn value(&mut self, number: u32) -> ValueId {
        if let Some(Some(value)) = self.map.get(number as usize) {
            return *value;
        }
        let value = match self.unit.raw.values.get(number as usize).map(|v| v.0) {
            // Only malformed bitcode uses a value that nothing defines.
            Some(Value::Arg(_) | Value::Inst(_)) | None => {
                let ty = self.unit.shapes.ty(self.unit.raw.type_of(number));
                return self.undef(ty);
            }
            Some(_) => self.constant(number),
        };
        self.map[number as usize] = Some(value);
        value
    }

    /// Makes a value number stand for a value that exists already.
    pub fn alias(&mut self, number: u32, value: ValueId) {
        if let Some(entry) = self.map.get_mut(number as usize) {
            *entry = Some(value);
        }
    }

    /// Adds an instruction that has no result.
    pub fn emit(&mut self, kind: InstKind) -> InstId {
        let id = self.insts.push(Inst { kind, result: None, loc: self.loc });
        self.current.push(id);
        id
    }

    /// Adds an instruction; its result.
    pub fn emit_value(&mut self, kind: InstKind, ty: Ty) -> ValueId {
        let id = self.insts.next_id();
        let value = self.values.push(IrValue { kind: ValueKind::Inst(id), ty });
        self.insts.push(Inst { kind, result: Some(value), loc: self.loc });
        self.current.push(id);
        value
    }

    /// Adds an instruction whose result is at a value number of the bitcode.
    pub fn define(&mut self, number: u32, kind: InstKind, ty: Ty) -> ValueId {
        let value = self.emit_value(kind, ty);
        self.alias(number, value);
        value
    }

    /// Adds an instruction at the start of the function.
    pub fn emit_early(&mut self, kind: InstKind, ty: Ty) -> ValueId {
        let id = self.insts.next_id();
        let value = self.values.push(IrValue { kind: ValueKind::Inst(id), ty });
        self.insts.push(Inst { kind, result: Some(value), loc: Loc::default() });
        self.early.push(id);
        value
    }

    pub fn add_phi(&mut self, number: u32, incoming: Range, ty: Ty) {
        let value = self.define(number, InstKind::Phi { incoming: Vec::new() }, ty);
        if let ValueKind::Inst(inst) = self.values[value].kind {
            self.raw_phis.push(RawPhi { inst, block: self.current_block, incoming });
        }
    }
}
