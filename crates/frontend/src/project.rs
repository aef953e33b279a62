//! From what the user names to the list of units: databases, folders, source files, bitcode files
//! and recorded builds, in any mixture.
//!
//! Invariant: units come in the order of the request and of each database, and no two of them
//! compile the same text under the same flags.

use crate::arguments::expand_responses;
use crate::command::{Command, parse_command, split_driver};
use crate::database::{self, Database, Entry};
use crate::error::FrontendError;
use crate::paths::display_name;
use crate::unit::{FileClass, SourceKind, Unit};
use crate::watch::{LinkStep, Recording};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What the user asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Where the user stands; absolute.
    pub cwd: PathBuf,
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Compiler flags for the source files among `paths`.
    pub flags: Vec<OsString>,
    /// `-p`.
    pub build_dir: Option<PathBuf>,
    /// What a watched build did.
    pub recording: Option<Recording>,
}

/// Everything there is to lower.
#[derive(Clone, Debug, Default)]
pub struct Project {
    pub cwd: PathBuf,
    pub units: Vec<Unit>,
    /// Entries that are no C or C++ (assembler, ...), as the user would name them, and why.
    pub skipped: Vec<(String, String)>,
    /// How the build links its programs and libraries, when known.
    pub links: Vec<LinkStep>,
}

impl Project {
    pub fn discover(request: &Request) -> Result<Self, FrontendError> {
        let mut builder = Builder::new(&request.cwd);
        if let Some(dir) = &request.build_dir {
            builder.folder(dir)?;
        }
        for path in &request.paths {
            builder.path(path, &request.flags)?;
        }
        if let Some(recording) = &request.recording {
            builder.recording(recording);
        }
        if request.paths.is_empty() && request.build_dir.is_none() && request.recording.is_none() {
            builder.folder(Path::new("."))?;
        }
        Ok(builder.project)
    }

    /// The unit or units of one file: from the database when it lists the file, else by itself.
    pub fn single(request: &Request, file: &Path) -> Result<Self, FrontendError> {
        let mut builder = Builder::new(&request.cwd);
        match &request.build_dir {
            Some(dir) => {
                let database = builder.find_database(dir)?;
                if !builder.listed_in(file, &database)? {
                    return Err(FrontendError::NotInDatabase { file: file.into(), database });
                }
            }
            None => builder.path(file, &request.flags)?,
        }
        Ok(builder.project)
    }

    /// The unit's main file as the user would name it.
    pub fn name(&self, unit: &Unit) -> String {
        display_name(&unit.path(), &self.cwd)
    }
}

struct Builder {
    project: Project,
    seen: HashSet<Unit>,
}

impl Builder {
    fn new(cwd: &Path) -> Self {
        let project = Project { cwd: cwd.to_owned(), ..Project::default() };
        Self { project, seen: HashSet::new() }
    }

    fn path(&mut self, path: &Path, flags: &[OsString]) -> Result<(), FrontendError> {
        let absolute = self.project.cwd.join(path);
        let meta = std::fs::metadata(&absolute).map_err(|e| FrontendError::from_io(path, &e))?;
        if meta.is_dir() {
            return self.folder(path);
        }
        if path.extension() == Some(OsStr::new("json")) {
            return self.database(path);
        }
        let FileClass::Source(kind) = FileClass::of(path) else {
            return Err(FrontendError::UnknownKind(path.to_owned()));
        };
        check_readable(path, &absolute)?;
        if kind != SourceKind::Llvm && flags.is_empty() && self.listed_nearby(path)? {
            return Ok(());
        }
        self.plain(path, kind, flags)
    }

    /// A source file without a database: the flags of the command line, run from here.
    fn plain(
        &mut self,
        path: &Path,
        kind: SourceKind,
        flags: &[OsString],
    ) -> Result<(), FrontendError> {
        let expanded = expand_responses(flags.to_vec(), &self.project.cwd)?;
        let command = parse_command(&split_driver(&expanded));
        let language = command.language.and_then(|class| match class {
            FileClass::Source(kind) => Some(kind),
            _ => None,
        });
        let flags = if kind == SourceKind::Llvm { Vec::new() } else { command.flags };
        let kind = if kind == SourceKind::Llvm { kind } else { language.unwrap_or(kind) };
        let directory = self.project.cwd.clone();
        self.push(Unit { directory, source: path.to_owned(), kind, flags, output: None });
        Ok(())
    }

