//! Gives every integer and pointer of a function a shadow: the number of the expression that computes
//! it from the inputs, 0 when it does not depend on them.
//!
//! Invariant: the program's own instructions stay as they are and in their order; shadows are computed
//! beside them. A shadow is only used together with the value it belongs to, and the runtime drops one
//! that does not fit its value, so a missed write can lose an expression but never make a wrong one.

use crate::builder::Builder;
use crate::calls;
use crate::llvm::{Block, Module, Type, Value};
use crate::marks::Marks;
use crate::survey::Ids;
use leakproof_rt::abi::op;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};
use std::collections::{HashMap, HashSet};

/// What all functions of a unit share.
pub struct Context<'a> {
    pub module: Module,
    pub ids: &'a Ids,
    pub marks: &'a Marks,
    /// Functions that the program defines.
    pub defined: HashSet<&'a str>,
}

pub struct Shadower<'a> {
    pub context: &'a Context<'a>,
    pub builder: Builder,
    pub function: Value,
    shadows: HashMap<Value, Value>,
}

pub fn instrument(context: &Context<'_>, function: Value) {
    let builder = Builder::new(context.module);
    let mut shadower = Shadower { context, builder, function, shadows: HashMap::new() };
    let order = reverse_postorder(function);
    // What is there before anything is added.
    let own: Vec<Value> = order.iter().flat_map(|b| b.instructions()).collect();
    shadower.parameters();
    let phis = shadower.open_phis(&own);
    own.iter().for_each(|i| shadower.instruction(*i));
    shadower.close_phis(&phis);
}

/// Blocks reachable from the entry, each after those that dominate it.
fn reverse_postorder(function: Value) -> Vec<Block> {
    let Some(&entry) = function.blocks().first() else { return Vec::new() };
    let mut seen = HashSet::from([entry]);
    let mut order = Vec::new();
    let mut stack = vec![(entry, entry.terminator().map_or(Vec::new(), Value::successors))];
    while let Some((block, rest)) = stack.last_mut() {
        if let Some(next) = rest.pop() {
            if seen.insert(next) {
                stack.push((next, next.terminator().map_or(Vec::new(), Value::successors)));
            }
        } else {
            order.push(*block);
            stack.pop();
        }
    }
    order.reverse();
    order
}

