//! The path of a finding: what a reader sees between the allocation and the leak.

use crate::describe::Describe;
use crate::finding::{Replay, is_drop_of};
use leakproof_findings::{Event, Kind, PathStep};
use leakproof_guard::{Node, Term};
use leakproof_ir::Terminator;
use leakproof_summary::{Candidate, Drop, DropKind, Exec, NoteKind, Place};

/// Literals shown in a condition.
const MAX_LITERALS: usize = 6;

/// The condition of the leak in source terms: the parts of the path that have a name.
pub fn condition(
    describe: &Describe<'_>,
    exec: &mut Exec<'_>,
    candidate: &Candidate,
    replay: &mut Replay<'_>,
) -> String {
    let pc = exec.exits[candidate.exit].state.pc;
    let mut parts: Vec<String> = Vec::new();
    for literal in exec.pcs.path(pc) {
        for t in true_parts(exec, literal, replay) {
            if let Some(text) = describe.condition(exec, t)
                && !parts.contains(&text)
            {
                parts.push(text);
            }
        }
    }
    let skip = parts.len().saturating_sub(MAX_LITERALS);
    parts[skip..].join(" && ")
}

/// The atoms that make a literal true under the model.
fn true_parts(exec: &Exec<'_>, t: Term, replay: &mut Replay<'_>) -> Vec<Term> {
    match exec.terms.node(t) {
        Node::Or(items) => {
            let items = items.clone();
            let first = items.iter().copied().find(|&i| replay.holds(exec, i));
            first.map(|i| true_parts(exec, i, replay)).unwrap_or_default()
        }
        Node::And(items) => {
            let items = items.clone();
            items.iter().flat_map(|&i| true_parts(exec, i, replay)).collect()
        }
        _ => vec![t],
    }
}

/// A step with the moment it happened; a branch comes after what its block did.
pub type Timed = ((u32, bool), PathStep);

pub fn steps(
    describe: &Describe<'_>,
    exec: &mut Exec<'_>,
    candidate: &Candidate,
    point: Place,
    kind: Kind,
    variable: &str,
    replay: &mut Replay<'_>,
) -> Vec<PathStep> {
    let base = exec.objects[candidate.object.0 as usize].base;
    let mut timed: Vec<Timed> = branches(describe, exec, replay);
    timed.extend(notes(describe, exec, base, replay));
    timed.extend(drops(describe, exec, base, replay));
    timed.sort_by_key(|(when, _)| *when);
    let mut steps: Vec<PathStep> = timed.into_iter().map(|(_, s)| s).collect();
    if !steps.iter().any(|s| s.event == Event::Alloc) {
        let site = exec.objects[candidate.object.0 as usize].trace[0].clone();
        let does = if exec.is_handed_over(candidate.object) { "hands over" } else { "allocates" };
        let note = format!("'{}' {does} the object", site.callee);
        steps.insert(0, describe.step(site.at, Event::Alloc, note));
    }
    let note = if exec.exits[candidate.exit].thrown && kind == Kind::Forgotten {
        exception_note(variable)
    } else {
        leak_note(kind, variable)
    };
    steps.push(describe.step(point, Event::Leak, note));
    steps.dedup();
    steps
}

fn exception_note(variable: &str) -> String {
    match variable {
        "" => "an exception leaves the function, and nobody releases the object".to_owned(),
        v => format!("an exception leaves the function while '{v}' still owns the object"),
    }
}

fn leak_note(kind: Kind, variable: &str) -> String {
    match (kind, variable) {
        (Kind::Forgotten, "") => "the function returns without releasing the object".to_owned(),
        (Kind::Forgotten, v) => format!("the function returns while '{v}' still owns the object"),
        (Kind::Lost, "") => "no reference to the object is kept".to_owned(),
        (Kind::Lost, v) => format!("the last reference, '{v}', goes away here"),
        (Kind::DoubleFree | Kind::UseAfterFree, _) => "the object was released before".to_owned(),
    }
}

