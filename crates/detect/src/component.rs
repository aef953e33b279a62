//! One component of the call graph: a function, or functions that call each other.
//!
//! Recursion is a fixpoint from below: in the first round a recursive call does not return, so
//! only base cases count; each later round knows the summaries of the one before. Leaks are asked
//! for in the last round, and in the first, too: what leaks without any recursion leaks for sure,
//! and what the deeper calls may have done does not stand in its way there. In the rounds between they are asked
//! for of what nothing ever referred to but values: nobody deeper can have released that.

use crate::Options;
use crate::apart::apart;
use crate::audit::{self, Judgement};
use crate::bound::{BoundRun, BoundRuns};
use crate::finding;
use crate::later_turns;
use crate::misuse;
use crate::pairs::{self, Pair, Releaser};
use crate::recursion::{callees_first, side_by_side};
use crate::schedule::Summaries;
use crate::second_look::{self, Asked};
use crate::store::{Id, Reuse};
use crate::watched::Watched;
use leakproof_findings::{Evidence, Finding};
use leakproof_guard::is_refuted;
use leakproof_ir::{Linkage, Loc};
use leakproof_models::Library;
use leakproof_program::{CallGraph, FuncRef, NeverNull, Program};
use leakproof_smt::{Answer, Session};
use leakproof_summary::{
    Audit, BoundCallee, Candidate, Context, Exec, Limit, Place, Planted, Summary,
};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Rounds of the fixpoint over a recursive component: without recursion, once, and once more.
const ROUNDS: usize = 3;

/// Rounds over a component of more members than `MANY`. Function pointers make such ones, a log handler for
/// instance: few calls in them recurse.
const ROUNDS_OF_MANY: usize = 2;
const MANY: usize = 12;

/// Components of more members than this get one round: a second one would cost more than all the rest of the program.
const HUGE: usize = 1500;
/// What questions about one allocation site in one function may cost, and all of the function. A question costs
/// one, and three more for each time that comparisons have to be asked about.
const MAX_COST_PER_SITE: u64 = 96;
const MAX_COST: u64 = 480;
const COST_OF_CHECK: u64 = 3;
/// Large functions may spend one more for every so many instructions.
const INSTRUCTIONS_PER_COST: u64 = 5;

/// What all components are given.
pub struct Env<'a> {
    pub program: &'a Program,
    pub calls: &'a CallGraph,
    pub models: &'a Library,
    pub never_null: &'a NeverNull,
    pub options: &'a Options,
    pub summaries: &'a Summaries,
    pub watched: &'a Watched,
    pub bound_runs: &'a BoundRuns,
    /// What earlier analyses found out.
    pub reuse: Option<&'a Reuse<'a>>,
}

type BoundSummary<'a> = dyn Fn(&BoundCallee) -> Option<Arc<Summary>> + Sync + 'a;
type SummaryOf<'a> = dyn Fn(FuncRef, FuncRef) -> Option<Arc<Summary>> + Sync + 'a;

impl<'a> Env<'a> {
    fn context(
        &self,
        summary_of: &'a SummaryOf<'a>,
        bound_summary: &'a BoundSummary<'a>,
        recursive: &'a FxHashSet<FuncRef>,
    ) -> Context<'a> {
        Context {
            program: self.program,
            calls: self.calls,
            models: self.models,
            never_null: self.never_null,
            summary_of,
            bound_summary,
            bound: None,
            recursive,
            budget: self.options.budget,
            inlining: None,
        }
    }

    fn bound_summary(&self, callee: &BoundCallee) -> Option<Arc<Summary>> {
        self.bound_runs.get(self, callee).map(|run| run.summary)
    }
}

/// What the analysis of one function gave.
#[derive(Default)]
pub struct Outcome {
    pub name: String,
    /// The function has an outcome already: this is from another run of it.
    pub again: bool,
    /// An earlier analysis gave it.
    pub reused: bool,
    /// An error of ours; another run may go better.
    pub failed: bool,
    pub findings: Vec<Finding>,
    /// What each of them was asked about.
    pub asked: Vec<Option<Asked>>,
    /// Whether bodies of callees had a say.
    pub looked_twice: bool,
    pub instructions: u64,
    pub objects: u64,
    pub candidates: u64,
    pub infeasible: u64,
    pub queries: u64,
    pub timeouts: u64,
    pub limited: Option<String>,
    /// Wall time of the function, and of the longest question to the solver.
    pub took: Duration,
    pub longest_question: Duration,
    pub judgements: Vec<Judgement>,
    pub pairs: Vec<Pair>,
    pub releaser: Option<Releaser>,
}