    /// Takes a file's flags from the database of the current folder, when that lists it.
    fn listed_nearby(&mut self, path: &Path) -> Result<bool, FrontendError> {
        match database::find(&self.project.cwd) {
            Some(near) => {
                let name = near.strip_prefix(&self.project.cwd).unwrap_or(&near).to_owned();
                self.listed_in(path, &name)
            }
            None => Ok(false),
        }
    }

    fn listed_in(&mut self, path: &Path, database: &Path) -> Result<bool, FrontendError> {
        let database = self.read(database)?;
        let wanted = real_path(&self.project.cwd.join(path));
        let mut found = false;
        for entry in &database.entries {
            if real_path(&entry.directory.join(&entry.file)) == wanted {
                self.entry(entry);
                found = true;
            }
        }
        Ok(found)
    }

    fn find_database(&self, dir: &Path) -> Result<PathBuf, FrontendError> {
        let absolute = self.project.cwd.join(dir);
        let meta = std::fs::metadata(&absolute).map_err(|e| FrontendError::from_io(dir, &e))?;
        if meta.is_file() {
            return Ok(dir.to_owned());
        }
        let found =
            database::find(&absolute).ok_or_else(|| FrontendError::NoDatabase(dir.to_owned()))?;
        // Messages should name it as the user named the folder.
        let rest = found.strip_prefix(&absolute).unwrap_or(&found).to_owned();
        Ok(if dir == Path::new(".") { rest } else { dir.join(rest) })
    }

    fn folder(&mut self, dir: &Path) -> Result<(), FrontendError> {
        let database = self.find_database(dir)?;
        self.database(&database)
    }

    fn database(&mut self, path: &Path) -> Result<(), FrontendError> {
        let database = self.read(path)?;
        for (file, reason) in &database.skipped {
            self.skip(file, reason);
        }
        for entry in &database.entries {
            self.entry(entry);
        }
        let links = crate::watch::read_links(&self.project.cwd.join(path));
        self.project.links.extend(links);
        Ok(())
    }

    fn read(&self, path: &Path) -> Result<Database, FrontendError> {
        Database::read_as(&self.project.cwd.join(path), path)
    }

    fn recording(&mut self, recording: &Recording) {
        for entry in &recording.compilations {
            self.entry(entry);
        }
        self.project.links.extend(recording.links.iter().cloned());
    }

    /// A database entry: one unit, or a note that it is none.
    fn entry(&mut self, entry: &Entry) {
        let path = entry.directory.join(&entry.file);
        let arguments = match expand_responses(entry.arguments.clone(), &entry.directory) {
            Ok(arguments) => arguments,
            Err(error) => return self.skip(&path, &error.to_string()),
        };
        let command = parse_command(&split_driver(&arguments));
        match entry_class(entry, &command) {
            FileClass::Source(kind) => {
                let output = entry.output.clone().or(command.output);
                self.push(Unit {
                    directory: entry.directory.clone(),
                    source: entry.file.clone(),
                    kind,
                    flags: command.flags,
                    output,
                });
            }
            FileClass::Assembler => self.skip(&path, "assembler, not C or C++"),
            FileClass::Header => self.skip(&path, "a header by itself is no unit"),
            FileClass::OtherLanguage | FileClass::LinkInput => {
                self.skip(&path, "not C or C++");
            }
        }
    }

    fn push(&mut self, unit: Unit) {
        // The object's name does not change the code.
        let key = Unit { output: None, ..unit.clone() };
        if self.seen.insert(key) {
            self.project.units.push(unit);
        }
    }

    fn skip(&mut self, path: &Path, reason: &str) {
        let note = (display_name(path, &self.project.cwd), reason.to_owned());
        if !self.project.skipped.contains(&note) {
            self.project.skipped.push(note);
        }
    }
}

/// What the entry's file is: as its command line has it, else by its name.
fn entry_class(entry: &Entry, command: &Command) -> FileClass {
    let wanted = entry.directory.join(&entry.file);
    let listed = command.inputs.iter().find(|i| entry.directory.join(&i.path) == wanted);
    listed.map_or_else(|| FileClass::of(&entry.file), |input| input.class)
}

/// An input that the user named must be there, readable and not empty.
fn check_readable(path: &Path, absolute: &Path) -> Result<(), FrontendError> {
    let file = std::fs::File::open(absolute).map_err(|e| FrontendError::from_io(path, &e))?;
    match file.metadata() {
        Ok(meta) if meta.is_file() && meta.len() == 0 => {
            Err(FrontendError::EmptyInput(path.into()))
        }
        _ => Ok(()),
    }
}

fn real_path(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| crate::paths::normalize(path))
}
