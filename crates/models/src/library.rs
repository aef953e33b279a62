//! A set of models by name, and the families they speak of.
//!
//! Built from parsed files: shipped ones first, user files over them. Aliases are resolved last,
//! so an alias of a function that the user redefines follows the user's definition. Iteration is
//! in name order.

use crate::ast::{Effect, Model, Outcome, Place, Returns};
use crate::error::{ErrorKind, Fault, ModelError, Pos, closest};
use crate::parser::{Alias, FamilyItem, Parsed, for_each_arg, parse};
use crate::shipped;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Models by function name.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Shared with the shipped library, which a library with user files starts from.
    models: BTreeMap<String, Arc<Model>>,
    families: BTreeMap<String, Family>,
    /// Position of each entry in the order of the files.
    order: BTreeMap<String, usize>,
}

/// A kind of object with allocators and deallocators of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    pub name: String,
    pub kind: FamilyKind,
    /// Where it is declared.
    pub file: String,
    pub line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyKind {
    /// A lost object is a memory leak, reported by default.
    Memory,
    /// A lost object is a leak of another resource, reported when the family is enabled.
    Resource,
}

impl Family {
    pub fn is_memory(&self) -> bool {
        self.kind == FamilyKind::Memory
    }
}

impl Library {
    /// The models that come with the tool.
    pub fn shipped() -> &'static Library {
        static SHIPPED: OnceLock<Library> = OnceLock::new();
        SHIPPED.get_or_init(|| build(&[]).0)
    }

    /// The shipped models, with the entries of these files (path, text) added or put in place of
    /// shipped ones. A name may be given only once in all of `files`.
    pub fn with_user_files<P: AsRef<str>, T: AsRef<str>>(
        files: &[(P, T)],
    ) -> Result<Library, Vec<ModelError>> {
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_ref(), text.as_ref())).collect();
        let (library, mut errors) = build(&files);
        if errors.is_empty() {
            return Ok(library);
        }
        errors.sort_by_key(|e| (e.file.clone(), e.pos));
        Err(errors)
    }

    pub fn get(&self, name: &str) -> Option<&Model> {
        self.models.get(name).map(Arc::as_ref)
    }

    /// All models in name order.
    pub fn iter(&self) -> impl Iterator<Item = &Model> {
        self.models.values().map(Arc::as_ref)
    }

    pub fn len(&self) -> usize {
        self.models.len()
    }

    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// All families in name order.
    pub fn families(&self) -> impl Iterator<Item = &Family> {
        self.families.values()
    }

    pub fn family(&self, name: &str) -> Option<&Family> {
        self.families.get(name)
    }

    /// Whether losing an object of this family is a memory leak. Unknown families are.
    pub fn is_memory(&self, family: &str) -> bool {
        self.family(family).is_none_or(Family::is_memory)
    }

    /// The functions that do nothing but release an object of `family` when they succeed, and the
    /// place that holds it, the ones to prefer first (as the files order them).
    pub fn deallocators(&self, family: &str) -> Vec<(&Model, &Place)> {
        let mut found: Vec<(&Model, &Place)> =
            self.iter().filter_map(|m| Some((m, always_released(m, family)?))).collect();
        found.sort_by_key(|(m, _)| self.order.get(&m.name));
        found
    }

    /// The known function name nearest to `name`.
    pub fn closest(&self, name: &str) -> Option<&str> {
        closest(name, self.models.keys().map(String::as_str))
    }
}

impl Model {
    /// The families whose objects the function makes or releases; one may come several times.
    pub fn families(&self) -> impl Iterator<Item = &str> {
        self.outcomes.iter().flat_map(|outcome| {
            let returned = match &outcome.returns {
                Returns::Object { family, .. } => Some(family.as_str()),
                _ => None,
            };
            let effects = outcome.effects.iter().filter_map(|effect| match effect {
                Effect::Alloc { family, .. } | Effect::Free { family, .. } => Some(family.as_str()),
                _ => None,
            });
            returned.into_iter().chain(effects)
        })
    }
}