impl Outcome {
    /// Whether another run would give the same. The solver's limits count steps, except the last
    /// one: a question that came near it may be answered another time.
    pub fn is_lasting(&self, options: &Options) -> bool {
        let limit = Duration::from_millis(u64::from(options.solver.milliseconds));
        !self.failed && self.longest_question < limit
    }
}

/// A summary, and what stands for it in the keys of callers: `None` when it has no form that can be
/// kept.
#[derive(Clone)]
pub struct Known {
    pub summary: Arc<Summary>,
    pub hash: Option<Id>,
}

/// One round over a component.
#[derive(Default)]
pub struct Round {
    /// The component, when it is recursive.
    members: FxHashSet<FuncRef>,
    /// The order of its members.
    turns: FxHashMap<FuncRef, usize>,
    /// What this round gave, or the one before.
    known: FxHashMap<FuncRef, Known>,
    /// What the round before gave.
    before: FxHashMap<FuncRef, Known>,
    /// Findings are asked for of paths that do not recurse.
    first: bool,
    /// Findings are asked for of all paths.
    pub last: bool,
}

impl Round {
    /// A function that calls nobody but finished ones, or is itself finished.
    fn only() -> Self {
        Self { last: true, ..Self::default() }
    }

    /// Rounds over a function for what is bound, when the program's own summaries are there.
    pub fn bound(f: FuncRef, recursive: bool) -> Self {
        if !recursive {
            return Self::only();
        }
        Self { members: FxHashSet::from_iter([f]), first: true, ..Self::default() }
    }

    /// The next round knows what this one gave.
    pub fn found(&mut self, f: FuncRef, summary: Arc<Summary>) {
        self.before.insert(f, Known { summary, hash: None });
    }

    pub fn is_member(&self, f: FuncRef) -> bool {
        self.members.contains(&f)
    }

    /// The summary that a call in `caller` goes by. A function that the call graph does not expect
    /// there may or may not be finished: nothing is said about it.
    pub fn summary(&self, env: &Env<'_>, caller: FuncRef, f: FuncRef) -> Option<Arc<Summary>> {
        if env.calls.callees_of(caller).binary_search(&f).is_err() {
            return Some(Arc::new(Summary::opaque()));
        }
        match self.is_member(f) {
            true => {
                let known = self.known_in(caller, f).map(|k| k.summary.clone());
                known.or_else(|| self.unfinished())
            }
            false => env.summaries.get(f),
        }
    }

    /// What is known of a member when another one is run. Those whose turn comes later may be finished already, where
    /// there are threads for them: that does not count.
    fn known_in(&self, caller: FuncRef, f: FuncRef) -> Option<&Known> {
        let is_earlier = self.turns.get(&f) < self.turns.get(&caller);
        if is_earlier { self.known.get(&f) } else { self.before.get(&f) }
    }

    /// What is said of a member whose turn has not come: in the first of several rounds, that it does not return;
    /// in the only one, nothing.
    fn unfinished(&self) -> Option<Arc<Summary>> {
        (self.last && !self.first).then(|| Arc::new(Summary::opaque()))
    }

    /// What stands for the summary of a callee in keys; zero when there is none yet.
    pub fn hash(&self, env: &Env<'_>, caller: FuncRef, f: FuncRef) -> Option<Id> {
        match self.is_member(f) {
            true => self.known_in(caller, f).map_or(Some(Id::default()), |k| k.hash),
            false => env.summaries.hash(f),
        }
    }
}

