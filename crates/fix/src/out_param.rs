//! What a function leaves in a variable whose address it is given.
//!
//! In: the program's units, a function and one of its parameters, which is not null. Out: what the
//! variable may hold when the function returns, by its stores alone, without paths: what it held
//! before, null, a new object that nobody else has, or something else. Conditions that ask whether
//! the parameter is null are decided.

use crate::flow::variable;
use crate::results::defined;
use leakproof_ir::{
    BlockId, Body, Callee, FuncId, Function, InstId, InstKind, Module, Pred, Terminator, ValueId,
    ValueKind,
};
use leakproof_models::{Effect, Library, Returns};
use std::collections::BTreeMap;

/// Calls followed from one function.
const DEPTH: u32 = 4;
/// Casts and joins followed from one value.
const STEPS: u32 = 6;

/// What a variable may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    pub old: bool,
    /// Null, or an object that the function made and that only the variable refers to.
    pub fresh: bool,
    pub other: bool,
}

const OLD: Left = Left { old: true, fresh: false, other: false };
const FRESH: Left = Left { old: false, fresh: true, other: false };
const OTHER: Left = Left { old: false, fresh: false, other: true };
const ANYTHING: Left = Left { old: true, fresh: true, other: true };

impl Left {
    fn join(self, with: Left) -> Left {
        Left {
            old: self.old || with.old,
            fresh: self.fresh || with.fresh,
            other: self.other || with.other,
        }
    }

    /// What is there after a call that leaves this, when `self` was there before.
    fn then(self, call: Left) -> Left {
        let kept = if call.old { self } else { Left::default() };
        kept.join(Left { old: false, ..call })
    }
}

/// Asks about functions of one program.
#[derive(Clone, Copy)]
pub struct OutParams<'o> {
    pub modules: &'o [Module],
    pub models: &'o Library,
}

impl OutParams<'_> {
    /// What a call leaves in the variable whose address is one of its arguments.
    pub fn after_call(&self, module: &Module, callee: FuncId, arg: usize) -> Left {
        self.of_callee(module, callee, arg, DEPTH)
    }

    /// Whether every call that is given the address of a local variable leaves null or a new object
    /// there, and nothing else is done with the address.
    pub fn is_only_filled(&self, module: &Module, function: &Function, name: &str) -> bool {
        let Some(body) = &function.body else { return false };
        let Some(variable) = variable(body, name) else { return false };
        let fills = |f: FuncId, n: usize| {
            let left = self.after_call(module, f, n);
            !left.old && !left.other
        };
        let is = |v: &ValueId| variable.is_slot(*v);
        let mut filled = false;
        let plain = body.insts.values().all(|inst| match &inst.kind {
            InstKind::Load { .. } | InstKind::ScopeEnd { .. } | InstKind::Cmp { .. } => true,
            InstKind::Store { value, .. } => !is(value),
            InstKind::Call { callee: Callee::Direct(f), args, .. } if args.iter().any(is) => {
                filled = true;
                let given: Vec<usize> = (0..args.len()).filter(|&n| is(&args[n])).collect();
                matches!(given.as_slice(), [n] if fills(*f, *n))
            }
            kind => !mentions(kind, is),
        });
        plain && filled
    }

    /// Whether a library function makes objects, or returns null.
    pub fn is_allocator(&self, name: &str) -> bool {
        let makes = |r: &Returns| matches!(r, Returns::Object { .. } | Returns::Null);
        self.models.get(name).is_some_and(|m| {
            m.outcomes.iter().all(|o| makes(&o.returns))
                && m.outcomes.iter().any(|o| o.effects.is_empty())
        })
    }

    /// Whether a library function releases what it is given, and does nothing else with it.
    pub fn is_releaser(&self, name: &str) -> bool {
        let frees = |e: &Effect| matches!(e, Effect::Free { .. });
        self.models.get(name).is_some_and(|m| m.outcomes.iter().flat_map(|o| &o.effects).all(frees))
    }

    /// Whether a library function only looks into what it is given, or writes there.
    pub fn is_harmless(&self, name: &str) -> bool {
        let quiet = |e: &Effect| {
            matches!(e, Effect::Write { .. } | Effect::SetNonZero { .. } | Effect::SetData { .. })
        };
        let plain =
            |r: &Returns| matches!(r, Returns::Unknown | Returns::Int(_) | Returns::Same(_));
        self.models.get(name).is_some_and(|m| {
            m.outcomes.iter().all(|o| o.effects.iter().all(quiet) && plain(&o.returns))
        })
    }

    fn of_callee(&self, module: &Module, callee: FuncId, arg: usize, depth: u32) -> Left {
        let defined = defined(self.modules, module, callee);
        let Some((module, function)) = defined.filter(|_| depth > 0) else { return ANYTHING };
        match (&function.body, function.params.get(arg)) {
            (Some(body), Some(param)) => {
                let code = Code { all: self, module, function, body, param: param.value, depth };
                code.at_returns()
            }
            _ => ANYTHING,
        }
    }
}

fn mentions(kind: &InstKind, is: impl Fn(&ValueId) -> bool) -> bool {
    let mut found = false;
    kind.for_each_operand(|v| found |= is(&v));
    found
}

