//! `leakproof check`: find leaks and report them.

use crate::analysis::AnalysisArgs;
use crate::commands::models::ModelFiles;
use crate::config::Config;
use crate::inputs::{Input, InputArgs};
use crate::last_result;
use crate::rendering::{Format, RenderArgs, Scene};
use crate::stats::StatsTable;
use crate::triaging::TriageArgs;
use crate::ui::Ui;
use anyhow::Result;
use clap::Args;
use leakproof_detect::{Effort, Options};
use leakproof_findings::{Report, Skipped, Sources};
use leakproof_frontend::SourceKind;
use leakproof_models::Library;
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
    let input = args.inputs.load(ui)?;
    if args.render.format != Format::Text {
        ui.skipped(&input.loaded);
    }
    let timings = input.loaded.timings;
    policy.files = unit_files(&input);
    let (mut report, effort) = analyse(input, &models, &options);
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

/// From modules to findings.
fn analyse(input: Input, models: &Library, options: &Options) -> (Report, Effort) {
    let start = Instant::now();
    let program = leakproof_program::Program::link(input.loaded.modules);
    let linking = start.elapsed();
    let (examination, _) = leakproof_detect::examine(&program, models, options, None);
    let (mut report, mut effort) = (examination.report, examination.effort);
    effort.stages.insert(0, ("linking", linking));
    for leak in &mut report.leaks {
        leak.resource = !models.is_memory(&leak.family);
    }
    for (file, reason) in input.loaded.skipped {
        report.skipped.push(Skipped { file, reason });
    }
    (report, effort)
}

/// The source files of all units, as findings name them.
fn unit_files(input: &Input) -> Vec<String> {
    let name = |path: PathBuf| {
        let path = path.strip_prefix(&input.project.cwd).map_or(path.clone(), Into::into);
        path.to_string_lossy().into_owned()
    };
    let sources = input.project.units.iter().filter(|u| u.kind != SourceKind::Llvm);
    sources.map(|unit| name(unit.path())).collect()
}
