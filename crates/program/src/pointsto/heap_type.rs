//! The source type of what a call allocates, guessed from where its result goes.
//!
//! Only precision hangs on it: offsets fold by the type (see `layout`), and folding by a wrong type
//! merges more, never less. Structs win over pointers, pointers over `char`, large structs (the
//! derived ones) over small; `void *` says nothing.

use crate::{FuncRef, Program};
use leakproof_ir::{
    Body, Function, InstId, InstKind, Module, SourceType, Terminator, TypeId, ValueId, ValueKind,
};
use rustc_hash::FxHashMap;

/// Hints of the function asked about last.
#[derive(Default)]
pub(super) struct HeapTypes {
    function: Option<FuncRef>,
    hints: FxHashMap<ValueId, TypeId>,
}

impl HeapTypes {
    /// The type of one element of what `call` returns.
    pub fn of(&mut self, program: &Program, f: FuncRef, call: InstId) -> Option<TypeId> {
        if self.function != Some(f) {
            self.function = Some(f);
            self.hints = collect(program.module(f.module), program.function(f));
        }
        let body = program.function(f).body.as_ref()?;
        self.hints.get(&body.insts.get(call)?.result?).copied()
    }
}

struct Hints<'a> {
    module: &'a Module,
    function: &'a Function,
    body: &'a Body,
    found: FxHashMap<ValueId, TypeId>,
}

fn collect(module: &Module, function: &Function) -> FxHashMap<ValueId, TypeId> {
    let Some(body) = &function.body else { return FxHashMap::default() };
    let mut hints = Hints { module, function, body, found: FxHashMap::default() };
    for inst in body.insts.values() {
        hints.look(&inst.kind);
    }
    for block in body.blocks.values() {
        if let Terminator::Return(Some(v)) = block.term
            && let Some(SourceType::Function { ret, .. }) =
                function.signature.and_then(|s| module.types.get(s))
        {
            hints.pointer(v, Some(*ret));
        }
    }
    hints.found
}

impl Hints<'_> {
    fn look(&mut self, kind: &InstKind) {
        match kind {
            InstKind::VarSet { var, value } => {
                self.pointer(*value, self.body.vars.get(*var).and_then(|v| v.ty));
            }
            InstKind::Offset { base, ty: Some(ty), .. } => self.pointee(*base, *ty),
            InstKind::Store { ptr, value } => self.pointer(*value, self.place_type(*ptr)),
            InstKind::Call { callee: leakproof_ir::Callee::Direct(func), args, .. } => {
                let signature = self.module.functions.get(*func).and_then(|f| f.signature);
                let Some(SourceType::Function { params, .. }) =
                    signature.and_then(|s| self.module.types.get(s))
                else {
                    return;
                };
                for (&arg, &ty) in args.iter().zip(params) {
                    self.pointer(arg, Some(ty));
                }
            }
            _ => {}
        }
    }

    /// The type of what is stored at `ptr`.
    fn place_type(&self, ptr: ValueId) -> Option<TypeId> {
        match self.function.values[ptr].kind {
            ValueKind::Global(g, 0) => self.module.globals.get(g)?.ty,
            ValueKind::Inst(inst) => match &self.body.insts[inst].kind {
                InstKind::Alloca { ty, .. } => *ty,
                InstKind::Offset { offset, indices, ty: Some(ty), .. } if indices.is_empty() => {
                    self.module.member_at(*ty, u64::try_from(*offset).ok()?)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// `value` has the type `ty`: if that is a pointer, it points to its pointee.
    fn pointer(&mut self, value: ValueId, ty: Option<TypeId>) {
        if let Some(SourceType::Pointer { to }) = ty.and_then(|t| self.strip(t)) {
            self.pointee(value, *to);
        }
    }

    fn pointee(&mut self, value: ValueId, ty: TypeId) {
        let Some(rank) = self.rank(ty) else { return };
        let better = self.found.get(&value).is_none_or(|&known| self.rank(known) < Some(rank));
        if better {
            self.found.insert(value, ty);
        }
    }

    /// How much a type says: more is better, `None` is nothing.
    fn rank(&self, ty: TypeId) -> Option<u64> {
        match self.strip(ty)? {
            SourceType::Struct { size, .. } => (*size > 0).then(|| size.saturating_add(2)),
            SourceType::Pointer { .. } => Some(1),
            SourceType::Scalar { .. } => Some(0),
            _ => None,
        }
    }

    fn strip(&self, ty: TypeId) -> Option<&SourceType> {
        match self.module.types.get(ty)? {
            SourceType::Const { of } => self.module.types.get(*of),
            other => Some(other),
        }
    }
}
