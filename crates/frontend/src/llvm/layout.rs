//! Sizes, alignments and field offsets of types under the module's data layout.
//!
//! All sizes are computed once, when the type table is complete. Invariant: a type that has no
//! size, or that a malformed module makes contain itself, has size 0 and alignment 1.

use super::{Type, TypeRef, TypeTable};

/// Alignment of one width of one kind, in bytes.
#[derive(Clone, Copy, Debug)]
struct Rule {
    kind: u8,
    bits: u32,
    align: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    /// Bytes that a store writes.
    store: u64,
    align: u64,
}

/// How deep aggregates may nest before the rest counts as empty.
const MAX_DEPTH: u32 = 200;

#[derive(Debug, Default)]
pub struct DataLayout {
    pointer_bits: u32,
    rules: Vec<Rule>,
    extents: Vec<Option<Extent>>,
    offsets: Vec<Vec<u64>>,
}

impl DataLayout {
    /// `spec` is the module's layout string, empty when it has none.
    pub fn new(spec: &str, types: &TypeTable) -> Self {
        let mut layout = Self { pointer_bits: 64, ..Self::default() };
        let defaults =
            "i1:8-i8:8-i16:16-i32:32-i64:32-f16:16-f32:32-f64:64-f128:128-v64:64-v128:128-a:8";
        for part in defaults.split('-').chain(spec.split('-')) {
            layout.add_rule(part);
        }
        layout.rules.sort_by_key(|r| (r.kind, r.bits));
        layout.extents = vec![None; types.len()];
        layout.offsets = vec![Vec::new(); types.len()];
        for index in 0..types.len() {
            layout.extent(TypeRef(index as u32), types, 0);
        }
        layout
    }

    fn add_rule(&mut self, part: &str) {
        let mut fields = part.split(':');
        let Some(head) = fields.next().filter(|h| !h.is_empty()) else { return };
        let (kind, bits) = (head.as_bytes()[0], head.get(1..).and_then(|b| b.parse().ok()));
        match kind {
            // Only address space 0 matters: `p:64:64` or `p0:64:64`.
            b'p' if bits.unwrap_or(0) == 0 => {
                self.pointer_bits = fields.next().and_then(|s| s.parse().ok()).unwrap_or(64);
            }
            b'i' | b'f' | b'v' | b'a' => {
                let align: u64 = fields.next().and_then(|s| s.parse().ok()).unwrap_or(8);
                let (bits, align) = (bits.unwrap_or(0), (align / 8).max(1));
                self.rules.retain(|r| (r.kind, r.bits) != (kind, bits));
                self.rules.push(Rule { kind, bits, align });
            }
            _ => {}
        }
    }

    pub fn pointer_size(&self) -> u64 {
        u64::from(self.pointer_bits / 8)
    }
    /// Bytes that a load or store of the type touches.
    pub fn store_size(&self, ty: TypeRef) -> u64 {
        self.known(ty).store
    }
    /// Distance of two consecutive elements of the type in memory.
    pub fn alloc_size(&self, ty: TypeRef) -> u64 {
        let extent = self.known(ty);
        round_up(extent.store, extent.align)
    }
    /// Offsets of the fields of a struct type; empty for all others.
    pub fn field_offsets(&self, ty: TypeRef) -> &[u64] {
        self.offsets.get(ty.0 as usize).map_or(&[], Vec::as_slice)
    }

    fn known(&self, ty: TypeRef) -> Extent {
        let extent = self.extents.get(ty.0 as usize).copied().flatten();
        extent.unwrap_or(Extent { store: 0, align: 1 })
    }

    fn extent(&mut self, id: TypeRef, types: &TypeTable, depth: u32) -> Extent {
        let empty = Extent { store: 0, align: 1 };
        match self.extents.get(id.0 as usize) {
            None => return empty,
            Some(Some(done)) => return *done,
            Some(None) if depth > MAX_DEPTH => return empty,
            Some(None) => {}
        }
        // Seen again while it is being computed, the type counts as empty: a malformed cycle.
        self.extents[id.0 as usize] = Some(empty);
        let extent = match types.get(id) {
            Type::Int(bits) => self.scalar(b'i', *bits),
            Type::Float(bits) => self.scalar(b'f', *bits),
            Type::Ptr => Extent { store: self.pointer_size(), align: self.pointer_size().max(1) },
            Type::Array { len, of } => {
                let element = self.extent(*of, types, depth + 1);
                let stride = round_up(element.store, element.align);
                Extent { store: stride.saturating_mul(*len), align: element.align }
            }
            Type::Vector { len, of } => self.vector(*len, *of, types, depth),
            Type::Struct { packed, fields, .. } => {
                self.structure(id, *packed, fields, types, depth)
            }
            _ => empty,
        };
        self.extents[id.0 as usize] = Some(extent);
        extent
    }

    fn scalar(&self, kind: u8, bits: u32) -> Extent {
        let store = u64::from(bits).div_ceil(8);
        let mut rules = self.rules.iter().filter(|r| r.kind == kind);
        let natural = store.next_power_of_two();
        let align = if kind == b'i' {
            // An integer of odd width is aligned as the next wider one that has a rule.
            let wider = rules.clone().find(|r| r.bits >= bits);
            wider.or(rules.next_back()).map_or(natural, |r| r.align)
        } else {
            rules.find(|r| r.bits == bits).map_or(natural, |r| r.align)
        };
        Extent { store, align }
    }

    fn vector(&mut self, len: u64, of: TypeRef, types: &TypeTable, depth: u32) -> Extent {
        let bits = match types.get(of) {
            Type::Int(bits) | Type::Float(bits) => u64::from(*bits),
            _ => self.extent(of, types, depth + 1).store * 8,
        };
        let total = bits.saturating_mul(len);
        let store = total.div_ceil(8);
        let rule = self.rules.iter().find(|r| r.kind == b'v' && u64::from(r.bits) == total);
        let natural = store.min(1 << 32).next_power_of_two();
        Extent { store, align: rule.map_or(natural, |r| r.align) }
    }

    fn structure(
        &mut self,
        id: TypeRef,
        packed: bool,
        fields: &[TypeRef],
        types: &TypeTable,
        depth: u32,
    ) -> Extent {
        let (mut end, mut align) = (0u64, 1);
        let mut offsets = Vec::with_capacity(fields.len());
        for &field in fields {
            let extent = self.extent(field, types, depth + 1);
            if !packed {
                end = round_up(end, extent.align);
                align = align.max(extent.align);
            }
            offsets.push(end);
            end = end.saturating_add(round_up(extent.store, extent.align));
        }
        self.offsets[id.0 as usize] = offsets;
        Extent { store: round_up(end, align), align }
    }
}

fn round_up(size: u64, align: u64) -> u64 {
    size.checked_next_multiple_of(align.max(1)).unwrap_or(size)
}
