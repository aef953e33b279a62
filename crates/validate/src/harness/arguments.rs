//! The text of a harness: functions that fill a place of each type from standard input, and `main`.
//!
//! Structures grow with the input: a pointer is null when the next byte is zero or there is none, so the
//! search builds as much as it needs. Places are filled by their layout, not by member names, so that
//! any type can be filled that the debug information describes.

use leakproof_ir::{Function, Module, SourceType, Ty, TypeId};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// How deep structures go: beyond it pointers are null.
const MAX_DEPTH: u32 = 4;
/// Elements of arrays that are filled; the rest stays zero.
const MAX_ELEMENTS: u64 = 4;
/// Bytes of texts and of memory of unknown type.
const TEXT_SIZE: u32 = 16;

const PRELUDE: &str = include_str!("../c/harness.c");

/// The whole file.
pub fn harness_text(
    module: &Module,
    function: &Function,
    source: &Path,
) -> Result<String, &'static str> {
    let signature = function.signature.map(|s| &module.types[s]);
    let Some(SourceType::Function { params, .. }) = signature else {
        return Err("its parameters are not known");
    };
    let path = source.display().to_string();
    if path.contains(['"', '\\', '\n']) {
        return Err("the name of its file cannot be included");
    }
    let mut writer =
        Writer { module, done: BTreeSet::new(), protos: String::new(), fills: String::new() };
    let mut calls = String::new();
    let mut list = Vec::new();
    for (i, &ty) in params.iter().enumerate() {
        calls.push_str(&writer.parameter(i, ty)?);
        list.push(format!("a{i}"));
    }
    let call = format!("{}({})", function.source_name, list.join(", "));
    let call = match function.ret {
        Ty::Void if !function.params.iter().any(|p| p.sret) => format!("    {call};\n"),
        _ => format!(
            "    __auto_type result = {call};\n    lp_keep_result(&result, sizeof result);\n"
        ),
    };
    let mut text = format!(
        "/* Calls {} with arguments made of standard input; made by leakproof. */\n#include \"{path}\"\n",
        function.source_name
    );
    text.push_str(PRELUDE);
    text.push_str(&writer.protos);
    text.push_str(&writer.fills);
    write!(text, "\nint main(void)\n{{\n{calls}{call}    return 0;\n}}\n").ok();
    Ok(text)
}

struct Writer<'m> {
    module: &'m Module,
    done: BTreeSet<TypeId>,
    protos: String,
    fills: String,
}

impl Writer<'_> {
    /// Without `const`.
    fn plain(&self, mut ty: TypeId) -> TypeId {
        while let SourceType::Const { of } = &self.module.types[ty] {
            ty = *of;
        }
        ty
    }

    /// The declaration of argument `i`.
    fn parameter(&mut self, i: usize, ty: TypeId) -> Result<String, &'static str> {
        let ty = self.plain(ty);
        let declared = match &self.module.types[ty] {
            SourceType::Scalar { name, .. } if name.contains("float") => "float",
            SourceType::Scalar { name, size, .. } if name.contains("double") => {
                if *size == 8 {
                    "double"
                } else {
                    "long double"
                }
            }
            SourceType::Scalar { .. } => "unsigned long long",
            SourceType::Pointer { .. } => "void *",
            SourceType::Struct { .. } => return Err("it takes a structure by value"),
            _ => return Err("it takes what no harness can make"),
        };
        self.fill(ty);
        Ok(format!("    {declared} a{i} = 0;\n    lp_fill_{}(&a{i}, 0);\n", ty.0))
    }

    /// Makes the function that fills a place of this type.
    fn fill(&mut self, ty: TypeId) {
        let ty = self.plain(ty);
        if !self.done.insert(ty) {
            return;
        }
        let head = format!("static void lp_fill_{}(void *at, int depth)", ty.0);
        writeln!(self.protos, "{head};").ok();
        let body = self.body(ty);
        write!(self.fills, "\n{head}\n{{\n{body}}}\n").ok();
    }

    fn body(&mut self, ty: TypeId) -> String {
        match self.module.types[ty].clone() {
            SourceType::Scalar { name, size, .. } if name == "_Bool" || name == "bool" => {
                format!("    lp_bytes(at, {size});\n    *(char *)at &= 1;\n")
            }
            SourceType::Scalar { size, .. } => format!("    lp_bytes(at, {size});\n"),
            SourceType::Pointer { to } => self.pointer(to),
            SourceType::Array { of, count } => self.elements("at", of, count.min(MAX_ELEMENTS)),
            SourceType::Struct { fields, union, .. } => {
                let used = if union { 1 } else { fields.len() };
                let mut text = String::new();
                for field in fields.iter().take(used) {
                    let (ty, offset) = (self.plain(field.ty), field.offset);
                    self.fill(ty);
                    writeln!(text, "    lp_fill_{}((char *)at + {offset}, depth);", ty.0).ok();
                }
                text
            }
            SourceType::Void | SourceType::Function { .. } | SourceType::Const { .. } => {
                String::new()
            }
        }
    }

    /// Fills `count` elements from `at` on.
    fn elements(&mut self, at: &str, of: TypeId, count: u64) -> String {
        let of = self.plain(of);
        if self.is_character(of) {
            return format!("    lp_text({at}, {});\n", count.saturating_mul(4));
        }
        self.fill(of);
        let size = self.size(of);
        (0..count)
            .map(|i| format!("    lp_fill_{}((char *){at} + {}, depth);\n", of.0, i * size))
            .collect()
    }

    fn is_character(&self, ty: TypeId) -> bool {
        matches!(&self.module.types[ty], SourceType::Scalar { size: 1, name, .. } if name != "_Bool")
    }

    fn size(&self, ty: TypeId) -> u64 {
        match &self.module.types[ty] {
            SourceType::Scalar { size, .. } | SourceType::Struct { size, .. } => *size,
            SourceType::Pointer { .. } => 8,
            SourceType::Array { of, count } => self.size(*of).saturating_mul(*count),
            SourceType::Const { of } => self.size(*of),
            SourceType::Void | SourceType::Function { .. } => 1,
        }
    }

    /// Fills a pointer: null, or something new of the type that it points to.
    fn pointer(&mut self, to: TypeId) -> String {
        let to = self.plain(to);
        let guard = format!("    if (depth >= {MAX_DEPTH} || !lp_byte())\n        return;\n");
        match self.module.types[to].clone() {
            SourceType::Function { .. } => format!("{guard}    *(void **)at = (void *)lp_stub;\n"),
            // What a stream looks like inside is the C library's business.
            SourceType::Struct { name, .. } if name == "_IO_FILE" => {
                format!("{guard}    *(void **)at = stdin;\n")
            }
            SourceType::Struct { size: 0, .. } => String::new(),
            SourceType::Void => {
                format!("{guard}    lp_text(lp_new(at, {TEXT_SIZE}), {TEXT_SIZE});\n")
            }
            _ if self.is_character(to) => {
                format!("{guard}    lp_text(lp_new(at, {}), {TEXT_SIZE});\n", TEXT_SIZE + 1)
            }
            SourceType::Scalar { size, .. } => {
                let all = size * MAX_ELEMENTS;
                let filled = self.elements("place", to, MAX_ELEMENTS);
                format!("{guard}    void *place = lp_new(at, {all});\n    depth++;\n{filled}")
            }
            _ => {
                self.fill(to);
                let size = self.size(to).max(1);
                format!("{guard}    lp_fill_{}(lp_new(at, {size}), depth + 1);\n", to.0)
            }
        }
    }
}
