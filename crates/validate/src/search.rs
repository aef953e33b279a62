//! The path-guided search for one warning: runs, candidates, the solver, and the verdict they come to.
//!
//! Deterministic for a deterministic program, except that the budget is time. A leak that was seen is never
//! taken back: MUST-LEAK rests on one run alone. LIKELY-NOT-LEAK and BLOAT rest on all runs that covered
//! the path, and on nothing that was only assumed.

use crate::candidates::{Candidate, Change, Goals, candidates};
use crate::error::ValidateError;
use crate::input::Input;
use crate::map::ProgramMap;
use crate::run::Runner;
use crate::target::Target;
use crate::trace::{Fate, Trace};
use crate::verdict::{Outcome, Qualifier, SearchStats};
use leakproof_findings::Verdict;
use leakproof_rt::abi::{Node, event, mark, op, state};
use leakproof_smt::{Claim, Limits, TraceAnswer, children, solve_trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Calls that are made to fail in one run.
const MAX_FAULTS: usize = 3;
/// Candidates kept for later.
const MAX_OPEN: usize = 20_000;
/// Covering runs after which a search that learns nothing new may stop.
const ENOUGH_COVERING: u64 = 150;
/// Runs without a new branch side that count as learning nothing.
const STALE_RUNS: u64 = 100;

#[derive(Clone, Copy, Debug)]
pub struct SearchOptions {
    pub budget: Duration,
    pub solver: Limits,
    pub faults: bool,
    pub max_runs: u64,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            budget: Duration::from_secs(60),
            solver: Limits { milliseconds: 10_000, resources: 4_000_000, ..Limits::default() },
            faults: true,
            max_runs: u64::MAX,
        }
    }
}

/// A run that candidates come from.
struct Record {
    input: Input,
    trace: Trace,
}

struct Open {
    record: Rc<Record>,
    candidate: Candidate,
}

/// Something that makes the object leak.
struct Leak {
    qualifier: Qualifier,
    input: Input,
    on_path: bool,
}

pub struct Search<'a> {
    map: &'a ProgramMap,
    target: &'a Target,
    runner: &'a Runner,
    goals: Goals,
    options: SearchOptions,
    start: Instant,
    /// By rank, with the number of times the side was tried, then by age.
    open: BTreeMap<(usize, u32, u64), Open>,
    serial: u64,
    tried: FxHashSet<u64>,
    paths: FxHashSet<u64>,
    sides: FxHashMap<(u32, u32), u32>,
    seen_sides: FxHashSet<(u32, u16)>,
    last_news: u64,
    stats: SearchStats,
    leak: Option<Leak>,
    leak_seen_at: Option<Instant>,
    /// Over all covering runs: an object that was freed unused; any object at all; runs cut off.
    freed_unused: u64,
    freed_before: u64,
    freed_used: u64,
    cut_off: u64,
    best_progress: usize,
    allocated: bool,
    /// Some trace did not hold all there was.
    partial: bool,
    points: u64,
    /// Answers to "can the next element be taken": contradictions of path elements only, and others.
    infeasible: FxHashMap<usize, (u64, Vec<String>)>,
    undecided: FxHashMap<usize, u64>,
}

impl<'a> Search<'a> {
    pub fn new(
        map: &'a ProgramMap,
        target: &'a Target,
        runner: &'a Runner,
        options: SearchOptions,
    ) -> Self {
        Self {
            map,
            target,
            runner,
            goals: Goals::new(map, target),
            options,
            start: Instant::now(),
            open: BTreeMap::new(),
            serial: 0,
            tried: FxHashSet::default(),
            paths: FxHashSet::default(),
            sides: FxHashMap::default(),
            seen_sides: FxHashSet::default(),
            last_news: 0,
            stats: SearchStats::default(),
            leak: None,
            leak_seen_at: None,
            freed_unused: 0,
            freed_before: 0,
            freed_used: 0,
            cut_off: 0,
            best_progress: 0,
            allocated: false,
            partial: false,
            points: 0,
            infeasible: FxHashMap::default(),
            undecided: FxHashMap::default(),
        }
    }

