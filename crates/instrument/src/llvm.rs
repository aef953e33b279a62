//! A thin layer over LLVM's C interface: values as `Copy` handles, strings as Rust strings.
//!
//! The handles are only valid while their module is; the module lives as long as the process (see
//! `Module::read`), so none of them can dangle.

use crate::InstrumentError;
use llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use llvm_sys::bit_writer::LLVMWriteBitcodeToFile;
use llvm_sys::core::*;
use llvm_sys::error::LLVMGetErrorMessage;
use llvm_sys::ir_reader::LLVMParseIRInContext;
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::transforms::pass_builder::*;
use llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMTypeKind};
use std::ffi::{CStr, CString, c_char};
use std::path::Path;

/// One module in a context of its own. Never freed: the process ends after one unit.
#[derive(Clone, Copy)]
pub struct Module {
    pub context: LLVMContextRef,
    pub raw: LLVMModuleRef,
    pub layout: LLVMTargetDataRef,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value(pub LLVMValueRef);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block(pub LLVMBasicBlockRef);

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Type(pub LLVMTypeRef);

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

fn buffer(bytes: &[u8]) -> LLVMMemoryBufferRef {
    // SAFETY: the bytes are copied.
    unsafe {
        LLVMCreateMemoryBufferWithMemoryRangeCopy(
            bytes.as_ptr().cast(),
            bytes.len(),
            c"unit".as_ptr(),
        )
    }
}

fn text(start: *const c_char, length: usize) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: LLVM says that `length` bytes are there, and keeps them with the module.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

impl Module {
    pub fn read(path: &Path) -> Result<Self, InstrumentError> {
        let fail = |reason: String| InstrumentError::Read { path: path.to_owned(), reason };
        let bytes = std::fs::read(path).map_err(|e| fail(e.to_string()))?;
        // SAFETY: plain construction; the result is checked.
        unsafe {
            let context = LLVMContextCreate();
            let mut raw = std::ptr::null_mut();
            if LLVMParseBitcodeInContext2(context, buffer(&bytes), &raw mut raw) != 0 {
                return Err(fail("is no bitcode of LLVM 19".into()));
            }
            let layout = LLVMGetModuleDataLayout(raw);
            Ok(Self { context, raw, layout })
        }
    }

    /// Links a module in text form into this one.
    pub fn link_text(self, source: &str) -> Result<(), InstrumentError> {
        let mut bytes = source.as_bytes().to_vec();
        bytes.push(0);
        // SAFETY: the source module is handed over; messages are LLVM's own strings.
        unsafe {
            let range = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                bytes.as_ptr().cast(),
                bytes.len() - 1,
                c"prelude".as_ptr(),
            );
            let (mut other, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
            if LLVMParseIRInContext(self.context, range, &raw mut other, &raw mut message) != 0 {
                let reason = CStr::from_ptr(message).to_string_lossy().into_owned();
                return Err(InstrumentError::Llvm(reason));
            }
            LLVMSetDataLayout(other, LLVMGetDataLayoutStr(self.raw));
            LLVMSetTarget(other, LLVMGetTarget(self.raw));
            if LLVMLinkModules2(self.raw, other) != 0 {
                return Err(InstrumentError::Llvm("the prelude does not link".into()));
            }
        }
        Ok(())
    }

    pub fn run_passes(self, passes: &str) -> Result<(), InstrumentError> {
        // SAFETY: no target machine is needed for the passes we name.
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            let passes = c_string(passes);
            let error = LLVMRunPasses(self.raw, passes.as_ptr(), std::ptr::null_mut(), options);
            LLVMDisposePassBuilderOptions(options);
            if error.is_null() {
                return Ok(());
            }
            let message = CStr::from_ptr(LLVMGetErrorMessage(error));
            Err(InstrumentError::Llvm(message.to_string_lossy().into_owned()))
        }
    }

