//! Runs the binary on one case and reads its JSON report.

use super::discover::Case;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What the comparison needs of a finding.
#[derive(Clone, Debug)]
pub struct Found {
    pub kind: String,
    pub function: String,
    pub variable: String,
    pub evidence: String,
    pub alloc: (String, u32),
    pub leak: (String, u32),
}

impl Found {
    pub fn describe(&self) -> String {
        let Found { kind, function, variable, evidence, alloc, leak } = self;
        format!(
            "{}:{}: {kind} `{variable}` in {function}, allocated at {}:{} ({evidence})",
            leak.0, leak.1, alloc.0, alloc.1
        )
    }
}

pub fn findings(binary: &Path, root: &Path, case: &Case) -> Result<Vec<Found>, String> {
    let output = Command::new(binary)
        .current_dir(root)
        .args(["check", "--format", "json", "--no-cache", "-q"])
        .args(&case.options)
        .args(&case.sources)
        .output()
        .map_err(|e| format!("{}: {e}", binary.display()))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(format!("{}: {}", output.status, errors.trim()));
    }
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
    if let Some(skipped) = report["skipped"].as_array().and_then(|s| s.first()) {
        return Err(format!("unit skipped: {skipped}"));
    }
    if let Some(error) = internal_error(&report) {
        return Err(error);
    }
    let leaks = report["leaks"].as_array().ok_or("the report has no `leaks`")?;
    Ok(leaks.iter().map(found).collect())
}

/// A function that an error of ours skipped, in whole or in part.
fn internal_error(report: &Value) -> Option<String> {
    let limited = report["stats"]["limited"].as_array()?;
    let reason = |l: &&Value| l["reason"].as_str().is_some_and(|r| r.contains("internal error"));
    limited.iter().find(reason).map(|l| format!("{}: {}", l["file"], l["reason"]))
}

fn found(leak: &Value) -> Found {
    let text = |v: &Value| v.as_str().unwrap_or("").to_owned();
    let place = |v: &Value| {
        let line = v["line"].as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        (text(&v["file"]), line)
    };
    Found {
        kind: text(&leak["kind"]),
        function: text(&leak["function"]),
        variable: text(&leak["variable"]),
        evidence: text(&leak["evidence"]),
        alloc: place(&leak["alloc"]),
        leak: place(&leak["leak"]),
    }
}
