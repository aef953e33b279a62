//! Which pointer fields of which structs own what they point to, by how the whole program treats
//! them.
//!
//! A field owns when everything that is ever stored in it is null or an object made for it, when no
//! code keeps another pointer to that object, and when nobody releases the object and leaves both
//! the struct and the field behind. What is stored may be unclear where some function releases the
//! field with its struct, whatever it holds: then it holds nothing else. Any other doubt about a
//! field, and it is not used.

use super::callee::Program as Calls;
use super::lives::Lives;
use super::names::StructNames;
use super::reader::Reader;
use leakproof_ir::{InstId, ValueId};
use leakproof_program::FuncRef;
use leakproof_summary::Site;
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
    /// The fields that it stores to, and how it has the structs.
    pub stores: FxHashSet<(u64, Source)>,
    /// Those among them that it gives something else than null: the others it may start with. Of a struct that it is
    /// given: something that is made of what else it is given.
    pub fills: FxHashSet<(u64, Source)>,
    /// The fields of which it uses or releases what they held when it was called.
    pub uses_old: FxHashSet<u64>,
    /// The fields that it treats by what other members say.
    pub decided: FxHashSet<u64>,
    /// It starts by emptying the structs.
    pub empties: bool,
    /// Pointers to elements of arrays that are in use.
    pub elements: BTreeSet<ValueId>,
    /// The fields with lists from which it takes nodes: what it stores there is the next of what was there.
    pub unlinks: BTreeSet<u64>,
}

impl Handling {
    /// Whether something else than the field itself may tell if the field holds an object.
    pub fn knows(&self, offset: u64) -> bool {
        self.empties || self.decided.contains(&offset)
    }
}

/// Where a function has a struct from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// By its parameter of this number.
    Given(usize),
    /// From another struct, from a global, or from a function that makes nothing.
    Found,
    Other,
}

/// A field that owns.
#[derive(Clone, Copy, Debug)]
pub struct Owning<'a> {
    pub offset: u64,
    /// One of the objects that it was given.
    pub made: &'a Made,
    /// Every such struct has an object there from the start to the end.
    pub full: bool,
    /// Some function releases the object and leaves the struct and the empty field behind.
    pub emptied_apart: bool,
    /// Some function releases the objects of all elements and leaves their array behind.
    pub swept_apart: bool,
    /// Some function fills the field in new elements.
    pub appended: bool,
    /// Structs of this kind are given other objects while they live: some function puts one in the place of
    /// another, which it releases, in this field or in another one.
    pub changes: bool,
    /// Some function that makes such structs fills the field.
    pub filled_by_maker: bool,
    /// Some function releases the field whenever it releases the struct.
    pub released_with_owner: bool,
    seen: &'a Seen,
}

impl Owning<'_> {
    /// Whether a function that releases such structs leaves their neighbour behind this field to its callers: some call
    /// it for the one and for the other.
    pub fn is_left_to_callers(&self, function: FuncRef) -> bool {
        self.seen.link && self.seen.released_by.contains(&function)
    }
}

/// What was seen of one field.
#[derive(Default, Debug)]
pub struct Seen {
    pub made: BTreeSet<Made>,
    /// Something is stored of which nobody knows where it comes from.
    pub unclear: bool,
    /// It leads to structs of the same kind.
    pub link: bool,
    /// Somebody else may hold the object, too.
    pub shared: bool,
    /// The object is put behind another one of its kind, or found by the address of the link to it: this is a list.
    pub chained: bool,
    /// Something is stored that is neither new, nor given by a caller, nor what another object of its kind leads to.
    pub foreign: bool,
    /// The new objects that are stored, whoever else holds them.
    pub listed: BTreeSet<Made>,
    /// It belongs to elements of arrays, and some function fills it in one behind the last.
    pub appended: bool,
    /// Functions that release it in one element of an array after the other.
    pub swept_in: FxHashSet<FuncRef>,
    /// Functions that read it.
    pub read_in: FxHashSet<FuncRef>,
    pub released_in: FxHashSet<FuncRef>,
    /// The functions that are called for it.
    pub released_by: FxHashSet<FuncRef>,
    /// Some function releases it whenever it releases the struct.
    pub released_with_owner: bool,
    /// Functions that store a new object.
    pub refilled_in: FxHashSet<FuncRef>,
    /// Functions that store null.
    pub emptied_in: FxHashSet<FuncRef>,
    /// Parameters that are stored.
    pub handed: BTreeSet<Parameter>,
}