/// One function that is given the address.
struct Code<'c> {
    all: &'c OutParams<'c>,
    module: &'c Module,
    function: &'c Function,
    body: &'c Body,
    param: ValueId,
    depth: u32,
}

impl Code<'_> {
    fn at_returns(&self) -> Left {
        let Some(entry) = self.body.blocks.iter().next().map(|(id, _)| id) else { return ANYTHING };
        let mut before: BTreeMap<BlockId, Left> = [(entry, OLD)].into();
        let mut work = vec![entry];
        let mut at_returns = Left::default();
        while let Some(block) = work.pop() {
            let b = &self.body.blocks[block];
            let after = b.insts.iter().fold(before[&block], |left, i| self.step(left, *i));
            if matches!(b.term, Terminator::Return(_)) {
                at_returns = at_returns.join(after);
            }
            for next in self.successors(block) {
                let known = before.get(&next).copied();
                let joined = known.unwrap_or_default().join(after);
                if known != Some(joined) {
                    before.insert(next, joined);
                    work.push(next);
                }
            }
        }
        at_returns
    }

    fn step(&self, left: Left, inst: InstId) -> Left {
        match &self.body.insts[inst].kind {
            InstKind::Store { ptr, value } if self.is_param(*ptr) => self.stored(*value, STEPS),
            InstKind::Store { value, .. } if self.is_param(*value) => ANYTHING,
            InstKind::MemSet { dst, .. } | InstKind::MemCopy { dst, .. } if self.is_param(*dst) => {
                OTHER
            }
            InstKind::AtomicRmw { ptr, .. } | InstKind::CmpXchg { ptr, .. }
                if self.is_param(*ptr) =>
            {
                ANYTHING
            }
            InstKind::Call { callee, args, .. } => {
                let given = (0..args.len()).filter(|&n| self.is_param(args[n]));
                let one = |n: usize| match callee {
                    Callee::Direct(f) => self.all.of_callee(self.module, *f, n, self.depth - 1),
                    _ => ANYTHING,
                };
                given.map(one).fold(left, Left::then)
            }
            _ => left,
        }
    }

    /// The blocks that may follow when the parameter is not null.
    fn successors(&self, block: BlockId) -> Vec<BlockId> {
        let term = &self.body.blocks[block].term;
        if let Terminator::Branch { cond, then, otherwise } = term
            && let Some(truth) = self.is_not_null_test(*cond)
        {
            return vec![if truth { *then } else { *otherwise }];
        }
        term.successors().to_vec()
    }

    /// The answer to a comparison of the parameter with null.
    fn is_not_null_test(&self, cond: ValueId) -> Option<bool> {
        let InstKind::Cmp { pred, lhs, rhs } = self.kind(cond)? else { return None };
        let null = |v: ValueId| self.function.values[v].kind == ValueKind::Null;
        let of_param = (self.is_param(*lhs) && null(*rhs)) || (self.is_param(*rhs) && null(*lhs));
        match pred {
            Pred::Ne if of_param => Some(true),
            Pred::Eq if of_param => Some(false),
            _ => None,
        }
    }

    fn kind(&self, value: ValueId) -> Option<&InstKind> {
        match self.function.values[value].kind {
            ValueKind::Inst(inst) => Some(&self.body.insts[inst].kind),
            _ => None,
        }
    }

    fn is_param(&self, value: ValueId) -> bool {
        value == self.param
            || matches!(self.kind(value), Some(InstKind::Cast { value, .. }) if *value == self.param)
    }

    /// What a stored value is.
    fn stored(&self, value: ValueId, steps: u32) -> Left {
        if self.function.values[value].kind == ValueKind::Null {
            return FRESH;
        }
        let next = |v: ValueId| if steps == 0 { OTHER } else { self.stored(v, steps - 1) };
        match self.kind(value) {
            Some(InstKind::Cast { value, .. }) => next(*value),
            Some(InstKind::Phi { incoming }) => {
                incoming.iter().map(|(_, v)| next(*v)).fold(Left::default(), Left::join)
            }
            Some(InstKind::Select { then, otherwise, .. }) => next(*then).join(next(*otherwise)),
            Some(InstKind::Call { callee: Callee::Direct(f), .. }) => {
                let name = &self.module.functions[*f].name;
                let new = self.all.is_allocator(name) && self.is_only_stored(value);
                if new { FRESH } else { OTHER }
            }
            _ => OTHER,
        }
    }

    /// Whether a new object is only looked into and given to the variable, and what the variable
    /// holds is only looked into as well.
    fn is_only_stored(&self, made: ValueId) -> bool {
        let loaded = |v: &ValueId| matches!(self.kind(*v), Some(InstKind::Load { ptr, .. }) if self.is_param(*ptr));
        let is = |v: &ValueId| *v == made || loaded(v);
        self.body.insts.values().all(|inst| match &inst.kind {
            InstKind::Store { ptr, value } => !is(value) || self.is_param(*ptr),
            InstKind::Call { callee: Callee::Direct(f), args, .. } => {
                let name = &self.module.functions[*f].name;
                !args.iter().any(is) || self.all.is_harmless(name)
            }
            InstKind::Call { args, .. } => !args.iter().any(is),
            _ => true,
        })
    }
}
