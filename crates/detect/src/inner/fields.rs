//! Which pointer fields of which structs own what they point to, by how the whole program treats
//! them.
//!
//! A field owns when everything that is ever stored in it is null or an object made for it, when no
//! code keeps another pointer to that object, and when nobody releases the object and leaves both
//! the struct and the field behind. One doubt about a field, and it is not used.

use super::callee::{Fate, Program as Calls};
use leakproof_ir::{
    Callee, Function, Inst, InstId, InstKind, Module, SourceType, Terminator, TypeId, ValueId,
    ValueKind,
};
use leakproof_program::FuncRef;
use leakproof_summary::{Place, Site};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A struct, the same in every unit that declares it alike.
pub type StructName = Arc<str>;
/// A struct's pointer field at an offset.
pub type Field = (StructName, u64);

/// An object that a field was given.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Made {
    pub trace: Arc<[Site]>,
    pub family: Arc<str>,
}

/// What a function does to structs of one kind that it did not make.
#[derive(Clone, Default, Debug)]
pub struct Handling {
    /// The values that point to such structs.
    pub values: Arc<[ValueId]>,
    /// It releases them itself.
    pub releases: bool,
    /// The fields that it stores to.
    pub stores: FxHashSet<u64>,
}

/// A field that owns.
#[derive(Clone, Copy, Debug)]
pub struct Owning<'a> {
    pub offset: u64,
    /// One of the objects that it was given.
    pub made: &'a Made,
    /// Every such struct has an object there from the start to the end.
    pub full: bool,
}

/// What was seen of one field.
#[derive(Default)]
struct Seen {
    made: BTreeSet<Made>,
    doubtful: bool,
    released_in: FxHashSet<FuncRef>,
    /// Functions that store a new object.
    refilled_in: FxHashSet<FuncRef>,
    /// Functions that store null.
    emptied_in: FxHashSet<FuncRef>,
}

/// A function that makes structs of one kind.
struct Maker {
    function: FuncRef,
    /// The function that it has the memory from, when that is one of the program.
    from: Option<FuncRef>,
    /// The fields that it gives an object in all of them.
    fills: FxHashSet<u64>,
}

#[derive(Default)]
pub struct Survey {
    fields: BTreeMap<Field, Seen>,
    /// Structs that are copied as a whole: their fields are held twice.
    copied: FxHashSet<StructName>,
    /// Structs that are elements of arrays: a pointer to one is a pointer to many.
    elements: FxHashSet<StructName>,
    /// Structs that are variables: they are not made, but declared.
    declared: FxHashSet<StructName>,
    makers: FxHashMap<StructName, Vec<Maker>>,
    owner_released_in: FxHashSet<(StructName, FuncRef)>,
    pub handlings: BTreeMap<(FuncRef, StructName), Handling>,
}

impl Survey {
    pub fn of(calls: &Calls<'_>) -> Self {
        let mut survey = Self::default();
        for f in calls.program.definitions() {
            Reader::new(calls, f).read(&mut survey);
        }
        survey
    }

