//! Names for everything in a program that a stored result may speak of, and hashes of what the
//! analysis of a function may look at.
//!
//! A name says what an entity is as seen from outside, over all that can be reached from it: of a function
//! its module, symbol and signature; of a constant its contents, too. So whoever speaks of an
//! entity by its name depends on all of that, and an entity that changed is not found any more.
//! Positions count from the first line of their function.

use super::deep;
use super::digest::{self, Id, Scope, hash};
use leakproof_ir::{
    FuncId, Function, Global, GlobalId, InitValue, Linkage, Loc, Module, SourceType, TypeId,
};
use leakproof_program::scc::Graph;
use leakproof_program::{FuncRef, GlobalRef, Program, Target};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// The names of one program.
pub struct Names<'p> {
    pub program: &'p Program,
    modules: Vec<ModuleNames<'p>>,
    functions: FxHashMap<FuncRef, Id>,
    globals: FxHashMap<GlobalRef, Id>,
    by_function: FxHashMap<Id, FuncRef>,
    by_global: FxHashMap<Id, GlobalRef>,
    /// Per definition, what its analysis may look at apart from callees.
    bodies: FxHashMap<FuncRef, Id>,
}

struct ModuleNames<'p> {
    id: Id,
    types: Vec<Id>,
    files: FxHashMap<&'p str, u32>,
}

impl<'p> Names<'p> {
    pub fn of(program: &'p Program) -> Self {
        let ids = module_ids(program.modules());
        let modules: Vec<ModuleNames<'p>> =
            program.modules().par_iter().zip(ids).map(|(m, id)| ModuleNames::of(m, id)).collect();
        let mut names = Self {
            program,
            modules,
            functions: FxHashMap::default(),
            globals: FxHashMap::default(),
            by_function: FxHashMap::default(),
            by_global: FxHashMap::default(),
            bodies: FxHashMap::default(),
        };
        names.name_functions();
        names.name_globals();
        names.hash_bodies();
        names
    }

    pub fn function(&self, f: FuncRef) -> Option<Id> {
        self.functions.get(&f).copied()
    }
    pub fn global(&self, g: GlobalRef) -> Option<Id> {
        self.globals.get(&g).copied()
    }
    pub fn find_function(&self, id: &Id) -> Option<FuncRef> {
        self.by_function.get(id).copied()
    }
    pub fn find_global(&self, id: &Id) -> Option<GlobalRef> {
        self.by_global.get(id).copied()
    }
    pub fn body(&self, f: FuncRef) -> Option<Id> {
        self.bodies.get(&f).copied()
    }
    /// The number that a file has in a module.
    pub fn file(&self, module: u32, name: &str) -> Option<u32> {
        self.modules[module as usize].files.get(name).copied()
    }

    fn name_functions(&mut self) {
        for (m, module) in self.program.modules().iter().enumerate() {
            let mut seen = Repeats::default();
            for (func, function) in module.functions.iter() {
                let f = FuncRef { module: m as u32, func };
                let nth = seen.next(hash(function.name.as_bytes()));
                if self.program.resolve(f.module, func).func() == f {
                    let id = self.interface(f, function, nth);
                    self.functions.insert(f, id);
                    self.by_function.insert(id, f);
                }
            }
        }
    }

    /// What callers see of a function.
    fn interface(&self, f: FuncRef, function: &Function, nth: u32) -> Id {
        let Function {
            name, source_name, linkage, attrs, params, ret, signature, variadic, ..
        } = function;
        let module = &self.modules[f.module as usize];
        let inner = InModule { names: self, module: f.module, first: Loc::default() };
        let defined = function.is_definition();
        let seen = (name, source_name, linkage, attrs, ret, signature, variadic, defined, nth);
        let mut text = module.id.to_vec();
        text.extend(digest::bytes_of(&seen, &inner));
        // Positions in the function's own file do not say which one that is.
        text.extend(digest::bytes_of(&self.file_name(f.module, function.loc.file), &inner));
        for p in params {
            let machine = function.values.get(p.value);
            text.extend(digest::bytes_of(&(&p.name, p.ty, p.sret, p.byval, machine), &inner));
        }
        hash(&text)
    }

