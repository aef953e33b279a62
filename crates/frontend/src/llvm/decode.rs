//! Decodes the records of a function body into instructions.
//!
//! Operands are stored relative to the number of the next value; here they become absolute. The
//! order of the operands of each record is LLVM 19's writer's.

use super::bitstream::{Cursor, Entry, Record};
use super::body::{Body, DebugLoc, DebugRecord, Inst, Op, Range};
use super::codes::{block, inst as code};
use super::constants::unrotate;
use super::metadata::read_attachments;
use super::{MdId, Module, ReadError, Type, TypeRef, Value};

type Result<T> = std::result::Result<T, ReadError>;

/// The decoding of one body.
pub(super) struct Decoder<'d, 'a> {
    module: &'d mut Module,
    body: &'d mut Body,
    record: &'d mut Record<'a>,
    declared_blocks: u64,
    block_start: usize,
    last_loc: DebugLoc,
}

/// Reads the operands of one record from left to right.
struct Ops<'r> {
    ops: &'r [u64],
    at: usize,
    /// Number that the next value gets: operands are relative to it.
    next: u32,
}

impl Ops<'_> {
    fn raw(&mut self) -> Result<u64> {
        let op = self.ops.get(self.at).copied();
        self.at += 1;
        op.ok_or(ReadError::Malformed("an instruction is too short"))
    }
    fn value(&mut self) -> Result<u32> {
        Ok(self.next.wrapping_sub(self.raw()? as u32))
    }
    /// A value; one that is not defined yet is followed by its type.
    fn typed(&mut self) -> Result<(u32, Option<TypeRef>)> {
        let value = self.value()?;
        let ty = if value >= self.next { Some(TypeRef(self.raw()? as u32)) } else { None };
        Ok((value, ty))
    }
    fn any(&mut self) -> Result<u32> {
        Ok(self.typed()?.0)
    }
    fn ty(&mut self) -> Result<TypeRef> {
        Ok(TypeRef(self.raw()? as u32))
    }
    fn left(&self) -> usize {
        self.ops.len().saturating_sub(self.at)
    }
}

impl<'d, 'a> Decoder<'d, 'a> {
    pub fn new(module: &'d mut Module, body: &'d mut Body, record: &'d mut Record<'a>) -> Self {
        Self {
            module,
            body,
            record,
            declared_blocks: 0,
            block_start: 0,
            last_loc: DebugLoc::default(),
        }
    }

    pub fn run(mut self, cursor: &mut Cursor<'a>) -> Result<()> {
        self.entries(cursor)?;
        self.finish()
    }

    fn entries(&mut self, cursor: &mut Cursor<'a>) -> Result<()> {
        loop {
            match cursor.next(self.record)? {
                Entry::End => return Ok(()),
                Entry::Block(block::CONSTANTS) => {
                    self.module.read_constants(cursor, self.record)?;
                }
                Entry::Block(block::METADATA) => {
                    self.module.metadata.read(cursor, self.record)?;
                }
                Entry::Block(block::METADATA_ATTACHMENT) => {
                    read_attachments(cursor, self.record, &mut self.body.attachments)?;
                }
                Entry::Block(_) => {
                    cursor.skip()?;
                }
                Entry::Record(code) => self.record(code)?,
            }
        }
    }

    fn finish(&self) -> Result<()> {
        let blocks = self.body.blocks.len() as u64;
        if blocks != self.declared_blocks || self.block_start != self.body.insts.len() {
            return Err(ReadError::Malformed("a function body has not the blocks it announces"));
        }
        Ok(())
    }

