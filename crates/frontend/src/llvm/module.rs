//! The module level of a bitcode file: symbols, tables, and where the function bodies are.
//!
//! Value numbers are LLVM's: global values in the order of their records, then the module's
//! constants, then what belongs to the one function that is being decoded.

use super::bitstream::{BlockPosition, Cursor, Entry, Record};
use super::codes::{block, module as m};
use super::constants::ConstantTable;
use super::{
    AttributeTable, Constant, DataLayout, MetadataTable, ReadError, Type, TypeRef, TypeTable,
};

/// What a value number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Global(u32),
    Function(u32),
    Alias(u32),
    Ifunc(u32),
    Const(u32),
    /// Parameter of the current function.
    Arg(u32),
    /// Index into the instructions of the current function.
    Inst(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    External,
    Internal,
    Weak,
    LinkOnce,
    AvailableExternally,
}

impl Linkage {
    fn decode(code: u64) -> Self {
        match code {
            // weak, extern_weak, common, appending (LLVM's own tables).
            1 | 2 | 7 | 8 | 16 => Linkage::Weak,
            3 | 9 | 13 | 14 => Linkage::Internal,
            // linkonce, linkonce_odr, weak_odr.
            4 | 10 | 11 | 17 | 18 | 19 => Linkage::LinkOnce,
            12 => Linkage::AvailableExternally,
            _ => Linkage::External,
        }
    }
}

#[derive(Debug)]
pub struct GlobalVar {
    pub name: String,
    pub ty: TypeRef,
    pub constant: bool,
    pub thread_local: bool,
    pub linkage: Linkage,
    /// Value number of the initialiser.
    pub init: Option<u32>,
}

#[derive(Debug)]
pub struct Function {
    pub name: String,
    pub ty: TypeRef,
    pub linkage: Linkage,
    /// 1-based number of the attribute list.
    pub attributes: u64,
    pub body: Option<BlockPosition>,
}

#[derive(Debug)]
pub struct Alias {
    pub name: String,
    pub linkage: Linkage,
    /// Value number of what it stands for (of the resolver, for an ifunc).
    pub target: u32,
}

#[derive(Debug, Default)]
pub struct Module {
    pub source_filename: String,
    pub types: TypeTable,
    pub layout: DataLayout,
    pub attributes: AttributeTable,
    pub constants: ConstantTable,
    pub metadata: MetadataTable,
    pub globals: Vec<GlobalVar>,
    pub functions: Vec<Function>,
    pub aliases: Vec<Alias>,
    pub ifuncs: Vec<Alias>,
    /// What each value number is, and its type.
    pub values: Vec<(Value, TypeRef)>,
    /// The pointer type and `i1` in the type table, when the module has them.
    pub(super) ptr: Option<TypeRef>,
    pub(super) bool: Option<TypeRef>,
}

/// State of reading that does not outlive it.
struct Reader<'a> {
    cursor: Cursor<'a>,
    record: Record<'a>,
    module: Module,
    layout_spec: String,
    strtab: &'a [u8],
    /// Name of each global value as (offset, length) in the string table, with its number.
    names: Vec<(Value, u64, u64)>,
    /// Functions that have a body, in order, and the bodies.
    defined: Vec<usize>,
    bodies: Vec<BlockPosition>,
    has_module: bool,
}

/// The magic number of raw bitcode and of the wrapper that some platforms put around it.
pub const MAGIC: [u8; 4] = [b'B', b'C', 0xc0, 0xde];
const WRAPPER_MAGIC: [u8; 4] = [0xde, 0xc0, 0x17, 0x0b];

/// The raw bitcode inside `bytes`; `None` when they are no bitcode at all.
pub fn strip_wrapper(bytes: &[u8]) -> Option<&[u8]> {
    if bytes.starts_with(&MAGIC) {
        return Some(bytes);
    }
    if !bytes.starts_with(&WRAPPER_MAGIC) {
        return None;
    }
    let word = |at: usize| {
        let b: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(b)).ok()
    };
    let (offset, size) = (word(8)?, word(12)?);
    bytes.get(offset..offset.checked_add(size)?).filter(|b| b.starts_with(&MAGIC))
}

