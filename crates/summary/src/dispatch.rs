//! Functions that call through pointers they were given, and calls that give them known functions.
//!
//! Out: per function the routes from its arguments to the pointers that it calls through and does not know; at a call
//! of such a function, the functions that these routes lead to. With those known the callee is another function: its
//! summary for them is asked for (`Context::bound_summary`), and in a run for them the pointers are what they are
//! known to be (`Context::bound`). Only what is certain is bound: a route that leads to one function.

use crate::call::Call;
use crate::exec::Exec;
use crate::memory::Leaves;
use crate::state::State;
use crate::summary::Summary;
use crate::vocabulary::{BaseKind, Slot, SymKind};
use leakproof_guard::{Base, Node, Term, Terms};
use leakproof_program::FuncRef;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Pointers that are further away have no route.
const MAX_CELLS: usize = 4;
/// Callers are told of so many routes.
const MAX_ROUTES: usize = 8;
/// In one run so many calls are made of functions bound to what they are given.
const MAX_BOUND_CALLS: u32 = 60;

/// The way to a pointer from an argument: the offsets of the cells that are gone through, `[0, 8]` for `arg->ops->close`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Route {
    pub argument: u32,
    pub cells: Vec<i64>,
}

/// Which functions routes lead to.
pub type Bound = BTreeMap<Route, FuncRef>;

/// A function for calls that give it known functions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BoundCallee {
    pub function: FuncRef,
    pub bound: Bound,
    /// It belongs to the component of who asks for it, in which nobody is finished.
    pub inside: bool,
}

impl Exec<'_> {
    /// Notes that the function calls through pointers whose value it does not know.
    pub(crate) fn note_called_through(&mut self, state: &State, pointer: Term) {
        for leaf in self.leaves(state, pointer).unwrap_or_default() {
            let Leaves::Cell(base, Slot::At(0)) = leaf.target else { continue };
            let route = self.terms.as_pointee(base).and_then(|pointer| self.route_to(pointer));
            self.called_through.extend(route);
        }
    }

    /// The routes that callers are told of, the shortest first.
    pub(crate) fn told_routes(&self) -> Vec<Route> {
        let mut routes: Vec<Route> = self.called_through.iter().cloned().collect();
        routes.sort_by_key(|route| route.cells.len());
        routes.truncate(MAX_ROUTES);
        routes
    }

    fn route_to(&self, pointer: Term) -> Option<Route> {
        let Node::Sym(s) = *self.terms.node(pointer) else { return None };
        match self.sym_kinds[s.0 as usize] {
            SymKind::Arg(argument) => Some(Route { argument, cells: Vec::new() }),
            SymKind::Init { base, slot: Slot::At(offset), epoch: Terms::NULL } => {
                self.route_through(base, offset)
            }
            _ => None,
        }
    }

    /// The route to what the cell held when the function was called.
    fn route_through(&self, base: Base, offset: i64) -> Option<Route> {
        let mut route = self.route_to(self.terms.as_pointee(base)?)?;
        route.cells.push(offset);
        (route.cells.len() <= MAX_CELLS).then_some(route)
    }

    /// The function that an argument is in this run, if that is known.
    pub(crate) fn bound_argument(&mut self, argument: u32) -> Option<Term> {
        self.bound_at(|_| Some(Route { argument, cells: Vec::new() }))
    }

    /// The function that a cell held when the function was called, if that is known in this run.
    pub(crate) fn bound_contents(&mut self, base: Base, slot: Slot, epoch: Term) -> Option<Term> {
        let Slot::At(offset) = slot else { return None };
        self.bound_at(|exec| exec.route_through(base, offset).filter(|_| epoch == Terms::NULL))
    }

    fn bound_at(&mut self, route: impl FnOnce(&Self) -> Option<Route>) -> Option<Term> {
        let bound = self.ctx.bound.filter(|bound| !bound.is_empty())?;
        let function = *bound.get(&route(self)?)?;
        let base = self.base(BaseKind::Func(function));
        Some(self.terms.addr(base, 0))
    }

    /// What a call does: by the summary of the callee for the functions that this call gives it, if it calls through what
    /// it is given.
    pub(crate) fn summary_for_call(
        &mut self,
        call: &Call<'_>,
        f: FuncRef,
        summary: Arc<Summary>,
        state: &State,
    ) -> Arc<Summary> {
        if f == self.me && !self.is_bound_alike(call, state) {
            return Arc::new(Summary::opaque());
        }
        if summary.calls_through.is_empty() {
            return summary;
        }
        let bound = self.functions_given(call, &summary, state);
        let inside = self.ctx.recursive.contains(&f);
        // A run for what is bound asks for no other one in its own component: they would wait for each other.
        let possible = !inside || self.ctx.bound.is_none() && f != self.me;
        if bound.is_empty() || !possible || self.bound_calls >= MAX_BOUND_CALLS {
            return summary;
        }
        let callee = BoundCallee { function: f, bound, inside };
        let Some(for_them) = (self.ctx.bound_summary)(&callee) else { return summary };
        self.bound_calls += 1;
        self.bound_to.insert(callee);
        for_them
    }

    /// Whether a recursive call gives on the functions that this run is for.
    fn is_bound_alike(&mut self, call: &Call<'_>, state: &State) -> bool {
        self.ctx.bound.into_iter().flatten().all(|(route, f)| {
            let given = self.follow_route(call, route, state);
            given.is_some_and(|pointer| self.only_function(state, pointer) == Some(*f))
        })
    }

    /// Which functions the callee's routes lead to from here. Where they lead to what this function was given itself, its
    /// callers are told.
    fn functions_given(&mut self, call: &Call<'_>, summary: &Summary, state: &State) -> Bound {
        let mut bound = Bound::new();
        for route in &summary.calls_through {
            let Some(pointer) = self.follow_route(call, route, state) else { continue };
            match self.only_function(state, pointer) {
                Some(f) => drop(bound.insert(route.clone(), f)),
                None => self.note_called_through(state, pointer),
            }
        }
        bound
    }

    fn follow_route(&mut self, call: &Call<'_>, route: &Route, state: &State) -> Option<Term> {
        let mut at = *call.args.get(route.argument as usize)?;
        for &offset in &route.cells {
            if self.terms.bits(at) != 64 {
                return None;
            }
            let cell = self.terms.offset(at, offset);
            at = self.load(state, cell, 64, call.loc);
        }
        (self.terms.bits(at) == 64).then_some(at)
    }

    /// The function that a pointer leads to wherever it is not null.
    fn only_function(&mut self, state: &State, pointer: Term) -> Option<FuncRef> {
        let mut only = None;
        for leaf in self.leaves(state, pointer)? {
            let Leaves::Cell(base, _) = leaf.target else { continue };
            let BaseKind::Func(f) = self.kind(base) else { return None };
            if only.is_some_and(|other| other != f) {
                return None;
            }
            only = Some(f);
        }
        only
    }
}
