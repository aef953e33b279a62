//! Is this release safe? The three conditions, on every path through it, of releases that the
//! caller names by their position.
//!
//! In: a function that was run with its log kept. Out: for each watched release what speaks
//! against it, with the place. The conditions are those of LeakFix: what is released was allocated
//! before, nobody else releases it, nobody uses it afterwards. Whatever cannot be decided speaks
//! against it: silence is a proof as far as models and summaries are right.

mod record;
mod start;

use crate::apart::apart;
use crate::component::Env;
use crate::describe::Describe;
use leakproof_findings::Location;
use leakproof_guard::{Base, Node, Term, Terms, is_contradiction};
use leakproof_ir::{Callee, InitValue, Inst, InstId, InstKind, Linkage, Loc, ValueKind};
use leakproof_models::{Outcome, Returns};
use leakproof_program::{CallGraph, FuncRef, Program};
use leakproof_smt::{Answer, Session};
use leakproof_summary::{
    Audit, BaseKind, Exec, Leaf, Leaves, Place, Release, Slot, SymKind, Touch, TouchKind, What,
};
use record::Record;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Questions about one stretch to the solver: more than these, and nothing is known; and as many
/// when something is known that settles it already.
const MAX_QUESTIONS: u32 = 600;
const ENOUGH_QUESTIONS: u32 = 60;

/// What a released pointer may refer to: more, and nothing is known.
const MAX_ALTERNATIVES: usize = 400;

/// A stretch of source text in which releases are judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    pub file: String,
    /// Line and column, 1-based; the end is exclusive.
    pub start: (u32, u32),
    pub end: (u32, u32),
}

/// What was found out about a watched stretch in one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Index into `Options::watch`.
    pub watch: usize,
    pub func: FuncRef,
    /// The text is in this function; otherwise it calls the one that has it.
    pub direct: bool,
    /// Nothing: the releases are safe.
    pub problems: Vec<Problem>,
    /// Every object that is given to be released was zero when it was made: no part of it is unset.
    pub zeroed: bool,
    /// The function calls the one that has the text, and nothing of its own is released by that.
    pub untouched: bool,
}

/// One thing that speaks against a release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub kind: ProblemKind,
    /// Where it happens, and in words.
    pub line: u32,
    pub at: String,
    pub note: String,
    pub scope: Scope,
}

/// What a problem is about. Whoever knows better what became of an object may overrule what is said of its past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// What the released object holds, and how that came to be.
    PartsPast,
    /// Who had the object or released it before, and who still refers to it.
    Past,
    /// Anything else: what it is, and what is done afterwards.
    Rest,
}

/// Which condition fails, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    /// The pointer may not have been set.
    Uninitialised,
    /// A call may have set the pointer to something, and what that is was lost sight of.
    Unclear,
    /// The pointer may refer to something that is not on the heap.
    NotHeap,
    /// The pointer comes from outside the function: what it refers to is not known.
    Foreign,
    /// The expression goes through a pointer that may be null.
    NullOwner,
    /// It may not point to the start of an object, or to one of several.
    Inexact,
    /// It may be released already, or is released again.
    ReleasedElsewhere,
    /// Somebody unknown may hold it or release it.
    Escaped,
    /// The same, but not on all paths that lead to the release.
    EscapedOnSome,
    UsedAfter,
    /// Memory that outlives the function still refers to it.
    StillHeld,
    /// No path comes here, or what is called releases nothing.
    NoEffect,
    /// The analysis gave up.
    Undecided,
}

impl Problem {
    /// Whether it is about what happens to the object afterwards, or whether there is a release at all.
    pub fn is_of_later(&self) -> bool {
        use ProblemKind as K;
        let again = self.kind == K::ReleasedElsewhere && self.scope == Scope::Rest;
        again || matches!(self.kind, K::UsedAfter | K::NullOwner | K::NoEffect | K::Undecided)
    }

    /// Whether it is only about what happened to an object before, and who still refers to it.
    pub fn is_past(&self) -> bool {
        use ProblemKind as K;
        let kept = matches!(self.kind, K::Escaped | K::EscapedOnSome | K::StillHeld);
        self.scope < Scope::Rest && (kept || self.kind == K::ReleasedElsewhere)
    }
}