    pub fn strip_debug_info(self) {
        // SAFETY: the module is valid.
        unsafe { llvm_sys::debuginfo::LLVMStripModuleDebugInfo(self.raw) };
    }

    /// The verifier's message, when the module is broken.
    pub fn verify(self) -> Result<(), InstrumentError> {
        use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        let mut message = std::ptr::null_mut();
        // SAFETY: the message is LLVM's own string.
        unsafe {
            if LLVMVerifyModule(self.raw, action, &raw mut message) == 0 {
                return Ok(());
            }
            let text = CStr::from_ptr(message).to_string_lossy();
            let first: Vec<&str> = text.lines().take(4).collect();
            Err(InstrumentError::Llvm(first.join(" ")))
        }
    }

    pub fn write(self, path: &Path) -> Result<(), InstrumentError> {
        let name = c_string(&path.to_string_lossy());
        // SAFETY: the module is valid.
        if unsafe { LLVMWriteBitcodeToFile(self.raw, name.as_ptr()) } != 0 {
            return Err(InstrumentError::Write(path.to_owned()));
        }
        Ok(())
    }

    pub fn functions(self) -> Vec<Value> {
        let mut list = Vec::new();
        // SAFETY: iteration over a valid module.
        unsafe {
            let mut f = LLVMGetFirstFunction(self.raw);
            while !f.is_null() {
                list.push(Value(f));
                f = LLVMGetNextFunction(f);
            }
        }
        list
    }

    pub fn globals(self) -> Vec<Value> {
        let mut all = Vec::new();
        // SAFETY: the list of a valid module.
        unsafe {
            let mut global = LLVMGetFirstGlobal(self.raw);
            while !global.is_null() {
                all.push(Value(global));
                global = LLVMGetNextGlobal(global);
            }
        }
        all
    }

    pub fn function(self, name: &str) -> Option<Value> {
        let name = c_string(name);
        // SAFETY: null means absent.
        let f = unsafe { LLVMGetNamedFunction(self.raw, name.as_ptr()) };
        (!f.is_null()).then_some(Value(f))
    }

    pub fn global(self, name: &str) -> Option<Value> {
        let name = c_string(name);
        // SAFETY: null means absent.
        let g = unsafe { LLVMGetNamedGlobal(self.raw, name.as_ptr()) };
        (!g.is_null()).then_some(Value(g))
    }

    /// A new variable of so many bytes, all zero.
    pub fn zeros(self, count: u64) -> Value {
        // SAFETY: a global of this module with a value of its own type.
        unsafe {
            let ty = LLVMArrayType2(self.int_type(8).0, count);
            let global = LLVMAddGlobal(self.raw, ty, c"lp_sides".as_ptr());
            LLVMSetInitializer(global, LLVMConstNull(ty));
            LLVMSetLinkage(global, LLVMLinkage::LLVMInternalLinkage);
            Value(global)
        }
    }

    pub fn declare(self, name: &str, result: Type, parameters: &[Type]) -> Value {
        if let Some(found) = self.function(name) {
            return found;
        }
        let mut raw: Vec<LLVMTypeRef> = parameters.iter().map(|t| t.0).collect();
        let name = c_string(name);
        // SAFETY: types of this module's context.
        unsafe {
            let ty = LLVMFunctionType(result.0, raw.as_mut_ptr(), raw.len() as u32, 0);
            Value(LLVMAddFunction(self.raw, name.as_ptr(), ty))
        }
    }

    pub fn int_type(self, bits: u32) -> Type {
        // SAFETY: a type of this context.
        Type(unsafe { LLVMIntTypeInContext(self.context, bits) })
    }

    pub fn pointer_type(self) -> Type {
        // SAFETY: a type of this context.
        Type(unsafe { LLVMPointerTypeInContext(self.context, 0) })
    }

    pub fn int(self, bits: u32, value: u64) -> Value {
        // SAFETY: a constant of this context.
        Value(unsafe { LLVMConstInt(self.int_type(bits).0, value, 0) })
    }

