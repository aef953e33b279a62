//! Turns what our reader does not know (textual IR, bitcode of other releases) into bitcode that
//! it does, with LLVM's own library.
//!
//! In: bytes of a `.ll` or `.bc` file. Out: bitcode of the linked LLVM, of a module that LLVM's
//! verifier accepts. Every call has its own LLVM context, so calls from several threads do not
//! meet. LLVM reports malformed input through its error paths; what is left are inputs that run
//! into one of its internal `report_fatal_error`s, which end the process after the handler that
//! is installed here has named the reason. Bitcode of the linked release never gets here.
#![expect(unsafe_code, reason = "LLVM's C interface")]

use llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use llvm_sys::bit_writer::LLVMWriteBitcodeToMemoryBuffer;
use llvm_sys::core::{
    LLVMContextCreate, LLVMContextDispose, LLVMContextSetDiagnosticHandler,
    LLVMCreateMemoryBufferWithMemoryRangeCopy, LLVMDisposeMemoryBuffer, LLVMDisposeMessage,
    LLVMDisposeModule, LLVMGetBufferSize, LLVMGetBufferStart, LLVMGetDiagInfoDescription,
};
use llvm_sys::error_handling::LLVMInstallFatalErrorHandler;
use llvm_sys::ir_reader::LLVMParseIRInContext;
use llvm_sys::prelude::{
    LLVMContextRef, LLVMDiagnosticInfoRef, LLVMMemoryBufferRef, LLVMModuleRef,
};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Once;

/// `bytes` as bitcode of the linked LLVM release, or LLVM's complaint.
pub fn to_current_bitcode(bytes: &[u8], is_bitcode: bool) -> Result<Vec<u8>, String> {
    install_fatal_handler();
    let context = Context::new();
    let module = context.parse(bytes, is_bitcode)?;
    module.verify()?;
    Ok(module.write())
}

fn install_fatal_handler() {
    static ONCE: Once = Once::new();
    extern "C" fn on_fatal(reason: *const c_char) {
        eprintln!("leakproof: LLVM gave up on this input: {}", text(reason));
    }
    // SAFETY: the handler lives as long as the program.
    ONCE.call_once(|| unsafe { LLVMInstallFatalErrorHandler(Some(on_fatal)) });
}

/// A copy of LLVM's text, which may be null.
fn text(message: *const c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: LLVM's messages end with a zero byte.
    unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
}

/// A copy of a message that is ours to free.
fn take_message(message: *mut c_char) -> String {
    let copy = text(message);
    if !message.is_null() {
        // SAFETY: LLVM allocated it for us, and it is not used afterwards.
        unsafe { LLVMDisposeMessage(message) };
    }
    copy
}

/// An LLVM context that keeps the first complaint.
struct Context {
    raw: LLVMContextRef,
    /// The handler of the context points here.
    complaint: Box<Option<String>>,
}

extern "C" fn on_diagnostic(info: LLVMDiagnosticInfoRef, complaint: *mut c_void) {
    // SAFETY: `complaint` is the box of the context that LLVM is working in, on this thread.
    let complaint = unsafe { &mut *complaint.cast::<Option<String>>() };
    // SAFETY: `info` is valid during the callback.
    let message = take_message(unsafe { LLVMGetDiagInfoDescription(info) });
    complaint.get_or_insert(message);
}

impl Context {
    fn new() -> Self {
        let mut complaint = Box::new(None);
        let slot: *mut Option<String> = &mut *complaint;
        // SAFETY: the box outlives the context, which `drop` disposes of first.
        let raw = unsafe {
            let raw = LLVMContextCreate();
            LLVMContextSetDiagnosticHandler(raw, Some(on_diagnostic), slot.cast());
            raw
        };
        Self { raw, complaint }
    }

    fn parse(&self, bytes: &[u8], is_bitcode: bool) -> Result<Parsed<'_>, String> {
        let mut raw: LLVMModuleRef = std::ptr::null_mut();
        let mut message: *mut c_char = std::ptr::null_mut();
        // SAFETY: the buffer is a copy with a zero byte behind it; parsing IR takes it over,
        // parsing bitcode does not.
        let failed = unsafe {
            let name = c"input".as_ptr();
            let buffer =
                LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes.as_ptr().cast(), bytes.len(), name);
            if is_bitcode {
                let failed = LLVMParseBitcodeInContext2(self.raw, buffer, &mut raw);
                LLVMDisposeMemoryBuffer(buffer);
                failed
            } else {
                LLVMParseIRInContext(self.raw, buffer, &mut raw, &mut message)
            }
        };
        let message = take_message(message);
        if failed == 0 && !raw.is_null() {
            return Ok(Parsed { raw, _context: self });
        }
        let complaint = self.complaint.as_ref().as_ref();
        Err(complaint.filter(|_| message.is_empty()).cloned().unwrap_or(message))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: all modules of the context borrow it, so they are gone.
        unsafe { LLVMContextDispose(self.raw) };
    }
}

struct Parsed<'c> {
    raw: LLVMModuleRef,
    _context: &'c Context,
}

impl Parsed<'_> {
    fn verify(&self) -> Result<(), String> {
        use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
        let mut message: *mut c_char = std::ptr::null_mut();
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        // SAFETY: the module is alive.
        let broken = unsafe { LLVMVerifyModule(self.raw, action, &mut message) };
        let message = take_message(message);
        if broken == 0 { Ok(()) } else { Err(message) }
    }

    fn write(&self) -> Vec<u8> {
        // SAFETY: the buffer is ours until it is disposed of, after the copy.
        unsafe {
            let buffer: LLVMMemoryBufferRef = LLVMWriteBitcodeToMemoryBuffer(self.raw);
            let start = LLVMGetBufferStart(buffer).cast::<u8>();
            let bytes = std::slice::from_raw_parts(start, LLVMGetBufferSize(buffer)).to_vec();
            LLVMDisposeMemoryBuffer(buffer);
            bytes
        }
    }
}

impl Drop for Parsed<'_> {
    fn drop(&mut self) {
        // SAFETY: nobody else knows the module.
        unsafe { LLVMDisposeModule(self.raw) };
    }
}
