//! What a model says, as constraints. Outcomes are not told apart: all of them may happen.

use super::{CallSite, Generator, returns_address};
use crate::FuncRef;
use crate::pointsto::object::{Loc, UNKNOWN};
use crate::pointsto::solver::{Step, Val};
use leakproof_ir::Function;
use leakproof_models::{CallArg, Effect, Model, Place, Returns, Root};
use smallvec::SmallVec;

/// Functions that move the elements of what their first argument points to.
const PERMUTING: [&str; 4] = ["qsort", "qsort_r", "heapsort", "mergesort"];

impl Generator<'_> {
    pub fn call_modelled(&mut self, site: &CallSite, function: &Function, model: &Model) {
        let fixed = function.params.len();
        let mut allocated = 1;
        for outcome in &model.outcomes {
            self.model_result(site, function, fixed, &outcome.returns);
            for effect in &outcome.effects {
                self.model_effect(site, fixed, &outcome.returns, effect, &mut allocated);
            }
        }
        if PERMUTING.contains(&function.name.as_str())
            && let Some(&array) = site.args.first()
        {
            let array = self.stepped(array, Step::ANYWHERE);
            self.solver.copy_bytes(array, array, u64::MAX);
        }
    }

    fn model_result(
        &mut self,
        site: &CallSite,
        function: &Function,
        fixed: usize,
        returns: &Returns,
    ) {
        let Some(result) = site.result else { return };
        match returns {
            Returns::Object { .. } => {
                let loc = self.heap_object(site.caller, site.inst, 0);
                self.solver.insert(result, loc);
            }
            Returns::Arg(n) => self.solver.flow(arg(site, *n), result),
            Returns::Inside(n) | Returns::InsideOrNull(n) => {
                self.solver.step(arg(site, *n), Step::ANYWHERE, result);
            }
            Returns::Old(place) => {
                for val in self.held_at(site, fixed, place) {
                    self.solver.flow(val, result);
                }
            }
            // Library memory, or something that was handed to the library before.
            Returns::Borrowed => {
                self.solver.insert(result, self.library);
                self.solver.load(Val::Addr(self.library), result);
            }
            Returns::Unknown | Returns::NonNull => {
                if returns_address(function) {
                    self.solver.insert(result, UNKNOWN);
                }
            }
            Returns::Null | Returns::Int(_) | Returns::Never => {}
        }
    }

    fn model_effect(
        &mut self,
        site: &CallSite,
        fixed: usize,
        returns: &Returns,
        effect: &Effect,
        allocated: &mut u32,
    ) {
        match effect {
            Effect::Alloc { place, .. } => {
                let loc = self.heap_object(site.caller, site.inst, *allocated);
                *allocated += 1;
                self.put(site, fixed, place, Val::Addr(loc));
            }
            Effect::Take { place } => {
                for val in self.held_at(site, fixed, place) {
                    self.escapes(val);
                    self.solver.store(Val::Addr(self.library), val);
                }
            }
            Effect::Write { place } => self.put(site, fixed, place, Val::Addr(self.library)),
            Effect::SetInside { place, arg: n } => {
                let inside = self.stepped(arg(site, *n), Step::ANYWHERE);
                self.put(site, fixed, place, inside);
            }
            Effect::MoveContents { from } => {
                let dst = self.moved_to(site, returns);
                for src in self.held_at(site, fixed, from) {
                    self.solver.copy_bytes(dst, src, u64::MAX);
                }
            }
            Effect::Call { callee, args } => self.call_back(site, *callee, args),
            Effect::Free { .. } | Effect::SetNull { .. } => {}
            Effect::ArgIsNull(_) | Effect::ArgIsNonNull(_) => {}
        }
    }

    /// The object that takes over contents: the returned one.
    fn moved_to(&mut self, site: &CallSite, returns: &Returns) -> Val {
        match returns {
            Returns::Object { .. } => Val::Addr(self.heap_object(site.caller, site.inst, 0)),
            Returns::Arg(n) | Returns::Inside(n) | Returns::InsideOrNull(n) => arg(site, *n),
            _ => site.result.map_or(Val::Nothing, Val::Var),
        }
    }

    /// What an allocator that returns the object at `loc` puts into it.
    pub fn fill_fresh(&mut self, decl: FuncRef, loc: Loc, args: &[Val]) {
        let (program, models) = (self.program, self.models);
        let function = program.function(decl);
        let Some(model) = models.get(&function.name) else {
            let whole = self.place_in(loc, None);
            self.solver.store(Val::Addr(whole), Val::Addr(UNKNOWN));
            return;
        };
        for outcome in &model.outcomes {
            for effect in &outcome.effects {
                if let (Returns::Object { .. }, Effect::MoveContents { from }) =
                    (&outcome.returns, effect)
                    && let Root::Arg(n) = from.root
                    && from.derefs.is_empty()
                {
                    let src = args.get(n).copied().unwrap_or(Val::Nothing);
                    self.solver.copy_bytes(Val::Addr(loc), src, u64::MAX);
                }
            }
        }
    }

    /// Values held at a place.
    fn held_at(&mut self, site: &CallSite, fixed: usize, place: &Place) -> SmallVec<[Val; 2]> {
        let mut held = roots(site, fixed, place.root);
        for &offset in &place.derefs {
            for val in &mut held {
                let at = self.stepped(*val, constant(offset));
                *val = self.loaded(at);
            }
        }
        held
    }

    /// Stores at a place. A place without dereferences is an argument itself: nothing to write to.
    fn put(&mut self, site: &CallSite, fixed: usize, place: &Place, val: Val) {
        let Some((&last, before)) = place.derefs.split_last() else { return };
        let holder = Place { root: place.root, derefs: before.to_vec() };
        for base in self.held_at(site, fixed, &holder) {
            let at = self.stepped(base, constant(last));
            self.solver.store(at, val);
        }
    }

    fn call_back(&mut self, site: &CallSite, callee: usize, args: &[CallArg]) {
        let args = args
            .iter()
            .map(|a| match a {
                CallArg::Arg(n) => arg(site, *n),
                CallArg::Inside(n) => self.stepped(arg(site, *n), Step::ANYWHERE),
                CallArg::Unknown => Val::Addr(UNKNOWN),
            })
            .collect();
        let pointer = arg(site, callee);
        let inner = CallSite { caller: site.caller, inst: site.inst, args, result: None };
        self.indirect(inner, pointer);
    }
}

fn constant(offset: u64) -> Step {
    Step { delta: offset.min(1 << 40) as i64, stride: None }
}

fn arg(site: &CallSite, n: usize) -> Val {
    site.args.get(n).copied().unwrap_or(Val::Nothing)
}

fn roots(site: &CallSite, fixed: usize, root: Root) -> SmallVec<[Val; 2]> {
    match root {
        Root::Arg(n) => SmallVec::from_slice(&[arg(site, n)]),
        Root::VarArgs => site.args.iter().skip(fixed).copied().collect(),
        Root::Return => site.result.map(Val::Var).into_iter().collect(),
    }
}