impl Module {
    /// Reads all but the function bodies. The cursor that comes back is for reading those.
    pub fn read(bytes: &[u8]) -> Result<(Module, Cursor<'_>), ReadError> {
        let mut reader = Reader {
            cursor: Cursor::new(bytes, MAGIC.len()),
            record: Record::default(),
            module: Module::default(),
            layout_spec: String::new(),
            strtab: &[],
            names: Vec::new(),
            defined: Vec::new(),
            bodies: Vec::new(),
            has_module: false,
        };
        reader.top_level()?;
        reader.finish()
    }

    pub fn constant(&self, value: u32) -> Option<Constant> {
        match self.values.get(value as usize)?.0 {
            Value::Const(index) => Some(self.constants.get(index)),
            _ => None,
        }
    }

    pub fn type_of(&self, value: u32) -> TypeRef {
        self.values.get(value as usize).map_or(TypeRef::NONE, |v| v.1)
    }
}

impl<'a> Reader<'a> {
    fn top_level(&mut self) -> Result<(), ReadError> {
        while !self.cursor.at_end() {
            match self.cursor.next(&mut self.record)? {
                Entry::Block(block::IDENTIFICATION) => self.identification()?,
                // A file of several modules (split LTO) has its code in the first.
                Entry::Block(block::MODULE) if !self.has_module => self.module_block()?,
                Entry::Block(block::STRTAB) => self.strtab()?,
                Entry::Block(_) => {
                    self.cursor.skip()?;
                }
                Entry::Record(_) | Entry::End => {
                    return Err(ReadError::Malformed("unexpected record at the top level"));
                }
            }
        }
        Ok(())
    }

    fn identification(&mut self) -> Result<(), ReadError> {
        self.cursor.enter()?;
        loop {
            match self.cursor.next(&mut self.record)? {
                Entry::End => return Ok(()),
                Entry::Record(1) => {
                    let producer = self.record.text(0);
                    if !is_known(&producer) {
                        return Err(ReadError::OtherVersion(producer));
                    }
                }
                Entry::Record(_) => {}
                Entry::Block(_) => {
                    self.cursor.skip()?;
                }
            }
        }
    }

    fn strtab(&mut self) -> Result<(), ReadError> {
        self.cursor.enter()?;
        loop {
            match self.cursor.next(&mut self.record)? {
                Entry::End => return Ok(()),
                Entry::Record(1) => self.strtab = self.record.blob,
                Entry::Record(_) => {}
                Entry::Block(_) => {
                    self.cursor.skip()?;
                }
            }
        }
    }

    fn module_block(&mut self) -> Result<(), ReadError> {
        self.has_module = true;
        self.cursor.enter()?;
        loop {
            match self.cursor.next(&mut self.record)? {
                Entry::End => return Ok(()),
                Entry::Block(id) => self.nested_block(id)?,
                Entry::Record(code) => self.module_record(code)?,
            }
        }
    }

    fn nested_block(&mut self, id: u32) -> Result<(), ReadError> {
        let Reader { cursor, record, module, .. } = self;
        match id {
            id if Cursor::is_block_info(id) => cursor.read_block_info(),
            block::TYPE => {
                module.types.read(cursor, record)?;
                module.ptr = module.types.find(&Type::Ptr);
                module.bool = module.types.find(&Type::Int(1));
                Ok(())
            }
            block::PARAMATTR_GROUP => module.attributes.read_groups(cursor, record),
            block::PARAMATTR => module.attributes.read_lists(cursor, record),
            block::METADATA => module.metadata.read(cursor, record),
            block::CONSTANTS => module.read_constants(cursor, record),
            block::FUNCTION => {
                self.bodies.push(cursor.skip()?);
                Ok(())
            }
            _ => cursor.skip().map(|_| ()),
        }
    }

    fn module_record(&mut self, code: u32) -> Result<(), ReadError> {
        match code {
            m::VERSION if self.record.op(0)? != 2 => {
                Err(ReadError::OtherVersion(format!("format {}", self.record.op(0)?)))
            }
            m::DATALAYOUT => {
                self.layout_spec = self.record.text(0);
                Ok(())
            }
            m::SOURCE_FILENAME => {
                self.module.source_filename = self.record.text(0);
                Ok(())
            }
            m::GLOBALVAR => self.global(),
            m::FUNCTION => self.function(),
            m::ALIAS | m::IFUNC => self.alias(code),
            _ => Ok(()),
        }
    }

