//! Calls: into the program, into the library by its models, and into the unknown.
//!
//! A call of a wrapper makes an object of its own; of another defined function it passes arguments
//! and result; of a modelled function it does what the model says; of any other function it lets the
//! arguments escape and yields `UNKNOWN`. Calls through pointers are resolved while solving.

mod models;

use super::ObjectKind;
use super::generate::{Generator, holds_address};
use super::layout::LayoutId;
use super::object::{Loc, UNKNOWN};
use super::solver::{NodeId, Step, Val};
use super::wrappers::{Stored, is_allocator};
use crate::{FuncRef, Target};
use leakproof_ir::{Callee, Function, InstId, InstKind, ValueId, ValueKind};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Wrappers of wrappers are looked into this deep for what they put into an object.
const MAX_NESTING: u32 = 8;

/// A call and its operands.
#[derive(Clone)]
pub(super) struct CallSite {
    pub caller: FuncRef,
    pub inst: InstId,
    pub args: SmallVec<[Val; 4]>,
    /// Node of the result when it can hold an address.
    pub result: Option<NodeId>,
}

impl Generator<'_> {
    /// A call instruction.
    pub fn call(
        &mut self,
        f: FuncRef,
        inst: InstId,
        callee: Callee,
        args: &[ValueId],
        result: Option<ValueId>,
    ) {
        let function = self.program.function(f);
        let result = result.filter(|&r| holds_address(function.ty(r)));
        match callee {
            Callee::Direct(func) => {
                let program = self.program;
                match program.resolve_all(f.module, func) {
                    &[Target::Defined(g)] if self.wrappers.get(g).is_none() => {
                        self.plain_call(f, g, args, result);
                    }
                    all => {
                        let site = self.site(f, inst, args, result);
                        all.iter().for_each(|&t| self.call_target(&site, t));
                    }
                }
            }
            Callee::Indirect(pointer) => {
                let site = self.site(f, inst, args, result);
                let pointer = self.operand(f, pointer);
                self.indirect(site, pointer);
            }
            Callee::Asm => {
                let site = self.site(f, inst, args, result);
                self.assembly(&site);
            }
        }
    }

    /// Inline assembly reads and writes through its operands, but does not keep them.
    fn assembly(&mut self, site: &CallSite) {
        for &place in &site.args {
            for &val in &site.args {
                self.solver.store(place, val);
            }
            self.solver.store(place, Val::Addr(UNKNOWN));
            if let Some(result) = site.result {
                self.solver.load(place, result);
                self.solver.step(place, Step::ANYWHERE, result);
            }
        }
        self.solver_insert(site.result, UNKNOWN);
    }

    fn site(&mut self, f: FuncRef, inst: InstId, args: &[ValueId], r: Option<ValueId>) -> CallSite {
        let args = args.iter().map(|&a| self.operand(f, a)).collect();
        CallSite { caller: f, inst, args, result: r.map(|r| self.result_node(f, r)) }
    }

    /// The common case, without a site: one defined callee.
    fn plain_call(&mut self, f: FuncRef, g: FuncRef, args: &[ValueId], result: Option<ValueId>) {
        let callee = self.program.function(g);
        self.call_edges.push((f, g));
        for (i, &arg) in args.iter().enumerate() {
            if i < callee.params.len() {
                if holds_address(callee.ty(callee.params[i].value)) {
                    let val = self.operand(f, arg);
                    self.pass(g, callee, i, val);
                }
            } else if callee.variadic {
                let val = self.operand(f, arg);
                self.pass(g, callee, i, val);
            }
        }
        if let Some(result) = result {
            let node = self.returned(g);
            self.define(f, result, Val::Var(node));
        }
    }

    /// Argument number `i` of a call of the defined function `g`.
    fn pass(&mut self, g: FuncRef, callee: &Function, i: usize, val: Val) {
        if val == Val::Nothing {
            return;
        }
        match callee.params.get(i) {
            Some(param) => {
                if let Val::Var(node) = self.operand(g, param.value) {
                    self.solver.flow(val, node);
                }
            }
            None if callee.variadic => {
                let area = self.variadic_area(g);
                self.solver.store(Val::Addr(area), val);
            }
            None => {}
        }
    }

    fn call_target(&mut self, site: &CallSite, target: Target) {
        match target {
            Target::Defined(g) if self.wrappers.get(g).is_some() => self.call_wrapper(site, g),
            Target::Defined(g) => self.call_defined(site, g),
            Target::External(decl) => self.call_external(site, decl),
        }
    }

    fn call_defined(&mut self, site: &CallSite, g: FuncRef) {
        self.call_edges.push((site.caller, g));
        let callee = self.program.function(g);
        for (i, &val) in site.args.iter().enumerate() {
            self.pass(g, callee, i, val);
        }
        if let Some(result) = site.result {
            let node = self.returned(g);
            self.solver.edge(node, result);
        }
    }

    /// The arguments reach the wrapper's body, the result is an object of this very call.
    fn call_wrapper(&mut self, site: &CallSite, g: FuncRef) {
        self.call_defined(&CallSite { result: None, ..site.clone() }, g);
        let inner = self.wrapper_layout(g, MAX_NESTING);
        let layout = inner.or_else(|| self.result_layout(site.caller, site.inst));
        let loc = self.heap_object(site.caller, site.inst, 0, layout);
        self.fill(g, loc, &site.args, MAX_NESTING);
        let Some(result) = site.result else { return };
        let deltas = self.wrappers.get(g).map_or(Vec::new(), |w| w.deltas.clone());
        for delta in deltas {
            let at = self.solver.mem.shift(loc, delta);
            self.solver.insert(result, at);
        }
    }

    /// The object that the library function called at `site` returns.
    fn returned_object(&mut self, site: &CallSite) -> Loc {
        let layout = self.result_layout(site.caller, site.inst);
        self.heap_object(site.caller, site.inst, 0, layout)
    }

    /// The type that a wrapper gives to what it allocates; the innermost one knows best.
    fn wrapper_layout(&mut self, g: FuncRef, depth: u32) -> Option<LayoutId> {
        let calls = self.wrappers.get(g)?.calls.clone();
        for inst in calls {
            let callee = self.direct_callee(g, inst).and_then(|t| t.defined());
            let inner = match callee {
                Some(callee) if depth > 0 => self.wrapper_layout(callee, depth - 1),
                _ => None,
            };
            if let Some(layout) = inner.or_else(|| self.result_layout(g, inst)) {
                return Some(layout);
            }
        }
        None
    }

    fn direct_callee(&self, f: FuncRef, inst: InstId) -> Option<Target> {
        let body = self.program.function(f).body.as_ref()?;
        match body.insts[inst].kind {
            InstKind::Call { callee: Callee::Direct(func), .. } => {
                Some(self.program.resolve(f.module, func))
            }
            _ => None,
        }
    }

    /// Puts into the object at `loc` what the wrapper `g`, called with `args`, puts into it.
    fn fill(&mut self, g: FuncRef, loc: Loc, args: &[Val], depth: u32) {
        let Some(wrapper) = self.wrappers.get(g).cloned() else { return };
        for &(at, stored) in &wrapper.stores {
            let place = self.place_in(loc, at);
            let val = match stored {
                Stored::Value(v) => self.seen_from(g, v, args),
                Stored::Itself(delta) => Val::Addr(self.solver.mem.shift(loc, delta)),
            };
            self.solver.store(Val::Addr(place), val);
        }
        for &(at, src) in &wrapper.copies {
            let place = self.place_in(loc, at);
            let src = self.seen_from(g, src, args);
            self.solver.copy_bytes(Val::Addr(place), src, u64::MAX);
        }
        for &inst in &wrapper.calls {
            self.fill_from_callee(g, inst, loc, args, depth);
        }
    }

    fn place_in(&mut self, loc: Loc, at: Option<i64>) -> Loc {
        let object = self.solver.mem.locs[loc as usize].object;
        match at {
            Some(delta) => self.solver.mem.shift(loc, delta),
            None => self.solver.mem.anywhere(object),
        }
    }

    /// The allocating call `inst` of the wrapper `g` may fill the object as well.
    fn fill_from_callee(&mut self, g: FuncRef, inst: InstId, loc: Loc, args: &[Val], depth: u32) {
        let function = self.program.function(g);
        let Some(body) = &function.body else { return };
        let InstKind::Call { callee: Callee::Direct(func), args: inner, .. } =
            &body.insts[inst].kind
        else {
            return;
        };
        let inner: Vec<Val> = inner.iter().map(|&v| self.seen_from(g, v, args)).collect();
        match self.program.resolve(g.module, *func) {
            Target::Defined(callee) if depth > 0 => self.fill(callee, loc, &inner, depth - 1),
            Target::Defined(_) => {
                let whole = self.place_in(loc, None);
                self.solver.store(Val::Addr(whole), Val::Addr(UNKNOWN));
            }
            Target::External(decl) => self.fill_fresh(decl, loc, &inner),
        }
    }

    /// A value of the wrapper `g`; a parameter is the argument at the call.
    fn seen_from(&mut self, g: FuncRef, v: ValueId, args: &[Val]) -> Val {
        match self.program.function(g).values[v].kind {
            ValueKind::Param(n) => args.get(n as usize).copied().unwrap_or(Val::Nothing),
            _ => self.operand(g, v),
        }
    }

    fn call_external(&mut self, site: &CallSite, decl: FuncRef) {
        let (program, models) = (self.program, self.models);
        let function = program.function(decl);
        if let Some(model) = models.get(&function.name) {
            return self.call_modelled(site, decl, model);
        }
        if function.name.starts_with("llvm.") {
            return self.call_intrinsic(site);
        }
        if is_allocator(program, models, Target::External(decl)) {
            let loc = self.returned_object(site);
            self.fill_fresh(decl, loc, &site.args);
            self.solver_insert(site.result, loc);
            return self.call_unknown(&CallSite { result: None, ..site.clone() });
        }
        self.call_unknown(site);
    }

    fn solver_insert(&mut self, node: Option<NodeId>, loc: Loc) {
        if let Some(node) = node {
            self.solver.insert(node, loc);
        }
    }

    /// Compiler intrinsics keep nothing; a pointer result is one of the arguments.
    fn call_intrinsic(&mut self, site: &CallSite) {
        let Some(result) = site.result else { return };
        for &arg in &site.args {
            self.solver.step(arg, Step::ANYWHERE, result);
        }
    }

    fn call_unknown(&mut self, site: &CallSite) {
        for &arg in &site.args {
            self.escapes(arg);
        }
        self.solver_insert(site.result, UNKNOWN);
    }

    /// A call through a pointer: connected to functions as they turn up.
    pub fn indirect(&mut self, site: CallSite, pointer: Val) {
        match pointer {
            Val::Nothing => {}
            Val::Addr(loc) => self.call_location(&site, loc),
            Val::Var(node) => {
                let id = self.calls.len() as u32;
                self.calls.push(site);
                self.solver.watch_call(node, id);
            }
        }
    }

    fn call_location(&mut self, site: &CallSite, loc: Loc) {
        if loc == UNKNOWN {
            return self.call_unknown(site);
        }
        let object = self.solver.mem.locs[loc as usize].object;
        let ObjectKind::Function(target) = self.solver.mem.objects[object as usize].kind else {
            return;
        };
        if self.takes(site, target) {
            self.call_target(site, target);
        }
    }

    /// A function with more parameters than the call has arguments is not meant.
    fn takes(&self, site: &CallSite, target: Target) -> bool {
        self.program.function(target.func()).params.len() <= site.args.len()
    }

    /// Adds constraints until the solver has nothing left to do.
    pub fn solve(&mut self) {
        while self.solver.has_work() {
            self.solver.wave();
            self.resolve_calls();
            self.open_escaped_functions();
            self.initialise_globals();
            self.finish_integers();
        }
        self.solver.finish();
    }

    fn resolve_calls(&mut self) {
        for (call, loc) in std::mem::take(&mut self.solver.resolved_calls) {
            let site = self.calls[call as usize].clone();
            self.call_location(&site, loc);
        }
    }

    fn open_escaped_functions(&mut self) {
        for object in std::mem::take(&mut self.solver.escaped_objects) {
            let kind = self.solver.mem.objects[object as usize].kind;
            if let ObjectKind::Function(Target::Defined(f)) = kind {
                self.enter_from_outside(f);
            }
        }
    }

    /// Functions that execution never gets to: nothing is known of their parameters.
    pub fn unreached(&self) -> FxHashSet<FuncRef> {
        let mut edges = self.call_edges.clone();
        edges.sort_unstable();
        let mut unreached: FxHashSet<FuncRef> =
            self.program.definition_list().iter().copied().collect();
        let mut work = self.entered.clone();
        while let Some(f) = work.pop() {
            if unreached.remove(&f) {
                let from = edges.partition_point(|e| e.0 < f);
                work.extend(edges[from..].iter().take_while(|e| e.0 == f).map(|e| e.1));
            }
        }
        unreached
    }
}
