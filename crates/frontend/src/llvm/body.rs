//! One function body, decoded into instructions with absolute value numbers.
//!
//! In: the module, a cursor, the position of the body. Out: [`Body`], whose buffers are reused
//! from function to function. Operands of variable number live in one pool and are named by
//! [`Range`]. Invariant: block numbers in instructions are below `blocks.len()`, every block is
//! non-empty and ends with its only terminator; value numbers may still be out of range in
//! malformed input and are checked where they are used.

use super::bitstream::{BlockPosition, Cursor, Record};
use super::decode::Decoder;
use super::{MdId, Module, ReadError, Type, TypeRef, Value};

/// A slice of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    start: u32,
    end: u32,
}

impl Range {
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }
    pub fn start(self) -> u32 {
        self.start
    }
    pub fn of<T>(self, pool: &[T]) -> &[T] {
        pool.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// Position of an instruction; line 0 when it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DebugLoc {
    pub line: u32,
    pub column: u32,
    /// Scope, as metadata id + 1.
    pub scope: u32,
}

/// What an instruction does. Plain `u32`s are value numbers, `*_block`s are block numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Bin {
        op: u64,
        lhs: u32,
        rhs: u32,
    },
    Cast {
        op: u64,
        value: u32,
    },
    /// Base and indices.
    Gep {
        source: TypeRef,
        operands: Range,
    },
    Select {
        cond: u32,
        then: u32,
        otherwise: u32,
    },
    Cmp {
        pred: u64,
        lhs: u32,
        rhs: u32,
    },
    Alloca {
        ty: TypeRef,
        count: u32,
    },
    Load {
        ptr: u32,
        volatile: bool,
    },
    Store {
        ptr: u32,
        value: u32,
        volatile: bool,
    },
    AtomicRmw {
        op: u64,
        ptr: u32,
        value: u32,
    },
    CmpXchg {
        ptr: u32,
        expected: u32,
        new: u32,
    },
    ExtractValue {
        tuple: u32,
        path: Range,
    },
    InsertValue {
        tuple: u32,
        value: u32,
        path: Range,
    },
    Call {
        callee: u32,
        args: Range,
        attributes: u64,
    },
    VaArg {
        list: u32,
    },
    Freeze {
        value: u32,
    },
    /// (value, block) pairs.
    Phi {
        incoming: Range,
    },
    /// Any other computation on these values.
    Opaque {
        operands: Range,
    },
    Fence,
    Return {
        value: Option<u32>,
    },
    Jump {
        target: u32,
    },
    Branch {
        cond: u32,
        then: u32,
        otherwise: u32,
    },
    /// (value, block) pairs.
    Switch {
        value: u32,
        default: u32,
        cases: Range,
    },
    Indirect {
        targets: Range,
    },
    Invoke {
        callee: u32,
        args: Range,
        attributes: u64,
        normal: u32,
        unwind: u32,
    },
    CallBr {
        callee: u32,
        args: Range,
        attributes: u64,
        targets: Range,
    },
    Resume,
    Unreachable,
}

impl Op {
    pub fn is_terminator(self) -> bool {
        matches!(
            self,
            Op::Return { .. }
                | Op::Jump { .. }
                | Op::Branch { .. }
                | Op::Switch { .. }
                | Op::Indirect { .. }
                | Op::Invoke { .. }
                | Op::CallBr { .. }
                | Op::Resume
                | Op::Unreachable
        )
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Inst {
    pub op: Op,
    /// Type of the result; `TypeRef::NONE` when there is none, or none that the module names.
    pub ty: TypeRef,
    /// Value number of the result.
    pub value: Option<u32>,
    pub loc: DebugLoc,
}

/// A debug record: the source variable that a value or an address stands for.
#[derive(Clone, Copy, Debug)]
pub struct DebugRecord {
    /// It stands before this instruction.
    pub before: u32,
    pub declare: bool,
    pub loc: MdId,
    pub variable: MdId,
    pub expression: MdId,
    /// Value number.
    pub value: u32,
}

#[derive(Debug, Default)]
pub struct Body {
    pub insts: Vec<Inst>,
    pub pool: Vec<u64>,
    /// Instructions of each block.
    pub blocks: Vec<Range>,
    pub records: Vec<DebugRecord>,
    /// Some record gives a value to a variable (in optimised bitcode only).
    pub has_value_records: bool,
    /// (kind, node) attachments of the function.
    pub attachments: Vec<(u32, MdId)>,
    /// Value number of the first parameter.
    pub first_arg: u32,
    mark: Option<ModuleMark>,
}

#[derive(Clone, Copy, Debug)]
struct ModuleMark {
    values: usize,
    constants: super::constants::Mark,
    metadata: super::metadata::Mark,
}

impl Body {
    /// Decodes the body of function `index`. What it adds to the module's tables stays until
    /// [`Body::leave`].
    pub fn read<'a>(
        &mut self,
        module: &mut Module,
        cursor: &mut Cursor<'a>,
        record: &mut Record<'a>,
        index: usize,
        position: BlockPosition,
    ) -> Result<(), ReadError> {
        self.insts.clear();
        self.pool.clear();
        self.blocks.clear();
        self.records.clear();
        self.has_value_records = false;
        self.attachments.clear();
        self.mark = Some(ModuleMark {
            values: module.values.len(),
            constants: module.constants.mark(),
            metadata: module.metadata.mark(),
        });
        self.first_arg = module.values.len() as u32;
        let function_type = module.functions.get(index).map_or(TypeRef::NONE, |f| f.ty);
        if let Type::Function { params, .. } = module.types.get(function_type) {
            let args = params.iter().enumerate().map(|(i, ty)| (Value::Arg(i as u32), *ty));
            module.values.extend(args);
        }
        cursor.seek(position);
        Decoder::new(module, self, record).run(cursor)
    }

    /// Takes what belongs to this function out of the module's tables. Returns the first
    /// metadata id that is no longer valid.
    pub fn leave(&mut self, module: &mut Module) -> MdId {
        if let Some(mark) = self.mark.take() {
            module.values.truncate(mark.values);
            module.constants.truncate(mark.constants);
            module.metadata.truncate(mark.metadata);
        }
        MdId(module.metadata.len() as u32)
    }
}
