//! Addresses in integers.
//!
//! A 64-bit integer is followed only where it can become a pointer again: stored, passed, returned
//! or cast back. Then it holds what its source holds: a cast pointer, a load, a parameter, a
//! result. Arithmetic on a cast pointer stays in its object at an unknown offset; the difference of
//! two pointers is a number; anything stronger (multiplication, shifts) on the way to a pointer is
//! `UNKNOWN`, and its source escapes.

use super::Generator;
use crate::FuncRef;
use crate::pointsto::object;
use crate::pointsto::solver::{Step, Val};
use leakproof_ir::{BinOp, CastOp, Function, InstId, InstKind, ValueId, ValueKind};

/// How far back an expression is followed.
const MAX_DEPTH: u32 = 4;

impl Generator<'_> {
    /// What stands for the integer result of `inst`; its constraints are written later.
    pub fn integer(&mut self, f: FuncRef, v: ValueId, inst: InstId) -> Val {
        let program = self.program;
        let function = program.function(f);
        let Some(body) = &function.body else { return Val::Nothing };
        let follow = match &body.insts[inst].kind {
            InstKind::Bin { .. } => from_pointer(function, v, MAX_DEPTH),
            InstKind::Cast { op, value } => match op {
                CastOp::PtrToInt => true,
                _ => super::holds_address(function.ty(*value)),
            },
            InstKind::Load { .. }
            | InstKind::Phi { .. }
            | InstKind::Select { .. }
            | InstKind::Call { .. }
            | InstKind::Extract { .. }
            | InstKind::AtomicRmw { .. } => true,
            _ => false,
        };
        if !follow {
            return Val::Nothing;
        }
        let node = self.result_node(f, v);
        if !matches!(body.insts[inst].kind, InstKind::Call { .. }) {
            self.pending.push((f, v));
        }
        Val::Var(node)
    }

    /// Writes the constraints of integers that were asked for.
    pub fn finish_integers(&mut self) {
        while let Some((f, v)) = self.pending.pop() {
            let program = self.program;
            let function = program.function(f);
            let ValueKind::Inst(inst) = function.values[v].kind else { continue };
            let Some(body) = &function.body else { continue };
            let node = self.result_node(f, v);
            match &body.insts[inst].kind {
                InstKind::Bin { .. } => self.arithmetic(f, v, false, MAX_DEPTH, node),
                kind => {
                    let val = self.computed(f, kind, v);
                    if val != Val::Var(node) {
                        self.solver.flow(val, node);
                    }
                }
            }
        }
    }

    /// What a cast of `v` to a pointer yields.
    pub fn pointer_from(&mut self, f: FuncRef, v: ValueId) -> Val {
        let program = self.program;
        let function = program.function(f);
        if !matches!(definition(function, v), Some(InstKind::Bin { .. })) {
            return self.operand(f, v);
        }
        let node = self.solver.fresh();
        self.arithmetic(f, v, true, MAX_DEPTH, node);
        Val::Var(node)
    }

    /// Flows the addresses that the expression `v` is computed from into `node`. `all`: also from
    /// leaves that are not casts of pointers.
    fn arithmetic(&mut self, f: FuncRef, v: ValueId, all: bool, depth: u32, node: u32) {
        let program = self.program;
        let function = program.function(f);
        match definition(function, v) {
            Some(InstKind::Bin { op, lhs, rhs }) if depth > 0 => match op {
                BinOp::Add | BinOp::And | BinOp::Or | BinOp::Xor => {
                    self.arithmetic(f, *lhs, all, depth - 1, node);
                    self.arithmetic(f, *rhs, all, depth - 1, node);
                }
                BinOp::Sub if from_pointer(function, *rhs, depth) => {}
                BinOp::Sub => self.arithmetic(f, *lhs, all, depth - 1, node),
                _ if all => self.scrambled(f, &[*lhs, *rhs], node),
                _ => {}
            },
            Some(InstKind::Bin { lhs, rhs, .. }) if all => self.scrambled(f, &[*lhs, *rhs], node),
            _ if all || from_pointer(function, v, depth) => {
                let val = self.operand(f, v);
                let val = self.stepped(val, Step::ANYWHERE);
                self.solver.flow(val, node);
            }
            _ => {}
        }
    }

    fn scrambled(&mut self, f: FuncRef, operands: &[ValueId], node: u32) {
        for &v in operands {
            let val = self.operand(f, v);
            self.escapes(val);
        }
        self.solver.insert(node, object::UNKNOWN);
    }
}

fn definition(function: &Function, v: ValueId) -> Option<&InstKind> {
    let ValueKind::Inst(inst) = function.values[v].kind else { return None };
    Some(&function.body.as_ref()?.insts[inst].kind)
}

/// The integer is computed from a cast pointer and still an address.
fn from_pointer(function: &Function, v: ValueId, depth: u32) -> bool {
    let inner = |v: ValueId| depth > 0 && from_pointer(function, v, depth - 1);
    match definition(function, v) {
        Some(InstKind::Cast { op: CastOp::PtrToInt, .. }) => true,
        Some(InstKind::Bin { op, lhs, rhs }) => match op {
            BinOp::Add | BinOp::And | BinOp::Or | BinOp::Xor => inner(*lhs) || inner(*rhs),
            BinOp::Sub => inner(*lhs) && !inner(*rhs),
            _ => false,
        },
        Some(InstKind::Select { then, otherwise, .. }) => inner(*then) || inner(*otherwise),
        Some(InstKind::Phi { incoming }) => {
            incoming.len() <= 4 && incoming.iter().any(|&(_, v)| inner(v))
        }
        _ => false,
    }
}