/// The place whose object of `family` every good outcome of `model` releases, and nothing else.
fn always_released<'m>(model: &'m Model, family: &str) -> Option<&'m Place> {
    let released = |outcome: &'m Outcome| match outcome.effects.as_slice() {
        [Effect::Free { place, family: f }] if f == family => Some(place),
        [Effect::Free { place, family: f }, Effect::SetNull { place: cleared }]
            if f == family && place == cleared =>
        {
            Some(place)
        }
        _ => None,
    };
    let mut good = model.outcomes.iter().filter(|o| !o.failure).peekable();
    let place = released(good.peek()?)?;
    let same = |o| released(o) == Some(place) && !matches!(o.returns, Returns::Object { .. });
    good.all(same).then_some(place)
}

/// The shipped library with `user` files over it, and all faults of both.
pub(crate) fn build(user: &[(&str, &str)]) -> (Library, Vec<ModelError>) {
    static SHIPPED: OnceLock<Builder> = OnceLock::new();
    let shipped = SHIPPED.get_or_init(|| {
        let mut builder = Builder::default();
        builder.layer(shipped::FILES);
        builder
    });
    let mut builder = shipped.clone();
    builder.layer(user);
    builder.resolve_aliases();
    (builder.library, builder.errors)
}

#[derive(Clone, Default)]
struct Builder {
    library: Library,
    errors: Vec<ModelError>,
    /// Aliases by name with their file; an entry of the same name in a later layer removes one.
    aliases: BTreeMap<String, Arc<(String, Alias)>>,
}

impl Builder {
    /// Adds files whose names are unique among themselves and replace those of earlier layers.
    fn layer(&mut self, files: &[(&str, &str)]) {
        let parsed: Vec<(&str, Parsed)> =
            files.iter().map(|(file, text)| (*file, parse(text))).collect();
        for (file, parsed) in &parsed {
            self.errors.extend(parsed.faults.iter().map(|f| f.clone().in_file(file)));
            self.declare_families(file, &parsed.families);
        }
        for (file, parsed) in &parsed {
            self.check_families(file, &parsed.family_uses);
        }
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        for (file, parsed) in parsed {
            self.add_entries(file, parsed, &mut seen);
        }
    }

    fn declare_families(&mut self, file: &str, items: &[FamilyItem]) {
        for item in items {
            match self.library.families.get(&item.name) {
                Some(first) if first.kind != item.kind => {
                    let message = format!(
                        "family `{}` is declared otherwise in {}:{}",
                        item.name, first.file, first.line
                    );
                    self.errors.push(Fault::contradiction(item.pos, message).in_file(file));
                }
                Some(_) => {}
                None => {
                    let (name, kind) = (item.name.clone(), item.kind);
                    let family = Family { name, kind, file: file.to_owned(), line: item.pos.line };
                    self.library.families.insert(item.name.clone(), family);
                }
            }
        }
    }

    fn add_entries(&mut self, file: &str, parsed: Parsed, seen: &mut BTreeMap<String, String>) {
        for entry in parsed.entries {
            if self.claim(&entry.name, entry.pos, file, seen) {
                self.aliases.remove(&entry.name);
                let model = Model {
                    name: entry.name.clone(),
                    outcomes: entry.outcomes,
                    file: file.to_owned(),
                    line: entry.pos.line,
                };
                self.library.models.insert(entry.name, Arc::new(model));
            }
        }
        for alias in parsed.aliases {
            if self.claim(&alias.name, alias.pos, file, seen) {
                self.library.models.remove(&alias.name);
                self.aliases.insert(alias.name.clone(), Arc::new((file.to_owned(), alias)));
            }
        }
    }

