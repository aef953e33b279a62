//! What constant globals hold: tables, string literals, initial values of local structs.

use crate::elements::Elements;
use crate::exec::Exec;
use crate::vocabulary::BaseKind;
use leakproof_guard::{Base, Node, Term};
use leakproof_ir::{InitEntry, InitValue};

/// Zeros between the values of an initialiser are copied in pieces of this size: a wider read of
/// zeros is zero as well.
const ZEROS: u64 = 4;

/// Rows of larger tables are not told apart.
const MAX_ROWS: usize = 16;

impl Exec<'_> {
    /// The initial value of a constant global.
    pub(super) fn constant_contents(&mut self, base: Base, offset: i64, bits: u16) -> Option<Term> {
        let BaseKind::Global(r) = self.kind(base) else { return None };
        let global = self.ctx.program.global(r);
        let init = global.init.as_ref().filter(|_| global.constant)?;
        let offset = u64::try_from(offset).ok()?;
        for entry in init {
            match &entry.value {
                InitValue::Bytes(bytes)
                    if bits == 8
                        && (entry.offset..entry.offset + bytes.len() as u64).contains(&offset) =>
                {
                    let byte = bytes[(offset - entry.offset) as usize];
                    return Some(self.terms.int(8, u64::from(byte)));
                }
                InitValue::Int { bits: b, value } if entry.offset == offset && *b == bits => {
                    return Some(self.terms.int(bits, *value));
                }
                InitValue::Function(f) if entry.offset == offset => {
                    use leakproof_program::Target;
                    let (Target::Defined(f) | Target::External(f)) =
                        self.ctx.program.resolve(r.module, *f);
                    let base = self.base(BaseKind::Func(f));
                    return Some(self.terms.addr(base, 0));
                }
                InitValue::Global(g, at) if entry.offset == offset => {
                    let target = self.ctx.program.resolve_global(r.module, *g);
                    let base = self.base(BaseKind::Global(target));
                    return Some(self.terms.addr(base, *at));
                }
                _ => {}
            }
        }
        let covered = init.iter().any(|e| (e.offset..e.offset + width(e)).contains(&offset));
        (!covered && offset < global.size).then(|| self.terms.int(bits, 0))
    }

    /// What an element of a constant table holds: a choice by its index. So the members that are
    /// read of one row belong together.
    pub(super) fn constant_element(&mut self, pointer: Term, bits: u16) -> Option<Term> {
        let Node::Elem { base, offset, stride, index, area } = *self.terms.node(pointer) else {
            return None;
        };
        let BaseKind::Global(r) = self.kind(base) else { return None };
        let global = self.ctx.program.global(r);
        let size = i64::try_from(global.size).ok().filter(|_| global.constant)?;
        let end = area.hi.min(size);
        let mut rows: Vec<(Term, Vec<i64>)> = Vec::new();
        let first = Elements::around(offset, stride, area).first().max(0);
        for at in (first..end).step_by(stride as usize).take(MAX_ROWS + 1) {
            let value = self.constant_contents(base, at, bits)?;
            match rows.iter_mut().find(|(v, _)| *v == value) {
                Some((_, list)) => list.push(at - offset),
                None => rows.push((value, vec![at - offset])),
            }
        }
        let count: usize = rows.iter().map(|(_, list)| list.len()).sum();
        (count <= MAX_ROWS).then(|| self.row_at(rows, index, stride)).flatten()
    }

    /// The value of the row that is `index` bytes on. The one of most rows needs no condition.
    fn row_at(
        &mut self,
        mut rows: Vec<(Term, Vec<i64>)>,
        index: Term,
        stride: u32,
    ) -> Option<Term> {
        rows.sort_by_key(|(value, list)| (list.len(), *value));
        let (mut result, _) = rows.pop()?;
        let number = self.terms.exact_quotient(index, u64::from(stride));
        for (value, list) in rows {
            let here: Vec<Term> = list
                .into_iter()
                .map(|bytes| match number {
                    Some(n) => self.is_number(n, bytes / i64::from(stride)),
                    None => self.is_number(index, bytes),
                })
                .collect();
            let here = self.terms.or(here);
            result = self.terms.ite(here, value, result);
        }
        Some(result)
    }

    fn is_number(&mut self, t: Term, number: i64) -> Term {
        let number = self.terms.int(self.terms.bits(t), number as u64);
        self.terms.eq(t, number)
    }

    /// The cells of a constant global in a stretch of it, each as wide as it was written.
    pub(super) fn constant_cells(
        &mut self,
        base: Base,
        start: u64,
        len: u64,
    ) -> Option<Vec<(i64, Term)>> {
        let BaseKind::Global(r) = self.kind(base) else { return None };
        let global = self.ctx.program.global(r);
        let init = global.init.as_ref().filter(|_| global.constant)?;
        let end = start.saturating_add(len).min(global.size);
        let mut cells = Vec::new();
        let mut at = start;
        while at < end {
            let entry = init.iter().find(|e| (e.offset..e.offset + width(e)).contains(&at));
            let (bits, step) = match entry.map(|e| &e.value) {
                Some(InitValue::Int { bits, .. }) => (*bits, u64::from(bits.div_ceil(8))),
                Some(InitValue::Bytes(_)) => (8, 1),
                Some(_) => (64, 8),
                None => {
                    let next = init.iter().map(|e| e.offset).filter(|&o| o > at).min();
                    let gap = next.unwrap_or(end).min(end) - at;
                    let step = gap.min(ZEROS - at % ZEROS);
                    (8 * step as u16, step)
                }
            };
            if let Some(t) = self.constant_contents(base, at as i64, bits) {
                cells.push((at as i64, t));
            }
            at += step.max(1);
        }
        Some(cells)
    }
}

/// How many bytes an entry of an initialiser covers.
fn width(entry: &InitEntry) -> u64 {
    match &entry.value {
        InitValue::Int { bits, .. } => u64::from(bits.div_ceil(8)),
        InitValue::Bytes(b) => b.len() as u64,
        InitValue::Opaque(n) => u64::from(*n),
        InitValue::Function(_) | InitValue::Global(..) => 8,
    }
}
