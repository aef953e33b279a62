//! Functions, globals and aliases: names, linkage, attributes, types, positions.
//!
//! Afterwards every symbol of the bitcode has its id; bodies and initial values are still absent.

use super::intrinsic::Intrinsic;
use super::source_type::qualified_name;
use super::unit::{Callable, Unit};
use crate::llvm::{self, Attributes, MdId, Type, Value, md_code};
use leakproof_ir::{
    Alias, AliasTarget, Arena, FuncAttrs, FuncId, Function, Global, GlobalId, Linkage, Loc, Param,
    SourceType, Ty, TypeId, Value as IrValue, ValueKind,
};
use rustc_hash::FxHashMap;

/// The attachment kind `dbg` has this fixed number.
const DBG_KIND: u32 = 0;

impl Unit {
    pub fn declare_symbols(&mut self) {
        let debug = self.debug_attachments();
        for index in 0..self.raw.globals.len() {
            self.declare_global(index);
        }
        for index in 0..self.raw.functions.len() {
            let callable = match Intrinsic::of(&self.raw.functions[index].name) {
                Some(intrinsic) => Callable::Intrinsic(intrinsic),
                None => Callable::Function(self.declare_function(index)),
            };
            self.callables.push(callable);
        }
        for index in 0..self.raw.ifuncs.len() {
            let id = self.declare_ifunc(index);
            self.ifuncs.push(id);
        }
        self.attach_debug_info(&debug);
        self.declare_aliases();
        self.mark_constructors();
    }

    /// Debug node of each global value that has one.
    fn debug_attachments(&self) -> Vec<(Value, MdId)> {
        let attached = self.raw.metadata.global_attachments.iter();
        let debug = attached.filter(|(_, kind, _)| *kind == DBG_KIND);
        debug.filter_map(|(v, _, md)| Some((self.raw.values.get(*v as usize)?.0, *md))).collect()
    }

    fn attach_debug_info(&mut self, debug: &[(Value, MdId)]) {
        for &(value, node) in debug {
            match value {
                Value::Global(index) => self.describe_global(GlobalId(index), node),
                Value::Function(index) => {
                    if let Some(Callable::Function(id)) = self.callables.get(index as usize) {
                        self.describe_function(*id, node);
                    }
                }
                _ => {}
            }
        }
    }

    fn declare_global(&mut self, index: usize) {
        let raw = &self.raw.globals[index];
        self.out.globals.push(Global {
            name: raw.name.clone(),
            source_name: String::new(),
            linkage: linkage(raw.linkage),
            constant: raw.constant,
            thread_local: raw.thread_local,
            size: self.raw.layout.alloc_size(raw.ty),
            ty: None,
            init: None,
            loc: Loc::default(),
        });
    }

    fn describe_global(&mut self, id: GlobalId, node: MdId) {
        let md = &self.raw.metadata;
        let expression = md.node(node);
        let variable = match expression.code {
            md_code::GLOBAL_VAR_EXPR => expression.reference(1).map(|v| md.node(v)),
            _ => Some(expression),
        };
        let Some(variable) = variable.filter(|v| v.code == md_code::GLOBAL_VAR) else { return };
        let name = String::from_utf8_lossy(md.text(variable.reference(2))).into_owned();
        let line = variable.number(5) as u32;
        let loc = variable.reference(4).map(|file| self.locations.at(md, file, line, 0));
        let ty = self.types.convert(&self.raw, variable.reference(6));
        let global = &mut self.out.globals[id];
        global.source_name = name;
        global.loc = loc.unwrap_or_default();
        global.ty = Some(ty);
    }

    fn declare_function(&mut self, index: usize) -> FuncId {
        let raw = &self.raw.functions[index];
        let attributes = self.raw.attributes.list(raw.attributes);
        let mut function = empty_function(&raw.name, linkage(raw.linkage));
        function.attrs = attrs(attributes);
        if let Type::Function { variadic, ret, params } = self.raw.types.get(raw.ty) {
            function.variadic = *variadic;
            function.ret = self.shapes.ty(*ret);
            for (position, param) in (0u32..).zip(params) {
                let ty = self.shapes.ty(*param);
                let kind = ValueKind::Param(position);
                function.params.push(Param {
                    value: function.values.push(IrValue { kind, ty }),
                    name: String::new(),
                    ty: None,
                    sret: attributes.sret == Some(position),
                    byval: attributes.byval.contains(&position),
                });
            }
        }
        self.out.functions.push(function)
    }

    /// What an ifunc calls is chosen at run time: to us, a function without a body.
    fn declare_ifunc(&mut self, index: usize) -> FuncId {
        let raw = &self.raw.ifuncs[index];
        let function = empty_function(&raw.name, linkage(raw.linkage));
        self.out.functions.push(function)
    }

    /// Names, types and position of a function from its debug node.
    pub fn describe_function(&mut self, id: FuncId, node: MdId) {
        let subprogram = self.raw.metadata.node(node);
        if subprogram.code != md_code::SUBPROGRAM {
            return;
        }
        let line = subprogram.number(5) as u32;
        let loc = self.locations.at(&self.raw.metadata, node, line, 0);
        let signature = self.types.convert(&self.raw, subprogram.reference(6));
        let name = qualified_name(&self.raw, node);
        let function = &mut self.out.functions[id];
        if !name.is_empty() {
            function.source_name = name;
        }
        function.loc = loc;
        function.signature = Some(signature);
        type_params(function, self.types.arena(), signature);
    }

