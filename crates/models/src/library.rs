//! A set of models by name, and the families they speak of. `layer` builds it.
//!
//! Models are sorted by name and shared: a library with user files holds those of the shipped one
//! that are not replaced.

use crate::ast::{Effect, Model, Outcome, Place, Returns};
use crate::error::{ModelError, closest};
use crate::layer::{Layer, shipped};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Models by function name.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// By name.
    pub(crate) items: Vec<Item>,
    pub(crate) families: BTreeMap<String, Family>,
}

#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub model: Arc<Model>,
    /// Position among all entries in the order of the files.
    pub order: u32,
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
        &shipped().library
    }

    /// The shipped models, with the entries of these files (path, text) added or put in place of
    /// shipped ones. A name may be given only once in all of `files`.
    pub fn with_user_files<P: AsRef<str>, T: AsRef<str>>(
        files: &[(P, T)],
    ) -> Result<Library, Vec<ModelError>> {
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_ref(), text.as_ref())).collect();
        let Layer { library, mut errors, .. } = Layer::over(Some(shipped()), &files);
        if errors.is_empty() {
            return Ok(library);
        }
        errors.sort_by(|a, b| (&a.file, a.pos).cmp(&(&b.file, b.pos)));
        Err(errors)
    }

    pub fn get(&self, name: &str) -> Option<&Model> {
        self.find(name).map(|item| item.model.as_ref())
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Item> {
        let at = self.items.binary_search_by(|item| item.model.name.as_str().cmp(name)).ok()?;
        self.items.get(at)
    }

    /// All models in name order.
    pub fn iter(&self) -> impl Iterator<Item = &Model> {
        self.items.iter().map(|item| item.model.as_ref())
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
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
        let released = |item| {
            let Item { model, order }: &Item = item;
            Some((*order, model.as_ref(), always_released(model, family)?))
        };
        let mut found: Vec<(u32, &Model, &Place)> =
            self.items.iter().filter_map(released).collect();
        found.sort_unstable_by_key(|(order, ..)| *order);
        found.into_iter().map(|(_, model, place)| (model, place)).collect()
    }

    /// The known function name nearest to `name`.
    pub fn closest(&self, name: &str) -> Option<&str> {
        closest(name, self.iter().map(|m| m.name.as_str()))
    }
}

impl Model {
    /// Whether a shipped model describes a library other than the C library: one that a program
    /// under analysis may itself define.
    pub fn is_third_party(&self) -> bool {
        self.file.starts_with("lib/")
    }

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

/// The place whose object of `family` every good outcome of `model` releases, and nothing else but
/// what that object holds (`xmlFreeURI`).
fn always_released<'m>(model: &'m Model, family: &str) -> Option<&'m Place> {
    let released = |outcome: &'m Outcome| {
        let (freed, parts) = match outcome.effects.as_slice() {
            [parts @ .., freed, Effect::SetNull { place: cleared }] => match freed {
                Effect::Free { place, .. } if place == cleared => (freed, parts),
                _ => return None,
            },
            [parts @ .., freed] => (freed, parts),
            [] => return None,
        };
        let Effect::Free { place, family: f } = freed else { return None };
        let belongs = |e: &Effect| match e {
            Effect::Free { place: part, .. } => is_inside(part, place),
            Effect::Needs(needed) => needed == place,
            Effect::IsNull(part) | Effect::IsNonNull(part) => is_inside(part, place),
            _ => false,
        };
        (f == family && parts.iter().all(belongs)).then_some(place)
    };
    let mut good = model.outcomes.iter().filter(|o| !o.failure).peekable();
    let place = released(good.peek()?)?;
    // Not one that hands out a new object, or what the old one held.
    let hands_out = |o: &Outcome| matches!(o.returns, Returns::Object { .. } | Returns::Old(_));
    let same = |o| released(o) == Some(place) && !hands_out(o);
    good.all(same).then_some(place)
}

/// Whether `part` is a place in what `whole` points to.
fn is_inside(part: &Place, whole: &Place) -> bool {
    part.root == whole.root
        && part.derefs.len() > whole.derefs.len()
        && part.derefs.starts_with(&whole.derefs)
}
