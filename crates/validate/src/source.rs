//! The program to validate: which of the project's units belong to it, and what it links with.
//!
//! A program is a unit with `main` and the units that define what it needs, directly or not; units
//! with another `main` are never part of it.

use crate::error::ValidateError;
use crate::harness::Harness;
use leakproof_frontend::watch::{LinkKind, LinkStep};
use leakproof_frontend::{SourceKind, Unit};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A unit with what the linker would know of it.
#[derive(Clone, Debug)]
pub struct SourceUnit {
    pub unit: Unit,
    /// As the user would name it.
    pub name: String,
    /// Symbols that it defines for others.
    pub defines: Vec<String>,
    /// Symbols that it takes from others.
    pub needs: Vec<String>,
    /// Source files with code in it, absolute.
    pub files: Vec<PathBuf>,
}

/// Everything there is to choose from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub units: Vec<SourceUnit>,
    pub links: Vec<LinkStep>,
}

/// One program.
#[derive(Clone, Debug)]
pub struct Program {
    pub units: Vec<SourceUnit>,
    pub link_flags: Vec<OsString>,
    pub is_cxx: bool,
    /// The unit with `main`, as the user would name it.
    pub name: String,
    /// Stands for the first unit, which has no `main`, and includes it.
    pub harness: Option<Harness>,
}

impl Sources {
    /// All programs of the project, in the order of their `main` units.
    pub fn programs(&self, link_flags: &[OsString]) -> Vec<Program> {
        let mains = (0..self.units.len()).filter(|i| self.has_main(*i));
        mains.map(|main| self.program(main, link_flags)).collect()
    }

    fn has_main(&self, unit: usize) -> bool {
        self.units[unit].defines.iter().any(|d| d == "main")
    }

    fn program(&self, main: usize, link_flags: &[OsString]) -> Program {
        let members = self.closure(main);
        let mut flags = self.recorded_flags(main);
        flags.extend(link_flags.iter().cloned());
        let units: Vec<SourceUnit> = members.iter().map(|i| self.units[*i].clone()).collect();
        Program {
            is_cxx: units.iter().any(|u| u.unit.kind == SourceKind::Cxx),
            name: self.units[main].name.clone(),
            units,
            link_flags: flags,
            harness: None,
        }
    }

    /// A unit without `main`, and what it needs, as a program that a harness makes of it.
    pub fn harnessed(&self, unit: usize, harness: Harness, link_flags: &[OsString]) -> Program {
        Program { harness: Some(harness), ..self.program(unit, link_flags) }
    }

