//! Emits instructions at one place, in terms of the prelude's functions.

use crate::llvm::{Block, Module, Type, Value};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::collections::HashMap;
use std::ffi::CString;

pub struct Builder {
    pub module: Module,
    raw: LLVMBuilderRef,
    functions: HashMap<&'static str, Value>,
}

const EMPTY: *const std::ffi::c_char = c"".as_ptr();

impl Builder {
    pub fn new(module: Module) -> Self {
        // SAFETY: a builder of the module's context.
        let raw = unsafe { LLVMCreateBuilderInContext(module.context) };
        Self { module, raw, functions: HashMap::new() }
    }

    pub fn before(&self, instruction: Value) {
        // SAFETY: the instruction is in a block.
        unsafe { LLVMPositionBuilderBefore(self.raw, instruction.0) };
    }

    /// Right after `instruction`, which must not end its block.
    pub fn after(&self, instruction: Value) {
        if let Some(next) = instruction.next() {
            self.before(next);
        }
    }

    /// After the phis and landing pads of a block.
    pub fn at_start(&self, block: Block) {
        use llvm_sys::LLVMOpcode::*;
        let first = block
            .instructions()
            .into_iter()
            .find(|i| !matches!(i.opcode(), LLVMPHI | LLVMLandingPad));
        if let Some(first) = first {
            self.before(first);
        }
    }

    pub fn zero(&self) -> Value {
        self.module.int(32, 0)
    }

    pub fn word(&self, value: u32) -> Value {
        self.module.int(32, u64::from(value))
    }

    /// Calls a function of the prelude or the runtime.
    pub fn call(&mut self, name: &'static str, arguments: &[Value]) -> Value {
        let module = self.module;
        let function = *self.functions.entry(name).or_insert_with(|| {
            module.function(name).unwrap_or_else(|| module.declare(name, module.int_type(32), &[]))
        });
        self.call_value(function, arguments)
    }

    pub fn call_value(&mut self, function: Value, arguments: &[Value]) -> Value {
        let mut raw: Vec<LLVMValueRef> = arguments.iter().map(|v| v.0).collect();
        let ty = function.function_type();
        // SAFETY: callers pass what the prelude declares.
        Value(unsafe {
            LLVMBuildCall2(self.raw, ty.0, function.0, raw.as_mut_ptr(), raw.len() as u32, EMPTY)
        })
    }

    /// Any integer of at most 64 bits or pointer as a 64-bit number.
    pub fn wide(&self, value: Value) -> Value {
        let i64_type = self.module.int_type(64);
        // SAFETY: casts between integer and pointer types.
        unsafe {
            match value.ty().symbolic_bits() {
                Some(_) if value.ty().is_pointer() => {
                    Value(LLVMBuildPtrToInt(self.raw, value.0, i64_type.0, EMPTY))
                }
                Some(64) => value,
                Some(_) => Value(LLVMBuildZExt(self.raw, value.0, i64_type.0, EMPTY)),
                None => self.module.int(64, 0),
            }
        }
    }

    pub fn sign_extended(&self, value: Value) -> Value {
        let i64_type = self.module.int_type(64);
        // SAFETY: an integer of at most 64 bits.
        Value(unsafe { LLVMBuildSExtOrBitCast(self.raw, value.0, i64_type.0, EMPTY) })
    }

    pub fn to_word(&self, bit: Value) -> Value {
        // SAFETY: a one-bit integer.
        Value(unsafe { LLVMBuildZExt(self.raw, bit.0, self.module.int_type(32).0, EMPTY) })
    }

    pub fn add(&self, a: Value, b: Value) -> Value {
        // SAFETY: equal integer types.
        Value(unsafe { LLVMBuildAdd(self.raw, a.0, b.0, EMPTY) })
    }

    pub fn mul(&self, a: Value, b: Value) -> Value {
        // SAFETY: equal integer types.
        Value(unsafe { LLVMBuildMul(self.raw, a.0, b.0, EMPTY) })
    }

    pub fn equal(&self, a: Value, b: Value) -> Value {
        // SAFETY: equal types.
        Value(unsafe {
            LLVMBuildICmp(self.raw, llvm_sys::LLVMIntPredicate::LLVMIntEQ, a.0, b.0, EMPTY)
        })
    }

    pub fn select(&self, c: Value, a: Value, b: Value) -> Value {
        // SAFETY: equal types.
        Value(unsafe { LLVMBuildSelect(self.raw, c.0, a.0, b.0, EMPTY) })
    }

    pub fn load(&self, ty: Type, from: Value) -> Value {
        // SAFETY: a pointer to that type.
        Value(unsafe { LLVMBuildLoad2(self.raw, ty.0, from.0, EMPTY) })
    }

    pub fn store(&self, value: Value, to: Value) {
        // SAFETY: a pointer to that type.
        unsafe { LLVMBuildStore(self.raw, value.0, to.0) };
    }

    /// A global of the runtime.
    pub fn global(&self, name: &str) -> Value {
        // The prelude declares all of them.
        self.module.global(name).unwrap_or_else(|| self.zero())
    }

    /// The address of the shadow of parameter `index`.
    pub fn argument_slot(&self, index: u32) -> Value {
        let ty = self.module.int_type(32);
        let mut at = [self.module.int(64, u64::from(index)).0];
        let base = self.global("lp_args");
        // SAFETY: within the array.
        Value(unsafe { LLVMBuildGEP2(self.raw, ty.0, base.0, at.as_mut_ptr(), 1, EMPTY) })
    }

    pub fn phi(&self) -> Value {
        // SAFETY: positioned at the start of a block.
        Value(unsafe { LLVMBuildPhi(self.raw, self.module.int_type(32).0, EMPTY) })
    }

    pub fn add_incoming(&self, phi: Value, value: Value, from: Block) {
        let (mut v, mut b) = ([value.0], [from.0]);
        // SAFETY: a phi and values of its type.
        unsafe { LLVMAddIncoming(phi.0, v.as_mut_ptr(), b.as_mut_ptr(), 1) };
    }

    /// An array of 64-bit words in the function's frame.
    pub fn frame_words(&self, function: Value, count: u32) -> Value {
        // SAFETY: at the start of the entry block, so that it is made once per call.
        unsafe {
            let entry = LLVMGetEntryBasicBlock(function.0);
            let builder = LLVMCreateBuilderInContext(self.module.context);
            let first = LLVMGetFirstInstruction(entry);
            LLVMPositionBuilderBefore(builder, first);
            let ty = LLVMArrayType2(self.module.int_type(64).0, u64::from(count.max(1)));
            let name = CString::default();
            let slot = LLVMBuildAlloca(builder, ty, name.as_ptr());
            LLVMDisposeBuilder(builder);
            Value(slot)
        }
    }

    pub fn word_slot(&self, array: Value, index: u32) -> Value {
        let ty = self.module.int_type(64);
        let mut at = [self.module.int(64, u64::from(index)).0];
        // SAFETY: within the array.
        Value(unsafe { LLVMBuildGEP2(self.raw, ty.0, array.0, at.as_mut_ptr(), 1, EMPTY) })
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        // SAFETY: made by `new`.
        unsafe { LLVMDisposeBuilder(self.raw) };
    }
}