    /// Bytes that a value of the type takes in memory.
    pub fn store_size(self, ty: Type) -> u64 {
        // SAFETY: asked only of sized types.
        unsafe { LLVMStoreSizeOfType(self.layout, ty.0) }
    }

    pub fn alloc_size(self, ty: Type) -> u64 {
        // SAFETY: asked only of sized types.
        unsafe { LLVMABISizeOfType(self.layout, ty.0) }
    }

    pub fn field_offset(self, ty: Type, field: u32) -> u64 {
        // SAFETY: `ty` is a struct with that field.
        unsafe { LLVMOffsetOfElement(self.layout, ty.0, field) }
    }
}

impl Type {
    pub fn kind(self) -> LLVMTypeKind {
        // SAFETY: a valid type.
        unsafe { LLVMGetTypeKind(self.0) }
    }

    /// Width of an integer or pointer that expressions can describe.
    pub fn symbolic_bits(self) -> Option<u32> {
        match self.kind() {
            // SAFETY: it is an integer type.
            LLVMTypeKind::LLVMIntegerTypeKind => {
                Some(unsafe { LLVMGetIntTypeWidth(self.0) }).filter(|w| *w <= 64)
            }
            LLVMTypeKind::LLVMPointerTypeKind => Some(64),
            _ => None,
        }
    }

    pub fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    pub fn is_struct(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMStructTypeKind
    }

    pub fn field(self, index: u32) -> Type {
        // SAFETY: asked of structs with that field.
        Type(unsafe { LLVMStructGetTypeAtIndex(self.0, index) })
    }

    pub fn element(self) -> Option<Type> {
        match self.kind() {
            LLVMTypeKind::LLVMArrayTypeKind | LLVMTypeKind::LLVMVectorTypeKind => {
                // SAFETY: arrays and vectors have elements.
                Some(Type(unsafe { LLVMGetElementType(self.0) }))
            }
            _ => None,
        }
    }

    pub fn is_sized(self) -> bool {
        // SAFETY: a valid type.
        unsafe { LLVMTypeIsSized(self.0) != 0 }
    }
}

