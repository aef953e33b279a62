//! The rounds: attempts are tried together, each on its own merits, until every finding is mended or
//! nothing is left to try.
//!
//! Invariant: what is accepted stays in every later round, but is judged again only at the end, when
//! nothing is left but what is accepted.

use crate::attempt::{
    Attempt, Feedback, MAX_ATTEMPTS, NewLeak, Plan, is_declared_later, with_inner,
};
use crate::files::Files;
use crate::holder::{field_of_site, is_writable, root_of};
use crate::op::{Op, conflict};
use crate::placement::Placement;
use crate::precedent::By;
use crate::releaser::Knowledge;
use crate::trial::{Bench, Key, Rejected, Use, Workshop};
use crate::walk::Moment;
use leakproof_detect::{Examination, Given, Problem, ProblemKind, Scope};
use leakproof_findings::{Finding, Kind, Sources};
use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

/// A round is a compilation and an analysis: more than this many are not worth waiting for.
const MAX_ROUNDS: usize = 24;
/// Compilations, most of a few units only.
const MAX_TURNS: usize = 200;
/// Instructions of programs that are analysed in vain, one round after the other, before the rest is
/// given up; at least and at most so many rounds.
const PATIENCE: usize = 400_000;
const MIN_PATIENCE: usize = 2;
const MAX_PATIENCE: usize = 7;

/// Where one finding stands.
#[derive(Clone, Debug)]
pub struct Case {
    pub plan: Plan,
    pub attempt: Attempt,
    pub state: State,
    pub tries: usize,
    /// What the most natural attempt met.
    pub first: Option<Feedback>,
    /// What is tried when no function releases the object with its parts: the parts, one by one.
    apart: Option<Attempt>,
    /// What was tried, and what is tried when nothing better is left.
    past: Vec<Attempt>,
    postponed: VecDeque<Attempt>,
    /// It was already tried without the attempt in another function that seemed to release its object.
    alone: bool,
    /// The best attempt that only lacks a proof, and what is missing.
    pub suggestion: Option<(Attempt, Vec<Problem>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Open,
    Accepted,
    GivenUp,
}

impl Case {
    pub fn new(plan: Plan) -> Case {
        Case {
            plan,
            attempt: Attempt::default(),
            state: State::Open,
            tries: 0,
            first: None,
            apart: None,
            past: Vec::new(),
            postponed: VecDeque::new(),
            alone: false,
            suggestion: None,
        }
    }

    pub fn ops(&self, use_of: Use) -> Option<Vec<Op>> {
        self.plan.ops(&self.attempt, use_of)
    }

    /// Whether the releasing function is defined behind the function that leaks.
    fn precedes_releaser(&self) -> bool {
        self.plan.way(&self.attempt).is_some_and(|w| w.prototype.is_some())
    }

    fn is_resize(&self) -> bool {
        let placement = self.plan.placement(&self.attempt);
        matches!(placement, Some(Placement::Resize { .. }))
    }

    fn reject(&mut self, feedback: Feedback) {
        self.tries += 1;
        if let Feedback::NewLeak(new) = &feedback
            && self.attempt.inner.is_empty()
        {
            self.apart = self.apart.take().or_else(|| with_inner(&self.attempt, new));
        }
        self.past.push(self.attempt.clone());
        let next = self.next(&feedback);
        self.first.get_or_insert(feedback);
        match next.filter(|_| self.tries < MAX_ATTEMPTS) {
            Some(next) => self.attempt = next,
            None => self.state = State::GivenUp,
        }
    }

    /// The best attempt that was not made yet.
    fn next(&mut self, feedback: &Feedback) -> Option<Attempt> {
        let next = self.plan.next(&self.attempt, feedback);
        let aside = self.plan.aside(&self.attempt, feedback);
        if aside.is_some() {
            self.postponed.extend(next.clone());
        }
        let first = [aside.or(next), self.apart.take()].into_iter().flatten();
        let mut all = first.chain(std::mem::take(&mut self.postponed));
        let next = all.find(|a| !self.past.contains(a));
        self.postponed = all.collect();
        next
    }

