//! Leak candidates and findings: the analysis from a linked program to a report.
//!
//! Components of the call graph are analysed bottom-up, independent ones in parallel. Each
//! function yields its summary, and candidates that no simplification refuted (stage 1); each
//! candidate is one question to the solver (stage 2); an answer with a model becomes a finding.
//! Output does not depend on thread count or hash order.

mod apart;
mod audit;
mod bound;
mod component;
mod describe;
mod effort;
mod finding;
mod inner;
mod later_turns;
mod misuse;
mod named;
mod options;
mod pairs;
mod path;
mod recursion;
mod schedule;
mod second_look;
pub mod store;
mod watched;

pub use audit::{Judgement, Problem, ProblemKind, Scope, Watch};
pub use effort::{Effort, Meter, Stage};
pub use misuse::Also;
pub use options::Options;
pub use pairs::{Given, Pair, Releaser};
pub use store::Store;

use component::Outcome;
use leakproof_findings::{Finding, Kind, REPORT_VERSION, Report, Skipped, Stats};
use leakproof_models::Library;
use leakproof_program::{Andersen, CallGraph, FuncRef, Program};
use leakproof_summary::Summary;
use std::sync::Arc;
use store::{Circumstances, Reuse};

/// Finds the leaks of a program.
pub fn check(program: &Program, models: &Library, options: &Options) -> Report {
    examine(program, models, options, None).report
}

/// What every function that is called is believed to do, in the order of the call graph's components: callees first.
pub fn summaries(
    program: &Program,
    models: &Library,
    options: &Options,
) -> Vec<(FuncRef, Arc<Summary>)> {
    let points_to = Andersen::solve(program, models);
    let calls = CallGraph::build(program, &points_to, models);
    let (_, summaries) = schedule::run(program, &calls, models, options, None);
    let functions = calls.sccs().iter().flatten();
    functions.filter_map(|&f| Some((f, summaries.get(f)?))).collect()
}

/// The leaks of a program, and what `Options::watch` and `Options::pairs` asked for.
#[derive(Debug, Default)]
pub struct Examination {
    pub report: Report,
    pub judgements: Vec<Judgement>,
    pub pairs: Vec<Pair>,
    /// Functions of the program that release what they are given.
    pub releasers: Vec<Releaser>,
    pub effort: Effort,
    /// Another analysis of the same program would say the same: no limit of time was met.
    pub lasting: bool,
}

/// Finds the leaks of a program and judges its watched releases. What is in the store is not worked
/// out again, and what is worked out is kept there.
pub fn examine(
    program: &Program,
    models: &Library,
    options: &Options,
    store: Option<&Store>,
) -> Examination {
    let mut effort = Effort::default();
    let points_to = effort.stage("points-to", options.meter, || Andersen::solve(program, models));
    let calls =
        effort.stage("call graph", options.meter, || CallGraph::build(program, &points_to, models));
    let reuse = store.map(|store| {
        let circumstances = Circumstances { models, options };
        effort.stage("names", options.meter, || Reuse::new(program, store, &circumstances))
    });
    let (mut outcomes, _) = effort.stage("functions", options.meter, || {
        schedule::run(program, &calls, models, options, reuse.as_ref())
    });
    outcomes.iter().for_each(|o| effort.function(o));
    let lasting = outcomes.iter().all(|o| o.is_lasting(options));
    let judgements = outcomes.iter_mut().flat_map(|o| std::mem::take(&mut o.judgements)).collect();
    let judgements = audit::settle(program, &calls, judgements);
    let mut releasers: Vec<Releaser> =
        outcomes.iter_mut().filter_map(|o| o.releaser.take()).collect();
    releasers.sort();
    releasers.dedup();
    let pairs = outcomes.iter_mut().flat_map(|o| std::mem::take(&mut o.pairs)).collect();
    let report = report(program, outcomes, options);
    Examination { report, judgements, pairs, releasers, effort, lasting }
}

fn report(program: &Program, outcomes: Vec<Outcome>, options: &Options) -> Report {
    let mut stats = Stats { units: program.modules().len() as u64, ..Stats::default() };
    let mut leaks = Vec::new();
    for outcome in outcomes {
        stats.functions += u64::from(!outcome.again);
        stats.instructions += outcome.instructions;
        stats.objects += outcome.objects;
        stats.candidates += outcome.candidates;
        stats.infeasible += outcome.infeasible;
        stats.solver_queries += outcome.queries;
        stats.solver_timeouts += outcome.timeouts;
        if let Some(reason) = outcome.limited {
            stats.limited.push(Skipped { file: outcome.name, reason });
        }
        leaks.extend(outcome.findings);
    }
    stats.limited.sort();
    Report {
        version: REPORT_VERSION,
        leaks: one_per_cause(leaks, options.level),
        stats,
        ..Report::default()
    }
}

/// Sorts findings by place and keeps one per root cause, as the report level asks.
fn one_per_cause(mut leaks: Vec<Finding>, level: u8) -> Vec<Finding> {
    leaks.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)).then_with(|| better_first(a, b)));
    leaks.dedup();
    let mut seen = std::collections::HashSet::new();
    leaks.retain(|f| level == 0 || seen.insert(cause(f, level)));
    leaks
}

fn sort_key(f: &Finding) -> (&str, u32, u32, &str, u32, u32) {
    let (a, l) = (&f.alloc, &f.leak);
    (&a.file, a.line, a.column, &l.file, l.line, l.column)
}

/// Of two findings at the same place: the one seen with the shorter allocation trace and path.
fn better_first(a: &Finding, b: &Finding) -> std::cmp::Ordering {
    let key = |f: &Finding| (std::cmp::Reverse(f.evidence), f.alloc_trace.len(), f.path.len());
    key(a).cmp(&key(b)).then_with(|| {
        let text = |f: &Finding| (f.variable.clone(), f.condition.clone(), format!("{:?}", f.path));
        text(a).cmp(&text(b))
    })
}

/// What makes two findings the same cause: the allocation, and at level 1 the leak point. An
/// object lost in a function that did not allocate it is lost for whoever calls it: there the
/// leak point alone counts.
fn cause(f: &Finding, level: u8) -> (Kind, String, u32, u32, String, u32, u32) {
    let (a, l) = (&f.alloc, &f.leak);
    // Lost or forgotten, it is the same leak.
    let kind = if f.kind.is_leak() { Kind::Lost } else { f.kind };
    if a.function != f.function {
        return (kind, l.file.clone(), 0, 0, f.function.clone(), l.line, l.column);
    }
    let (line, column) = if level >= 2 { (0, 0) } else { (l.line, l.column) };
    (kind, a.file.clone(), a.line, a.column, f.function.clone(), line, column)
}
