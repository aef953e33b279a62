//! One program with each of a sample of its releases deleted in turn.

use super::filter::{Harmless, harmless};
use super::origin::{Origin, origin};
use super::sample::Sample;
use super::site::{self, Deallocators, Site};
use leakproof_detect::{Examination, Given, Options, Releaser, Store, examine};
use leakproof_findings::{Finding, Report};
use leakproof_ir::Module;
use leakproof_models::Library;
use leakproof_program::{Andersen, CallGraph, Effects, FuncRef, ObjectKind, PointsTo, Program};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// File, line and column of an allocation.
type Position = (String, u32, u32);

/// The result on one program.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    pub day: String,
    /// Releases in the program.
    pub releases: usize,
    /// Releases whose deletion need not leak, by reason.
    pub null: usize,
    pub process_ends: usize,
    pub still_referenced: usize,
    /// Releases of what is no heap object, and of objects that leak already.
    pub no_object: usize,
    pub leaking_already: usize,
    pub trials: Vec<Trial>,
}

/// One deleted release.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Trial {
    pub program: String,
    pub file: String,
    pub line: u32,
    pub function: String,
    pub callee: String,
    pub origin: Origin,
    pub found: bool,
    /// New findings that have nothing to do with the deleted release.
    pub elsewhere: Vec<String>,
}

/// A release with the allocations that it could release.
struct Target {
    site: Site,
    origin: Origin,
    objects: BTreeSet<Position>,
    /// It could also release objects that points-to sets do not name. Then a finding counts as about
    /// one of them when it is in one of these: the functions from which the release is reached.
    reached_from: Option<BTreeSet<String>>,
}

/// Deletes up to `count` releases of the program, one at a time.
pub fn run(name: &str, modules: Vec<Module>, models: &Library, count: usize) -> Outcome {
    let options = Options { pairs: true, ..Options::default() };
    let program = Program::link(modules);
    let store = Store::empty(program.modules().len());
    let before = examine(&program, models, &options, Some(&store));
    let deallocators = deallocators(models, &before);
    let mut outcome = Outcome::default();
    let targets = targets(&program, models, &deallocators, &before.report, &mut outcome);
    let chosen = Sample::new(name).choose(targets, count);
    let names: Vec<String> =
        chosen.iter().map(|t| program.function(t.site.function).source_name.clone()).collect();
    let mut bench = Bench { modules: program.into_modules(), store, models, options };
    for (target, function) in chosen.into_iter().zip(names) {
        let after = bench.without(&target.site);
        let mut trial = Trial {
            program: name.to_owned(),
            file: target.site.file.clone(),
            line: target.site.loc.line,
            function,
            callee: target.site.callee.clone(),
            origin: target.origin,
            ..Trial::default()
        };
        judge(&mut trial, &target, &before.report, &after);
        eprintln!(
            "{}:{}: {} of {}: {}",
            trial.file,
            trial.line,
            trial.callee,
            trial.function,
            if trial.found { "found" } else { "not found" }
        );
        outcome.trials.push(trial);
    }
    outcome
}

/// A release in the source whose deletion leaks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deletable {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
    pub callee: String,
}

/// The releases that `run` would delete.
pub fn deletable(
    name: &str,
    modules: Vec<Module>,
    models: &Library,
    count: usize,
) -> Vec<Deletable> {
    let options = Options { pairs: true, ..Options::default() };
    let program = Program::link(modules);
    let before = examine(&program, models, &options, None);
    let deallocators = deallocators(models, &before);
    let mut outcome = Outcome::default();
    let targets = targets(&program, models, &deallocators, &before.report, &mut outcome);
    let chosen = Sample::new(name).choose(targets, count);
    let mut list: Vec<Deletable> = chosen
        .into_iter()
        .map(|t| Deletable {
            file: t.site.file,
            line: t.site.loc.line,
            column: t.site.loc.column,
            function: program.function(t.site.function).source_name.clone(),
            callee: t.site.callee,
        })
        .collect();
    list.sort();
    list
}

/// The library's deallocators and those of the program: functions of one argument that release the
/// very object they are given. Others do more than releasing, and perhaps only sometimes.
fn deallocators(models: &Library, before: &Examination) -> Deallocators {
    let mut all = site::of_library(models);
    let own = |r: &&Releaser| !r.library && r.params == 1 && r.given == Given::Pointer;
    for releaser in before.releasers.iter().filter(own) {
        all.entry(releaser.name.clone()).or_insert(releaser.arg);
    }
    all
}