impl Shadower<'_> {
    /// The shadow of a value; constants and what is not followed have none.
    pub fn shadow(&self, value: Value) -> Value {
        self.shadows.get(&value).copied().unwrap_or_else(|| self.builder.zero())
    }

    pub fn set_shadow(&mut self, value: Value, shadow: Value) {
        self.shadows.insert(value, shadow);
    }

    fn parameters(&mut self) {
        let Some(&entry) = self.function.blocks().first() else { return };
        let Some(first) = entry.instructions().into_iter().next() else { return };
        self.builder.before(first);
        if self.function.name() == "main" {
            self.main_parameters();
            return;
        }
        let module = self.context.module;
        let slot = self.builder.global("lp_callee");
        let callee = self.builder.load(module.pointer_type(), slot);
        let mine = self.builder.equal(callee, self.function);
        let none = self.builder.zero();
        let parameters = self.function.parameters();
        for (i, parameter) in parameters.iter().enumerate().take(leakproof_rt::abi::MAX_PARAMETERS)
        {
            if parameter.ty().symbolic_bits().is_some() {
                let slot = self.builder.argument_slot(i as u32);
                let given = self.builder.load(module.int_type(32), slot);
                let shadow = self.builder.select(mine, given, none);
                self.shadows.insert(*parameter, shadow);
            }
        }
        if !parameters.is_empty() {
            calls::forget_callee(&self.builder);
        }
    }

    /// `main` gets the argument vector of the configuration.
    fn main_parameters(&mut self) {
        let parameters = self.function.parameters();
        let [argc, argv, ..] = parameters.as_slice() else {
            let argument = self.builder.zero();
            self.builder.call("lp_rt_argc", &[argument]);
            return;
        };
        if argc.ty().symbolic_bits() != Some(32) || !argv.ty().is_pointer() {
            return;
        }
        let count = self.builder.call("lp_rt_argc", &[self.builder.zero()]);
        let slot = self.builder.global("lp_ret");
        let shadow = self.builder.load(self.context.module.int_type(32), slot);
        let vector = self.builder.call("lp_rt_argv", &[*argv]);
        argc.replace_all_uses(count);
        argv.replace_all_uses(vector);
        count_keeps_original(vector, *argv);
        self.shadows.insert(count, shadow);
    }

    fn open_phis(&mut self, own: &[Value]) -> Vec<(Value, Value)> {
        let followed =
            |i: &&Value| i.opcode() == LLVMOpcode::LLVMPHI && i.ty().symbolic_bits().is_some();
        let mut list = Vec::new();
        for &instruction in own.iter().filter(followed) {
            self.builder.before(instruction);
            let phi = self.builder.phi();
            self.shadows.insert(instruction, phi);
            list.push((instruction, phi));
        }
        list
    }

    fn close_phis(&mut self, phis: &[(Value, Value)]) {
        for &(original, shadow) in phis {
            // SAFETY: a phi has as many incoming values as blocks.
            let incoming: Vec<(Value, Block)> = unsafe {
                use llvm_sys::core::*;
                let count = LLVMCountIncoming(original.0);
                let pair = |i| {
                    let value = LLVMGetIncomingValue(original.0, i);
                    (Value(value), Block(LLVMGetIncomingBlock(original.0, i)))
                };
                (0..count).map(pair).collect()
            };
            for (value, from) in incoming {
                let given = self.shadow(value);
                self.builder.add_incoming(shadow, given, from);
            }
        }
    }

    fn instruction(&mut self, i: Value) {
        use LLVMOpcode::*;
        match i.opcode() {
            LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl
            | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor => self.binary(i),
            LLVMICmp => self.compare(i),
            LLVMZExt | LLVMSExt | LLVMTrunc | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast
            | LLVMFreeze => self.cast(i),
            LLVMSelect => self.select(i),
            LLVMGetElementPtr => self.address(i),
            LLVMLoad => self.load(i),
            LLVMStore => self.store(i),
            LLVMCall | LLVMInvoke => calls::call(self, i),
            LLVMBr if i.is_conditional() => self.branch(i),
            LLVMSwitch => self.switch(i),
            LLVMRet => self.result(i),
            LLVMAtomicRMW | LLVMAtomicCmpXchg => self.atomic(i),
            LLVMFPToSI | LLVMFPToUI | LLVMSIToFP | LLVMUIToFP => self.leaves(i),
            _ => {}
        }
    }

    fn is_plain(&self, operands: &[Value]) -> bool {
        operands.iter().all(|o| !self.shadows.contains_key(o))
    }

    fn binary(&mut self, i: Value) {
        let (a, b) = (i.operand(0), i.operand(1));
        let Some(bits) = i.ty().symbolic_bits() else { return };
        let Some(code) = binary_code(i.opcode()) else { return };
        if !self.is_plain(&[a, b]) {
            let shadow = self.combine(i, code, bits, a, b);
            self.shadows.insert(i, shadow);
        }
    }

    fn combine(&mut self, i: Value, code: u8, bits: u32, a: Value, b: Value) -> Value {
        let (sa, sb) = (self.shadow(a), self.shadow(b));
        self.builder.after(i);
        let (wa, wb, r) = (self.builder.wide(a), self.builder.wide(b), self.builder.wide(i));
        let (code, bits) = (self.builder.word(u32::from(code)), self.builder.word(bits));
        self.builder.call("lp_bin", &[code, bits, wa, sa, wb, sb, r])
    }

    fn compare(&mut self, i: Value) {
        let (a, b) = (i.operand(0), i.operand(1));
        let Some(bits) = a.ty().symbolic_bits() else { return };
        if self.is_plain(&[a, b]) {
            return;
        }
        // SAFETY: it is an integer comparison.
        let predicate = unsafe { llvm_sys::core::LLVMGetICmpPredicate(i.0) };
        let (code, swap) = compare_code(predicate);
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let shadow = self.combine(i, code, bits, a, b);
        self.shadows.insert(i, shadow);
    }

    fn cast(&mut self, i: Value) {
        let a = i.operand(0);
        let (Some(from), Some(to)) = (a.ty().symbolic_bits(), i.ty().symbolic_bits()) else {
            return;
        };
        if self.is_plain(&[a]) {
            return;
        }
        let shadow = self.shadow(a);
        if from == to {
            self.shadows.insert(i, shadow);
            return;
        }
        let code = match i.opcode() {
            LLVMOpcode::LLVMSExt => op::SEXT,
            _ if to < from => op::EXTRACT,
            _ => op::ZEXT,
        };
        self.builder.after(i);
        let (wide, result) = (self.builder.wide(a), self.builder.wide(i));
        let words = [u32::from(code), from, to].map(|w| self.builder.word(w));
        let node =
            self.builder.call("lp_cast", &[words[0], words[1], words[2], wide, shadow, result]);
        self.shadows.insert(i, node);
    }

    fn select(&mut self, i: Value) {
        let (c, a, b) = (i.operand(0), i.operand(1), i.operand(2));
        let Some(bits) = i.ty().symbolic_bits() else { return };
        if c.ty().symbolic_bits() != Some(1) || self.is_plain(&[c, a, b]) {
            return;
        }
        let (sc, sa, sb) = (self.shadow(c), self.shadow(a), self.shadow(b));
        self.builder.after(i);
        let condition = self.builder.to_word(c);
        let (wa, wb) = (self.builder.wide(a), self.builder.wide(b));
        let bits = self.builder.word(bits);
        let node = self.builder.call("lp_select", &[condition, sc, wa, sa, wb, sb, bits]);
        self.shadows.insert(i, node);
    }

    /// A pointer computed from indices: one step per index that is not constant.
    fn address(&mut self, i: Value) {
        let count = i.operand_count();
        let operands: Vec<Value> = (0..count).map(|n| i.operand(n)).collect();
        if self.is_plain(&operands) || !i.ty().is_pointer() {
            return;
        }
        // SAFETY: asked of an address computation.
        let mut ty = Type(unsafe { llvm_sys::core::LLVMGetGEPSourceElementType(i.0) });
        let module = self.context.module;
        self.builder.after(i);
        let (mut base, mut shadow) = (self.builder.wide(operands[0]), self.shadow(operands[0]));
        for (n, &index) in operands.iter().enumerate().skip(1) {
            let scale;
            if n > 1 && ty.is_struct() {
                let field = index.as_int().unwrap_or(0) as u32;
                let offset = module.int(64, module.field_offset(ty, field));
                ty = ty.field(field);
                let one = module.int(64, 1);
                (base, shadow) = self.step(base, shadow, offset, self.builder.zero(), one);
                continue;
            } else if n > 1 {
                let Some(element) = ty.element() else { return };
                ty = element;
                scale = module.int(64, module.alloc_size(ty));
            } else {
                scale = module.int(64, module.alloc_size(ty));
            }
            if index.ty().symbolic_bits().is_none() {
                return;
            }
            let si = self.shadow(index);
            (base, shadow) = self.step(base, shadow, index, si, scale);
        }
        self.shadows.insert(i, shadow);
    }

    fn step(
        &mut self,
        base: Value,
        sb: Value,
        index: Value,
        si: Value,
        scale: Value,
    ) -> (Value, Value) {
        let bits = self.builder.word(index.ty().symbolic_bits().unwrap_or(64));
        let wide = self.builder.sign_extended(index);
        let shadow = self.builder.call("lp_gep", &[base, sb, wide, si, bits, scale]);
        let moved = self.builder.mul(wide, scale);
        (self.builder.add(base, moved), shadow)
    }

    fn load(&mut self, i: Value) {
        let from = i.operand(0);
        let module = self.context.module;
        if !i.ty().is_sized() || i.next().is_none() {
            return;
        }
        let size = module.store_size(i.ty());
        let sa = self.shadow(from);
        self.builder.after(i);
        let address = self.builder.wide(from);
        match i.ty().symbolic_bits().filter(|b| b % 8 == 0 || *b == 1) {
            Some(_) => {
                let value = self.builder.wide(i);
                let size = self.builder.word(size as u32);
                let node = self.builder.call("lp_load", &[address, size, value, sa]);
                self.shadows.insert(i, node);
            }
            None => {
                let size = module.int(64, size);
                self.builder.call("lp_use", &[address, size]);
            }
        }
    }

    fn store(&mut self, i: Value) {
        let (value, to) = (i.operand(0), i.operand(1));
        let module = self.context.module;
        let size = module.store_size(value.ty());
        let (s, sa) = (self.shadow(value), self.shadow(to));
        self.builder.after(i);
        let address = self.builder.wide(to);
        let wide = self.builder.wide(value);
        if size > 8 {
            let (zero, none) = (module.int(64, 0), self.builder.zero());
            let size = module.int(64, size);
            self.builder.call("lp_use", &[address, size]);
            self.builder.call("lp_set", &[address, zero, none, size]);
            return;
        }
        let size = self.builder.word(size as u32);
        self.builder.call("lp_store", &[address, size, wide, s, sa]);
    }

    /// Atomic accesses are uses; what they write is not followed.
    fn atomic(&mut self, i: Value) {
        let (to, value) = (i.operand(0), i.operand(1));
        let module = self.context.module;
        let size = module.int(64, module.store_size(value.ty()));
        self.builder.after(i);
        let address = self.builder.wide(to);
        let (zero, none) = (module.int(64, 0), self.builder.zero());
        self.builder.call("lp_use", &[address, size]);
        self.builder.call("lp_set", &[address, zero, none, size]);
    }

    fn branch(&mut self, i: Value) {
        let Some(&id) = self.context.ids.branches.get(&i) else { return };
        let condition = i.operand(0);
        if id == 0 {
            return;
        }
        let shadow = self.shadow(condition);
        self.builder.before(i);
        let taken = self.builder.to_word(condition);
        self.tell_side("lp_branch", i, id, taken, shadow);
    }

    fn switch(&mut self, i: Value) {
        let Some(&id) = self.context.ids.branches.get(&i) else { return };
        let value = i.operand(0);
        if id == 0 {
            return;
        }
        let shadow = self.shadow(value);
        self.builder.before(i);
        let mut taken = self.builder.zero();
        for successor in 1..i.successors().len() as u32 {
            let hit = self.builder.equal(value, i.operand(2 * successor));
            taken = self.builder.select(hit, self.builder.word(successor), taken);
        }
        self.tell_side("lp_switch", i, id, taken, shadow);
    }

    /// Tells which side is taken: always when that depends on the input or the branch is watched, else the first time.
    fn tell_side(
        &mut self,
        how: &'static str,
        branch: Value,
        id: u32,
        taken: Value,
        shadow: Value,
    ) {
        let sides = self.context.module.zeros(branch.successors().len() as u64);
        let watched = self.context.marks.branches.contains(&branch);
        let watched = self.context.module.int(1, u64::from(watched));
        let id = self.builder.word(id);
        self.builder.call(how, &[id, taken, shadow, sides, watched]);
    }

    fn result(&mut self, i: Value) {
        if i.operand_count() == 0 || i.operand(0).ty().symbolic_bits().is_none() {
            return;
        }
        let shadow = self.shadow(i.operand(0));
        let before = i.parent_block().instructions();
        // Nothing may stand between a `musttail` call and the return.
        if before.iter().rev().nth(1).is_some_and(|c| c.is_call() && c.is_must_tail()) {
            return;
        }
        self.builder.before(i);
        let slot = self.builder.global("lp_ret");
        self.builder.store(shadow, slot);
    }

    /// Floating point: expressions end here.
    fn leaves(&mut self, i: Value) {
        if !self.is_plain(&[i.operand(0)]) {
            let shadow = self.shadow(i.operand(0));
            self.builder.after(i);
            self.builder.call("lp_extern", &[shadow]);
        }
    }
}

