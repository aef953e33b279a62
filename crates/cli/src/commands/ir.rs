//! `leakproof ir FILE`: the text form of a unit.

use crate::inputs::{UnitArgs, load_file};
use crate::output;
use crate::ui::Ui;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct IrArgs {
    /// Source file (compiler flags may follow), .bc or .ll file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Folder with the compile_commands.json that has the file's flags
    #[arg(short = 'p', long = "build-dir", value_name = "BUILD_DIR")]
    build_dir: Option<PathBuf>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    #[command(flatten)]
    unit: UnitArgs,
}

pub fn run(args: &IrArgs, ui: &Ui) -> Result<ExitCode> {
    let input = load_file(&args.file, args.build_dir.as_deref(), &args.unit, ui)?;
    ui.skipped(&input.loaded.skipped);
    let texts: Vec<String> = input.loaded.modules.iter().map(leakproof_ir::print_module).collect();
    output::write(args.output.as_deref(), &texts.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}
