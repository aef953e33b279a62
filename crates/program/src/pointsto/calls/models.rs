//! What a model says, as constraints. Outcomes are not told apart: all of them may happen.

use super::{CallSite, Generator};
use crate::callgraph::called_arguments;
use crate::pointsto::ObjectKind;
use crate::pointsto::object::{Loc, UNKNOWN};
use crate::pointsto::solver::{Step, Val};
use crate::{FuncRef, Target};
use leakproof_ir::{Function, SourceType, Ty};
use leakproof_models::{CallArg, Effect, Model, Place, Returns, Root};
use smallvec::SmallVec;

/// Functions that move the elements of what their first argument points to.
const PERMUTING: [&str; 4] = ["qsort", "qsort_r", "heapsort", "mergesort"];

impl<'a> Generator<'a> {
    pub fn call_modelled(&mut self, site: &CallSite, decl: FuncRef, model: &'a Model) {
        let program = self.program;
        let function = program.function(decl);
        let mut allocated = 1;
        for outcome in &model.outcomes {
            self.model_result(site, decl, model, &outcome.returns);
            for effect in &outcome.effects {
                self.model_effect(site, function, model, &outcome.returns, effect, &mut allocated);
            }
        }
        self.handed_over(site, model);
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
        decl: FuncRef,
        model: &'a Model,
        returns: &Returns,
    ) {
        let Some(result) = site.result else { return };
        let program = self.program;
        let function = program.function(decl);
        let fixed = function.params.len();
        match returns {
            Returns::Object { .. } => {
                let loc = self.returned_object(site);
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
            Returns::Borrowed => {
                let val = self.handed_out(decl, model);
                self.solver.flow(val, result);
            }
            Returns::Unknown | Returns::NonNull | Returns::NonNullTo(_)
                if function.ret == Ty::Ptr =>
            {
                let val = self.handed_out(decl, model);
                self.solver.flow(val, result);
            }
            Returns::Unknown | Returns::NonNull | Returns::NonNullTo(_) => {}
            Returns::Null
            | Returns::Int(_)
            | Returns::Same(_)
            | Returns::Never
            | Returns::Throws => {}
        }
    }

    /// A `void *` may be what the user gave (`pthread_getspecific`); any other type is the library's.
    fn handed_out(&mut self, decl: FuncRef, model: &'a Model) -> Val {
        let types = &self.program.module(decl.module).types;
        let returned = match self.program.function(decl).signature.and_then(|s| types.get(s)) {
            Some(SourceType::Function { ret, .. }) => types.get(*ret),
            _ => None,
        };
        let typed = match returned {
            Some(SourceType::Pointer { to }) => !matches!(types.get(*to), Some(SourceType::Void)),
            _ => false,
        };
        if typed {
            Val::Addr(self.library_of(&model.file))
        } else {
            self.library_value(&model.file)
        }
    }

    fn model_effect(
        &mut self,
        site: &CallSite,
        function: &Function,
        model: &'a Model,
        returns: &Returns,
        effect: &Effect,
        allocated: &mut u32,
    ) {
        let fixed = function.params.len();
        match effect {
            Effect::Alloc { place, .. } => {
                let loc = self.heap_object(site.caller, site.inst, *allocated, None);
                *allocated += 1;
                self.put(site, fixed, place, Val::Addr(loc));
            }
            Effect::Take { place } => {
                // The library keeps it and may hand it out, but does not write into it.
                let users = self.users_of(&model.file);
                for val in self.held_at(site, fixed, place) {
                    self.solver.store(Val::Addr(users), val);
                }
            }
            Effect::Write { place } => {
                let library = self.library_of(&model.file);
                self.put(site, fixed, place, Val::Addr(library));
            }
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
            Effect::Call { callee, args } => self.call_back(site, model, *callee, args),
            Effect::Free { .. }
            | Effect::SetNull { .. }
            | Effect::SetNonZero { .. }
            | Effect::SetData { .. } => {}
            Effect::IsNull(_) | Effect::IsNonNull(_) | Effect::Needs(_) => {}
        }
    }

    /// A function that is passed by name, of whose calls the model says nothing, is called with what
    /// the library has.
    fn handed_over(&mut self, site: &CallSite, model: &'a Model) {
        let called = called_arguments(model);
        for (n, &arg) in site.args.iter().enumerate() {
            let Val::Addr(loc) = arg else { continue };
            if loc == UNKNOWN || called.contains(&n) {
                continue;
            }
            let object = self.solver.mem.locs[loc as usize].object;
            let kind = self.solver.mem.objects[object as usize].kind;
            if let ObjectKind::Function(Target::Defined(f)) = kind {
                let val = self.library_value(&model.file);
                self.enter_with(f, val);
            }
        }
    }

    /// The object that takes over contents: the returned one.
    fn moved_to(&mut self, site: &CallSite, returns: &Returns) -> Val {
        match returns {
            Returns::Object { .. } => Val::Addr(self.returned_object(site)),
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

    fn call_back(&mut self, site: &CallSite, model: &'a Model, callee: usize, args: &[CallArg]) {
        let args = args
            .iter()
            .map(|a| match a {
                CallArg::Arg(n) => arg(site, *n),
                CallArg::Inside(n) => self.stepped(arg(site, *n), Step::ANYWHERE),
                CallArg::Unknown => self.library_value(&model.file),
            })
            .collect();
        let pointer = arg(site, callee);
        let inner = CallSite { caller: site.caller, inst: site.inst, args, result: None };
        self.indirect(inner, pointer);
    }
}

fn constant(offset: u64) -> Step {
    Step::constant(offset.min(1 << 40) as i64)
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