impl ProblemKind {
    /// The number of LeakFix's condition that fails; 0 when the question stayed open.
    pub fn condition(self) -> u8 {
        use ProblemKind as K;
        match self {
            K::Uninitialised | K::Unclear | K::NotHeap => 1,
            K::Foreign | K::NullOwner | K::Inexact => 1,
            K::ReleasedElsewhere | K::Escaped | K::EscapedOnSome => 2,
            K::UsedAfter | K::StillHeld => 3,
            K::NoEffect | K::Undecided => 0,
        }
    }

    /// It leaves a release worth showing: that may well be right, but is not proven.
    pub fn is_soft(self) -> bool {
        use ProblemKind as K;
        matches!(self, K::Escaped | K::EscapedOnSome | K::Foreign | K::Undecided)
    }
}

impl Watch {
    fn covers(&self, file: &str, loc: Loc) -> bool {
        let at = (loc.line, loc.column);
        file == self.file && self.start <= at && at < self.end
    }
}

/// The watched stretches that have code in a function.
pub fn watches_in(program: &Program, watch: &[Watch], f: FuncRef) -> Vec<usize> {
    let module = program.module(f.module);
    let known = |w: &Watch| module.files.values().any(|name| *name == w.file);
    let Some(body) = program.function(f).body.as_ref().filter(|_| watch.iter().any(known)) else {
        return Vec::new();
    };
    let covered = |w: &Watch| {
        body.insts.values().any(|i| i.loc.is_known() && w.covers(module.file_name(i.loc), i.loc))
    };
    (0..watch.len()).filter(|&i| covered(&watch[i])).collect()
}

/// The instructions of a function whose releases are judged: those of watched stretches, and calls
/// that may lead to some.
pub fn judged(env: &Env<'_>, f: FuncRef) -> FxHashSet<InstId> {
    let Some(body) = env.program.function(f).body.as_ref() else { return FxHashSet::default() };
    let module = env.program.module(f.module);
    let concerning = env.watched.concerning(env, f);
    let calls = concerning.iter().any(|(_, direct)| !direct);
    let direct: Vec<&Watch> =
        concerning.iter().filter(|w| w.1).map(|w| &env.options.watch[w.0]).collect();
    let is_judged = |inst: &Inst| {
        let covered = |w: &&Watch| w.covers(module.file_name(inst.loc), inst.loc);
        (calls && matches!(inst.kind, InstKind::Call { .. }))
            || (inst.loc.is_known() && direct.iter().any(covered))
    };
    body.insts.iter().filter(|(_, inst)| is_judged(inst)).map(|(id, _)| id).collect()
}

/// What a function says about objects that come from its callers, those answer for: when all of
/// them are known and release the object through it, their answers stand for its own.
pub fn settle(program: &Program, calls: &CallGraph, mut all: Vec<Judgement>) -> Vec<Judgement> {
    let answered: BTreeSet<(usize, FuncRef)> = all.iter().map(|j| (j.watch, j.func)).collect();
    let foreign = |j: &Judgement| j.problems.iter().any(|p| p.kind == ProblemKind::Foreign);
    if !all.iter().any(foreign) {
        return all;
    }
    let taken = taken_addresses(program);
    for judgement in &mut all {
        let f = judgement.func;
        let internal = program.function(f).linkage == Linkage::Internal;
        let callers = calls.callers_of(f);
        let all_known =
            (internal || program.is_closed(f.module)) && !callers.is_empty() && !taken.contains(&f);
        if all_known && callers.iter().all(|c| answered.contains(&(judgement.watch, *c))) {
            judgement.problems.retain(|p| p.kind != ProblemKind::Foreign);
        }
    }
    all
}

/// Functions whose address is a value somewhere: who calls them is not known for sure.
fn taken_addresses(program: &Program) -> BTreeSet<FuncRef> {
    let mut taken = BTreeSet::new();
    for (m, module) in program.modules().iter().enumerate() {
        let m = m as u32;
        let values = module.functions.values().flat_map(|f| f.values.values());
        let used = values.filter_map(|v| match v.kind {
            ValueKind::Function(f) => Some(f),
            _ => None,
        });
        let entries = module.globals.values().filter_map(|g| g.init.as_ref()).flatten();
        let initial = entries.filter_map(|e| match e.value {
            InitValue::Function(f) => Some(f),
            _ => None,
        });
        taken.extend(used.chain(initial).map(|f| program.resolve(m, f).func()));
    }
    taken
}

