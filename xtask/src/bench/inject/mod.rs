//! `cargo xtask bench inject`: leaks made on purpose, one at a time, and how many of them are found.
//!
//! Per program: the analysis as `check` runs it; a seeded sample of the releases whose deletion leaks;
//! for each, the analysis of the program without it. `docs/benchmarks/inject.md` is made of the kept
//! results; `--list FILE` writes every trial, `--sample N` sets the size of the sample.

mod filter;
mod origin;
mod page;
mod sample;
mod site;
mod trial;

use super::measure::run_measured;
use super::selection::{Selection, Tree};
use super::{leakproof, machine, release_xtask, store};
use anyhow::{Context, Result, bail};
use leakproof_frontend::{LoadOptions, Project, Request, Silent, load};
use leakproof_models::Library;
use std::path::{Path, PathBuf};
use std::process::Command;
pub use trial::Deletable;
use trial::{Outcome, Trial};

const KIND: &str = "inject";
/// Releases deleted per program, unless `--sample` says otherwise.
const SAMPLE: usize = 30;

pub fn run(words: &[&str]) -> Result<()> {
    let selection = Selection::parse(words)?;
    if !selection.page_only {
        let xtask = release_xtask()?;
        for choice in selection.programs()? {
            if !selection.again && store::kept::<Outcome>(KIND, choice.name()).is_some() {
                continue;
            }
            eprintln!("{} ...", choice.name());
            let tree = choice.tree()?;
            let outcome = outcome(&xtask, &tree, selection.sample.unwrap_or(SAMPLE))?;
            store::keep(KIND, choice.name(), &outcome)?;
        }
    }
    let rows: Vec<(String, Outcome)> = store::all(KIND);
    page::write(&rows)?;
    if let Some(path) = &selection.list {
        let trials: Vec<&Trial> = rows.iter().flat_map(|(_, o)| &o.trials).collect();
        std::fs::write(path, serde_json::to_vec_pretty(&trials)?)?;
    }
    Ok(())
}

/// Runs the trials of a program in the optimised build of this one.
fn outcome(xtask: &Path, tree: &Tree, sample: usize) -> Result<Outcome> {
    let name = tree.name.as_str();
    let mut command = Command::new(xtask);
    command.current_dir(&tree.folder).args(["bench-inject", name, &sample.to_string()]);
    command.arg(leakproof::cache(tree));
    let (output, _) = run_measured(&mut command)?;
    if !output.status.success() {
        bail!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("the result of bench-inject")
}

/// The releases of a program whose deletion leaks: a sample.
pub fn deletable(tree: &Tree, sample: usize) -> Result<Vec<Deletable>> {
    let project = tree.project()?;
    let options = LoadOptions { jobs: 0, cache: Some(leakproof::cache(tree)) };
    let modules = load(&project, &options, &Silent)?.modules;
    Ok(trial::deletable(&tree.name, modules, Library::shipped(), sample))
}

/// `xtask bench-inject NAME SAMPLE CACHE`: the trials of the program in the current folder.
pub fn measure(words: &[&str]) -> Result<()> {
    let &[name, sample, cache] = words else {
        bail!("usage: xtask bench-inject NAME SAMPLE CACHE")
    };
    let request = Request {
        cwd: std::env::current_dir()?,
        paths: vec!["compile_commands.json".into()],
        ..Request::default()
    };
    let project = Project::discover(&request)?;
    let options = LoadOptions { jobs: 0, cache: Some(PathBuf::from(cache)) };
    let modules = load(&project, &options, &Silent)?.modules;
    let outcome = trial::run(name, modules, Library::shipped(), sample.parse()?);
    println!("{}", serde_json::to_string(&Outcome { day: machine::today(), ..outcome })?);
    Ok(())
}
