//! How to release an object: the function that the project itself uses for it.
//!
//! In: what the analysis observed (who releases what a function made, which functions release what
//! they are given) and the models. Out: ways to release, the best first: what the same function does
//! with the same object, what the program does with objects of that maker, the program's function
//! for that type, the library's own function for the family.

use crate::holder::is_writable;
use leakproof_detect::{Examination, Given, Pair, Releaser};
use leakproof_findings::Finding;
use leakproof_models::{Effect, Library, Root};
use std::collections::BTreeMap;

/// Ways tried at most.
pub const MAX_WAYS: usize = 5;

/// One way to release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    pub name: String,
    pub given: Given,
    /// The object was complete when this function got it, or the function looks at no content.
    pub trusted: bool,
    /// It may be given null.
    pub accepts_null: bool,
    /// It goes through the owner that it is given.
    pub needs_owner: bool,
    /// The reference that is released is itself the struct that holds the object.
    pub whole: bool,
    /// What it is given where it wants a struct that the object lies in: that struct's address.
    pub owner: Option<String>,
    /// The library's own function for the family: it knows nothing of parts.
    pub basic: bool,
    /// Which argument the object is, and of how many; of zero when that is not known.
    pub arg: usize,
    pub params: usize,
    /// The other arguments, as another call spells them.
    pub others: Vec<String>,
    /// The macro by which the code around calls it.
    pub spelled: Option<String>,
    /// Its declaration, when the file defines it behind the function that leaks.
    pub prototype: Option<String>,
}

impl Way {
    fn new(name: String, given: Given, trusted: bool) -> Self {
        let (arg, params, others) = (0, 1, Vec::new());
        let (accepts_null, whole, basic) = (true, false, false);
        let needs_owner = false;
        let (spelled, prototype) = (None, None);
        Self {
            name,
            given,
            trusted,
            accepts_null,
            needs_owner,
            whole,
            owner: None,
            basic,
            arg,
            params,
            others,
            spelled,
            prototype,
        }
    }

    #[cfg(test)]
    pub fn plain(name: &str, given: Given) -> Self {
        Self::new(name.to_owned(), given, true)
    }

    /// Whether it cannot be called with the object alone.
    pub fn needs_others(&self) -> bool {
        self.arg > 0 || self.params > 1
    }

    /// The statement that releases what `holder` refers to; `cast` drops a `const`.
    pub fn statement(&self, holder: &str, cast: bool, space: bool) -> String {
        match self.name.as_str() {
            "operator delete[]" => return format!("delete[] {holder};"),
            "operator delete" => return format!("delete {holder};"),
            _ => {}
        }
        let mut arguments = self.others.clone();
        arguments.insert(self.arg.min(arguments.len()), self.argument(holder, cast));
        let name = self.spelled.as_ref().unwrap_or(&self.name);
        format!("{name}{}({});", if space { " " } else { "" }, arguments.join(", "))
    }

    /// The argument by which it gets what `holder` refers to.
    pub fn argument(&self, holder: &str, cast: bool) -> String {
        let cast = if cast { "(void *)" } else { "" };
        match (self.given, holder.strip_prefix('*')) {
            (Given::Pointer, _) => format!("{cast}{holder}"),
            (Given::Address, Some(pointer)) => pointer.to_owned(),
            (Given::Address, None) => format!("&{holder}"),
            (Given::Owner, _) if self.whole => format!("&{holder}"),
            (Given::Owner, _) if self.owner.is_some() => self.owner.clone().unwrap_or_default(),
            (Given::Owner, _) => owner(holder).unwrap_or_else(|| format!("&{holder}")),
        }
    }
}

/// The address of the struct that an access path ends in: `&u` of `u.path`, `s` of `s->path`.
fn owner(holder: &str) -> Option<String> {
    if !is_writable(holder) {
        return None;
    }
    let dot = holder.rfind('.').map(|at| (at, format!("&{}", &holder[..at])));
    let arrow = holder.rfind("->").map(|at| (at, holder[..at].to_owned()));
    dot.into_iter().chain(arrow).max_by_key(|(at, _)| *at).map(|(_, text)| text)
}

/// The structs that an access path leads through, the innermost first: `a.b` and `a` of `a.b->c`.
pub fn structs_around(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |p| struct_around(p)).skip(1)
}

fn struct_around(path: &str) -> Option<&str> {
    let at = path.rfind(['.', '>'])?;
    Some(path[..at].trim_end_matches('-'))
}

