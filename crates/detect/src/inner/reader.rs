//! What one function says about the fields of structs.

mod arrays;
mod deciding;
mod links;
mod returned;

pub(super) use deciding::decides;

use super::callee::{Fate, Program as Calls};
use super::fields::{Field, Handling, Made, Maker, Parameter, Source, StructName, Survey};
use super::names::StructNames;
use super::order::Order;
use leakproof_ir::{
    Callee, Function, Inst, InstId, InstKind, Module, SourceType, Terminator, TypeId, ValueId,
    ValueKind, VarId,
};
use leakproof_program::FuncRef;
use leakproof_summary::Place;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Reads one function.
pub struct Reader<'a> {
    calls: &'a Calls<'a>,
    me: FuncRef,
    module: &'a Module,
    names: &'a StructNames,
    function: &'a Function,
    /// Who reads a value.
    uses: FxHashMap<ValueId, Vec<InstId>>,
    returned: FxHashSet<ValueId>,
    /// Values that are addresses of pointer fields, and the structs' own addresses.
    addresses: FxHashMap<ValueId, (ValueId, Field)>,
    /// Values that are addresses of any fields.
    members: FxHashMap<ValueId, Field>,
    /// What values were declared to point to.
    declared: FxHashMap<ValueId, TypeId>,
    /// Fields that lead to a struct of the same kind: what hangs there is a neighbour, not a part.
    links: FxHashSet<Field>,
    /// The structs that pointer fields lead to.
    leads_to: FxHashMap<Field, StructName>,
    /// The structs that elements of arrays of pointers lead to.
    element_kinds: FxHashMap<Field, StructName>,
    /// Members that are arrays of pointers, or lead to one.
    pointer_arrays: FxHashSet<Field>,
    /// What stands for those.
    array_names: FxHashSet<StructName>,
    /// Structs that values point to, as far as their fields are used, with their sizes.
    pointees: FxHashMap<ValueId, (u64, StructName)>,
}

impl<'a> Reader<'a> {
    pub fn new(calls: &'a Calls<'a>, names: &'a StructNames, me: FuncRef) -> Self {
        let module = calls.program.module(me.module);
        let function = calls.program.function(me);
        let mut reader = Self {
            calls,
            me,
            module,
            names,
            function,
            uses: FxHashMap::default(),
            returned: FxHashSet::default(),
            addresses: FxHashMap::default(),
            members: FxHashMap::default(),
            declared: FxHashMap::default(),
            links: FxHashSet::default(),
            leads_to: FxHashMap::default(),
            element_kinds: FxHashMap::default(),
            pointer_arrays: FxHashSet::default(),
            array_names: FxHashSet::default(),
            pointees: FxHashMap::default(),
        };
        reader.index();
        reader
    }

