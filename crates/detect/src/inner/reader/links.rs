//! Lists in one function: walks along their links, and nodes that are taken off.

use super::Reader;
use crate::inner::fields::{CutOut, Field, StructName, Survey};
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

    /// `prev->next = node->next` or `*head = node->next` where a walk from that head came to `node`: the node is off its list.
    pub(super) fn read_cut_out(&self, survey: &mut Survey) {
        for (store, inst) in self.insts() {
            let InstKind::Store { ptr, value } = inst.kind else { continue };
            let Some((node, link)) =
                self.field_behind(value).filter(|(_, f)| self.links.contains(*f))
            else {
                continue;
            };
            if self.is_cut(node, link, ptr) {
                survey.cut_out.entry(self.me).or_default().push(CutOut {
                    store,
                    node,
                    of: link.0.clone(),
                });
            }
        }
    }

    /// Whether a place led to a node of a list: the link of the node before it in a walk, or where the walk began.
    fn is_cut(&self, node: ValueId, link: &Field, place: ValueId) -> bool {
        let choices = self.choices(node);
        let is_walk = choices.len() > 1
            && choices.iter().any(|v| self.field_behind(*v).is_some_and(|(_, f)| f == link));
        let follows = |prev: ValueId| prev != node && self.walks_with(prev, node);
        let is_behind = match self.addresses.get(&place) {
            Some((prev, field)) if field == link => follows(*prev),
            _ => choices
                .iter()
                .any(|v| self.place_read(*v).is_some_and(|head| self.is_place_like(head, place))),
        };
        is_walk && is_behind
    }

    /// Whether a value is what another one was a turn before.
    fn walks_with(&self, prev: ValueId, node: ValueId) -> bool {
        let ValueKind::Inst(id) = self.function.values[prev].kind else { return false };
        matches!(&self.inst(id).kind, InstKind::Phi { incoming } if incoming.iter().any(|(_, v)| *v == node))
    }

    fn is_place_like(&self, a: ValueId, b: ValueId) -> bool {
        let field = |v: &ValueId| self.addresses.get(v).map(|(_, field)| field);
        a == b || field(&a).is_some_and(|f| field(&b) == Some(f))
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