/// Analyses a component and publishes its summaries.
pub fn analyse(env: &Env<'_>, scc: &[FuncRef]) -> Vec<Outcome> {
    let recursive = scc.len() > 1 || env.calls.callees_of(scc[0]).contains(&scc[0]);
    let members = if recursive { scc.iter().copied().collect() } else { FxHashSet::default() };
    let rounds = match scc.len() {
        _ if !recursive => 1,
        n if n > HUGE => 1,
        n if n > MANY => ROUNDS_OF_MANY,
        _ => ROUNDS,
    };
    let order = if recursive { callees_first(env.calls, scc) } else { scc.to_vec() };
    let groups = side_by_side(env.calls, &order);
    let turns = order.into_iter().enumerate().map(|(turn, f)| (f, turn)).collect();
    let mut round = Round { members, turns, ..Round::default() };
    let mut early: FxHashMap<FuncRef, Vec<Finding>> = FxHashMap::default();
    // Functions that were too large without recursion: they are not smaller with it.
    let mut too_large: FxHashSet<FuncRef> = FxHashSet::default();
    let mut outcomes = Vec::new();
    for number in 1..=rounds {
        round.last = number == rounds;
        round.first = number == 1 && !round.last;
        round.before = round.known.clone();
        for group in &groups {
            let runs = group.par_iter().filter(|f| round.last || !too_large.contains(f));
            let results: Vec<_> = runs.map(|&f| (f, known(env, &round, f))).collect();
            for (f, (known, mut outcome)) in results {
                if round.first && known.summary.opaque && outcome.limited.is_some() {
                    too_large.insert(f);
                }
                round.known.insert(f, known);
                if round.last {
                    add_early(&mut outcome.findings, early.remove(&f).unwrap_or_default());
                    outcomes.push((round.turns[&f], outcome));
                } else {
                    add_early(early.entry(f).or_default(), outcome.findings);
                }
            }
        }
    }
    outcomes.sort_by_key(|(turn, _)| *turn);
    for (f, known) in round.known {
        env.summaries.set(f, known);
    }
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Adds what earlier rounds found of allocations about which the later ones say nothing.
fn add_early(findings: &mut Vec<Finding>, early: Vec<Finding>) {
    let known = findings.len();
    for finding in early {
        if findings[..known].iter().all(|f| f.alloc != finding.alloc) {
            findings.push(finding);
        }
    }
}

/// One function in one round, with the judgement of its watched releases.
fn known(env: &Env<'_>, round: &Round, f: FuncRef) -> (Known, Outcome) {
    let start = Instant::now();
    let watched = round.last && !env.watched.concerning(env, f).is_empty();
    let judgements = if watched { judgements(env, round, f) } else { Vec::new() };
    let judged = start.elapsed();
    let (known, outcome) = known_plainly(env, round, f);
    let took = outcome.took + judged;
    (known, Outcome { judgements, took, ..outcome })
}

/// One function as it is when nobody asks about its releases: what an earlier analysis said, or a run. The log of a
/// judgement costs loops another turn, and so changes what callers are told: whether releases in a caller are harmless
/// must not depend on which of its callees are judged with it.
fn known_plainly(env: &Env<'_>, round: &Round, f: FuncRef) -> (Known, Outcome) {
    let key = env.reuse.and_then(|reuse| Some((reuse, reuse.key(env, round, f)?)));
    if let Some(found) = key.and_then(|(reuse, key)| reuse.fetch(env, round, f, &key)) {
        return found;
    }
    let (summary, outcome) = analyse_function(env, round, f);
    let key = key.map(|(_, key)| key);
    let hash = env.reuse.and_then(|reuse| reuse.keep(env, round, f, key, &summary, &outcome));
    (Known { summary: Arc::new(summary), hash }, outcome)
}

/// One more run of a finished function with these objects, if there are any.
pub fn run_with_planted(env: &Env<'_>, f: FuncRef, planted: Vec<Planted>) -> Option<Outcome> {
    if planted.is_empty() {
        return None;
    }
    let round = Round::only();
    let Some(reuse) = env.reuse else { return run_with(env, &round, f, planted) };
    let key = reuse.planted_key(env, &round, f, &planted);
    let known = key.and_then(|key| reuse.fetch_planted(env, &round, f, &planted, &key));
    known.or_else(|| {
        let outcome = run_with(env, &round, f, planted.clone())?;
        key.and_then(|key| reuse.keep_planted(env, &round, f, &planted, key, &outcome));
        Some(outcome)
    })
}

fn run_with(env: &Env<'_>, round: &Round, f: FuncRef, planted: Vec<Planted>) -> Option<Outcome> {
    let summary_of = |caller: FuncRef, g: FuncRef| round.summary(env, caller, g);
    let bound_summary = |callee: &BoundCallee| env.bound_summary(callee);
    let context = env.context(&summary_of, &bound_summary, &round.members);
    let work = || {
        let mut exec = Exec::new(&context, f)?;
        exec.planted = planted;
        exec.run();
        let name = env.program.function(f).source_name.clone();
        let mut outcome = Outcome { name, again: true, ..Outcome::default() };
        let candidates = exec.planted_candidates(keeps_locals(env, f));
        find_leaks(env, &mut exec, candidates, &mut outcome);
        Some(outcome)
    };
    catch_unwind(AssertUnwindSafe(work)).ok().flatten()
}

/// One more run of a function, for calls that give it known functions. `members`: its component, when that is recursive.
pub fn run_bound(
    env: &Env<'_>,
    round: &Round,
    callee: &BoundCallee,
    members: &FxHashSet<FuncRef>,
) -> Option<BoundRun> {
    let f = callee.function;
    // While the other members are not finished, who needs them cannot be run.
    let asked_for_others = AtomicBool::new(false);
    let summary_of = |caller: FuncRef, g: FuncRef| {
        asked_for_others.fetch_or(g != f && members.contains(&g), Ordering::Relaxed);
        round.summary(env, caller, g)
    };
    let bound_summary = |callee: &BoundCallee| env.bound_summary(callee);
    let context = env.context(&summary_of, &bound_summary, members);
    let context = Context { bound: Some(&callee.bound), ..context };
    let work = || {
        let mut exec = Exec::new(&context, f)?;
        let mut outcome = Outcome::default();
        exec.run();
        if exec.limit.is_some() || callee.inside && asked_for_others.load(Ordering::Relaxed) {
            return None;
        }
        ask_for_leaks(env, &context, round, f, &mut exec, &mut outcome);
        let mut summary = exec.summarise();
        summary.returns_deeper = round.last && !members.is_empty();
        let Outcome { findings, longest_question, .. } = outcome;
        Some(BoundRun { summary: Arc::new(summary), findings: findings.into(), longest_question })
    };
    catch_unwind(AssertUnwindSafe(work)).ok().flatten()
}

/// Runs one function in one round. A panic skips the function with a note.
fn analyse_function(env: &Env<'_>, round: &Round, f: FuncRef) -> (Summary, Outcome) {
    let summary_of = |caller: FuncRef, g: FuncRef| round.summary(env, caller, g);
    let bound_summary = |callee: &BoundCallee| env.bound_summary(callee);
    let context = env.context(&summary_of, &bound_summary, &round.members);
    let work = || run_function(env, &context, f, round);
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let outcome = Outcome {
            name: env.program.function(f).source_name.clone(),
            limited: Some("internal error: the function was skipped".to_owned()),
            failed: true,
            ..Outcome::default()
        };
        (Summary::opaque(), outcome)
    })
}