/// `replace_all_uses` also reached the call that makes the new vector of the old one.
fn count_keeps_original(vector: Value, argv: Value) {
    vector.set_operand(0, argv);
}

fn binary_code(opcode: LLVMOpcode) -> Option<u8> {
    use LLVMOpcode::*;
    Some(match opcode {
        LLVMAdd => op::ADD,
        LLVMSub => op::SUB,
        LLVMMul => op::MUL,
        LLVMUDiv => op::UDIV,
        LLVMSDiv => op::SDIV,
        LLVMURem => op::UREM,
        LLVMSRem => op::SREM,
        LLVMShl => op::SHL,
        LLVMLShr => op::LSHR,
        LLVMAShr => op::ASHR,
        LLVMAnd => op::AND,
        LLVMOr => op::OR,
        LLVMXor => op::XOR,
        _ => return None,
    })
}

/// The operation, and whether its operands change places.
fn compare_code(predicate: LLVMIntPredicate) -> (u8, bool) {
    use LLVMIntPredicate::*;
    match predicate {
        LLVMIntEQ => (op::EQ, false),
        LLVMIntNE => (op::NE, false),
        LLVMIntULT => (op::ULT, false),
        LLVMIntULE => (op::ULE, false),
        LLVMIntSLT => (op::SLT, false),
        LLVMIntSLE => (op::SLE, false),
        LLVMIntUGT => (op::ULT, true),
        LLVMIntUGE => (op::ULE, true),
        LLVMIntSGT => (op::SLT, true),
        LLVMIntSGE => (op::SLE, true),
    }
}
