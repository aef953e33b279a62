//! Whether one function returns only fresh memory, given that some of its callees do.

use super::{Stored, Wrapper, is_allocator};
use crate::{FuncRef, Program, Target};
use leakproof_ir::{Body, Callee, Function, InstId, InstKind, Terminator, ValueId, ValueKind};
use leakproof_models::{Effect, Library, Model, Returns, Root};
use rustc_hash::FxHashMap;

/// Returned expressions larger than this are not looked into.
const MAX_LEAVES: usize = 16;

/// A function that is a wrapper if all functions in `needs` are.
pub(super) struct Candidate {
    pub wrapper: Wrapper,
    pub needs: Vec<FuncRef>,
}

struct Finder<'a> {
    program: &'a Program,
    models: &'a Library,
    f: FuncRef,
    function: &'a Function,
    body: &'a Body,
    /// Values that hold the fresh address; the constant added to it, if known.
    fresh: FxHashMap<ValueId, Option<i64>>,
    out: Candidate,
}

impl Candidate {
    pub fn of(program: &Program, models: &Library, f: FuncRef) -> Option<Candidate> {
        let function = program.function(f);
        let body = function.body.as_ref()?;
        let out = Candidate { wrapper: Wrapper::default(), needs: Vec::new() };
        let mut finder =
            Finder { program, models, f, function, body, fresh: FxHashMap::default(), out };
        finder.find_sources()?;
        finder.find_aliases()?;
        finder.check_uses()?;
        Some(finder.out)
    }
}