    /// Searches until the verdict is clear or the budget used up.
    pub fn run(mut self, seeds: &[Input]) -> Result<Outcome, ValidateError> {
        for seed in seeds {
            self.execute(seed.clone())?;
            if self.is_done() {
                break;
            }
        }
        while !self.is_done() {
            let Some((_, open)) = self.open.pop_first() else { break };
            if let Some(input) = self.next_input(&open) {
                self.execute(input)?;
            }
        }
        self.stats.elapsed = self.start.elapsed();
        Ok(self.outcome())
    }

    fn is_done(&self) -> bool {
        let elapsed = self.start.elapsed();
        if elapsed >= self.options.budget || self.stats.runs >= self.options.max_runs {
            return true;
        }
        if let Some(leak) = &self.leak {
            // A better witness is worth a little more time, not all of it.
            let since = self.leak_seen_at.map_or(elapsed, |at| at.elapsed());
            let best = leak.qualifier < Qualifier::StillReferenced && leak.on_path;
            return best || since >= (self.options.budget / 10).min(Duration::from_secs(3));
        }
        if self.stats.runs - self.last_news <= STALE_RUNS {
            return false;
        }
        match self.stats.covering {
            0 => self.infeasibility().is_some(),
            n => n >= ENOUGH_COVERING,
        }
    }

    fn execute(&mut self, input: Input) -> Result<(), ValidateError> {
        let trace = self.runner.run(&input, self.target)?;
        self.stats.runs += 1;
        if !trace.reached_main() {
            return Err(ValidateError::DoesNotRun("it ends before main".into()));
        }
        self.partial |= trace.is_partial();
        self.judge(&input, &trace);
        let (list, path) = candidates(self.map, self.target, &self.goals, &trace);
        if !self.paths.insert(path) {
            return Ok(());
        }
        let news = trace.events.iter().filter(|e| e.kind == event::BRANCH);
        for e in news {
            if self.seen_sides.insert((e.id, e.taken)) {
                self.last_news = self.stats.runs;
            }
        }
        let record = Rc::new(Record { input, trace });
        for candidate in list {
            self.push(&record, candidate);
        }
        Ok(())
    }

    fn push(&mut self, record: &Rc<Record>, candidate: Candidate) {
        if let Change::Fail(_) = &candidate.change
            && (record.input.faults.len() >= MAX_FAULTS || !self.options.faults)
        {
            return;
        }
        let key = candidate.path ^ fault_key(&record.input);
        if !self.tried.insert(key) {
            return;
        }
        let times = self.sides.entry(candidate.side).or_insert(0);
        *times += 1;
        // A failing call is one step further away than a decision of the program's own.
        let extra = if matches!(candidate.change, Change::Fail(_)) { 2 } else { 0 };
        let (goals, distance) = candidate.rank;
        self.serial += 1;
        let rank = (goals, distance + extra + 2 * *times, self.serial);
        self.open.insert(rank, Open { record: record.clone(), candidate });
        if self.open.len() > MAX_OPEN {
            self.open.pop_last();
        }
    }

    /// The input that takes the candidate's way, if the solver finds one.
    fn next_input(&mut self, open: &Open) -> Option<Input> {
        let record = &open.record;
        match &open.candidate.change {
            Change::Fail(fault) => {
                let mut input = record.input.clone();
                input.faults.insert(fault.clone());
                Some(input)
            }
            Change::Decide(claims) => {
                let prefix = relevant(&record.trace, open.candidate.event, claims);
                let mut all: Vec<Claim> = prefix.iter().map(|(_, c)| *c).collect();
                all.extend(claims);
                self.stats.queries += 1;
                let bounds = |v| record.input.bounds(v);
                let answer = solve_trace(&record.trace.nodes, &all, bounds, self.options.solver);
                self.answered(open, &prefix, answer)
            }
        }
    }

    fn answered(
        &mut self,
        open: &Open,
        prefix: &[(usize, Claim)],
        answer: TraceAnswer,
    ) -> Option<Input> {
        let element = open.candidate.takes_element;
        match answer {
            TraceAnswer::Sat(values) => Some(open.record.input.changed(&values)),
            TraceAnswer::Unknown => {
                self.stats.unknown += 1;
                if let Some(e) = element {
                    *self.undecided.entry(e).or_insert(0) += 1;
                }
                None
            }
            TraceAnswer::Unsat(core) => {
                self.stats.unsatisfiable += 1;
                if let Some(e) = element {
                    self.contradiction(e, open, prefix, &core);
                }
                None
            }
        }
    }