/// The releases whose deletion leaks.
fn targets(
    program: &Program,
    models: &Library,
    deallocators: &Deallocators,
    report: &Report,
    outcome: &mut Outcome,
) -> Vec<Target> {
    let points_to = Andersen::solve(program, models);
    let calls = CallGraph::build(program, &points_to, models);
    let effects = Effects::new(program, &points_to, &calls, models);
    let mut targets = Vec::new();
    for site in site::find(program, deallocators) {
        outcome.releases += 1;
        match harmless(program, &site, deallocators) {
            Some(Harmless::Null) => outcome.null += 1,
            Some(Harmless::ProcessEnds) => outcome.process_ends += 1,
            Some(Harmless::StillReferenced) => outcome.still_referenced += 1,
            None => {
                let target = target(program, &points_to, &calls, &effects, site);
                if target.objects.is_empty() && target.reached_from.is_none() {
                    outcome.no_object += 1;
                } else if leaks_already(program, report, &target) {
                    outcome.leaking_already += 1;
                } else {
                    targets.push(target);
                }
            }
        }
    }
    targets
}

fn target(
    program: &Program,
    points_to: &Andersen,
    calls: &CallGraph,
    effects: &Effects<'_>,
    site: Site,
) -> Target {
    let sets: Vec<_> =
        site.calls.iter().map(|(_, c)| effects.of_call(site.function, *c).freed).collect();
    let open = sets.iter().any(|set| set.unknown || set.anything);
    let reached_from = open.then(|| callers(program, calls, site.function));
    let freed: BTreeSet<_> = sets.into_iter().flat_map(|set| set.objects).collect();
    let position = |object| match points_to.object(object) {
        ObjectKind::Heap { func, call } => {
            let inst = program.function(func).body.as_ref()?.insts.get(call)?;
            let file = program.module(func.module).file_name(inst.loc).to_owned();
            Some((file, inst.loc.line, inst.loc.column))
        }
        _ => None,
    };
    let objects = freed.into_iter().filter_map(position).collect();
    let function = program.function(site.function);
    let body = function.body.as_ref();
    let origins = body.iter().flat_map(|b| site.pointers(b).map(|v| origin(function, b, v)));
    let origin = origins.min().unwrap_or_default();
    Target { site, origin, objects, reached_from }
}

/// The names of a function and of everything from which it is called, over any number of steps.
fn callers(program: &Program, calls: &CallGraph, f: FuncRef) -> BTreeSet<String> {
    let mut seen = BTreeSet::from([f]);
    let mut work = vec![f];
    while let Some(callee) = work.pop() {
        work.extend(calls.callers_of(callee).iter().copied().filter(|c| seen.insert(*c)));
    }
    seen.into_iter().map(|f| program.function(f).source_name.clone()).collect()
}

/// Whether the function that releases is known to leak such an object on another path.
fn leaks_already(program: &Program, report: &Report, target: &Target) -> bool {
    let function = &program.function(target.site.function).source_name;
    report.leaks.iter().any(|l| l.function == *function && is_named(l, target))
}

/// Whether a finding is about an allocation that points-to sets name.
fn is_named(finding: &Finding, target: &Target) -> bool {
    let mut sites = finding.alloc_trace.iter().chain([&finding.alloc]);
    sites.any(|s| target.objects.contains(&(s.file.clone(), s.line, s.column)))
}

/// Whether a finding is about an object that the release could release.
fn concerns(finding: &Finding, target: &Target) -> bool {
    let reached = target.reached_from.as_ref();
    is_named(finding, target) || reached.is_some_and(|from| from.contains(&finding.function))
}

fn judge(trial: &mut Trial, target: &Target, before: &Report, after: &Report) {
    let known: BTreeSet<_> = before.leaks.iter().map(key).collect();
    for finding in after.leaks.iter().filter(|f| !known.contains(&key(f))) {
        if concerns(finding, target) || finding.function == trial.function {
            trial.found = true;
        } else {
            let Finding { alloc, leak, function, .. } = finding;
            trial.elsewhere.push(format!(
                "{}:{} lost in {function} at {}:{}",
                alloc.file, alloc.line, leak.file, leak.line
            ));
        }
    }
}

/// What tells two findings apart.
fn key(finding: &Finding) -> (Position, Position, String) {
    let Finding { alloc, leak, function, .. } = finding;
    let alloc = (alloc.file.clone(), alloc.line, alloc.column);
    (alloc, (leak.file.clone(), leak.line, leak.column), function.clone())
}

/// The program, and what its analysis found out.
struct Bench<'m> {
    modules: Vec<Module>,
    store: Store,
    models: &'m Library,
    options: Options,
}

impl Bench<'_> {
    /// The findings once a release is gone. Functions that do not depend on it are not run again.
    fn without(&mut self, site: &Site) -> Report {
        let index = site.function.module as usize;
        let Some(module) = self.modules.get_mut(index) else { return Report::default() };
        let original = module.clone();
        site.delete(module);
        let program = Program::link(std::mem::take(&mut self.modules));
        let options = Options { pairs: false, ..self.options.clone() };
        let after = examine(&program, self.models, &options, Some(&self.store));
        self.modules = program.into_modules();
        if let Some(module) = self.modules.get_mut(index) {
            *module = original;
        }
        after.report
    }
}
