//! The bitstream container of LLVM bitcode: nested blocks of records, with abbreviations.
//!
//! In: bytes. Out: one [`Entry`] at a time, a record's operands in a buffer that is reused.
//! Invariant: no input makes it read outside the bytes, loop without end or allocate more than a
//! small multiple of the input; whatever does not fit the format is a [`ReadError`].

use super::ReadError;
use rustc_hash::FxHashMap;
use std::rc::Rc;

type Result<T> = std::result::Result<T, ReadError>;

const END_BLOCK: u64 = 0;
const ENTER_SUBBLOCK: u64 = 1;
const DEFINE_ABBREV: u64 = 2;
const UNABBREV_RECORD: u64 = 3;
const BLOCKINFO: u32 = 0;
const SET_BLOCK_ID: u32 = 1;
const CHAR6: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";

#[derive(Clone, Copy, Debug)]
enum AbbrevOp {
    Literal(u64),
    Fixed(u32),
    Vbr(u32),
    Array,
    Char6,
    Blob,
}

type Abbrev = Rc<[AbbrevOp]>;

/// What the stream holds next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A nested block; `enter` or `skip` it.
    Block(u32),
    /// A record with this code; its operands are in [`Record`].
    Record(u32),
    End,
}

/// The operands of the record read last.
#[derive(Debug, Default)]
pub struct Record<'a> {
    pub ops: Vec<u64>,
    pub blob: &'a [u8],
}

impl Record<'_> {
    pub fn op(&self, index: usize) -> Result<u64> {
        self.ops.get(index).copied().ok_or(ReadError::Malformed("a record is too short"))
    }
    /// The operand, or 0 when an older writer left it out.
    pub fn op_or_zero(&self, index: usize) -> u64 {
        self.ops.get(index).copied().unwrap_or(0)
    }
    /// The operands from `from` on as text.
    pub fn text(&self, from: usize) -> String {
        let bytes: Vec<u8> = self.ops.iter().skip(from).map(|&c| c as u8).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A block that has been announced and not been entered yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    id: u32,
    width: u32,
    /// Bit position of the first entry.
    start: usize,
    /// Bit position behind the block.
    end: usize,
}

struct Scope {
    width: u32,
    abbrevs: Vec<Abbrev>,
    end: usize,
}

/// Where a block starts, to come back to it later.
#[derive(Clone, Copy, Debug)]
pub struct BlockPosition(Pending);

/// Reads entries one after the other.
pub struct Cursor<'a> {
    bytes: &'a [u8],
    /// Position in bits.
    pos: usize,
    end: usize,
    scopes: Vec<Scope>,
    pending: Option<Pending>,
    /// Abbreviations that BLOCKINFO declares for all blocks of an id.
    block_abbrevs: FxHashMap<u32, Vec<Abbrev>>,
}

impl<'a> Cursor<'a> {
    /// `bytes` starts behind the magic number.
    pub fn new(bytes: &'a [u8], magic_len: usize) -> Self {
        let end = bytes.len() * 8;
        Self {
            bytes,
            pos: magic_len * 8,
            end,
            scopes: vec![Scope { width: 2, abbrevs: Vec::new(), end }],
            pending: None,
            block_abbrevs: FxHashMap::default(),
        }
    }

    /// No entry is left at the top level.
    pub fn at_end(&self) -> bool {
        self.pos + 32 > self.end
    }

