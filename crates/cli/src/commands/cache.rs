//! `leakproof cache info` and `leakproof cache clear`.

use crate::output;
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use leakproof_frontend::cache;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct CacheArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Say where the cache is and how much it holds
    Info,
    /// Remove everything from the cache
    Clear,
}

pub fn run(args: &CacheArgs) -> Result<ExitCode> {
    let dir = cache::default_dir()
        .context("there is no cache folder: set LEAKPROOF_CACHE_DIR, XDG_CACHE_HOME or HOME")?;
    let text = match args.action {
        Action::Info => {
            let usage = cache::usage(&dir);
            format!(
                "{}: {} units, results of {}, {}\n",
                dir.display(),
                usage.units,
                usage.analysed,
                mebibytes(usage.bytes)
            )
        }
        Action::Clear => {
            let usage = cache::clear(&dir).with_context(|| {
                format!("{}: cannot be cleared; check its permissions", dir.display())
            })?;
            format!(
                "{}: {} units removed, {}\n",
                dir.display(),
                usage.units,
                mebibytes(usage.bytes)
            )
        }
    };
    output::write(None, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