/// What a run with a log says of the watched releases of a function; nothing after a panic.
fn judgements(env: &Env<'_>, round: &Round, f: FuncRef) -> Vec<Judgement> {
    let summary_of = |caller: FuncRef, g: FuncRef| round.summary(env, caller, g);
    let bound_summary = |callee: &BoundCallee| env.bound_summary(callee);
    let context = env.context(&summary_of, &bound_summary, &round.members);
    let work = || {
        let mut exec = Exec::new(&context, f)?;
        exec.audit = Some(Audit::of(audit::judged(env, f)));
        exec.run();
        let audit = exec.audit.take()?;
        Some(audit::judge(env, &mut exec, &audit))
    };
    catch_unwind(AssertUnwindSafe(work)).ok().flatten().unwrap_or_default()
}

fn run_function(
    env: &Env<'_>,
    context: &Context<'_>,
    f: FuncRef,
    round: &Round,
) -> (Summary, Outcome) {
    let report = round.last;
    let start = Instant::now();
    let function = env.program.function(f);
    let mut outcome = Outcome { name: function.source_name.clone(), ..Outcome::default() };
    let Some(mut exec) = Exec::new(context, f) else {
        return (Summary::opaque(), outcome);
    };
    let misuses = report && env.options.also.any();
    exec.audit = misuses.then(|| Audit::of(FxHashSet::default()));
    exec.run();
    if let Some(audit) = exec.audit.take() {
        let found = &mut outcome.findings;
        apart(|| found.extend(misuse::find(env, &mut exec, &audit, env.options.also)));
    }
    if report {
        outcome.pairs = pairs::of(env, &exec);
    }
    outcome.instructions = function.body.as_ref().map_or(0, |b| b.insts.len() as u64);
    outcome.objects = exec.objects.len() as u64;
    ask_for_leaks(env, context, round, f, &mut exec, &mut outcome);
    if let Some(limit) = exec.limit {
        outcome.limited = Some(match limit {
            Limit::Steps => "step budget".to_owned(),
            Limit::Terms => "term budget".to_owned(),
        });
    }
    if report && exec.has_more_turns && exec.limit.is_none() {
        later_turns::find(env, context, round, f, &mut outcome);
    }
    let called = !env.calls.callers_of(f).is_empty();
    let mut summary = if called { exec.summarise() } else { Summary::opaque() };
    summary.returns_deeper = report && !context.recursive.is_empty();
    // Who is told nothing sets something up, and does so once. How often a callback is called nobody knows.
    let is_told = !function.params.is_empty() && !is_callback(env, f);
    if report && !called && is_told && function.name != "main" && exec.leaves_objects_in_globals() {
        let before = Arc::new(exec.summarise());
        find_second_call(env, context, f, before, &mut outcome);
    }
    if report && env.options.pairs {
        outcome.releaser = pairs::of_summary(env, f, &summary);
    }
    outcome.took = start.elapsed();
    (summary, outcome)
}

