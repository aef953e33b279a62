//! Whom every call may call, and the bottom-up order of functions.
//!
//! In: the program, points-to answers and models. Out: per call its targets; per function its
//! callees and callers; strongly connected components, callees first. Invariants: every call of
//! every kept definition has a `Targets`; lists are sorted and free of duplicates (the definition
//! that `Program::resolve` prefers first); a target found by signature only is marked.

mod members;
mod signature;

use crate::scc::{self, Graph};
use crate::{FuncRef, PointsTo, Program, Target};
use leakproof_ir::{Callee, InstId, InstKind, ValueId};
use leakproof_models::{Effect, Library, Model};
use members::Members;
use rustc_hash::FxHashMap;
use signature::Candidates;
use smallvec::{SmallVec, smallvec};

/// Whom one call may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    pub list: SmallVec<[Target; 1]>,
    /// False: functions outside the list are possible.
    pub complete: bool,
    /// The list was guessed from the signature.
    pub fallback: bool,
    /// The list is what a library's own tables hold in the member that the pointer was read from; its users may have
    /// tables of their own.
    pub from_tables: bool,
}

/// Called arguments of one call, each with what it may be.
type Callbacks = Vec<(usize, Vec<Target>)>;

pub struct CallGraph {
    /// Kept definitions in order; everything below is indexed by position in it.
    index: FxHashMap<FuncRef, u32>,
    calls: Vec<Vec<(InstId, u32)>>,
    targets: Vec<Targets>,
    callbacks: FxHashMap<(FuncRef, InstId), Callbacks>,
    callees: Vec<Vec<FuncRef>>,
    callers: Vec<Vec<FuncRef>>,
    sccs: Vec<Vec<FuncRef>>,
    /// What a call that is not in the graph has: nobody is known.
    nobody: Targets,
}

impl CallGraph {
    pub fn build(program: &Program, pts: &dyn PointsTo, models: &Library) -> CallGraph {
        let mut builder = Builder::new(program, pts, models);
        for &f in program.definition_list() {
            builder.add_function(f);
        }
        builder.finish()
    }

    /// Targets of the call instruction `call` of `caller`.
    pub fn targets(&self, caller: FuncRef, call: InstId) -> &Targets {
        let Some(&i) = self.index.get(&caller) else { return &self.nobody };
        let calls = &self.calls[i as usize];
        match calls.binary_search_by_key(&call, |c| c.0) {
            Ok(at) => &self.targets[calls[at].1 as usize],
            Err(_) => &self.nobody,
        }
    }

    /// Functions that a modelled callee (`qsort`, `pthread_create`) calls through argument `arg`.
    pub fn callback_targets(&self, caller: FuncRef, call: InstId, arg: usize) -> &[Target] {
        let Some(list) = self.callbacks.get(&(caller, call)) else { return &[] };
        list.iter().find(|(n, _)| *n == arg).map_or(&[], |(_, targets)| targets)
    }

    /// Calls of a function in instruction order.
    pub fn calls_of(&self, caller: FuncRef) -> impl Iterator<Item = (InstId, &Targets)> {
        let calls: &[(InstId, u32)] = match self.index.get(&caller) {
            Some(&i) => &self.calls[i as usize],
            None => &[],
        };
        calls.iter().map(|&(inst, t)| (inst, &self.targets[t as usize]))
    }

    /// Strongly connected components, callees first.
    pub fn sccs(&self) -> &[Vec<FuncRef>] {
        &self.sccs
    }

    /// Defined functions that `f` may call, callbacks included, sorted.
    pub fn callees_of(&self, f: FuncRef) -> &[FuncRef] {
        self.index.get(&f).map_or(&[], |&i| &self.callees[i as usize])
    }

    /// Defined functions that may call `f`, sorted.
    pub fn callers_of(&self, f: FuncRef) -> &[FuncRef] {
        self.index.get(&f).map_or(&[], |&i| &self.callers[i as usize])
    }
}

struct Builder<'a> {
    program: &'a Program,
    pts: &'a dyn PointsTo,
    models: &'a Library,
    candidates: Candidates,
    members: Members<'a>,
    /// One entry of `targets` per function called directly.
    direct: FxHashMap<FuncRef, u32>,
    out: CallGraph,
}

impl<'a> Builder<'a> {
    fn new(program: &'a Program, pts: &'a dyn PointsTo, models: &'a Library) -> Self {
        let definitions = program.definition_list();
        let index = definitions.iter().enumerate().map(|(i, &f)| (f, i as u32)).collect();
        let out = CallGraph {
            index,
            calls: Vec::with_capacity(definitions.len()),
            targets: Vec::new(),
            callbacks: FxHashMap::default(),
            callees: Vec::with_capacity(definitions.len()),
            callers: vec![Vec::new(); definitions.len()],
            sccs: Vec::new(),
            nobody: Targets::default(),
        };
        let candidates = Candidates::collect(program);
        let members = Members::collect(program, &candidates);
        Builder { program, pts, models, candidates, members, direct: FxHashMap::default(), out }
    }

