//! All units through clang and the lowering, in parallel, with the cache in front.
//!
//! Invariants: the result is in the order of the project whatever the number of workers; at most
//! `jobs` units are in flight, so memory is bounded by the results and `jobs` bitcode files; a unit
//! that fails is listed and the rest goes on.

use crate::cache::{Cache, UnitKey};
use crate::cancel::is_interrupted;
use crate::clang::Clang;
use crate::compile::{CompileFailure, Compiled, Compiler};
use crate::error::FrontendError;
use crate::lower::lower_bitcode;
use crate::paths::PathStyle;
use crate::progress::{Progress, UnitDone};
use crate::project::Project;
use crate::unit::{SourceKind, Unit};
use leakproof_ir::Module;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How to load.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Units in flight at once; 0 is one per core.
    pub jobs: usize,
    /// Where lowered units are kept; `None` keeps none.
    pub cache: Option<PathBuf>,
}

/// What loading a project gave.
#[derive(Debug, Default)]
pub struct Loaded {
    /// One per unit that was lowered, in the project's order.
    pub modules: Vec<Module>,
    /// Units that were left out, as the user would name them, and why; in the project's order.
    pub skipped: Vec<(String, String)>,
    pub timings: Timings,
}

/// Where the time went; summed over workers where it says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    pub wall: Duration,
    /// Waiting for clang, all workers.
    pub clang: Duration,
    /// Lowering bitcode, all workers.
    pub lower: Duration,
    /// Looking up, reading and writing the cache, all workers.
    pub cache: Duration,
    /// Units that clang compiled.
    pub compiled: usize,
    /// Units that came from the cache.
    pub cached: usize,
}

/// Loads every unit of the project.
pub fn load(
    project: &Project,
    options: &LoadOptions,
    progress: &dyn Progress,
) -> Result<Loaded, FrontendError> {
    let start = Instant::now();
    let loader = Loader::new(project, options)?;
    progress.start(project.units.len());
    let results = loader.run(options.jobs, progress);
    progress.finish();
    if is_interrupted() {
        return Err(FrontendError::Interrupted);
    }
    if let Some(cache) = &loader.cache {
        cache.trim();
    }
    let mut loaded = gather(project, results);
    loaded.timings.wall = start.elapsed();
    Ok(loaded)
}

/// The number of workers for `jobs` asked for.
pub fn worker_count(jobs: usize, units: usize) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = if jobs == 0 { cores() } else { jobs };
    jobs.min(units).max(1)
}

struct Loader<'a> {
    project: &'a Project,
    clang: Clang,
    compiler: Compiler,
    cache: Option<Cache>,
}

/// The outcome for one unit.
struct UnitResult {
    outcome: Result<Module, String>,
    timings: Timings,
}

impl<'a> Loader<'a> {
    fn new(project: &'a Project, options: &LoadOptions) -> Result<Self, FrontendError> {
        let clang = Clang::locate()?;
        let cache = options.cache.clone().map(Cache::open);
        let known = cache.as_ref().is_some_and(|c| c.knows_clang(&clang));
        if !known {
            let version = clang.version()?;
            if let Some(cache) = &cache {
                cache.remember_clang(&clang, &version);
            }
        }
        Ok(Self { project, compiler: Compiler::new(clang.clone()), clang, cache })
    }