    /// An element of the path cannot be taken after this prefix: because of the path itself?
    fn contradiction(
        &mut self,
        element: usize,
        open: &Open,
        prefix: &[(usize, Claim)],
        core: &[usize],
    ) {
        let events = &open.record.trace.events;
        let mut places = Vec::new();
        for &claim in core.iter().filter(|c| **c < prefix.len()) {
            let e = &events[prefix[claim].0];
            let successor = u32::from(e.taken == 0);
            let known = self.target.path[..element].iter();
            let mut known = known.filter(|p| p.edges.contains(&(e.id, successor)));
            match known.next().filter(|_| e.kind == event::BRANCH) {
                Some(p) => places.push(p.place.clone()),
                None => {
                    *self.undecided.entry(element).or_insert(0) += 1;
                    return;
                }
            }
        }
        places.push(self.target.path[element].place.clone());
        let entry = self.infeasible.entry(element).or_default();
        entry.0 += 1;
        entry.1 = places;
    }

    /// What the run says about the warning.
    fn judge(&mut self, input: &Input, trace: &Trace) {
        self.best_progress = self.best_progress.max(trace.progress as usize);
        self.allocated |= !trace.objects.is_empty();
        self.points += u64::from(trace.points);
        let covers = trace.covered > 0 && !trace.objects.is_empty();
        if covers && !trace.ended() {
            self.cut_off += 1;
        }
        if !trace.ended() {
            return;
        }
        for object in trace.objects.iter().filter(|o| !o.is_freed()) {
            // What leaks after the leak point was passed by another way leaks too.
            let passed = object.state != state::CREATED || (covers || trace.points > 0);
            if !passed {
                continue;
            }
            let qualifier = match (object.is_lost_at_exit(), object.has(mark::LOST_AT_POINT)) {
                (true, true) => Qualifier::LostAtPoint,
                (true, false) => Qualifier::LostLater,
                (false, _) => Qualifier::StillReferenced,
            };
            self.leaked(Leak { qualifier, input: input.clone(), on_path: covers });
        }
        if covers {
            self.stats.covering += 1;
            for object in trace.objects.iter().filter(|o| o.is_freed()) {
                match object.state {
                    state::FREED_BEFORE => self.freed_before += 1,
                    state::FREED_UNUSED => self.freed_unused += 1,
                    _ => self.freed_used += 1,
                }
            }
        }
    }

    fn leaked(&mut self, leak: Leak) {
        let value = |l: &Leak| (!l.on_path, l.qualifier, l.input.faults.len());
        if self.leak.as_ref().is_none_or(|old| value(&leak) < value(old)) {
            self.leak = Some(leak);
        }
        self.leak_seen_at.get_or_insert_with(Instant::now);
    }

    fn outcome(self) -> Outcome {
        let stats = self.stats;
        if let Some(leak) = self.leak {
            let way = if leak.on_path { "" } else { ", by another way than the reported path" };
            let reason = format!("the object is never freed: {}{way}", leak.qualifier.name());
            return Outcome {
                verdict: Verdict::MustLeak,
                reason,
                qualifier: Some(leak.qualifier),
                witness: Some(leak.input),
                stats,
            };
        }
        let (verdict, reason) = self.without_leak();
        Outcome { verdict, reason, qualifier: None, witness: None, stats }
    }

    fn without_leak(&self) -> (Verdict, String) {
        let n = self.stats.covering;
        let runs = |n: u64| if n == 1 { "1 run".to_owned() } else { format!("{n} runs") };
        if n > 0 && self.freed_unused == 0 && self.freed_before == 0 {
            let reason = format!("used after the leak point and freed in all {}", runs(n));
            return (Verdict::LikelyNotLeak, reason);
        }
        if n > 0 {
            let what = if self.freed_unused > 0 { "never used again" } else { "freed before it" };
            let reason = format!("freed in all {} that pass the leak point, but {what}", runs(n));
            return (Verdict::Bloat, reason);
        }
        if let Some(reason) = self.infeasibility() {
            return (Verdict::LikelyNotLeak, reason);
        }
        (Verdict::MayLeak, self.obstacle())
    }

