//! The printer of the text form: a `Module` in, text out that `parse_module` turns back into the
//! same module, ids included.
//!
//! Constants stand inline (`i32 5`, `null`, `@g0+8`) although they have value ids of their own. The
//! parser gives inline constants the free ids in ascending order of first occurrence; the printer
//! finds out which constants get their own id back by that rule (a longest increasing
//! subsequence) and declares the others ahead of the blocks (`const v7 = i32 5`).
//!
//! Invariant: for every module that passes the verifier, `parse_module(&print_module(m)) == m`.
//! A module that does not pass is printed as well as it can be, without a panic.

mod body;

use crate::keyword::Keyword;
use crate::{
    Alias, AliasTarget, Field, FuncAttrs, FuncId, Function, Global, GlobalId, InitValue, Linkage,
    Loc, Module, Param, SourceType, Ty, TypeId, Var,
};
pub(crate) use body::default_result;
use body::{BodyPrinter, Constants, write_constant};
use std::fmt::{self, Display, Write};

/// The text form of a whole module.
pub fn print_module(module: &Module) -> String {
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let _ = write_module(&mut out, module);
    out
}

/// The text form of one function, for debugging and messages.
pub fn print_function(id: FuncId, function: &Function) -> String {
    let mut out = String::new();
    let _ = write_function(&mut out, id, function);
    out
}

impl Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Void => write!(f, "void"),
            Ty::Int(bits) => write!(f, "i{bits}"),
            Ty::Ptr => write!(f, "ptr"),
            Ty::Opaque(bytes) => write!(f, "x{bytes}"),
            Ty::Tuple(count) => write!(f, "tuple{count}"),
        }
    }
}

fn write_module(out: &mut String, module: &Module) -> fmt::Result {
    writeln!(out, "unit {}", quoted(&module.name))?;
    for (id, name) in module.files.iter() {
        writeln!(out, "file {id} {}", quoted(name))?;
    }
    for (id, ty) in module.types.iter() {
        write_type(out, id, ty)?;
    }
    for (id, global) in module.globals.iter() {
        write_global(out, id, global)?;
    }
    for alias in &module.aliases {
        write_alias(out, alias)?;
    }
    for (id, function) in module.functions.iter() {
        write_function(out, id, function)?;
    }
    Ok(())
}

fn write_type(out: &mut String, id: TypeId, ty: &SourceType) -> fmt::Result {
    write!(out, "type {id} = ")?;
    match ty {
        SourceType::Void => write!(out, "void")?,
        SourceType::Scalar { name, size, signed } => {
            let sign = if *signed { "signed" } else { "unsigned" };
            write!(out, "scalar {} {size} {sign}", quoted(name))?;
        }
        SourceType::Pointer { to } => write!(out, "ptr {to}")?,
        SourceType::Const { of } => write!(out, "const {of}")?,
        SourceType::Array { of, count } => write!(out, "array {of} x {count}")?,
        SourceType::Struct { name, size, fields, union } => {
            let word = if *union { "union" } else { "struct" };
            write!(out, "{word} {} size {size} {{", quoted(name))?;
            write_fields(out, fields)?;
        }
        SourceType::Function { params, ret, variadic } => {
            let dots = variadic.then(|| "...".to_owned());
            let params: Vec<String> = params.iter().map(|p| p.to_string()).chain(dots).collect();
            write!(out, "func ({}) -> {ret}", params.join(", "))?;
        }
    }
    writeln!(out)
}

fn write_fields(out: &mut String, fields: &[Field]) -> fmt::Result {
    for (i, field) in fields.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        write!(out, "{comma} {} {} {}", quoted(&field.name), field.offset, field.ty)?;
    }
    write!(out, " }}")
}

fn write_global(out: &mut String, id: GlobalId, global: &Global) -> fmt::Result {
    write!(out, "global {id} ")?;
    write_names(out, &global.name, &global.source_name)?;
    write_linkage(out, global.linkage)?;
    if global.constant {
        write!(out, " const")?;
    }
    if global.thread_local {
        write!(out, " thread_local")?;
    }
    write!(out, " size {}", global.size)?;
    write_opt(out, global.ty)?;
    if let Some(entries) = &global.init {
        write!(out, " init {{")?;
        for (i, entry) in entries.iter().enumerate() {
            write!(out, "{} {}: ", if i == 0 { "" } else { "," }, entry.offset)?;
            write_init(out, &entry.value)?;
        }
        write!(out, " }}")?;
    }
    write_loc(out, global.loc)?;
    writeln!(out)
}

fn write_init(out: &mut String, value: &InitValue) -> fmt::Result {
    match value {
        InitValue::Int { bits, value } => write!(out, "i{bits} {value}"),
        InitValue::Bytes(bytes) => write!(out, "bytes {}", quoted_bytes(bytes)),
        InitValue::Function(f) => write!(out, "@{f}"),
        InitValue::Global(g, offset) => write_global_address(out, *g, *offset),
        InitValue::Opaque(size) => write!(out, "opaque {size}"),
    }
}