    fn run(&self, jobs: usize, progress: &dyn Progress) -> Vec<Option<UnitResult>> {
        let units = &self.project.units;
        let next = AtomicUsize::new(0);
        let results = Mutex::new(units.iter().map(|_| None).collect::<Vec<_>>());
        std::thread::scope(|scope| {
            for _ in 0..worker_count(jobs, units.len()) {
                scope.spawn(|| {
                    while let Some(index) = take(&next, units.len()) {
                        let result = self.unit(&units[index], progress);
                        results.lock().unwrap_or_else(PoisonError::into_inner)[index] =
                            Some(result);
                    }
                });
            }
        });
        results.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn unit(&self, unit: &Unit, progress: &dyn Progress) -> UnitResult {
        let mut timings = Timings::default();
        let name = self.project.name(unit);
        // A bug in the lowering of one unit must not take the others along.
        let outcome = catch_unwind(AssertUnwindSafe(|| self.module(unit, &name, &mut timings)))
            .unwrap_or_else(|_| Err("internal error while lowering; please report it".into()));
        let skipped = outcome.as_ref().err().map(String::as_str);
        progress.unit_done(UnitDone { name: &name, from_cache: timings.cached > 0, skipped });
        UnitResult { outcome, timings }
    }

    fn module(&self, unit: &Unit, name: &str, timings: &mut Timings) -> Result<Module, String> {
        let key = self.cache.as_ref().map(|_| UnitKey::new(&self.clang, unit, &self.project.cwd));
        if let (Some(cache), Some(key)) = (&self.cache, &key) {
            let found = timed(&mut timings.cache, || cache.lookup(key));
            if let Some(module) = found {
                timings.cached = 1;
                return Ok(module);
            }
        }
        let started = SystemTime::now();
        let compiled = timed(&mut timings.clang, || self.compiler.compile(unit));
        let compiled = compiled.map_err(|failure| reason(unit, failure))?;
        timings.compiled = 1;
        let module = timed(&mut timings.lower, || self.lower(unit, name, &compiled))?;
        if let (Some(cache), Some(key)) = (&self.cache, &key) {
            let files = &compiled.dependencies;
            timed(&mut timings.cache, || cache.store(key, files, started, &module));
        }
        Ok(module)
    }

    fn lower(&self, unit: &Unit, name: &str, compiled: &Compiled) -> Result<Module, String> {
        let style = PathStyle { cwd: self.project.cwd.clone(), comp_dir: unit.directory.clone() };
        let module = lower_bitcode(&compiled.bitcode, name, &style).map_err(|e| e.to_string())?;
        if cfg!(debug_assertions) {
            leakproof_ir::verify(&module).map_err(|errors| {
                let first = errors.first().map(ToString::to_string).unwrap_or_default();
                format!("internal error: the lowered unit is malformed: {first}")
            })?;
        }
        Ok(module)
    }
}

fn take(next: &AtomicUsize, len: usize) -> Option<usize> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    (index < len && !is_interrupted()).then_some(index)
}

fn timed<T>(total: &mut Duration, f: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = f();
    *total += start.elapsed();
    result
}

/// Why a unit is skipped, in one line.
fn reason(unit: &Unit, failure: CompileFailure) -> String {
    match failure {
        CompileFailure::Rejected(line) | CompileFailure::Clang(line)
            if unit.kind == SourceKind::Llvm =>
        {
            let line = line.rsplit("error: ").next().unwrap_or(&line);
            format!(
                "not LLVM code that can be read ({line}); make it again with clang -g -emit-llvm -c"
            )
        }
        CompileFailure::Rejected(line) | CompileFailure::Clang(line) => line,
        CompileFailure::Interrupted => "interrupted".into(),
    }
}

fn gather(project: &Project, results: Vec<Option<UnitResult>>) -> Loaded {
    let mut loaded = Loaded { skipped: project.skipped.clone(), ..Loaded::default() };
    for (unit, result) in project.units.iter().zip(results) {
        let Some(UnitResult { outcome, timings }) = result else { continue };
        loaded.timings.add(timings);
        match outcome {
            Ok(module) => loaded.modules.push(module),
            Err(reason) => loaded.skipped.push((project.name(unit), reason)),
        }
    }
    loaded
}

impl Timings {
    fn add(&mut self, other: Timings) {
        self.clang += other.clang;
        self.lower += other.lower;
        self.cache += other.cache;
        self.compiled += other.compiled;
        self.cached += other.cached;
    }
}