    fn record(&mut self, code: u32) -> Result<()> {
        match code {
            code::DECLAREBLOCKS => {
                self.declared_blocks = self.record.op(0)?;
                Ok(())
            }
            code::DEBUG_LOC => self.debug_loc(),
            code::DEBUG_LOC_AGAIN => {
                self.set_loc();
                Ok(())
            }
            code::DEBUG_RECORD_VALUE
            | code::DEBUG_RECORD_DECLARE
            | code::DEBUG_RECORD_ASSIGN
            | code::DEBUG_RECORD_VALUE_SIMPLE => self.debug_record(code),
            code::DEBUG_RECORD_LABEL | code::OPERAND_BUNDLE | code::BLOCKADDR_USERS => Ok(()),
            code => self.instruction(code),
        }
    }

    fn debug_loc(&mut self) -> Result<()> {
        self.last_loc = DebugLoc {
            line: self.record.op(0)? as u32,
            column: self.record.op(1)? as u32,
            scope: self.record.op(2)? as u32,
        };
        self.set_loc();
        Ok(())
    }

    fn set_loc(&mut self) {
        if let Some(inst) = self.body.insts.last_mut() {
            inst.loc = self.last_loc;
        }
    }

    /// Records follow the instruction that they stand before.
    fn debug_record(&mut self, code: u32) -> Result<()> {
        let node = |i: usize| self.record.op(i).map(|id| MdId(id as u32));
        let value = if code == code::DEBUG_RECORD_VALUE_SIMPLE {
            (self.module.values.len() as u32).wrapping_sub(self.record.op(3)? as u32)
        } else {
            match self.metadata_value(node(3)?) {
                Some(value) => value,
                None => return Ok(()),
            }
        };
        let record = DebugRecord {
            before: self.body.insts.len().saturating_sub(1) as u32,
            declare: code == code::DEBUG_RECORD_DECLARE,
            loc: node(0)?,
            variable: node(1)?,
            expression: node(2)?,
            value,
        };
        self.body.has_value_records |= !record.declare;
        self.body.records.push(record);
        Ok(())
    }

    /// The value that a metadata node wraps.
    fn metadata_value(&self, id: MdId) -> Option<u32> {
        let node = self.module.metadata.node(id);
        (node.code == super::md_code::VALUE).then(|| node.number(1) as u32)
    }

    fn instruction(&mut self, code: u32) -> Result<()> {
        let next = self.module.values.len() as u32;
        // The operands are read from the record while the decoder's tables change.
        let ops = std::mem::take(&mut self.record.ops);
        let mut reader = Ops { ops: &ops, at: 0, next };
        let decoded = self.decode(code, &mut reader);
        self.record.ops = ops;
        let (op, ty) = decoded?;
        let value = self.has_result(op, ty).then_some(next);
        if value.is_some() {
            self.module.values.push((Value::Inst(self.body.insts.len() as u32), ty));
        }
        self.body.insts.push(Inst { op, ty, value, loc: DebugLoc::default() });
        if op.is_terminator() {
            self.end_block()?;
        }
        Ok(())
    }

    fn has_result(&self, op: Op, ty: TypeRef) -> bool {
        match op {
            Op::Store { .. } | Op::Fence => false,
            Op::Call { .. } => *self.module.types.get(ty) != Type::Void,
            // Invokes yield values, and a catch switch a token.
            op if op.is_terminator() => *self.module.types.get(ty) != Type::Void,
            // Even where the module does not name the type, the value takes a number.
            _ => true,
        }
    }

    fn end_block(&mut self) -> Result<()> {
        let range = Range::new(self.block_start, self.body.insts.len());
        self.body.blocks.push(range);
        self.block_start = self.body.insts.len();
        if self.body.blocks.len() as u64 > self.declared_blocks {
            return Err(ReadError::Malformed("a function has more blocks than it announces"));
        }
        Ok(())
    }

    fn type_of(&self, (value, ty): (u32, Option<TypeRef>)) -> TypeRef {
        ty.unwrap_or_else(|| self.module.type_of(value))
    }

    fn block(&self, number: u64) -> Result<u32> {
        if number >= self.declared_blocks {
            return Err(ReadError::Malformed("a branch leads nowhere"));
        }
        Ok(number as u32)
    }

