//! `leakproof replay WITNESS`: runs a witness again.

use crate::output;
use crate::ui::Ui;
use anyhow::{Result, bail};
use clap::Args;
use leakproof_validate::{NOTE_FILE, Shown};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// Folder of a witness that `validate` wrote
    #[arg(value_name = "WITNESS")]
    folder: PathBuf,
}

pub fn run(args: &ReplayArgs, ui: &Ui) -> Result<ExitCode> {
    if !args.folder.join(NOTE_FILE).is_file() {
        bail!("{}: is no witness; `leakproof validate` writes some", args.folder.display());
    }
    let replayed = leakproof_validate::replay(&args.folder, None)?;
    output::write(None, &replayed.report)?;
    match replayed.shown {
        Shown::Yes => {
            ui.note("the leak shows");
            Ok(ExitCode::from(1))
        }
        Shown::No => {
            ui.note("the leak does not show");
            Ok(ExitCode::SUCCESS)
        }
        Shown::DoesNotBuild => {
            bail!("{}: does not build: {}", args.folder.display(), replayed.complaint)
        }
    }
}
