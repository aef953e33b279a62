//! Whether a releasing function may be given null.
//!
//! In: the program's units and the models. Out: yes only when it is certain. The function is walked
//! with its argument (or what that holds) set to null: constants are propagated over the branches
//! that they decide. An access through null, a call that never returns or a call that nobody knows
//! on a way that is left makes it a no; then the release needs a pointer that is not null.

use leakproof_detect::Given;
use leakproof_ir::{
    BinOp, BlockId, Body, Callee, FuncId, Function, Inst, InstKind, Linkage, Module, Pred,
    Terminator, Ty, ValueId, ValueKind,
};
use leakproof_models::{Effect, Library, Model};
use std::collections::{BTreeMap, BTreeSet};

/// Calls followed from one function.
const DEPTH: u32 = 8;
/// Addresses below this come from null.
const NEAR_NULL: u64 = 4096;

/// Asks about functions of one program.
pub struct Question<'q> {
    pub modules: &'q [Module],
    pub models: &'q Library,
}

/// What a value is on all ways that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Is(u64),
    Varies,
}

impl Question<'_> {
    /// Whether a function, given the object in this way, accepts that there is none.
    pub fn accepts(&self, name: &str, arg: usize, given: Given) -> bool {
        if name.starts_with("operator delete") {
            return true;
        }
        let defined: Vec<(&Module, &Function)> = self.definitions(name).collect();
        if defined.is_empty() {
            return self.models.get(name).is_some_and(|model| self.library_accepts(model));
        }
        defined.iter().all(|(m, f)| self.function_accepts(m, f, (arg, given), DEPTH))
    }

    fn definitions<'s>(
        &'s self,
        name: &'s str,
    ) -> impl Iterator<Item = (&'s Module, &'s Function)> {
        self.modules.iter().flat_map(move |m| {
            let named = move |f: &&Function| f.source_name == name && f.body.is_some();
            m.functions.values().filter(named).map(move |f| (m, f))
        })
    }

    /// Plain memory may be null everywhere, and what other libraries release of memory, too, unless the model says that
    /// they go through it. A stream or a folder must be there.
    fn library_accepts(&self, model: &Model) -> bool {
        let mut effects = model.outcomes.iter().flat_map(|o| &o.effects);
        effects.all(|e| match e {
            Effect::Free { family, .. } => {
                let plain = matches!(family.as_str(), "memory" | "new" | "new[]");
                plain || (model.is_third_party() && self.models.is_memory(family))
            }
            Effect::Needs(_) => false,
            _ => true,
        })
    }

    fn function_accepts(
        &self,
        module: &Module,
        function: &Function,
        (arg, given): (usize, Given),
        depth: u32,
    ) -> bool {
        let Some(body) = function.body.as_ref().filter(|_| depth > 0) else { return false };
        let Some(param) = function.params.get(arg).map(|p| p.value) else { return false };
        let mut walk =
            Walk { function, body, param, given, known: BTreeMap::new(), reached: BTreeSet::new() };
        walk.run();
        let insts = walk.reached.iter().flat_map(|b| &body.blocks[*b].insts);
        let safe = insts
            .map(|i| &body.insts[*i])
            .all(|inst| walk.is_harmless(inst) && self.call_accepts(module, &walk, inst, depth));
        let ends = |b: &BlockId| matches!(body.blocks[*b].term, Terminator::Unreachable);
        safe && !walk.reached.iter().any(ends)
    }

    /// Whether a call takes the nulls that it is given.
    fn call_accepts(&self, module: &Module, walk: &Walk<'_>, inst: &Inst, depth: u32) -> bool {
        let InstKind::Call { callee, args, .. } = &inst.kind else { return true };
        let nulls = (0..args.len()).filter(|&n| walk.is_derived_null(args[n]));
        nulls.into_iter().all(|n| match callee {
            Callee::Direct(f) => self.callee_accepts(module, *f, n, depth),
            Callee::Indirect(_) | Callee::Asm => false,
        })
    }

    fn callee_accepts(&self, module: &Module, callee: FuncId, arg: usize, depth: u32) -> bool {
        let function = &module.functions[callee];
        let here = (function.linkage == Linkage::Internal).then_some((module, function));
        let defined: Vec<(&Module, &Function)> = match here {
            Some(own) => vec![own],
            None => self.definitions(&function.source_name).collect(),
        };
        if defined.is_empty() {
            let model = self.models.get(&function.name);
            return model.is_some_and(|m| releases(m) && self.library_accepts(m));
        }
        let asked = (arg, Given::Pointer);
        defined.iter().all(|(m, f)| self.function_accepts(m, f, asked, depth - 1))
    }
}

