//! What a call may do to memory: which objects it may read, write and release.
//!
//! In: points-to answers, the call graph, models. Out: per function the three sets of everything
//! that runs in it, callees and callbacks included, computed callees first; per call the union over
//! its targets. Invariant: an object that a run of the call touches is in the answer. What is not
//! known is `unknown` (every object that escapes) or `anything` (every object); a set that grows
//! beyond `MAX_OBJECTS` becomes `anything`, which keeps the whole near-linear.

use crate::{CallGraph, FuncRef, ObjectId, PointsTo, Program, PtsSet, Target, Targets};
use leakproof_ir::{Arena, Callee, Function, Inst, InstId, InstKind, SourceType, TypeId, ValueId};
use leakproof_models::{Effect, Library, Model, Place, Root};
use rustc_hash::FxHashMap;

/// Larger sets are not told apart from "anything".
const MAX_OBJECTS: usize = 4096;

/// Objects that may be touched in one way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectSet {
    /// Sorted.
    pub objects: Vec<ObjectId>,
    /// Also every object that escapes.
    pub unknown: bool,
    /// Also every other object.
    pub anything: bool,
}

/// What running some code may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectSet {
    pub read: ObjectSet,
    pub written: ObjectSet,
    /// Released, or handed to a library or to code that is not seen, which may release it.
    pub freed: ObjectSet,
}

/// The effects of all functions of a program.
pub struct Effects<'a> {
    env: Env<'a>,
    /// Position in `sets` of the component of each function.
    component: FxHashMap<FuncRef, u32>,
    sets: Vec<EffectSet>,
}

#[derive(Clone, Copy)]
struct Env<'a> {
    program: &'a Program,
    pts: &'a dyn PointsTo,
    calls: &'a CallGraph,
    models: &'a Library,
}

impl<'a> Effects<'a> {
    pub fn new(
        program: &'a Program,
        pts: &'a dyn PointsTo,
        calls: &'a CallGraph,
        models: &'a Library,
    ) -> Self {
        let env = Env { program, pts, calls, models };
        let mut effects = Effects { env, component: FxHashMap::default(), sets: Vec::new() };
        for scc in calls.sccs() {
            let mut set = EffectSet::default();
            for &f in scc {
                effects.add_function(f, &mut set);
            }
            let index = effects.sets.len() as u32;
            effects.component.extend(scc.iter().map(|&f| (f, index)));
            effects.sets.push(set);
        }
        effects
    }

    /// What a run of `f` may do; `None` when `f` is no definition of the program.
    pub fn of_function(&self, f: FuncRef) -> Option<&EffectSet> {
        self.component.get(&f).map(|&i| &self.sets[i as usize])
    }

    /// What the call instruction `call` of `caller` may do.
    pub fn of_call(&self, caller: FuncRef, call: InstId) -> EffectSet {
        let mut set = EffectSet::default();
        self.add_call(caller, call, &mut set);
        set
    }

    pub fn may_read(&self, caller: FuncRef, call: InstId, object: ObjectId) -> bool {
        self.env.includes(&self.of_call(caller, call).read, object)
    }

    pub fn may_write(&self, caller: FuncRef, call: InstId, object: ObjectId) -> bool {
        self.env.includes(&self.of_call(caller, call).written, object)
    }

    pub fn may_free(&self, caller: FuncRef, call: InstId, object: ObjectId) -> bool {
        self.env.includes(&self.of_call(caller, call).freed, object)
    }

    /// Adds what `f` does itself and what components that are done already do for it.
    fn add_function(&self, f: FuncRef, set: &mut EffectSet) {
        let Some(body) = &self.env.program.function(f).body else { return };
        for (id, inst) in body.insts.iter() {
            match inst.kind {
                InstKind::Call { .. } => self.add_call(f, id, set),
                _ => self.env.add_access(f, inst, set),
            }
        }
    }

    fn add_call(&self, caller: FuncRef, call: InstId, set: &mut EffectSet) {
        let Some(body) = &self.env.program.function(caller).body else { return };
        let InstKind::Call { callee, args, .. } = &body.insts[call].kind else { return };
        let Targets { list, complete, .. } = self.env.calls.targets(caller, call);
        if !complete || *callee == Callee::Asm {
            set.add_outside();
            args.iter().for_each(|&v| self.env.hand_out(caller, v, set));
        }
        for &target in list {
            match target {
                Target::Defined(f) => self.add_known(f, set),
                Target::External(decl) => self.env.add_external(caller, decl, args, set),
            }
        }
        for n in 0..args.len() {
            for target in self.env.calls.callback_targets(caller, call, n) {
                match *target {
                    Target::Defined(f) => self.add_known(f, set),
                    Target::External(_) => set.add_outside(),
                }
            }
        }
    }

    /// A function of this very component is not there yet: what it does is added by itself.
    fn add_known(&self, f: FuncRef, set: &mut EffectSet) {
        if let Some(known) = self.of_function(f) {
            set.add(known);
        }
    }
}

