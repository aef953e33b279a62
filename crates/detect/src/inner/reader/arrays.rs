//! Arrays that structs hold. The elements of an array of pointers are the only field of a struct that stands for the
//! array; those of an array of structs have fields anyway. Which element a pointer is to says whether it is in use:
//! who stores at a number that somebody named, or in what a search found, replaces; who stores at the count appends.

use super::Reader;
use crate::inner::fields::{Field, StructName, Survey};
use crate::inner::order::Order;
use leakproof_ir::{
    BinOp, Callee, Inst, InstId, InstKind, Module, SourceType, TypeId, ValueId, ValueKind,
};

const POINTER_SIZE: u64 = 8;

impl Reader<'_> {
    /// Makes the elements of arrays of pointers fields like others.
    pub(super) fn index_arrays(&mut self) {
        let places = self.addresses.iter();
        let places: Vec<(ValueId, Field)> = places.map(|(a, (_, f))| (*a, f.clone())).collect();
        for (address, field) in places {
            if self.pointer_arrays.contains(&field) {
                let stored: Vec<ValueId> =
                    self.stored_at(address).flat_map(|v| self.choices(v)).collect();
                for array in self.loaded_from(address).into_iter().chain(stored) {
                    self.note_array(array, &field);
                }
            }
        }
        let inside: Vec<(ValueId, Field)> = self
            .members
            .iter()
            .filter(|(_, member)| self.pointer_arrays.contains(*member))
            .filter(|(address, _)| !self.addresses.contains_key(*address))
            .map(|(address, member)| (*address, member.clone()))
            .collect();
        for (array, field) in inside {
            self.note_array(array, &field);
        }
    }

    fn loaded_from(&self, address: ValueId) -> Vec<ValueId> {
        let users = self.users(address).iter().map(|&user| self.inst(user));
        let loads = users.filter(|i| matches!(i.kind, InstKind::Load { .. }));
        loads.filter_map(|i| i.result).collect()
    }

    fn note_array(&mut self, array: ValueId, field: &Field) {
        let name = name_of_array(field);
        self.array_names.insert(name.clone());
        self.pointees.entry(array).or_insert_with(|| (POINTER_SIZE, name.clone()));
        let element = self.declared.get(&array).and_then(|ty| self.module.pointee(*ty));
        if let Some(kind) = element.and_then(|ty| self.names.of(ty)) {
            self.element_kinds.insert((name.clone(), 0), kind);
        }
        let is_step = |inst: &Inst| matches!(&inst.kind, InstKind::Offset { base, ty: None, .. } if *base == array);
        let users = self.users(array).iter().map(|&user| self.inst(user));
        let elements: Vec<ValueId> =
            users.filter(|i| is_step(i)).filter_map(|i| i.result).collect();
        for element in elements {
            self.addresses.insert(element, (array, (name.clone(), 0)));
        }
    }

    /// The elements that this function comes upon, and the fields of those in use that it gives something else.
    pub(super) fn read_replaced(&self, survey: &mut Survey) {
        let Some(body) = &self.function.body else { return };
        let order = Order::of(body);
        let mut addresses: Vec<_> = self.addresses.iter().collect();
        addresses.sort_unstable_by_key(|(address, _)| **address);
        let mut found: Vec<(ValueId, &Field)> = Vec::new();
        for (address, (owner, field)) in addresses {
            let element = if self.is_in_pointer_array(&field.0) { *address } else { *owner };
            if self.is_read(*address) {
                found.push((element, field));
            }
            for (store, value) in self.stores_at(*address) {
                let is_moved = self.place_read(value).is_some_and(|p| self.is_element_of(p, field));
                let is_set = !self.is_null(value) && self.place_read(value).is_none();
                if !self.is_in_use(element, store, &order) {
                    survey.field(field).appended |= is_set;
                } else if is_moved || is_set && self.is_changed(survey, element, value) {
                    found.push((element, field));
                }
            }
        }
        self.read_overwritten(survey, &order);
        for (element, field) in found {
            self.handling(survey, &field.0).elements.insert(element);
        }
    }

    /// Whether an element is given what callers told to put there, in a struct that has a life already.
    fn is_changed(&self, survey: &Survey, element: ValueId, value: ValueId) -> bool {
        self.comes_of_others(value, usize::MAX) && !self.is_of_new_struct(survey, element)
    }

    fn is_read(&self, address: ValueId) -> bool {
        let mut users = self.users(address).iter().map(|&user| &self.inst(user).kind);
        users.any(|kind| matches!(kind, InstKind::Load { .. }))
    }

    /// Elements in use over which others are copied: `*entry = table[--count]`, `memmove(&v[i], &v[i + 1], rest)`; and
    /// those that are copied elsewhere.
    fn read_overwritten(&self, survey: &mut Survey, order: &Order<'_>) {
        for (id, inst) in self.insts() {
            let InstKind::MemCopy { dst, src, .. } = inst.kind else { continue };
            if self.is_element(src)
                && let Some(of) = self.element_kind(src)
            {
                self.handling(survey, &of).elements.insert(src);
            }
            if dst != src
                && self.is_in_use(dst, id, order)
                && self.is_element(src)
                && let Some(of) = self.element_kind(dst)
            {
                self.handling(survey, &of).elements.insert(dst);
            }
        }
    }

    /// What an element of an array is, or stands for the array.
    fn element_kind(&self, element: ValueId) -> Option<StructName> {
        if let Some((_, field)) = self.addresses.get(&element) {
            return Some(field.0.clone());
        }
        let ValueKind::Inst(id) = self.function.values[element].kind else { return None };
        let stepped = match &self.inst(id).kind {
            InstKind::Offset { base, indices, ty: None, .. } => {
                self.stepped_over(base, indices.iter().map(|i| i.scale))
            }
            _ => None,
        };
        stepped.or_else(|| self.pointee(&element).cloned())
    }

    pub(super) fn stores_at(&self, address: ValueId) -> impl Iterator<Item = (InstId, ValueId)> {
        self.users(address).iter().filter_map(move |&user| match self.inst(user).kind {
            InstKind::Store { ptr, value } if ptr == address => Some((user, value)),
            _ => None,
        })
    }

    /// Whether a place is an element of the array of pointers that a field stands for.
    pub(super) fn is_element_of(&self, place: ValueId, field: &Field) -> bool {
        self.is_in_pointer_array(&field.0)
            && self.addresses.get(&place).is_some_and(|(_, at)| at == field)
    }

    /// Whether fields of this kind are the elements of arrays of pointers.
    pub(super) fn is_in_pointer_array(&self, of: &StructName) -> bool {
        self.array_names.contains(of)
    }

    /// Whether a store goes to an element that holds something already, by how the function got at it.
    fn is_in_use(&self, element: ValueId, store: InstId, order: &Order<'_>) -> bool {
        match self.step_to(element) {
            Some(number) => self.is_named(number) || self.is_found(number, store, order),
            None => self.is_call_of_program(element),
        }
    }

    /// The number by which an element of an array is reached.
    fn step_to(&self, element: ValueId) -> Option<ValueId> {
        let ValueKind::Inst(id) = self.function.values[element].kind else { return None };
        match &self.inst(id).kind {
            InstKind::Offset { indices, ty: None, .. } => indices.last().map(|i| i.value),
            _ => None,
        }
    }

    /// Whether a number was named by a caller, or is what a search returned.
    fn is_named(&self, number: ValueId) -> bool {
        match self.function.values[number].kind {
            ValueKind::Param(_) => true,
            ValueKind::Inst(id) => match &self.inst(id).kind {
                InstKind::Cast { value, .. } => self.is_named(*value),
                InstKind::Bin { op: BinOp::Add | BinOp::Sub, lhs, rhs } => {
                    let is_constant = matches!(self.function.values[*rhs].kind, ValueKind::Int(_));
                    is_constant && self.is_named(*lhs)
                }
                InstKind::Call { .. } => self.is_call_of_program(number),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a number is where a loop stopped: it does not go on after the store. Or the loop started at a number that
    /// was named, as one does that moves all behind it.
    fn is_found(&self, number: ValueId, store: InstId, order: &Order<'_>) -> bool {
        let Some(phi) = self.loop_number(number) else { return false };
        let InstKind::Phi { incoming } = &self.inst(phi).kind else { return false };
        !order.leads_to(store, phi) || incoming.iter().any(|(_, v)| self.is_named(*v))
    }

    /// The loop's own value that a number is.
    fn loop_number(&self, number: ValueId) -> Option<InstId> {
        let ValueKind::Inst(id) = self.function.values[number].kind else { return None };
        match &self.inst(id).kind {
            InstKind::Cast { value, .. } => self.loop_number(*value),
            InstKind::Phi { .. } => Some(id),
            _ => None,
        }
    }

    fn is_call_of_program(&self, v: ValueId) -> bool {
        let ValueKind::Inst(id) = self.function.values[v].kind else { return false };
        match &self.inst(id).kind {
            InstKind::Call { callee: callee @ Callee::Direct(_), .. } => {
                self.made_by(id).is_none() && self.calls.defined(self.me.module, callee).is_some()
            }
            _ => false,
        }
    }

    /// Whether an element belongs to a struct that callers have only just made.
    fn is_of_new_struct(&self, survey: &Survey, element: ValueId) -> bool {
        let parameter = self.root_parameter(element);
        parameter.is_some_and(|n| survey.lives.is_always_new((self.me, n)))
    }

    /// The parameter that a pointer was reached from.
    fn root_parameter(&self, pointer: ValueId) -> Option<usize> {
        match self.function.values[pointer].kind {
            ValueKind::Param(n) => Some(n as usize),
            ValueKind::Inst(id) => match &self.inst(id).kind {
                InstKind::Offset { base, .. } => self.root_parameter(*base),
                InstKind::Load { ptr, .. } => self.root_parameter(*ptr),
                InstKind::Call { args, .. } => self.root_parameter(*args.first()?),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the element at an address is one of those that a loop goes through.
    pub(super) fn is_walked(&self, address: ValueId) -> bool {
        let element = match self.addresses.get(&address) {
            Some((owner, field)) if !self.is_in_pointer_array(&field.0) => *owner,
            _ => address,
        };
        self.step_to(element).is_some_and(|number| self.loop_number(number).is_some())
    }

    /// Whether a copy leaves elements in their array or its successor, puts a variable there, or takes one out into a variable.
    pub(super) fn is_move(&self, dst: ValueId, src: ValueId) -> bool {
        let is_in_array = |v| self.is_element(v) || self.is_made_here(v);
        is_in_array(dst) && (is_in_array(src) || self.is_local(src))
            || self.is_local(dst) && self.is_element(src)
    }

    fn is_local(&self, pointer: ValueId) -> bool {
        let ValueKind::Inst(id) = self.function.values[pointer].kind else { return false };
        matches!(self.inst(id).kind, InstKind::Alloca { .. })
    }

    /// Whether a pointer is into an array that some struct or this function holds.
    fn is_element(&self, pointer: ValueId) -> bool {
        let ValueKind::Inst(id) = self.function.values[pointer].kind else { return false };
        match &self.inst(id).kind {
            InstKind::Offset { base, ty: None, .. } => {
                self.is_element(*base) || self.is_made_here(*base)
            }
            InstKind::Load { ptr, .. } => self.addresses.contains_key(ptr),
            InstKind::Call { .. } => self.is_call_of_program(pointer),
            _ => false,
        }
    }
}

/// What an array is called that a field leads to, or that is a member itself.
fn name_of_array((of, offset): &Field) -> StructName {
    format!("{of}[{offset}]").into()
}

/// Whether a member is an array of pointers, or leads to one.
pub(super) fn is_array_of_pointers(module: &Module, ty: TypeId) -> bool {
    let is_pointer = |ty| super::is_pointer(module, ty);
    match &module.types[ty] {
        SourceType::Const { of } => is_array_of_pointers(module, *of),
        SourceType::Pointer { to } => is_pointer(*to),
        SourceType::Array { of, .. } => is_pointer(*of),
        _ => false,
    }
}
