//! A function's summary: what a call does, in terms of its arguments and of what they point to.
//!
//! Terms are kept in a pool of their own, children first, so that applying a summary is one pass
//! over it. Symbols that are neither arguments nor initial contents are private: every call gets
//! fresh ones, shared by everything that this call does.

use crate::dispatch::Route;
use crate::vocabulary::{Origin, Place, Site, Slot, What};
use leakproof_guard::{Area, Cast, Cmp, Op};
use leakproof_program::{FuncRef, GlobalRef};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A term of the pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Ref(pub u32);

/// Something with an address, by a name that a caller understands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Root {
    /// An object that the call created: index into `Summary::objects`.
    Object(u32),
    Global(GlobalRef),
    Func(FuncRef),
    VarArgs,
    Errno,
    /// What this pointer points to.
    Pointee(Ref),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Expr {
    Bool(bool),
    Int {
        bits: u16,
        value: u64,
    },
    Arg {
        index: u32,
        bits: u16,
    },
    /// What the cell held when the function was called.
    Init {
        root: Root,
        slot: Slot,
        bits: u16,
    },
    /// A private symbol: its number, so that two of them stay apart.
    Private {
        number: u32,
        info: PrivateInfo,
    },
    Addr {
        root: Root,
        offset: i64,
    },
    Elem {
        root: Root,
        offset: i64,
        stride: u32,
        index: Ref,
        area: Area,
    },
    Not(Ref),
    And(Box<[Ref]>),
    Or(Box<[Ref]>),
    Ite {
        cond: Ref,
        then: Ref,
        otherwise: Ref,
    },
    Cmp {
        cmp: Cmp,
        lhs: Ref,
        rhs: Ref,
    },
    Bin {
        op: Op,
        lhs: Ref,
        rhs: Ref,
    },
    Cast {
        cast: Cast,
        bits: u16,
        value: Ref,
    },
    Any(Box<[Ref]>),
    Tuple(Box<[Ref]>),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct PrivateInfo {
    pub bits: u16,
    pub range: Option<(i64, i64)>,
    pub nonzero: bool,
    pub origin: Origin,
}

/// An object that the call creates.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NewObject {
    pub family: Arc<str>,
    pub trace: Arc<[Site]>,
    pub assumed: bool,
}

/// The value of a cell after the call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Effect {
    pub root: Root,
    pub slot: Slot,
    pub value: Ref,
    /// The pointer to the one element that was written, where the slot stands for all of them.
    pub only: Option<Ref>,
    /// Where the function does it.
    pub at: Place,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    pub pool: Vec<Expr>,
    pub value: Option<Ref>,
    /// The condition under which the call returns at all; `None`: always.
    pub returns: Option<Ref>,
    /// The condition under which an exception leaves it; `None`: never.
    pub throws: Option<Ref>,
    /// It recurses deeper than it was followed, and returns from there, too.
    pub returns_deeper: bool,
    /// It may release what its inputs lead to over more steps than callers are told of.
    pub releases_untold: bool,
    /// Arguments without which it does not come back: it goes through them.
    pub used: Vec<u32>,
    /// Arguments that it refuses when they are null, and goes through otherwise.
    pub expected: Vec<u32>,
    /// Arguments that are sizes of what it asks the library for.
    pub sizes: Vec<u32>,
    /// Routes to pointers that it calls through: which functions they are is the callers' choice.
    pub calls_through: Vec<Route>,
    pub objects: Vec<NewObject>,
    pub effects: Vec<Effect>,
    /// Nothing is known: what it is given escapes.
    pub opaque: bool,
    /// It never returns.
    pub never_returns: bool,
}

impl Summary {
    pub fn opaque() -> Self {
        Self { opaque: true, ..Self::default() }
    }
    pub fn never_returns() -> Self {
        Self { never_returns: true, ..Self::default() }
    }
    /// The values that one is a choice of.
    pub fn alternatives(&self, value: Ref) -> Vec<Ref> {
        let mut seen = FxHashSet::default();
        let (mut found, mut work) = (Vec::new(), vec![value]);
        while let Some(r) = work.pop() {
            if !seen.insert(r) {
                continue;
            }
            match &self.pool[r.0 as usize] {
                Expr::Ite { then, otherwise, .. } => work.extend([*then, *otherwise]),
                Expr::Any(items) => work.extend(items.iter().copied()),
                _ => found.push(r),
            }
        }
        found
    }
    /// Whether it says all that the body would: nothing was cut, and no choice is open.
    pub fn is_exact(&self) -> bool {
        let is_cut = |what| {
            matches!(what, What::Inner | What::Outcome | What::Cut | What::Open | What::Unknown)
        };
        !self.pool.iter().any(|e| match e {
            Expr::Private { info, .. } => is_cut(info.origin.what),
            Expr::Any(_) => true,
            _ => false,
        })
    }
    /// Whether a call creates an object and hands it out.
    pub fn allocates(&self) -> bool {
        !self.objects.is_empty()
    }
}
