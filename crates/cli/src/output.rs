//! Where results go: standard output, or a file that appears complete or not at all.

use anyhow::{Context, Result};
use std::io::Write;
use std::path::Path;

/// Writes `text` to `path`, or to standard output.
pub fn write(path: Option<&Path>, text: &str) -> Result<()> {
    match path {
        Some(path) => Ok(leakproof_report::write_file(path, text.as_bytes())?),
        None => {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("standard output")
        }
    }
}
