//! Finds and keeps what the analysis of a component gave.
//!
//! The key of a component covers everything that its analysis may look at: this code, models and options,
//! the functions' bodies with types, constants and declarations that they refer to (`names`), whom
//! calls through pointers may reach, whether somebody calls it, and the summaries of callees. Only
//! lines are left out, as far as they are the same counted from the function's start: findings name
//! absolute lines, so a component that has some is only found again when nothing that they speak of
//! has moved.

use super::digest::{Id, hash};
use super::names::Names;
use super::wire::{self, Wire};
use super::{Store, result};
use crate::component::{Env, Outcome};
use crate::pairs::{self, Pair};
use leakproof_findings::Finding;
use leakproof_ir::{Callee, InstKind};
use leakproof_program::{FuncRef, Program, Target};
use leakproof_summary::{Planted, Summary};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A store together with the names of the program under analysis.
pub struct Reuse<'a> {
    names: Names<'a>,
    store: &'a Store,
    /// Everything that all components depend on.
    common: Id,
}

/// What a function gave.
pub struct Fetched {
    pub summary: Summary,
    pub hash: Id,
    pub outcome: Outcome,
}

/// A component as it is stored.
#[derive(Serialize, Deserialize)]
struct Entry {
    members: Vec<Member>,
    /// Where the functions that findings may name stood.
    positions: Id,
}

