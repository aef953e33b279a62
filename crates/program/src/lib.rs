//! The whole program: linked units, points-to analysis and call graph.
//!
//! In: lowered `ir::Module`s and library models. Out: `Program` (what every reference is bound to),
//! `Andersen` (what every pointer may point to), `CallGraph` (whom every call may call, and the
//! bottom-up order) and `Effects` (what a call may read, write and release). No IO, no failure: what cannot be known is said to be unknown.

mod callgraph;
mod effects;
mod link;
mod never_null;
mod pointsto;
mod program;
pub mod scc;

pub use callgraph::{CallGraph, Targets};
pub use effects::{EffectSet, Effects, ObjectSet};
pub use link::empty_copies;
pub use never_null::NeverNull;
pub use pointsto::{
    Andersen, FunctionSet, ObjectId, ObjectKind, Pointee, PointsTo, PtsSet, SolverStats,
};
pub use program::{FuncRef, GlobalRef, Program, Target};
