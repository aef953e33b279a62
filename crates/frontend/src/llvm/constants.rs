//! Constants of a module or function: a table that global and local values index.

use super::bitstream::{Cursor, Entry, Record};
use super::body::Range;
use super::{ReadError, Type, TypeRef, TypeTable, codes};
use codes::constant as c;

/// A constant. Operands are value numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// Zero of its type: null pointer, 0, zeroed aggregate.
    Null,
    Undef,
    /// Not wider than 64 bits, zero-extended.
    Int(u64),
    /// One value number per element, in [`ConstantTable::pool`].
    Aggregate(Range),
    /// Characters, in [`ConstantTable::bytes`].
    Bytes(Range),
    /// Elements of an array of numbers, as they stand in the file.
    Data(Range),
    Bin {
        op: u64,
        lhs: u32,
        rhs: u32,
    },
    Cast {
        op: u64,
        value: u32,
    },
    /// Base and indices, value numbers in the pool.
    Gep {
        source: TypeRef,
        operands: Range,
    },
    /// The same as another value (`dso_local_equivalent`, `no_cfi`).
    Same(u32),
    Asm,
    /// Floating point, block addresses and the like.
    Other,
}

#[derive(Debug, Default)]
pub struct ConstantTable {
    constants: Vec<Constant>,
    pub pool: Vec<u64>,
    pub bytes: Vec<u8>,
}

/// How much of the table belongs to the module.
#[derive(Clone, Copy, Debug)]
pub struct Mark(usize, usize, usize);

impl ConstantTable {
    pub fn get(&self, index: u32) -> Constant {
        self.constants.get(index as usize).copied().unwrap_or(Constant::Other)
    }
    pub fn mark(&self) -> Mark {
        Mark(self.constants.len(), self.pool.len(), self.bytes.len())
    }
    pub fn truncate(&mut self, mark: Mark) {
        self.constants.truncate(mark.0);
        self.pool.truncate(mark.1);
        self.bytes.truncate(mark.2);
    }

    /// Reads a constants block; calls `add` with the number and type of each constant, in order.
    pub(super) fn read<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        record: &mut Record<'a>,
        types: &TypeTable,
        mut add: impl FnMut(u32, TypeRef),
    ) -> Result<(), ReadError> {
        cursor.enter()?;
        let mut ty = TypeRef::NONE;
        loop {
            match cursor.next(record)? {
                Entry::End => return Ok(()),
                Entry::Block(_) => {
                    cursor.skip()?;
                }
                Entry::Record(c::SETTYPE) => ty = TypeRef(record.op(0)? as u32),
                Entry::Record(code) => {
                    let constant = self.decode(code, ty, record, types)?;
                    add(self.constants.len() as u32, ty);
                    self.constants.push(constant);
                }
            }
        }
    }

    fn decode(
        &mut self,
        code: u32,
        ty: TypeRef,
        record: &Record<'_>,
        types: &TypeTable,
    ) -> Result<Constant, ReadError> {
        let value = |i: usize| record.op(i).map(|v| v as u32);
        Ok(match code {
            c::NULL => Constant::Null,
            c::UNDEF | c::POISON => Constant::Undef,
            c::INTEGER => match types.get(ty) {
                Type::Int(bits) if *bits <= 64 => {
                    Constant::Int(truncate(unrotate(record.op(0)?), *bits))
                }
                _ => Constant::Other,
            },
            c::AGGREGATE => Constant::Aggregate(self.add_pool(&record.ops)),
            c::DATA => Constant::Data(self.add_pool(&record.ops)),
            c::STRING | c::CSTRING => {
                let start = self.bytes.len();
                self.bytes.extend(record.ops.iter().map(|&b| b as u8));
                self.bytes.extend((code == c::CSTRING).then_some(0));
                Constant::Bytes(Range::new(start, self.bytes.len()))
            }
            c::CE_BINOP => Constant::Bin { op: record.op(0)?, lhs: value(1)?, rhs: value(2)? },
            c::CE_CAST => Constant::Cast { op: record.op(0)?, value: value(2)? },
            c::CE_GEP
            | c::CE_GEP_OLD
            | c::CE_INBOUNDS_GEP
            | c::CE_GEP_WITH_INRANGE
            | c::CE_GEP_WITH_INRANGE_INDEX_OLD => self.gep(code, record)?,
            c::DSO_LOCAL_EQUIVALENT | c::NO_CFI => Constant::Same(value(1)?),
            c::INLINEASM => Constant::Asm,
            _ => Constant::Other,
        })
    }

    /// `[source type, (flags, (range,)) (type, value)...]`. The range takes as many operands as
    /// its width needs; what follows it are pairs, of which the first is the base pointer.
    fn gep(&mut self, code: u32, record: &Record<'_>) -> Result<Constant, ReadError> {
        let source = TypeRef(record.op(0)? as u32);
        let header = match code {
            c::CE_GEP_OLD | c::CE_INBOUNDS_GEP => 1,
            c::CE_GEP | c::CE_GEP_WITH_INRANGE_INDEX_OLD => 2,
            _ if record.ops.len() % 2 == 1 => 5,
            _ => 4,
        };
        let pairs = record.ops.get(header..).unwrap_or_default().chunks_exact(2);
        let values: Vec<u64> = pairs.map(|p| p[1]).collect();
        Ok(Constant::Gep { source, operands: self.add_pool(&values) })
    }

    fn add_pool(&mut self, ops: &[u64]) -> Range {
        let start = self.pool.len();
        self.pool.extend_from_slice(ops);
        Range::new(start, self.pool.len())
    }
}

/// Signed numbers are stored with the sign in the lowest bit.
pub(super) fn unrotate(value: u64) -> u64 {
    match value {
        1 => 1 << 63,
        v if v & 1 == 0 => v >> 1,
        v => (v >> 1).wrapping_neg(),
    }
}

fn truncate(value: u64, bits: u32) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}
