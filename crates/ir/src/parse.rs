//! The parser of the text form: text in, a `Module` out, or the place and what was expected there.
//!
//! The grammar is what the printer writes, with conveniences for text written by hand: locations,
//! variables, source types, linkage, names of parameters and `-> void` may be left out; a function
//! or global may be named (`call "free"(v0)`, `@"table"`) where an id can stand; `;` starts a
//! comment; value numbers may have gaps.
//!
//! Result types: `v1: i32 = ...`; left out they are `ptr`, and `i1` for `cmp`.
//!
//! Ids: definitions of files, types, globals, functions, variables and blocks stand in order of
//! their ids. Inline constants get the value ids that nothing names, ascending, in order of first
//! occurrence; equal inline constants share an id.
//!
//! Invariant: what parses has every id dense and every used value defined; all else is for the
//! verifier to say.

mod body;
mod cursor;
mod lex;

use crate::{
    Alias, AliasTarget, Arena, Field, FileId, FuncAttrs, FuncId, Function, Global, GlobalId,
    InitEntry, InitValue, Linkage, Module, Param, SourceType, Ty, TypeId, Value, ValueKind,
};
use body::Values;
use cursor::{Cursor, id_number};
use lex::Tok;
use rustc_hash::FxHashMap;

type Result<T> = std::result::Result<T, ParseError>;

/// Where the text is wrong, and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// 1-based.
    pub line: usize,
    /// 1-based, in characters.
    pub column: usize,
    pub message: String,
}

impl ParseError {
    fn at(text: &str, offset: usize, message: String) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        let line = before.matches('\n').count() + 1;
        Self { line, column: before[line_start..].chars().count() + 1, message }
    }
}

/// Parses the text form of a whole module.
pub fn parse_module(text: &str) -> Result<Module> {
    let cursor = Cursor::new(text, lex::tokens(text)?);
    let names = Names::of(&cursor);
    let mut parser = Parser { cursor, names, module: Module::default() };
    parser.module()?;
    Ok(parser.module)
}

/// Symbols by name, so that text written by hand can refer to them before their definition.
struct Names {
    functions: FxHashMap<Vec<u8>, FuncId>,
    globals: FxHashMap<Vec<u8>, GlobalId>,
}

impl Names {
    fn of(cursor: &Cursor<'_>) -> Self {
        let mut names = Self { functions: FxHashMap::default(), globals: FxHashMap::default() };
        let tokens: Vec<&Tok<'_>> = cursor.tokens().collect();
        for window in tokens.windows(3) {
            let [Tok::Word(what), Tok::Word(id), Tok::Str(name)] = window else { continue };
            if *what == "func"
                && let Some(n) = id_number(id, "f")
            {
                names.functions.entry(name.clone()).or_insert(FuncId(n));
            } else if *what == "global"
                && let Some(n) = id_number(id, "g")
            {
                names.globals.entry(name.clone()).or_insert(GlobalId(n));
            }
        }
        names
    }
}

/// A symbol's address in the text: `@f1`, `@g0+8`, `@"name"`.
#[derive(Clone, Copy)]
enum Address {
    Function(FuncId),
    Global(GlobalId, i64),
}

impl Address {
    fn kind(self) -> ValueKind {
        match self {
            Address::Function(f) => ValueKind::Function(f),
            Address::Global(g, offset) => ValueKind::Global(g, offset),
        }
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    names: Names,
    module: Module,
}

impl Parser<'_> {
    fn module(&mut self) -> Result<()> {
        if self.cursor.eat_word("unit") {
            self.module.name = self.cursor.string("the unit's name")?;
        }
        while !self.cursor.at_end() {
            self.item()?;
        }
        Ok(())
    }

    fn item(&mut self) -> Result<()> {
        let word = self.cursor.word();
        let what = "`file`, `type`, `global`, `alias` or `func`";
        let Some(word @ ("file" | "type" | "global" | "alias" | "func")) = word else {
            return Err(self.cursor.expected(what));
        };
        self.cursor.advance();
        match word {
            "file" => self.file(),
            "type" => self.type_definition(),
            "global" => self.global(),
            "alias" => self.alias(),
            _ => self.function(),
        }
    }

    fn file(&mut self) -> Result<()> {
        self.cursor.next_id::<FileId>(self.module.files.next_id(), "file")?;
        let name = self.cursor.string("a file name")?;
        self.module.files.push(name);
        Ok(())
    }

    fn type_id(&mut self) -> Result<TypeId> {
        self.cursor.id("t", "a type")
    }

    fn type_definition(&mut self) -> Result<()> {
        self.cursor.next_id(self.module.types.next_id(), "t")?;
        self.cursor.expect('=')?;
        let ty = self.source_type()?;
        self.module.types.push(ty);
        Ok(())
    }