    /// The main unit first, then what it needs.
    fn closure(&self, main: usize) -> Vec<usize> {
        let mut definers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, unit) in self.units.iter().enumerate() {
            if i == main || !self.has_main(i) {
                unit.defines.iter().for_each(|d| definers.entry(d).or_default().push(i));
            }
        }
        let mut members = vec![main];
        let mut queue = VecDeque::from([main]);
        let mut satisfied: BTreeSet<&str> =
            self.units[main].defines.iter().map(String::as_str).collect();
        while let Some(unit) = queue.pop_front() {
            for need in &self.units[unit].needs {
                if satisfied.contains(need.as_str()) {
                    continue;
                }
                let Some(choices) = definers.get(need.as_str()) else { continue };
                let best = choices.iter().min_by_key(|i| (self.distance(main, **i), **i));
                if let Some(&best) = best {
                    satisfied.extend(self.units[best].defines.iter().map(String::as_str));
                    if !members.contains(&best) {
                        members.push(best);
                        queue.push_back(best);
                    }
                }
            }
        }
        members
    }

    /// Folders to leave and to enter from one unit to the other.
    fn distance(&self, a: usize, b: usize) -> usize {
        let folder = |i: usize| {
            let path = leakproof_frontend::normalize(&self.units[i].unit.path());
            path.parent().map(Path::to_owned).unwrap_or_default()
        };
        let (a, b) = (folder(a), folder(b));
        let shared = a.components().zip(b.components()).take_while(|(x, y)| x == y).count();
        a.components().count() + b.components().count() - 2 * shared
    }

    /// Libraries of the recorded link step that makes this program.
    fn recorded_flags(&self, main: usize) -> Vec<OsString> {
        let unit = &self.units[main].unit;
        let object = unit.output.as_ref().map(|o| unit.directory.join(o));
        let source = unit.path();
        let makes = |step: &&LinkStep| {
            let inputs = step.inputs.iter().map(|i| step.directory.join(i));
            step.kind == LinkKind::Program
                && inputs.into_iter().any(|i| Some(&i) == object.as_ref() || i == source)
        };
        let Some(step) = self.links.iter().find(makes) else { return Vec::new() };
        let made: BTreeSet<PathBuf> =
            self.links.iter().map(|l| l.directory.join(&l.output)).collect();
        let mut flags = Vec::new();
        for word in step.arguments.iter().skip(1) {
            let path = step.directory.join(word);
            let is_library = word.ends_with(".a") || word.contains(".so");
            if word.starts_with("-l") || word == "-pthread" || word == "-rdynamic" {
                flags.push(word.into());
            } else if let Some(folder) = word.strip_prefix("-L") {
                flags.push(format!("-L{}", step.directory.join(folder).display()).into());
            } else if is_library && !word.starts_with('-') && !made.contains(&path) {
                flags.push(path.into());
            }
        }
        flags
    }
}

/// The program that a warning is about: the first that contains all its files, by the user's choice if
/// there is one.
pub fn choose<'p>(
    programs: &'p [Program],
    wanted: Option<&str>,
    files: &[&Path],
) -> Result<&'p Program, ValidateError> {
    if programs.is_empty() {
        return Err(ValidateError::NoMain);
    }
    let has = |p: &Program, f: &Path| p.units.iter().any(|u| u.files.iter().any(|x| x == f));
    let has_all = |p: &&Program| files.iter().all(|f| has(p, f));
    if let Some(name) = wanted {
        let hit = |p: &&Program| p.name == name || Path::new(&p.name).ends_with(name);
        // One file may be compiled into several programs, with other units each.
        let fitting = programs.iter().filter(hit).find(has_all);
        return fitting.or_else(|| programs.iter().find(hit)).ok_or_else(|| {
            let names: Vec<&str> = programs.iter().map(|p| p.name.as_str()).collect();
            let known = names.join(", ");
            ValidateError::Program(format!("no program `{name}`; those with a main are {known}"))
        });
    }
    programs.iter().filter(has_all).min_by_key(|p| p.units.len()).ok_or_else(|| {
        let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        ValidateError::Program(format!("no program contains {}", names.join(" and ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_several_programs_is_the_one_with_the_warning() {
        let unit = |file: &str| SourceUnit {
            unit: Unit {
                directory: PathBuf::from("/p"),
                source: PathBuf::from(file),
                kind: SourceKind::C,
                flags: Vec::new(),
                output: None,
            },
            name: file.to_owned(),
            defines: Vec::new(),
            needs: Vec::new(),
            files: vec![Path::new("/p").join(file)],
        };
        let program = |files: &[&str]| Program {
            units: files.iter().map(|f| unit(f)).collect(),
            link_flags: Vec::new(),
            is_cxx: false,
            name: "main.c".to_owned(),
            harness: None,
        };
        let programs = [program(&["main.c"]), program(&["main.c", "part.c"])];
        let chosen = |file: &str| choose(&programs, Some("main.c"), &[Path::new(file)]).unwrap();
        assert_eq!(chosen("/p/part.c").units.len(), 2);
        assert_eq!(chosen("/p/main.c").units.len(), 1);
        assert_eq!(chosen("/p/unknown.c").units.len(), 1);
    }
}