impl Seen {
    fn is_replaced(&self) -> bool {
        self.released_in.iter().any(|f| self.refilled_in.contains(f))
    }
}

/// A function's parameter by its number.
pub type Parameter = (FuncRef, usize);

/// A function that makes structs of one kind.
pub struct Maker {
    pub function: FuncRef,
    /// The function that it has the memory from, when that is one of the program.
    pub from: Option<FuncRef>,
    /// The fields that it gives an object in all of them.
    pub fills: FxHashSet<u64>,
    /// The fields that it gives what it was handed itself.
    pub hands_on: Vec<(u64, usize)>,
}

/// A node that a function takes off the list in which it walked to it.
pub struct CutOut {
    pub store: InstId,
    pub node: ValueId,
    pub of: StructName,
}

#[derive(Default)]
pub struct Survey {
    fields: BTreeMap<Field, Seen>,
    /// Structs that are copied as a whole: their fields are held twice.
    pub copied: FxHashSet<StructName>,
    pub cut_out: BTreeMap<FuncRef, Vec<CutOut>>,
    /// The new objects that structs of a kind are.
    pub new_structs: FxHashMap<StructName, BTreeSet<Made>>,
    /// Structs that are copied to other places than another element of their array.
    pub copied_out: FxHashSet<StructName>,
    /// Fields of elements of arrays that some function takes out and returns.
    pub taken: FxHashSet<Field>,
    /// Structs that are elements of arrays: a pointer to one is a pointer to many.
    pub elements: FxHashSet<StructName>,
    /// Structs that are variables: they are not made, but declared.
    pub declared: FxHashSet<StructName>,
    pub makers: FxHashMap<StructName, Vec<Maker>>,
    pub owner_released_in: FxHashSet<(StructName, FuncRef)>,
    /// New objects that calls hand over.
    pub given: FxHashMap<Parameter, BTreeSet<Made>>,
    /// Parameters that some call gives null.
    pub given_null: FxHashSet<Parameter>,
    pub lives: Lives,
    /// Functions whose results some caller releases.
    pub released_results: FxHashSet<FuncRef>,
    /// The fields whose contents functions return.
    pub returned: FxHashMap<FuncRef, FxHashSet<Field>>,
    /// The functions of the program whose results functions return, and whether those return what they are given and that is
    /// an argument.
    pub returned_calls: FxHashMap<FuncRef, Vec<(FuncRef, bool)>>,
    /// Fields that are given what fields of other structs hold: they go through a container that is not theirs.
    pub cursors: FxHashSet<Field>,
    /// Functions whose results fields are given, where those make nothing.
    pub found_by: FxHashMap<Field, FxHashSet<Option<FuncRef>>>,
    pub handlings: BTreeMap<(FuncRef, StructName), Handling>,
    /// The structs that are members of others, with their offsets.
    pub parts: FxHashMap<StructName, Vec<(u64, StructName)>>,
    /// The structs that others are parts of.
    pub around: FxHashMap<StructName, FxHashSet<StructName>>,
    /// The structs that fields lead to.
    pub leads_to: BTreeMap<Field, StructName>,
    /// The structs that elements of arrays of pointers lead to.
    pub element_kinds: BTreeMap<Field, StructName>,
}

impl Seen {
    /// Whether some function releases what the field holds.
    pub fn is_released(&self) -> bool {
        !self.released_in.is_empty() || !self.swept_in.is_empty()
    }
}