/// Judges the watched releases of a function that was run with its log kept.
pub fn judge(env: &Env<'_>, exec: &mut Exec<'_>, audit: &Audit) -> Vec<Judgement> {
    let func = exec.me;
    let watches = env.watched.concerning(env, func);
    let mut list = Vec::new();
    if !watches.is_empty() {
        apart(|| list = judge_all(env, exec, audit, watches));
    }
    env.watched.judged(&list);
    list
}

/// Judges the releases of some stretches, with one session for all of them.
fn judge_all(
    env: &Env<'_>,
    exec: &mut Exec<'_>,
    audit: &Audit,
    watches: Vec<(usize, bool)>,
) -> Vec<Judgement> {
    let func = exec.me;
    let mut list = Vec::new();
    let mut judge = Judge::new(env, exec, audit);
    for (watch, direct) in watches {
        let answers = judge.watch(&env.options.watch[watch], direct);
        let (problems, zeroed) = judge.verdict();
        let untouched = !answers && !direct && judge.is_untouched(watch);
        if answers || direct || untouched {
            list.push(Judgement { watch, func, direct, problems, zeroed, untouched });
        }
    }
    list
}

struct Judge<'j, 'a> {
    env: &'j Env<'j>,
    exec: &'j mut Exec<'a>,
    audit: &'j Audit,
    record: Record,
    session: Session,
    /// Questions that were asked before.
    answers: FxHashMap<Term, bool>,
    problems: BTreeSet<Problem>,
    zeroed: bool,
    /// What the question at hand is about.
    scope: Scope,
    /// Questions about the stretch at hand.
    questions: u32,
}

/// A release of one object under one condition.
#[derive(Clone, Copy)]
struct Case<'r> {
    release: &'r Release,
    base: Base,
    when: Term,
}

impl<'j, 'a> Judge<'j, 'a> {
    fn new(env: &'j Env<'j>, exec: &'j mut Exec<'a>, audit: &'j Audit) -> Self {
        let record = Record::new(exec, audit);
        Self {
            env,
            exec,
            audit,
            record,
            session: Session::new(),
            answers: FxHashMap::default(),
            problems: BTreeSet::new(),
            zeroed: true,
            scope: Scope::Rest,
            questions: 0,
        }
    }

    /// What was found out about the watch at hand; the next one starts afresh.
    fn verdict(&mut self) -> (Vec<Problem>, bool) {
        self.questions = 0;
        let problems = std::mem::take(&mut self.problems).into_iter().collect();
        (problems, std::mem::replace(&mut self.zeroed, true))
    }
}

impl Judge<'_, '_> {
    /// Judges all releases of a stretch; false when there are none.
    fn watch(&mut self, watch: &Watch, direct: bool) -> bool {
        let audit = self.audit;
        let releases: Vec<&Release> =
            audit.releases.iter().filter(|r| self.is_watched_release(watch, r)).collect();
        if self.exec.limit.is_some() {
            let at = self.exec.place(self.exec.function.loc);
            self.say(ProblemKind::Undecided, at, "the function is too large to be followed");
            return true;
        }
        if !direct && releases.is_empty() {
            return false;
        }
        let mut effective = false;
        for release in &releases {
            if self.is_settled(release.at) {
                return true;
            }
            effective |= self.release(watch, release);
        }
        if !effective && direct {
            let at = self.exec.place(self.exec.function.loc);
            self.say(ProblemKind::NoEffect, at, "no path on which it would release anything");
        }
        for touch in &audit.touches {
            if self.is_watched(watch, touch.inst) {
                self.own_access(watch, touch);
            }
        }
        true
    }

