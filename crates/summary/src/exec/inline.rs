//! Calls whose callee is run in the place of the call, on the caller's own state.
//!
//! A summary that grew too large was cut: which result goes with which effect, and what either needs of the
//! arguments, is partly forgotten. Where much hangs on it, the callee's body is run once more where it is called, with
//! all that the caller knows, and its exits are joined by the paths that lead to them. That costs more than a
//! summary, so it is done for few functions, and only as far as a budget reaches: from there on summaries serve again.

use super::{Exec, Exit, ExitKind, estimated_cost};
use crate::call::Call;
use crate::state::{Cell, State};
use crate::summary::Summary;
use crate::vocabulary::{BaseKind, Place, Site};
use leakproof_guard::{Base, Term};
use leakproof_ir::Ty;
use leakproof_program::FuncRef;
use rustc_hash::FxHashSet;
use std::mem::swap;

/// How far callees are run where they are called.
#[derive(Clone, Debug)]
pub struct Inlining {
    /// The calls that lead to the objects in question. Others are run where they stand when they are given one of these.
    pub calls: FxHashSet<Place>,
    /// Calls within calls.
    pub depth: usize,
    /// Instructions, over the whole run.
    pub steps: u64,
    /// A callee that may take more than this is too large.
    pub callee: u64,
}

impl Exec<'_> {
    /// Runs the callee here, if that tells more than its summary. The outer `None`: the summary has to do; then as of
    /// `run_call`.
    pub(crate) fn run_inlined(
        &mut self,
        call: &Call<'_>,
        f: FuncRef,
        summary: &Summary,
        state: &mut State,
    ) -> Option<Option<Option<Term>>> {
        let limits = self.ctx.inlining?;
        let within = self.inlined_at.len() < limits.depth && self.steps < limits.steps;
        if !within || summary.is_exact() || !self.is_plain_call(call, f) {
            return None;
        }
        if !limits.calls.contains(&self.place(call.loc)) && !self.is_given_one(call, limits, state)
        {
            return None;
        }
        let mut callee = Exec::new(self.ctx, f)?;
        if estimated_cost(&callee.cfg, callee.body) > limits.callee {
            return None;
        }
        self.inlined += 1;
        let name = callee.function.source_name.as_str().into();
        self.inlined_at.push(Site { at: self.place(call.loc), callee: name });
        self.swap_frames(&mut callee);
        self.bind_parameters(call.args, state);
        self.run_from(state.clone());
        self.swap_frames(&mut callee);
        self.inlined_at.pop();
        let locals: FxHashSet<Base> = callee.locals.into_values().collect();
        Some(self.leave_callee(callee.exits, &locals, state))
    }

    /// Whether a call is given one of the objects in question, or something that holds one.
    fn is_given_one(&mut self, call: &Call<'_>, limits: &Inlining, state: &State) -> bool {
        let mut given: Vec<Base> = Vec::new();
        for &arg in call.args {
            if self.terms.has_addr(arg) {
                given.extend(self.all_bases(arg).iter());
            }
        }
        let held = given.clone().into_iter().flat_map(|base| state.contents_of(base));
        let held: Vec<Term> = held.map(|(_, t)| t).filter(|&t| self.terms.has_addr(t)).collect();
        for t in held {
            given.extend(self.all_bases(t).iter());
        }
        given
            .into_iter()
            .filter_map(|base| self.object_of(base))
            .any(|object| limits.calls.contains(&self.objects[object.0 as usize].trace[0].at))
    }

    /// Whether every parameter gets one argument, and the callee does not run already.
    fn is_plain_call(&self, call: &Call<'_>, f: FuncRef) -> bool {
        let function = self.ctx.program.function(f);
        !function.variadic
            && function.params.len() == call.args.len()
            && f != self.me
            && !self.ctx.recursive.contains(&f)
            && self.inlined_at.iter().all(|site| site.at.func != f)
    }

    /// What belongs to the function that runs, not to the run as a whole.
    fn swap_frames(&mut self, other: &mut Self) {
        swap(&mut self.me, &mut other.me);
        swap(&mut self.module, &mut other.module);
        swap(&mut self.function, &mut other.function);
        swap(&mut self.body, &mut other.body);
        swap(&mut self.cfg, &mut other.cfg);
        swap(&mut self.exits, &mut other.exits);
        swap(&mut self.null_tested, &mut other.null_tested);
        swap(&mut self.used, &mut other.used);
        swap(&mut self.env, &mut other.env);
        swap(&mut self.def_loop, &mut other.def_loop);
        swap(&mut self.pending, &mut other.pending);
        swap(&mut self.locals, &mut other.locals);
        swap(&mut self.current, &mut other.current);
        swap(&mut self.back_edges, &mut other.back_edges);
        swap(&mut self.turns, &mut other.turns);
        swap(&mut self.repeating, &mut other.repeating);
        swap(&mut self.visits, &mut other.visits);
        swap(&mut self.ways, &mut other.ways);
        swap(&mut self.way, &mut other.way);
        swap(&mut self.thrown, &mut other.thrown);
    }

    fn bind_parameters(&mut self, args: &[Term], state: &mut State) {
        for (i, (param, &arg)) in self.function.params.iter().zip(args).enumerate() {
            let ty = self.function.values[param.value].ty;
            let tuple = matches!(ty, Ty::Tuple(_));
            let arg = if tuple { arg } else { self.resized(arg, self.bits_of(ty)) };
            self.define(param.value, arg);
            if self.ctx.never_null.contains(self.me, i as u32) {
                let there = self.terms.is_not_null(arg);
                state.pc = self.pcs.know(&self.terms, state.pc, there);
            }
        }
    }

    /// The caller goes on in the join of the callee's exits.
    fn leave_callee(
        &mut self,
        exits: Vec<Exit>,
        locals: &FxHashSet<Base>,
        state: &mut State,
    ) -> Option<Option<Term>> {
        let mut after: Option<(State, Option<Term>)> = None;
        for exit in exits.into_iter().rev() {
            let left = without_cells_of(exit.state, locals);
            match exit.kind {
                ExitKind::Returned => {}
                ExitKind::Thrown => {
                    self.throw(left);
                    continue;
                }
                ExitKind::Endless(_) => continue,
            }
            after = Some(match after {
                None => (left, exit.value),
                Some((other, value)) => self.join_outcomes(left, exit.value, other, value),
            });
        }
        let (joined, value) = after?;
        *state = joined;
        Some(value)
    }
}

/// Variables of a function that returned hold nothing any more.
fn without_cells_of(mut state: State, bases: &FxHashSet<Base>) -> State {
    let cells = state.mem.keys().filter(|(base, _)| bases.contains(base));
    let gone: Vec<Cell> = cells.copied().collect();
    for cell in gone {
        state.mem.remove(&cell);
    }
    state
}

/// Whether each function has one of this kind for itself.
pub(super) fn is_local(kind: BaseKind) -> bool {
    matches!(kind, BaseKind::Slot(_) | BaseKind::Var(_) | BaseKind::Values)
}