    /// Proven, as far as the analysis goes: accept, or keep as a suggestion. `complete`: all that is
    /// released has no parts that were never set.
    fn judge(&mut self, problems: Vec<Problem>, complete: bool) {
        let trusted = complete || self.plan.way(&self.attempt).is_some_and(|w| w.trusted);
        let reserved = self.plan.reservation(&self.attempt).is_some();
        let proven = trusted && !reserved;
        if problems.is_empty() && proven {
            self.state = State::Accepted;
            return;
        }
        if problems.iter().all(|p| p.kind.is_soft()) {
            self.suggestion.get_or_insert((self.attempt.clone(), problems.clone()));
        }
        if problems.is_empty() {
            // Nothing better can be expected of another place, but perhaps of another function.
            let next = self.plan.unreserved(&self.attempt).filter(|_| trusted && reserved);
            match next.filter(|a| !self.past.contains(a)) {
                Some(next) => self.past.push(std::mem::replace(&mut self.attempt, next)),
                None => self.state = State::GivenUp,
            }
        } else {
            self.reject(Feedback::Problems(problems));
        }
    }
}

/// All findings on their way.
pub struct Session<'s, 'p> {
    pub workshop: &'s mut Workshop<'p>,
    pub files: &'s Files,
    pub sources: &'s Sources,
    pub knowledge: &'s Knowledge<'s>,
    pub cases: Vec<Case>,
    /// The findings of the program as it was.
    pub known: Vec<Key>,
    pub rounds: usize,
    /// Functions whose attempts are tried one at a time, because together they confuse each other.
    serial: BTreeSet<String>,
    /// Functions whose attempts are tried together only as far as no way leads from one to the other.
    touchy: BTreeSet<String>,
    /// Attempts that wait: one of them and of those that are tried makes a function leak that none of
    /// them changes.
    waiting: Vec<usize>,
    /// Leaks that others hid: they are mended after those.
    pub hidden: Vec<Finding>,
    /// Something was accepted in a round with something else in it that was not judged, or not accepted.
    mixed: bool,
    /// Rounds since something was accepted.
    vain: usize,
}

impl<'s, 'p> Session<'s, 'p> {
    pub fn new(
        workshop: &'s mut Workshop<'p>,
        files: &'s Files,
        sources: &'s Sources,
        knowledge: &'s Knowledge<'s>,
        cases: Vec<Case>,
        known: Vec<Key>,
    ) -> Self {
        Self {
            workshop,
            files,
            sources,
            knowledge,
            cases,
            known,
            rounds: 0,
            serial: BTreeSet::new(),
            touchy: BTreeSet::new(),
            waiting: Vec::new(),
            hidden: Vec::new(),
            mixed: false,
            vain: 0,
        }
    }

    pub fn run(&mut self) {
        let mut turns = 0;
        let patience = PATIENCE / self.workshop.instructions().max(1);
        let patience = patience.clamp(MIN_PATIENCE, MAX_PATIENCE);
        while self.rounds < MAX_ROUNDS
            && self.vain < patience
            && turns < MAX_TURNS
            && self.cases.iter().any(|c| c.state == State::Open)
        {
            turns += 1;
            self.round();
        }
        for case in &mut self.cases {
            if case.state == State::Open {
                case.state = State::GivenUp;
            }
        }
        self.verify();
    }

    /// Accepted fixes were judged beside attempts that are gone: the program with nothing but them has
    /// to stand by itself. What does not is taken back.
    fn verify(&mut self) {
        while self.mixed {
            self.mixed = false;
            let Some(bench) = self.bench(&[], Use::Analysis) else { return self.take_back_all() };
            if bench.files.is_empty() {
                return;
            }
            if self.workshop.compile(&bench).is_err() {
                return self.take_back_all();
            }
            let examination = self.workshop.examine_patched(&bench);
            let owners = bench.owners();
            let fresh = self.fresh_leaks(&bench, &examination);
            for i in 0..self.cases.len() {
                let leaks = fresh.iter().any(|(key, _)| key.function == self.function_of(i));
                let wrong = leaks || !self.problems(i, &owners, &examination).is_empty();
                if self.cases[i].state == State::Accepted && wrong {
                    self.cases[i].state = State::GivenUp;
                    self.mixed = true;
                }
            }
        }
    }

