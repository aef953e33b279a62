//! Instructions and terminators: few, and each with one meaning.

use crate::{BlockId, FuncId, InstId, TypeId, ValueId, VarId};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Pred {
    Eq,
    Ne,
    ULt,
    ULe,
    UGt,
    UGe,
    SLt,
    SLe,
    SGt,
    SGe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CastOp {
    Trunc,
    ZExt,
    SExt,
    PtrToInt,
    IntToPtr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RmwOp {
    Xchg,
    Add,
    Sub,
    And,
    Or,
    /// Any other read-modify-write: the stored value is unknown.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Callee {
    /// A function of this module, possibly only declared here.
    Direct(FuncId),
    Indirect(ValueId),
    /// Inline assembly.
    Asm,
}

/// One scaled index of an address computation: `value * scale` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    pub value: ValueId,
    pub scale: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InstKind {
    /// A stack slot of `size` bytes (`count` of them when dynamic). `var` names it in the source.
    Alloca {
        size: u64,
        count: Option<ValueId>,
        var: Option<VarId>,
        ty: Option<TypeId>,
    },
    /// Reads `result.ty.size()` bytes; `volatile` ones that somebody else may change at any time.
    Load {
        ptr: ValueId,
        volatile: bool,
    },
    Store {
        ptr: ValueId,
        value: ValueId,
    },
    /// `base + offset + sum of indices`, in bytes. `ty` is the struct that `offset` selects a
    /// field of, when known.
    Offset {
        base: ValueId,
        offset: i64,
        indices: SmallVec<[Index; 1]>,
        ty: Option<TypeId>,
    },
    Bin {
        op: BinOp,
        lhs: ValueId,
        rhs: ValueId,
    },
    Cmp {
        pred: Pred,
        lhs: ValueId,
        rhs: ValueId,
    },
    Cast {
        op: CastOp,
        value: ValueId,
    },
    Select {
        cond: ValueId,
        then: ValueId,
        otherwise: ValueId,
    },
    /// One entry per predecessor edge's source block (a block that reaches this one by two edges
    /// is listed once).
    Phi {
        incoming: Vec<(BlockId, ValueId)>,
    },
    Call {
        callee: Callee,
        args: SmallVec<[ValueId; 4]>,
        noreturn: bool,
    },
    /// memcpy and memmove.
    MemCopy {
        dst: ValueId,
        src: ValueId,
        len: ValueId,
    },
    MemSet {
        dst: ValueId,
        byte: ValueId,
        len: ValueId,
    },
    Extract {
        tuple: ValueId,
        index: u32,
    },
    Insert {
        tuple: ValueId,
        index: u32,
        value: ValueId,
    },
    AtomicRmw {
        op: RmwOp,
        ptr: ValueId,
        value: ValueId,
    },
    /// Yields the tuple (old value, success bit).
    CmpXchg {
        ptr: ValueId,
        expected: ValueId,
        new: ValueId,
    },
    VaStart {
        list: ValueId,
    },
    VaCopy {
        dst: ValueId,
        src: ValueId,
    },
    /// From here on the source variable `var` has the value `value` (debug info of promoted locals).
    /// An undefined value says that the variable goes out of scope here.
    VarSet {
        var: VarId,
        value: ValueId,
    },
    /// The stack slot goes out of scope.
    ScopeEnd {
        slot: ValueId,
    },
    /// A computation that no analysis models (floating point, vectors, landing pads). The result
    /// may depend on every operand; memory is neither read nor written.
    Opaque {
        operands: SmallVec<[ValueId; 2]>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Terminator {
    Jump(BlockId),
    Branch {
        cond: ValueId,
        then: BlockId,
        otherwise: BlockId,
    },
    Switch {
        value: ValueId,
        cases: Vec<(u64, BlockId)>,
        default: BlockId,
    },
    Return(Option<ValueId>),
    /// Control never gets here (after a noreturn call, `__builtin_unreachable`).
    Unreachable,
    /// The block's last instruction is a call: `normal` when it returns, `unwind` when it throws.
    Invoke {
        call: InstId,
        normal: BlockId,
        unwind: BlockId,
    },
    /// An exception leaves the function.
    Resume,
    /// Computed goto.
    Indirect {
        targets: Vec<BlockId>,
    },
}

impl Terminator {
    /// Successor blocks in order; a block reached by several edges is named once per edge.
    pub fn successors(&self) -> SmallVec<[BlockId; 2]> {
        match self {
            Terminator::Jump(b) => SmallVec::from_slice(&[*b]),
            Terminator::Branch { then, otherwise, .. } => {
                SmallVec::from_slice(&[*then, *otherwise])
            }
            Terminator::Switch { cases, default, .. } => {
                cases.iter().map(|(_, b)| *b).chain([*default]).collect()
            }
            Terminator::Invoke { normal, unwind, .. } => SmallVec::from_slice(&[*normal, *unwind]),
            Terminator::Indirect { targets } => targets.iter().copied().collect(),
            Terminator::Return(_) | Terminator::Unreachable | Terminator::Resume => SmallVec::new(),
        }
    }
}

impl Terminator {
    /// The SSA value it reads: no terminator reads more than one.
    pub fn operand(&self) -> Option<ValueId> {
        match self {
            Terminator::Branch { cond, .. } => Some(*cond),
            Terminator::Switch { value, .. } => Some(*value),
            Terminator::Return(value) => *value,
            _ => None,
        }
    }
}

impl InstKind {
    /// Calls `f` on every SSA value this instruction reads.
    pub fn for_each_operand(&self, mut f: impl FnMut(ValueId)) {
        match self {
            InstKind::Alloca { count, .. } => count.iter().copied().for_each(f),
            InstKind::Load { ptr, .. } => f(*ptr),
            InstKind::Store { ptr, value } | InstKind::AtomicRmw { ptr, value, .. } => {
                f(*ptr);
                f(*value);
            }
            InstKind::Offset { base, indices, .. } => {
                f(*base);
                indices.iter().for_each(|i| f(i.value));
            }
            InstKind::Bin { lhs, rhs, .. } | InstKind::Cmp { lhs, rhs, .. } => {
                f(*lhs);
                f(*rhs);
            }
            InstKind::Cast { value, .. } | InstKind::VarSet { value, .. } => f(*value),
            InstKind::Select { cond, then, otherwise } => {
                [*cond, *then, *otherwise].into_iter().for_each(f);
            }
            InstKind::Phi { incoming } => incoming.iter().for_each(|(_, v)| f(*v)),
            InstKind::Call { callee, args, .. } => {
                if let Callee::Indirect(v) = callee {
                    f(*v);
                }
                args.iter().copied().for_each(f);
            }
            InstKind::MemCopy { dst, src, len } => [*dst, *src, *len].into_iter().for_each(f),
            InstKind::MemSet { dst, byte, len } => [*dst, *byte, *len].into_iter().for_each(f),
            InstKind::Extract { tuple, .. } => f(*tuple),
            InstKind::Insert { tuple, value, .. } => {
                f(*tuple);
                f(*value);
            }
            InstKind::CmpXchg { ptr, expected, new } => {
                [*ptr, *expected, *new].into_iter().for_each(f);
            }
            InstKind::VaStart { list } => f(*list),
            InstKind::VaCopy { dst, src } => {
                f(*dst);
                f(*src);
            }
            InstKind::ScopeEnd { slot } => f(*slot),
            InstKind::Opaque { operands } => operands.iter().copied().for_each(f),
        }
    }
}
