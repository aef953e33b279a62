//! Names of places by the code alone: for what happens in a function other than the one that was run.

use crate::describe::field;
use leakproof_ir::{Body, Function, InstKind, Module, ValueId, ValueKind};
use leakproof_program::Program;
use leakproof_summary::Place;

/// Names of more than this many steps are not made.
const MAX_STEPS: u32 = 6;

/// The place that is written at a position, as its function calls it: `this->name` in a setter, whatever the
/// caller calls the object.
pub fn written_at(program: &Program, at: Place) -> Option<String> {
    let function = program.function(at.func);
    let body = function.body.as_ref()?;
    let names = Names { module: program.module(at.func.module), function, body };
    let here = || body.insts.iter().map(|(_, inst)| inst).filter(|inst| inst.loc == at.loc);
    let stored = here().find_map(|inst| match inst.kind {
        InstKind::Store { ptr, .. } => names.place(ptr, MAX_STEPS),
        _ => None,
    });
    stored.or_else(|| only(here().filter_map(|inst| names.object_of_method(&inst.kind))))
}

/// A member of what is released at a position, as its function calls it: `s->name` where that does `free(s)`.
pub fn member_of_released(program: &Program, at: Place, offset: i64) -> Option<String> {
    let function = program.function(at.func);
    let body = function.body.as_ref()?;
    let names = Names { module: program.module(at.func.module), function, body };
    let mut released = body.insts.iter().filter_map(|(_, inst)| match &inst.kind {
        InstKind::Call { args, .. } if inst.loc == at.loc => args.first().copied(),
        _ => None,
    });
    released.find_map(|pointer| names.member(pointer, offset))
}

/// The one name among several mentions of it.
fn only(mut names: impl Iterator<Item = String>) -> Option<String> {
    let first = names.next()?;
    names.all(|n| n == first).then_some(first)
}

struct Names<'a> {
    module: &'a Module,
    function: &'a Function,
    body: &'a Body,
}

impl Names<'_> {
    /// The object of a method that is called: what a library's header does is blamed on the call of it.
    fn object_of_method(&self, inst: &InstKind) -> Option<String> {
        match inst {
            InstKind::Call { args, .. } => self.place(*args.first()?, MAX_STEPS),
            _ => None,
        }
    }

    /// A member of what a variable points to: of several with that value the last, which is what a cast gave.
    fn member(&self, pointer: ValueId, offset: i64) -> Option<String> {
        let variables = self.body.insts.iter().filter_map(|(_, inst)| match inst.kind {
            InstKind::VarSet { var, value } if value == pointer => Some(&self.body.vars[var]),
            _ => None,
        });
        variables.collect::<Vec<_>>().into_iter().rev().find_map(|variable| {
            let (name, _) = field(self.module, self.module.pointee(variable.ty?)?, offset)?;
            (!name.is_empty()).then(|| format!("{}->{name}", variable.name))
        })
    }

    /// What an address is the address of.
    fn place(&self, address: ValueId, steps: u32) -> Option<String> {
        let steps = steps.checked_sub(1)?;
        match self.function.values[address].kind {
            ValueKind::Global(g, 0) => Some(self.module.globals[g].source_name.clone()),
            ValueKind::Inst(id) => match &self.body.insts[id].kind {
                InstKind::Offset { base, offset, indices, ty: Some(ty) } if indices.is_empty() => {
                    let (name, _) = field(self.module, *ty, *offset)?;
                    Some(format!("{}->{name}", self.pointer(*base, steps)?))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// What a pointer is called.
    fn pointer(&self, v: ValueId, steps: u32) -> Option<String> {
        let steps = steps.checked_sub(1)?;
        if let ValueKind::Param(n) = self.function.values[v].kind {
            let name = &self.function.params.get(n as usize)?.name;
            return (!name.is_empty()).then(|| name.clone());
        }
        let variable = self.body.variable_of(v);
        variable.map(|var| var.name.clone()).or_else(|| match self.function.values[v].kind {
            ValueKind::Inst(id) => match self.body.insts[id].kind {
                InstKind::Load { ptr, .. } => self.place(ptr, steps),
                _ => None,
            },
            _ => None,
        })
    }
}
