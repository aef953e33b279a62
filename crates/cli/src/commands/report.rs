//! `leakproof report FILE.json`: an earlier result in another form.

use crate::order::Order;
use crate::rendering::{RenderArgs, Scene, read_report};
use crate::ui::Ui;
use anyhow::Result;
use clap::Args;
use leakproof_findings::Sources;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Result of `leakproof check --format json`
    #[arg(value_name = "FILE.json")]
    file: PathBuf,
    /// Folder that `check` was started in, to find the source files [default: this one]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Order of findings with verdicts: what to fix first, or what to look at first [default: as in the file]
    #[arg(long, value_enum)]
    sort: Option<Order>,
    #[command(flatten)]
    render: RenderArgs,
}

pub fn run(args: &ReportArgs, ui: &Ui) -> Result<ExitCode> {
    let mut report = read_report(&args.file)?;
    if let Some(order) = args.sort {
        order.sort(&mut report);
    }
    let mut root = std::env::current_dir()?;
    if let Some(named) = &args.root {
        root.push(named);
    }
    let sources = Sources::new(root.clone()).with_stamps(&report.sources);
    args.render.write(&report, &Scene { sources: &sources, root: &root, elapsed: None }, ui)?;
    Ok(ExitCode::SUCCESS)
}
