//! Operand and result types of each instruction and terminator.

use super::{Errors, Invariant, place};
use crate::{Body, Callee, CastOp, Function, Inst, InstKind, Terminator, Ty, ValueId, ValueKind};

pub(super) fn check(function: &Function, body: &Body, errors: &mut Errors) {
    let checker = Checker { function, body };
    for (id, inst) in body.insts.iter() {
        if let Err(detail) = checker.inst(inst).and_then(|()| checker.result(inst)) {
            errors.add(Invariant::Operands, place(body, id), detail);
        }
    }
    for (id, block) in body.blocks.iter() {
        if let Err(detail) = checker.terminator(&block.term) {
            errors.add(Invariant::Operands, id, detail);
        }
    }
}

struct Checker<'a> {
    function: &'a Function,
    body: &'a Body,
}

type Check = Result<(), String>;

fn ensure(holds: bool, detail: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(detail()) }
}

impl Checker<'_> {
    fn ty(&self, value: ValueId) -> Ty {
        self.function.values[value].ty
    }

    fn want(&self, value: ValueId, ty: Ty) -> Check {
        let is = self.ty(value);
        ensure(is == ty, || format!("{value} is {is}, not {ty}"))
    }

    fn ptr(&self, value: ValueId) -> Check {
        self.want(value, Ty::Ptr)
    }

    fn int(&self, value: ValueId) -> Check {
        let is = self.ty(value);
        ensure(matches!(is, Ty::Int(_)), || format!("{value} is {is}, not an integer"))
    }

    fn same(&self, a: ValueId, b: ValueId) -> Check {
        let (a_ty, b_ty) = (self.ty(a), self.ty(b));
        ensure(a_ty == b_ty, || format!("{a} is {a_ty} but {b} is {b_ty}"))
    }

    fn yields(&self, inst: &Inst, ty: Ty) -> Check {
        inst.result.map_or(Ok(()), |result| self.want(result, ty))
    }

    fn inst(&self, inst: &Inst) -> Check {
        match &inst.kind {
            InstKind::Alloca { count, .. } => {
                count.map_or(Ok(()), |count| self.int(count))?;
                self.yields(inst, Ty::Ptr)
            }
            InstKind::Load { ptr, .. } | InstKind::Store { ptr, .. } => self.ptr(*ptr),
            InstKind::Offset { base, indices, .. } => {
                self.ptr(*base)?;
                indices.iter().try_for_each(|i| self.int(i.value))?;
                self.yields(inst, Ty::Ptr)
            }
            InstKind::Bin { lhs, rhs, .. } => {
                self.int(*lhs)?;
                self.same(*lhs, *rhs)?;
                self.yields(inst, self.ty(*lhs))
            }
            InstKind::Cmp { lhs, rhs, .. } => {
                let comparable = matches!(self.ty(*lhs), Ty::Int(_) | Ty::Ptr);
                ensure(comparable, || format!("{lhs} is {}", self.ty(*lhs)))?;
                self.same(*lhs, *rhs)?;
                self.yields(inst, Ty::Int(1))
            }
            InstKind::Cast { op, value } => self.cast(inst, *op, *value),
            InstKind::Select { cond, then, otherwise } => {
                self.want(*cond, Ty::Int(1))?;
                self.same(*then, *otherwise)?;
                self.yields(inst, self.ty(*then))
            }
            InstKind::Phi { incoming } => {
                let Some(result) = inst.result else { return Ok(()) };
                incoming.iter().try_for_each(|(_, v)| self.same(*v, result))
            }
            // Unprototyped calls may disagree with the definition: only the pointer is checked.
            InstKind::Call { callee: Callee::Indirect(target), .. } => self.ptr(*target),
            InstKind::Call { .. } | InstKind::Opaque { .. } => Ok(()),
            _ => self.rare_inst(inst),
        }
    }

    fn rare_inst(&self, inst: &Inst) -> Check {
        match &inst.kind {
            InstKind::MemCopy { dst, src, len } => {
                self.ptr(*dst)?;
                self.ptr(*src)?;
                self.int(*len)
            }
            InstKind::MemSet { dst, byte, len } => {
                self.ptr(*dst)?;
                self.want(*byte, Ty::Int(8))?;
                self.int(*len)
            }
            InstKind::Extract { tuple, index } => self.element(*tuple, *index),
            InstKind::Insert { tuple, index, .. } => {
                self.element(*tuple, *index)?;
                self.yields(inst, self.ty(*tuple))
            }
            InstKind::AtomicRmw { ptr, value, .. } => {
                self.ptr(*ptr)?;
                self.yields(inst, self.ty(*value))
            }
            InstKind::CmpXchg { ptr, expected, new } => {
                self.ptr(*ptr)?;
                self.same(*expected, *new)?;
                self.yields(inst, Ty::Tuple(2))
            }
            InstKind::VaStart { list } => self.ptr(*list),
            InstKind::VaCopy { dst, src } => self.ptr(*dst).and_then(|()| self.ptr(*src)),
            InstKind::ScopeEnd { slot } => self.slot(*slot),
            _ => Ok(()),
        }
    }

    fn element(&self, tuple: ValueId, index: u32) -> Check {
        let ty = self.ty(tuple);
        let inside = matches!(ty, Ty::Tuple(count) if index < u32::from(count));
        ensure(inside, || format!("{tuple} is {ty} and has no element {index}"))
    }

    fn slot(&self, slot: ValueId) -> Check {
        let alloca = match self.function.values[slot].kind {
            ValueKind::Inst(i) => matches!(self.body.insts[i].kind, InstKind::Alloca { .. }),
            _ => false,
        };
        ensure(alloca, || format!("{slot} is not a stack slot"))
    }

    fn cast(&self, inst: &Inst, op: CastOp, value: ValueId) -> Check {
        let Some(result) = inst.result else { return Ok(()) };
        let (from, to) = (self.ty(value), self.ty(result));
        let fits = match (op, from, to) {
            (CastOp::Trunc, Ty::Int(from), Ty::Int(to)) => from > to,
            (CastOp::ZExt | CastOp::SExt, Ty::Int(from), Ty::Int(to)) => from < to,
            (CastOp::PtrToInt, Ty::Ptr, Ty::Int(_)) => true,
            (CastOp::IntToPtr, Ty::Int(_), Ty::Ptr) => true,
            _ => false,
        };
        ensure(fits, || format!("{op:?} cannot turn {from} into {to}"))
    }

    /// Has a result or has none, as its kind demands.
    fn result(&self, inst: &Inst) -> Check {
        let has = inst.result.is_some();
        let wants = match &inst.kind {
            InstKind::Call { .. } | InstKind::Opaque { .. } => return Ok(()),
            InstKind::Store { .. }
            | InstKind::MemCopy { .. }
            | InstKind::MemSet { .. }
            | InstKind::VaStart { .. }
            | InstKind::VaCopy { .. }
            | InstKind::VarSet { .. }
            | InstKind::ScopeEnd { .. } => false,
            _ => true,
        };
        ensure(has == wants, || {
            if wants { "has no result" } else { "cannot have a result" }.to_owned()
        })
    }

    fn terminator(&self, term: &Terminator) -> Check {
        match term {
            Terminator::Branch { cond, .. } => self.want(*cond, Ty::Int(1)),
            Terminator::Switch { value, cases, .. } => {
                self.int(*value)?;
                let mut keys: Vec<u64> = cases.iter().map(|(key, _)| *key).collect();
                keys.sort_unstable();
                keys.dedup();
                ensure(keys.len() == cases.len(), || "two cases have the same value".to_owned())
            }
            Terminator::Return(Some(value)) => self.want(*value, self.function.ret),
            Terminator::Return(None) => ensure(self.function.ret == Ty::Void, || {
                format!("returns nothing, not {}", self.function.ret)
            }),
            _ => Ok(()),
        }
    }
}