    /// Whether a caller in whose log there is no release of a stretch certainly has none: all that its
    /// callees do is told.
    fn is_untouched(&self, watch: usize) -> bool {
        let told = !self.audit.touches.iter().any(|t| t.releases);
        told && self.env.watched.is_told(self.env, self.exec.me, watch)
    }

    /// Whether more questions about a stretch are not worth their answers.
    fn is_settled(&mut self, at: Place) -> bool {
        if self.questions > MAX_QUESTIONS {
            self.say(ProblemKind::Undecided, at, "too many questions");
            return true;
        }
        // Whoever knows what the pointer is after all needs the other answers.
        let settles = |p: &Problem| {
            !p.kind.is_soft() && p.kind != ProblemKind::Unclear && p.scope == Scope::Rest
        };
        self.questions > ENOUGH_QUESTIONS && self.problems.iter().any(settles)
    }

    /// Whether a long jump may come back to a place that is on one path with the release of a case.
    fn may_be_returned_to(&mut self, case: Case<'_>) -> bool {
        let audit = self.audit;
        let places = audit.touches.iter().filter(|t| is_setjmp(self.exec, t.inst));
        let places: Vec<_> = places.map(|t| t.state.pc).collect();
        places.into_iter().any(|pc| {
            let there = self.exec.pcs.formula(&mut self.exec.terms, pc);
            self.together(case, there)
        })
    }

    fn is_watched_release(&self, watch: &Watch, release: &Release) -> bool {
        let Place { func, loc } = release.origin;
        let module = self.env.program.module(func.module);
        self.is_watched(watch, release.inst)
            || (loc.is_known() && watch.covers(module.file_name(loc), loc))
    }

    fn is_watched(&self, watch: &Watch, inst: InstId) -> bool {
        let loc = self.exec.body.insts[inst].loc;
        loc.is_known() && watch.covers(self.exec.module.file_name(loc), loc)
    }

    /// Judges one release; true when it may release an object.
    fn release(&mut self, watch: &Watch, release: &Release) -> bool {
        let path = self.exec.pcs.formula(&mut self.exec.terms, release.state.pc);
        let path = self.exec.terms.and2(path, release.cond);
        let leaves = self.exec.leaves_up_to(&release.state, release.pointer, MAX_ALTERNATIVES);
        let Some(leaves) = leaves else {
            self.say(ProblemKind::Undecided, release.at, "too many things it may point to");
            return true;
        };
        let mut effective = false;
        for leaf in leaves {
            let when = self.exec.terms.and2(path, leaf.cond);
            effective |= self.leaf(watch, release, &leaf, when);
        }
        effective
    }

    fn leaf(&mut self, watch: &Watch, release: &Release, leaf: &Leaf, when: Term) -> bool {
        let (base, slot) = match leaf.target {
            Leaves::Cell(base, slot) => (base, slot),
            Leaves::Int => {
                let null = self.exec.terms.is_null(release.pointer);
                let odd = self.exec.terms.not(null);
                let odd = self.exec.terms.and2(when, odd);
                if self.possible(odd) {
                    self.say(ProblemKind::NotHeap, release.at, "it may be a number");
                }
                return false;
            }
        };
        let null = self.exec.terms.is_null(release.pointer);
        let not_null = self.exec.terms.not(null);
        let when = self.exec.terms.and2(when, not_null);
        if !self.possible(when) {
            return false;
        }
        if start::is_null(self.env, self.exec, base) {
            return false;
        }
        if !matches!(self.exec.kind(base), BaseKind::Heap(_)) {
            let (kind, note) = self.why_not_heap(base);
            self.say(kind, release.at, &note);
            // Others may know what it is: then the rest has to be known, too.
            let case = Case { release, base, when };
            if matches!(kind, ProblemKind::Foreign | ProblemKind::Unclear) {
                self.before(case);
                self.after(watch, case);
            }
            if kind == ProblemKind::Unclear {
                self.at_exits(case);
            }
            return kind == ProblemKind::Foreign;
        }
        if slot != Slot::At(0) || leaf.any {
            self.say(ProblemKind::Inexact, release.at, "it may not be the start of one object");
            return false;
        }
        let case = Case { release, base, when };
        let given = self.is_given(release, base);
        self.zeroed &= self.starts_as_zero(base) || !given;
        // A caller of the function with the release knows of another past.
        self.scope = match (self.is_watched(watch, release.inst), given) {
            (false, _) => Scope::Rest,
            (true, true) => Scope::Past,
            (true, false) => Scope::PartsPast,
        };
        self.before(case);
        self.at_exits(case);
        self.scope = Scope::Rest;
        self.after(watch, case);
        true
    }