fn write_alias(out: &mut String, alias: &Alias) -> fmt::Result {
    write!(out, "alias {}", quoted(&alias.name))?;
    write_linkage(out, alias.linkage)?;
    match alias.target {
        AliasTarget::Function(f) => writeln!(out, " = @{f}"),
        AliasTarget::Global(g) => writeln!(out, " = @{g}"),
    }
}

fn write_function(out: &mut String, id: FuncId, function: &Function) -> fmt::Result {
    write!(out, "func {id} ")?;
    write_names(out, &function.name, &function.source_name)?;
    write_linkage(out, function.linkage)?;
    write!(out, " (")?;
    for (i, param) in function.params.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        write!(out, "{comma}")?;
        write_param(out, function, param)?;
    }
    if function.variadic {
        write!(out, "{}...", if function.params.is_empty() { "" } else { ", " })?;
    }
    write!(out, ") -> {}", function.ret)?;
    if let Some(signature) = function.signature {
        write!(out, " sig {signature}")?;
    }
    write_attrs(out, &function.attrs)?;
    write_loc(out, function.loc)?;
    write_body(out, function)
}

fn write_param(out: &mut String, function: &Function, param: &Param) -> fmt::Result {
    let ty = function.values.get(param.value).map_or(Ty::Void, |v| v.ty);
    write!(out, "{}: {ty}", param.value)?;
    if !param.name.is_empty() {
        write!(out, " {}", quoted(&param.name))?;
    }
    write_opt(out, param.ty)?;
    write_flag(out, param.sret, "sret")?;
    write_flag(out, param.byval, "byval")
}

fn write_attrs(out: &mut String, attrs: &FuncAttrs) -> fmt::Result {
    let FuncAttrs { noreturn, noalias_return, nonnull_return, .. } = attrs;
    write_flag(out, *noreturn, "noreturn")?;
    write_flag(out, *noalias_return, "noalias_return")?;
    write_flag(out, *nonnull_return, "nonnull_return")?;
    if let Some(family) = &attrs.alloc_family {
        write!(out, " alloc_family {}", quoted(family))?;
    }
    write_flag(out, attrs.alloc_size, "alloc_size")?;
    if let Some(index) = attrs.alloc_ptr {
        write!(out, " alloc_ptr {index}")?;
    }
    write_flag(out, attrs.constructor, "constructor")?;
    write_flag(out, attrs.destructor, "destructor")
}

/// Declared constants, variables and blocks; braces only if there is anything to hold.
fn write_body(out: &mut String, function: &Function) -> fmt::Result {
    let constants = Constants::of(function);
    if function.body.is_none() && constants.declared.is_empty() {
        return writeln!(out);
    }
    writeln!(out, " {{")?;
    for &id in &constants.declared {
        if let Some(value) = function.values.get(id) {
            write!(out, "  const {id} = ")?;
            write_constant(out, *value)?;
            writeln!(out)?;
        }
    }
    if let Some(body) = &function.body {
        BodyPrinter { function, body, constants: &constants }.write(out)?;
    } else {
        writeln!(out, "  declaration")?;
    }
    writeln!(out, "}}")
}

fn write_global_address(out: &mut String, global: GlobalId, offset: i64) -> fmt::Result {
    if offset == 0 { write!(out, "@{global}") } else { write!(out, "@{global}{offset:+}") }
}

fn write_var(out: &mut String, var: &Var) -> fmt::Result {
    write!(out, "{}", quoted(&var.name))?;
    write_opt(out, var.ty)?;
    if let Some(number) = var.param {
        write!(out, " param {number}")?;
    }
    write_loc(out, var.loc)?;
    writeln!(out)
}

fn write_names(out: &mut String, name: &str, source_name: &str) -> fmt::Result {
    write!(out, "{}", quoted(name))?;
    if name != source_name {
        write!(out, " as {}", quoted(source_name))?;
    }
    Ok(())
}

fn write_linkage(out: &mut String, linkage: Linkage) -> fmt::Result {
    write_flag(out, linkage != Linkage::External, linkage.word())
}

fn write_flag(out: &mut String, flag: bool, word: &str) -> fmt::Result {
    if flag { write!(out, " {word}") } else { Ok(()) }
}

fn write_opt(out: &mut String, item: Option<impl Display>) -> fmt::Result {
    item.map_or(Ok(()), |item| write!(out, " {item}"))
}

fn write_loc(out: &mut String, loc: Loc) -> fmt::Result {
    if loc == Loc::default() {
        return Ok(());
    }
    write!(out, " @{}:{}:{}", loc.file, loc.line, loc.column)
}

/// A name in quotes: UTF-8 stays readable, control characters are escaped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let mut utf8 = [0; 4];
                c.encode_utf8(&mut utf8).bytes().for_each(|b| push_hex(&mut out, b));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Arbitrary bytes in quotes.
fn quoted_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for &b in bytes {
        match b {
            b'"' | b'\\' => out.extend(['\\', char::from(b)]),
            b'\n' => out.push_str("\\n"),
            b' '..=b'~' => out.push(char::from(b)),
            b => push_hex(&mut out, b),
        }
    }
    out.push('"');
    out
}

fn push_hex(out: &mut String, byte: u8) {
    let _ = write!(out, "\\x{byte:02x}");
}
