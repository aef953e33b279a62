//! A candidate with a model becomes a finding: kind, variable, leak point, blame, path.

use crate::describe::Describe;
use crate::named;
use crate::path;
use leakproof_findings::{AllocSite, Evidence, Finding, Kind};
use leakproof_guard::{Assignment, Base, Term, base_address, evaluate};
use leakproof_program::Program;
use leakproof_summary::{BaseKind, Candidate, Drop, Exec, Place, Site, Slot, Stored};
use rustc_hash::FxHashMap;

/// A model with what has been evaluated under it.
pub struct Replay<'m> {
    model: &'m Assignment,
    memo: FxHashMap<Term, u64>,
}

impl<'m> Replay<'m> {
    pub fn new(model: &'m Assignment) -> Self {
        Self { model, memo: FxHashMap::default() }
    }

    /// Whether a condition holds.
    pub fn holds(&mut self, exec: &Exec<'_>, t: Term) -> bool {
        self.value(exec, t) == 1
    }

    pub fn value(&mut self, exec: &Exec<'_>, t: Term) -> u64 {
        evaluate(&exec.terms, t, self.model, &mut self.memo)
    }

    /// Whether a value points into the object at `base`.
    pub fn refers(&mut self, exec: &mut Exec<'_>, t: Term, base: Base) -> bool {
        if !exec.terms.has_addr(t) || !exec.all_bases(t).contains(&base) {
            return false;
        }
        let v = self.value(exec, t);
        v.wrapping_sub(base_address(base)) < 1 << 24 || exec.holds_any(t)
    }

    pub fn on_path(&mut self, exec: &mut Exec<'_>, pc: leakproof_summary::Pc) -> bool {
        let formula = exec.pcs.formula(&mut exec.terms, pc);
        self.holds(exec, formula)
    }
}

/// The finding, or nothing when the blame falls on a place without a source position, or on a library's header.
pub fn build(
    program: &Program,
    exec: &mut Exec<'_>,
    candidate: &Candidate,
    model: &Assignment,
) -> Option<Finding> {
    let mut replay = Replay::new(model);
    let object = exec.objects[candidate.object.0 as usize].clone();
    let exit_loc = exec.exits[candidate.exit].loc;
    let holder = last_holder(exec, candidate, object.base, &mut replay);
    let (kind, cell, point) = match holder {
        Some(cell) => (Kind::Forgotten, Some(cell), exec.place(exit_loc)),
        None => match last_drop(exec, object.base, &mut replay) {
            Some((holder, at)) => (Kind::Lost, Some(holder), at),
            // It was put somewhere and nothing took it from there: what became of it is out of
            // sight, not lost.
            None if is_stored(exec, object.base, &mut replay) => return None,
            None if model.is_empty() => {
                let may_hold = possible_holder(exec, candidate, object.base);
                (Kind::Forgotten, may_hold, exec.place(exit_loc))
            }
            None => match possible_drop(exec, object.base) {
                Some((holder, at)) => (Kind::Lost, Some(holder), at),
                None => (Kind::Lost, incoming_cell(exec, candidate), object.trace[0].at),
            },
        },
    };
    if program.module(point.func.module).is_in_library(point.loc) {
        return None;
    }
    let describe = Describe::new(program);
    let elsewhere = (point.func != exec.me).then(|| named::written_at(program, point)).flatten();
    let variable = elsewhere.or_else(|| cell.map(|c| describe.cell(exec, c))).unwrap_or_default();
    let sites = sites_from(&object.trace, point);
    let evidence = if object.assumed { Evidence::Assumed } else { Evidence::Feasible };
    let alloc_trace: Vec<AllocSite> = sites.iter().map(|s| describe.site(s)).collect();
    let leak = describe.location(point);
    let condition = path::condition(&describe, exec, candidate, &mut replay);
    let path = path::steps(&describe, exec, candidate, point, kind, &variable, &mut replay);
    if leak.line == 0 && alloc_trace[0].line == 0 {
        return None;
    }
    Some(Finding {
        kind,
        family: object.family.to_string(),
        function: leak.function.clone(),
        variable,
        evidence,
        alloc: alloc_trace[0].clone(),
        alloc_trace,
        leak,
        path,
        condition,
        ..Finding::default()
    })
}

