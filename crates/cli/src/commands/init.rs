//! `leakproof init`: a commented configuration to start from.

use crate::config::{FILE_NAME, TEMPLATE};
use crate::ui::Ui;
use anyhow::{Result, bail};
use clap::Args;
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct InitArgs {
    /// Replace the configuration that is there
    #[arg(long)]
    force: bool,
}

pub fn run(args: &InitArgs, ui: &Ui) -> Result<ExitCode> {
    let path = Path::new(FILE_NAME);
    if !args.force && path.symlink_metadata().is_ok() {
        bail!("{FILE_NAME} exists: --force replaces it");
    }
    leakproof_report::write_file(path, TEMPLATE.as_bytes())?;
    ui.note(&format!("wrote {FILE_NAME}"));
    Ok(ExitCode::SUCCESS)
}
