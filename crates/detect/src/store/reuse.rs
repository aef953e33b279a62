//! Finds and keeps what the analysis of a function gave.
//!
//! The key of a run covers everything that it may look at: this code, models and options, the function's
//! body with types, constants and declarations that it refers to (`names`), whom calls through
//! pointers may reach, whether somebody calls it, and the summaries of callees; within a recursive component
//! those of the round before. Where findings were looked at twice, the bodies of callees count, too. Only lines are left out, as far as they are the same counted from
//! the function's start: findings name absolute lines, so a function that has some is only found again when
//! nothing that they speak of has moved.

use super::digest::{Id, hash};
use super::names::Names;
use super::wire::{self, Wire};
use super::{Store, result};
use crate::component::{Env, Known, Outcome, Round};
use crate::pairs::{self, Pair};
use crate::second_look::inlinable;
use leakproof_findings::Finding;
use leakproof_ir::{Callee, Entity, InstKind};
use leakproof_program::{FuncRef, Program, Target};
use leakproof_summary::{NewObject, Planted, Replaced, Spot, Summary};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};

/// A store together with the names of the program under analysis.
pub struct Reuse<'a> {
    names: Names<'a>,
    store: &'a Store,
    /// Everything that all components depend on.
    common: Id,
    /// The functions that summaries name, with the summaries that did.
    named: Mutex<FxHashMap<FuncRef, Named>>,
}

/// A summary, and the functions that it names.
type Named = (Arc<Summary>, Arc<[FuncRef]>);

/// A run as it is stored.
#[derive(Serialize, Deserialize)]
struct Entry {
    wire: Wire,
    hash: Id,
    outcome: Stored,
    /// Where the functions that findings may name stood.
    positions: Id,
    /// The callees whose bodies had a say, when there were findings to look at twice.
    bodies: Option<Id>,
}

/// A run with planted objects as it is stored.
#[derive(Serialize, Deserialize)]
struct PlantedEntry {
    outcome: Stored,
    positions: Id,
}

/// The part of an outcome that is not worked out again.
#[derive(Serialize, Deserialize)]
struct Stored {
    counts: [u64; 6],
    limited: Option<String>,
    /// As JSON: the contract leaves out what is absent.
    findings: Option<String>,
    /// `None`: nobody asked.
    pairs: Option<Vec<Pair>>,
}

impl<'a> Reuse<'a> {
    pub fn new(program: &'a Program, store: &'a Store, env: &result::Circumstances<'_>) -> Self {
        Self { names: Names::of(program), store, common: env.id(), named: Mutex::default() }
    }

    /// The key of a run without a judgement; `None` when it cannot be kept.
    pub fn key(&self, env: &Env<'_>, round: &Round, f: FuncRef) -> Option<Id> {
        let mut text = self.common.to_vec();
        self.describe(env, round, f, &mut text)?;
        Some(hash(&text))
    }

    /// The key of a run with planted objects.
    pub fn planted_key(
        &self,
        env: &Env<'_>,
        round: &Round,
        f: FuncRef,
        planted: &[Planted],
    ) -> Option<Id> {
        let mut text = [&b"planted"[..], &self.common].concat();
        self.describe(env, round, f, &mut text)?;
        // Objects as a function would have them that makes all of them.
        let objects = planted.iter().map(|p| NewObject {
            family: p.family.clone(),
            trace: p.trace.clone(),
            assumed: true,
        });
        let summary = Summary { objects: objects.collect(), ..Summary::default() };
        text.extend(Wire::store(&self.names, &summary)?.hash()?);
        for p in planted {
            text.extend((p.values.len() as u32).to_le_bytes());
            text.extend(p.values.iter().flat_map(|v| (v.index() as u32).to_le_bytes()));
            match p.spot {
                Spot::Field { offset, replaced } => {
                    text.push(match replaced {
                        Replaced::Unknown => 0,
                        Replaced::OneOfMany => 7,
                        Replaced::Certain => 1,
                        Replaced::Probable => 5,
                    });
                    text.extend(offset.to_le_bytes());
                }
                Spot::Listed { offset } => {
                    text.push(3);
                    text.extend(offset.to_le_bytes());
                }
                Spot::Taken => text.push(2),
                Spot::Made => text.push(8),
                Spot::Given => text.push(9),
                Spot::CutOut { by } => {
                    text.push(6);
                    text.extend((by.index() as u32).to_le_bytes());
                }
                Spot::Element { offset } => {
                    text.push(4);
                    text.extend(offset.to_le_bytes());
                }
            }
        }
        Some(hash(&text))
    }

