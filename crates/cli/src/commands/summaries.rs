//! `leakproof summaries`: what the functions of a program are believed to do.
//!
//! A finding rests on the summaries of the functions that are called on its path; this shows them.

use crate::commands::functions::ChosenFunctions;
use crate::commands::models::ModelFiles;
use crate::inputs::InputArgs;
use crate::output;
use crate::ui::Ui;
use anyhow::Result;
use clap::Args;
use leakproof_detect::Options;
use leakproof_program::{FuncRef, Program};
use leakproof_summary::Names;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct SummariesArgs {
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    models: ModelFiles,
    #[command(flatten)]
    functions: ChosenFunctions,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

pub fn run(args: &SummariesArgs, ui: &Ui) -> Result<ExitCode> {
    let models = args.models.load()?;
    let input = args.inputs.load(ui)?;
    ui.skipped(&input.loaded.skipped);
    let program = Program::link(input.loaded.modules);
    let chosen: BTreeSet<FuncRef> = args.functions.of(&program)?.into_iter().collect();
    let names = Names {
        function: &|f| program.display_name(f).to_owned(),
        global: &|g| program.global(g).name.clone(),
    };
    let mut text = String::new();
    for (f, summary) in leakproof_detect::summaries(&program, &models, &Options::default()) {
        if chosen.contains(&f) {
            let name = program.display_name(f);
            let _ = writeln!(text, "{name}:\n{}", leakproof_summary::print(&summary, &names));
        }
    }
    output::write(args.output.as_deref(), &text)?;
    Ok(ExitCode::SUCCESS)
}