    fn name_globals(&mut self) {
        let table = GlobalTable::of(self);
        for (&g, id) in table.list.iter().zip(deep::hashes(&table.own, &table.graph)) {
            self.globals.insert(g, id);
            self.by_global.insert(id, g);
        }
    }

    fn hash_bodies(&mut self) {
        let this = &*self;
        let bodies = this.program.definition_list().par_iter().map(|&f| {
            let function = this.program.function(f);
            let scope = InModule { names: this, module: f.module, first: function.loc };
            let name = this.function(f).unwrap_or_default();
            let text = digest::bytes_of(function, &scope);
            (f, hash(&[&name[..], &text].concat()))
        });
        self.bodies = bodies.collect();
    }

    fn type_id(&self, module: u32, ty: u32) -> Id {
        self.modules[module as usize].types.get(ty as usize).copied().unwrap_or_default()
    }

    fn file_name(&self, module: u32, file: u32) -> &'p str {
        let files = &self.program.module(module).files;
        files.get(leakproof_ir::FileId(file)).map_or("", String::as_str)
    }
}

/// How often something was seen.
#[derive(Default)]
struct Repeats(FxHashMap<Id, u32>);

impl Repeats {
    fn next(&mut self, id: Id) -> u32 {
        let count = self.0.entry(id).or_default();
        *count += 1;
        *count - 1
    }
}

/// A module is known by its source file; a file that is compiled several times by the order.
fn module_ids(modules: &[Module]) -> Vec<Id> {
    let mut seen = Repeats::default();
    let named = modules.iter().map(|m| {
        let id = hash(m.name.as_bytes());
        hash(&[&id[..], &seen.next(id).to_le_bytes()].concat())
    });
    named.collect()
}

impl<'p> ModuleNames<'p> {
    fn of(module: &'p Module, id: Id) -> Self {
        let mut graph = Graph { starts: vec![0], targets: Vec::new() };
        let mut own = Vec::with_capacity(module.types.len());
        for ty in module.types.values() {
            for_each_type(ty, |t| graph.targets.push(t.0));
            graph.starts.push(graph.targets.len() as u32);
            own.push(hash(&digest::bytes_of(ty, &Blank)));
        }
        // A type that the module does not have would be a fault of its maker; it must not be one
        // of the hash.
        graph.targets.iter_mut().for_each(|t| *t = (*t).min((own.len() as u32).saturating_sub(1)));
        let files = module.files.iter().map(|(i, name)| (name.as_str(), i.0)).collect();
        Self { id, types: deep::hashes(&own, &graph), files }
    }
}

fn for_each_type(ty: &SourceType, mut f: impl FnMut(TypeId)) {
    match ty {
        SourceType::Void | SourceType::Scalar { .. } => {}
        SourceType::Pointer { to } => f(*to),
        SourceType::Const { of } | SourceType::Array { of, .. } => f(*of),
        SourceType::Struct { fields, .. } => fields.iter().for_each(|field| f(field.ty)),
        SourceType::Function { params, ret, .. } => {
            params.iter().copied().for_each(&mut f);
            f(*ret);
        }
    }
}

/// Leaves out what is referred to.
struct Blank;

impl Scope for Blank {
    fn function(&self, _: u32) -> Id {
        Id::default()
    }
    fn global(&self, _: u32) -> Id {
        Id::default()
    }
    fn ty(&self, _: u32) -> Id {
        Id::default()
    }
    fn position(&self, _: u32, _: u32, _: &mut Vec<u8>) {}
}

/// Ids as one module uses them, positions from `first` on.
struct InModule<'n> {
    names: &'n Names<'n>,
    module: u32,
    first: Loc,
}