    /// Whether the releasing call is given the object itself, not only what holds it.
    fn is_given(&mut self, release: &Release, base: Base) -> bool {
        let body = self.exec.body;
        let InstKind::Call { args, .. } = &body.insts[release.inst].kind else { return true };
        args.iter().any(|&v| {
            let value = self.exec.value(&release.state, v);
            self.exec.terms.has_addr(value) && self.exec.all_bases(value).contains(&base)
        })
    }

    /// Whether the library's allocator that made the object sets all of it to zero.
    fn starts_as_zero(&self, base: Base) -> bool {
        let object = self.exec.object_of(base).map(|o| &self.exec.objects[o.0 as usize]);
        let model = object.and_then(|o| self.env.models.get(&o.trace.last()?.callee));
        let zeroed = |o: &Outcome| matches!(o.returns, Returns::Object { zeroed: true, .. });
        model.is_some_and(|m| m.outcomes.iter().any(zeroed))
    }

    /// Allocated, not yet released, nobody else's.
    fn before(&mut self, case: Case<'_>) {
        let Case { release, base, when } = case;
        // Who points to a new object's start has it from the call that made it: that it was allocated
        // needs no question. A pointer that was not set is another target of the same value.
        let facts = [
            (
                release.state.fact(base, Slot::Freed),
                ProblemKind::ReleasedElsewhere,
                "it may be released already",
            ),
            (
                release.state.fact(base, Slot::Escaped),
                self.kind_of_escape(case),
                "somebody unknown may hold it",
            ),
        ];
        for (fact, kind, note) in facts {
            let both = self.exec.terms.and2(when, fact);
            if !self.is_said(kind) && self.possible(both) {
                self.say(kind, release.at, note);
            }
        }
        if !self.is_said(ProblemKind::Undecided) && self.may_be_returned_to(case) {
            let note = "a long jump may come back into the function";
            self.say(ProblemKind::Undecided, release.at, note);
        }
        let object = self.exec.object_of(base).map(|o| &self.exec.objects[o.0 as usize]);
        if object.is_some_and(|o| o.assumed) {
            let note = "a function that is not known got it and is only assumed not to keep it";
            self.say(ProblemKind::Escaped, release.at, note);
        }
        for (n, touch) in self.audit.touches.iter().enumerate() {
            if touch.kind == TouchKind::Unknown && touch.seq < release.seq {
                self.meets(case, n, ProblemKind::Escaped, "a function that is not known");
            }
            if touch.releases && touch.seq < release.seq {
                self.meets_untold(case, n);
            }
        }
    }

    /// Whether a place on fewer paths could do without the objection that somebody holds the object.
    fn kind_of_escape(&mut self, case: Case<'_>) -> ProblemKind {
        let escaped = case.release.state.fact(case.base, Slot::Escaped);
        if escaped == Terms::FALSE {
            return ProblemKind::Escaped;
        }
        let own = self.exec.terms.not(escaped);
        let own = self.exec.terms.and2(case.when, own);
        if self.possible(own) { ProblemKind::EscapedOnSome } else { ProblemKind::Escaped }
    }

    /// Nobody releases or uses it later.
    fn after(&mut self, watch: &Watch, case: Case<'_>) {
        let audit = self.audit;
        let release = case.release;
        if !self.is_said(ProblemKind::UsedAfter)
            && let Some(at) = self.exec.untaken_exit(audit, release.inst)
        {
            let note = "it may be used behind the loop, and what ends that is not known";
            self.say(ProblemKind::UsedAfter, at, note);
        }
        for (n, touch) in audit.touches.iter().enumerate().filter(|(_, t)| t.seq > release.seq) {
            if touch.inst != release.inst && !self.is_watched(watch, touch.inst) {
                self.meets(case, n, ProblemKind::UsedAfter, "it may be used");
            }
        }
        for (n, other) in audit.releases.iter().enumerate() {
            let again = other.seq > release.seq
                && !self.is_said(ProblemKind::ReleasedElsewhere)
                && (other.inst != release.inst || other.state.pc != release.state.pc);
            if !again {
                continue;
            }
            let there = self.record.release(self.exec, audit, n, case.base);
            if self.together(case, there) {
                self.say(ProblemKind::ReleasedElsewhere, other.at, "it is released again");
            }
        }
    }

