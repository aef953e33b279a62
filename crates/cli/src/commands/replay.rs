//! `leakproof replay WITNESS`: runs a witness again.

use crate::output;
use crate::ui::Ui;
use anyhow::{Result, bail};
use clap::Args;
use leakproof_validate::NOTE_FILE;
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
    let (shown, text) = leakproof_validate::replay(&args.folder, None)?;
    output::write(None, &text)?;
    ui.note(if shown { "the leak shows" } else { "the leak does not show" });
    Ok(if shown { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