    /// Fixes that cannot be looked at together are not known to be safe together.
    fn take_back_all(&mut self) {
        for case in self.cases.iter_mut().filter(|c| c.state == State::Accepted) {
            case.state = State::GivenUp;
        }
    }

    /// Leaks of a patched program that nobody knew.
    fn fresh_leaks<'f>(
        &self,
        bench: &Bench,
        examination: &'f Examination,
    ) -> Vec<(Key, &'f Finding)> {
        let leaks = examination.report.leaks.iter();
        let found = leaks.map(|f| (bench.original(f, self.files), f));
        found.filter(|(key, _)| !self.known.iter().any(|k| k.is_told_by(key))).collect()
    }

    fn round(&mut self) {
        let tried = self.chosen();
        if tried.is_empty() && !self.waiting.is_empty() {
            self.go_on_with_waiting();
            return;
        }
        if tried.is_empty() {
            self.give_up_stuck();
            return;
        }
        let Some(bench) = self.bench(&tried, Use::Analysis).map(|b| b.judging(&tried)) else {
            self.one_at_a_time(&tried, "the edits overlap");
            return;
        };
        if let Err(rejected) = self.workshop.compile(&bench) {
            rejected.into_iter().for_each(|r| self.refused_by_compiler(&tried, r));
            return;
        }
        self.rounds += 1;
        let examination = self.workshop.examine_patched(&bench);
        self.evaluate(&tried, &bench, &examination);
    }

    /// The attempts of this round: those that can be done together with each other and with what
    /// is accepted.
    fn chosen(&self) -> Vec<usize> {
        let mut ops: Vec<(&str, Op)> = Vec::new();
        for case in self.cases.iter().filter(|c| c.state == State::Accepted) {
            let file = case.plan.finding.leak.file.as_str();
            ops.extend(case.ops(Use::Reading).unwrap_or_default().into_iter().map(|op| (file, op)));
        }
        let mut chosen: Vec<usize> = Vec::new();
        for i in self.order() {
            let case = &self.cases[i];
            if case.state != State::Open || self.waiting.contains(&i) {
                continue;
            }
            let file = case.plan.finding.leak.file.as_str();
            let Some(own) = case.ops(Use::Reading) else { continue };
            // The same change for two findings is one change.
            let done = own.iter().all(|op| ops.iter().any(|(f, o)| *f == file && o == op));
            let waits = |&j: &usize| self.take_turns(i, j);
            if !done && chosen.iter().any(waits) {
                continue;
            }
            let clash = |op: &Op| ops.iter().any(|(f, other)| *f == file && conflict(op, other));
            if own.iter().any(clash) {
                continue;
            }
            ops.extend(own.into_iter().map(|op| (file, op)));
            chosen.push(i);
        }
        chosen
    }

    /// Whether two attempts are not for the same round.
    fn take_turns(&self, a: usize, b: usize) -> bool {
        let function = &self.cases[a].plan.finding.function;
        *function == self.cases[b].plan.finding.function
            && (self.serial.contains(function)
                || (self.touchy.contains(function) && self.may_meet(a, b)))
    }

    /// Whether a way may lead from the release of one attempt in a function to that of another one.
    fn may_meet(&self, a: usize, b: usize) -> bool {
        let leaves = |i: usize| self.cases[i].plan.leaves(&self.cases[i].attempt);
        !(leaves(a) && leaves(b))
    }

    /// Cases of functions whose attempts take turns come last, and of those the least tried, the last leak first: a
    /// release behind all ways serves those that were left earlier, too.
    fn order(&self) -> impl Iterator<Item = usize> {
        let takes_turns = |i: &usize| {
            let function = &self.cases[*i].plan.finding.function;
            self.serial.contains(function) || self.touchy.contains(function)
        };
        let (mut turns, free): (Vec<_>, Vec<_>) = (0..self.cases.len()).partition(takes_turns);
        turns.sort_by_key(|&i| (self.cases[i].tries, Reverse(i)));
        free.into_iter().chain(turns)
    }

