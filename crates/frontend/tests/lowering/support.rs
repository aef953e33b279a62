//! Compiles snippets with clang and lowers them; every module is verified and must survive the
//! round trip through the text form.

use leakproof_frontend::{PathStyle, lower_bitcode};
use leakproof_ir::{
    Body, FuncId, Function, Global, Inst, InstKind, Module, SourceType, TypeId, ValueId, ValueKind,
};
use std::path::Path;
use std::process::Command;

/// What the frontend passes to clang, as far as it shapes the code.
pub const FLAGS: &[&str] =
    &["-O1", "-Xclang", "-disable-llvm-passes", "-g", "-fno-strict-aliasing", "-w"];

/// clang's bitcode for a snippet; `name` tells the language.
pub fn bitcode(name: &str, source: &str, flags: &[&str]) -> Vec<u8> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(dir.path().join(name), source).expect("the snippet is written");
    compile(dir.path(), name, flags)
}

pub fn compile(dir: &Path, name: &str, flags: &[&str]) -> Vec<u8> {
    let clang = std::env::var_os("LEAKPROOF_CLANG").unwrap_or_else(|| "clang-19".into());
    let output = Command::new(clang)
        .args(flags)
        .args(["-emit-llvm", "-c", "-o", "-", name])
        .current_dir(dir)
        .output()
        .expect("clang runs");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "clang rejects the snippet: {messages}");
    output.stdout
}

pub fn checked(bitcode: &[u8]) -> Module {
    let style = PathStyle { cwd: "/nowhere".into(), comp_dir: "/nowhere".into() };
    let module = lower_bitcode(bitcode, "snippet", &style).expect("the bitcode is lowered");
    if let Err(errors) = leakproof_ir::verify(&module) {
        panic!("{}\n{}", errors[0], leakproof_ir::print_module(&module));
    }
    let text = leakproof_ir::print_module(&module);
    let parsed = leakproof_ir::parse_module(&text).expect("the text form parses");
    assert_eq!(leakproof_ir::print_module(&parsed), text);
    module
}

pub fn lower(source: &str) -> Module {
    checked(&bitcode("snippet.c", source, FLAGS))
}

pub fn lower_cpp(source: &str) -> Module {
    checked(&bitcode("snippet.cpp", source, FLAGS))
}

/// Questions that the tests ask of a module.
pub trait Ask {
    fn func(&self, name: &str) -> &Function;
    fn func_id(&self, name: &str) -> FuncId;
    fn global(&self, name: &str) -> &Global;
    fn global_name(&self, value: &ValueKind) -> &str;
    fn ty(&self, id: Option<TypeId>) -> String;
}

impl Ask for Module {
    fn func(&self, name: &str) -> &Function {
        &self.functions[self.func_id(name)]
    }
    fn func_id(&self, name: &str) -> FuncId {
        let found = self.functions.iter().find(|(_, f)| f.name == name || f.source_name == name);
        found.unwrap_or_else(|| panic!("no function {name}")).0
    }
    fn global(&self, name: &str) -> &Global {
        let mut globals = self.globals.values();
        let found = globals.find(|g| g.name == name || g.source_name == name);
        found.unwrap_or_else(|| panic!("no global {name}"))
    }
    fn global_name(&self, value: &ValueKind) -> &str {
        match value {
            ValueKind::Global(g, _) => &self.globals[*g].name,
            other => panic!("no global: {other:?}"),
        }
    }
    /// A type as C would spell it, structs by name.
    fn ty(&self, id: Option<TypeId>) -> String {
        let Some(id) = id else { return "none".into() };
        match &self.types[id] {
            SourceType::Void => "void".into(),
            SourceType::Scalar { name, .. } => name.clone(),
            SourceType::Pointer { to } => format!("{}*", self.ty(Some(*to))),
            SourceType::Const { of } => format!("{} const", self.ty(Some(*of))),
            SourceType::Array { of, count } => format!("{}[{count}]", self.ty(Some(*of))),
            SourceType::Struct { name, union: false, .. } => format!("struct {name}"),
            SourceType::Struct { name, .. } => format!("union {name}"),
            SourceType::Function { params, ret, variadic } => {
                let mut params: Vec<String> = params.iter().map(|p| self.ty(Some(*p))).collect();
                params.extend(variadic.then(|| "...".to_owned()));
                format!("{}({})", self.ty(Some(*ret)), params.join(", "))
            }
        }
    }
}

pub trait AskFunction {
    fn code(&self) -> &Body;
    fn insts(&self) -> Vec<&Inst>;
    /// The only instruction that `pick` accepts, with what it made of it.
    fn one<T>(&self, pick: impl Fn(&InstKind) -> Option<T>) -> (&Inst, T);
    fn all<T>(&self, pick: impl Fn(&InstKind) -> Option<T>) -> Vec<T>;
    fn kind(&self, value: ValueId) -> ValueKind;
    /// (variable, line, value) of every assignment to a promoted variable, in block order.
    fn assignments(&self) -> Vec<(String, u32, ValueKind)>;
}

impl AskFunction for Function {
    fn code(&self) -> &Body {
        self.body.as_ref().expect("the function has a body")
    }
    fn insts(&self) -> Vec<&Inst> {
        let blocks = self.code().blocks.values();
        blocks.flat_map(|b| b.insts.iter().map(|i| &self.code().insts[*i])).collect()
    }
    fn one<T>(&self, pick: impl Fn(&InstKind) -> Option<T>) -> (&Inst, T) {
        let found = self.insts().into_iter().filter_map(|i| Some((i, pick(&i.kind)?)));
        let mut found: Vec<_> = found.collect();
        assert_eq!(found.len(), 1, "in {}", self.name);
        found.remove(0)
    }
    fn all<T>(&self, pick: impl Fn(&InstKind) -> Option<T>) -> Vec<T> {
        self.insts().into_iter().filter_map(|i| pick(&i.kind)).collect()
    }
    fn kind(&self, value: ValueId) -> ValueKind {
        self.values[value].kind
    }
    fn assignments(&self) -> Vec<(String, u32, ValueKind)> {
        let sets = self.insts().into_iter().filter_map(|i| match i.kind {
            InstKind::VarSet { var, value } => {
                Some((self.code().vars[var].name.clone(), i.loc.line, self.kind(value)))
            }
            _ => None,
        });
        sets.collect()
    }
}
