//! What pointers may point to: the questions (`PointsTo`) and the analysis that answers them.

mod andersen;
mod calls;
mod copy;
mod functions;
mod generate;
mod heap_type;
mod layout;
mod memory;
mod object;
mod set;
mod solver;
mod uses;
mod wrappers;

pub use andersen::Andersen;
pub use solver::SolverStats;

use crate::{FuncRef, GlobalRef, Program, Target};
use leakproof_ir::{InstId, ValueId};
use smallvec::SmallVec;

/// An abstract object of one `PointsTo`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectId(pub u32);

/// What an abstract object stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectKind {
    /// The stack slot that an `Alloca` makes.
    Stack {
        func: FuncRef,
        slot: InstId,
    },
    Global(GlobalRef),
    /// What the call allocates: a library allocator, or a wrapper of one (then the object of this
    /// very call, not of all calls of the wrapper).
    Heap {
        func: FuncRef,
        call: InstId,
    },
    Function(Target),
    /// All string literals and other unnamed constants without pointers.
    Literals,
    /// Memory that belongs to the library (`getenv`, `stdin`).
    Library,
    /// Where a variadic function finds its arguments.
    VarArgs(FuncRef),
}

/// One thing a pointer may point to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pointee {
    pub object: ObjectId,
    /// Byte offset of array element zero; `None`: anywhere in the object.
    pub offset: Option<u32>,
}

/// What a pointer may point to. `unknown`: also every object that escapes, and memory that the
/// analysis has never seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PtsSet {
    pub pointees: SmallVec<[Pointee; 4]>,
    pub unknown: bool,
}

/// The functions among what a pointer may point to. `unknown`: others are possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionSet {
    pub list: SmallVec<[Target; 4]>,
    pub unknown: bool,
}

/// Answers about pointers. Sound for the C that compilers accept: what cannot be known is
/// `unknown`, never nothing.
pub trait PointsTo {
    /// What the value may point to, sorted.
    fn points_to(&self, f: FuncRef, v: ValueId) -> PtsSet;

    /// The functions it may point to, sorted.
    fn functions(&self, f: FuncRef, v: ValueId) -> FunctionSet;

    /// The two pointers may hold the same address (null aside).
    fn may_alias(&self, a: (FuncRef, ValueId), b: (FuncRef, ValueId)) -> bool;

    /// The two values of one activation of `f` always hold the same address.
    fn must_alias(&self, program: &Program, f: FuncRef, a: ValueId, b: ValueId) -> bool;

    fn object(&self, object: ObjectId) -> ObjectKind;

    /// Code outside the program may read and write it.
    fn escapes(&self, object: ObjectId) -> bool;
}
