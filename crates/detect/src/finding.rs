//! A candidate with a model becomes a finding: kind, variable, leak point, blame, path.

use crate::describe::Describe;
use crate::named;
use crate::path;
use leakproof_findings::{AllocSite, Evidence, Finding, Kind};
use leakproof_guard::{Assignment, Base, Sym, Term, base_address, evaluate};
use leakproof_program::Program;
use leakproof_summary::{BaseKind, Candidate, Drop, DropKind, Exec, Place, Site, Slot, Stored};
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
        self.surely_refers(exec, t, base) || exec.holds_any(t)
    }

    /// Whether a condition that holds would not if this symbol were zero.
    pub fn hangs_on(&mut self, exec: &Exec<'_>, condition: Term, sym: Sym) -> bool {
        let mut other = self.model.clone();
        other.syms.insert(sym, 0);
        self.holds(exec, condition) && !Replay::new(&other).holds(exec, condition)
    }

    /// Whether a value is an address in the object at `base`, and not merely one of several that may be.
    fn surely_refers(&mut self, exec: &Exec<'_>, t: Term, base: Base) -> bool {
        self.value(exec, t).wrapping_sub(base_address(base)) < 1 << 24
    }

    pub fn on_path(&mut self, exec: &mut Exec<'_>, pc: leakproof_summary::Pc) -> bool {
        let formula = exec.pcs.formula(&mut exec.terms, pc);
        self.holds(exec, formula)
    }
}