    fn bits(&mut self, count: u32) -> Result<u64> {
        debug_assert!(count <= 57);
        if self.pos + count as usize > self.end {
            return Err(ReadError::Truncated);
        }
        let byte = self.pos >> 3;
        let word = match self.bytes.get(byte..byte + 8) {
            Some(b) => u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]),
            None => self.tail_word(byte),
        };
        let value = (word >> (self.pos & 7)) & ((1u64 << count) - 1);
        self.pos += count as usize;
        Ok(value)
    }

    #[cold]
    fn tail_word(&self, byte: usize) -> u64 {
        let mut word = [0; 8];
        let tail = self.bytes.get(byte..).unwrap_or_default();
        let len = tail.len().min(8);
        word[..len].copy_from_slice(&tail[..len]);
        u64::from_le_bytes(word)
    }

    fn fixed(&mut self, width: u32) -> Result<u64> {
        if width <= 32 {
            return self.bits(width);
        }
        let low = self.bits(32)?;
        Ok(low | self.bits(width - 32)? << 32)
    }

    pub(super) fn vbr(&mut self, width: u32) -> Result<u64> {
        let more = 1u64 << (width - 1);
        let mut piece = self.bits(width)?;
        let mut value = piece & (more - 1);
        let mut shift = width - 1;
        while piece & more != 0 {
            piece = self.bits(width)?;
            if shift >= 64 {
                return Err(ReadError::Malformed("a number is longer than 64 bits"));
            }
            value |= (piece & (more - 1)) << shift;
            shift += width - 1;
        }
        Ok(value)
    }

    fn align32(&mut self) -> Result<()> {
        self.pos = (self.pos + 31) & !31;
        if self.pos > self.end { Err(ReadError::Truncated) } else { Ok(()) }
    }

    /// The next block, record or end of block.
    pub fn next(&mut self, record: &mut Record<'a>) -> Result<Entry> {
        loop {
            let width = self.scope()?.width;
            match self.bits(width)? {
                END_BLOCK => return self.end_block(),
                ENTER_SUBBLOCK => return self.announce_block(),
                DEFINE_ABBREV => {
                    let abbrev = self.define_abbrev()?;
                    self.scope()?.abbrevs.push(abbrev);
                }
                UNABBREV_RECORD => return self.unabbreviated(record),
                id => return self.abbreviated(id as usize - 4, record),
            }
        }
    }

    fn scope(&mut self) -> Result<&mut Scope> {
        self.scopes.last_mut().ok_or(ReadError::Malformed("a block ends twice"))
    }

    fn end_block(&mut self) -> Result<Entry> {
        if self.scopes.len() < 2 {
            return Err(ReadError::Malformed("a block ends that never began"));
        }
        self.align32()?;
        self.scopes.pop();
        self.end = self.scope()?.end;
        Ok(Entry::End)
    }

    fn announce_block(&mut self) -> Result<Entry> {
        let id = self.vbr(8)? as u32;
        let width = self.vbr(4)? as u32;
        self.align32()?;
        let words = self.fixed(32)? as usize;
        let end = self.pos + words * 32;
        if end > self.end || !(2..=32).contains(&width) {
            return Err(ReadError::Truncated);
        }
        self.pending = Some(Pending { id, width, start: self.pos, end });
        Ok(Entry::Block(id))
    }

    /// Goes into the block that `next` announced.
    pub fn enter(&mut self) -> Result<()> {
        let block = self.pending.take().ok_or(ReadError::Malformed("no block to enter"))?;
        self.enter_block(block);
        Ok(())
    }

    fn enter_block(&mut self, block: Pending) {
        let abbrevs = self.block_abbrevs.get(&block.id).cloned().unwrap_or_default();
        self.scopes.push(Scope { width: block.width, abbrevs, end: block.end });
        self.pos = block.start;
        self.end = block.end;
    }

    /// Goes behind the block that `next` announced and returns its position.
    pub fn skip(&mut self) -> Result<BlockPosition> {
        let block = self.pending.take().ok_or(ReadError::Malformed("no block to skip"))?;
        self.pos = block.end;
        Ok(BlockPosition(block))
    }

    /// Enters a block that was skipped before; the end of it is the end of the stream.
    pub fn seek(&mut self, position: BlockPosition) {
        self.scopes.truncate(1);
        self.enter_block(position.0);
    }

    /// Reads the BLOCKINFO block that `next` announced.
    pub fn read_block_info(&mut self) -> Result<()> {
        self.enter()?;
        let mut current = None;
        let mut record = Record::default();
        loop {
            let width = self.scope()?.width;
            match self.bits(width)? {
                END_BLOCK => {
                    self.end_block()?;
                    return Ok(());
                }
                DEFINE_ABBREV => {
                    let abbrev = self.define_abbrev()?;
                    let id = current.ok_or(ReadError::Malformed("abbreviation of no block"))?;
                    self.block_abbrevs.entry(id).or_default().push(abbrev);
                }
                UNABBREV_RECORD => {
                    if self.unabbreviated(&mut record)? == Entry::Record(SET_BLOCK_ID) {
                        current = Some(record.op(0)? as u32);
                    }
                }
                _ => return Err(ReadError::Malformed("unexpected entry in BLOCKINFO")),
            }
        }
    }

    pub fn is_block_info(id: u32) -> bool {
        id == BLOCKINFO
    }

    fn define_abbrev(&mut self) -> Result<Abbrev> {
        let count = self.vbr(5)?;
        let mut ops = Vec::new();
        while (ops.len() as u64) < count {
            ops.push(self.abbrev_op()?);
        }
        Ok(ops.into())
    }

    fn abbrev_op(&mut self) -> Result<AbbrevOp> {
        if self.bits(1)? == 1 {
            return Ok(AbbrevOp::Literal(self.vbr(8)?));
        }
        Ok(match self.bits(3)? {
            1 => match self.vbr(5)? {
                0 => AbbrevOp::Literal(0),
                width @ 1..=64 => AbbrevOp::Fixed(width as u32),
                _ => return Err(ReadError::Malformed("a field is wider than 64 bits")),
            },
            2 => match self.vbr(5)? {
                0 => AbbrevOp::Literal(0),
                width @ 2..=32 => AbbrevOp::Vbr(width as u32),
                _ => return Err(ReadError::Malformed("a field is wider than 32 bits")),
            },
            3 => AbbrevOp::Array,
            4 => AbbrevOp::Char6,
            5 => AbbrevOp::Blob,
            _ => return Err(ReadError::Malformed("unknown abbreviation encoding")),
        })
    }

    fn unabbreviated(&mut self, record: &mut Record<'a>) -> Result<Entry> {
        let code = self.vbr(6)? as u32;
        let count = self.vbr(6)? as usize;
        if count > self.end.saturating_sub(self.pos) / 6 {
            return Err(ReadError::Truncated);
        }
        record.blob = &[];
        record.ops.clear();
        record.ops.reserve(count);
        for _ in 0..count {
            let op = self.vbr(6)?;
            record.ops.push(op);
        }
        Ok(Entry::Record(code))
    }

    fn abbreviated(&mut self, index: usize, record: &mut Record<'a>) -> Result<Entry> {
        let scope = self.scopes.last().ok_or(ReadError::Malformed("a record in no block"))?;
        let abbrev = scope.abbrevs.get(index).cloned();
        let abbrev = abbrev.ok_or(ReadError::Malformed("unknown abbreviation"))?;
        record.blob = &[];
        record.ops.clear();
        let mut ops = abbrev.iter();
        let code = ops.next().ok_or(ReadError::Malformed("a record without a code"))?;
        let code = self.scalar(*code)? as u32;
        while let Some(op) = ops.next() {
            match op {
                AbbrevOp::Array => {
                    let element = ops.next().ok_or(ReadError::Malformed("array of nothing"))?;
                    self.array(*element, record)?;
                }
                AbbrevOp::Blob => record.blob = self.blob()?,
                op => {
                    let value = self.scalar(*op)?;
                    record.ops.push(value);
                }
            }
        }
        Ok(Entry::Record(code))
    }

    fn scalar(&mut self, op: AbbrevOp) -> Result<u64> {
        match op {
            AbbrevOp::Literal(value) => Ok(value),
            AbbrevOp::Fixed(width) => self.fixed(width),
            AbbrevOp::Vbr(width) => self.vbr(width),
            AbbrevOp::Char6 => Ok(u64::from(CHAR6[self.bits(6)? as usize])),
            AbbrevOp::Array | AbbrevOp::Blob => Err(ReadError::Malformed("nested array")),
        }
    }

    fn array(&mut self, element: AbbrevOp, record: &mut Record<'a>) -> Result<()> {
        let len = self.vbr(6)? as usize;
        // Every element takes at least a bit, or the array could be of any length.
        if matches!(element, AbbrevOp::Literal(_)) || len > self.end.saturating_sub(self.pos) {
            return Err(ReadError::Malformed("an array is longer than its block"));
        }
        record.ops.reserve(len);
        for _ in 0..len {
            let value = self.scalar(element)?;
            record.ops.push(value);
        }
        Ok(())
    }

    fn blob(&mut self) -> Result<&'a [u8]> {
        let len = self.vbr(6)? as usize;
        self.align32()?;
        let start = self.pos / 8;
        let blob = start.checked_add(len).and_then(|end| self.bytes.get(start..end));
        let blob =
            blob.filter(|b| (start + b.len()) * 8 <= self.end).ok_or(ReadError::Truncated)?;
        self.pos += len * 8;
        self.align32()?;
        Ok(blob)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes fields of (value, bits), lowest bit first.
    fn pack(fields: &[(u64, u32)]) -> Vec<u8> {
        let bits =
            fields.iter().flat_map(|&(value, width)| (0..width).map(move |i| value >> i & 1));
        let bits: Vec<u64> = bits.collect();
        bits.chunks(8).map(|c| c.iter().rev().fold(0, |byte, bit| byte << 1 | *bit as u8)).collect()
    }

    #[test]
    fn numbers() {
        let bytes = pack(&[(5, 3), (0b10_0001, 6), (0b00_0011, 6), (u64::MAX >> 4, 60)]);
        let mut cursor = Cursor::new(&bytes, 0);
        assert_eq!(cursor.fixed(3), Ok(5));
        // Two pieces: 1 with more to come, then 3 five bits higher.
        assert_eq!(cursor.vbr(6), Ok(1 | 3 << 5));
        assert_eq!(cursor.fixed(60), Ok(u64::MAX >> 4));
        assert_eq!(cursor.fixed(32), Err(ReadError::Truncated));
    }

    #[test]
    fn a_number_that_never_ends_is_refused() {
        let bytes = vec![0xff; 64];
        assert!(Cursor::new(&bytes, 0).vbr(6).is_err());
    }

    #[test]
    fn abbreviated_records() {
        // DEFINE_ABBREV with 3 operands: literal code 7, array, of char6; then a record "ab".
        let bytes = pack(&[(2, 2), (3, 5), (1, 1), (7, 8), (0, 1), (3, 3), (0, 1), (4, 3)]);
        let mut cursor = Cursor::new(&bytes, 0);
        assert_eq!(cursor.bits(2), Ok(DEFINE_ABBREV));
        let abbrev = cursor.define_abbrev().expect("an abbreviation");
        let bytes = pack(&[(2, 6), (0, 6), (1, 6), (0, 14)]);
        let mut cursor = Cursor::new(&bytes, 0);
        cursor.scopes[0].abbrevs.push(abbrev);
        let mut record = Record::default();
        assert_eq!(cursor.abbreviated(0, &mut record), Ok(Entry::Record(7)));
        assert_eq!(record.text(0), "ab");
        assert_eq!(record.op(2), Err(ReadError::Malformed("a record is too short")));
    }

    #[test]
    fn blocks_stay_inside_their_parent() {
        // ENTER_SUBBLOCK 8, width 3, longer than the stream.
        let bytes = pack(&[(1, 2), (8, 8), (3, 4), (0, 18), (1000, 32), (0, 32)]);
        let mut cursor = Cursor::new(&bytes, 0);
        assert_eq!(cursor.next(&mut Record::default()), Err(ReadError::Truncated));
    }
}
