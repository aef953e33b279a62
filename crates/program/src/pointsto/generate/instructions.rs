//! One rule per instruction.

use super::{Generator, holds_address, is_integer};
use crate::FuncRef;
use crate::pointsto::ObjectKind;
use crate::pointsto::object::{self, Shape};
use crate::pointsto::solver::{Step, Val};
use crate::scc;
use leakproof_ir::{
    Body, CastOp, Function, Index, Inst, InstId, InstKind, RmwOp, Terminator, Ty, ValueId,
    ValueKind,
};
use rustc_hash::FxHashSet;

impl Generator<'_> {
    /// All constraints of one function.
    pub fn function(&mut self, f: FuncRef) {
        self.loads.clear();
        self.steps.clear();
        let program = self.program;
        let function = program.function(f);
        let Some(body) = &function.body else { return };
        let walking = walking_steps(function, body);
        for (inst, data) in body.insts.iter() {
            self.instruction(f, function, inst, data, &walking);
        }
        for block in body.blocks.values() {
            if let Terminator::Return(Some(v)) = block.term
                && holds_address(function.ty(v))
            {
                let val = self.operand(f, v);
                let node = self.returned(f);
                self.solver.flow(val, node);
            }
        }
        self.constants(f, function);
        self.finish_integers();
    }

    /// Constants that are only compared must have an answer too.
    fn constants(&mut self, f: FuncRef, function: &Function) {
        for (v, value) in function.values.iter() {
            match value.kind {
                ValueKind::Global(..) | ValueKind::Function(_) | ValueKind::Null => {
                    self.operand(f, v);
                }
                _ => {}
            }
        }
    }

    fn instruction(
        &mut self,
        f: FuncRef,
        function: &Function,
        inst: InstId,
        data: &Inst,
        walking: &FxHashSet<InstId>,
    ) {
        match &data.kind {
            InstKind::Store { ptr, value } => self.store_value(f, function, *ptr, *value),
            InstKind::Call { callee, args, .. } => self.call(f, inst, *callee, args, data.result),
            InstKind::MemCopy { dst, src, len } => self.copy(f, function, *dst, *src, *len),
            InstKind::VaStart { list } => {
                let area = self.variadic_area(f);
                let list = self.operand(f, *list);
                let list = self.stepped(list, Step::ANYWHERE);
                self.solver.store(list, Val::Addr(area));
            }
            InstKind::VaCopy { dst, src } => {
                let (dst, src) = (self.operand(f, *dst), self.operand(f, *src));
                self.solver.copy_bytes(dst, src, u64::MAX);
            }
            InstKind::AtomicRmw { op, ptr, value } => {
                self.exchange(f, *op, *ptr, *value);
                self.result(f, function, inst, data, walking);
            }
            InstKind::CmpXchg { ptr, new, .. } => {
                self.store_value(f, function, *ptr, *new);
                self.result(f, function, inst, data, walking);
            }
            _ => self.result(f, function, inst, data, walking),
        }
    }

    /// Defines the result of an instruction that only computes. Integers are left until asked for.
    fn result(
        &mut self,
        f: FuncRef,
        function: &Function,
        inst: InstId,
        data: &Inst,
        walking: &FxHashSet<InstId>,
    ) {
        let Some(result) = data.result else { return };
        let ty = function.ty(result);
        if !holds_address(ty) || is_integer(ty) {
            return;
        }
        let val = match &data.kind {
            InstKind::Offset { base, offset, indices, ty } => {
                let step = address_step(function, *offset, indices);
                let mut step = if walking.contains(&inst) { walk(step) } else { step };
                let module = self.program.module(f.module);
                step.ty = ty.map(|ty| self.solver.mem.layouts.of(f.module, module, ty));
                let base = self.operand(f, *base);
                self.stepped(base, step)
            }
            InstKind::Alloca { size, count, ty, .. } => {
                self.stack_slot(f, inst, *size, count.is_some(), *ty)
            }
            _ => self.computed(f, &data.kind, result),
        };
        self.define(f, result, val);
    }

    /// Results that merge or pass on what their operands hold, pointers and integers alike.
    pub fn computed(&mut self, f: FuncRef, kind: &InstKind, result: ValueId) -> Val {
        match kind {
            InstKind::Load { ptr, .. }
            | InstKind::AtomicRmw { ptr, .. }
            | InstKind::CmpXchg { ptr, .. } => {
                let ptr = self.operand(f, *ptr);
                let wide = matches!(self.program.function(f).ty(result), Ty::Opaque(_));
                let ptr = if wide { self.stepped(ptr, Step::ANYWHERE) } else { ptr };
                self.loaded(ptr)
            }
            InstKind::Cast { op: CastOp::IntToPtr, value } => self.pointer_from(f, *value),
            InstKind::Cast { value, .. } | InstKind::Extract { tuple: value, .. } => {
                self.operand(f, *value)
            }
            InstKind::Select { then, otherwise, .. } => {
                self.merged(f, result, &[*then, *otherwise])
            }
            InstKind::Insert { tuple, value, .. } => self.merged(f, result, &[*tuple, *value]),
            InstKind::Phi { incoming } => {
                let values: Vec<ValueId> = incoming.iter().map(|i| i.1).collect();
                self.merged(f, result, &values)
            }
            InstKind::Opaque { operands } => self.opaque(f, result, operands),
            _ => Val::Nothing,
        }
    }

    fn merged(&mut self, f: FuncRef, result: ValueId, values: &[ValueId]) -> Val {
        let node = self.result_node(f, result);
        for &v in values {
            let val = self.operand(f, v);
            self.solver.flow(val, node);
        }
        Val::Var(node)
    }

    /// Vectors keep what goes into them; what comes from nowhere (a landing pad) is unknown.
    fn opaque(&mut self, f: FuncRef, result: ValueId, operands: &[ValueId]) -> Val {
        let node = self.result_node(f, result);
        for &v in operands {
            let val = self.operand(f, v);
            let val = self.stepped(val, Step::ANYWHERE);
            self.solver.flow(val, node);
        }
        if operands.is_empty() && self.program.function(f).ty(result) == Ty::Ptr {
            self.solver.insert(node, object::UNKNOWN);
        }
        Val::Var(node)
    }

    fn stack_slot(
        &mut self,
        func: FuncRef,
        slot: InstId,
        size: u64,
        dynamic: bool,
        ty: Option<leakproof_ir::TypeId>,
    ) -> Val {
        let module = self.program.module(func.module);
        let layout = ty.map(|ty| self.solver.mem.layouts.of(func.module, module, ty));
        let size = if dynamic { u64::MAX } else { size };
        let shape = Shape { size, layout, repeats: dynamic };
        let obj = self.solver.mem.add(ObjectKind::Stack { func, slot }, shape);
        Val::Addr(self.solver.mem.base(obj))
    }

    fn store_value(&mut self, f: FuncRef, function: &Function, ptr: ValueId, value: ValueId) {
        let ty = function.ty(value);
        if !holds_address(ty) {
            return;
        }
        let val = self.operand(f, value);
        if val == Val::Nothing {
            return;
        }
        let ptr = self.operand(f, ptr);
        let ptr = if matches!(ty, Ty::Opaque(_)) { self.stepped(ptr, Step::ANYWHERE) } else { ptr };
        self.solver.store(ptr, val);
    }

    fn exchange(&mut self, f: FuncRef, op: RmwOp, ptr: ValueId, value: ValueId) {
        let val = self.operand(f, value);
        let ptr = self.operand(f, ptr);
        match op {
            RmwOp::Xchg => self.solver.store(ptr, val),
            // Arithmetic on a pointer in place keeps it in its object.
            RmwOp::Add | RmwOp::Sub | RmwOp::And | RmwOp::Or | RmwOp::Other => {
                let val = self.stepped(val, Step::ANYWHERE);
                self.solver.store(ptr, val);
            }
        }
    }

    fn copy(&mut self, f: FuncRef, function: &Function, dst: ValueId, src: ValueId, len: ValueId) {
        let bytes = match function.values[len].kind {
            ValueKind::Int(n) => n,
            _ => u64::MAX,
        };
        // Less than a pointer is never one.
        if bytes >= 8 {
            let (dst, src) = (self.operand(f, dst), self.operand(f, src));
            self.solver.copy_bytes(dst, src, bytes);
        }
    }
}