    fn source_type(&mut self) -> Result<SourceType> {
        let what = "`void`, `scalar`, `ptr`, `const`, `array`, `struct`, `union` or `func`";
        let word = self.cursor.word().ok_or_else(|| self.cursor.expected(what))?;
        let unknown = self.cursor.expected(what);
        self.cursor.advance();
        Ok(match word {
            "void" => SourceType::Void,
            "scalar" => self.scalar()?,
            "ptr" => SourceType::Pointer { to: self.type_id()? },
            "const" => SourceType::Const { of: self.type_id()? },
            "array" => {
                let of = self.type_id()?;
                self.cursor.expect_word("x")?;
                SourceType::Array { of, count: self.cursor.number("an element count")? }
            }
            "struct" => self.record(false)?,
            "union" => self.record(true)?,
            "func" => self.function_type()?,
            _ => return Err(unknown),
        })
    }

    fn scalar(&mut self) -> Result<SourceType> {
        let name = self.cursor.string("a type name")?;
        let size = self.cursor.number("a size in bytes")?;
        let signed = self.cursor.eat_word("signed");
        if !signed {
            self.cursor.expect_word("unsigned")?;
        }
        Ok(SourceType::Scalar { name, size, signed })
    }

    fn record(&mut self, union: bool) -> Result<SourceType> {
        let name = self.cursor.string("a tag")?;
        self.cursor.expect_word("size")?;
        let size = self.cursor.number("a size in bytes")?;
        self.cursor.expect('{')?;
        let mut fields = Vec::new();
        self.cursor.list('}', |c| {
            let name = c.string("a field name")?;
            let offset = c.number("an offset in bytes")?;
            fields.push(Field { name, offset, ty: c.id("t", "a type")? });
            Ok(())
        })?;
        Ok(SourceType::Struct { name, size, fields, union })
    }

    fn function_type(&mut self) -> Result<SourceType> {
        self.cursor.expect('(')?;
        let mut params = Vec::new();
        let mut variadic = false;
        self.cursor.list(')', |c| {
            variadic = c.eat_tok(&Tok::Dots);
            if !variadic {
                params.push(c.id("t", "a type")?);
            }
            Ok(())
        })?;
        if !self.cursor.eat_tok(&Tok::Arrow) {
            return Err(self.cursor.expected("`->`"));
        }
        Ok(SourceType::Function { params, ret: self.type_id()?, variadic })
    }

    fn names(&mut self) -> Result<(String, String)> {
        let name = self.cursor.string("a symbol")?;
        let source_name = if self.cursor.eat_word("as") {
            self.cursor.string("the name in the source")?
        } else {
            name.clone()
        };
        Ok((name, source_name))
    }

    fn linkage(&mut self) -> Linkage {
        self.cursor.keyword().unwrap_or(Linkage::External)
    }

    fn global(&mut self) -> Result<()> {
        self.cursor.next_id(self.module.globals.next_id(), "g")?;
        let (name, source_name) = self.names()?;
        let linkage = self.linkage();
        let constant = self.cursor.eat_word("const");
        let thread_local = self.cursor.eat_word("thread_local");
        self.cursor.expect_word("size")?;
        let size = self.cursor.number("a size in bytes")?;
        let ty = self.cursor.opt_id("t");
        let init = if self.cursor.eat_word("init") { Some(self.init()?) } else { None };
        let loc = self.cursor.loc()?;
        self.module.globals.push(Global {
            name,
            source_name,
            linkage,
            constant,
            thread_local,
            size,
            ty,
            init,
            loc,
        });
        Ok(())
    }

    fn init(&mut self) -> Result<Vec<InitEntry>> {
        let Self { cursor, names, .. } = self;
        let mut entries = Vec::new();
        cursor.expect('{')?;
        cursor.list('}', |c| {
            let offset = c.number("an offset in bytes")?;
            c.expect(':')?;
            entries.push(InitEntry { offset, value: init_value(c, names)? });
            Ok(())
        })?;
        Ok(entries)
    }

    fn alias(&mut self) -> Result<()> {
        let name = self.cursor.string("a symbol")?;
        let linkage = self.linkage();
        self.cursor.expect('=')?;
        let target = match address(&mut self.cursor, &self.names)? {
            Address::Function(f) => AliasTarget::Function(f),
            Address::Global(g, _) => AliasTarget::Global(g),
        };
        self.module.aliases.push(Alias { name, linkage, target });
        Ok(())
    }

