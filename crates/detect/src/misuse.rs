//! Objects that are used or released after their release (`Options::also`).
//!
//! In: a function that was run with its log kept. Out: findings of the kinds `double-free` and
//! `use-after-free`. Other than for leaks, what is in doubt does not count: the release must be of exactly
//! this object, no condition on the way may be one that the analysis lost sight of, and the
//! solver must have a model of a path through both places.

use crate::component::Env;
use crate::describe::Describe;
use crate::finding::Replay;
use crate::path;
use leakproof_findings::{AllocSite, Event, Evidence, Finding, Kind, PathStep};
use leakproof_guard::{Base, Node, Term, Terms, for_each_child, is_contradiction};
use leakproof_ir::{Callee, InstId, InstKind};
use leakproof_smt::{Answer, Session};
use leakproof_summary::{
    Audit, BaseKind, Exec, Leaf, Leaves, Place, Release, Slot, State, SymKind, Touch, TouchKind,
    What,
};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// What is looked for besides leaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Also {
    pub double_free: bool,
    pub use_after_free: bool,
}

impl Also {
    pub fn any(self) -> bool {
        self.double_free || self.use_after_free
    }
}

/// Pairs of places looked at in one function.
const MAX_PAIRS: usize = 4_000;
/// Questions asked in one function.
const MAX_QUESTIONS: usize = 60;

/// All misuses in a function.
pub fn find(env: &Env<'_>, exec: &mut Exec<'_>, audit: &Audit, also: Also) -> Vec<Finding> {
    if !also.any() || exec.limit.is_some() || audit.releases.is_empty() {
        return Vec::new();
    }
    let mut search = Search { env, exec, questions: 0, pairs: 0, told: BTreeSet::new() };
    let mut found = Vec::new();
    for release in &audit.releases {
        for (base, when) in search.exactly(release) {
            let gone = Gone { release, base, when };
            if also.double_free {
                found.extend(audit.releases.iter().filter_map(|r| search.again(gone, r)));
            }
            if also.use_after_free {
                found.extend(audit.touches.iter().filter_map(|t| search.used(gone, t)));
            }
        }
    }
    found
}

struct Search<'s, 'a> {
    env: &'s Env<'s>,
    exec: &'s mut Exec<'a>,
    questions: usize,
    pairs: usize,
    /// Places that have a finding, by kind.
    told: BTreeSet<(Kind, Place)>,
}

/// An object that was released under a condition.
#[derive(Clone, Copy)]
struct Gone<'r> {
    release: &'r Release,
    base: Base,
    when: Term,
}

impl Search<'_, '_> {
    /// The objects that a release certainly releases, and when.
    fn exactly(&mut self, release: &Release) -> Vec<(Base, Term)> {
        let path = self.exec.pcs.formula(&mut self.exec.terms, release.state.pc);
        let leaves = self.exec.leaves(&release.state, release.pointer).unwrap_or_default();
        let mut list = Vec::new();
        for leaf in leaves {
            let Some(base) = self.whole(&leaf) else { continue };
            let null = self.exec.terms.is_null(release.pointer);
            let there = self.exec.terms.not(null);
            let when = self.exec.terms.and([path, release.cond, leaf.cond, there]);
            if !is_contradiction(&self.exec.terms, when) {
                list.push((base, when));
            }
        }
        list
    }

    /// The one object at whose start a pointer points.
    fn whole(&self, leaf: &Leaf) -> Option<Base> {
        match leaf.target {
            Leaves::Cell(base, Slot::At(0)) if !leaf.any && self.is_object(base) => Some(base),
            _ => None,
        }
    }

    /// A heap object of this function, or what a parameter points to.
    fn is_object(&self, base: Base) -> bool {
        match self.exec.kind(base) {
            BaseKind::Heap(_) => true,
            BaseKind::Pointee => self.exec.terms.as_pointee(base).is_some_and(|p| {
                let Node::Sym(s) = self.exec.terms.node(p) else { return false };
                matches!(self.exec.sym_kinds[s.0 as usize], SymKind::Arg(_))
            }),
            _ => false,
        }
    }