    fn declare_aliases(&mut self) {
        for index in 0..self.raw.aliases.len() {
            let raw = &self.raw.aliases[index];
            let target = match self.address_of(raw.target) {
                Some((Value::Function(f), _)) => match self.callables.get(f as usize) {
                    Some(Callable::Function(id)) => AliasTarget::Function(*id),
                    _ => continue,
                },
                Some((Value::Global(g), _)) => AliasTarget::Global(GlobalId(g)),
                _ => continue,
            };
            let alias = Alias { name: raw.name.clone(), linkage: linkage(raw.linkage), target };
            self.out.aliases.push(alias);
        }
    }

    /// `@llvm.global_ctors` and `@llvm.global_dtors` list (priority, function, data).
    fn mark_constructors(&mut self) {
        let lists: FxHashMap<&str, bool> =
            [("llvm.global_ctors", true), ("llvm.global_dtors", false)].into_iter().collect();
        for index in 0..self.raw.globals.len() {
            let global = &self.raw.globals[index];
            let Some(&starts) = lists.get(global.name.as_str()) else { continue };
            for id in self.functions_in(global.init) {
                let attrs = &mut self.out.functions[id].attrs;
                attrs.constructor |= starts;
                attrs.destructor |= !starts;
            }
        }
    }

    fn functions_in(&self, list: Option<u32>) -> Vec<FuncId> {
        let elements = |value: u32| match self.raw.constant(value) {
            Some(llvm::Constant::Aggregate(range)) => range.of(&self.raw.constants.pool).to_vec(),
            _ => Vec::new(),
        };
        let entries = list.map(elements).unwrap_or_default();
        let functions = entries.iter().filter_map(|e| elements(*e as u32).get(1).copied());
        let callables = functions.filter_map(|f| match self.address_of(f as u32) {
            Some((Value::Function(f), _)) => self.callables.get(f as usize).copied(),
            _ => None,
        });
        callables
            .filter_map(|c| match c {
                Callable::Function(id) => Some(id),
                Callable::Intrinsic(_) => None,
            })
            .collect()
    }

    /// Types that the compiler keeps although no variable has them (casts).
    pub fn add_retained_types(&mut self) {
        for unit in self.raw.metadata.units.clone() {
            let list = self.raw.metadata.node(unit).reference(10);
            let list = list.map(|list| self.raw.metadata.node(list));
            let types: Vec<_> =
                list.iter().flat_map(|l| (0..l.len()).map(|i| l.reference(i))).collect();
            for ty in types {
                // Declarations of functions are retained too; they are no types.
                let is_type = ty.map(|t| self.raw.metadata.node(t).code);
                if matches!(is_type, Some(md_code::COMPOSITE_TYPE | md_code::DERIVED_TYPE)) {
                    self.types.convert(&self.raw, ty);
                }
            }
        }
    }
}

fn empty_function(name: &str, linkage: Linkage) -> Function {
    Function {
        name: name.to_owned(),
        source_name: source_name(name),
        linkage,
        attrs: FuncAttrs::default(),
        params: Vec::new(),
        ret: Ty::Void,
        signature: None,
        variadic: false,
        loc: Loc::default(),
        body: None,
        values: Arena::new(),
    }
}

/// What a programmer calls a symbol that has no debug info.
fn source_name(symbol: &str) -> String {
    // A leading \x01 tells LLVM to leave the name alone.
    let symbol = symbol.strip_prefix('\x01').unwrap_or(symbol);
    if !symbol.starts_with("_Z") {
        return symbol.to_owned();
    }
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let demangled =
        cpp_demangle::Symbol::new(symbol).ok().and_then(|s| s.demangle_with_options(&options).ok());
    demangled.unwrap_or_else(|| symbol.to_owned())
}

fn linkage(raw: llvm::Linkage) -> Linkage {
    match raw {
        llvm::Linkage::External => Linkage::External,
        llvm::Linkage::Internal => Linkage::Internal,
        llvm::Linkage::Weak => Linkage::Weak,
        llvm::Linkage::LinkOnce => Linkage::LinkOnce,
        llvm::Linkage::AvailableExternally => Linkage::AvailableExternally,
    }
}

fn attrs(raw: &Attributes) -> FuncAttrs {
    /// `allockind` bits of functions that release a parameter.
    const REALLOC: u64 = 2;
    const FREE: u64 = 4;
    let releases = raw.alloc_kind & (REALLOC | FREE) != 0;
    FuncAttrs {
        noreturn: raw.noreturn,
        noalias_return: raw.noalias_return,
        nonnull_return: raw.nonnull_return,
        alloc_family: raw.alloc_family.clone(),
        alloc_size: raw.alloc_size,
        alloc_ptr: raw.alloc_ptr.filter(|_| releases),
        constructor: false,
        destructor: false,
    }
}

/// Gives parameters their types when source and machine agree on their number: a struct passed in
/// two registers shifts all that follow.
fn type_params(function: &mut Function, types: &Arena<TypeId, SourceType>, signature: TypeId) {
    let SourceType::Function { params, .. } = &types[signature] else { return };
    let hidden = function.params.iter().take_while(|p| p.sret).count();
    if function.params.len() - hidden != params.len() {
        return;
    }
    for (param, ty) in function.params.iter_mut().skip(hidden).zip(params) {
        param.ty = Some(*ty);
    }
}
