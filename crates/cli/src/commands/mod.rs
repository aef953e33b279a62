//! The subcommands, one file each.

mod cache;
mod check;
mod doctor;
mod ir;

use crate::args::Cli;
use crate::ui::Ui;
use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find leaks
    Check(check::CheckArgs),
    /// Print the intermediate representation of one unit
    Ir(ir::IrArgs),
    /// Say what leakproof found on this machine and what is wrong with it
    Doctor,
    /// Look at or clear the cache of compiled units
    Cache(cache::CacheArgs),
}

/// Runs the subcommand.
pub fn run(cli: Cli) -> Result<ExitCode> {
    let ui = Ui::new(cli.quiet, cli.verbose);
    match cli.command {
        Command::Check(args) => check::run(&args, &ui),
        Command::Ir(args) => ir::run(&args, &ui),
        Command::Doctor => doctor::run(),
        Command::Cache(args) => cache::run(&args),
    }
}