    /// Whether a touch uses the object of a case on one path with it.
    fn meets(&mut self, case: Case<'_>, touch: usize, kind: ProblemKind, note: &str) {
        if self.is_said(kind) {
            return;
        }
        let there = self.record.touch(self.exec, self.audit, touch, case.base);
        if self.together(case, there) {
            self.say(kind, self.audit.touches[touch].at, note);
        }
    }

    /// Whether a call before the release of a case may have released its object without saying so.
    fn meets_untold(&mut self, case: Case<'_>, touch: usize) {
        if self.is_said(ProblemKind::ReleasedElsewhere) {
            return;
        }
        let there = self.record.untold(self.exec, self.audit, touch, case.base);
        if self.together(case, there) {
            let note = "it may be released by what is called";
            self.say(ProblemKind::ReleasedElsewhere, self.audit.touches[touch].at, note);
        }
    }

    /// Nothing that outlives the function refers to it.
    fn at_exits(&mut self, case: Case<'_>) {
        for exit in 0..self.exec.exits.len() {
            if self.is_said(ProblemKind::StillHeld) {
                return;
            }
            let there = self.record.held(self.exec, exit, case.base);
            if self.together(case, there) {
                let at = self.exec.place(self.exec.exits[exit].loc);
                let note = "memory that outlives the function refers to it";
                self.say(ProblemKind::StillHeld, at, note);
            }
        }
    }

    /// Whether something can happen on one path with the release of a case.
    fn together(&mut self, case: Case<'_>, there: Term) -> bool {
        let both = self.exec.terms.and2(there, case.when);
        self.possible(both)
    }

    /// What the inserted text itself reads must be there.
    fn own_access(&mut self, watch: &Watch, touch: &Touch) {
        if touch.kind != TouchKind::Access {
            return;
        }
        let path = self.exec.pcs.formula(&mut self.exec.terms, touch.state.pc);
        for &pointer in &touch.pointers {
            if self.may_be_null(watch, touch, path, pointer) {
                self.say(ProblemKind::NullOwner, touch.at, "it goes through what may be null");
            }
            for (base, when) in self.exec.targets(&touch.state, pointer) {
                let freed = touch.state.fact(base, Slot::Freed);
                let both = self.exec.terms.and([path, when, freed]);
                if self.possible(both) {
                    self.say(ProblemKind::UsedAfter, touch.at, "its owner may be released already");
                }
            }
        }
    }

    /// Null is possible, and no other access on the path would fail on it.
    fn may_be_null(&mut self, watch: &Watch, touch: &Touch, path: Term, pointer: Term) -> bool {
        let null = self.through_null(touch, pointer);
        let mut through_null = self.exec.terms.and2(path, null);
        if !self.possible(through_null) {
            return false;
        }
        let bases: Vec<Base> =
            self.exec.targets(&touch.state, pointer).into_iter().map(|(b, _)| b).collect();
        let audit = self.audit;
        for (n, other) in audit.touches.iter().enumerate().filter(|(_, t)| t.inst != touch.inst) {
            if other.kind != TouchKind::Access || self.is_watched(watch, other.inst) {
                continue;
            }
            if self.record.uses_any(self.exec, audit, n, &bases) {
                let there = self.exec.pcs.formula(&mut self.exec.terms, other.state.pc);
                let elsewhere = self.exec.terms.not(there);
                through_null = self.exec.terms.and2(through_null, elsewhere);
            }
        }
        self.possible(through_null)
    }

