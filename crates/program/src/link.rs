//! Binds every function and global reference of every unit to a definition, without a linker.
//!
//! Rules, in order:
//! 1. `static` symbols and strong definitions bind to themselves.
//! 2. A symbol with one candidate definition binds to it. Strong beats weak and common; among
//!    equivalent copies (weak, C++ inline) the first unit's counts; a body that is
//!    `AvailableExternally` only counts when there is nothing better.
//! 3. A symbol with several strong definitions is bound per *program* (see `programs`): a unit with
//!    `main` and what it reaches. A unit that is in several programs gets all their choices.
//! 4. Aliases are definitions of their own name.
//! 5. What has no definition is `External`, one representative declaration per symbol.

mod copies;
mod programs;
mod symbols;

pub use copies::empty_copies;

use crate::{FuncRef, GlobalRef, Target};
use leakproof_ir::{FuncId, GlobalId, Linkage, Module};
use rustc_hash::FxHashMap;
use symbols::{Definition, Entity, SymbolId, SymbolTable};

/// How many definitions a reference may have before the rest is dropped with a note.
const MAX_ALTERNATIVES: usize = 8;

/// The result of linking, indexed by module and id.
pub(crate) struct Bindings {
    pub functions: Vec<Vec<Target>>,
    pub globals: Vec<Vec<GlobalRef>>,
    /// Only references with more than one possible definition.
    pub alternatives: FxHashMap<FuncRef, Vec<Target>>,
    pub global_alternatives: FxHashMap<GlobalRef, Vec<GlobalRef>>,
    pub has_main: bool,
    /// Per module: a program with `main` contains it.
    pub in_program: Vec<bool>,
    pub notes: Vec<String>,
}

pub(crate) fn bind(modules: &[Module]) -> Bindings {
    let table = SymbolTable::collect(modules);
    let mut notes = Vec::new();
    let choices = programs::choose(modules, &table, &mut notes);
    let mut binder = Binder {
        modules,
        table: &table,
        choices: &choices,
        out: Bindings {
            functions: Vec::with_capacity(modules.len()),
            globals: Vec::with_capacity(modules.len()),
            alternatives: FxHashMap::default(),
            global_alternatives: FxHashMap::default(),
            has_main: table.has_main(),
            in_program: choices.in_program.clone(),
            notes,
        },
    };
    for m in 0..modules.len() as u32 {
        binder.bind_functions(m);
        binder.bind_globals(m);
    }
    binder.out
}

struct Binder<'a> {
    modules: &'a [Module],
    table: &'a SymbolTable<'a>,
    choices: &'a programs::Choices,
    out: Bindings,
}

impl Binder<'_> {
    fn bind_functions(&mut self, m: u32) {
        let functions = &self.modules[m as usize].functions;
        let bound = functions.ids().map(|func| self.bind_function(m, func)).collect();
        self.out.functions.push(bound);
    }

    fn bind_function(&mut self, m: u32, func: FuncId) -> Target {
        let own = FuncRef { module: m, func };
        let function = &self.modules[m as usize].functions[func];
        if function.is_definition() && binds_to_itself(function.linkage) {
            return Target::Defined(own);
        }
        let symbol = self.table.function_symbol(m, func);
        let targets: Vec<Target> = self
            .candidates(m, symbol)
            .iter()
            .filter_map(|d| match d.entity {
                Entity::Func(func) => Some(Target::Defined(FuncRef { module: d.module, func })),
                Entity::Global(_) => None,
            })
            .collect();
        match targets.first() {
            None if function.is_definition() => Target::Defined(own),
            None => Target::External(self.table.declaration(symbol).unwrap_or(own)),
            Some(&first) => {
                if targets.len() > 1 {
                    self.out.alternatives.insert(own, targets);
                }
                first
            }
        }
    }

    fn bind_globals(&mut self, m: u32) {
        let globals = &self.modules[m as usize].globals;
        let bound = globals.ids().map(|global| self.bind_global(m, global)).collect();
        self.out.globals.push(bound);
    }

    fn bind_global(&mut self, m: u32, global: GlobalId) -> GlobalRef {
        let own = GlobalRef { module: m, global };
        let data = &self.modules[m as usize].globals[global];
        if data.linkage == Linkage::Internal
            || (data.init.is_some() && binds_to_itself(data.linkage))
        {
            return own;
        }
        let symbol = self.table.global_symbol(m, global);
        let targets: Vec<GlobalRef> = self
            .candidates(m, symbol)
            .iter()
            .filter_map(|d| match d.entity {
                Entity::Global(global) => Some(GlobalRef { module: d.module, global }),
                Entity::Func(_) => None,
            })
            .collect();
        match targets.first() {
            None => self.table.global_declaration(symbol).unwrap_or(own),
            Some(&first) => {
                if targets.len() > 1 {
                    self.out.global_alternatives.insert(own, targets);
                }
                first
            }
        }
    }

    fn candidates(&self, m: u32, symbol: SymbolId) -> &[Definition] {
        match self.choices.get(m, symbol) {
            Some(chosen) => chosen,
            None => self.table.candidates(symbol),
        }
    }
}

fn binds_to_itself(linkage: Linkage) -> bool {
    matches!(linkage, Linkage::External | Linkage::Internal)
}
