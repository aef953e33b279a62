//! Metadata of a module and of the function being decoded, as uninterpreted records.
//!
//! Numbering is LLVM's: strings and nodes of the module first, then those of one function at a
//! time, which [`MetadataTable::truncate`] drops again. Invariant: an id out of range reads as a
//! node without operands.

use super::bitstream::{Cursor, Entry, Record};
use super::{ReadError, codes};
use codes::metadata as md;

/// Number of a metadata string or node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MdId(pub u32);

/// The code that strings get in the table.
const STRING: u32 = 1;

#[derive(Clone, Copy, Debug)]
struct Item {
    code: u32,
    /// Into `chars` for strings, into `ops` for nodes.
    start: u32,
    len: u32,
}

/// A record: what it is and its operands.
#[derive(Clone, Copy, Debug)]
pub struct MdNode<'m> {
    pub code: u32,
    ops: &'m [u64],
}

impl MdNode<'_> {
    /// An operand that is a plain number.
    pub fn number(&self, index: usize) -> u64 {
        self.ops.get(index).copied().unwrap_or(0)
    }
    /// An operand that refers to metadata; stored as id + 1, 0 for none.
    pub fn reference(&self, index: usize) -> Option<MdId> {
        self.number(index).checked_sub(1).map(|id| MdId(id as u32))
    }
    /// An operand that refers to metadata and cannot be absent; stored as it is.
    pub fn id(&self, index: usize) -> MdId {
        MdId(self.number(index) as u32)
    }
    pub fn len(&self) -> usize {
        self.ops.len()
    }
}

/// How much of the table belongs to the module.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    items: usize,
    ops: usize,
    chars: usize,
}

#[derive(Debug, Default)]
pub struct MetadataTable {
    items: Vec<Item>,
    ops: Vec<u64>,
    chars: Vec<u8>,
    /// (global value, kind, node).
    pub global_attachments: Vec<(u32, u32, MdId)>,
    /// Compile units (`!llvm.dbg.cu`).
    pub units: Vec<MdId>,
}

impl MetadataTable {
    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn node(&self, id: MdId) -> MdNode<'_> {
        match self.items.get(id.0 as usize) {
            Some(item) if item.code != STRING => {
                MdNode { code: item.code, ops: slice(&self.ops, item) }
            }
            _ => MdNode { code: 0, ops: &[] },
        }
    }

    /// The text of a metadata string; empty for anything else.
    pub fn text(&self, id: Option<MdId>) -> &[u8] {
        match id.and_then(|id| self.items.get(id.0 as usize)) {
            Some(item) if item.code == STRING => slice(&self.chars, item),
            _ => &[],
        }
    }

    pub fn mark(&self) -> Mark {
        Mark { items: self.items.len(), ops: self.ops.len(), chars: self.chars.len() }
    }

    pub fn truncate(&mut self, mark: Mark) {
        self.items.truncate(mark.items);
        self.ops.truncate(mark.ops);
        self.chars.truncate(mark.chars);
    }

    pub(super) fn read<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        record: &mut Record<'a>,
    ) -> Result<(), ReadError> {
        cursor.enter()?;
        let mut name = String::new();
        loop {
            match cursor.next(record)? {
                Entry::End => return Ok(()),
                Entry::Block(_) => {
                    cursor.skip()?;
                }
                Entry::Record(md::STRINGS) => self.add_strings(record)?,
                Entry::Record(md::NAME) => name = record.text(0),
                Entry::Record(md::NAMED_NODE) => {
                    if name == "llvm.dbg.cu" {
                        self.units.extend(record.ops.iter().map(|&id| MdId(id as u32)));
                    }
                }
                Entry::Record(md::KIND | md::INDEX_OFFSET | md::INDEX) => {}
                Entry::Record(md::GLOBAL_DECL_ATTACHMENT) => self.attach(record),
                Entry::Record(code) => self.push(code, &record.ops),
            }
        }
    }

    fn push(&mut self, code: u32, ops: &[u64]) {
        let start = self.ops.len() as u32;
        self.ops.extend_from_slice(ops);
        self.items.push(Item { code, start, len: ops.len() as u32 });
    }

    fn attach(&mut self, record: &Record<'_>) {
        let Some((&value, pairs)) = record.ops.split_first() else { return };
        for pair in pairs.chunks_exact(2) {
            self.global_attachments.push((value as u32, pair[0] as u32, MdId(pair[1] as u32)));
        }
    }

    /// `[count, offset]` and a blob: the lengths as a bitstream, the characters at `offset`.
    fn add_strings(&mut self, record: &Record<'_>) -> Result<(), ReadError> {
        let count = record.op(0)?;
        let offset = record.op(1)? as usize;
        if offset > record.blob.len() {
            return Err(ReadError::Malformed("metadata strings outside of their record"));
        }
        let (lengths, mut chars) = record.blob.split_at(offset);
        let mut lengths = Cursor::new(lengths, 0);
        for _ in 0..count {
            let len = lengths.vbr(6)? as usize;
            let (text, rest) = chars.split_at_checked(len).ok_or(ReadError::Truncated)?;
            chars = rest;
            let start = self.chars.len() as u32;
            self.chars.extend_from_slice(text);
            self.items.push(Item { code: STRING, start, len: len as u32 });
        }
        Ok(())
    }
}

fn slice<'t, T>(pool: &'t [T], item: &Item) -> &'t [T] {
    let start = item.start as usize;
    pool.get(start..start + item.len as usize).unwrap_or_default()
}

/// Reads the attachments of a function: only those of the function itself, `(kind, node)`.
pub(super) fn read_attachments<'a>(
    cursor: &mut Cursor<'a>,
    record: &mut Record<'a>,
    out: &mut Vec<(u32, MdId)>,
) -> Result<(), ReadError> {
    cursor.enter()?;
    loop {
        match cursor.next(record)? {
            Entry::End => return Ok(()),
            Entry::Block(_) => {
                cursor.skip()?;
            }
            // An odd number of operands starts with the instruction that they belong to.
            Entry::Record(md::ATTACHMENT) if record.ops.len().is_multiple_of(2) => {
                let pairs = record.ops.chunks_exact(2);
                out.extend(pairs.map(|p| (p[0] as u32, MdId(p[1] as u32))));
            }
            Entry::Record(_) => {}
        }
    }
}
