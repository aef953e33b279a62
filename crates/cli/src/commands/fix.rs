//! `leakproof fix`: mend leaks, with patches that are proven not to change anything else.

mod apply;
mod ask;
mod witness;

use crate::analysis::AnalysisArgs;
use crate::commands::models::ModelFiles;
use crate::config::Config;
use crate::inputs::InputArgs;
use crate::output;
use crate::triaging::TriageArgs;
use crate::ui::{Ui, count};
use anyhow::Result;
use clap::{Args, ValueEnum};
use leakproof_detect::{Also, Store};
use leakproof_findings::{Applicability, Finding, Fix, Report, Sources};
use leakproof_fix::{FileChange, Outcome, Proposal, Workshop};
use leakproof_report::SarifOptions;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct FixArgs {
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    models: ModelFiles,
    #[command(flatten)]
    analysis: AnalysisArgs,
    #[command(flatten)]
    triage: TriageArgs,
    /// Only the finding with this id, or whose id starts so; may be repeated
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// Also propose fixes that are not proven safe, with what could not be proven
    #[arg(long)]
    suggested: bool,
    /// Change the files
    #[arg(long)]
    apply: bool,
    /// Show each fix and ask whether to apply it
    #[arg(long, conflicts_with = "apply")]
    ask: bool,
    /// Change files that have changes not committed to git, too
    #[arg(long)]
    force: bool,
    /// Run this command before and after applying; take the fixes back if it then fails
    #[arg(long, value_name = "COMMAND")]
    test: Option<String>,
    /// Folder with the witnesses of `leakproof validate`; those of mended findings are run again
    #[arg(long, value_name = "DIR", default_value = "leakproof-witnesses")]
    witnesses: PathBuf,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = Form::Diff)]
    format: Form,
    /// Write the result to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Configuration [default: leakproof.toml of this folder or of the nearest one above]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Unified diff, for `git apply` and `patch -p1`
    Diff,
    Json,
    /// The findings as SARIF, with `fixes`
    Sarif,
    /// Replacements for clang-apply-replacements
    Yaml,
}

pub fn run(args: &FixArgs, ui: &Ui) -> Result<ExitCode> {
    let root = std::env::current_dir()?;
    let sources = Sources::new(root.clone());
    let config = Config::load(args.config.as_deref(), &root)?;
    let models = args.models.load_after(&config.models)?;
    let mut options = args.analysis.options(&config, &models, args.inputs.unit.jobs)?;
    // Only leaks are mended; what a release may do besides is judged anyway.
    options.also = Also::default();
    let policy = args.triage.policy(&config, &root, &sources)?;
    let input = args.inputs.load(ui)?;
    let results = input.loaded.results;
    let store = results.as_ref().map(|results| Store::from_packs(results.packs()));
    let modules = input.loaded.modules;
    let mut workshop = Workshop::new(&input.project, modules, store, &models, &options)?;
    let mut examination = workshop.examine();
    // Before there are results about patched programs in it.
    if let Some(results) = &results {
        results.keep_packs(&workshop.store().changed());
    }
    leakproof_findings::finish(&mut examination.report, &sources);
    let mut report = examination.report.clone();
    leakproof_triage::apply(&mut report, &policy, &sources);
    for id in args.unknown(&report) {
        ui.note(&format!("no leak has an id that starts with `{id}`"));
    }
    report.leaks.retain(|f| args.is_wanted(f));
    let mut outcome =
        leakproof_fix::fix(&mut workshop, &examination, &report.leaks, &models, &sources);
    witness::replay(&mut outcome, &args.witnesses, &root)?;
    args.finish(&outcome, report, &Scene { root: &root, sources: &sources }, ui)
}

/// What output needs beside the result.
struct Scene<'a> {
    root: &'a Path,
    sources: &'a Sources,
}

impl FixArgs {
    fn is_wanted(&self, finding: &Finding) -> bool {
        self.only.is_empty() || self.only.iter().any(|id| finding.id.starts_with(id.as_str()))
    }

