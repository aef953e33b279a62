//! Which functions a call could reach by the shape of its arguments.
//!
//! Two uses: dropping points-to targets that cannot take the call (too many parameters), and the
//! capped guess for a call whose pointer is unknown. Machine types decide, source types never: C
//! programs cast function pointers.

use crate::{FuncRef, Program, Target};
use leakproof_ir::{FuncId, Function, InitValue, InstId, Ty, ValueId, ValueKind};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// How many targets a guess by signature may have.
const MAX_GUESSES: usize = 16;

/// How a value travels: integers and pointers share registers, floats do not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    General,
    Other,
}

fn class(ty: Ty) -> Class {
    match ty {
        Ty::Int(_) | Ty::Ptr => Class::General,
        Ty::Void | Ty::Opaque(_) | Ty::Tuple(_) => Class::Other,
    }
}

/// The shape of one call.
pub(super) struct Call {
    args: SmallVec<[Ty; 4]>,
    result: Ty,
}

impl Call {
    pub fn new(program: &Program, f: FuncRef, inst: InstId, args: &[ValueId]) -> Call {
        let function = program.function(f);
        let result = function.body.as_ref().and_then(|b| b.insts[inst].result);
        Call {
            args: args.iter().map(|&a| function.ty(a)).collect(),
            result: result.map_or(Ty::Void, |r| function.ty(r)),
        }
    }

    /// Targets that can take this call; all of them when none can (K&R code).
    pub fn compatible(&self, program: &Program, targets: &[Target]) -> SmallVec<[Target; 1]> {
        let mut list: SmallVec<[Target; 1]> =
            targets.iter().copied().filter(|t| self.accepts(program.function(t.func()))).collect();
        if list.is_empty() {
            list = targets.into();
        }
        list.sort_unstable();
        list.dedup();
        list
    }

    /// The function finds all its parameters among the arguments, in registers of the right kind.
    fn accepts(&self, function: &Function) -> bool {
        function.params.len() <= self.args.len()
            && function
                .params
                .iter()
                .zip(&self.args)
                .all(|(p, &a)| class(function.ty(p.value)) == class(a))
    }

    /// Stricter: same number of parameters, same machine types.
    fn matches(&self, function: &Function) -> bool {
        let same_params = function.params.len() == self.args.len()
            && function.params.iter().zip(&self.args).all(|(p, &a)| function.ty(p.value) == a);
        same_params
            && !function.variadic
            && (self.result == Ty::Void || self.result == function.ret)
    }
}

/// Functions whose address is taken somewhere, in program order.
pub(super) struct Candidates {
    defined: Vec<FuncRef>,
}

impl Candidates {
    pub fn collect(program: &Program) -> Candidates {
        let mut taken = FxHashSet::default();
        let mut take = |module: u32, func: FuncId| {
            taken.extend(program.resolve_all(module, func).iter().filter_map(|t| t.defined()));
        };
        for (m, module) in program.modules().iter().enumerate() {
            for entry in module.globals.values().flat_map(|g| g.init.iter().flatten()) {
                if let InitValue::Function(func) = entry.value {
                    take(m as u32, func);
                }
            }
        }
        for &f in program.definition_list() {
            for_each_taken(program.function(f), |func| take(f.module, func));
        }
        let mut defined: Vec<FuncRef> = taken.into_iter().collect();
        defined.sort_unstable();
        Candidates { defined }
    }

    /// Whether the address of a function is taken somewhere.
    pub fn contains(&self, f: FuncRef) -> bool {
        self.defined.binary_search(&f).is_ok()
    }

    /// Address-taken functions with exactly this signature; the cap keeps a guess from connecting
    /// everything with everything.
    pub fn matching(&self, program: &Program, call: &Call) -> SmallVec<[Target; 1]> {
        self.defined
            .iter()
            .filter(|&&f| call.matches(program.function(f)))
            .take(MAX_GUESSES)
            .map(|&f| Target::Defined(f))
            .collect()
    }
}

/// Function constants among the values of a function (direct callees are not values).
fn for_each_taken(function: &Function, mut f: impl FnMut(FuncId)) {
    for value in function.values.values() {
        if let ValueKind::Function(func) = value.kind {
            f(func);
        }
    }
}