fn releases(model: &Model) -> bool {
    let mut effects = model.outcomes.iter().flat_map(|o| &o.effects);
    effects.any(|e| matches!(e, Effect::Free { .. }))
}

/// One function with its argument set.
struct Walk<'w> {
    function: &'w Function,
    body: &'w Body,
    param: ValueId,
    given: Given,
    known: BTreeMap<ValueId, Known>,
    reached: BTreeSet<BlockId>,
}

impl Walk<'_> {
    /// Propagates until nothing changes: values only go from unset over one number to varying, blocks
    /// only become reached.
    fn run(&mut self) {
        self.reached.extend(self.body.blocks.iter().next().map(|(entry, _)| entry));
        loop {
            let before = (self.known.clone(), self.reached.len());
            for block in self.reached.clone() {
                for &inst in &self.body.blocks[block].insts {
                    self.step(&self.body.insts[inst]);
                }
                self.leave(&self.body.blocks[block].term);
            }
            if before == (self.known.clone(), self.reached.len()) {
                return;
            }
        }
    }

    fn step(&mut self, inst: &Inst) {
        let Some(result) = inst.result else { return };
        let new = match &inst.kind {
            InstKind::Load { ptr, .. } if self.function.values[result].ty == Ty::Ptr => {
                Some(self.loaded(*ptr))
            }
            InstKind::Phi { incoming } => {
                let from = incoming.iter().filter(|(b, _)| self.reached.contains(b));
                let values: Vec<Known> = from.filter_map(|(_, v)| self.value(*v)).collect();
                values.into_iter().reduce(join)
            }
            _ => self.computed(&inst.kind),
        };
        let Some(new) = new else { return };
        let old = self.known.get(&result).copied();
        self.known.insert(result, old.map_or(new, |old| join(old, new)));
    }

    /// The value that an instruction has; none while its operands have none.
    fn computed(&self, kind: &InstKind) -> Option<Known> {
        Some(match kind {
            InstKind::Offset { base, offset, indices, .. } => match self.value(*base)? {
                Known::Is(at) if at < NEAR_NULL && indices.is_empty() => {
                    Known::Is(at.wrapping_add_signed(*offset))
                }
                Known::Is(at) if at < NEAR_NULL => Known::Is(at.max(1)),
                _ => Known::Varies,
            },
            InstKind::Cast { value, .. } => self.value(*value)?,
            InstKind::Cmp { pred, lhs, rhs } => {
                match (pred, self.value(*lhs)?, self.value(*rhs)?) {
                    (Pred::Eq, Known::Is(a), Known::Is(b)) => Known::Is(u64::from(a == b)),
                    (Pred::Ne, Known::Is(a), Known::Is(b)) => Known::Is(u64::from(a != b)),
                    _ => Known::Varies,
                }
            }
            InstKind::Bin { op, lhs, rhs } => match (op, self.value(*lhs)?, self.value(*rhs)?) {
                (BinOp::And, Known::Is(0), _) | (BinOp::And, _, Known::Is(0)) => Known::Is(0),
                (BinOp::Xor, Known::Is(a), Known::Is(b)) => Known::Is(a ^ b),
                (BinOp::Or, Known::Is(a), Known::Is(b)) => Known::Is(a | b),
                _ => Known::Varies,
            },
            InstKind::Select { cond, then, otherwise } => match self.value(*cond)? {
                Known::Is(0) => self.value(*otherwise)?,
                Known::Is(_) => self.value(*then)?,
                Known::Varies => join(self.value(*then)?, self.value(*otherwise)?),
            },
            _ => Known::Varies,
        })
    }

    /// What is read from memory: null where the released object would be held.
    fn loaded(&self, ptr: ValueId) -> Known {
        let held = match self.given {
            Given::Pointer => false,
            Given::Address => self.root(ptr) == Some((self.param, true)),
            Given::Owner => self.root(ptr).is_some_and(|(root, _)| root == self.param),
        };
        if held { Known::Is(0) } else { Known::Varies }
    }

    /// The value that an address is computed from, and whether it is that value itself.
    fn root(&self, ptr: ValueId) -> Option<(ValueId, bool)> {
        let mut at = ptr;
        loop {
            if at == self.param {
                return Some((at, at == ptr));
            }
            let ValueKind::Inst(inst) = self.function.values[at].kind else { return None };
            match &self.body.insts[inst].kind {
                InstKind::Offset { base, .. } => at = *base,
                _ => return None,
            }
        }
    }

    fn leave(&mut self, term: &Terminator) {
        if let Terminator::Branch { cond, then, otherwise } = term {
            match self.value(*cond) {
                None => {}
                Some(Known::Is(0)) => drop(self.reached.insert(*otherwise)),
                Some(Known::Is(_)) => drop(self.reached.insert(*then)),
                Some(Known::Varies) => self.reached.extend([*then, *otherwise]),
            }
        } else {
            self.reached.extend(term.successors());
        }
    }

    /// None: nothing is known yet.
    fn value(&self, v: ValueId) -> Option<Known> {
        if v == self.param && self.given == Given::Pointer {
            return Some(Known::Is(0));
        }
        match self.function.values[v].kind {
            ValueKind::Int(n) => Some(Known::Is(n)),
            ValueKind::Null => Some(Known::Is(0)),
            ValueKind::Inst(_) => self.known.get(&v).copied(),
            _ => Some(Known::Varies),
        }
    }

    /// Null because of what the function is given, not because the source says so.
    fn is_derived_null(&self, v: ValueId) -> bool {
        let value = &self.function.values[v];
        let derived = matches!(value.kind, ValueKind::Param(_) | ValueKind::Inst(_));
        derived && value.ty == Ty::Ptr && self.is_near_null(v)
    }

    fn is_near_null(&self, v: ValueId) -> bool {
        matches!(self.value(v), Some(Known::Is(at)) if at < NEAR_NULL)
    }

    /// No access through null, and the program goes on.
    fn is_harmless(&self, inst: &Inst) -> bool {
        match &inst.kind {
            InstKind::Load { ptr, .. }
            | InstKind::Store { ptr, .. }
            | InstKind::AtomicRmw { ptr, .. }
            | InstKind::CmpXchg { ptr, .. } => !self.is_near_null(*ptr),
            InstKind::MemSet { dst, .. } => !self.is_near_null(*dst),
            InstKind::MemCopy { dst, src, .. } => {
                !self.is_near_null(*dst) && !self.is_near_null(*src)
            }
            InstKind::Call { noreturn, .. } => !noreturn,
            _ => true,
        }
    }
}