    fn pool(&mut self, items: impl IntoIterator<Item = u64>) -> Range {
        let start = self.body.pool.len();
        self.body.pool.extend(items);
        Range::new(start, self.body.pool.len())
    }

    fn ptr(&self) -> TypeRef {
        self.module.ptr.unwrap_or(TypeRef::NONE)
    }

    fn decode(&mut self, code: u32, r: &mut Ops<'_>) -> Result<(Op, TypeRef)> {
        match code {
            code::RET
            | code::BR
            | code::SWITCH
            | code::INDIRECTBR
            | code::UNREACHABLE
            | code::RESUME
            | code::CLEANUPRET
            | code::CATCHRET
            | code::CATCHSWITCH => self.terminator(code, r),
            code::CALL | code::INVOKE | code::CALLBR => self.call(code, r),
            code::ALLOCA
            | code::LOAD
            | code::LOADATOMIC
            | code::STORE
            | code::STOREATOMIC
            | code::ATOMICRMW
            | code::CMPXCHG
            | code::FENCE => self.memory(code, r),
            _ => self.computation(code, r),
        }
    }

    fn terminator(&mut self, code: u32, r: &mut Ops<'_>) -> Result<(Op, TypeRef)> {
        let op = match code {
            code::RET if r.left() == 0 => Op::Return { value: None },
            code::RET => Op::Return { value: Some(r.any()?) },
            code::BR if r.left() == 1 => Op::Jump { target: self.block(r.raw()?)? },
            code::BR => Op::Branch {
                then: self.block(r.raw()?)?,
                otherwise: self.block(r.raw()?)?,
                cond: r.value()?,
            },
            code::SWITCH => self.switch(r)?,
            code::INDIRECTBR => {
                r.ty()?;
                r.value()?;
                self.indirect(r)?
            }
            code::UNREACHABLE => Op::Unreachable,
            code::CATCHRET => {
                r.value()?;
                Op::Jump { target: self.block(r.raw()?)? }
            }
            code::CLEANUPRET if r.left() > 1 => {
                r.value()?;
                Op::Jump { target: self.block(r.raw()?)? }
            }
            code::CATCHSWITCH => {
                r.value()?;
                r.raw()?;
                self.indirect(r)?
            }
            _ => Op::Resume,
        };
        let ty = if code == code::CATCHSWITCH { self.token() } else { TypeRef::NONE };
        Ok((op, ty))
    }

    fn switch(&mut self, r: &mut Ops<'_>) -> Result<Op> {
        r.ty()?;
        let value = r.value()?;
        let default = self.block(r.raw()?)?;
        let mut cases = Vec::with_capacity(r.left());
        while r.left() >= 2 {
            cases.push(r.raw()?);
            cases.push(u64::from(self.block(r.raw()?)?));
        }
        Ok(Op::Switch { value, default, cases: self.pool(cases) })
    }

    fn indirect(&mut self, r: &mut Ops<'_>) -> Result<Op> {
        let mut targets = Vec::with_capacity(r.left());
        while r.left() > 0 {
            targets.push(u64::from(self.block(r.raw()?)?));
        }
        Ok(Op::Indirect { targets: self.pool(targets) })
    }

    fn call(&mut self, code: u32, r: &mut Ops<'_>) -> Result<(Op, TypeRef)> {
        const FAST_MATH: u64 = 1 << 17;
        let attributes = r.raw()?;
        let flags = r.raw()?;
        if code == code::CALL && flags & FAST_MATH != 0 {
            r.raw()?;
        }
        let mut targets = Vec::new();
        if code != code::CALL {
            targets.push(u64::from(self.block(r.raw()?)?));
            let more = if code == code::INVOKE { 1 } else { r.raw()? };
            for _ in 0..more {
                targets.push(u64::from(self.block(r.raw()?)?));
            }
        }
        let function = r.ty()?;
        let callee = r.any()?;
        let (ret, args) = self.arguments(function, r)?;
        let op = match code {
            code::CALL => Op::Call { callee, args, attributes },
            code::INVOKE => {
                let (normal, unwind) = (targets[0] as u32, targets[1] as u32);
                Op::Invoke { callee, args, attributes, normal, unwind }
            }
            _ => Op::CallBr { callee, args, attributes, targets: self.pool(targets) },
        };
        Ok((op, ret))
    }

