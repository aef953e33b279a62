//! Which findings count, as `check` takes it from the command line and the configuration.

use crate::config::Config;
use crate::ui::{Ui, count};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use leakproof_findings::{Evidence, Report, Sources};
use leakproof_triage::{Baseline, Change, Policy};
use std::path::{Path, PathBuf};

const BASELINE: &str = "leakproof-baseline.json";

#[derive(Debug, Args)]
pub struct TriageArgs {
    /// Report only leaks that are not in this baseline
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all leaks of this run to the baseline (default: leakproof-baseline.json)
    #[arg(long, conflicts_with = "diff")]
    update_baseline: bool,
    /// Report only leaks that the changes since this git revision touch
    #[arg(long, value_name = "REV")]
    diff: Option<String>,
    /// Report only leaks at least this sure [default: assumed]
    #[arg(long, value_enum, value_name = "EVIDENCE")]
    evidence: Option<EvidenceArg>,
    /// Exit with 0 even if leaks are found
    #[arg(long)]
    pub exit_zero: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EvidenceArg {
    Assumed,
    Feasible,
    Witnessed,
}

impl From<EvidenceArg> for Evidence {
    fn from(arg: EvidenceArg) -> Self {
        match arg {
            EvidenceArg::Assumed => Evidence::Assumed,
            EvidenceArg::Feasible => Evidence::Feasible,
            EvidenceArg::Witnessed => Evidence::Witnessed,
        }
    }
}

impl TriageArgs {
    /// Reads and checks all that can be wrong before the analysis starts.
    pub fn policy(&self, config: &Config, cwd: &Path, sources: &Sources) -> Result<Policy> {
        let evidence = self.evidence.map(Evidence::from).or(config.evidence);
        let change = self.diff.as_deref().map(|rev| Change::since(rev, cwd, sources)).transpose();
        Ok(Policy {
            rules: config.rules(cwd)?,
            baseline: self.read_baseline(config, cwd)?,
            change: change.context("--diff")?,
            evidence: evidence.unwrap_or_default(),
            files: Vec::new(),
        })
    }

    fn baseline_path(&self, config: &Config) -> Option<PathBuf> {
        let named = self.baseline.clone().or_else(|| config.baseline.clone());
        named.or_else(|| self.update_baseline.then(|| BASELINE.into()))
    }

    fn read_baseline(&self, config: &Config, cwd: &Path) -> Result<Option<(String, Baseline)>> {
        let Some(path) = self.baseline_path(config) else { return Ok(None) };
        let shown = path.strip_prefix(cwd).unwrap_or(&path).display().to_string();
        match std::fs::read(&path) {
            Ok(text) => {
                let baseline = Baseline::read(&text).with_context(|| shown.clone())?;
                Ok(Some((shown, baseline)))
            }
            // The first update has nothing to compare with.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && self.update_baseline => Ok(None),
            Err(e) => bail!("{shown}: {e}; `leakproof check --update-baseline` writes one"),
        }
    }

    /// Writes the baseline if asked to; then nothing counts as new any more.
    pub fn update(&self, report: &mut Report, config: &Config, ui: &Ui) -> Result<()> {
        let Some(path) = self.baseline_path(config).filter(|_| self.update_baseline) else {
            return Ok(());
        };
        let baseline = Baseline::of(report.leaks.iter().chain(&report.triage.known));
        leakproof_report::write_file(&path, baseline.write().as_bytes())?;
        ui.note(&format!(
            "{}: {}, {} added, {} removed",
            path.display(),
            count(baseline.len(), "leak"),
            report.leaks.len(),
            report.triage.fixed.len()
        ));
        report.triage.baseline = Some(path.display().to_string());
        report.triage.known.append(&mut report.leaks);
        Ok(())
    }
}