    /// Whether `name` is new in this layer; an error if not.
    fn claim(
        &mut self,
        name: &str,
        pos: Pos,
        file: &str,
        seen: &mut BTreeMap<String, String>,
    ) -> bool {
        if let Some(first) = seen.get(name) {
            let kind = ErrorKind::Duplicate { name: name.to_owned(), first: first.clone() };
            self.errors.push(Fault::new(pos, kind).hint("remove one of them").in_file(file));
            return false;
        }
        seen.insert(name.to_owned(), format!("{file}:{}", pos.line));
        let next = self.library.order.len();
        self.library.order.entry(name.to_owned()).or_insert(next);
        true
    }

    fn resolve_aliases(&mut self) {
        let names: Vec<String> = self.aliases.keys().cloned().collect();
        for name in names {
            match self.resolve(&name) {
                Ok(model) => {
                    self.library.models.insert(name, Arc::new(model));
                }
                Err(error) => self.errors.push(error),
            }
        }
    }

    /// The model that alias `name` stands for, through aliases of aliases.
    fn resolve(&self, name: &str) -> Result<Model, ModelError> {
        let mut chain: Vec<&(String, Alias)> = Vec::new();
        let mut at = name;
        while let Some(step) = self.aliases.get(at) {
            if chain.len() > self.aliases.len() {
                let kind = ErrorKind::AliasCycle(name.to_owned());
                return Err(Fault::new(chain[0].1.pos, kind).in_file(&chain[0].0));
            }
            chain.push(step);
            at = &step.1.target;
        }
        let Some((model, last)) = self.library.models.get(at).zip(chain.last()) else {
            return Err(self.unknown_target(at, chain.last().copied()));
        };
        let mut outcomes = model.outcomes.clone();
        for (file, alias) in chain.iter().rev() {
            renumber(&mut outcomes, alias).map_err(|fault| fault.in_file(file))?;
        }
        let (file, alias) = chain.first().unwrap_or(last);
        let (file, line) = (file.clone(), alias.pos.line);
        Ok(Model { name: name.to_owned(), outcomes, file, line })
    }

    fn unknown_target(&self, target: &str, last: Option<&(String, Alias)>) -> ModelError {
        let kind = ErrorKind::UnknownTarget(target.to_owned());
        let pos = last.map_or(Pos { line: 1, column: 1 }, |(_, alias)| alias.target_pos);
        let known = self.library.models.keys().map(String::as_str);
        let file = last.map_or("", |(file, _)| file);
        Fault::new(pos, kind).did_you_mean(target, known).in_file(file)
    }

    fn check_families(&mut self, file: &str, uses: &[(String, Pos)]) {
        for (name, pos) in uses {
            if self.library.families.contains_key(name) {
                continue;
            }
            let known = self.library.families.keys().map(String::as_str);
            let declare = format!("declare it first: `family {name} is memory` or `is resource`");
            let fault = Fault::new(*pos, ErrorKind::UnknownFamily(name.clone()))
                .hint(declare)
                .did_you_mean(name, known);
            self.errors.push(fault.in_file(file));
        }
    }
}

/// Says of the alias's own arguments what `outcomes` say of the target's.
fn renumber(outcomes: &mut [Outcome], alias: &Alias) -> Result<(), Fault> {
    let Some(args) = &alias.args else { return Ok(()) };
    let mut missing = None;
    for outcome in outcomes {
        for_each_arg(outcome, &mut |n| match args.get(*n) {
            Some(own) => *n = *own,
            None => missing = Some(*n),
        });
    }
    match missing {
        Some(n) => Err(Fault::new(alias.pos, ErrorKind::BadArgument((n + 1).to_string())).hint(
            format!("the entry of `{}` speaks of it, the alias does not give it", alias.target),
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_files_have_no_fault() {
        let (library, errors) = build(&[]);
        let messages: Vec<String> = errors.iter().map(ModelError::to_string).collect();
        assert_eq!(messages, Vec::<String>::new());
        assert!(library.len() >= 450, "{} models", library.len());
    }
}
