//! `leakproof man`: manual pages from the same definitions as the command line.

use crate::args::Cli;
use crate::output;
use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_mangen::Man;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write the pages of all commands into this folder instead of printing the first
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub fn run(args: &ManArgs) -> Result<ExitCode> {
    let mut command = Cli::command();
    command.build();
    match &args.dir {
        None => output::write(None, &page(&command)?)?,
        Some(dir) => {
            std::fs::create_dir_all(dir).map_err(|source| leakproof_report::OutputError::Io {
                path: dir.clone(),
                source,
            })?;
            let pages = command.get_subcommands().filter(|c| !c.is_hide_set());
            for command in std::iter::once(&command).chain(pages) {
                let name = command.get_display_name().unwrap_or(command.get_name());
                let path = dir.join(format!("{name}.1"));
                leakproof_report::write_file(&path, page(command)?.as_bytes())?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn page(command: &clap::Command) -> Result<String> {
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
