//! The subcommands, one file each.

mod cache;
mod callgraph;
mod check;
mod completions;
mod doctor;
mod explain;
mod fix;
mod functions;
mod init;
mod ir;
mod man;
mod models;
mod replay;
mod report;
mod summaries;
mod validate;

use crate::args::Cli;
use crate::ui::Ui;
use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find leaks
    Check(check::CheckArgs),
    /// Run the program into its leaks: verdicts, and witnesses that anyone can run
    Validate(validate::ValidateArgs),
    /// Run a witness of `validate` again
    Replay(replay::ReplayArgs),
    /// Mend leaks with safe patches
    Fix(fix::FixArgs),
    /// Tell all about one leak of the last check
    Explain(explain::ExplainArgs),
    /// Show an earlier result in another form
    Report(report::ReportArgs),
    /// Write a commented leakproof.toml
    Init(init::InitArgs),
    /// Print the intermediate representation of one unit
    Ir(ir::IrArgs),
    /// Print whom every call of the program may call
    Callgraph(callgraph::CallGraphArgs),
    /// Print what the functions of the program are believed to do
    Summaries(summaries::SummariesArgs),
    /// Look at the models of library functions, or check files of your own
    Models(models::ModelsArgs),
    /// Say what leakproof found on this machine and what is wrong with it
    Doctor,
    /// Look at or clear the cache of compiled units
    Cache(cache::CacheArgs),
    /// Print completions for a shell
    Completions(completions::CompletionsArgs),
    /// Print the manual page
    Man(man::ManArgs),
}

/// Runs the subcommand.
pub fn run(cli: Cli) -> Result<ExitCode> {
    let ui = Ui::new(cli.quiet, cli.verbose);
    match cli.command {
        Command::Check(args) => check::run(&args, &ui),
        Command::Validate(args) => validate::run(&args, &ui),
        Command::Replay(args) => replay::run(&args, &ui),
        Command::Fix(args) => fix::run(&args, &ui),
        Command::Explain(args) => explain::run(&args),
        Command::Report(args) => report::run(&args, &ui),
        Command::Init(args) => init::run(&args, &ui),
        Command::Ir(args) => ir::run(&args, &ui),
        Command::Callgraph(args) => callgraph::run(&args, &ui),
        Command::Summaries(args) => summaries::run(&args, &ui),
        Command::Models(args) => models::run(&args),
        Command::Doctor => doctor::run(),
        Command::Cache(args) => cache::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
