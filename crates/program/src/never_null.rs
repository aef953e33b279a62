//! Parameters that are never null, because every call in the program passes the address of something.
//!
//! Only functions all of whose calls are there: those that nobody outside their unit can name, and in a
//! program with a `main` all others. `if (out) *out = p;` in such a function has no other branch when all
//! callers say `&x`.

use crate::{CallGraph, FuncRef, Program, Target};
use leakproof_ir::{Function, InstId, InstKind, Linkage, ValueId, ValueKind};
use rustc_hash::{FxHashMap, FxHashSet};

type Parameter = (FuncRef, u32);

#[derive(Default)]
pub struct NeverNull(FxHashSet<Parameter>);

/// What calls pass.
#[derive(Default)]
struct Passed {
    called: FxHashSet<FuncRef>,
    maybe_null: FxHashSet<Parameter>,
    /// Parameters that are given what the caller was given itself, by the caller's.
    handed_on: FxHashMap<Parameter, Vec<Parameter>>,
}

impl NeverNull {
    pub fn of(program: &Program, calls: &CallGraph) -> Self {
        let mut passed = Passed::default();
        for f in program.definitions() {
            passed.read(program, calls, f);
        }
        let closed = Closed::of(program);
        let maybe_null = passed.spread(program, closed);
        let mut never = FxHashSet::default();
        for &f in passed.called.iter().filter(|f| closed.knows_calls_of(program, **f)) {
            let all = (0..program.function(f).params.len() as u32).map(|n| (f, n));
            never.extend(all.filter(|p| !maybe_null.contains(p)));
        }
        Self(never)
    }

    pub fn contains(&self, f: FuncRef, parameter: u32) -> bool {
        self.0.contains(&(f, parameter))
    }
}

impl Passed {
    fn read(&mut self, program: &Program, calls: &CallGraph, f: FuncRef) {
        let function = program.function(f);
        let Some(body) = &function.body else { return };
        for (id, inst) in body.insts.iter() {
            if let InstKind::Call { args, .. } = &inst.kind {
                self.read_call(program, calls, f, id, args);
            }
        }
    }

    fn read_call(
        &mut self,
        program: &Program,
        calls: &CallGraph,
        caller: FuncRef,
        call: InstId,
        args: &[ValueId],
    ) {
        let function = program.function(caller);
        for target in &calls.targets(caller, call).list {
            let Target::Defined(f) = *target else { continue };
            self.called.insert(f);
            for n in 0..program.function(f).params.len() {
                let parameter = (f, n as u32);
                match args.get(n).map(|&v| (function.values[v].kind, is_address(function, v))) {
                    Some((_, true)) => {}
                    Some((ValueKind::Param(m), _)) => {
                        self.handed_on.entry((caller, m)).or_default().push(parameter);
                    }
                    _ => {
                        self.maybe_null.insert(parameter);
                    }
                }
            }
        }
        // Whoever is given a function calls it with what he likes.
        for &arg in args {
            if let ValueKind::Function(id) = function.values[arg].kind
                && let Target::Defined(f) = program.resolve(caller.module, id)
            {
                let all = (0..program.function(f).params.len() as u32).map(|n| (f, n));
                self.maybe_null.extend(all);
            }
        }
    }

    /// The parameters that may be null, those among them that have it from another one.
    fn spread(&self, program: &Program, closed: Closed) -> FxHashSet<Parameter> {
        let mut found = FxHashSet::default();
        let open = self
            .handed_on
            .keys()
            .filter(|(f, _)| !self.called.contains(f) || !closed.knows_calls_of(program, *f));
        let mut work: Vec<Parameter> = self.maybe_null.iter().chain(open).copied().collect();
        while let Some(parameter) = work.pop() {
            if found.insert(parameter) {
                work.extend(self.handed_on.get(&parameter).into_iter().flatten());
            }
        }
        found
    }
}

/// Whether nobody else calls functions of the program: it has a `main`.
#[derive(Clone, Copy)]
struct Closed(bool);

impl Closed {
    fn of(program: &Program) -> Self {
        Self(program.definitions().any(|f| program.function(f).name == "main"))
    }

    fn knows_calls_of(self, program: &Program, f: FuncRef) -> bool {
        self.0 || program.function(f).linkage == Linkage::Internal
    }
}

/// Whether a value is the address of a variable, or of a part of something: nobody takes the address of a
/// member of nothing.
fn is_address(function: &Function, v: ValueId) -> bool {
    let id = match function.values[v].kind {
        ValueKind::Global(..) | ValueKind::Function(_) => return true,
        ValueKind::Inst(id) => id,
        _ => return false,
    };
    let Some(body) = &function.body else { return false };
    match &body.insts[id].kind {
        InstKind::Alloca { .. } => true,
        InstKind::Offset { base, offset, indices, ty: Some(_) } => {
            (*offset >= 0 && indices.is_empty()) || is_address(function, *base)
        }
        _ => false,
    }
}