    fn describe(&self, env: &Env<'_>, round: &Round, f: FuncRef, text: &mut Vec<u8>) -> Option<()> {
        text.extend(self.names.body(f)?);
        let parameters = 0..env.program.function(f).params.len() as u32;
        text.extend(parameters.map(|n| u8::from(env.never_null.contains(f, n))));
        text.extend([u8::from(round.last), u8::from(!env.calls.callers_of(f).is_empty())]);
        self.describe_indirect(env, f, text)?;
        let callees = env.calls.callees_of(f);
        text.extend((callees.len() as u32).to_le_bytes());
        for &callee in callees {
            text.extend(self.names.function(callee)?);
            text.push(u8::from(round.is_member(callee)));
            text.extend(round.hash(env, f, callee)?);
        }
        Some(())
    }

    /// Whom calls through pointers may reach.
    fn describe_indirect(&self, env: &Env<'_>, f: FuncRef, text: &mut Vec<u8>) -> Option<()> {
        let body = self.names.program.function(f).body.as_ref()?;
        for (inst, targets) in env.calls.calls_of(f) {
            if !matches!(body.insts[inst].kind, InstKind::Call { callee: Callee::Indirect(_), .. })
            {
                continue;
            }
            text.extend((targets.list.len() as u32).to_le_bytes());
            let kinds = [targets.complete, targets.fallback, targets.from_tables];
            text.extend(kinds.map(u8::from));
            for target in &targets.list {
                text.push(u8::from(matches!(target, Target::Defined(_))));
                text.extend(self.names.function(target.func())?);
            }
        }
        Some(())
    }

    /// What is known of a run.
    pub fn fetch(
        &self,
        env: &Env<'_>,
        round: &Round,
        f: FuncRef,
        key: &Id,
    ) -> Option<(Known, Outcome)> {
        let entry: Entry = postcard::from_bytes(&self.store.get(f.module, key)?).ok()?;
        let pairs = env.options.pairs && round.last;
        let moved = || entry.positions != self.positions(env, round, f, &[]);
        if !entry.outcome.answers(pairs) || entry.outcome.names_lines(pairs) && moved() {
            return None;
        }
        if entry.bodies.is_some_and(|id| Some(id) != self.bodies(env, round, f)) {
            return None;
        }
        let summary = Arc::new(entry.wire.fetch(&self.names)?);
        let outcome = entry.outcome.fetch(env, f, &summary)?;
        Some((Known { summary, hash: Some(entry.hash) }, outcome))
    }

    /// Keeps what a run gave; says what stands for the summary in keys of callers.
    pub fn keep(
        &self,
        env: &Env<'_>,
        round: &Round,
        f: FuncRef,
        key: Option<Id>,
        summary: &Summary,
        outcome: &Outcome,
    ) -> Option<Id> {
        let wire = Wire::store(&self.names, summary)?;
        let hash = self.hash_for_callers(env, round, f, summary, &wire)?;
        if let Some(key) = key.filter(|_| outcome.is_lasting(env.options)) {
            let bodies =
                if outcome.looked_twice { Some(self.bodies(env, round, f)?) } else { None };
            let outcome = Stored::of(outcome, round.last)?;
            let placed = outcome.names_lines(true);
            let positions = if placed { self.positions(env, round, f, &[]) } else { Id::default() };
            let entry = Entry { wire, hash, outcome, positions, bodies };
            self.store.put(f.module, key, postcard::to_stdvec(&entry).ok()?);
        }
        Some(hash)
    }

    /// What stands for a summary in keys of callers. Who calls a function that calls through what it is given may have it
    /// run for that: then all counts that such a run looks at.
    fn hash_for_callers(
        &self,
        env: &Env<'_>,
        round: &Round,
        f: FuncRef,
        summary: &Summary,
        wire: &Wire,
    ) -> Option<Id> {
        let said = wire.hash()?;
        if summary.calls_through.is_empty() {
            return Some(said);
        }
        let mut text = said.to_vec();
        self.describe(env, round, f, &mut text)?;
        Some(hash(&text))
    }

    pub fn fetch_planted(
        &self,
        env: &Env<'_>,
        round: &Round,
        f: FuncRef,
        planted: &[Planted],
        key: &Id,
    ) -> Option<Outcome> {
        let entry: PlantedEntry = postcard::from_bytes(&self.store.get(f.module, key)?).ok()?;
        let moved = entry.outcome.names_lines(false)
            && entry.positions != self.positions(env, round, f, planted);
        if moved {
            return None;
        }
        let outcome = entry.outcome.fetch(env, f, &Summary::opaque())?;
        Some(Outcome { again: true, ..outcome })
    }