    /// Half of what waits is tried next.
    fn go_on_with_waiting(&mut self) {
        let half = self.waiting.len() / 2;
        self.waiting.truncate(half);
    }

    /// Nothing can be tried: what is open clashes with what is accepted.
    fn give_up_stuck(&mut self) {
        for case in self.cases.iter_mut().filter(|c| c.state == State::Open) {
            let reason = "another fix changes the same statement; run again after applying it";
            case.reject(Feedback::Compiler(reason.to_owned()));
        }
    }

    fn bench(&self, tried: &[usize], use_of: Use) -> Option<Bench> {
        let mut ops = Vec::new();
        for (i, case) in self.cases.iter().enumerate() {
            if case.state == State::Accepted || tried.contains(&i) {
                let file = &case.plan.finding.leak.file;
                ops.extend(case.ops(use_of)?.into_iter().map(|op| (file.clone(), (i, op))));
            }
        }
        self.workshop.patch(self.files, &ops, use_of)
    }

    fn function_of(&self, case: usize) -> String {
        self.cases[case].plan.finding.function.clone()
    }

    /// From now on the attempts of these functions take turns; an attempt that was alone is at
    /// fault itself.
    fn one_at_a_time(&mut self, tried: &[usize], reason: &str) {
        if let [only] = tried {
            self.cases[*only].reject(Feedback::Compiler(reason.to_owned()));
            return;
        }
        let functions: BTreeSet<String> = tried.iter().map(|&i| self.function_of(i)).collect();
        let fresh: Vec<String> =
            functions.iter().filter(|f| !self.serial.contains(*f)).cloned().collect();
        if fresh.is_empty() {
            // They take turns already, and still several functions are involved.
            let last = tried[tried.len() - 1];
            self.cases[last].reject(Feedback::Compiler(reason.to_owned()));
        }
        self.serial.extend(fresh);
    }

    fn refused_by_compiler(&mut self, tried: &[usize], rejected: Rejected) {
        let is_about = |&i: &usize| {
            let case = &self.cases[i];
            let here = rejected.files.contains(&case.plan.finding.leak.file);
            let way = case.plan.way(&case.attempt).map(|w| format!("'{}'", w.name));
            let named = way.is_some_and(|name| rejected.message.contains(&name))
                && (case.precedes_releaser() || !is_declared_later(&rejected.message));
            rejected.owner.map_or(here && named, |owner| owner == i)
        };
        let about: Vec<usize> = tried.iter().copied().filter(is_about).collect();
        match about.as_slice() {
            [_, ..] => {
                for i in about {
                    self.cases[i].reject(Feedback::Compiler(rejected.message.clone()));
                }
            }
            [] => {
                let in_file: Vec<usize> = tried
                    .iter()
                    .copied()
                    .filter(|&i| rejected.files.contains(&self.cases[i].plan.finding.leak.file))
                    .collect();
                let suspects = if in_file.is_empty() { tried.to_vec() } else { in_file };
                self.one_at_a_time(&suspects, &rejected.message);
            }
        }
    }

