//! `leakproof validate`: run the program into its warnings, and say what came of it.

mod grouping;
mod seeds;
mod units;
mod verdicts;

use crate::analysis::AnalysisArgs;
use crate::cached;
use crate::commands::models::ModelFiles;
use crate::config::Config;
use crate::inputs::{Input, InputArgs};
use crate::last_result;
use crate::order::Order;
use crate::rendering::{Format, RenderArgs, Scene, read_report};
use crate::ui::{Ui, UnitProgress};
use anyhow::{Context, Result, bail};
use clap::Args;
use leakproof_findings::{Report, Sources, Verdict};
use leakproof_frontend::clang::Clang;
use leakproof_frontend::{Progress, UnitDone, worker_count};
use leakproof_ir::Module;
use leakproof_validate::{
    Options, RunOptions, SearchOptions, Spot, Tools, Unplaced, ValidateError, Validator, Warning,
    find_instrumenter,
};
use seeds::SeedArgs;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use verdicts::Judged;

#[derive(Debug, Args)]
pub struct ValidateArgs {
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    models: ModelFiles,
    #[command(flatten)]
    analysis: AnalysisArgs,
    #[command(flatten)]
    seeds: SeedArgs,
    /// Only the finding with this id, or whose id starts so; may be repeated
    #[arg(long, value_name = "ID")]
    id: Vec<String>,
    /// Warnings of an earlier `check --format json`, or of another tool (SARIF, Infer's JSON),
    /// instead of a fresh check
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// A warning by hand: alloc=FILE:LINE,leak=FILE:LINE[,branch=FILE:LINE:T|F]...
    #[arg(long, value_name = "WARNING")]
    warning: Vec<Warning>,
    /// The program to run, by the file with its `main`, when there are several
    #[arg(long, value_name = "FILE")]
    program: Option<String>,
    /// Libraries and other flags for linking, as in `--link-flags='-lm -lz'`
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, default_value = "")]
    link_flags: String,
    /// Seconds for each warning
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    budget: u64,
    /// Seconds for all warnings together
    #[arg(long, value_name = "SECONDS")]
    total_budget: Option<u64>,
    /// Do not make calls fail
    #[arg(long)]
    no_faults: bool,
    /// Folder for the witnesses
    #[arg(long, value_name = "DIR", default_value = "leakproof-witnesses")]
    witnesses: PathBuf,
    /// Order of the results: what to fix first, or what to look at first
    #[arg(long, value_enum, default_value_t = Order::Fix)]
    sort: Order,
    #[command(flatten)]
    render: RenderArgs,
    /// Configuration [default: leakproof.toml of this folder or of the nearest one above]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// The report that verdicts go into, the warnings in its order, and the project's modules.
type Warnings = (Report, Vec<Warning>, Vec<Module>);

pub fn run(args: &ValidateArgs, ui: &Ui) -> Result<ExitCode> {
    let root = std::env::current_dir()?;
    let tools = tools(args.inputs.unit.jobs)?;
    let input = args.inputs.load(ui)?;
    let units = units::sources(&input);
    let (mut report, warnings, modules) = args.warnings(input, &root, ui)?;
    if warnings.is_empty() {
        ui.note("no warnings to validate");
    }
    let flags = seeds::split(&args.link_flags)?;
    let project =
        grouping::Project { units: &units, modules: &modules, flags: &flags, root: &root };
    let (groups, mut judged) = project.group(&warnings, args.program.as_deref())?;
    let end = args.total_budget.map(|t| Instant::now() + Duration::from_secs(t));
    let progress = ui.progress();
    progress.start(groups.iter().map(|g| g.members.len()).sum());
    for grouping::Group { program, members } in groups {
        let list: Vec<Warning> = members.iter().map(|i| warnings[*i].clone()).collect();
        ui.note(&format!("instrumenting {}", grouping::described(&program)));
        match Validator::new(&program, &list, &tools, args.options()) {
            Ok(validator) => {
                let libraries = validator.found_libraries();
                if !libraries.is_empty() {
                    let flags = libraries.join(OsStr::new(" "));
                    let flags = flags.to_string_lossy();
                    ui.note(&format!("no link step says with what: linked with {flags}"));
                }
                judged.extend(args.judge(&validator, &list, &members, end, &progress)?)
            }
            // The others may still be validated.
            Err(error) if error.is_of_program() && members.len() < warnings.len() => {
                judged.extend(verdicts::rejected(&members, &error));
            }
            Err(error) => return Err(error.into()),
        }
    }
    progress.finish();
    judged.sort_by_key(|j| j.warning);
    args.finish(&mut report, &warnings, judged, &root, ui)
}

/// The tools that building needs; the instrumenter lies beside us.
fn tools(jobs: usize) -> Result<Tools> {
    let clang = Clang::locate()?;
    let instrumenter = find_instrumenter().ok_or(ValidateError::NoInstrumenter)?;
    Ok(Tools { clang, instrumenter, jobs: worker_count(jobs, usize::MAX) })
}

impl ValidateArgs {
    fn options(&self) -> Options {
        let budget = Duration::from_secs(self.budget);
        Options {
            run: RunOptions { faults: !self.no_faults, ..RunOptions::default() },
            search: SearchOptions { budget, faults: !self.no_faults, ..SearchOptions::default() },
        }
    }

