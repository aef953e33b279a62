//! The log of a run, by object: who uses it, who releases it, what holds it at an exit.
//!
//! In: the run and its log. Out: for an entry of the log the bases that it concerns, each with the
//! condition under which it does. All releases of a function ask about the same entries, so each is
//! worked out once, when it is first asked for.

use leakproof_guard::{Base, Term, Terms};
use leakproof_summary::{Audit, Exec};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many dereferences away from what is left behind an object is looked for.
const HELD_DEPTH: u32 = 4;

/// What one entry concerns.
struct Concerned {
    /// The condition under which the entry happens.
    path: Term,
    /// The conditions of the ways that lead to each base.
    ways: FxHashMap<Base, Vec<Term>>,
}

/// What is known so far of each entry.
pub struct Record {
    touches: Vec<Option<Concerned>>,
    /// What calls release without saying so.
    untold: Vec<Option<Concerned>>,
    releases: Vec<Option<Concerned>>,
    exits: Vec<Option<Concerned>>,
}

impl Record {
    pub fn new(exec: &Exec<'_>, audit: &Audit) -> Self {
        let nothing = |n: usize| (0..n).map(|_| None).collect();
        let touches = nothing(audit.touches.len());
        let releases = nothing(audit.releases.len());
        let untold = nothing(audit.touches.len());
        Self { touches, untold, releases, exits: nothing(exec.exits.len()) }
    }

    /// When a touch of the log uses a base.
    pub fn touch(&mut self, exec: &mut Exec<'_>, audit: &Audit, n: usize, base: Base) -> Term {
        let known = self.of_touch(exec, audit, n);
        known.when(&mut exec.terms, base)
    }

    /// Whether a touch may use one of some bases.
    pub fn uses_any(
        &mut self,
        exec: &mut Exec<'_>,
        audit: &Audit,
        n: usize,
        bases: &[Base],
    ) -> bool {
        let known = self.of_touch(exec, audit, n);
        bases.iter().any(|base| known.ways.contains_key(base))
    }

    fn of_touch(&mut self, exec: &mut Exec<'_>, audit: &Audit, n: usize) -> &Concerned {
        self.touches[n].get_or_insert_with(|| {
            let touch = &audit.touches[n];
            let found = exec.touched(touch);
            let path = exec.pcs.formula(&mut exec.terms, touch.state.pc);
            Concerned::new(path, found)
        })
    }

    /// When a call of the log may release a base without saying so.
    pub fn untold(&mut self, exec: &mut Exec<'_>, audit: &Audit, n: usize, base: Base) -> Term {
        let known = self.untold[n].get_or_insert_with(|| {
            let touch = &audit.touches[n];
            let found = exec.released_out_of_sight(touch);
            let path = exec.pcs.formula(&mut exec.terms, touch.state.pc);
            Concerned::new(path, found)
        });
        known.when(&mut exec.terms, base)
    }

    /// When a release of the log releases a base.
    pub fn release(&mut self, exec: &mut Exec<'_>, audit: &Audit, n: usize, base: Base) -> Term {
        let known = self.releases[n].get_or_insert_with(|| {
            let release = &audit.releases[n];
            let found = exec.targets(&release.state, release.pointer);
            let path = exec.pcs.formula(&mut exec.terms, release.state.pc);
            let path = exec.terms.and2(path, release.cond);
            Concerned::new(path, found)
        });
        known.when(&mut exec.terms, base)
    }

    /// When memory that outlives the function refers to a base at an exit.
    pub fn held(&mut self, exec: &mut Exec<'_>, exit: usize, base: Base) -> Term {
        let known = self.exits[exit].get_or_insert_with(|| {
            let state = exec.exits[exit].state.clone();
            let mut held = exec.seen_by_others(&state);
            held.extend(exec.exits[exit].value.map(|v| (v, Terms::TRUE)));
            let mut found = Vec::new();
            for (value, when) in held {
                let mut seen = FxHashSet::default();
                exec.reach(&state, value, when, HELD_DEPTH, &mut seen, &mut found);
            }
            let path = exec.pcs.formula(&mut exec.terms, state.pc);
            Concerned::new(path, found)
        });
        known.when(&mut exec.terms, base)
    }
}

impl Concerned {
    fn new(path: Term, found: Vec<(Base, Term)>) -> Self {
        let mut ways: FxHashMap<Base, Vec<Term>> = FxHashMap::default();
        for (base, when) in found {
            ways.entry(base).or_default().push(when);
        }
        Self { path, ways }
    }

    /// The path, and any of the ways.
    fn when(&self, terms: &mut Terms, base: Base) -> Term {
        match self.ways.get(&base) {
            Some(ways) => {
                let any = terms.or(ways.iter().copied());
                terms.and2(self.path, any)
            }
            None => Terms::FALSE,
        }
    }
}
