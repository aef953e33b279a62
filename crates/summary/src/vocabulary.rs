//! What the analysis talks about: places in memory, where symbols come from, allocation sites.

use crate::elements::Elements;
use leakproof_guard::{Base, Term};
use leakproof_ir::{InstId, Loc, VarId};
use leakproof_program::{FuncRef, GlobalRef};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A cell of a base: either contents, or one of the facts that are merged like contents.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Slot {
    /// The contents at a constant offset.
    At(i64),
    /// The contents of all elements of an array in one cell.
    Every(Elements),
    /// Which generation of initial contents unwritten cells have: null (as at entry), one (all
    /// zero), or a symbol (unknown since some call).
    Epoch,
    /// Whether the heap object exists.
    Live,
    /// Whether the object was released.
    Freed,
    /// Whether somebody unknown holds a reference to the object.
    Escaped,
    /// What is freed of this object is freed, too, of the one at this offset, and so on
    /// (a loop or recursion that frees a list or tree). True on every path once it is on some.
    Star(i64),
    /// The elements of an array that were written last: their pointers, each with what was written.
    Last,
    /// Whether an exception leaves the function; a fact about the state as a whole.
    Thrown,
}

impl Slot {
    pub const FIRST: Slot = Slot::At(i64::MIN);

    pub fn is_contents(self) -> bool {
        matches!(self, Slot::At(_) | Slot::Every { .. })
    }

    /// Whether it says what became of an object.
    pub fn is_fate(self) -> bool {
        matches!(self, Slot::Freed | Slot::Star(_))
    }
}

/// What a base is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BaseKind {
    /// A stack slot.
    Slot(InstId),
    /// A promoted source variable: it has no address, its one cell says what it holds.
    Var(VarId),
    /// SSA values that leave their loop; the offset is the value's number.
    Values,
    Heap(ObjectId),
    Global(GlobalRef),
    /// A function; external ones by their declaration.
    Func(FuncRef),
    /// The variadic arguments of this function.
    VarArgs,
    /// The library's number that says why a call failed.
    Errno,
    /// What a pointer term points to.
    Pointee,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectId(pub u32);

/// Where a symbol comes from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SymKind {
    Arg(u32),
    /// What the cell held at function entry (epoch null) or at the start of `epoch`.
    Init {
        base: Base,
        slot: Slot,
        epoch: Term,
    },
    Opaque(Origin),
}

/// Why a value is unknown, for readers.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Origin {
    pub what: What,
    /// The function called, when there is one.
    pub name: Arc<str>,
    pub at: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum What {
    /// The call failed (width 1).
    Failure,
    /// Which of several outcomes or targets (width 1).
    Choice,
    /// What the call returned.
    Result,
    /// What the call wrote.
    Written,
    /// What a function of the library wrote: data from outside, as good as an argument.
    Input,
    /// A value after some turns of a loop.
    Loop,
    /// Which exception was caught.
    Exception,
    /// Uninitialised or not modelled.
    Unknown,
    /// A condition inside a callee.
    Inner,
    /// Which outcome a call had, where the conditions of all of them were cut (width 1).
    Outcome,
    /// A call had an outcome whose conditions were cut, where others have none that were (width 1).
    Cut,
    /// A call had an outcome that nothing its callers know rules out (width 1).
    Open,
}

/// A position in the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Place {
    pub func: FuncRef,
    pub loc: Loc,
}

/// One call on the way from a function down to the library allocator.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Site {
    pub at: Place,
    pub callee: Arc<str>,
}

/// A heap object of the function under analysis.
#[derive(Clone, Debug)]
pub struct Object {
    pub base: Base,
    pub family: Arc<str>,
    /// The call in this function first, the library allocator's call last.
    pub trace: Arc<[Site]>,
    /// An unknown function got the object through a `const` parameter: assumed not to keep it.
    pub assumed: bool,
}
