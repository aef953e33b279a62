//! What to analyse, as every analysing subcommand takes it, and the way from there to modules.

use crate::ui::{Ui, count};
use anyhow::{Result, bail};
use clap::Args;
use leakproof_frontend::watch::{Recording, watch};
use leakproof_frontend::{
    LoadOptions, Loaded, Prepared, Project, Request, SourceKind, cache, prepare,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Sources of units.
#[derive(Debug, Args)]
pub struct InputArgs {
    /// Source files (compiler flags such as -DX -Iinc may follow), .bc and .ll files, folders with a
    /// compile_commands.json. Default: the compile_commands.json of this folder or of build/
    #[arg(value_name = "FILES")]
    pub paths: Vec<PathBuf>,
    /// Folder with a compile_commands.json
    #[arg(short = 'p', long = "build-dir", value_name = "BUILD_DIR")]
    pub build_dir: Option<PathBuf>,
    /// Run this build and analyse what it compiles (do a clean build: what is up to date is not
    /// compiled)
    #[arg(last = true, value_name = "BUILD COMMAND")]
    pub build: Vec<OsString>,
    /// Keep the compile database of the watched build in this file
    #[arg(long, value_name = "FILE", requires = "build")]
    pub keep_compile_commands: Option<PathBuf>,
    #[command(flatten)]
    pub unit: UnitArgs,
}

/// How units are compiled.
#[derive(Debug, Args)]
pub struct UnitArgs {
    /// Compiler flag for the source files named on the command line; most can be given as they are
    #[arg(long = "cflag", value_name = "FLAG", allow_hyphen_values = true)]
    pub flags: Vec<OsString>,
    /// Units compiled at once [default: one per core]
    #[arg(short, long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub jobs: usize,
    /// Neither read nor write the cache of compiled units and of results
    #[arg(long)]
    pub no_cache: bool,
}

impl UnitArgs {
    fn options(&self) -> LoadOptions {
        let cache = if self.no_cache { None } else { cache::default_dir() };
        LoadOptions { jobs: self.jobs, cache }
    }
}

/// A project and its modules.
pub struct Input {
    pub project: Project,
    pub loaded: Loaded,
}

impl InputArgs {
    /// Watches the build if there is one, then lowers every unit.
    pub fn load(&self, ui: &Ui) -> Result<Input> {
        load_project(self.discover(ui)?, &self.unit, ui)
    }

    /// Watches the build if there is one, and finds the units.
    pub fn discover(&self, ui: &Ui) -> Result<Project> {
        let cwd = std::env::current_dir()?;
        let recording = self.watch(&cwd, ui)?;
        let request = Request {
            cwd,
            paths: self.paths.clone(),
            flags: self.unit.flags.clone(),
            build_dir: self.build_dir.clone(),
            recording,
        };
        Ok(Project::discover(&request)?)
    }

    fn watch(&self, cwd: &Path, ui: &Ui) -> Result<Option<Recording>> {
        if self.build.is_empty() {
            return Ok(None);
        }
        let recording = watch(&self.build, cwd, ui.is_quiet())?;
        if let Some(status) = &recording.failure {
            ui.warn(&format!("the build command failed ({status}); what it compiled is analysed"));
        }
        ui.note(&format!("the build compiled {}", count(recording.compilations.len(), "unit")));
        if let Some(path) = &self.keep_compile_commands {
            recording.keep(path)?;
        }
        Ok(Some(recording))
    }
}

/// The modules of one named file.
pub fn load_file(file: &Path, build_dir: Option<&Path>, unit: &UnitArgs, ui: &Ui) -> Result<Input> {
    let request = Request {
        cwd: std::env::current_dir()?,
        flags: unit.flags.clone(),
        build_dir: build_dir.map(Path::to_owned),
        ..Request::default()
    };
    let project = Project::single(&request, file)?;
    load_project(project, unit, ui)
}

fn load_project(project: Project, unit: &UnitArgs, ui: &Ui) -> Result<Input> {
    let loaded = load_prepared(prepare_project(&project, unit, ui)?, ui)?;
    Ok(Input { project, loaded })
}

/// Compiles what is not in the cache. Fails when there is nothing to analyse.
pub fn prepare_project<'p>(project: &'p Project, unit: &UnitArgs, ui: &Ui) -> Result<Prepared<'p>> {
    let prepared = prepare(project, &unit.options(), &ui.progress())?;
    if prepared.units() == 0 {
        bail!(nothing_loaded(project, &prepared.skipped));
    }
    Ok(prepared)
}

/// The modules of a project.
pub fn load_prepared(prepared: Prepared<'_>, ui: &Ui) -> Result<Loaded> {
    let loaded = prepared.load()?;
    let functions = loaded.modules.iter().flat_map(|m| m.functions.values());
    let functions = functions.filter(|f| f.is_definition()).count();
    ui.totals(loaded.modules.len(), functions, loaded.skipped.len(), &loaded.timings);
    Ok(loaded)
}

/// The one line that says why there is nothing to analyse.
fn nothing_loaded(project: &Project, skipped: &[(String, String)]) -> String {
    let failed = skipped.get(project.skipped.len()..).unwrap_or_default();
    let remedy = match project.units.first() {
        Some(unit) if unit.kind == SourceKind::Llvm => "",
        _ => "; give it the compiler flags it needs, and see that generated files exist",
    };
    match failed {
        [only] => format!("{}{remedy}", named(only)),
        [first, ..] => {
            format!(
                "none of the {} units compiles, the first: {}{remedy}",
                failed.len(),
                named(first)
            )
        }
        [] => "the project has no C or C++ units; check the compile database".to_owned(),
    }
}

/// clang's messages start with the file's name; said once is enough.
fn named((name, reason): &(String, String)) -> String {
    if reason.starts_with(name.as_str()) { reason.clone() } else { format!("{name}: {reason}") }
}