fn join(a: Known, b: Known) -> Known {
    if a == b { a } else { Known::Varies }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: &str = r#"
unit "n.c"
func f0 "free" (v0: ptr) -> void
func f1 "plain" (v0: ptr) -> void {
bb0:
  v1 = load v0
  call f0(v1)
  call f0(v0)
  ret
}
func f2 "asks" (v0: ptr) -> void {
bb0:
  v1 = cmp eq v0, null
  br v1, bb1, bb2
bb1:
  ret
bb2:
  call f1(v0)
  ret
}
func f3 "through" (v0: ptr) -> void {
bb0:
  call f1(v0)
  ret
}
func f4 "by_address" (v0: ptr) -> void {
bb0:
  v1 = load v0
  call f0(v1)
  store null -> v0
  ret
}
func f5 "by_address_plain" (v0: ptr) -> void {
bb0:
  v1 = load v0
  call f1(v1)
  ret
}
func f6 "insists" (v0: ptr) -> void {
bb0:
  v1 = cmp ne v0, null
  br v1, bb1, bb2
bb1:
  call f0(v0)
  ret
bb2:
  unreachable
}
func f7 "unknown" (v0: ptr) -> void
func f8 "asks_others" (v0: ptr) -> void {
bb0:
  call f7(v0)
  call f0(v0)
  ret
}
"#;

    #[test]
    fn only_what_is_certain_counts() {
        let modules = [leakproof_ir::parse_module(UNIT).unwrap()];
        let models = Library::shipped();
        let question = Question { modules: &modules, models };
        let pointer = |name: &str| question.accepts(name, 0, Given::Pointer);
        assert!(pointer("free") && pointer("asks"));
        assert!(!pointer("plain") && !pointer("through") && !pointer("fclose"));
        assert!(!pointer("insists"), "an assertion would fail");
        assert!(!pointer("asks_others"), "nobody knows what that does");
        assert!(pointer("gnutls_x509_crt_deinit"));
        assert!(!pointer("gnutls_certificate_free_credentials"), "it goes through them");
        assert!(question.accepts("by_address", 0, Given::Address));
        assert!(!question.accepts("by_address_plain", 0, Given::Address));
    }
}
