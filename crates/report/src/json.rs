//! The JSON form: the contract types as they are, pretty-printed, and the way back in.

use leakproof_findings::{REPORT_VERSION, Report};

#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    #[error("not a leakproof report: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error(
        "report version {0} is not known to this leakproof (it reads version {REPORT_VERSION})"
    )]
    Version(u32),
}

/// The report as JSON text with a final newline.
pub fn json(report: &Report) -> String {
    // Serialising plain data with string keys into memory has no way to fail.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}

/// Reads a report that `json` wrote, by this version of the tool or an earlier one.
pub fn read_json(text: &[u8]) -> Result<Report, JsonError> {
    let report: Report = serde_json::from_slice(text)?;
    if report.version != REPORT_VERSION {
        return Err(JsonError::Version(report.version));
    }
    Ok(report)
}
