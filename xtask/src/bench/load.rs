//! `xtask bench-load DATABASE [CACHE]`: loads a project once in a process of its own and prints what
//! that cost, as JSON.

use anyhow::{Context, Result};
use leakproof_frontend::usage::Usage;
use leakproof_frontend::{LoadOptions, Project, Request, Silent, load};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What one load cost.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LoadCost {
    pub own_cpu: f64,
    pub children_cpu: f64,
    pub units: usize,
    pub functions: usize,
    pub instructions: usize,
    pub cached: usize,
    pub skipped: Vec<(String, String)>,
}

pub fn run(arguments: &[&str]) -> Result<()> {
    let database = arguments.first().context("usage: xtask bench-load DATABASE [CACHE]")?;
    let request = Request {
        cwd: std::env::current_dir()?,
        paths: vec![PathBuf::from(database)],
        ..Request::default()
    };
    let project = Project::discover(&request)?;
    let options = LoadOptions { jobs: 0, cache: arguments.get(1).map(PathBuf::from) };
    let loaded = load(&project, &options, &Silent)?;
    let usage = Usage::now();
    let bodies =
        || loaded.modules.iter().flat_map(|m| m.functions.values()).filter_map(|f| f.body.as_ref());
    let cost = LoadCost {
        own_cpu: usage.own_cpu,
        children_cpu: usage.children_cpu,
        units: loaded.modules.len(),
        functions: bodies().count(),
        instructions: bodies().map(|b| b.insts.len()).sum(),
        cached: loaded.timings.cached,
        skipped: loaded.skipped,
    };
    println!("{}", serde_json::to_string(&cost)?);
    Ok(())
}