impl Env<'_> {
    fn includes(&self, set: &ObjectSet, object: ObjectId) -> bool {
        set.anything
            || set.unknown && self.pts.escapes(object)
            || set.objects.binary_search(&object).is_ok()
    }

    /// Instructions other than calls.
    fn add_access(&self, f: FuncRef, inst: &Inst, set: &mut EffectSet) {
        let at = |v: ValueId| self.pts.points_to(f, v);
        match inst.kind {
            InstKind::Load { ptr, .. } => set.read.insert(&at(ptr)),
            InstKind::Store { ptr, .. } => set.written.insert(&at(ptr)),
            InstKind::MemSet { dst, .. } => set.written.insert(&at(dst)),
            InstKind::VaStart { list } => set.written.insert(&at(list)),
            InstKind::MemCopy { dst, src, .. } | InstKind::VaCopy { dst, src } => {
                set.written.insert(&at(dst));
                set.read.insert(&at(src));
            }
            InstKind::AtomicRmw { ptr, .. } | InstKind::CmpXchg { ptr, .. } => {
                set.written.insert(&at(ptr));
                set.read.insert(&at(ptr));
            }
            _ => {}
        }
    }

    /// A function without a body. Without a model it may do anything to what it is given and to
    /// all that escapes.
    fn add_external(&self, caller: FuncRef, decl: FuncRef, args: &[ValueId], set: &mut EffectSet) {
        let function = self.program.function(decl);
        let Some(model) = self.models.get(&function.name) else {
            if !function.name.starts_with("llvm.") {
                set.add_outside();
            }
            args.iter().for_each(|&v| self.hand_out(caller, v, set));
            return;
        };
        for (n, &arg) in args.iter().enumerate() {
            let given = self.pts.points_to(caller, arg);
            set.read.insert(&given);
            match self.parameter(decl, function, n) {
                Parameter::Constant => {}
                Parameter::Plain => set.written.insert(&given),
                Parameter::Structure { constant } => {
                    // What hangs on it may be looked at as well.
                    set.read.anything |= !given.pointees.is_empty();
                    if !constant {
                        set.written.insert(&given);
                    }
                }
            }
        }
        self.add_releases(caller, model, function, args, set);
    }

    fn add_releases(
        &self,
        caller: FuncRef,
        model: &Model,
        function: &Function,
        args: &[ValueId],
        set: &mut EffectSet,
    ) {
        for effect in model.outcomes.iter().flat_map(|o| &o.effects) {
            let (Effect::Free { place, .. } | Effect::Take { place }) = effect else { continue };
            let Place { root, derefs } = place;
            match root {
                // The content of a cell: which objects it holds is not asked here.
                _ if !derefs.is_empty() => set.freed.anything = true,
                Root::Arg(n) => {
                    if let Some(&arg) = args.get(*n) {
                        set.freed.insert(&self.pts.points_to(caller, arg));
                    }
                }
                Root::VarArgs => {
                    for &arg in args.iter().skip(function.params.len()) {
                        set.freed.insert(&self.pts.points_to(caller, arg));
                    }
                }
                Root::Return => {}
            }
        }
    }

    /// The callee may do anything to what a value points to.
    fn hand_out(&self, f: FuncRef, v: ValueId, set: &mut EffectSet) {
        let given = self.pts.points_to(f, v);
        for to in [&mut set.read, &mut set.written, &mut set.freed] {
            to.insert(&given);
        }
    }

    /// What a declaration says of its parameter `n`.
    fn parameter(&self, decl: FuncRef, function: &Function, n: usize) -> Parameter {
        let types = &self.program.module(decl.module).types;
        let Some(SourceType::Function { params, .. }) = function.signature.map(|t| &types[t])
        else {
            return Parameter::Plain;
        };
        let pointee = match params.get(n).map(|t| &types[unqualified(types, *t).0]) {
            Some(SourceType::Pointer { to }) => *to,
            _ => return Parameter::Plain,
        };
        let (pointee, constant) = unqualified(types, pointee);
        match types[pointee] {
            SourceType::Scalar { .. } | SourceType::Void if constant => Parameter::Constant,
            SourceType::Scalar { .. } | SourceType::Void => Parameter::Plain,
            _ => Parameter::Structure { constant },
        }
    }
}

/// The type without `const`, and whether there was one.
fn unqualified(types: &Arena<TypeId, SourceType>, mut ty: TypeId) -> (TypeId, bool) {
    let mut constant = false;
    while let SourceType::Const { of } = types[ty] {
        // A type that qualifies itself only comes from a malformed file.
        if of == ty {
            break;
        }
        (ty, constant) = (of, true);
    }
    (ty, constant)
}

/// What a library function may do with the object that it gets a pointer to.
enum Parameter {
    /// Reads it.
    Constant,
    /// Reads and writes it; nothing hangs on it.
    Plain,
    /// Pointers in it may be followed.
    Structure { constant: bool },
}

impl EffectSet {
    fn add(&mut self, other: &EffectSet) {
        self.read.add(&other.read);
        self.written.add(&other.written);
        self.freed.add(&other.freed);
    }

    /// Code that is not seen runs.
    fn add_outside(&mut self) {
        self.read.unknown = true;
        self.written.unknown = true;
        self.freed.unknown = true;
    }
}

impl ObjectSet {
    fn insert(&mut self, given: &PtsSet) {
        self.unknown |= given.unknown;
        for pointee in &given.pointees {
            if let Err(at) = self.objects.binary_search(&pointee.object) {
                self.objects.insert(at, pointee.object);
            }
        }
        self.bound();
    }

    fn add(&mut self, other: &ObjectSet) {
        self.unknown |= other.unknown;
        self.anything |= other.anything;
        if !self.anything && !other.objects.is_empty() {
            self.objects.extend_from_slice(&other.objects);
            self.objects.sort_unstable();
            self.objects.dedup();
        }
        self.bound();
    }

    fn bound(&mut self) {
        self.anything |= self.objects.len() > MAX_OBJECTS;
        if self.anything {
            self.objects.clear();
        }
    }
}
