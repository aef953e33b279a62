//! Building a library: files over what is there already.
//!
//! The shipped files are the first layer, user files the second. Names are unique within a layer
//! and replace those below. Aliases are resolved last, so an alias of a function that the user
//! redefines follows the user's definition.

use crate::ast::{Model, Outcome};
use crate::error::{ErrorKind, Fault, ModelError, Pos};
use crate::library::{Family, Item, Library};
use crate::parser::{Alias, FamilyItem, Parsed, for_each_arg, parse};
use crate::shipped;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

/// A finished library with what another layer needs to go over it.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub library: Library,
    /// Aliases by name, of this layer and below, with their files.
    aliases: BTreeMap<String, Arc<Placed>>,
    pub errors: Vec<ModelError>,
}

/// An alias and where it stands.
#[derive(Debug)]
struct Placed {
    file: String,
    alias: Alias,
    order: u32,
}

/// The shipped library. A fault in it is a mistake of ours that a test finds; the rest of the file
/// is used.
pub(crate) fn shipped() -> &'static Layer {
    static SHIPPED: OnceLock<Layer> = OnceLock::new();
    SHIPPED.get_or_init(|| Layer::over(None, shipped::FILES))
}

impl Layer {
    pub fn over(below: Option<&Layer>, files: &[(&str, &str)]) -> Layer {
        let mut builder = Builder::over(below);
        let parsed: Vec<(&str, Parsed)> =
            files.iter().map(|(file, text)| (*file, parse(text))).collect();
        for (file, parsed) in &parsed {
            builder.errors.extend(parsed.faults.iter().map(|f| f.clone().in_file(file)));
            builder.declare_families(file, &parsed.families);
        }
        for (file, parsed) in parsed {
            builder.check_families(file, &parsed.family_uses);
            builder.add(file, parsed);
        }
        builder.finish()
    }
}

struct Builder<'a> {
    below: Option<&'a Layer>,
    families: BTreeMap<String, Family>,
    aliases: BTreeMap<String, Arc<Placed>>,
    errors: Vec<ModelError>,
    /// Entries of this layer.
    entries: HashMap<String, Item>,
    /// Where each name of this layer was given first.
    seen: HashMap<String, (String, u32)>,
    order: u32,
}

impl<'a> Builder<'a> {
    fn over(below: Option<&'a Layer>) -> Self {
        Builder {
            below,
            families: below.map(|l| l.library.families.clone()).unwrap_or_default(),
            aliases: below.map(|l| l.aliases.clone()).unwrap_or_default(),
            errors: Vec::new(),
            entries: HashMap::new(),
            seen: HashMap::new(),
            order: below.map_or(0, |l| l.library.items.len() as u32),
        }
    }