    /// The fields of a struct that own, each with the first of the objects that it was given by
    /// somebody whom `counts` lets pass.
    pub fn owning(&self, of: &StructName, counts: impl Fn(&Made) -> bool) -> Vec<Owning<'_>> {
        if self.copied.contains(of) || self.elements.contains(of) {
            return Vec::new();
        }
        let fields = self.fields.range((of.clone(), 0)..=(of.clone(), u64::MAX));
        fields
            .filter(|(_, seen)| !seen.doubtful && !self.is_emptied_apart(of, seen))
            .filter_map(|((_, offset), seen)| {
                let made = seen.made.iter().find(|m| counts(m))?;
                Some(Owning { offset: *offset, made, full: self.is_full(of, *offset, seen) })
            })
            .collect()
    }

    /// Whether all who make such structs fill the field, and nobody else ever empties it.
    fn is_full(&self, of: &StructName, offset: u64, seen: &Seen) -> bool {
        let Some(all) = self.makers.get(of).filter(|_| !self.declared.contains(of)) else {
            return false;
        };
        let is_maker = |f: &FuncRef| all.iter().any(|m| m.function == *f);
        // Who has the struct from another maker has it filled.
        let mut first = all.iter().filter(|m| !m.from.as_ref().is_some_and(is_maker));
        first.all(|m| m.fills.contains(&offset)) && seen.emptied_in.iter().all(is_maker)
    }

    /// Whether some function releases what the field holds, and neither the struct with it nor
    /// stores a new object there: then the struct may well be released later, and alone.
    fn is_emptied_apart(&self, of: &StructName, seen: &Seen) -> bool {
        seen.released_in.iter().any(|f| {
            !seen.refilled_in.contains(f) && !self.owner_released_in.contains(&(of.clone(), *f))
        })
    }

    fn field(&mut self, field: &Field) -> &mut Seen {
        self.fields.entry(field.clone()).or_default()
    }
}

/// Reads one function.
struct Reader<'a> {
    calls: &'a Calls<'a>,
    me: FuncRef,
    module: &'a Module,
    function: &'a Function,
    /// Who reads a value.
    uses: FxHashMap<ValueId, Vec<InstId>>,
    returned: FxHashSet<ValueId>,
    /// Values that are addresses of pointer fields, and the structs' own addresses.
    addresses: FxHashMap<ValueId, (ValueId, Field)>,
    /// Structs that values point to, as far as their fields are used, with their sizes.
    pointees: FxHashMap<ValueId, (u64, StructName)>,
}

impl<'a> Reader<'a> {
    fn new(calls: &'a Calls<'a>, me: FuncRef) -> Self {
        let module = calls.program.module(me.module);
        let function = calls.program.function(me);
        let mut reader = Self {
            calls,
            me,
            module,
            function,
            uses: FxHashMap::default(),
            returned: FxHashSet::default(),
            addresses: FxHashMap::default(),
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
            if let (InstKind::Load { ptr, .. }, Some(result)) = (&inst.kind, inst.result)
                && let Some(ty) = self.type_at(*ptr)
            {
                self.note_declared(result, ty);
            }
            if let InstKind::Offset { base, offset, indices, ty: Some(ty) } = &inst.kind
                && let Some(name) = struct_name(self.module, *ty)
            {
                self.note_pointee(*base, *ty, &name);
                let at = u64::try_from(*offset).ok().filter(|_| indices.is_empty());
                let field = at.filter(|&at| is_pointer_field(self.module, *ty, at));
                if let (Some(at), Some(result)) = (field, inst.result) {
                    self.addresses.insert(result, (*base, (name, at)));
                }
            }
        }
        let blocks = self.function.body.iter().flat_map(|b| b.blocks.iter());
        self.returned.extend(blocks.filter_map(|(_, b)| match b.term {
            Terminator::Return(v) => v,
            _ => None,
        }));
    }

    /// A pointer to a struct is also one to its first member: the struct around it counts.
    fn note_pointee(&mut self, pointer: ValueId, ty: TypeId, name: &StructName) {
        let size = self.module.size_of(ty).unwrap_or(0);
        let known = self.pointees.entry(pointer).or_insert_with(|| (size, name.clone()));
        if size > known.0 {
            *known = (size, name.clone());
        }
    }

    /// A pointer that was declared as one to a struct.
    fn note_declared(&mut self, pointer: ValueId, ty: TypeId) {
        match self.module.types[ty] {
            SourceType::Const { of } => self.note_declared(pointer, of),
            SourceType::Pointer { to } => {
                if let Some(name) = struct_name(self.module, to) {
                    self.note_pointee(pointer, to, &name);
                }
            }
            _ => {}
        }
    }