    /// When the pointer of an access is null, or refers to a member of a struct that is not there.
    fn through_null(&mut self, touch: &Touch, pointer: Term) -> Term {
        let itself = self.exec.terms.is_null(pointer);
        let Some(leaves) = self.exec.leaves(&touch.state, pointer) else { return itself };
        let owners = leaves.into_iter().map(|leaf| match leaf.target {
            Leaves::Cell(base, _) => match self.exec.terms.as_pointee(base) {
                Some(owner) => {
                    let null = self.exec.terms.is_null(owner);
                    self.exec.terms.and2(leaf.cond, null)
                }
                None => Terms::FALSE,
            },
            Leaves::Int => leaf.cond,
        });
        let owners: Vec<Term> = owners.chain([itself]).collect();
        self.exec.terms.or(owners)
    }

    fn why_not_heap(&self, base: Base) -> (ProblemKind, String) {
        let describe = Describe::new(self.env.program);
        let name = describe.cell(self.exec, (base, Slot::At(0)));
        match self.exec.kind(base) {
            BaseKind::Slot(_) => (ProblemKind::NotHeap, format!("it may be the local `{name}`")),
            BaseKind::Global(_) if name.is_empty() => {
                (ProblemKind::NotHeap, "it may be a literal".to_owned())
            }
            BaseKind::Global(_) => (ProblemKind::NotHeap, format!("it may be `{name}`")),
            BaseKind::Pointee => self.why_unknown(base),
            _ => (ProblemKind::NotHeap, "it may be no object".to_owned()),
        }
    }

    fn why_unknown(&self, base: Base) -> (ProblemKind, String) {
        let symbol = self.exec.terms.as_pointee(base).and_then(|p| match self.exec.terms.node(p) {
            Node::Sym(s) => Some(*s),
            _ => None,
        });
        match symbol.map(|s| &self.exec.sym_kinds[s.0 as usize]) {
            Some(SymKind::Init { base, .. })
                if matches!(self.exec.kind(*base), BaseKind::Slot(_) | BaseKind::Heap(_)) =>
            {
                (ProblemKind::Uninitialised, "it may not have been set".to_owned())
            }
            Some(SymKind::Opaque(o)) if o.what == What::Unknown => {
                (ProblemKind::Unclear, "it may not have been set".to_owned())
            }
            Some(SymKind::Init { base, slot, .. })
                if matches!(self.exec.kind(*base), BaseKind::Global(_)) =>
            {
                let name = Describe::new(self.env.program).cell(self.exec, (*base, *slot));
                (ProblemKind::Foreign, format!("it may be what `{name}` refers to"))
            }
            _ => (ProblemKind::Foreign, "what it refers to comes from elsewhere".to_owned()),
        }
    }

    /// Whether a condition can hold, as far as can be told.
    fn possible(&mut self, t: Term) -> bool {
        if t == Terms::FALSE {
            return false;
        }
        if let Some(&known) = self.answers.get(&t) {
            return known;
        }
        let possible = !is_contradiction(&self.exec.terms, t) && !self.is_refuted(t);
        self.answers.insert(t, possible);
        possible
    }

    fn is_refuted(&mut self, t: Term) -> bool {
        let limits = self.env.options.solver;
        self.questions += 1;
        t != Terms::TRUE && matches!(self.session.solve(&self.exec.terms, t, limits), Answer::Unsat)
    }

    /// Whether a problem of this kind is known: one is enough to speak against a release.
    fn is_said(&self, kind: ProblemKind) -> bool {
        self.problems.iter().any(|p| p.kind == kind && p.scope >= self.scope)
    }

    fn say(&mut self, kind: ProblemKind, at: Place, note: &str) {
        let Location { file, line, .. } = Describe::new(self.env.program).location(at);
        let (line, at) = (line, format!("{file}:{line}"));
        let scope = self.scope;
        self.problems.insert(Problem { kind, line, at, note: note.to_owned(), scope });
    }
}

/// Whether an instruction calls `setjmp`.
fn is_setjmp(exec: &Exec<'_>, inst: InstId) -> bool {
    const NAMES: [&str; 4] = ["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"];
    match &exec.body.insts[inst].kind {
        InstKind::Call { callee: Callee::Direct(f), .. } => {
            NAMES.contains(&exec.module.functions[*f].name.as_str())
        }
        _ => false,
    }
}