    fn declare_families(&mut self, file: &str, items: &[FamilyItem]) {
        for item in items {
            match self.families.get(&item.name) {
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
                    self.families.insert(item.name.clone(), family);
                }
            }
        }
    }

    fn check_families(&mut self, file: &str, uses: &[(String, Pos)]) {
        for (name, pos) in uses {
            if self.families.contains_key(name) {
                continue;
            }
            let known = self.families.keys().map(String::as_str);
            let declare = format!("declare it first: `family {name} is memory` or `is resource`");
            let fault = Fault::new(*pos, ErrorKind::UnknownFamily(name.clone()))
                .hint(declare)
                .did_you_mean(name, known);
            self.errors.push(fault.in_file(file));
        }
    }

    fn add(&mut self, file: &str, parsed: Parsed) {
        for entry in parsed.entries {
            let Some(order) = self.claim(&entry.name, entry.pos, file) else { continue };
            self.aliases.remove(&entry.name);
            let (name, line) = (entry.name.clone(), entry.pos.line);
            let model = Model { name, outcomes: entry.outcomes, file: file.to_owned(), line };
            self.entries.insert(entry.name, Item { model: Arc::new(model), order });
        }
        for alias in parsed.aliases {
            let Some(order) = self.claim(&alias.name, alias.pos, file) else { continue };
            let name = alias.name.clone();
            self.aliases.insert(name, Arc::new(Placed { file: file.to_owned(), alias, order }));
        }
    }

    /// The position of a name that is new in this layer; an error for any other.
    fn claim(&mut self, name: &str, pos: Pos, file: &str) -> Option<u32> {
        if let Some((first, line)) = self.seen.get(name) {
            let first = format!("{first}:{line}");
            let kind = ErrorKind::Duplicate { name: name.to_owned(), first };
            self.errors.push(Fault::new(pos, kind).hint("remove one of them").in_file(file));
            return None;
        }
        self.seen.insert(name.to_owned(), (file.to_owned(), pos.line));
        self.order += 1;
        Some(self.order)
    }

    fn finish(mut self) -> Layer {
        let aliases = std::mem::take(&mut self.aliases);
        let mut resolved = Vec::with_capacity(aliases.len());
        for (name, placed) in &aliases {
            match self.resolve(&aliases, name) {
                Ok(model) => {
                    resolved.push(Item { model: Arc::new(model), order: placed.order });
                }
                Err(error) => self.errors.push(error),
            }
        }
        let kept = self.below.map(|l| l.library.items.as_slice()).unwrap_or_default();
        let is_replaced = |item: &Item| {
            let name = &item.model.name;
            self.entries.contains_key(name) || aliases.contains_key(name)
        };
        let mut items: Vec<Item> = kept.iter().filter(|i| !is_replaced(i)).cloned().collect();
        items.extend(self.entries.into_values());
        items.extend(resolved);
        items.sort_unstable_by(|a, b| a.model.name.cmp(&b.model.name));
        let library = Library { items, families: self.families };
        Layer { library, aliases, errors: self.errors }
    }

    /// The model of a function that is no alias.
    fn entry(&self, name: &str) -> Option<&Model> {
        let below = || self.below.and_then(|l| l.library.get(name));
        self.entries.get(name).map(|item| item.model.as_ref()).or_else(below)
    }

    /// The model that alias `name` stands for, through aliases of aliases.
    fn resolve(
        &self,
        aliases: &BTreeMap<String, Arc<Placed>>,
        name: &str,
    ) -> Result<Model, ModelError> {
        let mut chain: Vec<&Placed> = Vec::new();
        let mut at = name;
        while let Some(step) = aliases.get(at) {
            if let Some(first) = chain.first().filter(|_| chain.len() > aliases.len()) {
                let kind = ErrorKind::AliasCycle(name.to_owned());
                return Err(Fault::new(first.alias.pos, kind).in_file(&first.file));
            }
            chain.push(step);
            at = &step.alias.target;
        }
        let (Some(first), Some(last)) = (chain.first(), chain.last()) else {
            return Err(self.unknown_target(at, None));
        };
        let Some(model) = self.entry(at) else {
            return Err(self.unknown_target(at, Some(last)));
        };
        let mut outcomes = model.outcomes.clone();
        for step in chain.iter().rev() {
            renumber(&mut outcomes, &step.alias).map_err(|fault| fault.in_file(&step.file))?;
        }
        let (file, line) = (first.file.clone(), first.alias.pos.line);
        Ok(Model { name: name.to_owned(), outcomes, file, line })
    }

    fn unknown_target(&self, target: &str, last: Option<&Placed>) -> ModelError {
        let kind = ErrorKind::UnknownTarget(target.to_owned());
        let pos = last.map_or(Pos { line: 1, column: 1 }, |placed| placed.alias.target_pos);
        let below = self.below.into_iter().flat_map(|l| l.library.iter());
        let known = below.map(|m| m.name.as_str()).chain(self.entries.keys().map(String::as_str));
        let file = last.map_or("", |placed| &placed.file);
        Fault::new(pos, kind).did_you_mean(target, known).in_file(file)
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
        let messages: Vec<String> = shipped().errors.iter().map(ModelError::to_string).collect();
        assert_eq!(messages, Vec::<String>::new());
    }
}