/// Whether the object's address was stored on the path elsewhere than in itself.
fn is_stored(exec: &mut Exec<'_>, base: Base, replay: &mut Replay<'_>) -> bool {
    let stores = exec.stored.get(&base).cloned().unwrap_or_default();
    stores.into_iter().any(|Stored { pc, value, to }| {
        exec.all_bases(to)[..] != [base]
            && replay.refers(exec, value, base)
            && replay.on_path(exec, pc)
    })
}

/// The allocation as seen from where the object is lost: the part of the trace from the call in
/// that function on.
fn sites_from(trace: &[Site], point: Place) -> Vec<Site> {
    let start = trace.iter().rposition(|s| s.at.func == point.func).unwrap_or(0);
    trace[start..].to_vec()
}

/// The cell through which a resized object came in.
fn incoming_cell(exec: &Exec<'_>, candidate: &Candidate) -> Option<(Base, Slot)> {
    exec.resized.iter().find(|r| r.object == candidate.object).map(|r| r.cell)
}

/// A local that still refers to the object at the exit; variables before stack slots and what a
/// constructor leaves unfinished.
fn last_holder(
    exec: &mut Exec<'_>,
    candidate: &Candidate,
    base: Base,
    replay: &mut Replay<'_>,
) -> Option<(Base, Slot)> {
    let state = exec.exits[candidate.exit].state.clone();
    let mut found = None;
    for (&cell, &value) in &state.mem {
        let rank = match exec.kind(cell.0) {
            BaseKind::Var(_) => 2,
            BaseKind::Slot(_) => 1,
            BaseKind::Pointee if exec.is_unfinished(&state, cell.0) => 1,
            _ => continue,
        };
        if cell.1.is_contents()
            && found.is_none_or(|(r, _)| rank > r)
            && replay.refers(exec, value, base)
        {
            found = Some((rank, cell));
        }
    }
    found.map(|(_, cell)| cell)
}

/// A variable that may refer to the object at the exit, when the solver gave up without any values.
fn possible_holder(exec: &mut Exec<'_>, candidate: &Candidate, base: Base) -> Option<(Base, Slot)> {
    let state = exec.exits[candidate.exit].state.clone();
    let cells = state.mem.iter().filter(|((holder, slot), _)| {
        slot.is_contents() && matches!(exec.kind(*holder), BaseKind::Var(_) | BaseKind::Slot(_))
    });
    let cells: Vec<((Base, Slot), Term)> = cells.map(|(c, t)| (*c, *t)).collect();
    let held = cells.into_iter().find(|(_, t)| exec.all_bases(*t).contains(&base));
    held.map(|(cell, _)| cell)
}

/// Whether the drop of that number took away a reference to the object, on the path.
pub fn is_drop_of(exec: &mut Exec<'_>, i: usize, base: Base, replay: &mut Replay<'_>) -> bool {
    let Drop { pc, when, old, .. } = exec.drops[i];
    replay.refers(exec, old, base) && replay.on_path(exec, pc) && replay.holds(exec, when)
}

/// The last reference that went away on the path. A pointer to constant data only borrows: the last one by which
/// the object could have been released counts, as long as there was one.
fn last_drop(
    exec: &mut Exec<'_>,
    base: Base,
    replay: &mut Replay<'_>,
) -> Option<((Base, Slot), Place)> {
    let mut borrower = None;
    for i in (0..exec.drops.len()).rev() {
        if is_drop_of(exec, i, base, replay) {
            let (holder, at) = (exec.drops[i].holder, exec.drops[i].at);
            if !is_borrower(exec, holder) {
                return Some((holder, at));
            }
            borrower = borrower.or(Some((holder, at)));
        }
    }
    borrower
}

/// The last drop of what may have been a reference to the object, where the solver's values decide on none.
fn possible_drop(exec: &mut Exec<'_>, base: Base) -> Option<((Base, Slot), Place)> {
    let mut last_first = (0..exec.drops.len()).rev();
    let i = last_first.find(|&i| exec.all_bases(exec.drops[i].old).contains(&base))?;
    Some((exec.drops[i].holder, exec.drops[i].at))
}

/// Whether a cell is a variable declared as a pointer to constant data.
fn is_borrower(exec: &Exec<'_>, (base, _): (Base, Slot)) -> bool {
    let BaseKind::Var(var) = exec.kind(base) else { return false };
    exec.body.vars[var].ty.is_some_and(|ty| exec.module.points_to_constant(ty))
}
