//! `leakproof completions SHELL`: completions from the same definitions as the command line.

use crate::args::Cli;
use crate::output;
use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell to write them for
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(args: &CompletionsArgs) -> Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "leakproof", &mut text);
    output::write(None, &String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}