    /// The path contradicts itself: every way to its next element did.
    fn infeasibility(&self) -> Option<String> {
        let (times, places) = self.infeasible.get(&self.best_progress)?;
        let undecided = self.undecided.get(&self.best_progress).copied().unwrap_or(0);
        let exhausted = self.open.is_empty() || *times >= 20;
        (undecided == 0 && exhausted && !self.partial).then(|| {
            format!(
                "the path is infeasible: these branches exclude each other: {}",
                places.join(", ")
            )
        })
    }

    /// What kept the search from the path.
    fn obstacle(&self) -> String {
        if self.cut_off > 0 {
            return "every run that passed the path was cut off before its end".to_owned();
        }
        let runs = self.stats.runs;
        match self.target.path.get(self.best_progress) {
            Some(element) => {
                format!("no run of {runs} took the branch at {} as reported", element.place)
            }
            None if !self.allocated => {
                format!("no run of {runs} made an object at the reported allocation")
            }
            None if self.points == 0 => {
                format!("no run of {runs} passed the reported leak point")
            }
            None => format!("no run of {runs} passed the leak point after the allocation"),
        }
    }
}

/// Inputs with other failures are other paths from the start.
fn fault_key(input: &Input) -> u64 {
    use std::hash::{BuildHasher, BuildHasherDefault};
    BuildHasherDefault::<rustc_hash::FxHasher>::default().hash_one(&input.faults)
}

/// The conditions before `event` that share an input with `claims`, directly or through others.
fn relevant(trace: &Trace, event: usize, claims: &[Claim]) -> Vec<(usize, Claim)> {
    let mut facts: Vec<(usize, Claim)> = Vec::new();
    for (i, e) in trace.events[..event].iter().enumerate() {
        let held = match e.kind {
            event::BRANCH | event::LIBRARY => u64::from(e.taken != 0),
            event::ASSERT => 1,
            event::SWITCH => match trace.nodes.get(e.node as usize) {
                Some(node) => node.value,
                None => continue,
            },
            _ => continue,
        };
        if e.node != 0 {
            facts.push((i, Claim { node: e.node, value: held, equal: true }));
        }
    }
    let mut variables = Variables::default();
    let mut wanted: FxHashSet<u32> = FxHashSet::default();
    claims.iter().for_each(|c| wanted.extend(variables.of(&trace.nodes, c.node).iter()));
    let sets: Vec<Rc<[u32]>> =
        facts.iter().map(|(_, c)| variables.of(&trace.nodes, c.node)).collect();
    let mut chosen = vec![false; facts.len()];
    loop {
        let mut grew = false;
        for (i, set) in sets.iter().enumerate() {
            if !chosen[i] && set.iter().any(|v| wanted.contains(v)) {
                chosen[i] = true;
                grew = true;
                wanted.extend(set.iter());
            }
        }
        if !grew {
            break;
        }
    }
    // The same condition again says nothing new.
    let mut said = FxHashSet::default();
    let mut kept = Vec::new();
    for (fact, chosen) in facts.into_iter().zip(chosen) {
        if chosen && said.insert((fact.1.node, fact.1.value)) {
            kept.push(fact);
        }
    }
    kept
}

/// Variables that occur in nodes, remembered.
#[derive(Default)]
struct Variables {
    known: FxHashMap<u32, Rc<[u32]>>,
}

impl Variables {
    fn of(&mut self, nodes: &[Node], root: u32) -> Rc<[u32]> {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.known.contains_key(&id) {
                stack.pop();
                continue;
            }
            let Some(node) = nodes.get(id as usize) else { break };
            let parts: Vec<u32> = children(node).into_iter().filter(|c| *c < id).collect();
            let open: Vec<u32> =
                parts.iter().copied().filter(|c| !self.known.contains_key(c)).collect();
            if !open.is_empty() {
                stack.extend(open);
                continue;
            }
            let mut set: Vec<u32> = if node.op == op::VAR { vec![node.a] } else { Vec::new() };
            parts.iter().for_each(|p| set.extend(self.known[p].iter()));
            set.sort_unstable();
            set.dedup();
            self.known.insert(id, set.into());
            stack.pop();
        }
        self.known.get(&root).cloned().unwrap_or_default()
    }
}
