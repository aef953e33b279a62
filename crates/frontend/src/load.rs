//! All units through clang and the lowering, in parallel, with the cache in front.
//!
//! Invariants: the result is in the order of the project whatever the number of workers; at most
//! `jobs` units are in flight, so memory is bounded by the results and `jobs` bitcode files; a unit
//! that fails is listed and the rest goes on.

use crate::cache::{Cache, Hash, Results, UnitKey};
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
    /// Where results about the modules are kept; `None` without a cache.
    pub results: Option<Results>,
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
    prepare(project, options, progress)?.load()
}

/// Compiles what the cache does not have, and reads nothing from it.
pub fn prepare<'p>(
    project: &'p Project,
    options: &LoadOptions,
    progress: &dyn Progress,
) -> Result<Prepared<'p>, FrontendError> {
    let start = Instant::now();
    let loader = Loader::new(project, options)?;
    progress.start(project.units.len());
    let jobs = options.jobs;
    let results = loader.each(jobs, |index| loader.unit(&project.units[index], progress));
    progress.finish();
    let mut prepared =
        Prepared { loader, jobs, results, skipped: Vec::new(), timings: Timings::default() };
    prepared.tally();
    prepared.timings.wall = start.elapsed();
    if is_interrupted() { Err(FrontendError::Interrupted) } else { Ok(prepared) }
}

/// A project of which every unit is compiled, or known to the cache.
pub struct Prepared<'p> {
    loader: Loader<'p>,
    jobs: usize,
    results: Vec<Option<UnitResult>>,
    pub skipped: Vec<(String, String)>,
    pub timings: Timings,
}

impl Prepared<'_> {
    fn tally(&mut self) {
        self.skipped = self.loader.project.skipped.clone();
        for (unit, result) in self.loader.project.units.iter().zip(&self.results) {
            let Some(UnitResult { outcome, timings }) = result else { continue };
            self.timings.add(*timings);
            if let Err(reason) = outcome {
                self.skipped.push((self.loader.project.name(unit), reason.clone()));
            }
        }
    }

    /// How many units there are modules of.
    pub fn units(&self) -> usize {
        self.results.iter().flatten().filter(|r| r.outcome.is_ok()).count()
    }

    /// The hashes of all modules in their order; `None` when one has none.
    pub fn contents(&self) -> Option<Vec<Hash>> {
        let good = self.results.iter().flatten().filter_map(|r| r.outcome.as_ref().ok());
        good.map(Found::content).collect()
    }

    /// The report that was kept under this key.
    pub fn report(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.loader.cache.as_ref()?.report(key)
    }

    /// All modules.
    pub fn load(self) -> Result<Loaded, FrontendError> {
        let start = Instant::now();
        let Self { loader, jobs, results, skipped, mut timings } = self;
        let slots: Vec<Mutex<Option<UnitResult>>> = results.into_iter().map(Mutex::new).collect();
        let modules = loader.each(jobs, |index| {
            let slot = slots[index].lock().unwrap_or_else(PoisonError::into_inner).take();
            loader.fetch(&loader.project.units[index], slot)
        });
        if is_interrupted() {
            return Err(FrontendError::Interrupted);
        }
        let mut loaded = Loaded { skipped, ..Loaded::default() };
        let mut keys = Vec::new();
        for (unit, fetched) in loader.project.units.iter().zip(modules.into_iter().flatten()) {
            timings.add(fetched.timings);
            match fetched.module {
                Some(Ok(module)) => {
                    loaded.modules.push(module);
                    keys.extend(fetched.key);
                }
                Some(Err(reason)) => loaded.skipped.push((loader.project.name(unit), reason)),
                None => {}
            }
        }
        if let Some(cache) = &loader.cache {
            cache.trim();
        }
        timings.wall += start.elapsed();
        loaded.timings = timings;
        loaded.results = loader.cache.map(|cache| Results::new(cache, keys));
        Ok(loaded)
    }
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
    outcome: Result<Found, String>,
    timings: Timings,
}