    fn evaluate(&mut self, tried: &[usize], bench: &Bench, examination: &Examination) {
        let others = self.cases.iter().any(|c| c.state == State::Accepted);
        let leaks = examination.report.leaks.iter();
        let found: Vec<(Key, &Finding)> =
            leaks.map(|f| (bench.original(f, self.files), f)).collect();
        let found = self.without_artefacts(tried, bench, found);
        let hidden = self.hidden_among(tried, &found);
        let blamed = self.blame_new_leaks(tried, &found, &hidden);
        let owners = bench.owners();
        let mut parted = false;
        let narrowed = !blamed.is_empty() && blamed.iter().any(|i| self.waiting.contains(i));
        if !narrowed {
            self.go_on_with_waiting();
        }
        for i in tried.iter().copied().filter(|i| !blamed.contains(i)) {
            let problems = self.problems(i, &owners, examination);
            let complete = is_complete(i, &owners, examination);
            let key = Key::of(&self.cases[i].plan.finding);
            let same = |k: &Key| k.same_object(&key) && k.leak == key.leak;
            let other = |k: &Key, f: &Finding| self.is_beside(&[i], k, f) || self.is_sibling(i, f);
            let gone = !found.iter().any(|(k, f)| same(k) && !other(k, f));
            if self.may_be_confused(i, tried, &problems) {
                // It is tried once more, without the others of its function.
                self.touchy.insert(self.function_of(i));
                continue;
            }
            if let Some(other) = self.released_by(i, tried, &owners, bench, &problems) {
                self.cases[i].alone = true;
                self.waiting.push(other);
                continue;
            }
            let case = &mut self.cases[i];
            match (gone, problems.is_empty()) {
                (false, true) => {
                    parted = true;
                    case.reject(Feedback::NotGone);
                }
                (false, false) => case.reject(Feedback::Problems(problems)),
                (true, _) => case.judge(problems, complete),
            }
        }
        let accepted: Vec<usize> =
            tried.iter().copied().filter(|&i| self.cases[i].state == State::Accepted).collect();
        match accepted.is_empty() {
            false => self.vain = 0,
            // Half of the attempts is cleared of suspicion next; a release on some of the paths is a part of one.
            true => self.vain += usize::from(!narrowed && !parted),
        }
        self.mixed |= !accepted.is_empty() && (others || accepted.len() < tried.len());
        self.take_hidden(&accepted, bench, hidden);
        self.check_warnings(&accepted);
    }

    /// Whether it may be another attempt in the same function that releases what an attempt does.
    fn may_be_confused(&self, case: usize, tried: &[usize], problems: &[Problem]) -> bool {
        let function = self.function_of(case);
        let twice = problems.iter().any(|p| p.kind == ProblemKind::ReleasedElsewhere);
        let beside = |&i: &usize| {
            let there = self.function_of(i) == function && self.may_meet(case, i);
            there && !self.is_one_change(&[case, i])
        };
        twice && tried.iter().any(beside)
    }

    /// The attempt in another function that may be what releases the object of an attempt again; each asks once.
    fn released_by(
        &self,
        case: usize,
        tried: &[usize],
        owners: &[Vec<usize>],
        bench: &Bench,
        problems: &[Problem],
    ) -> Option<usize> {
        let twice = problems.iter().filter(|p| p.kind == ProblemKind::ReleasedElsewhere);
        let places: BTreeSet<&str> = twice.map(|p| p.at.as_str()).collect();
        let stretches = bench.places().into_iter().zip(owners);
        let there =
            stretches.filter(|(lines, _)| lines.iter().any(|l| places.contains(l.as_str())));
        let mut others = there.flat_map(|(_, owners)| owners.iter().copied());
        let function = self.function_of(case);
        let is_other = |i: &usize| {
            tried.contains(i) && self.function_of(*i) != function && !self.waiting.contains(i)
        };
        if self.cases[case].alone { None } else { others.find(is_other) }
    }

