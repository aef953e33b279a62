//! The path of a finding: what a reader sees between the allocation and the leak.

use crate::describe::{Describe, Literal};
use crate::finding::{End, Replay, is_drop_of};
use leakproof_findings::{Event, Kind, PathStep};
use leakproof_guard::{Node, Term};
use leakproof_ir::{InstKind, Terminator, ValueKind};
use leakproof_summary::{
    BaseKind, Candidate, Drop, DropKind, Exec, NoteKind, Origin, Place, SymKind, What,
};
use rustc_hash::FxHashSet;

/// Literals shown in a condition.
const MAX_LITERALS: usize = 6;

/// The condition of the leak in source terms: the parts of the path that have a name.
pub fn condition(
    describe: &Describe<'_>,
    exec: &mut Exec<'_>,
    candidate: &Candidate,
    end: &End,
    replay: &mut Replay<'_>,
) -> String {
    let mut literals: Vec<Literal> = Vec::new();
    for literal in path_to(exec, candidate, end) {
        let parts = true_parts(exec, literal, replay);
        let parts = parts.into_iter().filter(|&t| !is_plain_success(exec, candidate, t));
        literals.extend(parts.filter_map(|t| describe.literal(exec, t)));
    }
    let mut parts = told_apart(&literals);
    for failure in failures_inside(exec, candidate, replay) {
        parts.push(describe.outcome(exec, &failure, true));
    }
    let parts = without_repetitions(parts);
    let skip = parts.len().saturating_sub(MAX_LITERALS);
    parts[skip..].join(" && ")
}

/// The literals of the path up to the end of the object: what comes later has no say in it.
fn path_to(exec: &Exec<'_>, candidate: &Candidate, end: &End) -> Vec<Term> {
    let Some(drop) = end.drop else {
        return exec.pcs.path(exec.exits[candidate.exit].state.pc);
    };
    let Drop { pc, when, .. } = exec.drops[drop];
    let mut list = exec.pcs.path(pc);
    list.push(when);
    list
}

/// Whether a literal says what one would think: that a call inside another function did not fail, or the call that made
/// the object.
fn is_plain_success(exec: &Exec<'_>, candidate: &Candidate, t: Term) -> bool {
    let Node::Not(inner) = exec.terms.node(t) else { return false };
    let Node::Sym(s) = exec.terms.node(*inner) else { return false };
    let SymKind::Opaque(o) = &exec.sym_kinds[s.0 as usize] else { return false };
    let trace = &exec.objects[candidate.object.0 as usize].trace;
    o.what == What::Failure
        && (o.at.func != exec.me || trace.last().is_some_and(|site| site.at == o.at))
}

fn without_repetitions(mut parts: Vec<String>) -> Vec<String> {
    let mut seen = FxHashSet::default();
    parts.retain(|text| seen.insert(text.clone()));
    parts
}

/// The texts of literals. One name may stand for several values (two calls of a function, a field before and
/// after a call, two elements): where they would seem to contradict each other, calls are told apart by their
/// lines, and of the others the last value counts, which is the one at the leak.
fn told_apart(literals: &[Literal]) -> Vec<String> {
    let mut texts = Vec::new();
    for (i, literal) in literals.iter().enumerate() {
        let rivals = |of: &[Literal], same_line: bool| {
            of.iter().any(|other| literal.is_rival(other, same_line))
        };
        if rivals(&literals[i + 1..], true) {
            continue;
        }
        let line = literal.line().filter(|_| rivals(literals, false));
        texts.push(match line {
            Some(line) => format!("{} on line {line}", literal.text),
            None => literal.text.clone(),
        });
    }
    texts
}

/// The calls of the library that fail inside functions that were called, when the leak depends on it.
fn failures_inside(exec: &Exec<'_>, candidate: &Candidate, replay: &mut Replay<'_>) -> Vec<Origin> {
    let mut list = Vec::new();
    for t in deciding_atoms(exec, candidate.condition, replay) {
        let Node::Sym(s) = *exec.terms.node(t) else { continue };
        if let SymKind::Opaque(o) = &exec.sym_kinds[s.0 as usize]
            && o.what == What::Failure
            && o.at.func != exec.me
            && list.len() < MAX_LITERALS
            && replay.holds(exec, t)
            // A call that is not on the path fails or not, as the solver likes.
            && replay.hangs_on(exec, candidate.condition, s)
        {
            list.push(o.clone());
        }
    }
    list
}

/// The atoms that make a condition what it is under the model. Conditions share parts: each is looked at once.
fn deciding_atoms(exec: &Exec<'_>, condition: Term, replay: &mut Replay<'_>) -> Vec<Term> {
    let (mut seen, mut atoms) = (FxHashSet::default(), Vec::new());
    let mut work = vec![condition];
    while let Some(t) = work.pop() {
        if !seen.insert(t) {
            continue;
        }
        match exec.terms.node(t) {
            Node::Not(inner) => work.push(*inner),
            Node::And(items) | Node::Or(items) => {
                let holds = replay.holds(exec, t);
                let all = holds == matches!(exec.terms.node(t), Node::And(_));
                if all {
                    work.extend(items.iter().rev());
                } else {
                    work.extend(items.iter().find(|&&i| replay.holds(exec, i) == holds));
                }
            }
            Node::Ite { cond, then, otherwise } => {
                let chosen = if replay.holds(exec, *cond) { then } else { otherwise };
                work.extend([*chosen, *cond]);
            }
            _ => atoms.push(t),
        }
    }
    atoms
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
    end: &End,
    variable: &str,
    replay: &mut Replay<'_>,
) -> Vec<PathStep> {
    let base = exec.objects[candidate.object.0 as usize].base;
    let mut timed: Vec<Timed> = branches(describe, exec, replay);
    timed.extend(notes(describe, exec, base, replay));
    timed.extend(drops(describe, exec, base, replay));
    // Nothing that happens after the leak explains it.
    let last = end.drop.map_or((u32::MAX, true), |i| (exec.drops[i].seq, false));
    timed.retain(|(when, _)| *when <= last);
    if !timed.iter().any(|(_, s)| s.event == Event::Alloc) {
        timed.push(unnoted_allocation(describe, exec, candidate, last, replay));
    }
    timed.sort_by_key(|(when, _)| *when);
    let mut steps: Vec<PathStep> = timed.into_iter().map(|(_, s)| s).collect();
    explain_calls(describe, exec, &failures_inside(exec, candidate, replay), &mut steps);
    let note = if exec.exits[candidate.exit].is_thrown() && end.kind == Kind::Forgotten {
        exception_note(variable)
    } else {
        leak_note(exec, end, variable)
    };
    steps.push(describe.step(end.point, Event::Leak, note));
    steps.dedup();
    steps
}