/// How an object ends: where, and who referred to it last.
pub struct End {
    pub kind: Kind,
    pub cell: Option<(Base, Slot)>,
    pub point: Place,
    /// The drop that took the last reference away.
    pub drop: Option<usize>,
    /// The cell is not known to refer to the object at the end.
    pub unheld: bool,
    /// Then: the cell that did so last.
    pub keeper: Option<(Base, Slot)>,
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
    let end = end_of(exec, candidate, &mut replay)?;
    let point = end.point;
    if program.module(point.func.module).is_in_library(point.loc) {
        return None;
    }
    let describe = Describe::new(program);
    let elsewhere = (point.func != exec.me).then(|| name_elsewhere(program, exec, &end)).flatten();
    let named = || end.cell.map(|c| describe.cell(exec, c));
    let variable = elsewhere.or_else(named).unwrap_or_default();
    let keeper = end.keeper.map(|c| describe.cell(exec, c)).unwrap_or_default();
    let sites = sites_from(&object.trace, point);
    let evidence = if object.assumed { Evidence::Assumed } else { Evidence::Feasible };
    let alloc_trace: Vec<AllocSite> = sites.iter().map(|s| describe.site(s)).collect();
    let leak = describe.location(point);
    let condition = path::condition(&describe, exec, candidate, &end, &mut replay);
    let path = path::steps(&describe, exec, candidate, &end, &variable, &mut replay);
    if leak.line == 0 && alloc_trace[0].line == 0 {
        return None;
    }
    Some(Finding {
        kind: end.kind,
        family: object.family.to_string(),
        function: leak.function.clone(),
        held_by: end.unheld.then_some(keeper),
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

/// What lost an object in another function than the one that was run, as that one calls it.
fn name_elsewhere(program: &Program, exec: &Exec<'_>, end: &End) -> Option<String> {
    named::written_at(program, end.point).or_else(|| {
        let drop = &exec.drops[end.drop?];
        match (drop.kind, drop.holder.1) {
            (DropKind::OwnerFreed, Slot::At(offset)) => {
                named::member_of_released(program, end.point, offset)
            }
            _ => None,
        }
    })
}

/// Where the object ends; nowhere that is known when it was put somewhere out of sight.
fn end_of(exec: &mut Exec<'_>, candidate: &Candidate, replay: &mut Replay<'_>) -> Option<End> {
    let base = exec.objects[candidate.object.0 as usize].base;
    let exit = exec.place(exec.exits[candidate.exit].loc);
    if let Some((cell, value)) = last_holder(exec, candidate, base, replay) {
        let unheld = !is_array(cell) && !replay.surely_refers(exec, value, base);
        let keeper = if unheld { keeper(exec, candidate, cell, replay) } else { None };
        return Some(End { keeper, ..forgotten(Some(cell), exit, unheld) });
    }
    if let Some(drop) = last_drop(exec, base, replay) {
        return Some(lost_by(exec, drop));
    }
    // It was put somewhere and nothing took it from there: what became of it is out of sight, not
    // lost.
    if is_stored(exec, base, replay) {
        return None;
    }
    if replay.model.is_empty() {
        return Some(forgotten(possible_holder(exec, candidate, base), exit, true));
    }
    Some(match possible_drop(exec, base) {
        Some(drop) => lost_by(exec, drop),
        None => End {
            kind: Kind::Lost,
            cell: incoming_cell(exec, candidate),
            point: exec.objects[candidate.object.0 as usize].trace[0].at,
            drop: None,
            unheld: false,
            keeper: None,
        },
    })
}

fn forgotten(cell: Option<(Base, Slot)>, point: Place, unheld: bool) -> End {
    End { kind: Kind::Forgotten, cell, point, drop: None, unheld, keeper: None }
}

fn lost_by(exec: &Exec<'_>, drop: usize) -> End {
    let Drop { holder, at, .. } = exec.drops[drop];
    let (kind, cell) = (Kind::Lost, Some(holder));
    End { kind, cell, point: at, drop: Some(drop), unheld: false, keeper: None }
}

/// The reference that really held the object last: another local that does, else one that was taken away.
fn keeper(
    exec: &mut Exec<'_>,
    candidate: &Candidate,
    cell: (Base, Slot),
    replay: &mut Replay<'_>,
) -> Option<(Base, Slot)> {
    let base = exec.objects[candidate.object.0 as usize].base;
    let state = exec.exits[candidate.exit].state.clone();
    for (&other, &value) in &state.mem {
        let local = matches!(exec.kind(other.0), BaseKind::Var(_) | BaseKind::Slot(_));
        if local
            && other != cell
            && other.1.is_contents()
            && replay.refers(exec, value, base)
            && (is_array(other) || replay.surely_refers(exec, value, base))
        {
            return Some(other);
        }
    }
    let drop = last_drop(exec, base, replay)?;
    let Drop { holder, old, .. } = exec.drops[drop];
    replay.surely_refers(exec, old, base).then_some(holder)
}

/// Whether a cell stands for all elements of an array: some one of them holds what it holds, and which one no
/// model tells.
fn is_array((_, slot): (Base, Slot)) -> bool {
    !matches!(slot, Slot::At(_))
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

/// A local that still refers to the object at the exit, and what it holds; variables before stack slots and what
/// a constructor leaves unfinished.
fn last_holder(
    exec: &mut Exec<'_>,
    candidate: &Candidate,
    base: Base,
    replay: &mut Replay<'_>,
) -> Option<((Base, Slot), Term)> {
    let state = exec.exits[candidate.exit].state.clone();
    let mut found: Option<(u8, (Base, Slot), Term)> = None;
    for (&cell, &value) in &state.mem {
        let rank = match exec.kind(cell.0) {
            BaseKind::Var(_) => 2,
            BaseKind::Slot(_) => 1,
            BaseKind::Pointee if exec.is_unfinished(&state, cell.0) => 1,
            _ => continue,
        };
        if cell.1.is_contents()
            && found.is_none_or(|(r, ..)| rank > r)
            && replay.refers(exec, value, base)
        {
            found = Some((rank, cell, value));
        }
    }
    found.map(|(_, cell, value)| (cell, value))
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
fn last_drop(exec: &mut Exec<'_>, base: Base, replay: &mut Replay<'_>) -> Option<usize> {
    let mut borrower = None;
    for i in (0..exec.drops.len()).rev() {
        if is_drop_of(exec, i, base, replay) {
            if !is_borrower(exec, exec.drops[i].holder) {
                return Some(i);
            }
            borrower = borrower.or(Some(i));
        }
    }
    borrower
}

/// The last drop of what may have been a reference to the object, where the solver's values decide on none.
fn possible_drop(exec: &mut Exec<'_>, base: Base) -> Option<usize> {
    let mut last_first = (0..exec.drops.len()).rev();
    last_first.find(|&i| exec.all_bases(exec.drops[i].old).contains(&base))
}

/// Whether a cell is a variable declared as a pointer to constant data.
fn is_borrower(exec: &Exec<'_>, (base, _): (Base, Slot)) -> bool {
    let BaseKind::Var(var) = exec.kind(base) else { return false };
    exec.body.vars[var].ty.is_some_and(|ty| exec.module.points_to_constant(ty))
}