    /// Arguments for the parameters stand as plain values, those of `...` with their types.
    fn arguments(&mut self, function: TypeRef, r: &mut Ops<'_>) -> Result<(TypeRef, Range)> {
        let start = self.body.pool.len();
        let Type::Function { ret, params, .. } = self.module.types.get(function) else {
            return Err(ReadError::Malformed("a call of what is no function"));
        };
        for _ in params {
            self.body.pool.push(u64::from(r.value()?));
        }
        while r.left() > 0 {
            self.body.pool.push(u64::from(r.any()?));
        }
        Ok((*ret, Range::new(start, self.body.pool.len())))
    }

    fn memory(&mut self, code: u32, r: &mut Ops<'_>) -> Result<(Op, TypeRef)> {
        Ok(match code {
            code::ALLOCA => {
                let ty = r.ty()?;
                r.ty()?;
                // The number of elements is the one operand that is not relative.
                let count = r.raw()? as u32;
                (Op::Alloca { ty, count }, self.ptr())
            }
            code::LOAD | code::LOADATOMIC => {
                let ptr = r.any()?;
                let ty = r.ty()?;
                r.raw()?;
                (Op::Load { ptr, volatile: r.raw()? != 0 || code == code::LOADATOMIC }, ty)
            }
            code::STORE | code::STOREATOMIC => {
                let (ptr, value) = (r.any()?, r.any()?);
                r.raw()?;
                let volatile = r.raw()? != 0 || code == code::STOREATOMIC;
                (Op::Store { ptr, value, volatile }, TypeRef::NONE)
            }
            code::ATOMICRMW => {
                let ptr = r.any()?;
                let value = r.typed()?;
                let op = r.raw()?;
                (Op::AtomicRmw { op, ptr, value: value.0 }, self.type_of(value))
            }
            code::CMPXCHG => {
                let ptr = r.any()?;
                let expected = r.typed()?;
                let new = r.value()?;
                let ty = self.pair_with_bool(self.type_of(expected));
                (Op::CmpXchg { ptr, expected: expected.0, new }, ty)
            }
            _ => (Op::Fence, TypeRef::NONE),
        })
    }

    /// The type `{ ty, i1 }`.
    fn pair_with_bool(&self, ty: TypeRef) -> TypeRef {
        let Some(bool) = self.module.bool else { return TypeRef::NONE };
        let fields = vec![ty, bool];
        let pair = Type::Struct { name: String::new(), packed: false, fields };
        self.module.types.find(&pair).unwrap_or(TypeRef::NONE)
    }

    fn token(&self) -> TypeRef {
        self.module.types.find(&Type::Unsized).unwrap_or(TypeRef::NONE)
    }