    /// A leaked owner hides what it holds. What a local still refers to when the function ends was
    /// not lost by a release: it leaked before and is a finding of its own now.
    fn hidden_among<'f>(
        &self,
        tried: &[usize],
        found: &[(Key, &'f Finding)],
    ) -> Vec<(Key, &'f Finding)> {
        let is_hidden = |(key, finding): &&(Key, &Finding)| {
            let known = self.known.iter().any(|k| k.is_told_by(key));
            let there = tried.iter().any(|&i| self.function_of(i) == key.function);
            let uncovered = !known && finding.kind == Kind::Forgotten;
            let sibling = || tried.iter().any(|&i| self.is_sibling(i, finding));
            let parted = || sibling() && !self.is_planned(key, finding);
            there && (uncovered || self.is_beside(tried, key, finding) || parted())
        };
        found.iter().filter(is_hidden).cloned().collect()
    }

    /// Whether a leak is of a part of an owner that also loses, at the same place, the part that an attempt
    /// releases: that did not make it, two parts of one owner are one finding.
    fn is_beside(&self, tried: &[usize], key: &Key, leak: &Finding) -> bool {
        if self.is_planned(key, leak) {
            return false;
        }
        tried.iter().filter(|&&i| self.function_of(i) == key.function).any(|&i| {
            let case = &self.cases[i];
            let Some(holder) = case.plan.holder(&case.attempt) else { return false };
            let mended = &case.plan.finding;
            let owner = format!("{}->", root_of(&mended.variable));
            let part = mended.variable.strip_prefix(&owner).filter(|p| holder.text.ends_with(*p));
            let other = leak.variable.strip_prefix(&owner);
            let (Some(part), Some(other)) = (part, other) else { return false };
            let inside = other.strip_prefix(part);
            let apart = !inside.is_some_and(|o| o.is_empty() || o.starts_with(['-', '.', '[']));
            apart && Key::of(mended).leak == key.leak
        })
    }

    /// Whether something is done about the loss of a variable already, or will be.
    fn is_planned(&self, key: &Key, leak: &Finding) -> bool {
        let findings = self.cases.iter().map(|c| &c.plan.finding).chain(&self.hidden);
        let mut told = findings.filter(|told| told.variable == leak.variable);
        told.any(|told| Key::of(told).leak == key.leak)
    }

    /// Whether a leak is of another object that the same call left in another variable: of several objects of one
    /// call that are lost at one place, one is told.
    fn is_sibling(&self, case: usize, leak: &Finding) -> bool {
        let case = &self.cases[case];
        let Some(holder) = case.plan.holder(&case.attempt) else { return false };
        let filled = self.filled_at(&case.plan.finding);
        let is_filled = |name: &str| filled.iter().any(|f| f == name);
        let (own, other) = (holder.text.as_str(), leak.variable.as_str());
        own != other && is_filled(own) && is_filled(other)
    }

    /// The variables whose addresses are given to the call that makes the object of a finding.
    fn filled_at(&self, finding: &Finding) -> Vec<String> {
        let alloc = &finding.alloc;
        let view = self.files.known(&finding.leak.file).filter(|_| alloc.file == finding.leak.file);
        let offset = view.and_then(|v| v.offset(alloc.line, alloc.column));
        let (Some(view), Some(offset)) = (view, offset) else { return Vec::new() };
        let Some(statement) = view.statement(offset) else { return Vec::new() };
        let addresses = view.find(statement.node, |n| {
            n.kind() == "pointer_expression" && view.source(n).starts_with('&')
        });
        addresses.into_iter().map(|n| view.source(n)[1..].trim().to_owned()).collect()
    }

    /// What accepted fixes uncovered is to be mended next.
    fn take_hidden(&mut self, accepted: &[usize], bench: &Bench, hidden: Vec<(Key, &Finding)>) {
        for (key, finding) in hidden {
            if accepted.iter().any(|&i| self.function_of(i) == key.function) {
                self.hidden.push(bench.restored(finding, self.files));
                self.known.push(key);
            }
        }
    }

    /// What speaks against an attempt.
    fn problems(
        &self,
        case: usize,
        owners: &[Vec<usize>],
        examination: &Examination,
    ) -> Vec<Problem> {
        let mut problems = problems_of(case, owners, examination);
        if self.cases[case].is_resize() {
            // What is given to a resizing function is on the heap or null.
            problems.retain(|p| p.kind != ProblemKind::Foreign);
        }
        let case = &self.cases[case];
        match self.precedent(case).filter(|_| !problems.is_empty()) {
            // It is new, whatever the analysis takes it for, and nobody asks for it any more.
            Some(Scope::Past) if case.plan.is_idle(&case.attempt) => {
                problems.retain(|p| p.is_of_later());
            }
            Some(known) if problems.iter().all(Problem::is_past) => {
                problems.retain(|p| p.scope > known);
            }
            _ => {}
        }
        if case.plan.is_filled(&case.attempt) {
            problems.retain(|p| p.kind != ProblemKind::Unclear);
        }
        problems
    }

    /// What the program shows of the past of what an attempt releases, by what it does with such objects itself.
    fn precedent(&self, case: &Case) -> Option<Scope> {
        let (plan, attempt) = (&case.plan, &case.attempt);
        let holder = plan.holder(attempt)?;
        let way = plan.way(attempt).filter(|w| w.given == Given::Pointer)?;
        let by = By { name: &way.name, arg: way.arg };
        let precedents = self.workshop.precedents();
        let known = |m: &Moment| precedents.known(&plan.finding, &holder.text, *m, by);
        let all: Option<Vec<Scope>> = plan.moments(attempt)?.iter().map(known).collect();
        all?.into_iter().min()
    }

    /// Attempts after which the program has leaks that it did not have are rejected: those of the
    /// same function, or all. Returns them.
    fn blame_new_leaks(
        &mut self,
        tried: &[usize],
        found: &[(Key, &Finding)],
        hidden: &[(Key, &Finding)],
    ) -> BTreeSet<usize> {
        let is_known = |known: &[Key], key: &Key| {
            let known = known.iter().chain(hidden.iter().map(|(k, _)| k));
            known.into_iter().any(|k| k.is_told_by(key))
        };
        let fresh: Vec<&(Key, &Finding)> =
            found.iter().filter(|(k, _)| !is_known(&self.known, k)).collect();
        let mut blamed = BTreeSet::new();
        for (key, leak) in fresh {
            let text = describe(leak);
            let suspects = self.suspects(tried, &key.function);
            if suspects.iter().any(|i| blamed.contains(i)) {
                continue;
            }
            blamed.extend(suspects.iter().copied());
            if !self.is_one_change(&suspects) {
                match suspects.iter().any(|&i| self.function_of(i) != key.function) {
                    true => self.waiting.extend(&suspects[suspects.len().div_ceil(2)..]),
                    false => {
                        let reason = format!("it would make another leak: {text}");
                        self.one_at_a_time(&suspects, &reason);
                    }
                }
                continue;
            }
            for i in suspects {
                let release = self.release_of_part(&self.cases[i], leak);
                self.cases[i].reject(Feedback::NewLeak(NewLeak { text: text.clone(), release }));
            }
        }
        blamed
    }

    /// The attempts that may have made a function leak: its own, else those in functions that it may
    /// come to, else all.
    fn suspects(&self, tried: &[usize], function: &str) -> Vec<usize> {
        let among = |names: &BTreeSet<&str>| -> Vec<usize> {
            let named = |i: &usize| names.contains(self.function_of(*i).as_str());
            tried.iter().copied().filter(named).collect()
        };
        let own = among(&[function].into());
        if !own.is_empty() {
            return own;
        }
        let below = among(&self.workshop.reach().from(function));
        if below.is_empty() { tried.to_vec() } else { below }
    }

    /// Leaks of a patched program without those that only the judgement brings about in functions that no
    /// attempt changes.
    fn without_artefacts<'f>(
        &mut self,
        tried: &[usize],
        bench: &Bench,
        mut found: Vec<(Key, &'f Finding)>,
    ) -> Vec<(Key, &'f Finding)> {
        let functions: BTreeSet<String> = tried.iter().map(|&i| self.function_of(i)).collect();
        let known = self.known.clone();
        let doubtful = |key: &Key| {
            !functions.contains(&key.function) && !known.iter().any(|k| k.is_told_by(key))
        };
        if found.iter().any(|(key, _)| doubtful(key)) {
            let plain = self.workshop.examine_plainly(bench).report.leaks;
            let plain: Vec<Key> = plain.iter().map(|f| bench.original(f, self.files)).collect();
            found.retain(|(key, _)| !doubtful(key) || plain.iter().any(|k| k.is_told_by(key)));
        }
        found
    }

    /// Whether attempts are the same change for several findings.
    fn is_one_change(&self, cases: &[usize]) -> bool {
        let change = |i: &usize| {
            let case = &self.cases[*i];
            (&case.plan.finding.leak.file, case.ops(Use::Reading))
        };
        cases.windows(2).all(|two| change(&two[0]) == change(&two[1]))
    }

    /// The statement that releases a part of what a plan releases.
    fn release_of_part(&self, case: &Case, leak: &Finding) -> Option<String> {
        let plan = &case.plan;
        let owner = &plan.holder(&case.attempt)?.text;
        let inside = format!("{owner}->");
        let path = if leak.variable.starts_with(&inside) && is_writable(&leak.variable) {
            leak.variable.clone()
        } else {
            let cxx = self.files.known(&plan.finding.leak.file)?.cxx;
            format!("{inside}{}", field_of_site(leak, self.sources, cxx)?)
        };
        let way = self.knowledge.of_family(&leak.family).filter(|w| !w.needs_others())?;
        Some(way.statement(&path, false, plan.space))
    }

    /// Accepted attempts that make clang warn are taken back.
    fn check_warnings(&mut self, accepted: &[usize]) {
        let mut left = accepted.to_vec();
        while !left.is_empty() {
            let Some(bench) = self.bench(&[], Use::Reading) else { return };
            let Some(rejected) = self.workshop.new_warning(&bench) else { return };
            let named = left.iter().copied().find(|&i| self.is_named_in(i, &rejected));
            let owner = rejected.owner.filter(|o| left.contains(o));
            let guilty = owner.or(named).or(left.last().copied());
            let Some(guilty) = guilty else { return };
            left.retain(|i| *i != guilty);
            self.cases[guilty].state = State::Open;
            self.cases[guilty].reject(Feedback::Compiler(rejected.message));
        }
    }
}

impl Session<'_, '_> {
    /// Whether clang's message is about the variable that an attempt releases.
    fn is_named_in(&self, case: usize, rejected: &Rejected) -> bool {
        let case = &self.cases[case];
        let root = case.plan.holder(&case.attempt).map(|h| root_of(&h.text).to_owned());
        rejected.files.contains(&case.plan.finding.leak.file)
            && root.is_some_and(|root| rejected.message.contains(&format!("'{root}'")))
    }
}

fn describe(finding: &Finding) -> String {
    let name = match finding.variable.as_str() {
        "" => "an object".to_owned(),
        variable => format!("`{variable}`"),
    };
    format!("{name} in {} (line {})", finding.function, finding.leak.line)
}

/// Whether all objects that the watches of an attempt release started as zero.
fn is_complete(case: usize, owners: &[Vec<usize>], examination: &Examination) -> bool {
    let own = |watch: usize| owners.get(watch).is_some_and(|o| o.contains(&case));
    examination.judgements.iter().filter(|j| own(j.watch)).all(|j| j.zeroed)
}

/// What the analysis has against the watches of an attempt.
fn problems_of(case: usize, owners: &[Vec<usize>], examination: &Examination) -> Vec<Problem> {
    let own = |watch: usize| owners.get(watch).is_some_and(|o| o.contains(&case));
    let judged: Vec<_> = examination.judgements.iter().filter(|j| own(j.watch)).collect();
    let mut problems: Vec<Problem> = judged.iter().flat_map(|j| j.problems.clone()).collect();
    let idle = |p: &Problem| p.kind == ProblemKind::NoEffect;
    let effective = judged.iter().any(|j| !j.untouched && !j.problems.iter().any(idle));
    // Declarations and moved statements release nothing, as long as something does.
    if effective {
        problems.retain(|p| p.kind != ProblemKind::NoEffect);
    } else if !judged.iter().any(|j| j.direct) {
        problems.push(Problem {
            kind: ProblemKind::NoEffect,
            line: 0,
            at: String::new(),
            note: "the compiler makes no code of it".to_owned(),
            scope: Scope::Rest,
        });
    }
    problems.sort();
    problems.dedup();
    problems
}