/// Whether what variables refer to when a function returns is kept: the program ends with `main`.
pub fn keeps_locals(env: &Env<'_>, f: FuncRef) -> bool {
    env.program.function(f).name == "main" && !env.options.at_exit
}

/// What leaks at the exits of a function that was run, with what callees leak for functions that it gives them.
fn ask_for_leaks(
    env: &Env<'_>,
    context: &Context<'_>,
    round: &Round,
    f: FuncRef,
    exec: &mut Exec<'_>,
    outcome: &mut Outcome,
) {
    let candidates = exec.candidates(keeps_locals(env, f));
    let (asked, others) = match round.last || round.first {
        true => (candidates, Vec::new()),
        false => candidates.into_iter().partition(|c| exec.was_never_stored(c.object)),
    };
    others.iter().for_each(|c| exec.settle_lost(c));
    find_leaks(env, exec, asked, outcome);
    if !outcome.asked.is_empty() {
        let look = || second_look::take(env, context, round, f, false, outcome);
        // It can only refute: without it, the findings stay.
        if catch_unwind(AssertUnwindSafe(|| apart(look))).is_err() {
            outcome.limited =
                Some("internal error: its findings were not looked at twice".to_owned());
            outcome.failed = true;
        }
    }
    for callee in &exec.bound_to {
        let Some(run) = env.bound_runs.get(env, callee) else { continue };
        outcome.findings.extend(run.findings.iter().cloned());
        outcome.longest_question = outcome.longest_question.max(run.longest_question);
    }
}

/// Whether a function is called only through pointers to it: nobody calls it by its name, and nobody else could.
pub fn is_callback(env: &Env<'_>, f: FuncRef) -> bool {
    let is_hidden = env.program.function(f).linkage == Linkage::Internal;
    env.calls.callers_of(f).is_empty() && (is_hidden || env.program.has_main())
}

/// A function that others call may be called again. What it then overwrites of its own first call
/// is reported as assumed: nobody knows who calls it and how often.
fn find_second_call(
    env: &Env<'_>,
    context: &Context<'_>,
    f: FuncRef,
    before: Arc<Summary>,
    outcome: &mut Outcome,
) {
    let Some(mut exec) = Exec::new(context, f) else { return };
    exec.before = Some(before);
    exec.run();
    let candidates = exec.candidates_of_call_before();
    let first = outcome.findings.len();
    find_leaks(env, &mut exec, candidates, outcome);
    for finding in &mut outcome.findings[first..] {
        finding.evidence = Evidence::Assumed;
    }
}

pub fn find_leaks(
    env: &Env<'_>,
    exec: &mut Exec<'_>,
    candidates: Vec<Candidate>,
    outcome: &mut Outcome,
) {
    let (asked, others): (Vec<Candidate>, Vec<Candidate>) = candidates
        .into_iter()
        .partition(|c| is_reported(env, &exec.objects[c.object.0 as usize].family));
    others.iter().for_each(|c| exec.settle_lost(c));
    let questions = in_turn(exec, asked);
    outcome.candidates += questions.len() as u64;
    if !questions.is_empty() {
        apart(|| ask(env, exec, questions, outcome));
    }
}