    fn function(&mut self) -> Result<()> {
        self.cursor.next_id(self.module.functions.next_id(), "f")?;
        let mut values = Values::of_function(&self.cursor)?;
        let (name, source_name) = self.names()?;
        let linkage = self.linkage();
        let (params, variadic) = self.params(&mut values)?;
        let ret = if self.cursor.eat_tok(&Tok::Arrow) { self.cursor.ty()? } else { Ty::Void };
        let signature = if self.cursor.eat_word("sig") { Some(self.type_id()?) } else { None };
        let attrs = self.attrs()?;
        let loc = self.cursor.loc()?;
        let body = body::parse(&mut self.cursor, &self.names, &mut values)?;
        let values: Arena<_, _> = values.finish(&self.cursor)?;
        self.module.functions.push(Function {
            name,
            source_name,
            linkage,
            attrs,
            params,
            ret,
            signature,
            variadic,
            loc,
            body,
            values,
        });
        Ok(())
    }

    fn params(&mut self, values: &mut Values) -> Result<(Vec<Param>, bool)> {
        let mut params = Vec::new();
        let mut variadic = false;
        self.cursor.expect('(')?;
        self.cursor.list(')', |c| {
            variadic = c.eat_tok(&Tok::Dots);
            if !variadic {
                params.push(param(c, values, params.len())?);
            }
            Ok(())
        })?;
        Ok((params, variadic))
    }

    fn attrs(&mut self) -> Result<FuncAttrs> {
        let mut attrs = FuncAttrs::default();
        let c = &mut self.cursor;
        while let Some(word) = c.word() {
            let flag = match word {
                "noreturn" => &mut attrs.noreturn,
                "noalias_return" => &mut attrs.noalias_return,
                "nonnull_return" => &mut attrs.nonnull_return,
                "alloc_size" => &mut attrs.alloc_size,
                "constructor" => &mut attrs.constructor,
                "destructor" => &mut attrs.destructor,
                "alloc_family" => {
                    c.advance();
                    attrs.alloc_family = Some(c.string("a family")?);
                    continue;
                }
                "alloc_ptr" => {
                    c.advance();
                    attrs.alloc_ptr = Some(c.number("a parameter index")?);
                    continue;
                }
                _ => break,
            };
            *flag = true;
            c.advance();
        }
        Ok(attrs)
    }
}

fn param(c: &mut Cursor<'_>, values: &mut Values, index: usize) -> Result<Param> {
    let at = c.position();
    let value = c.id("v", "a parameter")?;
    c.expect(':')?;
    let ty = c.ty()?;
    let index = u32::try_from(index).map_err(|_| c.error("too many parameters"))?;
    values.define(c, at, value, Value { kind: ValueKind::Param(index), ty })?;
    Ok(Param {
        value,
        name: c.opt_string()?.unwrap_or_default(),
        ty: c.opt_id("t"),
        sret: c.eat_word("sret"),
        byval: c.eat_word("byval"),
    })
}

fn init_value(c: &mut Cursor<'_>, names: &Names) -> Result<InitValue> {
    if c.eat_word("bytes") {
        return Ok(InitValue::Bytes(c.bytes("bytes")?));
    }
    if c.eat_word("opaque") {
        return Ok(InitValue::Opaque(c.number("a size in bytes")?));
    }
    if let Some(Ty::Int(bits)) = c.opt_ty() {
        return Ok(InitValue::Int { bits, value: c.number("a number")? });
    }
    if !c.is_punct('@') {
        return Err(c.expected("`i64 1`, `bytes \"...\"`, `opaque 8` or the address of a symbol"));
    }
    Ok(match address(c, names)? {
        Address::Function(f) => InitValue::Function(f),
        Address::Global(g, offset) => InitValue::Global(g, offset),
    })
}

fn address(c: &mut Cursor<'_>, names: &Names) -> Result<Address> {
    c.expect('@')?;
    let by_name = match c.peek() {
        Tok::Str(name) => match (names.functions.get(name), names.globals.get(name)) {
            (Some(f), _) => Some(Address::Function(*f)),
            (_, Some(g)) => Some(Address::Global(*g, 0)),
            _ => return Err(c.expected("the name of a function or global of this unit")),
        },
        _ => None,
    };
    let global = match by_name {
        Some(Address::Function(f)) => {
            c.advance();
            return Ok(Address::Function(f));
        }
        Some(Address::Global(g, _)) => {
            c.advance();
            g
        }
        None => match c.opt_id("f") {
            Some(f) => return Ok(Address::Function(f)),
            None => c.id("g", "a function like `f0` or a global")?,
        },
    };
    let offset = matches!(c.peek(), Tok::Int(_)).then(|| c.number("an offset")).transpose()?;
    Ok(Address::Global(global, offset.unwrap_or(0)))
}