    fn add_function(&mut self, f: FuncRef) {
        let program = self.program;
        let mut calls = Vec::new();
        let mut callees = Vec::new();
        if let Some(body) = &program.function(f).body {
            for (inst, data) in body.insts.iter() {
                let InstKind::Call { callee, args, .. } = &data.kind else { continue };
                let t = self.call_targets(f, inst, *callee, args);
                calls.push((inst, t));
                self.add_callbacks(f, inst, t, args);
                let defined = self.out.targets[t as usize].list.iter().filter_map(|t| t.defined());
                callees.extend(defined);
                if let Some(callbacks) = self.out.callbacks.get(&(f, inst)) {
                    let all = callbacks.iter().flat_map(|(_, list)| list);
                    callees.extend(all.filter_map(|t| t.defined()));
                }
            }
        }
        calls.sort_unstable();
        callees.sort_unstable();
        callees.dedup();
        self.out.calls.push(calls);
        self.out.callees.push(callees);
    }

    fn call_targets(&mut self, f: FuncRef, inst: InstId, callee: Callee, args: &[ValueId]) -> u32 {
        match callee {
            Callee::Direct(func) => self.direct_targets(FuncRef { module: f.module, func }),
            Callee::Indirect(pointer) => {
                let targets = self.indirect_targets(f, inst, pointer, args);
                self.push(targets)
            }
            Callee::Asm => self.push(Targets::default()),
        }
    }

    fn push(&mut self, targets: Targets) -> u32 {
        self.out.targets.push(targets);
        self.out.targets.len() as u32 - 1
    }

    fn direct_targets(&mut self, reference: FuncRef) -> u32 {
        if let Some(&known) = self.direct.get(&reference) {
            return known;
        }
        let list = self.program.resolve_all(reference.module, reference.func);
        let targets = Targets { list: list.into(), complete: true, ..Targets::default() };
        let id = self.push(targets);
        self.direct.insert(reference, id);
        id
    }

    fn indirect_targets(
        &self,
        f: FuncRef,
        inst: InstId,
        pointer: ValueId,
        args: &[ValueId],
    ) -> Targets {
        let set = self.pts.functions(f, pointer);
        let call = signature::Call::new(self.program, f, inst, args);
        let list = call.compatible(self.program, &set.list);
        if let Some(list) = self.told_by_member(f, pointer, &call, &list, !set.unknown) {
            return Targets { list, complete: !set.unknown, ..Targets::default() };
        }
        if !list.is_empty() {
            return Targets { list, complete: !set.unknown, ..Targets::default() };
        }
        if let Some(held) = self.members.functions(f, pointer).filter(|held| !held.is_empty()) {
            let list = call.compatible(self.program, &held);
            return Targets { list, from_tables: true, ..Targets::default() };
        }
        let guessed = self.candidates.matching(self.program, &call);
        Targets { fallback: !guessed.is_empty(), list: guessed, ..Targets::default() }
    }

    /// The targets by the member that the pointer was read from, where that says more than the points-to set: in
    /// programs only, since a library's users fill its tables, too.
    fn told_by_member(
        &self,
        f: FuncRef,
        pointer: ValueId,
        call: &signature::Call,
        list: &[Target],
        complete: bool,
    ) -> Option<SmallVec<[Target; 1]>> {
        if !self.program.is_closed(f.module) {
            return None;
        }
        let held = self.members.functions(f, pointer)?;
        if held.is_empty() {
            // Nobody sets this hook: functions of other members are there because points-to mixed them up.
            let others = self.members.functions_of_others(f, pointer);
            let left = list.iter().copied().filter(|t| !others.contains(t)).collect();
            return (!list.is_empty()).then_some(left);
        }
        if complete && list.len() <= 1 {
            return None;
        }
        let held = call.compatible(self.program, &held);
        let both: SmallVec<[Target; 1]> =
            held.iter().copied().filter(|t| list.contains(t)).collect();
        match both.is_empty() {
            false => Some(both),
            true => (!complete).then_some(held),
        }
    }

    /// Callbacks of modelled external callees.
    fn add_callbacks(&mut self, f: FuncRef, inst: InstId, targets: u32, args: &[ValueId]) {
        let mut found = Callbacks::new();
        for target in &self.out.targets[targets as usize].list {
            let Target::External(decl) = *target else { continue };
            let Some(model) = self.models.get(&self.program.function(decl).name) else { continue };
            for arg in called_arguments(model) {
                let Some(&value) = args.get(arg) else { continue };
                let mut list = self.pts.functions(f, value).list.into_vec();
                list.sort_unstable();
                list.dedup();
                if !found.iter().any(|(n, _)| *n == arg) {
                    found.push((arg, list));
                }
            }
        }
        if !found.is_empty() {
            found.sort_unstable_by_key(|(n, _)| *n);
            self.out.callbacks.insert((f, inst), found);
        }
    }

    fn finish(self) -> CallGraph {
        let mut out = self.out;
        let definitions = self.program.definition_list();
        let mut starts = vec![0];
        let mut edges = Vec::new();
        for (i, &f) in definitions.iter().enumerate() {
            for callee in &out.callees[i] {
                if let Some(&to) = out.index.get(callee) {
                    edges.push(to);
                    out.callers[to as usize].push(f);
                }
            }
            starts.push(edges.len() as u32);
        }
        let components = scc::components(&Graph { starts, targets: edges });
        let named = |c: Vec<u32>| c.into_iter().map(|i| definitions[i as usize]).collect();
        out.sccs = components.into_iter().map(named).collect();
        out
    }
}

/// Arguments that a model says are called.
pub(crate) fn called_arguments(model: &Model) -> SmallVec<[usize; 2]> {
    let mut out: SmallVec<[usize; 2]> = smallvec![];
    for effect in model.outcomes.iter().flat_map(|o| &o.effects) {
        if let Effect::Call { callee, .. } = effect
            && !out.contains(callee)
        {
            out.push(*callee);
        }
    }
    out
}
