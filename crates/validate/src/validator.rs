//! One instrumented program and the warnings about it.

use crate::build::{Built, Tools, build};
use crate::confirmation::Confirmer;
use crate::error::ValidateError;
use crate::input::Input;
use crate::run::{RunOptions, Runner, scratch_folder, usual_folder};
use crate::samples::{self, Sample};
use crate::search::{Search, SearchOptions};
use crate::seeds;
use crate::source::Program;
use crate::target::{Rejection, Target, resolve};
use crate::verdict::Outcome;
use crate::warning::Warning;
use leakproof_frontend::cancel::Temporary;
use leakproof_rt::map::WatchedLine;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub run: RunOptions,
    pub search: SearchOptions,
}

pub struct Validator {
    built: Built,
    lines: Vec<WatchedLine>,
    options: Options,
    program: Program,
    samples: Vec<Sample>,
    compiler: PathBuf,
    /// Keeps the executable.
    _folder: Temporary,
    /// Keeps what witnesses build, so that the sources are compiled once for all of them.
    confirmation: Temporary,
    confirming: Mutex<()>,
}

impl Validator {
    /// Builds `program` with marks for all `warnings`.
    pub fn new(
        program: &Program,
        warnings: &[Warning],
        tools: &Tools,
        options: Options,
    ) -> Result<Self, ValidateError> {
        let folder = scratch_folder("build")?;
        let lines = watched(warnings);
        let built = build(program, &lines, tools, folder.path())?;
        let mut program = program.clone();
        program.link_flags.extend(built.libraries.iter().cloned());
        Ok(Self {
            built,
            lines,
            options,
            samples: samples::of_program(&program),
            program,
            compiler: tools.clang.path.clone(),
            _folder: folder,
            confirmation: usual_folder("confirm")?,
            confirming: Mutex::new(()),
        })
    }

    /// Whether the program is a harness of ours.
    pub fn is_harnessed(&self) -> bool {
        self.program.harness.is_some()
    }

    /// Libraries that the program was linked with although nothing says so.
    pub fn found_libraries(&self) -> &[OsString] {
        &self.built.libraries
    }

    /// What a warning means in the program.
    pub fn target(&self, warning: &Warning) -> Result<Target, Rejection> {
        resolve(&self.built.map, warning, |file, line| {
            let hit = |l: &&WatchedLine| Path::new(&l.file) == file && l.line == line;
            self.lines.iter().find(hit).map(|l| l.point)
        })
    }

    /// Processor time of one run on one input; for measuring.
    pub fn run_time(
        &self,
        warning: &Warning,
        input: &Input,
        options: RunOptions,
    ) -> Result<Duration, ValidateError> {
        let target = self.target(warning).map_err(|r| ValidateError::Program(r.to_string()))?;
        Ok(Runner::new(&self.built.executable, options)?.run(input, &target)?.time)
    }

    /// Searches for a run into the warning. Of a MUST-LEAK, `folder` is the witness then, and shows it. `left` is the
    /// time for it, by the clock, besides its budget.
    pub fn validate(
        &self,
        warning: &Warning,
        seeds: &[Input],
        folder: &Path,
        left: Option<Duration>,
    ) -> Result<Validated, ValidateError> {
        let target = match self.target(warning) {
            Ok(target) => target,
            Err(rejection) => return Ok(Err(rejection)),
        };
        let network = self.built.map.calls_any("socket");
        let options = RunOptions { network, ..self.options.run };
        let runner = Runner::new(&self.built.executable, options)?;
        let harness = self.program.harness.as_ref();
        let options = SearchOptions { harness: harness.is_some(), left, ..self.options.search };
        let search = Search::new(&self.built.map, &target, &runner, options);
        let (words, later) = match harness {
            Some(_) => (Vec::new(), Vec::new()),
            None => (
                seeds::of_words(&self.built.map, &target, seeds.first()),
                seeds::for_later(&self.built.map, &target, &self.samples, seeds.first()),
            ),
        };
        let confirmer = Confirmer {
            program: &self.program,
            warning,
            compiler: &self.compiler,
            folder,
            kept: self.confirmation.path(),
        };
        let mut outcome = search.run(seeds, &words, later, &mut |leak| {
            let _one_at_a_time = self.confirming.lock().unwrap_or_else(PoisonError::into_inner);
            confirmer.confirmation(leak)
        })?;
        if let Some(harness) = harness {
            outcome.reason =
                format!("{} (through a harness for `{}`)", outcome.reason, harness.function);
        }
        Ok(Ok(outcome))
    }
}

/// An outcome, or why the warning makes no sense.
pub type Validated = Result<Outcome, Rejection>;

fn watched(warnings: &[Warning]) -> Vec<WatchedLine> {
    let lines: BTreeSet<(String, u32)> = warnings
        .iter()
        .flat_map(Warning::lines)
        .map(|(file, line)| (file.to_string_lossy().into_owned(), line))
        .collect();
    let numbered = lines.into_iter().zip(1..);
    numbered.map(|((file, line), point)| WatchedLine { file, line, point }).collect()
}