fn ask(env: &Env<'_>, exec: &mut Exec<'_>, questions: Vec<Candidate>, outcome: &mut Outcome) {
    let mut found = FxHashSet::default();
    let mut named: FxHashMap<_, Vec<String>> = FxHashMap::default();
    let mut asked: FxHashMap<Place, u64> = FxHashMap::default();
    let mut roots: FxHashSet<(Place, String, u32)> = FxHashSet::default();
    let mut session = Session::new();
    let mut spent = 0;
    for candidate in questions {
        let trace = exec.objects[candidate.object.0 as usize].trace.clone();
        let (site, made) = (trace[0].at, trace[trace.len() - 1].at);
        let exit = exit_loc(exec, candidate.exit);
        let of_site = asked.entry(site).or_default();
        let known = *of_site >= MAX_COST_PER_SITE || found.contains(&(site, made, exit));
        if known || spent >= MAX_COST.max(outcome.instructions / INSTRUCTIONS_PER_COST) {
            if !known {
                outcome.limited = Some("solver questions".to_owned());
            }
            exec.settle_lost(&candidate);
            continue;
        }
        let before = outcome.findings.len();
        let asked_before = cost(&session, outcome);
        if judge(env, exec, &candidate, &mut session, outcome) {
            exec.settle_lost(&candidate);
        } else {
            exec.settle_gone(&candidate);
        }
        let cost = cost(&session, outcome) - asked_before;
        *of_site += cost;
        spent += cost;
        if outcome.findings.len() > before {
            found.insert((site, made, exit));
            let names = named.entry((site, exit)).or_default();
            let Finding { variable, leak, .. } = &outcome.findings[before];
            let name = variable.clone();
            // Several calls of one function that makes the object, all of them forgotten in one variable:
            // one release is missing.
            let is_known = trace.len() > 1
                && !name.is_empty()
                && !roots.insert((made, name.clone(), leak.line));
            if is_known || !is_another(names, &name) {
                outcome.findings.truncate(before);
            } else {
                outcome.asked.push(Asked::of(exec, &candidate));
            }
            names.push(name);
        }
    }
}

/// What the questions so far cost.
fn cost(session: &Session, outcome: &Outcome) -> u64 {
    outcome.queries + COST_OF_CHECK * session.checks()
}

/// Whether an object that one call gave is another leak than those found of the same call: it had
/// a place of its own.
fn is_another(found: &[String], name: &str) -> bool {
    found.is_empty() || (!name.is_empty() && found.iter().all(|f| f != name))
}

/// Where an exit is. One exception is as good as another: they are one place.
pub fn exit_loc(exec: &Exec<'_>, exit: usize) -> Loc {
    let exit = &exec.exits[exit];
    if exit.is_thrown() { Loc::default() } else { exit.loc }
}

/// The candidates, every allocation site and every exit in its turn: when questions run out, each
/// has had some.
fn in_turn(exec: &Exec<'_>, candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut earlier: FxHashMap<_, usize> = FxHashMap::default();
    let numbered = candidates.into_iter().map(|c| {
        let site = exec.objects[c.object.0 as usize].trace[0].at;
        let turn = earlier.entry((site, exit_loc(exec, c.exit))).or_default();
        *turn += 1;
        (*turn, c)
    });
    let mut list: Vec<(usize, Candidate)> = numbered.collect();
    list.sort_by_key(|(turn, _)| *turn);
    list.into_iter().map(|(_, c)| c).collect()
}

/// Stage 2: one question about one candidate. Whether the object may leak.
fn judge(
    env: &Env<'_>,
    exec: &mut Exec<'_>,
    candidate: &Candidate,
    session: &mut Session,
    outcome: &mut Outcome,
) -> bool {
    if is_refuted(&mut exec.terms, candidate.condition) {
        outcome.infeasible += 1;
        return false;
    }
    outcome.queries += 1;
    let start = Instant::now();
    let answer = session.solve(&exec.terms, candidate.condition, env.options.solver);
    outcome.longest_question = outcome.longest_question.max(start.elapsed());
    let finding = match answer {
        Answer::Unsat => {
            outcome.infeasible += 1;
            return false;
        }
        Answer::Unknown(model) => {
            outcome.timeouts += 1;
            outcome.limited = Some("the solver gave up on a candidate".to_owned());
            let finding = finding::build(env.program, exec, candidate, &model);
            finding.map(|f| Finding { evidence: Evidence::Assumed, ..f })
        }
        Answer::Sat(model) => finding::build(env.program, exec, candidate, &model),
    };
    outcome.findings.extend(finding);
    true
}

fn is_reported(env: &Env<'_>, family: &str) -> bool {
    env.models.is_memory(family) || env.options.families.contains(family)
}
