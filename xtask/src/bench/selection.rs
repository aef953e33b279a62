//! What a benchmark is told on the command line: programs by name, trees that are configured
//! already, and a few switches.

use super::projects::BenchProject;
use super::recipes;
use super::{root, target_folder};
use anyhow::{Context, Result, bail};
use leakproof_frontend::{Project, Request};
use std::path::PathBuf;
use std::process::Command;

/// A program to measure: a folder with a compile database.
#[derive(Clone, Debug)]
pub struct Tree {
    pub name: String,
    pub folder: PathBuf,
}

impl Tree {
    /// The tree's units.
    pub fn project(&self) -> Result<Project> {
        let request = Request {
            cwd: self.folder.clone(),
            paths: vec!["compile_commands.json".into()],
            ..Request::default()
        };
        Ok(Project::discover(&request)?)
    }
}

/// The command line of the benchmarks that take programs by name.
#[derive(Default)]
pub struct Selection {
    names: Vec<String>,
    given: Vec<Tree>,
    binary: Option<PathBuf>,
    /// Measure again what is kept from an earlier run.
    pub again: bool,
    /// Only make the page of what is kept.
    pub page_only: bool,
    /// The peers to run, by name; of others only kept results count.
    tools: Option<Vec<String>>,
    /// Name what is counted.
    pub verbose: bool,
    /// How much to sample of each program.
    pub sample: Option<usize>,
    /// Where a list for other programs goes.
    pub list: Option<PathBuf>,
}

impl Selection {
    pub fn parse(words: &[&str]) -> Result<Self> {
        let mut selection = Self::default();
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match word {
                "--tree" => selection.given.push(given_tree(value()?)?),
                "--binary" => selection.binary = Some(absolute(value()?)?),
                "--list" => selection.list = Some(PathBuf::from(value()?)),
                "--sample" => selection.sample = Some(value()?.parse()?),
                "--again" => selection.again = true,
                "--peers" => selection.tools = Some(names(value()?)),
                "-v" => selection.verbose = true,
                "--page" => selection.page_only = true,
                _ if word.starts_with('-') => bail!("unknown option {word}"),
                _ => selection.names.push(word.to_owned()),
            }
        }
        Ok(selection)
    }

    /// The programs in the order asked for. Given trees alone mean: only these. What is not given
    /// is fetched and configured when its turn comes.
    pub fn programs(&self) -> Result<Vec<Choice<'_>>> {
        self.programs_or(recipes::all())
    }

    /// The same, with other programs when nothing is asked for.
    pub fn programs_or(
        &self,
        usual: impl Iterator<Item = &'static BenchProject>,
    ) -> Result<Vec<Choice<'_>>> {
        if self.names.is_empty() && self.given.is_empty() {
            return Ok(usual.map(Choice::Known).collect());
        }
        let unknown = self.names.iter().find(|n| !recipes::known().any(|p| p.name == **n));
        if let Some(name) = unknown {
            let known: Vec<_> = recipes::known().map(|p| p.name).collect();
            bail!("no program {name}; there are: {}", known.join(", "));
        }
        let named = |p: &&'static BenchProject| self.names.iter().any(|n| n == p.name);
        let given = self.given.iter().map(Choice::Given);
        Ok(given.chain(recipes::known().filter(named).map(Choice::Known)).collect())
    }

    /// Whether a peer may be run for want of a kept result.
    pub fn runs(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|t| t == tool))
    }

    /// The leakproof to measure: the one named, or the release build of this tree.
    pub fn leakproof(&self) -> Result<PathBuf> {
        if let Some(path) = &self.binary {
            return Ok(path.clone());
        }
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(root()).args(["build", "--quiet", "--release", "--package", "leakproof"]);
        if !cargo.status()?.success() {
            bail!("the release build of leakproof failed");
        }
        Ok(target_folder().join("release/leakproof"))
    }
}

/// One program of a selection.
pub enum Choice<'a> {
    Given(&'a Tree),
    Known(&'static BenchProject),
}

impl Choice<'_> {
    pub fn name(&self) -> &str {
        match self {
            Self::Given(tree) => &tree.name,
            Self::Known(project) => project.name,
        }
    }

    /// The tree, fetched and configured when needed.
    pub fn tree(&self) -> Result<Tree> {
        match self {
            Self::Given(tree) => Ok((*tree).clone()),
            Self::Known(project) => {
                Ok(Tree { name: project.name.to_owned(), folder: project.prepare()? })
            }
        }
    }
}

/// `a,b`; `none` names nothing.
fn names(list: &str) -> Vec<String> {
    list.split(',').filter(|n| *n != "none").map(str::to_owned).collect()
}

fn given_tree(text: &str) -> Result<Tree> {
    let (name, folder) = text.split_once('=').context("--tree wants NAME=DIR")?;
    let folder = absolute(folder)?;
    if !folder.join("compile_commands.json").is_file() {
        bail!("{}: no compile_commands.json", folder.display());
    }
    Ok(Tree { name: name.to_owned(), folder })
}

fn absolute(path: &str) -> Result<PathBuf> {
    std::fs::canonicalize(path).with_context(|| path.to_owned())
}
