//! `leakproof explain ID`: one finding with all there is to say about it.

use crate::last_result;
use crate::output;
use crate::rendering::{ColorArgs, read_report};
use anyhow::{Result, bail};
use clap::Args;
use leakproof_findings::{Finding, Report, Sources};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Id of a finding, or the start of one
    #[arg(value_name = "ID")]
    id: String,
    /// Result to look in [default: that of the last `check` in this folder]
    #[arg(long, value_name = "FILE.json")]
    from: Option<PathBuf>,
    #[command(flatten)]
    color: ColorArgs,
}

pub fn run(args: &ExplainArgs) -> Result<ExitCode> {
    let folder = std::env::current_dir()?;
    let report = match &args.from {
        Some(file) => read_report(file)?,
        None => last_result::find(&folder)?,
    };
    let finding = find(&report, &args.id)?;
    let sources = Sources::new(folder).with_stamps(&report.sources);
    let text = leakproof_report::explain(finding, &sources, args.color.wanted(false));
    output::write(None, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// The one finding whose id starts so, whatever its standing.
fn find<'a>(report: &'a Report, id: &str) -> Result<&'a Finding> {
    let triage = &report.triage;
    let suppressed = triage.suppressed.iter().map(|s| &s.finding);
    let all = report.leaks.iter().chain(&triage.known).chain(suppressed);
    let matching: Vec<&Finding> =
        all.filter(|f| !id.is_empty() && f.id.starts_with(&id.to_ascii_lowercase())).collect();
    match matching.as_slice() {
        [one] => Ok(one),
        [] => bail!(
            "no finding has the id `{id}`: it may have been fixed, or was not in the last result"
        ),
        [first, ..] => match matching.iter().find(|f| f.id == id) {
            Some(exact) => Ok(exact),
            None => bail!(
                "{} findings have ids that start with `{id}`, the first is {}",
                matching.len(),
                first.id
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(ids: &[&str]) -> Report {
        let finding = |id: &&str| Finding { id: (*id).to_owned(), ..Finding::default() };
        Report { leaks: ids.iter().map(finding).collect(), ..Report::default() }
    }

    #[test]
    fn ids_may_be_shortened() {
        let report = report(&["abcd", "abff", "ab"]);
        assert_eq!(find(&report, "abc").unwrap().id, "abcd");
        assert_eq!(find(&report, "ab").unwrap().id, "ab");
        assert!(find(&report, "a").unwrap_err().to_string().contains("3 findings"));
        assert!(find(&report, "x").is_err() && find(&report, "").is_err());
    }
}