impl Survey {
    pub fn of(calls: &Calls<'_>) -> Self {
        let mut survey = Self::default();
        let modules = calls.program.modules();
        let names: Vec<StructNames> = modules.iter().map(StructNames::in_unit).collect();
        for (module, names) in modules.iter().zip(&names) {
            let types = module.globals.values().filter_map(|g| g.ty);
            survey.declared.extend(types.filter_map(|ty| names.of(ty)));
            survey.parts.extend(names.parts(module));
        }
        for (outer, parts) in &survey.parts {
            for (_, part) in parts {
                survey.around.entry(part.clone()).or_default().insert(outer.clone());
            }
        }
        for f in calls.program.definitions() {
            Reader::new(calls, &names[f.module as usize], f).read(&mut survey);
        }
        survey
    }

    /// The fields of a struct that own, each with the first of the objects that it was given by
    /// somebody whom `counts` lets pass.
    pub fn owning(&self, of: &StructName, counts: impl Fn(&Made) -> bool) -> Vec<Owning<'_>> {
        if self.copied.contains(of) || self.elements.contains(of) {
            return Vec::new();
        }
        let mut owning = self.owning_fields(of, counts);
        owning.retain(|o| !o.seen.unclear || o.seen.released_with_owner);
        owning
    }

    /// The fields that own in elements of arrays. What is stored there may be unclear where some function releases it in
    /// all elements together with the array.
    pub fn owning_in_elements(
        &self,
        of: &StructName,
        counts: impl Fn(&Made) -> bool,
    ) -> Vec<Owning<'_>> {
        if self.copied_out.contains(of) || !self.elements.contains(of) {
            return Vec::new();
        }
        let mut owning = self.owning_fields(of, counts);
        owning.retain(|o| !o.seen.unclear || self.is_swept_with_owner(of, o.seen));
        owning
    }

    fn owning_fields(&self, of: &StructName, counts: impl Fn(&Made) -> bool) -> Vec<Owning<'_>> {
        let fields = self.fields.range((of.clone(), 0)..=(of.clone(), u64::MAX));
        let changes = fields.clone().any(|(_, seen)| seen.is_replaced());
        fields
            .filter(|(_, seen)| !seen.shared && !seen.chained)
            // A neighbour that nobody releases from here is released from its other side.
            .filter(|(_, seen)| !seen.link || !seen.released_in.is_empty())
            .filter_map(|((_, offset), seen)| {
                let handed = seen.handed.iter().filter_map(|p| self.given.get(p)).flatten();
                let field = (of.clone(), *offset);
                let kind = self.leads_to.get(&field).or_else(|| self.element_kinds.get(&field));
                // Where the end of the owner is theirs, too, it does not matter how they came there.
                let ends_with_owner =
                    seen.released_with_owner || self.is_swept_with_owner(of, seen);
                let alike = kind.filter(|_| ends_with_owner).and_then(|k| self.new_structs.get(k));
                let all = seen.made.iter().chain(handed).chain(alike.into_iter().flatten());
                let made = all.into_iter().find(|m| counts(m))?;
                let emptied_apart = self.is_emptied_apart(of, seen);
                let full = !emptied_apart && self.is_full(of, *offset, seen);
                let among_others = self.is_released_among_others(of, seen);
                Some(Owning {
                    offset: *offset,
                    made,
                    full,
                    emptied_apart,
                    swept_apart: seen.swept_in.iter().any(|f| !self.leaves_whole(of, seen, f)),
                    appended: seen.appended,
                    changes: changes && among_others,
                    filled_by_maker: self.is_filled_by_maker(of, *offset),
                    released_with_owner: seen.released_with_owner && among_others,
                    seen,
                })
            })
            .collect()
    }

    /// Whether some function releases the field in all elements of an array together with the array.
    fn is_swept_with_owner(&self, of: &StructName, seen: &Seen) -> bool {
        seen.swept_in.iter().any(|f| self.leaves_whole(of, seen, f))
    }

    /// Whether all who make such structs fill the field, and nobody else ever empties it.
    fn is_full(&self, of: &StructName, offset: u64, seen: &Seen) -> bool {
        let Some(all) = self.makers.get(of).filter(|_| !self.declared.contains(of)) else {
            return false;
        };
        let is_maker = |f: &FuncRef| all.iter().any(|m| m.function == *f);
        // Who has the struct from another maker has it filled.
        let mut first = all.iter().filter(|m| !m.from.as_ref().is_some_and(is_maker));
        first.all(|m| self.fills(m, offset)) && seen.emptied_in.iter().all(is_maker)
    }

    /// Whether other functions than this one make such structs.
    pub fn is_made_elsewhere(&self, of: &StructName, function: FuncRef) -> bool {
        let makers = self.makers.get(of).filter(|_| !self.declared.contains(of));
        makers.is_some_and(|all| all.iter().all(|m| m.function != function))
    }

    fn is_filled_by_maker(&self, of: &StructName, offset: u64) -> bool {
        self.makers.get(of).is_some_and(|all| all.iter().any(|m| self.fills(m, offset)))
    }

    fn fills(&self, maker: &Maker, offset: u64) -> bool {
        let handed = |&(at, n): &(u64, usize)| {
            let parameter = (maker.function, n);
            at == offset
                && self.given.contains_key(&parameter)
                && !self.given_null.contains(&parameter)
        };
        maker.fills.contains(&offset) || maker.hands_on.iter().any(handed)
    }

    /// Whether some function releases what the field holds, and neither the struct with it nor
    /// stores a new object there: then the struct may well be released later, and alone.
    fn is_emptied_apart(&self, of: &StructName, seen: &Seen) -> bool {
        seen.released_in.iter().any(|f| !self.leaves_whole(of, seen, f))
    }

    /// Whether a function that releases what the field holds releases the struct, too, or the one that this is a part of,
    /// or stores a new object in the field.
    fn leaves_whole(&self, of: &StructName, seen: &Seen, f: &FuncRef) -> bool {
        let is_released =
            |owner: &StructName| self.owner_released_in.contains(&(owner.clone(), *f));
        let around = self.around.get(of);
        seen.refilled_in.contains(f)
            || is_released(of)
            || around.into_iter().flatten().any(is_released)
    }

    /// Whether whoever releases the field releases the struct, puts in another object, or clears other
    /// fields as well: the field has no life of its own.
    fn is_released_among_others(&self, of: &StructName, seen: &Seen) -> bool {
        let fields = || self.fields.range((of.clone(), 0)..=(of.clone(), u64::MAX));
        let releases = |f: &FuncRef| fields().filter(|(_, s)| s.released_in.contains(f)).count();
        let is_usual = |f: &FuncRef| self.leaves_whole(of, seen, f) || releases(f) > 1;
        !seen.released_in.is_empty() && seen.released_in.iter().all(is_usual)
    }

    /// Whether a function returns what a cursor points to. What functions that `takes` knows found is no longer
    /// in the container.
    pub fn moves_cursor(&self, f: FuncRef, takes: impl Fn(FuncRef) -> bool) -> bool {
        let is_taken = |by: &Option<FuncRef>| by.is_some_and(&takes);
        let is_cursor = |field: &Field| {
            self.cursors.contains(field)
                || self.found_by.get(field).is_some_and(|all| !all.iter().all(is_taken))
        };
        self.returned.get(&f).is_some_and(|fields| fields.iter().any(is_cursor))
    }

    /// The structs inside one, with their offsets. One that has neighbours is the anchor of a list, and no element of it.
    pub fn parts_of(&self, of: &StructName) -> impl Iterator<Item = &(u64, StructName)> {
        let is_anchor = |part: &StructName| self.fields_of(part).any(|(_, seen)| seen.link);
        self.parts.get(of).into_iter().flatten().filter(move |(_, part)| !is_anchor(part))
    }

    /// What was seen of the fields of a struct, by offset.
    pub fn fields_of(&self, of: &StructName) -> impl Iterator<Item = (u64, &Seen)> {
        let fields = self.fields.range((of.clone(), 0)..=(of.clone(), u64::MAX));
        fields.map(|((_, offset), seen)| (*offset, seen))
    }

    pub fn seen(&self, field: &Field) -> Option<&Seen> {
        self.fields.get(field)
    }

    pub fn field(&mut self, field: &Field) -> &mut Seen {
        self.fields.entry(field.clone()).or_default()
    }
}