    /// What is declared at an address: a global, or a member of a struct.
    fn type_at(&self, address: ValueId) -> Option<TypeId> {
        match self.function.values[address].kind {
            ValueKind::Global(g, 0) => self.module.globals[g].ty,
            ValueKind::Inst(id) => match &self.inst(id).kind {
                InstKind::Offset { offset, indices, ty: Some(ty), .. } if indices.is_empty() => {
                    self.module.member_at(*ty, u64::try_from(*offset).ok()?)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn pointee(&self, pointer: &ValueId) -> Option<&StructName> {
        self.pointees.get(pointer).map(|(_, name)| name)
    }

    fn read(&self, survey: &mut Survey) {
        for (address, (owner, field)) in &self.addresses {
            for &user in self.users(*address) {
                self.read_address(survey, field, *address, user);
            }
            if self.is_stored_to(*address) && !self.is_made_here(*owner) {
                self.handling(survey, &field.0).stores.insert(field.1);
            }
        }
        for global in self.module.globals.values() {
            survey.declared.extend(global.ty.and_then(|ty| struct_name(self.module, ty)));
        }
        for (_, inst) in self.insts() {
            match &inst.kind {
                InstKind::Alloca { ty: Some(ty), .. } => {
                    survey.declared.extend(struct_name(self.module, *ty));
                }
                InstKind::MemCopy { dst, src, .. } => {
                    let copied = [dst, src].into_iter().filter_map(|v| self.pointee(v));
                    survey.copied.extend(copied.cloned());
                }
                InstKind::Call { callee, args, .. } => {
                    self.read_release(survey, callee, args);
                    if let Some(made) = inst.result.filter(|v| self.is_made_here(*v)) {
                        self.read_maker(survey, made, callee);
                    }
                }
                InstKind::Offset { base, offset, indices, .. } => {
                    let steps = indices.iter().map(|i| i.scale).chain([*offset]);
                    survey.elements.extend(self.stepped_over(base, steps));
                }
                _ => {}
            }
        }
    }

    /// A struct that this function makes.
    fn read_maker(&self, survey: &mut Survey, made: ValueId, callee: &Callee) {
        let Some(of) = self.pointee(&made) else { return };
        let own = self.addresses.iter().filter(|(_, (owner, _))| *owner == made);
        let filled = own.filter(|(address, _)| self.is_given_object(**address));
        let fills = filled.map(|(_, (_, (_, offset)))| *offset).collect();
        let from = self.calls.defined(self.me.module, callee);
        let maker = Maker { function: self.me, from, fills };
        survey.makers.entry(of.clone()).or_default().push(maker);
    }

    fn stored_at(&self, address: ValueId) -> impl Iterator<Item = ValueId> {
        self.users(address).iter().filter_map(move |&user| match self.inst(user).kind {
            InstKind::Store { ptr, value } if ptr == address => Some(value),
            _ => None,
        })
    }

    fn is_stored_to(&self, address: ValueId) -> bool {
        self.stored_at(address).next().is_some()
    }

    /// Whether a new object is stored at an address.
    fn is_given_object(&self, address: ValueId) -> bool {
        self.stored_at(address).any(|value| self.is_made_here(value))
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
                if let Some(v) = inst.result {
                    self.read_pointer(survey, field, v, &mut FxHashSet::default());
                }
            }
            InstKind::Store { ptr, value } if *ptr == address && *value != address => {
                self.read_stored(survey, field, *value, &mut FxHashSet::default());
            }
            InstKind::Call { callee, args, .. } => {
                for n in (0..args.len()).filter(|&n| args[n] == address) {
                    match self.calls.stored_by_call(self.place(inst), self.me.module, callee, n) {
                        Some(made) => {
                            survey.field(field).made.insert(made);
                        }
                        None => survey.field(field).doubtful = true,
                    }
                }
            }
            InstKind::Cmp { .. } | InstKind::MemSet { .. } | InstKind::VarSet { .. } => {}
            _ => survey.field(field).doubtful = true,
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
                InstKind::Store { value, .. } if *value == v => survey.field(field).doubtful = true,
                InstKind::Phi { .. } | InstKind::Select { .. } => {
                    if let Some(v) = inst.result {
                        self.read_pointer(survey, field, v, seen);
                    }
                }
                InstKind::Call { callee, args, .. } => {
                    for n in (0..args.len()).filter(|&n| args[n] == v) {
                        match self.calls.fate(self.me.module, callee, n) {
                            Fate::Kept => survey.field(field).doubtful = true,
                            Fate::Released => {
                                survey.field(field).released_in.insert(self.me);
                            }
                            Fate::Borrowed => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// What is stored in a field: null, an object that nobody else holds, or a doubt.
    fn read_stored(
        &self,
        survey: &mut Survey,
        field: &Field,
        v: ValueId,
        seen: &mut FxHashSet<ValueId>,
    ) {
        if !seen.insert(v) {
            return;
        }
        let inst = match self.function.values[v].kind {
            ValueKind::Null | ValueKind::Int(0) => {
                survey.field(field).emptied_in.insert(self.me);
                return;
            }
            ValueKind::Undef => return,
            ValueKind::Inst(i) => self.inst(i),
            _ => {
                survey.field(field).doubtful = true;
                return;
            }
        };
        match &inst.kind {
            InstKind::Phi { incoming } => {
                for &(_, v) in incoming {
                    self.read_stored(survey, field, v, seen);
                }
            }
            InstKind::Select { then, otherwise, .. } => {
                self.read_stored(survey, field, *then, seen);
                self.read_stored(survey, field, *otherwise, seen);
            }
            InstKind::Call { callee, .. } => {
                let made = self.calls.made_by_call(self.place(inst), self.me.module, callee);
                match made.filter(|_| self.has_one_holder(v)) {
                    Some(made) => {
                        let seen = survey.field(field);
                        seen.made.insert(made);
                        seen.refilled_in.insert(self.me);
                    }
                    None => survey.field(field).doubtful = true,
                }
            }
            _ => survey.field(field).doubtful = true,
        }
    }

    /// Whether a new object is stored once, returned nowhere and kept by no call.
    fn has_one_holder(&self, v: ValueId) -> bool {
        let mut stores = 0;
        for &user in self.users(v) {
            match &self.inst(user).kind {
                InstKind::Store { value, .. } if *value == v => stores += 1,
                InstKind::Call { callee, args, .. } => {
                    let mut at = (0..args.len()).filter(|&n| args[n] == v);
                    if at.any(|n| self.calls.fate(self.me.module, callee, n) == Fate::Kept) {
                        return false;
                    }
                }
                _ => {}
            }
        }
        stores <= 1 && !self.returned.contains(&v)
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
        let inst = self.inst(id);
        let InstKind::Call { callee, .. } = &inst.kind else { return false };
        self.calls.made_by_call(self.place(inst), self.me.module, callee).is_some()
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

    fn pointers_to(&self, of: &StructName) -> Arc<[ValueId]> {
        let all = self.pointees.iter().filter(|(_, (_, name))| name == of);
        let mut values: Vec<ValueId> = all.map(|(v, _)| *v).collect();
        values.sort_unstable();
        values.into()
    }

    fn place(&self, inst: &Inst) -> Place {
        Place { func: self.me, loc: inst.loc }
    }
}

/// The name by which a struct is known in all units: what it is called and how it looks.
fn struct_name(module: &Module, ty: TypeId) -> Option<StructName> {
    match &module.types[ty] {
        SourceType::Const { of } => struct_name(module, *of),
        SourceType::Struct { name, size, fields, union: false } => {
            let members: Vec<String> =
                fields.iter().map(|f| format!("{}@{}", f.name, f.offset)).collect();
            Some(format!("{name} {size} {}", members.join(" ")).into())
        }
        _ => None,
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