    fn computation(&mut self, code: u32, r: &mut Ops<'_>) -> Result<(Op, TypeRef)> {
        Ok(match code {
            code::BINOP => {
                let lhs = r.typed()?;
                let (rhs, op) = (r.value()?, r.raw()?);
                (Op::Bin { op, lhs: lhs.0, rhs }, self.type_of(lhs))
            }
            code::CAST => {
                let value = r.any()?;
                let (ty, op) = (r.ty()?, r.raw()?);
                (Op::Cast { op, value }, ty)
            }
            code::GEP => self.gep(r)?,
            code::VSELECT => {
                let then = r.typed()?;
                let (otherwise, cond) = (r.value()?, r.any()?);
                (Op::Select { cond, then: then.0, otherwise }, self.type_of(then))
            }
            code::CMP | code::CMP2 => {
                let lhs = r.typed()?;
                let (rhs, pred) = (r.value()?, r.raw()?);
                let vector =
                    matches!(self.module.types.get(self.type_of(lhs)), Type::Vector { .. });
                let ty = self.module.bool.filter(|_| !vector).unwrap_or(TypeRef::NONE);
                (Op::Cmp { pred, lhs: lhs.0, rhs }, ty)
            }
            code::EXTRACTVAL => {
                let tuple = r.typed()?;
                let path = self.path(r)?;
                let ty = self.walk(self.type_of(tuple), path);
                (Op::ExtractValue { tuple: tuple.0, path }, ty)
            }
            code::INSERTVAL => {
                let tuple = r.typed()?;
                let value = r.any()?;
                let path = self.path(r)?;
                (Op::InsertValue { tuple: tuple.0, value, path }, self.type_of(tuple))
            }
            code::PHI => self.phi(r)?,
            code::VAARG => {
                r.ty()?;
                let list = r.value()?;
                (Op::VaArg { list }, r.ty()?)
            }
            code::FREEZE => {
                let value = r.typed()?;
                (Op::Freeze { value: value.0 }, self.type_of(value))
            }
            _ => self.opaque(code, r)?,
        })
    }

    fn gep(&mut self, r: &mut Ops<'_>) -> Result<(Op, TypeRef)> {
        r.raw()?;
        let source = r.ty()?;
        let start = self.body.pool.len();
        let mut ty = self.ptr();
        while r.left() > 0 {
            let operand = r.typed()?;
            if matches!(self.module.types.get(self.type_of(operand)), Type::Vector { .. }) {
                ty = TypeRef::NONE;
            }
            self.body.pool.push(u64::from(operand.0));
        }
        let operands = Range::new(start, self.body.pool.len());
        Ok((Op::Gep { source, operands }, ty))
    }

    fn path(&mut self, r: &mut Ops<'_>) -> Result<Range> {
        let start = self.body.pool.len();
        while r.left() > 0 {
            self.body.pool.push(r.raw()?);
        }
        Ok(Range::new(start, self.body.pool.len()))
    }

    fn walk(&self, mut ty: TypeRef, path: Range) -> TypeRef {
        for &index in path.of(&self.body.pool) {
            ty = self.module.types.element(ty, index).unwrap_or(TypeRef::NONE);
        }
        ty
    }

    fn phi(&mut self, r: &mut Ops<'_>) -> Result<(Op, TypeRef)> {
        let ty = r.ty()?;
        let start = self.body.pool.len();
        while r.left() >= 2 {
            let value = r.next.wrapping_sub(unrotate(r.raw()?) as u32);
            let block = self.block(r.raw()?)?;
            self.body.pool.extend([u64::from(value), u64::from(block)]);
        }
        Ok((Op::Phi { incoming: Range::new(start, self.body.pool.len()) }, ty))
    }

    fn opaque(&mut self, code: u32, r: &mut Ops<'_>) -> Result<(Op, TypeRef)> {
        let (operands, ty) = match code {
            code::UNOP => {
                let value = r.typed()?;
                (vec![value.0], self.type_of(value))
            }
            code::EXTRACTELT => {
                let vector = r.typed()?;
                let index = r.any()?;
                let ty = self.module.types.element(self.type_of(vector), 0);
                (vec![vector.0, index], ty.unwrap_or(TypeRef::NONE))
            }
            code::INSERTELT => {
                let vector = r.typed()?;
                (vec![vector.0, r.value()?, r.any()?], self.type_of(vector))
            }
            code::SHUFFLEVEC => {
                let first = r.typed()?;
                (vec![first.0, r.value()?], TypeRef::NONE)
            }
            code::LANDINGPAD => (Vec::new(), r.ty()?),
            code::CATCHPAD | code::CLEANUPPAD => (Vec::new(), self.token()),
            _ => return Err(ReadError::Malformed("unknown instruction")),
        };
        let operands = self.pool(operands.into_iter().map(u64::from));
        Ok((Op::Opaque { operands }, ty))
    }
}
