//! The path-guided search for one warning: runs, candidates, the solver, and the verdict they come to.
//!
//! Deterministic for a deterministic program, except that the budget is processor time. MUST-LEAK rests on
//! one run alone, whose witness shows the leak in the original program. LIKELY-NOT-LEAK and BLOAT rest on all runs that covered
//! the path, and on nothing that was only assumed.

use crate::candidates::{Candidate, Change, Goals, side_taken, suggestions};
use crate::clock::Clock;
use crate::error::ValidateError;
use crate::extension::Extensions;
use crate::feasibility::Feasibility;
use crate::guess::guess;
use crate::input::{Input, is_file_size};
use crate::leaks::{Confirmation, Leak, Leaks};
use crate::map::{Block, ProgramMap};
use crate::missing::Missing;
use crate::relevance::{Fact, Facts};
use crate::run::Runner;
use crate::seeds::option_lines;
use crate::siblings::Siblings;
use crate::target::{PathElement, Target, first_line};
use crate::trace::{Fate, Trace};
use crate::verdict::{Cause, Outcome, Qualifier, SearchStats};
use leakproof_findings::Verdict;
use leakproof_rt::abi::{Event, Object, event, mark, state};
use leakproof_smt::{Claim, Limits, TraceAnswer, solve_trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::time::Duration;

/// Calls that are made to fail in one run.
const MAX_FAULTS: usize = 3;
/// Candidates kept for later.
const MAX_OPEN: usize = 20_000;
/// Covering runs after which a search that learns nothing new may stop.
const ENOUGH_COVERING: u64 = 60;
/// The same where the allocation comes again behind the leak point.
const ENOUGH_REPEATED: u64 = 1500;
/// Runs without a new branch side that count as learning nothing.
const STALE_RUNS: u64 = 100;

#[derive(Clone, Copy, Debug)]
pub struct SearchOptions {
    pub budget: Duration,
    /// Time by the clock that the search must keep to as well.
    pub left: Option<Duration>,
    pub solver: Limits,
    pub faults: bool,
    pub max_runs: u64,
    /// The runs go through a harness: what that still refers to at its end could still be freed.
    pub harness: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            budget: Duration::from_secs(60),
            left: None,
            solver: Limits { milliseconds: 30_000, resources: 600_000, ..Limits::default() },
            faults: true,
            max_runs: u64::MAX,
            harness: false,
        }
    }
}

/// A run that candidates come from.
struct Record {
    input: Input,
    trace: Trace,
    /// It took some branch as no run before.
    has_news: bool,
    facts: OnceCell<Facts>,
}

struct Open {
    record: Rc<Record>,
    candidate: Candidate,
}

/// Tries the witness of a leak.
pub type Confirm<'c> = dyn FnMut(&Leak) -> Result<Confirmation, ValidateError> + 'c;