    /// `[name offset, name length, type, flags, initialiser, linkage, alignment, section,
    /// visibility, thread-local, ...]`
    fn global(&mut self) -> Result<(), ReadError> {
        let r = &self.record;
        let global = GlobalVar {
            name: String::new(),
            ty: TypeRef(r.op(2)? as u32),
            constant: r.op(3)? & 1 != 0,
            init: r.op(4)?.checked_sub(1).map(|v| v as u32),
            linkage: Linkage::decode(r.op(5)?),
            thread_local: r.op_or_zero(9) != 0,
        };
        let value = Value::Global(self.module.globals.len() as u32);
        self.module.globals.push(global);
        self.add_value(value)
    }

    /// `[name offset, name length, type, calling convention, is declaration, linkage,
    /// attributes, ...]`
    fn function(&mut self) -> Result<(), ReadError> {
        let r = &self.record;
        let is_declaration = r.op(4)? != 0;
        let function = Function {
            name: String::new(),
            ty: TypeRef(r.op(2)? as u32),
            linkage: Linkage::decode(r.op(5)?),
            attributes: r.op(6)?,
            body: None,
        };
        let value = Value::Function(self.module.functions.len() as u32);
        self.module.functions.push(function);
        if !is_declaration {
            self.defined.push(self.module.functions.len() - 1);
        }
        self.add_value(value)
    }

    /// `[name offset, name length, type, address space, target, linkage, ...]`
    fn alias(&mut self, code: u32) -> Result<(), ReadError> {
        let r = &self.record;
        let alias = Alias {
            name: String::new(),
            target: r.op(4)? as u32,
            linkage: Linkage::decode(r.op(5)?),
        };
        let (list, value): (_, fn(u32) -> Value) = match code {
            m::ALIAS => (&mut self.module.aliases, Value::Alias),
            _ => (&mut self.module.ifuncs, Value::Ifunc),
        };
        let value = value(list.len() as u32);
        list.push(alias);
        self.add_value(value)
    }

    fn add_value(&mut self, value: Value) -> Result<(), ReadError> {
        self.names.push((value, self.record.op(0)?, self.record.op(1)?));
        let ptr = self.module.ptr.unwrap_or(TypeRef::NONE);
        self.module.values.push((value, ptr));
        Ok(())
    }

    fn finish(mut self) -> Result<(Module, Cursor<'a>), ReadError> {
        if !self.has_module {
            return Err(ReadError::Malformed("there is no module in it"));
        }
        for &(value, offset, len) in &self.names {
            let name = text(self.strtab, offset, len);
            match value {
                Value::Global(i) => self.module.globals[i as usize].name = name,
                Value::Function(i) => self.module.functions[i as usize].name = name,
                Value::Alias(i) => self.module.aliases[i as usize].name = name,
                Value::Ifunc(i) => self.module.ifuncs[i as usize].name = name,
                Value::Const(_) | Value::Arg(_) | Value::Inst(_) => {}
            }
        }
        // Bodies stand in the order of the definitions.
        if self.defined.len() != self.bodies.len() {
            return Err(ReadError::Malformed("definitions and bodies differ in number"));
        }
        for (index, body) in self.defined.into_iter().zip(self.bodies) {
            self.module.functions[index].body = Some(body);
        }
        self.module.layout = DataLayout::new(&self.layout_spec, &self.module.types);
        Ok((self.module, self.cursor))
    }
}

/// Whether the layout of the records is known: releases 15 (the first without typed pointers) to
/// 19.
fn is_known(producer: &str) -> bool {
    let version = producer.strip_prefix("LLVM").and_then(|rest| rest.split('.').next());
    version.and_then(|v| v.parse::<u32>().ok()).is_some_and(|v| (15..=19).contains(&v))
}

fn text(strtab: &[u8], offset: u64, len: u64) -> String {
    let range = usize::try_from(offset).ok().zip(usize::try_from(len).ok());
    let bytes = range.and_then(|(o, l)| strtab.get(o..o.checked_add(l)?)).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

impl Module {
    pub(super) fn read_constants<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        record: &mut Record<'a>,
    ) -> Result<(), ReadError> {
        let Module { constants, values, types, .. } = self;
        constants.read(cursor, record, types, |index, ty| values.push((Value::Const(index), ty)))
    }
}