#[derive(Serialize, Deserialize)]
struct Member {
    wire: Wire,
    hash: Id,
    outcome: Stored,
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
        Self { names: Names::of(program), store, common: env.id() }
    }

    /// The key of a component; `None` when it cannot be kept.
    pub fn key(&self, env: &Env<'_>, scc: &[FuncRef]) -> Option<Id> {
        if scc.iter().any(|f| env.watched.contains_key(f)) {
            return None;
        }
        let mut text = self.common.to_vec();
        for &f in scc {
            self.describe(env, f, scc, &mut text)?;
        }
        Some(hash(&text))
    }

    /// The key of a run with planted objects.
    pub fn planted_key(&self, env: &Env<'_>, f: FuncRef, planted: &[Planted]) -> Option<Id> {
        let mut text = [&b"planted"[..], &self.common].concat();
        self.describe(env, f, &[], &mut text)?;
        // Objects as a function would have them that makes all of them.
        let objects = planted.iter().map(|p| leakproof_summary::NewObject {
            family: p.family.clone(),
            trace: p.trace.clone(),
            assumed: true,
        });
        let wire = Wire::store(
            &self.names,
            &Summary { objects: objects.collect(), ..Summary::default() },
        )?;
        text.extend(wire.hash()?);
        for p in planted {
            text.extend(p.param.to_le_bytes());
            text.extend(p.offset.to_le_bytes());
        }
        Some(hash(&text))
    }

    fn describe(
        &self,
        env: &Env<'_>,
        f: FuncRef,
        scc: &[FuncRef],
        text: &mut Vec<u8>,
    ) -> Option<()> {
        text.extend(self.names.body(f)?);
        text.push(u8::from(!env.calls.callers_of(f).is_empty()));
        self.describe_indirect(env, f, text)?;
        let callees = env.calls.callees_of(f);
        text.extend((callees.len() as u32).to_le_bytes());
        for callee in callees {
            text.extend(self.names.function(*callee)?);
            match scc.iter().position(|m| m == callee) {
                Some(i) => text.extend((i as u32).to_le_bytes()),
                None => text.extend(env.summaries.hash(*callee)?),
            }
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
            text.extend([u8::from(targets.complete), u8::from(targets.fallback)]);
            for target in &targets.list {
                text.push(u8::from(matches!(target, Target::Defined(_))));
                text.extend(self.names.function(target.func())?);
            }
        }
        Some(())
    }

    /// What is known of a component, per function.
    pub fn fetch(&self, env: &Env<'_>, scc: &[FuncRef], key: &Id) -> Option<Vec<Fetched>> {
        let bytes = self.store.get(scc[0].module, key)?;
        let entry: Entry = postcard::from_bytes(&bytes).ok()?;
        let (pairs, members) = (env.options.pairs, entry.members);
        if members.len() != scc.len() || !members.iter().all(|m| m.outcome.answers(pairs)) {
            return None;
        }
        let placed = members.iter().any(|m| m.outcome.names_lines(pairs));
        if placed && entry.positions != self.positions(env, scc, &[]) {
            return None;
        }
        let fetched = scc.iter().zip(members).map(|(&f, m)| {
            let summary = m.wire.fetch(&self.names)?;
            let outcome = m.outcome.fetch(env, f, &summary)?;
            Some(Fetched { summary, hash: m.hash, outcome })
        });
        fetched.collect()
    }

    /// Keeps what a component gave; says how callers are to refer to its summaries.
    pub fn keep(
        &self,
        env: &Env<'_>,
        scc: &[FuncRef],
        key: Option<Id>,
        results: &[(Arc<Summary>, Outcome)],
    ) -> Vec<Option<Id>> {
        let wires = results.iter().map(|(summary, _)| {
            let wire = Wire::store(&self.names, summary)?;
            let hash = wire.hash()?;
            Some((wire, hash))
        });
        let wires: Vec<Option<(Wire, Id)>> = wires.collect();
        let hashes = wires.iter().map(|w| w.as_ref().map(|(_, hash)| *hash)).collect();
        let lasting = results.iter().all(|(_, o)| o.is_lasting(env.options));
        if let (Some(key), true) = (key, lasting) {
            self.put(env, scc, key, wires, results);
        }
        hashes
    }

    fn put(
        &self,
        env: &Env<'_>,
        scc: &[FuncRef],
        key: Id,
        wires: Vec<Option<(Wire, Id)>>,
        results: &[(Arc<Summary>, Outcome)],
    ) -> Option<()> {
        let members = wires.into_iter().zip(results).map(|(wire, (_, outcome))| {
            let (wire, hash) = wire?;
            Some(Member { wire, hash, outcome: Stored::of(outcome, env.options.pairs)? })
        });
        let members = members.collect::<Option<Vec<Member>>>()?;
        let placed = members.iter().any(|m| m.outcome.names_lines(true));
        let positions = if placed { self.positions(env, scc, &[]) } else { Id::default() };
        let bytes = postcard::to_stdvec(&Entry { members, positions }).ok()?;
        self.store.put(scc[0].module, key, bytes);
        Some(())
    }

    pub fn fetch_planted(
        &self,
        env: &Env<'_>,
        f: FuncRef,
        planted: &[Planted],
        key: &Id,
    ) -> Option<Outcome> {
        let entry: PlantedEntry = postcard::from_bytes(&self.store.get(f.module, key)?).ok()?;
        let moved = entry.outcome.names_lines(false)
            && entry.positions != self.positions(env, &[f], planted);
        if moved {
            return None;
        }
        let outcome = entry.outcome.fetch(env, f, &Summary::opaque())?;
        Some(Outcome { again: true, ..outcome })
    }

    pub fn keep_planted(
        &self,
        env: &Env<'_>,
        f: FuncRef,
        planted: &[Planted],
        key: Id,
        outcome: &Outcome,
    ) -> Option<()> {
        if outcome.is_lasting(env.options) {
            let stored = Stored::of(outcome, false)?;
            let positions = self.positions(env, &[f], planted);
            let entry = PlantedEntry { outcome: stored, positions };
            self.store.put(f.module, key, postcard::to_stdvec(&entry).ok()?);
        }
        Some(())
    }

    /// Where the functions stand that findings of a component can name.
    fn positions(&self, env: &Env<'_>, scc: &[FuncRef], planted: &[Planted]) -> Id {
        let mut functions: BTreeSet<FuncRef> = scc.iter().copied().collect();
        functions.extend(planted.iter().flat_map(|p| p.trace.iter()).map(|s| s.at.func));
        for callee in scc.iter().flat_map(|&f| env.calls.callees_of(f)) {
            if let Some(summary) = env.summaries.get(*callee) {
                wire::for_each_function(&summary, |f| {
                    functions.insert(f);
                });
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