/// The allocation of an object for which no call on the path stands: where the path comes by, else first.
fn unnoted_allocation(
    describe: &Describe<'_>,
    exec: &mut Exec<'_>,
    candidate: &Candidate,
    last: (u32, bool),
    replay: &mut Replay<'_>,
) -> Timed {
    let site = exec.objects[candidate.object.0 as usize].trace[0].clone();
    let does = if exec.is_handed_over(candidate.object) { "hands over" } else { "allocates" };
    let note = format!("'{}' {does} the object", site.callee);
    let seq = visited_at(exec, site.at, last, replay).unwrap_or(0);
    ((seq, false), describe.step(site.at, Event::Alloc, note))
}

/// When the path was at a position for the last time.
fn visited_at(
    exec: &mut Exec<'_>,
    at: Place,
    last: (u32, bool),
    replay: &mut Replay<'_>,
) -> Option<u32> {
    if at.func != exec.me {
        return None;
    }
    let (body, blocks) = (exec.body, &exec.body.blocks);
    for i in (0..exec.visits.len()).rev() {
        let (block, pc, seq) = (exec.visits[i].block, exec.visits[i].pc, exec.visits[i].seq);
        let here = || blocks[block].insts.iter().any(|&i| body.insts[i].loc == at.loc);
        if (seq, false) <= last && here() && replay.on_path(exec, pc) {
            return Some(seq);
        }
    }
    None
}

/// Says of the calls that leave the object what fails inside them, where no other step does.
fn explain_calls(
    describe: &Describe<'_>,
    exec: &Exec<'_>,
    failures: &[Origin],
    steps: &mut [PathStep],
) {
    for failure in failures {
        let said = describe.outcome(exec, failure, true);
        if steps.iter().any(|s| s.note.contains(&said)) {
            continue;
        }
        let direct = describe.inside(exec, failure).map(passed_note);
        let of_it = |s: &PathStep| s.event == Event::Call && Some(&s.note) == direct.as_ref();
        let last = |s: &PathStep| s.event == Event::Call;
        if let Some(i) = steps.iter().rposition(of_it) {
            steps[i].note.push_str(&format!(": {}() fails there", failure.name));
        } else if let Some(i) = steps.iter().rposition(last) {
            // Further down in what was called.
            steps[i].note.push_str(&format!(" ({said})"));
        }
    }
}

fn passed_note(name: &str) -> String {
    format!("passed to '{name}', which leaves it")
}

fn exception_note(variable: &str) -> String {
    match variable {
        "" => "an exception leaves the function, and nobody releases the object".to_owned(),
        v => format!("an exception leaves the function while '{v}' still owns the object"),
    }
}

fn leak_note(exec: &Exec<'_>, end: &End, variable: &str) -> String {
    match (end.kind, variable) {
        (Kind::Forgotten, "") => "the function returns without releasing the object".to_owned(),
        (Kind::Forgotten, _) if end.unheld => {
            "the function returns without releasing the object".to_owned()
        }
        (Kind::Forgotten, v) => format!("the function returns while '{v}' still owns the object"),
        (Kind::Lost, "") => "no reference to the object is kept".to_owned(),
        (Kind::Lost, v) if end.drop.is_some_and(|i| is_end_of_scope(exec, &exec.drops[i])) => {
            format!("the last reference, '{v}', goes out of scope here")
        }
        (Kind::Lost, v) => format!("the last reference, '{v}', goes away here"),
        (Kind::DoubleFree | Kind::UseAfterFree, _) => "the object was released before".to_owned(),
    }
}

/// Whether a variable lost its value because its block ends.
fn is_end_of_scope(exec: &Exec<'_>, drop: &Drop) -> bool {
    let kind = exec.kind(drop.holder.0);
    let here = |loc| drop.at.func == exec.me && drop.at.loc == loc;
    exec.body.insts.iter().any(|(_, inst)| match (&inst.kind, kind) {
        (InstKind::VarSet { var, value }, BaseKind::Var(v)) => {
            *var == v && here(inst.loc) && exec.function.values[*value].kind == ValueKind::Undef
        }
        (InstKind::ScopeEnd { .. }, BaseKind::Slot(_)) => here(inst.loc),
        _ => false,
    })
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
            NoteKind::PassedTo => (Event::Call, passed_note(&name)),
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
            DropKind::Overwritten if is_end_of_scope(exec, &exec.drops[i]) => {
                format!("'{name}' goes out of scope")
            }
            DropKind::Overwritten => format!("'{name}' gets another value"),
            DropKind::OwnerFreed => {
                format!("the owner is released while '{name}' holds the object")
            }
        };
        list.push(((seq, false), describe.step(at, Event::Drop, note)));
    }
    list
}