    pub fn keep_planted(
        &self,
        env: &Env<'_>,
        round: &Round,
        f: FuncRef,
        planted: &[Planted],
        key: Id,
        outcome: &Outcome,
    ) -> Option<()> {
        if outcome.is_lasting(env.options) {
            let stored = Stored::of(outcome, false)?;
            let positions = match stored.names_lines(false) {
                true => self.positions(env, round, f, planted),
                false => Id::default(),
            };
            let entry = PlantedEntry { outcome: stored, positions };
            self.store.put(f.module, key, postcard::to_stdvec(&entry).ok()?);
        }
        Some(())
    }

    /// Stands for the callees that a second look may run.
    fn bodies(&self, env: &Env<'_>, round: &Round, f: FuncRef) -> Option<Id> {
        let mut text = Vec::new();
        for callee in inlinable(env, round, f) {
            text.extend(self.names.function(callee)?);
            self.describe(env, round, callee, &mut text)?;
        }
        Some(hash(&text))
    }

    /// Where the functions stand that findings of a run can name.
    fn positions(&self, env: &Env<'_>, round: &Round, f: FuncRef, planted: &[Planted]) -> Id {
        let mut functions = FxHashSet::from_iter([f]);
        functions.extend(planted.iter().flat_map(|p| p.trace.iter()).map(|s| s.at.func));
        let (mut callers, mut seen) = (vec![f], FxHashSet::from_iter([f]));
        while let Some(caller) = callers.pop() {
            for &callee in env.calls.callees_of(caller) {
                let Some(summary) = round.summary(env, caller, callee) else { continue };
                functions.extend(self.named_in(callee, &summary).iter());
                // It may be run for what it is given, and have findings then.
                if !summary.calls_through.is_empty() && seen.insert(callee) {
                    functions.insert(callee);
                    callers.push(callee);
                }
            }
        }
        let placed = functions.into_iter().map(|f| {
            let line = self.names.program.function(f).loc.line;
            (self.names.function(f).unwrap_or_default(), line)
        });
        let mut placed: Vec<(Id, u32)> = placed.collect();
        placed.sort_unstable();
        let text: Vec<u8> =
            placed.iter().flat_map(|(id, line)| [&id[..], &line.to_le_bytes()].concat()).collect();
        hash(&text)
    }

    /// The functions that the summary of a function names. Many callers ask, and summaries are long.
    fn named_in(&self, f: FuncRef, summary: &Arc<Summary>) -> Arc<[FuncRef]> {
        let mut known = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, named)) = known.get(&f).filter(|(of, _)| Arc::ptr_eq(of, summary)) {
            return named.clone();
        }
        let mut named = FxHashSet::default();
        wire::for_each_function(summary, |f| {
            named.insert(f);
        });
        let named: Arc<[FuncRef]> = named.into_iter().collect();
        known.insert(f, (summary.clone(), named.clone()));
        named
    }
}

impl Stored {
    fn of(o: &Outcome, pairs: bool) -> Option<Self> {
        let findings = match o.findings.as_slice() {
            [] => None,
            list => Some(serde_json::to_string(list).ok()?),
        };
        Some(Self {
            counts: [o.instructions, o.objects, o.candidates, o.infeasible, o.queries, o.timeouts],
            limited: o.limited.clone(),
            findings,
            pairs: pairs.then(|| o.pairs.clone()),
        })
    }

    /// Whether everything is there that is asked for.
    fn answers(&self, pairs: bool) -> bool {
        self.pairs.is_some() || !pairs
    }

    /// Whether it says lines.
    fn names_lines(&self, pairs: bool) -> bool {
        self.findings.is_some() || (pairs && self.pairs.as_ref().is_some_and(|p| !p.is_empty()))
    }

    fn fetch(self, env: &Env<'_>, f: FuncRef, summary: &Summary) -> Option<Outcome> {
        let findings: Vec<Finding> = match &self.findings {
            None => Vec::new(),
            Some(json) => serde_json::from_str(json).ok()?,
        };
        let [instructions, objects, candidates, infeasible, queries, timeouts] = self.counts;
        let wanted = env.options.pairs;
        Some(Outcome {
            name: env.program.function(f).source_name.clone(),
            reused: true,
            findings,
            instructions,
            objects,
            candidates,
            infeasible,
            queries,
            timeouts,
            limited: self.limited,
            pairs: self.pairs.filter(|_| wanted).unwrap_or_default(),
            releaser: if wanted { pairs::of_summary(env, f, summary) } else { None },
            ..Outcome::default()
        })
    }
}
