//! Lists in one function: walks along their links, and nodes that are taken off.

use super::Reader;
use crate::inner::fields::{Field, StructName, Survey};
use leakproof_ir::{InstKind, ValueId, ValueKind};
use rustc_hash::FxHashSet;

impl Reader<'_> {
    /// The uses of the address of a field, also as one of those of a list's links.
    pub(super) fn read_address_uses(
        &self,
        survey: &mut Survey,
        field: &Field,
        address: ValueId,
        seen: &mut FxHashSet<ValueId>,
    ) {
        if !seen.insert(address) {
            return;
        }
        for &user in self.users(address) {
            let inst = self.inst(user);
            match (&inst.kind, inst.result) {
                (InstKind::Phi { .. }, Some(link)) if self.listed_at(link).is_some() => {
                    survey.field(field).chained = true;
                    self.read_address_uses(survey, field, link, seen);
                }
                _ => self.read_address(survey, field, address, user),
            }
        }
    }

    /// The kind of structs that a place of pointers leads to, be it one of several: a walk goes along the links of a list.
    pub(super) fn listed_at(&self, address: ValueId) -> Option<&StructName> {
        let choices = self.choices(address);
        let kind_at = |v: &ValueId| self.leads_to.get(&self.addresses.get(v)?.1);
        let kind = kind_at(choices.first()?)?;
        choices.iter().all(|v| kind_at(v) == Some(kind)).then_some(kind)
    }

    /// `head = node->next` where `node` was read from `head`, or the same by the address of the link to it.
    pub(super) fn read_unlinked(&self, survey: &mut Survey) {
        for (_, inst) in self.insts() {
            let InstKind::Store { ptr, value } = inst.kind else { continue };
            let Some((node, link)) = self.field_behind(value) else { continue };
            let Some(place) = self.place_read(node).filter(|_| self.links.contains(link)) else {
                continue;
            };
            if !self.is_same_place(place, ptr) {
                continue;
            }
            for choice in self.choices(ptr) {
                if let Some((_, head)) = self.addresses.get(&choice)
                    && !self.links.contains(head)
                {
                    self.handling(survey, &head.0).unlinks.insert(head.1);
                }
            }
        }
    }

    /// The address that a value was read from.
    pub(super) fn place_read(&self, v: ValueId) -> Option<ValueId> {
        let ValueKind::Inst(id) = self.function.values[v].kind else { return None };
        match self.inst(id).kind {
            InstKind::Load { ptr, .. } => Some(ptr),
            _ => None,
        }
    }

    fn is_same_place(&self, a: ValueId, b: ValueId) -> bool {
        let known = |v: &ValueId| self.addresses.get(v);
        a == b || known(&a).is_some_and(|place| Some(place) == known(&b))
    }
}