impl Scope for InModule<'_> {
    fn function(&self, id: u32) -> Id {
        let target = self.names.program.resolve(self.module, FuncId(id));
        let mut name = self.names.function(target.func()).unwrap_or_default();
        name[0] ^= u8::from(matches!(target, Target::External(_)));
        name
    }
    fn global(&self, id: u32) -> Id {
        let g = self.names.program.resolve_global(self.module, GlobalId(id));
        self.names.global(g).unwrap_or_default()
    }
    fn ty(&self, id: u32) -> Id {
        self.names.type_id(self.module, id)
    }
    fn position(&self, file: u32, line: u32, out: &mut Vec<u8>) {
        let (own, known) = (file == self.first.file, line != 0);
        out.extend([u8::from(own), u8::from(known)]);
        let line = if own && known { line.wrapping_sub(self.first.line) } else { line };
        out.extend(line.to_le_bytes());
        if !own {
            let name = self.names.file_name(self.module, file);
            out.extend((name.len() as u32).to_le_bytes());
            out.extend(name.as_bytes());
        }
    }
}

/// The globals that count, with what the constant ones refer to.
struct GlobalTable {
    list: Vec<GlobalRef>,
    own: Vec<Id>,
    graph: Graph,
}

impl GlobalTable {
    fn of(names: &Names<'_>) -> Self {
        let list = representatives(names.program);
        let index: FxHashMap<GlobalRef, u32> =
            list.iter().enumerate().map(|(i, &g)| (g, i as u32)).collect();
        let mut graph = Graph { starts: vec![0], targets: Vec::new() };
        let mut own = Vec::with_capacity(list.len());
        let mut seen = Repeats::default();
        for &g in &list {
            let global = names.program.global(g);
            let (identity, contents) = describe(names, g, global);
            let nth = seen.next(identity);
            own.push(hash(&[&identity[..], &contents, &nth.to_le_bytes()].concat()));
            for_each_reference(global, |to| {
                let to = names.program.resolve_global(g.module, to);
                graph.targets.extend(index.get(&to));
            });
            graph.starts.push(graph.targets.len() as u32);
        }
        Self { list, own, graph }
    }
}

fn representatives(program: &Program) -> Vec<GlobalRef> {
    let mut list = Vec::new();
    for (m, module) in program.modules().iter().enumerate() {
        let all = module.globals.ids().map(|global| GlobalRef { module: m as u32, global });
        list.extend(all.filter(|g| program.resolve_global(g.module, g.global) == *g));
    }
    list
}

/// What tells a global from others, and what an analysis sees of it.
fn describe(names: &Names<'_>, g: GlobalRef, global: &Global) -> (Id, Vec<u8>) {
    let module = &names.modules[g.module as usize];
    let contents = global.init.as_ref().filter(|_| global.constant);
    // The compiler numbers literals, so their names change with every new one.
    let literal =
        global.source_name.is_empty() && global.constant && global.linkage == Linkage::Internal;
    let name =
        if literal { digest::bytes_of(&contents, &Blank) } else { global.name.as_bytes().to_vec() };
    let identity = hash(&[&module.id[..], &[u8::from(literal)], &name].concat());
    let size = contents.map(|_| global.size);
    let seen = (&global.source_name, global.constant, size, global.ty, contents);
    let scope = Constant(InModule { names, module: g.module, first: Loc::default() });
    (identity, digest::bytes_of(&seen, &scope))
}

/// The contents of a constant: globals in it are edges of the graph.
struct Constant<'n>(InModule<'n>);

impl Scope for Constant<'_> {
    fn function(&self, id: u32) -> Id {
        self.0.function(id)
    }
    fn global(&self, _: u32) -> Id {
        Id::default()
    }
    fn ty(&self, id: u32) -> Id {
        self.0.ty(id)
    }
    fn position(&self, file: u32, line: u32, out: &mut Vec<u8>) {
        self.0.position(file, line, out);
    }
}

fn for_each_reference(global: &Global, mut f: impl FnMut(GlobalId)) {
    for entry in global.init.iter().flatten().filter(|_| global.constant) {
        if let InitValue::Global(to, _) = entry.value {
            f(to);
        }
    }
}
