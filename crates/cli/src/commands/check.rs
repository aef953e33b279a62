//! `leakproof check`: find leaks and report them.

use crate::inputs::{Input, InputArgs};
use crate::output;
use crate::ui::Ui;
use anyhow::Result;
use clap::{Args, ValueEnum};
use leakproof_findings::{Report, Skipped, Sources};
use leakproof_frontend::usage::Usage;
use leakproof_report::{SarifOptions, TextOptions};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    inputs: InputArgs,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write the result to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Print times and memory on standard error at the end
    #[arg(long)]
    stats: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Sarif,
}

pub fn run(args: &CheckArgs, ui: &Ui) -> Result<ExitCode> {
    let start = Instant::now();
    let input = args.inputs.load(ui)?;
    if args.format != Format::Text {
        ui.skipped(&input.loaded);
    }
    let timings = input.loaded.timings;
    let root = input.project.cwd.clone();
    let report = analyse(input);
    let text = render(args, ui, &report, root, start);
    output::write(args.output.as_deref(), &text)?;
    if args.stats {
        eprintln!(
            "stats: wall {:.2} s; waiting for clang {:.2} s, lowering {:.2} s, cache {:.2} s; {}",
            start.elapsed().as_secs_f64(),
            timings.clang.as_secs_f64(),
            timings.lower.as_secs_f64(),
            timings.cache.as_secs_f64(),
            Usage::now()
        );
    }
    Ok(if report.leaks.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// From modules to findings.
fn analyse(input: Input) -> Report {
    let program = leakproof_program::Program::link(input.loaded.modules);
    let options = leakproof_detect::Options::default();
    let mut report =
        leakproof_detect::check(&program, leakproof_models::Library::shipped(), &options);
    for (file, reason) in input.loaded.skipped {
        report.skipped.push(Skipped { file, reason });
    }
    report
}

fn render(args: &CheckArgs, ui: &Ui, report: &Report, root: PathBuf, start: Instant) -> String {
    let sources = Sources::new(root.clone());
    match args.format {
        Format::Json => leakproof_report::json(report),
        Format::Sarif => leakproof_report::sarif(
            report,
            &sources,
            &SarifOptions { root: Some(root), ..SarifOptions::default() },
        ),
        Format::Text => {
            let terminal = args.output.is_none() && std::io::stdout().is_terminal();
            let options = TextOptions {
                color: terminal && std::env::var_os("NO_COLOR").is_none(),
                elapsed: Some(start.elapsed()),
                quiet: ui.is_quiet(),
                verbose: ui.is_verbose(),
                ..TextOptions::default()
            };
            leakproof_report::text(report, &sources, options)
        }
    }
}