    /// The wanted ids that no finding has.
    fn unknown<'a>(&'a self, report: &Report) -> Vec<&'a str> {
        let known = |id: &&str| report.leaks.iter().any(|f| f.id.starts_with(*id));
        self.only.iter().map(String::as_str).filter(|id| !known(id)).collect()
    }

    fn finish(
        &self,
        outcome: &Outcome,
        report: Report,
        scene: &Scene<'_>,
        ui: &Ui,
    ) -> Result<ExitCode> {
        explain(outcome, self.suggested, ui);
        let wanted = |p: &Proposal| p.applicability == Applicability::Safe || self.suggested;
        let changes =
            if self.ask { ask::chosen(outcome, wanted)? } else { outcome.changes(wanted) };
        if self.apply || self.ask {
            apply::apply(&changes, scene.root, self.force, self.test.as_deref(), ui)?;
        }
        if !self.ask {
            self.write(outcome, &changes, report, scene)?;
        }
        let mended = outcome.proposals.iter().filter(|p| wanted(p)).count();
        let all = outcome.proposals.len() + outcome.refusals.len();
        let verb = if self.apply { "mended" } else { "can be mended" };
        ui.note(&format!("{} of {} {verb}", mended, count(all, "leak")));
        Ok(if mended == all { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }

    fn write(
        &self,
        outcome: &Outcome,
        changes: &[FileChange],
        mut report: Report,
        scene: &Scene<'_>,
    ) -> Result<()> {
        let text = match self.format {
            // An applied fix needs no diff.
            Form::Diff if self.apply && self.output.is_none() => return Ok(()),
            Form::Diff => return self.write_bytes(&leakproof_fix::unified(changes)),
            Form::Yaml => leakproof_fix::replacements(changes, scene.root),
            Form::Json => json(outcome),
            Form::Sarif => {
                attach(&mut report, outcome);
                let options =
                    SarifOptions { root: Some(scene.root.to_owned()), ..SarifOptions::default() };
                leakproof_report::sarif(&report, scene.sources, &options)
            }
        };
        output::write(self.output.as_deref(), &text)
    }

    /// Source text need not be UTF-8.
    fn write_bytes(&self, bytes: &[u8]) -> Result<()> {
        match &self.output {
            Some(path) => Ok(leakproof_report::write_file(path, bytes)?),
            None => Ok(std::io::stdout().lock().write_all(bytes)?),
        }
    }
}

/// Puts the fixes on the findings they mend.
fn attach(report: &mut Report, outcome: &Outcome) {
    for finding in &mut report.leaks {
        let proposal = outcome.proposals.iter().find(|p| p.finding.id == finding.id);
        finding.fix = proposal.map(|p| Fix {
            applicability: p.applicability,
            description: p.reason.clone(),
            edits: p.edits.clone(),
        });
    }
}

fn json(outcome: &Outcome) -> String {
    #[derive(Serialize)]
    struct All<'a> {
        version: u32,
        fixes: &'a [Proposal],
        refused: &'a [leakproof_fix::Refusal],
    }
    let all = All { version: 1, fixes: &outcome.proposals, refused: &outcome.refusals };
    let mut text = serde_json::to_string_pretty(&all).unwrap_or_default();
    text.push('\n');
    text
}

/// Says what was found out about each finding.
fn explain(outcome: &Outcome, suggested: bool, ui: &Ui) {
    for proposal in &outcome.proposals {
        let place = place(&proposal.finding);
        match proposal.applicability {
            Applicability::Safe => {
                let proven = proposal.certificate.proven.join("; ");
                ui.note(&format!("{place}: safe fix. {} Checked: {proven}.", proposal.reason));
            }
            Applicability::Suggested => {
                let open = proposal.certificate.open.join("; ");
                let hint = if suggested { "" } else { " (--suggested shows it)" };
                ui.note(&format!(
                    "{place}: suggested fix{hint}. {} Not proven: {open}.",
                    proposal.reason
                ));
            }
        }
    }
    for refusal in &outcome.refusals {
        ui.note(&format!("{}: no fix: {}", place(&refusal.finding), refusal.reason));
    }
}

fn place(finding: &Finding) -> String {
    let name = if finding.variable.is_empty() { "object" } else { &finding.variable };
    format!("{}:{}: {name} ({})", finding.leak.file, finding.leak.line, finding.id)
}