/// What is known about releasing in the program.
pub struct Knowledge<'k> {
    pub pairs: &'k [Pair],
    pub releasers: Vec<Homed<'k>>,
    pub models: &'k Library,
}

/// A releasing function of the program and the files that define one of its name.
pub struct Homed<'k> {
    releaser: &'k Releaser,
    files: Vec<String>,
}

impl<'k> Knowledge<'k> {
    /// `files_of`: the files that define a function.
    pub fn new(
        examination: &'k Examination,
        models: &'k Library,
        files_of: impl Fn(&str) -> Vec<String>,
    ) -> Self {
        let homed = |releaser: &'k Releaser| Homed { releaser, files: files_of(&releaser.name) };
        let releasers = examination.releasers.iter().map(homed).collect();
        Self { pairs: &examination.pairs, releasers, models }
    }

    /// The ways to release the object of a finding, the best first. `ty`: the struct that the
    /// holder points to.
    pub fn ways(&self, finding: &Finding, holder: &str, ty: Option<&str>) -> Vec<Way> {
        let mut list: Vec<Way> = Vec::new();
        let alloc = (&finding.alloc.file, finding.alloc.line, finding.alloc.column);
        let site = finding.alloc_trace.last().map(|s| (&s.file, s.line, s.column));
        let same_site = |p: &Pair| site == Some((&p.site.0, p.site.1, p.site.2));
        let made_by_library = finding.alloc_trace.len() <= 1;
        let here = |p: &&Pair| {
            p.function == finding.function
                && (&p.alloc.0, p.alloc.1, p.alloc.2) == alloc
                && same_site(p)
        };
        let alike = |p: &&Pair| p.allocator == finding.alloc.callee && same_site(p);
        add_by_count(&mut list, self.pairs.iter().filter(here), true);
        if !made_by_library {
            add_by_count(&mut list, self.pairs.iter().filter(alike), true);
            self.add_for_type(&mut list, finding, ty, true);
        }
        self.add_family(&mut list, finding);
        if made_by_library {
            self.add_for_type(&mut list, finding, ty, false);
            let raw = |p: &&Pair| p.allocator == finding.alloc.callee;
            add_by_count(&mut list, self.pairs.iter().filter(raw), false);
        }
        list.retain(|way| way.given != Given::Owner || owner(holder).is_some());
        list.retain(|way| self.fits(way, ty));
        list
    }

    /// Not a function for objects of another type.
    fn fits(&self, way: &Way, ty: Option<&str>) -> bool {
        let wants = self.wanted(way);
        way.given != Given::Pointer || wants.is_none_or(|wants| ty.is_none_or(|ty| ty == wants))
    }

    /// The struct that a function of the program wants a pointer to.
    pub fn wanted(&self, way: &Way) -> Option<&str> {
        let same = |h: &&Homed<'_>| h.releaser.name == way.name && h.releaser.given == way.given;
        let wants = self.releasers.iter().find(same).map(|h| h.releaser.ty.as_str());
        wants.filter(|ty| !ty.is_empty())
    }

    /// The library's function for a family.
    pub fn of_family(&self, family: &str) -> Option<Way> {
        self.models.deallocators(family).into_iter().find_map(|(model, place)| {
            let Root::Arg(arg) = place.root else { return None };
            let given = match place.derefs.as_slice() {
                [] => Given::Pointer,
                [0] => Given::Address,
                [_] => Given::Owner,
                _ => return None,
            };
            let way = Way::new(spelled(&model.name).to_owned(), given, true);
            let params = if arg == 0 { 1 } else { 0 };
            Some(Way { basic: true, arg, params, ..way })
        })
    }

    /// The program's functions that release a struct of this type, given a pointer to it.
    pub fn destructors(&self, finding: &Finding, ty: &str) -> Vec<Way> {
        let mut list = Vec::new();
        self.add_for_type(&mut list, finding, Some(ty), false);
        list
    }

    /// The program's functions that release what a struct of this type holds, given its address.
    pub fn emptiers(&self, finding: &Finding, ty: &str) -> Vec<Way> {
        let mut list = Vec::new();
        for releaser in self.for_type(finding, ty, Given::Owner) {
            let way = Way::new(releaser.name.clone(), Given::Owner, true);
            add(&mut list, Way { whole: true, ..way });
        }
        list
    }