    fn insts(&self) -> impl Iterator<Item = (InstId, &'a Inst)> + use<'a> {
        self.function.body.iter().flat_map(|b| b.insts.iter())
    }

    fn index(&mut self) {
        for param in &self.function.params {
            if let Some(ty) = param.ty {
                self.note_declared(param.value, ty);
            }
        }
        for (id, inst) in self.insts() {
            inst.kind.for_each_operand(|v| self.uses.entry(v).or_default().push(id));
            if let InstKind::VarSet { var, value } = inst.kind
                && let Some(ty) = self.variable_type(var)
            {
                self.note_declared(value, ty);
            }
            if let (InstKind::Load { ptr, .. }, Some(result)) = (&inst.kind, inst.result)
                && let Some(ty) = self.type_at(*ptr)
            {
                self.note_declared(result, ty);
            }
            if let InstKind::Offset { base, offset, indices, ty: Some(ty) } = &inst.kind
                && let Some(name) = self.names.of(*ty)
            {
                self.note_pointee(*base, *ty, &name);
                if let Some(result) = inst.result {
                    let at = u64::try_from(*offset).unwrap_or(u64::MAX);
                    self.members.insert(result, (name.clone(), at));
                    let member = self.module.member_at(*ty, at);
                    if member.is_some_and(|m| arrays::is_array_of_pointers(self.module, m)) {
                        self.pointer_arrays.insert((name.clone(), at));
                    }
                }
                let at = u64::try_from(*offset).ok().filter(|_| indices.is_empty());
                let field = at.filter(|&at| is_pointer_field(self.module, *ty, at));
                if let (Some(at), Some(result)) = (field, inst.result) {
                    let field = (name, at);
                    if let Some(to) = self.target_of(*ty, at) {
                        if to == field.0 {
                            self.links.insert(field.clone());
                        }
                        self.leads_to.insert(field.clone(), to);
                    }
                    self.addresses.insert(result, (*base, field));
                }
            }
        }
        self.index_arrays();
        let blocks = self.function.body.iter().flat_map(|b| b.blocks.iter());
        for (_, block) in blocks {
            if let Terminator::Return(v) = block.term {
                self.returned.extend(v);
            }
        }
    }

    fn variable_type(&self, var: VarId) -> Option<TypeId> {
        self.function.body.as_ref().and_then(|b| b.vars[var].ty)
    }

    /// The struct that a pointer field leads to.
    fn target_of(&self, ty: TypeId, at: u64) -> Option<StructName> {
        let to = self.module.pointee(self.module.member_at(ty, at)?)?;
        self.names.of(to)
    }

    /// A pointer to a struct is also one to its first member: the struct around it counts.
    fn note_pointee(&mut self, pointer: ValueId, ty: TypeId, name: &StructName) {
        let size = self.module.size_of(ty).unwrap_or(0);
        let known = self.pointees.entry(pointer).or_insert_with(|| (size, name.clone()));
        if size > known.0 {
            *known = (size, name.clone());
        }
    }

    /// A pointer and what it was declared to point to.
    fn note_declared(&mut self, pointer: ValueId, ty: TypeId) {
        let Some(to) = self.module.pointee(ty) else { return };
        self.declared.insert(pointer, to);
        if let Some(name) = self.names.of(to) {
            self.note_pointee(pointer, to, &name);
        }
    }

    /// What is declared at an address: a global, a member of a struct, an element of an array.
    fn type_at(&self, address: ValueId) -> Option<TypeId> {
        if let Some(ty) = self.declared.get(&address) {
            return Some(*ty);
        }
        match self.function.values[address].kind {
            ValueKind::Global(g, 0) => self.module.globals[g].ty,
            ValueKind::Inst(id) => match &self.inst(id).kind {
                InstKind::Offset { offset, indices, ty: Some(ty), .. } if indices.is_empty() => {
                    self.module.member_at(*ty, u64::try_from(*offset).ok()?)
                }
                InstKind::Offset { base, offset: 0, ty: None, .. } => {
                    self.declared.get(base).copied()
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn pointee(&self, pointer: &ValueId) -> Option<&StructName> {
        self.pointees.get(pointer).map(|(_, name)| name)
    }

    pub fn read(&self, survey: &mut Survey) {
        for link in &self.links {
            survey.field(link).link = true;
        }
        let leads_to = self.leads_to.iter().map(|(field, to)| (field.clone(), to.clone()));
        survey.leads_to.extend(leads_to);
        let kinds = self.element_kinds.iter().map(|(field, to)| (field.clone(), to.clone()));
        survey.element_kinds.extend(kinds);
        self.read_unlinked(survey);
        self.read_cut_out(survey);
        for (address, (owner, field)) in &self.addresses {
            self.read_address_uses(survey, field, *address, &mut FxHashSet::default());
            if self.is_stored_to(*address) && !self.is_made_here(*owner) {
                let source = self.source(*owner);
                let handling = self.handling(survey, &field.0);
                handling.stores.insert((field.1, source));
                let is_set = |v| match source {
                    Source::Given(n) => self.comes_of_others(v, n),
                    _ => !self.is_null(v),
                };
                if self.stored_at(*address).any(is_set) {
                    handling.fills.insert((field.1, source));
                }
            }
        }
        self.read_releases_together(survey);
        self.read_returned(survey);
        self.read_replaced(survey);
        self.read_uses_of_old(survey);
        self.read_decided(survey);
        for (_, inst) in self.insts() {
            match &inst.kind {
                InstKind::MemSet { dst, .. } => {
                    if let Some(of) = self.pointee(dst)
                        && let Some(handling) = self.handling_of(survey, of)
                    {
                        handling.empties = true;
                    }
                }
                InstKind::Alloca { ty: Some(ty), .. } => {
                    survey.declared.extend(self.names.of(*ty));
                }
                InstKind::MemCopy { dst, src, .. } => {
                    let copied = [dst, src].into_iter().filter_map(|v| self.pointee(v));
                    survey.copied.extend(copied.clone().cloned());
                    if !self.is_move(*dst, *src) {
                        survey.copied_out.extend(copied.cloned());
                    }
                }
                InstKind::Call { callee, args, .. } => {
                    self.read_release(survey, callee, args);
                    self.read_given(survey, callee, args);
                    if let Some(f) = self.calls.defined(self.me.module, callee)
                        && inst.result.is_some_and(|v| self.is_released(v))
                    {
                        survey.released_results.insert(f);
                    }
                    if let Some(made) = inst.result.filter(|v| self.is_made_here(*v)) {
                        self.read_maker(survey, made, callee);
                    }
                }
                InstKind::Offset { base, offset, indices, ty } => {
                    // An array at the end of a struct is no next struct.
                    let step = ty.is_none().then_some(*offset);
                    let steps = indices.iter().map(|i| i.scale).chain(step);
                    survey.elements.extend(self.stepped_over(base, steps));
                }
                _ => {}
            }
        }
    }

    fn handling_of<'s>(&self, survey: &'s mut Survey, of: &StructName) -> Option<&'s mut Handling> {
        survey.handlings.get_mut(&(self.me, of.clone()))
    }

    /// The fields of which this function uses what they held before it stored anything there.
    fn read_uses_of_old(&self, survey: &mut Survey) {
        let Some(body) = &self.function.body else { return };
        let order = Order::of(body);
        let stores = self.addresses.iter().flat_map(|(address, (owner, field))| {
            self.stores_at(*address).map(move |(store, _)| (*owner, field, store))
        });
        let stores: Vec<(ValueId, &Field, InstId)> = stores.collect();
        for (address, (owner, field)) in &self.addresses {
            let here = stores.iter().filter(|(_, at, _)| *at == field);
            if !here.clone().any(|(other, ..)| self.may_be_same(*owner, *other)) {
                continue;
            }
            let is_old =
                |load: &InstId| !here.clone().any(|(_, _, store)| order.leads_to(*store, *load));
            let loads = self.users(*address).iter().filter(|&user| is_old(user));
            let mut loaded = loads.filter_map(|&load| match self.inst(load).kind {
                InstKind::Load { .. } => self.inst(load).result,
                _ => None,
            });
            if loaded.any(|v| self.is_gone_through(v))
                && let Some(handling) = self.handling_of(survey, &field.0)
            {
                handling.uses_old.insert(field.1);
            }
        }
    }

    /// Whether two structs may be one: those that a function is given by different parameters are not.
    fn may_be_same(&self, a: ValueId, b: ValueId) -> bool {
        let is_given = |v: ValueId| matches!(self.function.values[v].kind, ValueKind::Param(_));
        a == b || !is_given(a) && !is_given(b)
    }

    /// Whether the function reads, writes or releases what a value points to, itself or by a call.
    fn is_gone_through(&self, v: ValueId) -> bool {
        self.users(v).iter().any(|&user| match &self.inst(user).kind {
            InstKind::Load { .. } | InstKind::Offset { .. } => true,
            InstKind::Store { ptr, .. } => *ptr == v,
            InstKind::Call { callee, args, .. } => {
                let mut at = (0..args.len()).filter(|&n| args[n] == v);
                at.any(|n| self.calls.fate(self.me.module, callee, n) != Fate::Kept)
            }
            _ => false,
        })
    }

    /// A struct that this function makes.
    fn read_maker(&self, survey: &mut Survey, made: ValueId, callee: &Callee) {
        let Some(of) = self.pointee(&made) else { return };
        if let ValueKind::Inst(id) = self.function.values[made].kind {
            survey.new_structs.entry(of.clone()).or_default().extend(self.made_by(id));
        }
        let from = self.calls.defined(self.me.module, callee);
        let mut maker =
            Maker { function: self.me, from, fills: FxHashSet::default(), hands_on: vec![] };
        let own = self.addresses.iter().filter(|(_, (owner, _))| *owner == made);
        for (address, (_, (_, offset))) in own {
            for value in self.stored_at(*address) {
                match self.function.values[value].kind {
                    ValueKind::Param(n) => maker.hands_on.push((*offset, n as usize)),
                    ValueKind::Inst(id) if self.made_by(id).is_some() => {
                        maker.fills.insert(*offset);
                    }
                    _ => {}
                }
            }
        }
        survey.makers.entry(of.clone()).or_default().push(maker);
    }

    /// What a call hands over: new objects, and null.
    fn read_given(&self, survey: &mut Survey, callee: &Callee, args: &[ValueId]) {
        let Some(f) = self.calls.defined(self.me.module, callee) else { return };
        for (n, arg) in args.iter().enumerate() {
            self.read_life(survey, *arg, (f, n));
            match self.function.values[*arg].kind {
                ValueKind::Null => {
                    survey.given_null.insert((f, n));
                }
                ValueKind::Inst(id) => {
                    if let Some(made) = self.made_by(id) {
                        survey.given.entry((f, n)).or_default().insert(made);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a struct that a call is given has a life already.
    fn read_life(&self, survey: &mut Survey, given: ValueId, to: Parameter) {
        match self.source(given) {
            Source::Given(n) => survey.lives.note_passed((self.me, n), to),
            Source::Other if !self.is_given_again(given, to) => survey.lives.note_new(to),
            Source::Found | Source::Other => survey.lives.note_older(to),
        }
    }

    /// Whether several calls give a pointer to the same parameter.
    fn is_given_again(&self, given: ValueId, (f, n): Parameter) -> bool {
        let calls = self.users(given).iter().filter(|&&user| match &self.inst(user).kind {
            InstKind::Call { callee, args, .. } => {
                args.get(n) == Some(&given) && self.calls.defined(self.me.module, callee) == Some(f)
            }
            _ => false,
        });
        calls.count() > 1
    }

    fn source(&self, pointer: ValueId) -> Source {
        match self.function.values[pointer].kind {
            ValueKind::Param(n) => return Source::Given(n as usize),
            // A part of a struct is as old as the struct.
            ValueKind::Inst(id) => {
                if let InstKind::Offset { base, .. } = self.inst(id).kind {
                    return self.source(base);
                }
            }
            _ => {}
        }
        let is_found = |v: &ValueId| match self.function.values[*v].kind {
            ValueKind::Inst(id) => match &self.inst(id).kind {
                InstKind::Load { ptr, .. } => !self.is_variable(*ptr) && !self.is_given_new(*ptr),
                InstKind::Call { .. } => self.made_by(id).is_none(),
                _ => false,
            },
            _ => false,
        };
        let choices = self.choices(pointer);
        let is_made = choices.iter().any(|v| self.is_made_here(*v));
        if choices.iter().any(is_found) && !is_made { Source::Found } else { Source::Other }
    }

    /// Whether a value is made of something that the function was given besides its parameter of this number. A setter is
    /// told what to set; who needs nothing but the struct starts something, and does so once.
    fn comes_of_others(&self, value: ValueId, struct_number: usize) -> bool {
        let (mut seen, mut work) = (FxHashSet::default(), vec![value]);
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            match self.function.values[v].kind {
                ValueKind::Param(n) if n as usize != struct_number => return true,
                ValueKind::Inst(id) => {
                    let kind = &self.inst(id).kind;
                    kind.for_each_operand(|operand| work.push(operand));
                    // What a local variable holds was put there by those who have its address.
                    if matches!(kind, InstKind::Alloca { .. }) {
                        for &user in self.users(v) {
                            self.inst(user).kind.for_each_operand(|operand| work.push(operand));
                        }
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// Whether this function stores a new struct in the field at an address.
    fn is_given_new(&self, address: ValueId) -> bool {
        let Some(place) = self.addresses.get(&address) else { return false };
        let same = self.addresses.iter().filter(|(_, other)| *other == place);
        same.flat_map(|(address, _)| self.stored_at(*address)).any(|v| self.is_made_here(v))
    }

    fn is_variable(&self, address: ValueId) -> bool {
        let ValueKind::Inst(id) = self.function.values[address].kind else { return false };
        matches!(self.inst(id).kind, InstKind::Alloca { .. })
    }

    /// The releases of fields that always happen before a release of their struct.
    fn read_releases_together(&self, survey: &mut Survey) {
        let Some(body) = &self.function.body else { return };
        let releases = self.releases();
        if releases.len() < 2 {
            return;
        }
        let order = Order::of(body);
        for (inner, pointer) in &releases {
            let Some((owner, field)) = self.field_behind(*pointer) else { continue };
            if self.links.contains(field) {
                continue;
            }
            let skips = |cond: ValueId| self.is_test_of(cond, field);
            let mut outer = releases.iter().filter(|(_, released)| *released == owner);
            if outer.any(|(outer, _)| order.is_always_before(*inner, *outer, skips)) {
                survey.field(field).released_with_owner = true;
            }
        }
    }

    /// The calls that release something, and what.
    fn releases(&self) -> Vec<(InstId, ValueId)> {
        let mut list = Vec::new();
        for (id, inst) in self.insts() {
            let InstKind::Call { callee, args, .. } = &inst.kind else { continue };
            for (n, arg) in args.iter().enumerate() {
                let known = self.field_behind(*arg).is_some() || self.pointee(arg).is_some();
                if known && self.calls.fate(self.me.module, callee, n) == Fate::Released {
                    list.push((id, *arg));
                }
            }
        }
        list
    }

    /// The struct and the field that a pointer was read from.
    fn field_behind(&self, pointer: ValueId) -> Option<(ValueId, &Field)> {
        let place = self.place_read(pointer)?;
        self.addresses.get(&place).map(|(owner, field)| (*owner, field))
    }

    /// Whether a condition asks if a field is null.
    fn is_test_of(&self, cond: ValueId, field: &Field) -> bool {
        let ValueKind::Inst(id) = self.function.values[cond].kind else { return false };
        let InstKind::Cmp { lhs, rhs, .. } = self.inst(id).kind else { return false };
        let is_null = |v: ValueId| self.function.values[v].kind == ValueKind::Null;
        let is_field = |v: ValueId| self.field_behind(v).is_some_and(|(_, f)| f == field);
        (is_null(lhs) && is_field(rhs)) || (is_field(lhs) && is_null(rhs))
    }

    fn stored_at(&self, address: ValueId) -> impl Iterator<Item = ValueId> {
        self.users(address).iter().filter_map(move |&user| match self.inst(user).kind {
            InstKind::Store { ptr, value } if ptr == address => Some(value),
            _ => None,
        })
    }

    fn is_null(&self, v: ValueId) -> bool {
        matches!(self.function.values[v].kind, ValueKind::Null | ValueKind::Int(0))
    }

    fn is_stored_to(&self, address: ValueId) -> bool {
        self.stored_at(address).next().is_some()
    }

    fn handling<'s>(&self, survey: &'s mut Survey, of: &StructName) -> &'s mut Handling {
        let handling = survey.handlings.entry((self.me, of.clone()));
        handling.or_insert_with(|| Handling { values: self.pointers_to(of), ..Handling::default() })
    }

    fn users(&self, v: ValueId) -> &[InstId] {
        self.uses.get(&v).map_or(&[], Vec::as_slice)
    }

    fn inst(&self, id: InstId) -> &'a Inst {
        let body = self.function.body.as_ref().expect("a function with instructions has a body");
        &body.insts[id]
    }

    /// One use of the address of a field.
    fn read_address(&self, survey: &mut Survey, field: &Field, address: ValueId, user: InstId) {
        let inst = self.inst(user);
        match &inst.kind {
            InstKind::Load { .. } => {
                survey.field(field).read_in.insert(self.me);
                if let Some(v) = inst.result {
                    self.read_pointer(survey, field, v, &mut FxHashSet::default());
                }
            }
            InstKind::Store { ptr, value } if *ptr == address && *value != address => {
                self.read_stored(survey, field, *value);
            }
            InstKind::Call { callee, args, .. } => {
                for n in (0..args.len()).filter(|&n| args[n] == address) {
                    match self.calls.stored_by_call(self.place(inst), self.me.module, callee, n) {
                        Some(made) => {
                            survey.field(field).made.insert(made);
                        }
                        None => survey.field(field).unclear = true,
                    }
                }
            }
            InstKind::Cmp { .. } | InstKind::MemSet { .. } | InstKind::VarSet { .. } => {}
            InstKind::MemCopy { dst, src, .. }
                if self.is_in_pointer_array(&field.0) && self.is_move(*dst, *src) => {}
            _ => survey.field(field).shared = true,
        }
    }

    /// What becomes of the pointer that a field holds.
    fn read_pointer(
        &self,
        survey: &mut Survey,
        field: &Field,
        v: ValueId,
        seen: &mut FxHashSet<ValueId>,
    ) {
        if !seen.insert(v) {
            return;
        }
        for &user in self.users(v) {
            let inst = self.inst(user);
            match &inst.kind {
                // Elements of an array change their places.
                InstKind::Store { value, ptr }
                    if *value == v && self.is_element_of(*ptr, field) => {}
                InstKind::Store { value, ptr } if *value == v => {
                    let kind = self.listed_at(*ptr);
                    let is_in_list = kind.is_some() && kind == self.leads_to.get(field);
                    let seen = survey.field(field);
                    seen.chained |= is_in_list;
                    seen.shared |= !is_in_list;
                }
                InstKind::Phi { .. } | InstKind::Select { .. } => {
                    if let Some(v) = inst.result {
                        self.read_pointer(survey, field, v, seen);
                    }
                }
                InstKind::Call { callee, args, .. } => {
                    for n in (0..args.len()).filter(|&n| args[n] == v) {
                        match self.calls.fate(self.me.module, callee, n) {
                            Fate::Released => {
                                let walked = self.place_read(v).is_some_and(|p| self.is_walked(p));
                                let seen = survey.field(field);
                                seen.released_in.insert(self.me);
                                seen.swept_in.extend(walked.then_some(self.me));
                                seen.released_by.extend(self.calls.defined(self.me.module, callee));
                            }
                            _ if self.is_kept(user, callee, n) => {
                                survey.field(field).shared = true;
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a call releases what a value points to, or gives a reference to it back.
    fn is_released(&self, v: ValueId) -> bool {
        let mut seen = FxHashSet::default();
        let mut work = vec![v];
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            for inst in self.users(v).iter().map(|&user| self.inst(user)) {
                match &inst.kind {
                    InstKind::Phi { .. } | InstKind::Select { .. } => work.extend(inst.result),
                    InstKind::Call { callee, args, .. } => {
                        let mut at = (0..args.len()).filter(|&n| args[n] == v);
                        if at.any(|n| self.calls.fate(self.me.module, callee, n).is_end()) {
                            return true;
                        }
                    }
                    _ => {}
                }
            }
        }
        false
    }

    /// Whether what a field is given comes from another container: from a field that is neither a link of its
    /// elements nor the same field of another struct, or from a function that makes nothing. A reference that is counted is no
    /// cursor.
    fn read_cursor(&self, survey: &mut Survey, field: &Field, v: ValueId) {
        let ValueKind::Inst(id) = self.function.values[v].kind else { return };
        match (&self.inst(id).kind, self.field_behind(v)) {
            (_, Some((_, from))) if from != field && !self.links.contains(from) => {
                survey.cursors.insert(field.clone());
            }
            (InstKind::Call { callee, .. }, _) if self.made_by(id).is_none() => {
                let by = self.calls.defined(self.me.module, callee);
                if by.is_some_and(|f| self.calls.counts_up_argument(f)) {
                    return;
                }
                survey.found_by.entry(field.clone()).or_default().insert(by);
            }
            _ => {}
        }
    }

    /// What is stored in a field: null, an object that nobody else holds, or something unclear.
    fn read_stored(&self, survey: &mut Survey, field: &Field, stored: ValueId) {
        for v in self.choices(stored) {
            if self.place_read(v).is_some_and(|place| self.is_element_of(place, field)) {
                continue;
            }
            self.read_cursor(survey, field, v);
            let is_next = self.place_read(v).is_some_and(|p| self.listed_at(p).is_some());
            let field = survey.field(field);
            match self.function.values[v].kind {
                ValueKind::Null | ValueKind::Int(0) => {
                    field.emptied_in.insert(self.me);
                    continue;
                }
                ValueKind::Undef => continue,
                ValueKind::Inst(id) => {
                    let made = self.made_by(id);
                    field.foreign |= made.is_none() && !is_next;
                    field.listed.extend(made.clone());
                    let made = made.filter(|_| self.has_one_holder(v));
                    field.unclear |= made.is_none();
                    field.made.extend(made);
                }
                ValueKind::Param(n) => {
                    field.unclear = true;
                    field.handed.insert((self.me, n as usize));
                }
                _ => {
                    field.unclear = true;
                    field.foreign = true;
                }
            }
            field.refilled_in.insert(self.me);
        }
    }

    /// The values that one is a choice of.
    fn choices(&self, v: ValueId) -> Vec<ValueId> {
        let (mut seen, mut found) = (FxHashSet::default(), Vec::new());
        let mut work = vec![v];
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            let kind = match self.function.values[v].kind {
                ValueKind::Inst(id) => Some(&self.inst(id).kind),
                _ => None,
            };
            match kind {
                Some(InstKind::Phi { incoming }) => work.extend(incoming.iter().map(|(_, v)| *v)),
                Some(InstKind::Select { then, otherwise, .. }) => {
                    work.extend([*then, *otherwise]);
                }
                _ => found.push(v),
            }
        }
        found
    }

    /// Whether a new object is stored in one field, returned nowhere and kept by no call. Several stores to
    /// the same field, of the struct that was found or of a new one, exclude each other.
    fn has_one_holder(&self, v: ValueId) -> bool {
        let mut holders: FxHashSet<Option<&Field>> = FxHashSet::default();
        let mut nameless = 0;
        for &user in self.users(v) {
            match &self.inst(user).kind {
                InstKind::Store { value, ptr } if *value == v => {
                    let field = self.addresses.get(ptr).map(|(_, field)| field);
                    nameless += usize::from(field.is_none());
                    holders.insert(field);
                }
                InstKind::Call { callee, args, .. } => {
                    let mut at = (0..args.len()).filter(|&n| args[n] == v);
                    if at.any(|n| self.is_kept(user, callee, n)) {
                        return false;
                    }
                }
                _ => {}
            }
        }
        holders.len() <= 1 && nameless <= 1 && !self.returned.contains(&v)
    }

    /// Whether somebody may hold the argument of a call afterwards. That it is returned counts where the result is
    /// used.
    fn is_kept(&self, call: InstId, callee: &Callee, n: usize) -> bool {
        match self.calls.fate(self.me.module, callee, n) {
            Fate::Kept | Fate::GivenUp => true,
            Fate::Returned => {
                let result = self.inst(call).result;
                result.is_some_and(|v| !self.users(v).is_empty() || self.returned.contains(&v))
            }
            Fate::Borrowed | Fate::Released => false,
        }
    }

    /// A call that releases a struct whose fields this function knows.
    fn read_release(&self, survey: &mut Survey, callee: &Callee, args: &[ValueId]) {
        for (n, arg) in args.iter().enumerate() {
            let Some(of) = self.pointee(arg) else { continue };
            if self.calls.fate(self.me.module, callee, n) != Fate::Released {
                continue;
            }
            survey.owner_released_in.insert((of.clone(), self.me));
            if !self.is_made_here(*arg) && self.calls.is_plain_release(self.me.module, callee, n) {
                self.handling(survey, of).releases = true;
            }
        }
    }

    /// Whether a pointer is the result of a call that makes a new object.
    fn is_made_here(&self, pointer: ValueId) -> bool {
        let ValueKind::Inst(id) = self.function.values[pointer].kind else { return false };
        self.made_by(id).is_some()
    }

    fn made_by(&self, id: InstId) -> Option<Made> {
        let inst = self.inst(id);
        let InstKind::Call { callee, .. } = &inst.kind else { return None };
        self.calls.made_by_call(self.place(inst), self.me.module, callee)
    }

    /// The struct behind a pointer, when one of the steps leads to the next such struct.
    fn stepped_over(
        &self,
        pointer: &ValueId,
        mut steps: impl Iterator<Item = i64>,
    ) -> Option<StructName> {
        let (size, name) = self.pointees.get(pointer)?;
        steps.any(|step| i64::try_from(*size) == Ok(step)).then(|| name.clone())
    }

    /// The values that point to structs of one kind; not those to the anchors of their lists, which are parts of others.
    fn pointers_to(&self, of: &StructName) -> Arc<[ValueId]> {
        let has_links = self.links.iter().any(|(linked, _)| linked == of);
        let is_anchor = |v: &ValueId| has_links && self.members.contains_key(v);
        let all = self.pointees.iter().filter(|(v, (_, name))| name == of && !is_anchor(v));
        let mut values: Vec<ValueId> = all.map(|(v, _)| *v).collect();
        values.sort_unstable();
        values.into()
    }

    fn place(&self, inst: &Inst) -> Place {
        Place { func: self.me, loc: inst.loc }
    }
}

fn is_pointer_field(module: &Module, ty: TypeId, at: u64) -> bool {
    module.member_at(ty, at).is_some_and(|ty| is_pointer(module, ty))
}

fn is_pointer(module: &Module, ty: TypeId) -> bool {
    match &module.types[ty] {
        SourceType::Pointer { to } => !matches!(module.types[*to], SourceType::Function { .. }),
        SourceType::Const { of } => is_pointer(module, *of),
        _ => false,
    }
}
