//! The symbol table: which units define each non-static name, and how strongly.
//!
//! In: modules. Out: per symbol the definitions that a reference may be bound to, in module order.
//! Invariant: `candidates` of a symbol all have the same strength, except that weak ones stay beside
//! strong ones that sit in a unit with `main` (another program may need the weak one).

use crate::{FuncRef, GlobalRef};
use leakproof_ir::{AliasTarget, FuncId, GlobalId, Linkage, Module};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Index into the symbol table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct SymbolId(pub u32);

/// Not in the table: a `static` symbol.
const LOCAL: SymbolId = SymbolId(u32::MAX);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entity {
    Func(FuncId),
    Global(GlobalId),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Strength {
    /// A copy for analysis only.
    Hint,
    Weak,
    Strong,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Definition {
    pub module: u32,
    pub entity: Entity,
    pub strength: Strength,
    /// Size of a global: the largest common symbol wins.
    size: u64,
}

#[derive(Default)]
struct Symbol {
    definitions: SmallVec<[Definition; 1]>,
    declaration: Option<FuncRef>,
    /// The representative declaration carries a source signature.
    described: bool,
    global: Option<GlobalRef>,
}

pub(super) struct SymbolTable<'a> {
    ids: FxHashMap<&'a str, SymbolId>,
    names: Vec<&'a str>,
    symbols: Vec<Symbol>,
    functions: Vec<Vec<SymbolId>>,
    globals: Vec<Vec<SymbolId>>,
    /// Modules that define `main`.
    mains: Vec<u32>,
}

impl<'a> SymbolTable<'a> {
    pub fn collect(modules: &'a [Module]) -> Self {
        let mut table = SymbolTable {
            ids: FxHashMap::default(),
            names: Vec::new(),
            symbols: Vec::new(),
            functions: Vec::with_capacity(modules.len()),
            globals: Vec::with_capacity(modules.len()),
            mains: Vec::new(),
        };
        for (m, module) in modules.iter().enumerate() {
            table.collect_functions(m as u32, module);
            table.collect_globals(m as u32, module);
            table.collect_aliases(m as u32, module);
        }
        for i in 0..table.symbols.len() {
            table.keep_candidates(i);
        }
        table
    }

    fn collect_functions(&mut self, m: u32, module: &'a Module) {
        let mut ids = Vec::with_capacity(module.functions.len());
        for (func, function) in module.functions.iter() {
            if function.linkage == Linkage::Internal {
                ids.push(LOCAL);
                continue;
            }
            let id = self.intern(&function.name);
            ids.push(id);
            if function.is_definition() {
                self.define(id, m, Entity::Func(func), function.linkage, 0);
                if function.name == "main" {
                    self.mains.push(m);
                }
            } else {
                self.declare(id, FuncRef { module: m, func }, function.signature.is_some());
            }
        }
        self.functions.push(ids);
    }

    fn collect_globals(&mut self, m: u32, module: &'a Module) {
        let mut ids = Vec::with_capacity(module.globals.len());
        for (global, data) in module.globals.iter() {
            if data.linkage == Linkage::Internal {
                ids.push(LOCAL);
                continue;
            }
            let id = self.intern(&data.name);
            ids.push(id);
            if data.init.is_some() {
                self.define(id, m, Entity::Global(global), data.linkage, data.size);
            } else {
                let symbol = &mut self.symbols[id.0 as usize];
                symbol.global.get_or_insert(GlobalRef { module: m, global });
            }
        }
        self.globals.push(ids);
    }

    fn collect_aliases(&mut self, m: u32, module: &'a Module) {
        for alias in &module.aliases {
            if alias.linkage == Linkage::Internal {
                continue;
            }
            let entity = match alias.target {
                AliasTarget::Function(f) => Entity::Func(f),
                AliasTarget::Global(g) => Entity::Global(g),
            };
            let id = self.intern(&alias.name);
            self.define(id, m, entity, alias.linkage, 0);
        }
    }

    fn intern(&mut self, name: &'a str) -> SymbolId {
        let next = SymbolId(self.symbols.len() as u32);
        let id = *self.ids.entry(name).or_insert(next);
        if id == next {
            self.names.push(name);
            self.symbols.push(Symbol::default());
        }
        id
    }

    fn define(&mut self, id: SymbolId, module: u32, entity: Entity, linkage: Linkage, size: u64) {
        let strength = match linkage {
            Linkage::AvailableExternally => Strength::Hint,
            Linkage::Weak | Linkage::LinkOnce => Strength::Weak,
            Linkage::External | Linkage::Internal => Strength::Strong,
        };
        let definitions = &mut self.symbols[id.0 as usize].definitions;
        definitions.push(Definition { module, entity, strength, size });
    }

    fn declare(&mut self, id: SymbolId, decl: FuncRef, described: bool) {
        let symbol = &mut self.symbols[id.0 as usize];
        if symbol.declaration.is_none() || (described && !symbol.described) {
            symbol.declaration = Some(decl);
            symbol.described = described;
        }
    }

    /// Drops definitions that no reference can be bound to.
    fn keep_candidates(&mut self, index: usize) {
        let mains = &self.mains;
        let definitions = &mut self.symbols[index].definitions;
        let Some(best) = definitions.iter().map(|d| d.strength).max() else { return };
        let merged = merged_copy(definitions, best);
        let all_strong_in_mains = best == Strength::Strong
            && definitions
                .iter()
                .filter(|d| d.strength == best)
                .all(|d| mains.binary_search(&d.module).is_ok());
        definitions.retain(|d| match d.strength {
            Strength::Strong => true,
            Strength::Weak => merged == Some(*d) && (best == Strength::Weak || all_strong_in_mains),
            Strength::Hint => merged == Some(*d) && best == Strength::Hint,
        });
    }

    pub fn candidates(&self, id: SymbolId) -> &[Definition] {
        self.symbols.get(id.0 as usize).map_or(&[], |s| &s.definitions)
    }

    pub fn name(&self, id: SymbolId) -> &'a str {
        self.names[id.0 as usize]
    }

    pub fn declaration(&self, id: SymbolId) -> Option<FuncRef> {
        self.symbols.get(id.0 as usize)?.declaration
    }

    pub fn global_declaration(&self, id: SymbolId) -> Option<GlobalRef> {
        self.symbols.get(id.0 as usize)?.global
    }

    pub fn function_symbol(&self, module: u32, func: FuncId) -> SymbolId {
        self.functions[module as usize][func.0 as usize]
    }

    pub fn global_symbol(&self, module: u32, global: GlobalId) -> SymbolId {
        self.globals[module as usize][global.0 as usize]
    }

    /// Symbols that a unit mentions, definitions included.
    pub fn mentioned(&self, module: u32) -> impl Iterator<Item = SymbolId> + '_ {
        let m = module as usize;
        self.functions[m].iter().chain(&self.globals[m]).copied().filter(|&s| s != LOCAL)
    }

    pub fn ids(&self) -> impl Iterator<Item = SymbolId> + use<> {
        (0..self.symbols.len() as u32).map(SymbolId)
    }

    pub fn mains(&self) -> &[u32] {
        &self.mains
    }

    pub fn has_main(&self) -> bool {
        !self.mains.is_empty()
    }
}

/// Of equivalent copies one is kept: the largest (C common), then the first.
fn merged_copy(definitions: &[Definition], best: Strength) -> Option<Definition> {
    let strength = if best == Strength::Hint { Strength::Hint } else { Strength::Weak };
    let copies = definitions.iter().filter(|d| d.strength == strength);
    copies.fold(None, |kept: Option<Definition>, d| match kept {
        Some(k) if k.size >= d.size => Some(k),
        _ => Some(*d),
    })
}
