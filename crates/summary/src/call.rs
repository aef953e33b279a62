//! Calls: which function is meant, and what it does.
//!
//! A defined function acts by its summary, a library function by its model, a function known by
//! its attributes as an allocator; anything else is unknown: what it gets through non-`const`
//! pointers escapes and may have been written.

use crate::exec::{Exec, Note, NoteKind};
use crate::memory::Leaves;
use crate::one_of::Choice;
use crate::state::State;
use crate::vocabulary::{BaseKind, Object, Site, Slot, What};
use leakproof_guard::{Node, SymInfo, Term, Terms};
use leakproof_ir::{Callee, Function, InstId, Linkage, Loc, SourceType, Ty, TypeId, ValueId};
use leakproof_models::Model;
use leakproof_program::{FuncRef, Target};
use std::sync::Arc;

/// Calls through a pointer with more targets than this are unknown calls.
const MAX_TARGETS: usize = 6;

/// One call under execution.
#[derive(Clone, Copy)]
pub struct Call<'c> {
    /// The function's name as the programmer spells it, once that is known.
    pub name: &'c str,
    pub inst: InstId,
    pub args: &'c [Term],
    pub ty: Ty,
    pub loc: Loc,
}

impl Exec<'_> {
    /// Executes a call. The outer `None`: it does not return; the inner: it yields no value.
    pub fn run_call(
        &mut self,
        inst: InstId,
        callee: Callee,
        args: &[ValueId],
        ty: Ty,
        state: &mut State,
    ) -> Option<Option<Term>> {
        let loc = self.body.insts[inst].loc;
        let args: Vec<Term> = args.iter().map(|&a| self.value(state, a)).collect();
        let call = Call { name: "", inst, args: &args, ty, loc };
        let choices = match callee {
            Callee::Direct(f) => {
                let target = self.ctx.program.resolve(self.me.module, f);
                vec![Choice { target, when: None }]
            }
            Callee::Indirect(v) => self.indirect_targets(state, &call, v),
            Callee::Asm => Vec::new(),
        };
        match choices.as_slice() {
            [] => Some(self.unknown_call(&call, None, "", state)),
            [one] => self.call_target(&call, one.target, state),
            many if many.len() <= MAX_TARGETS => self.call_one_of(&call, many, state),
            _ => Some(self.unknown_call(&call, None, "", state)),
        }
    }

    /// Functions that the pointer's own value names, else what the call graph says.
    fn indirect_targets(&mut self, state: &mut State, call: &Call<'_>, v: ValueId) -> Vec<Choice> {
        let t = self.value(state, v);
        let mut known: Vec<Choice> = Vec::new();
        for leaf in self.leaves(state, t).unwrap_or_default() {
            match leaf.target {
                Leaves::Cell(base, _) => match self.kind(base) {
                    BaseKind::Func(f) => {
                        let when = (!leaf.any).then_some(leaf.cond);
                        known.push(Choice { target: self.target_of(f), when });
                    }
                    _ => return self.given_targets(state, call, t),
                },
                Leaves::Int => {}
            }
        }
        known
    }

    /// The call graph's targets of a call through what callers may know better.
    fn given_targets(&mut self, state: &mut State, call: &Call<'_>, pointer: Term) -> Vec<Choice> {
        let known = self.known_targets(call.inst);
        let from_tables = self.ctx.calls.targets(self.me, call.inst).from_tables;
        if known.len() != 1 || from_tables {
            self.note_called_through(state, pointer);
        }
        if from_tables {
            // Somebody else's function may take what it is given.
            let pointers = call.args.iter().filter(|&&arg| self.terms.bits(arg) == 64);
            pointers.copied().collect::<Vec<_>>().into_iter().for_each(|p| self.escape(state, p));
        }
        known.into_iter().map(|target| Choice { target, when: None }).collect()
    }

    /// The call graph's targets; a guess by signature alone is no knowledge.
    fn known_targets(&self, inst: InstId) -> Vec<Target> {
        let targets = self.ctx.calls.targets(self.me, inst);
        if targets.fallback { Vec::new() } else { targets.list.to_vec() }
    }

    fn target_of(&self, f: FuncRef) -> Target {
        if self.ctx.program.function(f).is_definition() {
            Target::Defined(f)
        } else {
            Target::External(f)
        }
    }

    /// A callback: runs when the pointer names one function, and is assumed to return.
    pub fn call_function_value(
        &mut self,
        call: &Call<'_>,
        function: Term,
        args: &[Term],
        state: &mut State,
    ) {
        self.note_called_through(state, function);
        let leaves = self.leaves(state, function).unwrap_or_default();
        if let [leaf] = leaves.as_slice()
            && let Leaves::Cell(base, _) = leaf.target
            && let BaseKind::Func(f) = self.kind(base)
        {
            let ty = self.ctx.program.function(f).ret;
            let inner = Call { args, ty, ..*call };
            let mut after = state.clone();
            if let Some(value) = self.call_target(&inner, self.target_of(f), &mut after) {
                // Whoever called back keeps the result.
                value.into_iter().for_each(|v| self.escape(&mut after, v));
                *state = after;
            }
        }
    }

    /// The join of two ways a call may have gone.
    pub fn join_outcomes(
        &mut self,
        a: State,
        x: Option<Term>,
        b: State,
        y: Option<Term>,
    ) -> (State, Option<Term>) {
        let (state, chooser) = self.merge_states(&a, &b);
        let value = self.chosen_value(chooser, x, y);
        (state, value)
    }

    /// A result: `x` when `chooser` holds, else `y`.
    pub(crate) fn chosen_value(
        &mut self,
        chooser: Term,
        x: Option<Term>,
        y: Option<Term>,
    ) -> Option<Term> {
        match (x, y) {
            (Some(x), Some(y)) => Some(self.terms.ite(chooser, x, y)),
            (x, y) => x.or(y),
        }
    }

    pub(crate) fn call_target(
        &mut self,
        call: &Call<'_>,
        target: Target,
        state: &mut State,
    ) -> Option<Option<Term>> {
        let (Target::Defined(f) | Target::External(f)) = target;
        let function = self.ctx.program.function(f);
        let defined = matches!(target, Target::Defined(_));
        let model = self.ctx.models.get(&function.name);
        let own = defined && self.means_its_own(function, model);
        if let Some(model) = model.filter(|_| !own) {
            return self.call_model(call, model, function, state);
        }
        match target {
            Target::Defined(f) => self.call_defined(call, f, state),
            Target::External(_) if function.attrs.noreturn => None,
            Target::External(_) if allocates(function) => {
                Some(Some(self.allocate_or_null(call, &function.source_name, "memory", state)))
            }
            Target::External(_) => {
                let name = function.source_name.clone();
                Some(self.unknown_call(call, Some((f, function)), &name, state))
            }
        }
    }

    /// Whether a program's function only shares its name with the one that a model describes: it
    /// is its own, or a third library's that is the program, or has nothing to do with memory.
    fn means_its_own(&self, function: &Function, model: Option<&Model>) -> bool {
        model.is_none_or(|m| match function.linkage {
            Linkage::Internal => true,
            // A header's inline copy of the very function.
            Linkage::AvailableExternally => false,
            _ => m.is_third_party() || !m.families().any(|f| self.ctx.models.is_memory(f)),
        })
    }

    fn call_defined(
        &mut self,
        call: &Call<'_>,
        f: FuncRef,
        state: &mut State,
    ) -> Option<Option<Term>> {
        let function = self.ctx.program.function(f);
        let Some(summary) = (self.ctx.summary_of)(self.me, f) else {
            // First round of a recursive component: only the paths that do not recurse count.
            return None;
        };
        if summary.never_returns {
            return None;
        }
        if summary.opaque {
            let name = function.source_name.clone();
            return Some(self.unknown_call(call, Some((f, function)), &name, state));
        }
        let summary = self.summary_for_call(call, f, summary, state);
        if summary.never_returns {
            return None;
        }
        if let Some(done) = self.run_inlined(call, f, &summary, state) {
            return done;
        }
        let recursive = self.ctx.recursive.contains(&f);
        self.note_passed(call, &function.source_name, state);
        self.apply_summary(call, &summary, f, recursive, state)
    }

    /// Remembers, for the reader, that objects were passed to a call.
    pub fn note_passed(&mut self, call: &Call<'_>, name: &str, state: &State) {
        for &arg in call.args {
            if self.terms.has_addr(arg) {
                let at = self.place(call.loc);
                let kind = NoteKind::PassedTo;
                let seq = self.tick();
                let (pc, name) = (state.pc, name.into());
                self.notes.push(Note { seq, pc, at, kind, value: arg, name });
            }
        }
    }

    /// A call of which nothing is known.
    fn unknown_call(
        &mut self,
        call: &Call<'_>,
        callee: Option<(FuncRef, &Function)>,
        name: &str,
        state: &mut State,
    ) -> Option<Term> {
        for (i, &arg) in call.args.iter().enumerate() {
            if self.terms.bits(arg) != 64 || self.terms.as_int(arg).is_some() {
                continue;
            }
            if callee.is_some_and(|(f, function)| self.reads_only(f, function, i)) {
                self.assume_not_kept(arg);
                continue;
            }
            self.escape(state, arg);
            self.forget_contents(state, arg, None, name, call.loc);
        }
        self.note_passed(call, name, state);
        self.forget_errno(state);
        self.unknown_result(call, name)
    }

    pub fn unknown_result(&mut self, call: &Call<'_>, name: &str) -> Option<Term> {
        match call.ty {
            Ty::Void => None,
            Ty::Tuple(n) => {
                let items = (0..n).map(|_| self.opaque(64, What::Result, name, call.loc)).collect();
                Some(self.terms.tuple(items))
            }
            ty => Some(self.opaque(self.bits_of(ty), What::Result, name, call.loc)),
        }
    }

    /// Whether parameter `i` is a pointer to `const`.
    fn reads_only(&self, f: FuncRef, function: &Function, i: usize) -> bool {
        let module = self.ctx.program.module(f.module);
        let param = match function.signature.map(|t| &module.types[t]) {
            Some(SourceType::Function { params, .. }) => params.get(i).copied(),
            _ => function.params.get(i).and_then(|p| p.ty),
        };
        param.is_some_and(|t| points_to_const(module, t))
    }

    fn assume_not_kept(&mut self, arg: Term) {
        if !self.terms.has_addr(arg) {
            return;
        }
        for base in self.all_bases(arg) {
            if let Some(o) = self.object_of(base) {
                self.objects[o.0 as usize].assumed = true;
            }
        }
    }

    /// A fresh object that exists from here on.
    pub fn allocate(
        &mut self,
        call: &Call<'_>,
        name: &str,
        family: &str,
        zeroed: bool,
        state: &mut State,
    ) -> Term {
        let at = self.place(call.loc);
        let trace: Arc<[Site]> = [Site { at, callee: name.into() }].into();
        let family: Arc<str> = family.into();
        let id = self.new_object(call.inst, |base| Object { base, family, trace, assumed: false });
        let base = self.objects[id.0 as usize].base;
        state.mem.insert((base, Slot::Live), Terms::TRUE);
        if zeroed {
            let one = self.terms.int(64, 1);
            state.mem.insert((base, Slot::Epoch), one);
        }
        let value = self.terms.addr(base, 0);
        let kind = NoteKind::Allocated;
        let seq = self.tick();
        self.notes.push(Note { seq, pc: state.pc, at, kind, value, name: name.into() });
        value
    }

    /// An allocation that may fail with null.
    fn allocate_or_null(
        &mut self,
        call: &Call<'_>,
        name: &str,
        family: &str,
        state: &mut State,
    ) -> Term {
        let fails = self.opaque(1, What::Failure, name, call.loc);
        let value = self.allocate(call, name, family, false, state);
        let works = self.terms.not(fails);
        if let Node::Addr { base, .. } = *self.terms.node(value) {
            state.mem.insert((base, Slot::Live), works);
        }
        self.terms.ite(fails, Terms::NULL, value)
    }

    /// A result symbol that is known not to be null.
    pub fn nonnull_result(&mut self, call: &Call<'_>, name: &str) -> Term {
        let origin = crate::vocabulary::Origin {
            what: What::Result,
            name: name.into(),
            at: self.place(call.loc),
        };
        let bits = self.bits_of(call.ty);
        self.symbol(SymInfo { bits, range: None, nonzero: true, outside: true }, origin)
    }
}

/// An external function that declares itself an allocator.
fn allocates(function: &Function) -> bool {
    let a = &function.attrs;
    function.ret == Ty::Ptr && a.alloc_ptr.is_none() && (a.noalias_return || a.alloc_size)
}

fn points_to_const(module: &leakproof_ir::Module, t: TypeId) -> bool {
    match &module.types[t] {
        SourceType::Pointer { to } => matches!(module.types[*to], SourceType::Const { .. }),
        SourceType::Const { of } => points_to_const(module, *of),
        _ => false,
    }
}