pub struct Search<'a> {
    map: &'a ProgramMap,
    target: &'a Target,
    runner: &'a Runner,
    goals: Goals,
    options: SearchOptions,
    clock: Clock,
    /// By cost, then by age.
    open: BTreeMap<(u32, u64), Open>,
    serial: u64,
    /// What the search starts from, and whether it is worth as much as news.
    first: VecDeque<(Input, bool)>,
    /// Inputs to run before anything that runs suggest.
    again: Vec<Input>,
    /// Guesses that take turns with what the runs suggest.
    later: VecDeque<Input>,
    extensions: Extensions,
    missing: Missing,
    siblings: Siblings,
    tried: FxHashSet<u64>,
    paths: FxHashSet<u64>,
    /// How often each side was tried.
    sides: FxHashMap<(u32, u32), u32>,
    /// Branches with the successors that runs took.
    seen_sides: FxHashSet<(u32, u32)>,
    /// Which sides runs took together, and about how often.
    combinations: FxHashSet<u64>,
    last_news: u64,
    stats: SearchStats,
    leaks: Leaks,
    /// Since when a leak waits for a better one.
    leak_seen_at: Option<Duration>,
    /// The leak that its witness shows.
    confirmed: Option<Leak>,
    /// Over all covering runs: an object that was freed unused; any object at all; runs cut off.
    freed_unused: u64,
    freed_before: u64,
    freed_used: u64,
    /// Objects that a harness still refers to.
    handed_over: u64,
    cut_off: u64,
    /// How the first of these ended.
    cut_example: Option<String>,
    best_progress: usize,
    allocated: bool,
    /// Some trace did not hold all there was.
    partial: bool,
    points: u64,
    /// Runs pass the leak point also where the same function did not come by the allocation.
    unpaired: bool,
    feasibility: Feasibility,
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
            clock: Clock::start(),
            open: BTreeMap::new(),
            serial: 0,
            first: VecDeque::new(),
            again: Vec::new(),
            later: VecDeque::new(),
            extensions: if options.harness {
                Extensions::default()
            } else {
                Extensions::new(option_lines(map))
            },
            missing: Missing::default(),
            siblings: Siblings::default(),
            tried: FxHashSet::default(),
            paths: FxHashSet::default(),
            sides: FxHashMap::default(),
            seen_sides: FxHashSet::default(),
            combinations: FxHashSet::default(),
            last_news: 0,
            stats: SearchStats::default(),
            leaks: Leaks::default(),
            leak_seen_at: None,
            confirmed: None,
            freed_unused: 0,
            freed_before: 0,
            freed_used: 0,
            handed_over: 0,
            cut_off: 0,
            cut_example: None,
            best_progress: 0,
            allocated: false,
            partial: false,
            points: 0,
            unpaired: false,
            feasibility: Feasibility::default(),
        }
    }

    /// Searches until the verdict is clear or the budget used up. What comes of `guesses` counts only as
    /// far as they show something new; `later` are more of them, too many to try all before the search begins. A leak
    /// counts when `confirm` shows it; until then the search goes on.
    pub fn run(
        mut self,
        seeds: &[Input],
        guesses: &[Input],
        later: Vec<Input>,
        confirm: &mut Confirm<'_>,
    ) -> Result<Outcome, ValidateError> {
        let given = seeds.iter().map(|s| (s, true)).chain(guesses.iter().map(|g| (g, false)));
        self.first = given.map(|(input, is_seed)| (input.clone(), is_seed)).collect();
        self.later = later.into();
        loop {
            self.explore()?;
            if self.is_settled(confirm)? {
                break;
            }
        }
        self.stats.elapsed = self.clock.elapsed();
        self.stats.spent = self.clock.spent();
        Ok(self.outcome())
    }

    /// Runs until there is something to decide on, or nothing left to run.
    fn explore(&mut self) -> Result<(), ValidateError> {
        while !self.is_done() {
            if let Some((input, is_seed)) = self.first.pop_front() {
                self.execute(input, is_seed)?;
                continue;
            }
            if let Some(input) = self.again.pop() {
                self.execute(input, false)?;
                continue;
            }
            let guesses = [self.later.pop_front(), self.extensions.next_input()];
            let is_last = guesses.iter().all(Option::is_none);
            for input in guesses.into_iter().flatten() {
                self.execute(input, false)?;
            }
            match self.pop() {
                Some(open) => {
                    if let Some(input) = self.next_input(&open) {
                        self.execute(input, false)?;
                    }
                }
                None if is_last => break,
                None => {}
            }
        }
        Ok(())
    }

    /// Whether the search is over: the best leak is confirmed, or there is none.
    fn is_settled(&mut self, confirm: &mut Confirm<'_>) -> Result<bool, ValidateError> {
        let Some(best) = self.leaks.best().cloned() else { return Ok(true) };
        let leak = self.with_fewer_files(best)?;
        match confirm(&leak)? {
            Confirmation::Shown(qualifier) => {
                self.confirmed = Some(Leak { qualifier, ..leak });
                Ok(true)
            }
            Confirmation::NotShown(why) => {
                self.leaks.refuse_best(why);
                self.leak_seen_at = self.leaks.best().map(|_| self.clock.spent());
                Ok(false)
            }
            Confirmation::Impossible(why) => {
                self.leaks.refuse_best(why);
                Ok(true)
            }
        }
    }

    /// The leak without files, folders and links that it does not need.
    fn with_fewer_files(&self, mut leak: Leak) -> Result<Leak, ValidateError> {
        for name in leak.input.entries() {
            let fewer = leak.input.without(&name);
            let same = leaks(&self.runner.run(&fewer, self.target)?);
            if same.contains(&(leak.qualifier, leak.on_path)) {
                leak.input = fewer;
            }
        }
        Ok(leak)
    }

    fn is_done(&self) -> bool {
        let is_late = self.options.left.is_some_and(|l| self.clock.elapsed() >= l);
        let is_over = is_late || self.clock.is_over(self.options.budget);
        if is_over || self.stats.runs >= self.options.max_runs {
            return true;
        }
        if let Some(leak) = self.leaks.best() {
            // A better witness is worth a little more time, not all of it.
            let since = self.clock.spent().saturating_sub(self.leak_seen_at.unwrap_or_default());
            let patience = (self.options.budget / 10).min(Duration::from_secs(3));
            return match self.leaks.refusals_like(leak) {
                0 => leak.is_as_reported() || since >= patience,
                refusals => since >= patience * refusals,
            };
        }
        // There is a leak, only not one that shows elsewhere: another input may.
        if self.leaks.refusal().is_some() || self.stats.runs - self.last_news <= STALE_RUNS {
            return false;
        }
        match self.stats.covering {
            0 => self.infeasibility().is_some(),
            n => n >= self.enough_covering() && self.gap().is_none(),
        }
    }

    /// Covering runs that say enough about the way of the object. When another object can be made after the leak point, an
    /// earlier one may be what leaks there the next time, and that takes longer to find.
    fn enough_covering(&self) -> u64 {
        let mut after = self.target.point_blocks.iter();
        let comes_again = after.any(|b| self.goals.distance(self.target.path.len(), *b).is_some());
        if comes_again { ENOUGH_REPEATED } else { ENOUGH_COVERING }
    }

    /// Runs once; what comes of a seed is worth as much as what comes of news.
    fn execute(&mut self, input: Input, is_seed: bool) -> Result<(), ValidateError> {
        let mut trace = self.runner.run(&input, self.target)?;
        let others = self.siblings.others(&trace.compared);
        trace.compared.extend(others);
        trace.compared.sort_by_key(|c| c.event);
        self.stats.runs += 1;
        self.clock.add_run(trace.time);
        if !trace.reached_main() {
            return Err(ValidateError::DoesNotRun("it ends before main".into()));
        }
        self.partial |= trace.is_partial();
        self.judge(&input, &trace);
        let suggestions = suggestions(self.map, self.target, &self.goals, &trace);
        if !self.paths.insert(suggestions.path) {
            return Ok(());
        }
        let mut has_news = is_seed;
        for side in trace.events.iter().filter_map(side_taken) {
            if self.seen_sides.insert(side) {
                self.last_news = self.stats.runs;
                has_news = true;
            }
        }
        let is_combination = self.combinations.insert(combination(&trace));
        if has_news || is_combination {
            let (goals, distance) = suggestions.nearest;
            let waits = if has_news { 0 } else { STALE_COST };
            let rank = (goals, distance.saturating_add(waits));
            self.extensions.offer(&input, rank, &trace.sources());
        }
        let folder = self.runner.work_folder();
        let read = trace.sources();
        self.again.extend(self.missing.inputs(&input, &trace.missing, &folder, &read, has_news));
        let record = Rc::new(Record { input, trace, has_news, facts: OnceCell::new() });
        for candidate in suggestions.candidates {
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
        self.serial += 1;
        let open = Open { record: record.clone(), candidate };
        self.open.insert((self.cost(&open), self.serial), open);
        if self.open.len() > MAX_OPEN {
            self.open.pop_last();
        }
    }

    /// The most promising candidate as things stand now.
    fn pop(&mut self) -> Option<Open> {
        loop {
            let ((cost, serial), open) = self.open.pop_first()?;
            // Its side may have been tried since it was put here.
            let now = self.cost(&open);
            if now > cost {
                self.open.insert((now, serial), open);
                continue;
            }
            *self.sides.entry(open.candidate.side).or_insert(0) += 1;
            return Some(open);
        }
    }

    /// How little a candidate promises. Nearer goals first; but a side that was tried often, or that
    /// some run took already, steps back behind those that are further away, so that nothing waits
    /// for ever; and so does what comes of a run that showed nothing new.
    fn cost(&self, open: &Open) -> u32 {
        let Open { record, candidate } = open;
        let (goals, distance) = candidate.rank;
        let tried = self.sides.get(&candidate.side).copied().unwrap_or(0);
        // Failing calls are further away than decisions of the program's own: there are many, and
        // most of them only end the run.
        let fails = usize::from(matches!(candidate.change, Change::Fail(_)));
        let failing = 4 * (record.input.faults.len() + fails) as u32;
        let known = if self.seen_sides.contains(&candidate.side) { 4 } else { 0 };
        let stale = if record.has_news { 0 } else { STALE_COST };
        // What comes of a slow run is mostly slow again: where it hangs, so do the others.
        let slow = 4 * self.clock.slowness(record.trace.time, self.stats.runs);
        let ahead = goals as u32 * GOAL_COST + distance.min(FAR);
        ahead + failing + known + stale + slow + 2 * tried
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
            Change::Replace(edit) => edit.applied(&record.input),
            Change::Decide(claims) => {
                let cases = |id| self.map.cases(id);
                let facts = record.facts.get_or_init(|| Facts::of(&record.trace, cases));
                let facts = facts.relevant(open.candidate.event);
                let bounds = |v| record.input.bounds(v);
                if let Some(values) = guess(&record.trace.nodes, &facts, claims, &bounds) {
                    self.stats.guessed += 1;
                    return Some(record.input.changed(&values));
                }
                let mut all: Vec<Claim> = facts.iter().map(|f| f.claim).collect();
                all.extend(claims);
                self.stats.queries += 1;
                let solver = self.options.solver;
                let mut answer = solve_trace(&record.trace.nodes, &all, bounds, solver);
                if matches!(answer, TraceAnswer::Unsat(_)) && asks_for_size(record, open) {
                    let bounds = |v| record.input.wide_bounds(v);
                    self.stats.queries += 1;
                    answer = solve_trace(&record.trace.nodes, &all, bounds, solver);
                }
                self.answered(open, &facts, answer)
            }
        }
    }

    fn answered(&mut self, open: &Open, facts: &[&Fact], answer: TraceAnswer) -> Option<Input> {
        let element = open.candidate.takes_element;
        match answer {
            TraceAnswer::Sat(values) => Some(open.record.input.changed(&values)),
            TraceAnswer::Unknown => {
                self.stats.unknown += 1;
                let element = element?;
                self.contradiction(element, open, facts, None);
                None
            }
            TraceAnswer::Unsat(core) => {
                self.stats.unsatisfiable += 1;
                let element = element?;
                self.contradiction(element, open, facts, Some(&core));
                None
            }
        }
    }

    /// An element of the path cannot be taken after these facts: because of the path itself?
    fn contradiction(
        &mut self,
        element: usize,
        open: &Open,
        facts: &[&Fact],
        core: Option<&[usize]>,
    ) {
        let Change::Decide(claims) = &open.candidate.change else { return };
        let record = &open.record;
        let path = self.target.path.as_slice();
        let on_path = |f: &Fact| branch_of_path(&path[..element], &record.trace.events[f.event]);
        let known: Vec<(Claim, &PathElement)> =
            facts.iter().filter_map(|f| Some((f.claim, on_path(f)?))).collect();
        let in_core = core.unwrap_or_default().iter().filter_map(|c| facts.get(*c));
        let mut places: Vec<Option<String>> =
            in_core.map(|f| on_path(f).map(PathElement::named)).collect();
        if core.is_none() || places.iter().any(Option::is_none) {
            // The core need not be the smallest: do the path's own branches suffice?
            let mut own: Vec<Claim> = known.iter().map(|(c, _)| *c).collect();
            own.extend(claims);
            let bounds = |v| record.input.wide_bounds(v);
            self.stats.queries += 1;
            match solve_trace(&record.trace.nodes, &own, bounds, self.options.solver) {
                TraceAnswer::Unsat(core) => {
                    let named = core.iter().filter_map(|c| known.get(*c));
                    places = named.map(|(_, e)| Some(e.named())).collect();
                }
                _ => return self.feasibility.undecided(element),
            }
        }
        places.push(Some(path[element].named()));
        self.feasibility.contradicted(element, places.into_iter().flatten().collect());
    }

    /// What the run says about the warning.
    fn judge(&mut self, input: &Input, trace: &Trace) {
        self.best_progress = self.best_progress.max(trace.progress as usize);
        self.allocated |= !trace.objects.is_empty();
        self.points += u64::from(trace.points);
        self.unpaired |= trace.is_unpaired() && self.is_within_function();
        let covers = covers(trace);
        if covers && !trace.ended() {
            self.cut_off += 1;
            self.cut_example.get_or_insert_with(|| cut_off(input, trace));
            self.try_without_failures(input);
        }
        if !trace.ended() {
            return;
        }
        for (qualifier, on_path) in leaks(trace) {
            if self.options.harness && qualifier == Qualifier::StillReferenced {
                self.handed_over += u64::from(on_path);
                continue;
            }
            self.leaks.add(Leak { qualifier, input: input.with_refused(trace), on_path });
            self.leak_seen_at.get_or_insert_with(|| self.clock.spent());
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

    /// A run that passed the path ended too soon: perhaps because of calls that failed on the way and
    /// that the path does not need.
    fn try_without_failures(&mut self, input: &Input) {
        for fault in &input.faults {
            let mut fewer = input.clone();
            fewer.faults.remove(fault);
            self.again.push(fewer);
        }
        if input.faults.len() > 1 {
            self.again.push(Input { faults: BTreeSet::new(), ..input.clone() });
        }
    }

    fn outcome(self) -> Outcome {
        let stats = self.stats;
        if let Some(leak) = self.confirmed {
            let way = if leak.on_path { "" } else { ", by another way than the reported path" };
            let reason = format!("the object is never freed: {}{way}", leak.qualifier.name());
            return Outcome {
                verdict: Verdict::MustLeak,
                reason,
                cause: Cause::Leaked,
                core: Vec::new(),
                qualifier: Some(leak.qualifier),
                witness: Some(leak.input),
                stats,
            };
        }
        let (verdict, cause, reason) = self.without_leak();
        let infeasible = cause == Cause::InfeasiblePath;
        let core = self.infeasibility().filter(|_| infeasible).unwrap_or_default().to_vec();
        Outcome { verdict, reason, cause, core, qualifier: None, witness: None, stats }
    }

    fn without_leak(&self) -> (Verdict, Cause, String) {
        let n = self.stats.covering;
        let runs = |n: u64| if n == 1 { "1 run".to_owned() } else { format!("{n} runs") };
        if let Some((qualifier, why)) = self.leaks.refusal() {
            let reason = format!("the object is never freed: {}, but {why}", qualifier.name());
            return (Verdict::MayLeak, Cause::NotConfirmed, reason);
        }
        if self.handed_over > 0 {
            let reason = "what called the function can still free the object: it is in an argument, \
                          the result or a global variable";
            return (Verdict::MayLeak, Cause::HandedOver, reason.to_owned());
        }
        if n > 0
            && let Some(gap) = self.gap()
        {
            let reason = format!("freed in all {} that pass the leak point, but {gap}", runs(n));
            return (Verdict::MayLeak, Cause::NotReached, reason);
        }
        if n > 0 && self.freed_unused == 0 && self.freed_before == 0 {
            let reason = format!("used after the leak point and freed in all {}", runs(n));
            return (Verdict::LikelyNotLeak, Cause::UsedAndFreed, reason);
        }
        if n > 0 {
            let what = if self.freed_unused > 0 { "never used again" } else { "freed before it" };
            let reason = format!("freed in all {} that pass the leak point, but {what}", runs(n));
            return (Verdict::Bloat, Cause::FreedUnused, reason);
        }
        if let Some(core) = self.infeasibility() {
            let reason = format!(
                "the path is infeasible: these branches exclude each other: {}",
                core.join(", ")
            );
            return (Verdict::LikelyNotLeak, Cause::InfeasiblePath, reason);
        }
        let cause = if self.cut_off > 0 { Cause::CutOff } else { Cause::NotReached };
        (Verdict::MayLeak, cause, self.obstacle())
    }

    /// The branches that exclude each other, when every way to the path's next element met such.
    fn infeasibility(&self) -> Option<&[String]> {
        let exhausted = self.open.is_empty();
        self.feasibility.core(self.best_progress, exhausted).filter(|_| !self.partial)
    }

    /// What kept the search from the path.
    fn obstacle(&self) -> String {
        if self.cut_off > 0 {
            let how = self.cut_example.as_deref().unwrap_or("");
            return format!("every run that passed the path was cut off before its end{how}");
        }
        let runs = self.stats.runs;
        let what = match self.target.path.get(self.best_progress) {
            Some(element) => {
                return format!(
                    "no run of {runs} took the branch at {} as reported",
                    element.place
                );
            }
            None if !self.allocated => "made an object at the reported allocation",
            None if self.points == 0 => "passed the reported leak point",
            None => "passed the leak point after the allocation",
        };
        let branch = match self.nearest_branch() {
            Some(branch) => format!("; the nearest branch that none took: {branch}"),
            None => String::new(),
        };
        format!("no run of {runs} {what}{branch}")
    }

    /// Why objects that were freed in all runs over the path do not speak against the warning.
    fn gap(&self) -> Option<String> {
        if self.unpaired && self.freed_unused == 0 && self.freed_used == 0 {
            // What was freed before may be an object of an earlier call of the function.
            return Some(
                "others pass it without the allocation, so which objects come there is not told"
                    .into(),
            );
        }
        let branch = self.part_not_passed()?;
        Some(format!("none took {branch}, where that line goes on"))
    }

    /// Whether the warning's allocation and its leak point are in one function.
    fn is_within_function(&self) -> bool {
        let (sites, points) = (&self.target.site_blocks, &self.target.point_blocks);
        sites.iter().any(|s| points.iter().any(|p| self.map.in_one_function(*s, *p)))
    }

    /// A side of a branch on the leak point's line that no run took and that stays on the line, as in
    /// `if (failed) return;`: the leak may be there. A path that says which side is meant needs no such care.
    fn part_not_passed(&self) -> Option<String> {
        let line = &self.target.point_blocks;
        let branch = |block: &Block| Some(self.map.block(*block).branch.as_ref()?.id);
        let ids: Vec<u32> = line.iter().filter_map(branch).collect();
        let is_told = |e: &PathElement| e.edges.iter().any(|(id, _)| ids.contains(id));
        if self.target.path.iter().any(is_told) {
            return None;
        }
        let stays = |(id, side): &(u32, u32)| {
            self.map.successor(*id, *side).is_some_and(|to| line.contains(&to))
        };
        let (id, side) = self.sides_not_taken().find(|s| ids.contains(&s.0) && stays(s))?;
        self.named_side(id, side)
    }

    /// Of the branches that runs came to, the sides that none took.
    fn sides_not_taken(&self) -> impl Iterator<Item = (u32, u32)> {
        let passed: BTreeSet<u32> = self.seen_sides.iter().map(|(id, _)| *id).collect();
        let count =
            |id| self.map.branch_block(id).map_or(0, |b| self.map.block(b).successors.len());
        let sides = move |id| (0..count(id) as u32).map(move |side| (id, side));
        passed.into_iter().flat_map(sides).filter(|side| !self.seen_sides.contains(side))
    }

    /// A side of a branch for a reader.
    fn named_side(&self, id: u32, side: u32) -> Option<String> {
        let block = self.map.branch_block(id)?;
        let at = self.map.branch(id)?.at;
        let to = first_line(self.map, self.map.successor(id, side)?);
        let to = to.map(|line| format!(" to line {line}")).unwrap_or_default();
        Some(format!("{}:{}{to}", self.map.file(block, at), at.line))
    }

    /// The side that no run took and from which the next goal is nearest.
    fn nearest_branch(&self) -> Option<String> {
        let goal = self.goals.number(self.best_progress, self.allocated);
        let file = |id| Some(self.map.file(self.map.branch_block(id)?, self.map.branch(id)?.at));
        let known = self.sides_not_taken().filter_map(|(id, side)| {
            file(id).filter(|f| self.runner.is_of_user(f))?;
            let to = self.map.successor(id, side)?;
            Some((self.goals.distance(goal, to)?, id, side))
        });
        let (_, id, side) = known.min()?;
        self.named_side(id, side)
    }
}

/// Whether the program's own decision is about the size of a file that has a name. How much it may read is another
/// question: for that no file needs to be large.
fn asks_for_size(record: &Record, open: &Open) -> bool {
    let is_own =
        record.trace.events.get(open.candidate.event).is_some_and(|e| e.kind == event::BRANCH);
    let variables = record.facts.get().map(|f| f.variables_at(open.candidate.event));
    is_own && variables.iter().flat_map(|v| v.iter()).any(|v| is_file_size(*v))
}

/// Whether a run made an object and passed the path.
fn covers(trace: &Trace) -> bool {
    trace.covered > 0 && !trace.objects.is_empty()
}

/// The objects that a run left over: how, and whether it passed the path.
fn leaks(trace: &Trace) -> Vec<(Qualifier, bool)> {
    let covers = covers(trace);
    // What leaks after the leak point was passed by another way leaks too.
    let passed = |o: &&Object| o.state != state::CREATED || covers || trace.points > 0;
    let left = trace.objects.iter().filter(|o| trace.ended() && !o.is_freed()).filter(passed);
    let qualifier = |o: &Object| match (o.is_lost_at_exit(), o.has(mark::LOST_AT_POINT)) {
        (true, true) => Qualifier::LostAtPoint,
        (true, false) => Qualifier::LostLater,
        (false, _) => Qualifier::StillReferenced,
    };
    left.map(|o| (qualifier(o), covers)).collect()
}

/// The sides that a run took, each with the magnitude of how often, whatever the order: two parts of an input that other runs
/// had one of show nothing new but this.
fn combination(trace: &Trace) -> u64 {
    use std::hash::{BuildHasher, BuildHasherDefault};
    let mut counts: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for side in trace.events.iter().filter_map(side_taken) {
        *counts.entry(side).or_default() += 1;
    }
    let magnitudes: Vec<_> = counts.into_iter().map(|(side, n)| (side, n.ilog2())).collect();
    BuildHasherDefault::<rustc_hash::FxHasher>::default().hash_one(magnitudes)
}

/// How a run that was cut off ended, and its arguments.
fn cut_off(input: &Input, trace: &Trace) -> String {
    let how = match trace.signal {
        Some(0) => "its time was up".to_owned(),
        Some(signal) => format!("signal {signal}"),
        None => "it left without cleaning up".to_owned(),
    };
    let words = input.command_line().iter();
    let words: Vec<String> = words.map(|w| w.escape_ascii().to_string()).collect();
    format!(" ({how}; arguments: '{}')", words.join("' '"))
}

/// The element of the path that an event takes.
fn branch_of_path<'a>(path: &'a [PathElement], e: &Event) -> Option<&'a PathElement> {
    let successor = u32::from(e.taken == 0);
    let taken = |p: &&PathElement| p.edges.contains(&(e.id, successor));
    path.iter().find(taken).filter(|_| e.kind == event::BRANCH)
}

/// What a goal that is still ahead counts, in steps.
const GOAL_COST: u32 = 24;
/// What counts, in steps, that a run showed nothing new.
const STALE_COST: u32 = 6;
/// Steps beyond which goals are equally far.
const FAR: u32 = 60;

/// Inputs with other failures are other paths from the start.
fn fault_key(input: &Input) -> u64 {
    use std::hash::{BuildHasher, BuildHasherDefault};
    BuildHasherDefault::<rustc_hash::FxHasher>::default().hash_one(&input.faults)
}
