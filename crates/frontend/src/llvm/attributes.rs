//! Attribute lists of functions and call sites.
//!
//! Only the attributes that lowering asks for are kept.

use super::bitstream::{Cursor, Entry, Record};
use super::codes::attr;
use super::{ReadError, codes};
use rustc_hash::FxHashMap;

/// What one attribute list says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    pub noreturn: bool,
    pub noalias_return: bool,
    pub nonnull_return: bool,
    pub alloc_size: bool,
    pub alloc_kind: u64,
    pub alloc_family: Option<String>,
    /// 0-based parameters.
    pub sret: Option<u32>,
    pub byval: Vec<u32>,
    pub alloc_ptr: Option<u32>,
}

#[derive(Debug, Default)]
pub struct AttributeTable {
    lists: Vec<Attributes>,
    /// By group id; applied to a list in the order the list names them.
    groups: FxHashMap<u64, Group>,
    none: Attributes,
}

#[derive(Clone, Debug, Default)]
struct Group {
    /// `codes::attr::FUNCTION_INDEX`, 0 for the result, or 1-based parameter.
    index: u64,
    /// (kind, value), value 0 when the attribute has none.
    enums: Vec<(u64, u64)>,
    alloc_family: Option<String>,
}

impl AttributeTable {
    /// The list with the 1-based number that function and call records use; 0 is the empty list.
    pub fn list(&self, number: u64) -> &Attributes {
        let index = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
        index.and_then(|i| self.lists.get(i)).unwrap_or(&self.none)
    }

    pub(super) fn read_groups<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        record: &mut Record<'a>,
    ) -> Result<(), ReadError> {
        cursor.enter()?;
        loop {
            match cursor.next(record)? {
                Entry::End => return Ok(()),
                Entry::Block(_) => {
                    cursor.skip()?;
                }
                Entry::Record(3) => {
                    let id = record.op(0)?;
                    self.groups.insert(id, Group::decode(record.op(1)?, &record.ops[2..]));
                }
                Entry::Record(_) => {}
            }
        }
    }

    pub(super) fn read_lists<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        record: &mut Record<'a>,
    ) -> Result<(), ReadError> {
        cursor.enter()?;
        loop {
            match cursor.next(record)? {
                Entry::End => return Ok(()),
                Entry::Block(_) => {
                    cursor.skip()?;
                }
                Entry::Record(2) => {
                    let groups = record.ops.iter().filter_map(|g| self.groups.get(g));
                    self.lists.push(Attributes::of(groups));
                }
                Entry::Record(_) => self.lists.push(Attributes::default()),
            }
        }
    }
}

impl Group {
    /// `ops`: attributes one after the other, each led by its form: 0 kind; 1 kind, value;
    /// 3 text; 4 text, text; 5 kind; 6 kind, type; 7 kind, constant range; 8 kind, range list.
    fn decode(index: u64, ops: &[u64]) -> Self {
        let mut group = Self { index, ..Self::default() };
        let mut rest = ops.iter().copied();
        while let Some(form) = rest.next() {
            match form {
                0 | 5 => group.enums.push((rest.next().unwrap_or(0), 0)),
                1 | 6 => group.enums.push((rest.next().unwrap_or(0), rest.next().unwrap_or(0))),
                3 | 4 => {
                    let key = text(&mut rest);
                    let value = if form == 4 { text(&mut rest) } else { Vec::new() };
                    if key == b"alloc-family" {
                        group.alloc_family = Some(String::from_utf8_lossy(&value).into_owned());
                    }
                }
                // Ranges are of variable length and come last among what matters here.
                _ => break,
            }
        }
        group
    }
}

fn text(ops: &mut impl Iterator<Item = u64>) -> Vec<u8> {
    ops.take_while(|&c| c != 0).map(|c| c as u8).collect()
}

impl Attributes {
    fn of<'g>(groups: impl Iterator<Item = &'g Group>) -> Self {
        let mut out = Self::default();
        for group in groups {
            for &(kind, value) in &group.enums {
                out.apply(group.index, kind, value);
            }
            if group.index == codes::attr::FUNCTION_INDEX && group.alloc_family.is_some() {
                out.alloc_family.clone_from(&group.alloc_family);
            }
        }
        out
    }

    fn apply(&mut self, index: u64, kind: u64, value: u64) {
        let param = index.wrapping_sub(1) as u32;
        match (index, kind) {
            (attr::FUNCTION_INDEX, attr::NO_RETURN) => self.noreturn = true,
            (attr::FUNCTION_INDEX, attr::ALLOC_SIZE) => self.alloc_size = true,
            (attr::FUNCTION_INDEX, attr::ALLOC_KIND) => self.alloc_kind = value,
            (0, attr::NO_ALIAS) => self.noalias_return = true,
            (0, attr::NON_NULL) => self.nonnull_return = true,
            (1.., attr::STRUCT_RET) => self.sret = Some(param),
            (1.., attr::BY_VAL) => self.byval.push(param),
            (1.., attr::ALLOCATED_POINTER) => self.alloc_ptr = Some(param),
            _ => {}
        }
    }
}
