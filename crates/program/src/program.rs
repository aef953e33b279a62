//! The linked program: all modules, and for every reference the definition it is bound to.
//!
//! In: lowered units in a fixed order. Out: `Program`, immutable afterwards. Invariants: a resolved
//! definition resolves to itself; every `Target::External` of one symbol is the same `FuncRef`;
//! nothing here depends on hash order.

use crate::link::{self, Bindings};
use leakproof_ir::{Arena, FuncId, Function, Global, GlobalId, Module};
use serde::{Deserialize, Serialize};

/// A function of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct FuncRef {
    pub module: u32,
    pub func: FuncId,
}

/// A global variable of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct GlobalRef {
    pub module: u32,
    pub global: GlobalId,
}

/// What a reference to a function stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Target {
    Defined(FuncRef),
    /// A declaration with no body anywhere; its `FuncRef` gives name, signature and attributes.
    External(FuncRef),
}

impl Target {
    pub fn func(self) -> FuncRef {
        match self {
            Target::Defined(f) | Target::External(f) => f,
        }
    }
    pub fn defined(self) -> Option<FuncRef> {
        match self {
            Target::Defined(f) => Some(f),
            Target::External(_) => None,
        }
    }
}

/// The linked modules of a run.
pub struct Program {
    modules: Vec<Module>,
    bindings: Bindings,
    definitions: Vec<FuncRef>,
}

impl Program {
    /// Links units by symbol, linkage and program. Never fails: a conflict becomes a note.
    pub fn link(modules: Vec<Module>) -> Program {
        let bindings = link::bind(&modules);
        let definitions = kept_definitions(&modules, &bindings);
        Program { modules, bindings, definitions }
    }

    /// The modules again, as they were given.
    pub fn into_modules(self) -> Vec<Module> {
        self.modules
    }

    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    pub fn module(&self, index: u32) -> &Module {
        &self.modules[index as usize]
    }

    pub fn function(&self, f: FuncRef) -> &Function {
        &self.modules[f.module as usize].functions[f.func]
    }

    pub fn global(&self, g: GlobalRef) -> &Global {
        &self.modules[g.module as usize].globals[g.global]
    }

    /// What `func`, as `module` refers to it, is: through linkage, weak symbols and aliases.
    pub fn resolve(&self, module: u32, func: FuncId) -> Target {
        self.bindings.functions[module as usize][func.0 as usize]
    }

    /// Every definition that `func` may be bound to, the one of `resolve` first. More than one only
    /// when a unit belongs to several programs that define the symbol differently.
    pub fn resolve_all(&self, module: u32, func: FuncId) -> &[Target] {
        match self.bindings.alternatives.get(&FuncRef { module, func }) {
            Some(all) => all,
            None => {
                std::slice::from_ref(&self.bindings.functions[module as usize][func.0 as usize])
            }
        }
    }

    /// The one representative of a global: its definition when there is one.
    pub fn resolve_global(&self, module: u32, global: GlobalId) -> GlobalRef {
        self.bindings.globals[module as usize][global.0 as usize]
    }

    /// Every definition that `global` may be bound to, the one of `resolve_global` first.
    pub fn resolve_global_all(&self, module: u32, global: GlobalId) -> &[GlobalRef] {
        match self.bindings.global_alternatives.get(&GlobalRef { module, global }) {
            Some(all) => all,
            None => {
                std::slice::from_ref(&self.bindings.globals[module as usize][global.0 as usize])
            }
        }
    }

    /// Every function body that counts, once, in module order.
    pub fn definitions(&self) -> impl Iterator<Item = FuncRef> + '_ {
        self.definitions.iter().copied()
    }

    pub fn definition_list(&self) -> &[FuncRef] {
        &self.definitions
    }

    /// Some unit defines `main`.
    pub fn has_main(&self) -> bool {
        self.bindings.has_main
    }

    /// The unit is part of a program with `main`: its functions are only called from within.
    /// Otherwise it is a library, open to callers that are not seen.
    pub fn is_closed(&self, module: u32) -> bool {
        self.bindings.in_program[module as usize]
    }

    /// What the linker would have complained about.
    pub fn notes(&self) -> &[String] {
        &self.bindings.notes
    }

    /// The function as a reader knows it.
    pub fn display_name(&self, f: FuncRef) -> &str {
        let function = self.function(f);
        if function.source_name.is_empty() { &function.name } else { &function.source_name }
    }
}

fn kept_definitions(modules: &[Module], bindings: &Bindings) -> Vec<FuncRef> {
    let mut kept = Vec::new();
    for (m, module) in modules.iter().enumerate() {
        for (func, function) in Arena::iter(&module.functions) {
            let f = FuncRef { module: m as u32, func };
            if function.is_definition()
                && bindings.functions[m][func.0 as usize] == Target::Defined(f)
            {
                kept.push(f);
            }
        }
    }
    kept
}
