//! The state of lowering one unit, and the order of its steps.

use super::aggregate::Shapes;
use super::function::Scratch;
use super::intrinsic::Intrinsic;
use super::location::Locations;
use super::promote::intrinsic;
use super::source_type::SourceTypes;
use super::struct_names;
use super::thread::thread_cleanups;
use crate::PathStyle;
use crate::llvm::{self, Body, Cursor, Op, Range, ReadError, Record, TypeRef};
use leakproof_ir::{FuncId, InstId, Module, TypeId};

/// What a function of the bitcode is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callable {
    Function(FuncId),
    Intrinsic(Intrinsic),
}

/// An address computation whose source struct is filled in at the end.
#[derive(Clone, Copy, Debug)]
pub struct PendingField {
    pub function: FuncId,
    pub inst: InstId,
    pub structure: TypeRef,
}

/// Everything that lives as long as the unit is being lowered.
pub struct Unit {
    pub raw: llvm::Module,
    pub out: Module,
    pub shapes: Shapes,
    pub types: SourceTypes,
    pub locations: Locations,
    /// By number of the function in the bitcode.
    pub callables: Vec<Callable>,
    /// By number of the ifunc in the bitcode.
    pub ifuncs: Vec<FuncId>,
    pub pending: Vec<PendingField>,
    /// Types of slots, with those of the variables that they are.
    pub slot_types: Vec<(TypeRef, TypeId)>,
    /// Debug info is in the form of calls, as before LLVM 19.
    pub has_debug_calls: bool,
}

pub fn lower(bytes: &[u8], name: &str, style: &PathStyle) -> Result<Module, ReadError> {
    let (raw, mut cursor) = llvm::Module::read(bytes)?;
    let mut unit = Unit {
        shapes: Shapes::new(&raw),
        types: SourceTypes::new(&raw),
        raw,
        out: Module { name: name.to_owned(), ..Module::default() },
        locations: Locations::new(style),
        callables: Vec::new(),
        ifuncs: Vec::new(),
        pending: Vec::new(),
        slot_types: Vec::new(),
        has_debug_calls: false,
    };
    unit.declare_symbols();
    unit.has_debug_calls = unit.callables.contains(&Callable::Intrinsic(Intrinsic::DebugDeclare));
    unit.lower_initializers();
    unit.add_retained_types();
    unit.lower_bodies(&mut cursor)?;
    struct_names::resolve(&mut unit);
    unit.out.files = unit.locations.into_files();
    unit.out.types = unit.types.into_arena();
    Ok(unit.out)
}

impl Unit {
    fn lower_bodies(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
        let mut body = Body::default();
        let mut record = Record::default();
        let mut scratch = Scratch::default();
        for index in 0..self.raw.functions.len() {
            let Some(position) = self.raw.functions[index].body else { continue };
            let Callable::Function(function) = self.callables[index] else { continue };
            body.read(&mut self.raw, cursor, &mut record, index, position)?;
            end_at_traps(self, &mut body);
            thread_cleanups(self, &mut body);
            self.lower_body(function, index, &body, &mut scratch);
            let module_level = body.leave(&mut self.raw);
            self.types.forget_from(module_level);
            self.locations.forget_from(module_level);
        }
        Ok(())
    }
}

/// Nothing comes after a trap, although clang may go on.
fn end_at_traps(unit: &Unit, body: &mut Body) {
    for block in 0..body.blocks.len() {
        let range = body.blocks[block];
        let trap = range.of(&body.insts).iter().position(|inst| match inst.op {
            Op::Call { callee, .. } => intrinsic(unit, callee) == Some(Intrinsic::Trap),
            _ => false,
        });
        if let Some(position) = trap {
            let at = range.start() as usize + position;
            body.insts[at].op = Op::Unreachable;
            body.blocks[block] = Range::new(range.start() as usize, at + 1);
        }
    }
}