    /// The report that verdicts go into, and the warnings in its order.
    fn warnings(&self, input: Input, root: &Path, ui: &Ui) -> Result<Warnings> {
        let mut warnings: Vec<Warning> =
            self.warning.iter().map(|w| w.clone().resolved(root)).collect();
        if let Some(file) = self.from.as_deref().filter(|f| !is_own_report(f)) {
            let text = std::fs::read(file).with_context(|| file.display().to_string())?;
            let foreign = leakproof_validate::read_foreign(&text)
                .with_context(|| file.display().to_string())?;
            foreign.notes.iter().for_each(|n| ui.warn(n));
            warnings.extend(foreign.warnings.into_iter().map(|w| w.resolved(root)));
            warnings.extend(foreign.unplaced.iter().filter_map(|u| placed(u, root, ui)));
        }
        if !warnings.is_empty()
            || (self.from.is_some() && !self.from.as_deref().is_some_and(is_own_report))
        {
            verdicts::tell_apart(&mut warnings);
            warnings.retain(|w| self.is_wanted(&w.name));
            if warnings.is_empty() && !self.id.is_empty() {
                bail!("no warning has such an id");
            }
            let mut report = Report { version: 1, ..Report::default() };
            report.leaks = warnings.iter().map(|w| verdicts::as_finding(w, root)).collect();
            return Ok((report, warnings, input.loaded.modules));
        }
        let (mut report, modules) = match &self.from {
            Some(file) => (read_report(file)?, input.loaded.modules),
            None => self.check(input, root)?,
        };
        report.leaks.retain(|f| self.is_wanted(&f.id));
        if report.leaks.is_empty() && !self.id.is_empty() {
            bail!("no finding has such an id: it may have been fixed");
        }
        let list = report.leaks.iter().map(|f| Warning::from_finding(f, root)).collect();
        Ok((report, list, modules))
    }

    /// Whether the user asked for this id, or for none in particular.
    fn is_wanted(&self, id: &str) -> bool {
        self.id.is_empty() || self.id.iter().any(|w| id.starts_with(w.as_str()))
    }

    fn check(&self, input: Input, root: &Path) -> Result<(Report, Vec<Module>)> {
        let sources = Sources::new(root.to_owned());
        let config = Config::load(self.config.as_deref(), root)?;
        let models = self.models.load_after(&config.models)?;
        let options = self.analysis.options(&config, &models, self.inputs.unit.jobs)?;
        let program = leakproof_program::Program::link(input.loaded.modules);
        let results = input.loaded.results.as_ref();
        let mut report = cached::examine(&program, &models, &options, results).report;
        leakproof_findings::finish(&mut report, &sources);
        Ok((report, program.into_modules()))
    }

    /// Every warning in turn, several at once.
    fn judge(
        &self,
        validator: &Validator,
        warnings: &[Warning],
        numbers: &[usize],
        end: Option<Instant>,
        progress: &UnitProgress,
    ) -> Result<Vec<Judged>> {
        let seeds = self.seeds.inputs(validator.is_harnessed())?;
        let next = std::sync::atomic::AtomicUsize::new(0);
        let done = std::sync::Mutex::new(Vec::new());
        let jobs = worker_count(self.inputs.unit.jobs, warnings.len());
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    loop {
                        let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(warning) = warnings.get(i) else { break };
                        let left = end.map(|e| e.saturating_duration_since(Instant::now()));
                        let result =
                            verdicts::judge(validator, warning, &seeds, &self.witnesses, left);
                        let name = &verdicts::line(warning, &result);
                        progress.unit_done(UnitDone { name, from_cache: false, skipped: None });
                        let numbered = result.map(|j| Judged { warning: numbers[i], result: j });
                        if let Ok(mut list) = done.lock() {
                            list.push(numbered);
                        }
                    }
                });
            }
        });
        let list = done.into_inner().unwrap_or_default();
        Ok(list.into_iter().collect::<Result<Vec<_>, ValidateError>>()?)
    }

    fn finish(
        &self,
        report: &mut Report,
        warnings: &[Warning],
        judged: Vec<Judged>,
        root: &Path,
        ui: &Ui,
    ) -> Result<ExitCode> {
        verdicts::merge(report, &judged);
        if self.warning.is_empty()
            && self.from.is_none()
            && !self.inputs.unit.no_cache
            && self.id.is_empty()
        {
            last_result::keep(report, root);
        }
        self.sort.sort(report);
        let must = report.leaks.iter().any(|f| f.verdict == Some(Verdict::MustLeak));
        let sources = Sources::new(root.to_owned());
        let scene = Scene { sources: &sources, root, elapsed: None };
        if self.render.format == Format::Text {
            self.render.write_others(report, &scene, ui)?;
            let text = verdicts::text(warnings, &judged, self.sort, root);
            crate::output::write(self.render.output.as_deref(), &text)?;
        } else {
            self.render.write(report, &scene, ui)?;
        }
        Ok(if must { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }
}

/// A leak of a variable as a warning: the source says where the variable got its value.
fn placed(unplaced: &Unplaced, root: &Path, ui: &Ui) -> Option<Warning> {
    let leak = &unplaced.leak;
    let text = std::fs::read(root.join(&leak.file)).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = leakproof_validate::assigned_at(&text, &unplaced.variable, leak.line);
    let Some(line) = line else {
        let place = format!("{}:{}", leak.file.display(), leak.line);
        ui.warn(&format!("{place}: no call above it gives `{}` its value", unplaced.variable));
        return None;
    };
    let allocation = Spot { line, ..leak.clone() };
    Some(Warning::between(allocation, leak.clone()).resolved(root))
}

/// Whether a file is a report of our own.
fn is_own_report(path: &Path) -> bool {
    read_report(path).is_ok()
}