impl Value {
    pub fn ty(self) -> Type {
        // SAFETY: a valid value.
        Type(unsafe { LLVMTypeOf(self.0) })
    }

    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: a valid value.
        let start = unsafe { LLVMGetValueName2(self.0, &raw mut length) };
        text(start, length)
    }

    pub fn rename(self, name: &str) {
        // SAFETY: the name is copied.
        unsafe { LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()) };
    }

    pub fn is_declaration(self) -> bool {
        // SAFETY: asked of functions.
        unsafe { LLVMIsDeclaration(self.0) != 0 }
    }

    pub fn is_internal(self) -> bool {
        // SAFETY: asked of functions.
        let linkage = unsafe { LLVMGetLinkage(self.0) };
        matches!(linkage, LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage)
    }

    pub fn is_available_externally(self) -> bool {
        // SAFETY: asked of functions.
        unsafe { LLVMGetLinkage(self.0) == LLVMLinkage::LLVMAvailableExternallyLinkage }
    }

    pub fn make_internal(self) {
        // SAFETY: asked of functions with a body.
        unsafe { LLVMSetLinkage(self.0, LLVMLinkage::LLVMInternalLinkage) };
    }

    /// Keeps the function apart from its callers, so that it has a frame of its own.
    pub fn forbid_inlining(self, module: Module) {
        let name = "noinline";
        // SAFETY: an attribute of this context on a function.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute = LLVMCreateEnumAttribute(module.context, kind, 0);
            LLVMAddAttributeAtIndex(self.0, u32::MAX, attribute);
        }
    }

    pub fn blocks(self) -> Vec<Block> {
        let mut list = Vec::new();
        // SAFETY: iteration over a valid function.
        unsafe {
            let mut b = LLVMGetFirstBasicBlock(self.0);
            while !b.is_null() {
                list.push(Block(b));
                b = LLVMGetNextBasicBlock(b);
            }
        }
        list
    }

    pub fn parameters(self) -> Vec<Value> {
        // SAFETY: asked of functions.
        let count = unsafe { LLVMCountParams(self.0) };
        (0..count).map(|i| Value(unsafe { LLVMGetParam(self.0, i) })).collect()
    }

    pub fn function_type(self) -> Type {
        // SAFETY: asked of functions.
        Type(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    pub fn as_function(self) -> Option<Value> {
        // SAFETY: null means that it is none.
        let f = unsafe { LLVMIsAFunction(self.0) };
        (!f.is_null()).then_some(Value(f))
    }

    pub fn is_constant(self) -> bool {
        // SAFETY: a valid value.
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    pub fn as_int(self) -> Option<u64> {
        // SAFETY: read only when it is an integer constant of at most 64 bits.
        unsafe {
            if LLVMIsAConstantInt(self.0).is_null() || self.ty().symbolic_bits().is_none() {
                return None;
            }
            Some(LLVMConstIntGetZExtValue(self.0))
        }
    }

    /// What a global variable of this unit holds at the start.
    pub fn initial(self) -> Option<Value> {
        // SAFETY: asked of a global variable only; null means that there is none.
        unsafe {
            if LLVMIsAGlobalVariable(self.0).is_null() {
                return None;
            }
            let value = LLVMGetInitializer(self.0);
            (!value.is_null()).then_some(Value(value))
        }
    }

    /// The text of an array of characters, without the zero at its end.
    pub fn as_text(self) -> Option<String> {
        // SAFETY: asked of constant strings only, whose length LLVM gives.
        unsafe {
            if LLVMIsAConstantDataSequential(self.0).is_null() || LLVMIsConstantString(self.0) == 0
            {
                return None;
            }
            let mut length = 0;
            let start = LLVMGetAsString(self.0, &raw mut length);
            Some(text(start, length).trim_end_matches('\0').to_owned())
        }
    }

    /// Part of a constant array or struct.
    pub fn part(self, index: u32) -> Option<Value> {
        // SAFETY: asked of aggregates only; null means that there is no such part.
        unsafe {
            let other = LLVMIsAConstantArray(self.0).is_null()
                && LLVMIsAConstantStruct(self.0).is_null()
                && LLVMIsAConstantAggregateZero(self.0).is_null();
            let part = if other { return None } else { LLVMGetAggregateElement(self.0, index) };
            (!part.is_null()).then_some(Value(part))
        }
    }

    pub fn opcode(self) -> LLVMOpcode {
        // SAFETY: asked of instructions.
        unsafe { LLVMGetInstructionOpcode(self.0) }
    }

    pub fn operand(self, index: u32) -> Value {
        // SAFETY: asked within `operand_count`.
        Value(unsafe { LLVMGetOperand(self.0, index) })
    }

    pub fn operand_count(self) -> u32 {
        // SAFETY: asked of instructions.
        unsafe { LLVMGetNumOperands(self.0) }.max(0) as u32
    }

    pub fn next(self) -> Option<Value> {
        // SAFETY: asked of instructions in a block.
        let next = unsafe { LLVMGetNextInstruction(self.0) };
        (!next.is_null()).then_some(Value(next))
    }

    pub fn parent_block(self) -> Block {
        // SAFETY: asked of instructions in a block.
        Block(unsafe { LLVMGetInstructionParent(self.0) })
    }

    pub fn successors(self) -> Vec<Block> {
        // SAFETY: asked of terminators.
        unsafe {
            let count = LLVMGetNumSuccessors(self.0);
            (0..count).map(|i| Block(LLVMGetSuccessor(self.0, i))).collect()
        }
    }

    pub fn is_conditional(self) -> bool {
        // SAFETY: asked of branches.
        unsafe { LLVMIsConditional(self.0) != 0 }
    }

    /// Directory, file, line and column; the line is 0 when there is none.
    pub fn location(self) -> (String, String, u32, u32) {
        // SAFETY: asked of instructions.
        unsafe {
            let line = LLVMGetDebugLocLine(self.0);
            if line == 0 {
                return (String::new(), String::new(), 0, 0);
            }
            let (mut n, mut m) = (0, 0);
            let directory = LLVMGetDebugLocDirectory(self.0, &raw mut n);
            let file = LLVMGetDebugLocFilename(self.0, &raw mut m);
            let column = LLVMGetDebugLocColumn(self.0);
            (text(directory, n as usize), text(file, m as usize), line, column)
        }
    }

    pub fn line(self) -> u32 {
        // SAFETY: asked of instructions.
        unsafe { LLVMGetDebugLocLine(self.0) }
    }

    pub fn called_value(self) -> Value {
        // SAFETY: asked of calls.
        Value(unsafe { LLVMGetCalledValue(self.0) })
    }

    pub fn argument_count(self) -> u32 {
        // SAFETY: asked of calls.
        unsafe { LLVMGetNumArgOperands(self.0) }
    }

    pub fn replace_all_uses(self, with: Value) {
        // SAFETY: same type.
        unsafe { LLVMReplaceAllUsesWith(self.0, with.0) };
    }

    pub fn erase(self) {
        // SAFETY: no use is left.
        unsafe { LLVMInstructionEraseFromParent(self.0) };
    }

    pub fn set_operand(self, index: u32, value: Value) {
        // SAFETY: same type, within `operand_count`.
        unsafe { LLVMSetOperand(self.0, index, value.0) };
    }

    /// The instructions and constants that mention it.
    pub fn users(self) -> Vec<Value> {
        let mut list = Vec::new();
        // SAFETY: iteration over the uses of a valid value.
        unsafe {
            let mut u = LLVMGetFirstUse(self.0);
            while !u.is_null() {
                list.push(Value(LLVMGetUser(u)));
                u = LLVMGetNextUse(u);
            }
        }
        list
    }

    pub fn is_call(self) -> bool {
        // SAFETY: a valid value; null means that it is none.
        unsafe { !LLVMIsACallBase(self.0).is_null() }
    }

    pub fn is_inline_assembly(self) -> bool {
        // SAFETY: a valid value; null means that it is none.
        unsafe { !LLVMIsAInlineAsm(self.0).is_null() }
    }

    pub fn is_must_tail(self) -> bool {
        // SAFETY: asked of calls.
        unsafe {
            !LLVMIsACallInst(self.0).is_null()
                && LLVMGetTailCallKind(self.0)
                    == llvm_sys::LLVMTailCallKind::LLVMTailCallKindMustTail
        }
    }
}

/// LLVM has no such function in its C interface: a null-or-self test by kind.
#[expect(non_snake_case, reason = "named like its neighbours in the C interface")]
unsafe fn LLVMIsACallBase(value: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: the tests accept any value.
    unsafe {
        let call = LLVMIsACallInst(value);
        if call.is_null() { LLVMIsAInvokeInst(value) } else { call }
    }
}

impl Block {
    pub fn name(self) -> String {
        // SAFETY: a valid block with a terminated name.
        unsafe { CStr::from_ptr(LLVMGetBasicBlockName(self.0)) }.to_string_lossy().into_owned()
    }

    pub fn instructions(self) -> Vec<Value> {
        let mut list = Vec::new();
        // SAFETY: iteration over a valid block.
        unsafe {
            let mut i = LLVMGetFirstInstruction(self.0);
            while !i.is_null() {
                list.push(Value(i));
                i = LLVMGetNextInstruction(i);
            }
        }
        list
    }

    pub fn terminator(self) -> Option<Value> {
        // SAFETY: a valid block.
        let t = unsafe { LLVMGetBasicBlockTerminator(self.0) };
        (!t.is_null()).then_some(Value(t))
    }
}