/// `offset + indices` as a step; constant indices count as offset.
pub(super) fn address_step(function: &Function, offset: i64, indices: &[Index]) -> Step {
    let mut step = Step::constant(offset);
    for index in indices {
        match constant(function, index.value) {
            Some(n) => step.delta = step.delta.wrapping_add(n.wrapping_mul(index.scale)),
            None => {
                let scale = index.scale.unsigned_abs();
                step.stride = Some(step.stride.map_or(scale, |s| gcd(s, scale)));
            }
        }
    }
    step
}

fn constant(function: &Function, v: ValueId) -> Option<i64> {
    let value = function.values[v];
    let (ValueKind::Int(n), Ty::Int(bits)) = (value.kind, value.ty) else { return None };
    let unused = 64 - u32::from(bits.clamp(1, 64));
    Some(((n << unused) as i64) >> unused)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A constant step that a loop repeats goes any number of times.
fn walk(step: Step) -> Step {
    match step.stride {
        None => Step { delta: 0, stride: Some(step.delta.unsigned_abs()), ty: None },
        Some(s) => Step { delta: 0, stride: Some(gcd(s, step.delta.unsigned_abs())), ty: None },
    }
}

/// Offset instructions that are part of a cycle of phis (`p++` in a loop).
fn walking_steps(function: &Function, body: &Body) -> FxHashSet<InstId> {
    let mut walking = FxHashSet::default();
    let mut members = Vec::new();
    let mut any_step = false;
    for (inst, data) in body.insts.iter() {
        let Some(result) = data.result else { continue };
        let relevant = match data.kind {
            InstKind::Offset { .. } => {
                any_step = true;
                true
            }
            InstKind::Phi { .. } | InstKind::Select { .. } => function.ty(result) == Ty::Ptr,
            _ => false,
        };
        if relevant {
            members.push(inst);
        }
    }
    let has_phi = members.iter().any(|&i| matches!(body.insts[i].kind, InstKind::Phi { .. }));
    if !any_step || !has_phi {
        return walking;
    }
    for component in scc::components(&operand_graph(function, body, &members)) {
        if component.len() > 1 {
            let insts = component.iter().map(|&m| members[m as usize]);
            walking
                .extend(insts.filter(|&i| matches!(body.insts[i].kind, InstKind::Offset { .. })));
        }
    }
    walking
}

/// Edges from each of `members` to the members it reads as a pointer.
fn operand_graph(function: &Function, body: &Body, members: &[InstId]) -> scc::Graph {
    let mut graph = scc::Graph { starts: vec![0], targets: Vec::new() };
    for &inst in members {
        let mut edge = |v: ValueId| {
            if let ValueKind::Inst(from) = function.values[v].kind
                && let Ok(at) = members.binary_search(&from)
            {
                graph.targets.push(at as u32);
            }
        };
        match &body.insts[inst].kind {
            InstKind::Offset { base, .. } => edge(*base),
            InstKind::Select { then, otherwise, .. } => {
                [*then, *otherwise].into_iter().for_each(edge)
            }
            InstKind::Phi { incoming } => incoming.iter().for_each(|i| edge(i.1)),
            _ => {}
        }
        graph.starts.push(graph.targets.len() as u32);
    }
    graph
}