pub fn branches(
    describe: &Describe<'_>,
    exec: &mut Exec<'_>,
    replay: &mut Replay<'_>,
) -> Vec<Timed> {
    let mut list = Vec::new();
    for i in 0..exec.visits.len() {
        let (pc, cond, block, seq) = {
            let v = &exec.visits[i];
            (v.pc, v.cond, v.block, v.seq)
        };
        let Some(cond) = cond else { continue };
        if exec.terms.as_int(cond).is_some() || !replay.on_path(exec, pc) {
            continue;
        }
        let at = exec.place(exec.body.blocks[block].term_loc);
        if at.loc.line == 0 {
            continue;
        }
        if let Some(note) = branch_note(describe, exec, block, cond, replay) {
            // Just after the block's own events, before those of the next block.
            let end = exec.visits.get(i + 1).map_or(u32::MAX - 1, |v| v.seq - 1);
            list.push(((end.max(seq), true), describe.step(at, Event::Branch, note)));
        }
    }
    list
}

fn branch_note(
    describe: &Describe<'_>,
    exec: &mut Exec<'_>,
    block: leakproof_ir::BlockId,
    cond: Term,
    replay: &mut Replay<'_>,
) -> Option<String> {
    match &exec.body.blocks[block].term {
        Terminator::Branch { then, otherwise, .. } => {
            let taken = replay.holds(exec, cond);
            let next = if taken { *then } else { *otherwise };
            let literal = if taken { cond } else { exec.terms.not(cond) };
            // The compiler may test the opposite of what the source says: tell where the path
            // goes, not whether the condition held.
            let line = first_line(exec, next);
            let here = exec.body.blocks[block].term_loc.line;
            match (describe.condition(exec, literal), line.filter(|l| *l != here)) {
                (Some(text), Some(line)) => Some(format!("assuming {text}: on to line {line}")),
                (Some(text), None) => Some(format!("assuming {text}")),
                (None, Some(line)) => Some(format!("on to line {line}")),
                (None, None) => None,
            }
        }
        Terminator::Switch { .. } => {
            let value = replay.value(exec, cond);
            let bits = exec.terms.bits(cond);
            let value = leakproof_guard::sign_extend(bits, value);
            Some(format!("the switch value is {value}"))
        }
        _ => None,
    }
}

/// The source line where a block starts; one without any is passed through.
fn first_line(exec: &Exec<'_>, mut block: leakproof_ir::BlockId) -> Option<u32> {
    for _ in 0..4 {
        let here = &exec.body.blocks[block];
        let lines = here.insts.iter().map(|&i| exec.body.insts[i].loc.line);
        if let Some(line) = lines.chain([here.term_loc.line]).find(|l| *l != 0) {
            return Some(line);
        }
        let Terminator::Jump(next) = here.term else { return None };
        block = next;
    }
    None
}

pub fn notes(
    describe: &Describe<'_>,
    exec: &mut Exec<'_>,
    base: leakproof_guard::Base,
    replay: &mut Replay<'_>,
) -> Vec<Timed> {
    let mut list = Vec::new();
    for i in 0..exec.notes.len() {
        let (pc, at, kind, value, name, seq) = {
            let n = &exec.notes[i];
            (n.pc, n.at, n.kind, n.value, n.name.clone(), n.seq)
        };
        if !replay.refers(exec, value, base) || !replay.on_path(exec, pc) {
            continue;
        }
        let (event, note) = match kind {
            NoteKind::Allocated => (Event::Alloc, format!("'{name}' allocates the object")),
            NoteKind::PassedTo if name.is_empty() => continue,
            NoteKind::PassedTo => (Event::Call, format!("passed to '{name}', which leaves it")),
        };
        list.push(((seq, false), describe.step(at, event, note)));
    }
    list
}

fn drops(
    describe: &Describe<'_>,
    exec: &mut Exec<'_>,
    base: leakproof_guard::Base,
    replay: &mut Replay<'_>,
) -> Vec<Timed> {
    let mut list = Vec::new();
    for i in 0..exec.drops.len() {
        if !is_drop_of(exec, i, base, replay) {
            continue;
        }
        let Drop { at, holder, kind, seq, .. } = exec.drops[i];
        let name = describe.cell(exec, holder);
        let note = match kind {
            DropKind::Overwritten => format!("'{name}' gets another value"),
            DropKind::OwnerFreed => {
                format!("the owner is released while '{name}' holds the object")
            }
        };
        list.push(((seq, false), describe.step(at, Event::Drop, note)));
    }
    list
}