/// Where a unit's module is.
enum Found {
    /// In the cache.
    Kept(Hash),
    /// Here, with its hash if there is a cache.
    Ready(Box<Module>, Option<Hash>),
}

impl Found {
    fn content(&self) -> Option<Hash> {
        match self {
            Found::Kept(content) => Some(*content),
            Found::Ready(_, content) => *content,
        }
    }
}

/// A module that was read.
struct Fetched {
    /// `None`: the unit was left out before.
    module: Option<Result<Module, String>>,
    key: Option<UnitKey>,
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

    /// What `work` gives for each unit, several at once.
    fn each<T: Send>(&self, jobs: usize, work: impl Fn(usize) -> T + Sync) -> Vec<Option<T>> {
        let count = self.project.units.len();
        let next = AtomicUsize::new(0);
        let results = Mutex::new((0..count).map(|_| None).collect::<Vec<_>>());
        std::thread::scope(|scope| {
            for _ in 0..worker_count(jobs, count) {
                scope.spawn(|| {
                    while let Some(index) = take(&next, count) {
                        let result = work(index);
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
        let outcome = self.guarded(|| self.find(unit, &name, &mut timings));
        let skipped = outcome.as_ref().err().map(String::as_str);
        progress.unit_done(UnitDone { name: &name, from_cache: timings.cached > 0, skipped });
        UnitResult { outcome, timings }
    }

    /// A bug in the lowering of one unit must not take the others along.
    fn guarded<T>(&self, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|_| Err("internal error while lowering; please report it".into()))
    }

    fn key(&self, unit: &Unit) -> Option<UnitKey> {
        self.cache.as_ref().map(|_| UnitKey::new(&self.clang, unit, &self.project.cwd))
    }

    fn find(&self, unit: &Unit, name: &str, timings: &mut Timings) -> Result<Found, String> {
        if let (Some(cache), Some(key)) = (&self.cache, self.key(unit))
            && let Some(content) = timed(&mut timings.cache, || cache.lookup(&key))
        {
            timings.cached = 1;
            return Ok(Found::Kept(content));
        }
        let (module, content) = self.compile(unit, name, timings)?;
        Ok(Found::Ready(Box::new(module), content))
    }

    fn compile(
        &self,
        unit: &Unit,
        name: &str,
        timings: &mut Timings,
    ) -> Result<(Module, Option<Hash>), String> {
        let started = SystemTime::now();
        let compiled = timed(&mut timings.clang, || self.compiler.compile(unit));
        let compiled = compiled.map_err(|failure| reason(unit, failure))?;
        timings.compiled = 1;
        let module = timed(&mut timings.lower, || self.lower(unit, name, &compiled))?;
        let (Some(cache), Some(key)) = (&self.cache, self.key(unit)) else {
            return Ok((module, None));
        };
        let files = &compiled.dependencies;
        let content = timed(&mut timings.cache, || cache.store(&key, files, started, &module));
        Ok((module, content))
    }

    /// The module of a unit that was found; made again when its entry does not check out.
    fn fetch(&self, unit: &Unit, result: Option<UnitResult>) -> Fetched {
        let mut timings = Timings::default();
        let module = match result.map(|r| r.outcome) {
            Some(Ok(Found::Ready(module, _))) => Some(Ok(*module)),
            Some(Ok(Found::Kept(content))) => {
                let kept = timed(&mut timings.cache, || self.cache.as_ref()?.module(&content));
                Some(kept.map_or_else(|| self.again(unit, &mut timings), Ok))
            }
            Some(Err(_)) | None => None,
        };
        Fetched { module, key: self.key(unit), timings }
    }

    fn again(&self, unit: &Unit, timings: &mut Timings) -> Result<Module, String> {
        let name = self.project.name(unit);
        self.guarded(|| Ok(self.compile(unit, &name, timings)?.0))
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

impl Timings {
    fn add(&mut self, other: Timings) {
        self.clang += other.clang;
        self.lower += other.lower;
        self.cache += other.cache;
        self.compiled += other.compiled;
        self.cached += other.cached;
    }
}
