//! Guarded function summaries by merged symbolic execution.
//!
//! `analyse` runs one function over hash-consed terms, all paths at once, and yields its summary
//! for callers and the objects that may leak at its exits. It does no IO and cannot fail: budgets
//! are results.

mod again;
mod atoms;
mod audit;
mod call;
mod certain;
mod cfg;
mod circles;
mod complaint;
mod context;
mod counts;
mod decided;
mod deciding;
mod dispatch;
mod elements;
mod errno;
mod exec;
mod expected;
mod export;
mod fills;
mod followed;
mod held;
mod ignored;
mod import;
mod inst;
mod leak;
mod length;
mod marks;
mod memory;
mod model;
mod one_of;
mod open;
mod outcome;
mod planted;
mod print;
mod repeated;
mod result;
mod same;
mod settle;
mod size;
mod state;
mod summary;
mod untold;
mod used;
mod vocabulary;
mod way;

pub use audit::{Audit, Release, Touch, TouchKind};
pub use context::{Budget, Context};
pub use dispatch::{Bound, BoundCallee, Route};
pub use exec::{
    Drop, DropKind, Exec, Exit, Free, Inlining, Limit, Note, NoteKind, Resized, Stored, Visit,
};
pub use ignored::used_values;
pub use leak::Candidate;
pub use memory::{Leaf, Leaves};
pub use planted::{Planted, Replaced, Spot};
pub use print::{Names, print};
pub use state::{Cell, PathConditions, Pc, State};
pub use summary::{Effect, Expr, NewObject, PrivateInfo, Ref, Root, Summary};
pub use vocabulary::{BaseKind, Object, ObjectId, Origin, Place, Site, Slot, SymKind, What};