impl Finder<'_> {
    /// Traces every returned value back to allocating calls and null.
    fn find_sources(&mut self) -> Option<()> {
        let mut work: Vec<(ValueId, i64)> = Vec::new();
        for block in self.body.blocks.values() {
            if let Terminator::Return(v) = block.term {
                work.push((v?, 0));
            }
        }
        let mut visited: Vec<(ValueId, i64)> = Vec::new();
        while let Some((v, delta)) = work.pop() {
            if visited.contains(&(v, delta)) {
                continue;
            }
            visited.push((v, delta));
            if visited.len() > MAX_LEAVES {
                return None;
            }
            match self.function.values[v].kind {
                ValueKind::Null | ValueKind::Undef => {}
                ValueKind::Inst(inst) => self.trace(v, inst, delta, &mut work)?,
                _ => return None,
            }
        }
        (!self.out.wrapper.calls.is_empty()).then_some(())
    }

    fn trace(
        &mut self,
        v: ValueId,
        inst: InstId,
        delta: i64,
        work: &mut Vec<(ValueId, i64)>,
    ) -> Option<()> {
        match &self.body.insts[inst].kind {
            InstKind::Phi { incoming } => work.extend(incoming.iter().map(|i| (i.1, delta))),
            InstKind::Select { then, otherwise, .. } => {
                work.extend([(*then, delta), (*otherwise, delta)]);
            }
            InstKind::Offset { base, offset, indices, .. } if indices.is_empty() => {
                work.push((*base, delta.checked_add(*offset)?));
            }
            InstKind::Call { callee: Callee::Direct(func), args, .. } => {
                let target = self.program.resolve(self.f.module, *func);
                if let Some(same) = self.returned_argument(target).and_then(|n| args.get(n)) {
                    work.push((*same, delta));
                    return Some(());
                }
                self.source(v, inst, target, delta)?;
            }
            _ => return None,
        }
        Some(())
    }

    fn source(&mut self, v: ValueId, inst: InstId, target: Target, delta: i64) -> Option<()> {
        if !is_allocator(self.program, self.models, target) {
            let callee = target.defined()?;
            if callee == self.f {
                return None;
            }
            if !self.out.needs.contains(&callee) {
                self.out.needs.push(callee);
            }
        }
        let wrapper = &mut self.out.wrapper;
        if !wrapper.calls.contains(&inst) {
            wrapper.calls.push(inst);
        }
        if !wrapper.deltas.contains(&delta) {
            wrapper.deltas.push(delta);
        }
        self.fresh.insert(v, Some(0));
        Some(())
    }

    /// The argument that a modelled function returns (`memset`, `strcpy`).
    fn returned_argument(&self, target: Target) -> Option<usize> {
        let model = self.model(target)?;
        match model.outcomes.as_slice() {
            [only] => match only.returns {
                Returns::Arg(n) => Some(n),
                _ => None,
            },
            _ => None,
        }
    }

    fn model(&self, target: Target) -> Option<&Model> {
        let Target::External(decl) = target else { return None };
        self.models.get(&self.program.function(decl).name)
    }

    /// Closes `fresh` over copies, merges and address arithmetic.
    fn find_aliases(&mut self) -> Option<()> {
        loop {
            let before = self.fresh.len();
            for inst in self.body.insts.values() {
                let Some(result) = inst.result else { continue };
                if self.fresh.contains_key(&result) {
                    continue;
                }
                if let Some(delta) = self.alias(&inst.kind) {
                    self.fresh.insert(result, delta);
                }
            }
            if self.fresh.len() == before {
                return Some(());
            }
            if self.fresh.len() > 256 {
                return None;
            }
        }
    }

    /// `Some`: the result is the fresh address plus this.
    fn alias(&self, kind: &InstKind) -> Option<Option<i64>> {
        match kind {
            InstKind::Phi { incoming } => self.joined(incoming.iter().map(|i| i.1)),
            InstKind::Select { then, otherwise, .. } => {
                self.joined([*then, *otherwise].into_iter())
            }
            InstKind::Offset { base, offset, indices, .. } => {
                let delta = *self.fresh.get(base)?;
                let delta = if indices.is_empty() { delta } else { None };
                Some(delta.and_then(|d| d.checked_add(*offset)))
            }
            InstKind::Call { callee: Callee::Direct(func), args, .. } => {
                let target = self.program.resolve(self.f.module, *func);
                let n = self.returned_argument(target)?;
                self.fresh.get(args.get(n)?).copied()
            }
            _ => None,
        }
    }

    fn joined(&self, values: impl Iterator<Item = ValueId>) -> Option<Option<i64>> {
        let mut deltas = values.filter_map(|v| self.fresh.get(&v).copied());
        let first = deltas.next()?;
        Some(if deltas.all(|d| d == first) { first } else { None })
    }

    /// Every use of the fresh address is harmless, or recorded.
    fn check_uses(&mut self) -> Option<()> {
        let body = self.body;
        for inst in body.insts.values() {
            let mut used = false;
            inst.kind.for_each_operand(|v| used |= self.fresh.contains_key(&v));
            if used {
                self.check_use(&inst.kind)?;
            }
        }
        Some(())
    }

    fn check_use(&mut self, kind: &InstKind) -> Option<()> {
        match kind {
            InstKind::Phi { .. }
            | InstKind::Select { .. }
            | InstKind::Offset { .. }
            | InstKind::Cmp { .. }
            | InstKind::Load { .. }
            | InstKind::MemSet { .. }
            | InstKind::VarSet { .. } => Some(()),
            InstKind::Store { ptr, value } => self.check_store(*ptr, *value),
            InstKind::MemCopy { dst, src, .. } => {
                if let Some(&delta) = self.fresh.get(dst)
                    && !self.fresh.contains_key(src)
                {
                    self.out.wrapper.copies.push((delta, *src));
                }
                Some(())
            }
            InstKind::Call { callee: Callee::Direct(func), args, .. } => {
                let target = self.program.resolve(self.f.module, *func);
                self.check_call(target, args)
            }
            _ => None,
        }
    }

    fn check_store(&mut self, ptr: ValueId, value: ValueId) -> Option<()> {
        let into = *self.fresh.get(&ptr)?;
        let stored = match self.fresh.get(&value) {
            None => Stored::Value(value),
            Some(delta) => Stored::Itself((*delta)?),
        };
        if self.function.ty(value).size() >= 8 {
            self.out.wrapper.stores.push((into, stored));
        }
        Some(())
    }

    /// Only modelled functions may get the address: of others it is not known what they keep.
    fn check_call(&mut self, target: Target, args: &[ValueId]) -> Option<()> {
        let model = self.model(target)?;
        let is_fresh = |n: usize| args.get(n).is_some_and(|a| self.fresh.contains_key(a));
        let mut copies = Vec::new();
        for outcome in &model.outcomes {
            for effect in &outcome.effects {
                match effect {
                    Effect::Take { place } | Effect::Alloc { place, .. } => match place.root {
                        Root::Arg(n) if !is_fresh(n) => {}
                        Root::Return => {}
                        _ => return None,
                    },
                    Effect::SetInside { arg, .. } if is_fresh(*arg) => return None,
                    Effect::Call { .. } => return None,
                    Effect::MoveContents { from } => match (&outcome.returns, from.root) {
                        (Returns::Arg(d) | Returns::Inside(d), Root::Arg(s)) if is_fresh(*d) => {
                            copies.extend(args.get(s).map(|&src| (self.fresh[&args[*d]], src)));
                        }
                        _ => {}
                    },
                    _ => {}
                }
            }
            let aliased = match outcome.returns {
                Returns::Inside(n) | Returns::InsideOrNull(n) => is_fresh(n),
                Returns::Arg(n) => is_fresh(n) && model.outcomes.len() > 1,
                Returns::Old(ref place) => matches!(place.root, Root::Arg(n) if is_fresh(n)),
                _ => false,
            };
            if aliased {
                return None;
            }
        }
        self.out.wrapper.copies.extend(copies);
        Some(())
    }
}