    /// Whether a library function neither keeps nor releases what it is given.
    pub fn is_harmless(&self, name: &str) -> bool {
        // The compiler knows these itself.
        let built_in = matches!(name, "memset" | "memcpy" | "memmove");
        let quiet = |e: &Effect| {
            matches!(e, Effect::Write { .. } | Effect::SetNonZero { .. } | Effect::SetData { .. })
        };
        let known = self.models.get(name);
        built_in || known.is_some_and(|m| m.outcomes.iter().flat_map(|o| &o.effects).all(quiet))
    }

    /// Whether a function of the library releases what it is given.
    pub fn is_library_releaser(&self, name: &str) -> bool {
        let frees = |e: &Effect| matches!(e, Effect::Free { .. });
        let model = self.models.get(name);
        model.is_some_and(|m| m.outcomes.iter().flat_map(|o| &o.effects).any(frees))
    }

    /// Whether a function releases what it is given.
    pub fn is_releaser(&self, name: &str) -> bool {
        self.is_library_releaser(name) || self.releasers.iter().any(|h| h.releaser.name == name)
    }

    fn add_family(&self, list: &mut Vec<Way>, finding: &Finding) {
        self.of_family(&finding.family).into_iter().for_each(|way| add(list, way));
    }

    fn add_for_type(
        &self,
        list: &mut Vec<Way>,
        finding: &Finding,
        ty: Option<&str>,
        trusted: bool,
    ) {
        let Some(ty) = ty.filter(|t| !t.is_empty()) else { return };
        for releaser in self.for_type(finding, ty, Given::Pointer) {
            add(list, Way::new(releaser.name.clone(), releaser.given, trusted));
        }
    }

    /// Functions for a type, those first that live beside the function which made the object: what is
    /// made in a file is unmade there, and others only build on that.
    fn for_type(&self, finding: &Finding, ty: &str, given: Given) -> Vec<&'k Releaser> {
        let fits = |r: &Releaser| r.ty == ty && r.given == given && is_plain(r);
        let mut list: Vec<&Homed<'k>> =
            self.releasers.iter().filter(|h| fits(h.releaser)).collect();
        let beside = |h: &Homed<'_>| finding.alloc_trace.iter().any(|s| h.files.contains(&s.file));
        list.sort_by_key(|h| !beside(h));
        list.into_iter().map(|h| h.releaser).collect()
    }
}

/// It can be called with the object alone.
fn is_plain(releaser: &Releaser) -> bool {
    releaser.params == 1 && releaser.arg == 0
}

fn add_by_count<'p>(list: &mut Vec<Way>, pairs: impl Iterator<Item = &'p Pair>, complete: bool) {
    let mut counts: BTreeMap<&Releaser, usize> = BTreeMap::new();
    for pair in pairs {
        *counts.entry(&pair.releaser).or_default() += 1;
    }
    let mut ranked: Vec<(&Releaser, usize)> = counts.into_iter().collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    for (releaser, _) in ranked {
        let trusted = complete || releaser.library;
        let way = Way::new(spelled(&releaser.name).to_owned(), releaser.given, trusted);
        // The size that some of C++'s operators get is not written.
        let params = if way.name.starts_with("operator ") { 1 } else { releaser.params };
        add(list, Way { arg: releaser.arg, params, ..way });
    }
}

/// Symbols of C++ operators as the analysis names them elsewhere.
fn spelled(name: &str) -> &str {
    match name {
        "_ZdlPv" | "_ZdlPvm" => "operator delete",
        "_ZdaPv" | "_ZdaPvm" => "operator delete[]",
        other => other,
    }
}

fn add(list: &mut Vec<Way>, way: Way) {
    if !list.iter().any(|w| w.name == way.name) {
        list.push(way);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(given: Given, holder: &str) -> String {
        Way::new("f".to_owned(), given, true).statement(holder, false, false)
    }

    #[test]
    fn arguments_are_what_the_function_wants() {
        assert_eq!(statement(Given::Pointer, "s->a"), "f(s->a);");
        assert_eq!(statement(Given::Address, "p"), "f(&p);");
        assert_eq!(statement(Given::Address, "*out"), "f(out);");
        assert_eq!(statement(Given::Owner, "u.path"), "f(&u);");
        assert_eq!(statement(Given::Owner, "a.b->path"), "f(a.b);");
        assert_eq!(statement(Given::Owner, "a->b.path"), "f(&a->b);");
    }

    #[test]
    fn structs_around_a_member() {
        assert_eq!(structs_around("a.b->c.d").collect::<Vec<_>>(), ["a.b->c", "a.b", "a"]);
        assert_eq!(structs_around("a").count(), 0);
    }
}
