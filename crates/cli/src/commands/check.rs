//! `leakproof check`: find leaks and report them.

use crate::analysis::AnalysisArgs;
use crate::cached::{self, Analysed};
use crate::commands::models::ModelFiles;
use crate::config::Config;
use crate::inputs::{InputArgs, prepare_project};
use crate::last_result;
use crate::rendering::{Format, RenderArgs, Scene};
use crate::stats::StatsTable;
use crate::triaging::TriageArgs;
use crate::ui::Ui;
use anyhow::Result;
use clap::Args;
use leakproof_findings::Sources;
use leakproof_frontend::{Project, SourceKind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    models: ModelFiles,
    #[command(flatten)]
    analysis: AnalysisArgs,
    #[command(flatten)]
    triage: TriageArgs,
    #[command(flatten)]
    render: RenderArgs,
    /// Configuration [default: leakproof.toml of this folder or of the nearest one above]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print times and memory on standard error at the end
    #[arg(long)]
    stats: bool,
}

pub fn run(args: &CheckArgs, ui: &Ui) -> Result<ExitCode> {
    let start = Instant::now();
    let root = std::env::current_dir()?;
    let sources = Sources::new(root.clone());
    let config = Config::load(args.config.as_deref(), &root)?;
    let models = args.models.load_after(&config.models)?;
    let options = args.analysis.options(&config, &models, args.inputs.unit.jobs)?;
    let mut policy = args.triage.policy(&config, &root, &sources)?;
    let project = args.inputs.discover(ui)?;
    policy.files = unit_files(&project);
    let prepared = prepare_project(&project, &args.inputs.unit, ui)?;
    let Analysed { mut report, effort, timings, skipped } =
        cached::analyse(prepared, &models, &options, ui)?;
    if args.render.format != Format::Text {
        ui.skipped(&skipped);
    }
    leakproof_findings::finish(&mut report, &sources);
    leakproof_triage::apply(&mut report, &policy, &sources);
    args.triage.update(&mut report, &config, ui)?;
    let elapsed = Some(start.elapsed());
    args.render.write(&report, &Scene { sources: &sources, root: &root, elapsed }, ui)?;
    if !args.inputs.unit.no_cache {
        last_result::keep(&report, &root);
    }
    if args.stats {
        eprint!("{}", StatsTable { wall: start.elapsed(), frontend: timings, effort: &effort });
    }
    let clean = report.leaks.is_empty() || args.triage.exit_zero;
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The source files of all units, as findings name them.
fn unit_files(project: &Project) -> Vec<String> {
    let name = |path: PathBuf| {
        let path = path.strip_prefix(&project.cwd).map_or(path.clone(), Into::into);
        path.to_string_lossy().into_owned()
    };
    let sources = project.units.iter().filter(|u| u.kind != SourceKind::Llvm);
    sources.map(|unit| name(unit.path())).collect()
}
