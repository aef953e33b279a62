//! `leakproof models`: look at the models of library functions, and check files of one's own.

use crate::output;
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use leakproof_models::{Family, Library, Model, ModelError};
use std::borrow::Cow;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct ModelsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print all models, one per line
    List {
        /// Only those that make or release objects of this family
        #[arg(long, value_name = "FAMILY")]
        family: Option<String>,
        #[command(flatten)]
        files: ModelFiles,
    },
    /// Print the families of objects, and what releases them
    Families {
        #[command(flatten)]
        files: ModelFiles,
    },
    /// Print the model of a function and where it stands
    Show {
        /// Name of the function, mangled if it is C++
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
        #[command(flatten)]
        files: ModelFiles,
    },
    /// Check model files
    Check {
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
}

/// The option that adds models to the shipped ones.
#[derive(Clone, Debug, Default, Args)]
pub struct ModelFiles {
    /// Models of library functions, added to the shipped ones or put in their place
    #[arg(long = "models", value_name = "FILE")]
    models: Vec<PathBuf>,
}

impl ModelFiles {
    /// The shipped library with the files over it. Every mistake in them is printed.
    pub fn load(&self) -> Result<Cow<'static, Library>> {
        self.load_after(&[])
    }

    /// The same, with the files of the configuration in between.
    pub fn load_after(&self, configured: &[PathBuf]) -> Result<Cow<'static, Library>> {
        let files = [configured, &self.models].concat();
        if files.is_empty() {
            return Ok(Cow::Borrowed(Library::shipped()));
        }
        load_files(&files).map(Cow::Owned)
    }
}

pub fn run(args: &ModelsArgs) -> Result<ExitCode> {
    let text = match &args.action {
        Action::List { family, files } => list(&*files.load()?, family.as_deref())?,
        Action::Families { files } => families(&*files.load()?)?,
        Action::Show { names, files } => show(&*files.load()?, names)?,
        Action::Check { files } => check(files)?,
    };
    output::write(None, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn load_files(paths: &[PathBuf]) -> Result<Library> {
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        files.push((path.display().to_string(), read(path)?));
    }
    Library::with_user_files(&files).map_err(all_but_last)
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// Prints all errors but one, which ends the run.
fn all_but_last(errors: Vec<ModelError>) -> anyhow::Error {
    let mut errors = errors.into_iter().rev();
    let last = errors.next().map_or_else(|| anyhow::anyhow!("bad model files"), Into::into);
    for error in errors.rev() {
        eprintln!("leakproof: error: {}", crate::failure::one_line(&error.to_string()));
    }
    last
}

fn list(library: &Library, family: Option<&str>) -> Result<String> {
    if let Some(name) = family
        && library.family(name).is_none()
    {
        let known = library.families().map(|f| f.name.as_str());
        bail!("no family `{name}`{}", did_you_mean(leakproof_models::closest(name, known)));
    }
    let wanted = |m: &&Model| family.is_none_or(|f| m.families().any(|other| other == f));
    let mut text = String::new();
    for model in library.iter().filter(wanted) {
        writeln!(text, "{model}")?;
    }
    Ok(text)
}

fn families(library: &Library) -> Result<String> {
    let width = library.families().map(|f| f.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for family in library.families() {
        let kind = if Family::is_memory(family) { "memory" } else { "resource" };
        let freed_by: Vec<&str> =
            library.deallocators(&family.name).iter().map(|(m, _)| m.name.as_str()).collect();
        let line = format!("{:width$}  {kind:8}  {}", family.name, freed_by.join(", "));
        writeln!(text, "{}", line.trim_end())?;
    }
    Ok(text)
}

fn show(library: &Library, names: &[String]) -> Result<String> {
    let mut text = String::new();
    for name in names {
        let Some(model) = library.get(name) else {
            bail!("no model of `{name}`{}", did_you_mean(library.closest(name)));
        };
        writeln!(text, "# {}:{}", model.file, model.line)?;
        writeln!(text, "{model}")?;
    }
    Ok(text)
}

fn did_you_mean(name: Option<&str>) -> String {
    name.map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default()
}

fn check(paths: &[PathBuf]) -> Result<String> {
    let library = load_files(paths)?;
    let mut text = String::new();
    for path in paths {
        let path = path.display().to_string();
        let count = library.iter().filter(|m| m.file == path).count();
        writeln!(text, "{path}: {count} models, no mistakes")?;
    }
    Ok(text)
}