    fn again(&mut self, gone: Gone<'_>, other: &Release) -> Option<Finding> {
        let same = other.inst == gone.release.inst && other.state.pc == gone.release.state.pc;
        if other.seq <= gone.release.seq || same {
            return None;
        }
        let leaves = self.exec.leaves(&other.state, other.pointer)?;
        let path = self.exec.pcs.formula(&mut self.exec.terms, other.state.pc);
        for leaf in leaves {
            if self.whole(&leaf) != Some(gone.base) {
                continue;
            }
            let freed = other.state.fact(gone.base, Slot::Freed);
            let moved = self.not_a_failure(gone, &other.state);
            let both = [gone.when, path, other.cond, leaf.cond, freed, moved];
            let found = self.ask(gone, Kind::DoubleFree, other.at, other.seq, both);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn used(&mut self, gone: Gone<'_>, touch: &Touch) -> Option<Finding> {
        let late = touch.seq > gone.release.seq && touch.inst != gone.release.inst;
        if !late || !self.looks_into(touch) {
            return None;
        }
        let path = self.exec.pcs.formula(&mut self.exec.terms, touch.state.pc);
        for &pointer in &touch.pointers {
            for leaf in self.exec.leaves(&touch.state, pointer).unwrap_or_default() {
                let Leaves::Cell(base, _) = leaf.target else { continue };
                if base != gone.base || leaf.any {
                    continue;
                }
                let freed = touch.state.fact(base, Slot::Freed);
                let moved = self.not_a_failure(gone, &touch.state);
                let both = [gone.when, path, leaf.cond, freed, moved];
                let found = self.ask(gone, Kind::UseAfterFree, touch.at, touch.seq, both);
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// A function that resizes releases the old object and returns the new one. That it also returns
    /// null for a size of zero is not what a path on which it returned null is about.
    fn not_a_failure(&mut self, gone: Gone<'_>, state: &State) -> Term {
        let Some(result) = self.exec.body.insts[gone.release.inst].result else {
            return Terms::TRUE;
        };
        let value = self.exec.value(state, result);
        if self.exec.terms.bits(value) != 64 {
            return Terms::TRUE;
        }
        let null = self.exec.terms.is_null(value);
        self.exec.terms.not(null)
    }

    /// An access, or a call of a library function that is given pointers in order to read or write
    /// what they point to. One of variable arguments may only print them.
    fn looks_into(&self, touch: &Touch) -> bool {
        match touch.kind {
            TouchKind::Access => true,
            TouchKind::Library => !self.is_variadic(touch.inst) && !self.releases(touch.inst),
            TouchKind::Function | TouchKind::Unknown => false,
        }
    }

    fn is_variadic(&self, inst: InstId) -> bool {
        match self.exec.body.insts[inst].kind {
            InstKind::Call { callee: Callee::Direct(f), .. } => {
                self.exec.module.functions[f].variadic
            }
            _ => true,
        }
    }

    /// A call that releases something: that it is given again is a double release at most.
    fn releases(&self, inst: InstId) -> bool {
        self.exec.frees.iter().any(|f| f.inst == inst)
    }

    /// One question: can all of this hold?
    fn ask<const N: usize>(
        &mut self,
        gone: Gone<'_>,
        kind: Kind,
        at: Place,
        seq: u32,
        conditions: [Term; N],
    ) -> Option<Finding> {
        self.pairs += 1;
        let condition = self.exec.terms.and(conditions);
        let known = self.told.contains(&(kind, at)) || at.loc.line == 0;
        if known || self.pairs > MAX_PAIRS || self.questions >= MAX_QUESTIONS {
            return None;
        }
        if is_contradiction(&self.exec.terms, condition) || self.is_doubtful(condition) {
            return None;
        }
        self.questions += 1;
        match Session::new().solve(&self.exec.terms, condition, self.env.options.solver) {
            Answer::Sat(model) => {
                self.told.insert((kind, at));
                let mut replay = Replay::new(&model);
                Some(self.finding(gone, kind, at, seq, &mut replay))
            }
            _ => None,
        }
    }

    /// Whether a condition hangs on something that the analysis lost sight of.
    fn is_doubtful(&self, condition: Term) -> bool {
        let mut seen = FxHashSet::default();
        let mut work = vec![condition];
        while let Some(t) = work.pop() {
            if !seen.insert(t) {
                continue;
            }
            let node = self.exec.terms.node(t);
            if let Node::Sym(s) = node
                && let SymKind::Opaque(origin) = &self.exec.sym_kinds[s.0 as usize]
                && !matches!(
                    origin.what,
                    What::Failure | What::Result | What::Written | What::Input
                )
            {
                return true;
            }
            for_each_child(node, |child| work.push(child));
        }
        false
    }

    fn finding(
        &mut self,
        gone: Gone<'_>,
        kind: Kind,
        at: Place,
        seq: u32,
        replay: &mut Replay<'_>,
    ) -> Finding {
        let describe = Describe::new(self.env.program);
        let object =
            self.exec.object_of(gone.base).map(|o| self.exec.objects[o.0 as usize].clone());
        let alloc_trace: Vec<AllocSite> = match &object {
            Some(object) => object.trace.iter().map(|s| describe.site(s)).collect(),
            None => vec![self.given(gone)],
        };
        let leak = describe.location(at);
        let path = self.steps(&describe, gone, (kind, at, seq), replay);
        let released = describe.cell(self.exec, (gone.base, Slot::At(0)));
        Finding {
            kind,
            family: object.map(|o| o.family.to_string()).unwrap_or_default(),
            function: leak.function.clone(),
            variable: released.trim_start_matches('*').to_owned(),
            evidence: Evidence::Feasible,
            alloc: alloc_trace[0].clone(),
            alloc_trace,
            leak,
            path,
            ..Finding::default()
        }
    }

    /// For an object that comes from the caller: the first release stands for its origin.
    fn given(&self, gone: Gone<'_>) -> AllocSite {
        let place = Describe::new(self.env.program).location(gone.release.at);
        let (file, line, column, function) = (place.file, place.line, place.column, place.function);
        AllocSite { file, line, column, function, callee: String::new() }
    }

    fn steps(
        &mut self,
        describe: &Describe<'_>,
        gone: Gone<'_>,
        (kind, at, seq): (Kind, Place, u32),
        replay: &mut Replay<'_>,
    ) -> Vec<PathStep> {
        let mut timed = path::branches(describe, self.exec, replay);
        let notes = path::notes(describe, self.exec, gone.base, replay);
        timed.extend(notes.into_iter().filter(|(_, step)| step.event == Event::Alloc));
        timed.retain(|((when, _), _)| *when < seq);
        let released = "the object is released".to_owned();
        let step = describe.step(gone.release.at, Event::Drop, released);
        timed.push(((gone.release.seq, false), step));
        timed.sort_by_key(|(when, _)| *when);
        let mut steps: Vec<PathStep> = timed.into_iter().map(|(_, s)| s).collect();
        let note = match kind {
            Kind::DoubleFree => "it is released again",
            _ => "it is used",
        };
        steps.push(describe.step(at, Event::Leak, note.to_owned()));
        steps.dedup();
        steps
    }
}
