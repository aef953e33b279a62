//! Who may have stored an object where it outlives the function that leaks it: a second opinion.
//!
//! In: the units as they were compiled, a finding and the line of a release. Out: the place before the
//! release at which the object was put into memory of others, by this function or by one that it calls,
//! if there is one. The analysis that says "nobody holds it any more" at such a release has followed
//! that memory through everything that happened since; when it is mistaken the finding is false,
//! and a release would hurt. So this asks the code alone, without paths: a store is a store.
//! Only results are believed: what a callee keeps when it returns 0 it does not keep when it does not.

use crate::flow::{Flow, Root};
use leakproof_findings::Finding;
use leakproof_ir::{
    BlockId, Body, Callee, FuncId, Function, InstId, InstKind, Linkage, Module, Pred, Terminator,
    ValueId, ValueKind,
};
use std::collections::BTreeSet;

/// Calls followed from the leaking function.
const DEPTH: u32 = 6;

/// When a release happens: on the way to what a line does, or after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub line: u32,
    pub after: bool,
}

/// The program as it was compiled.
pub struct Keepers<'k> {
    pub modules: &'k [Module],
}

/// The results with which a function returns after it kept what it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Results {
    These(BTreeSet<u64>),
    Any,
}

/// Something that keeps the object.
struct Event {
    block: BlockId,
    inst: InstId,
    results: Results,
}

impl Keepers<'_> {
    /// The line before a release on which the object of a finding is stored elsewhere.
    pub fn before(&self, finding: &Finding, moment: Moment) -> Option<u32> {
        let here = |m: &&Module| m.files.values().any(|f| *f == finding.leak.file);
        self.modules.iter().filter(here).find_map(|module| {
            let mut named = module.functions.values();
            let function = named.find(|f| f.source_name == finding.function && f.body.is_some())?;
            let body = function.body.as_ref()?;
            let flow = Flow::of_call(function, body, finding.alloc.line, finding.alloc.column)?;
            let there = blocks_at(body, moment.line);
            let events = self.events(module, body, &flow, DEPTH);
            let kept = events
                .iter()
                .find(|e| is_before(function, body, e, &there) || is_earlier(body, e, moment))?;
            Some(body.insts[kept.inst].loc.line)
        })
    }

    fn events(&self, module: &Module, body: &Body, flow: &Flow<'_>, depth: u32) -> Vec<Event> {
        let mut list = Vec::new();
        for (block, b) in body.blocks.iter() {
            for &inst in &b.insts {
                let results = match &body.insts[inst].kind {
                    InstKind::Store { ptr, value } if flow.is_object(*value) => {
                        flow.is_foreign(*ptr).then_some(Results::Any)
                    }
                    InstKind::Call { callee: Callee::Direct(f), args, .. } => {
                        let given = (0..args.len()).filter(|&n| flow.is_object(args[n]));
                        let kept = given.filter_map(|n| self.kept_by(module, *f, n, depth));
                        kept.reduce(join)
                    }
                    _ => None,
                };
                list.extend(results.map(|results| Event { block, inst, results }));
            }
        }
        list
    }

    /// Whether a callee keeps an argument, and with which results it then returns.
    fn kept_by(&self, module: &Module, callee: FuncId, arg: usize, depth: u32) -> Option<Results> {
        let declared = &module.functions[callee];
        let own = declared.linkage == Linkage::Internal || declared.body.is_some();
        let (module, function) = match own {
            true => (module, declared),
            false => self.modules.iter().find_map(|m| {
                let named = |f: &&Function| f.name == declared.name && f.body.is_some();
                Some((m, m.functions.values().find(named)?))
            })?,
        };
        let body = function.body.as_ref().filter(|_| depth > 0)?;
        let param = function.params.get(arg)?.value;
        let flow = Flow::of_param(function, body, param);
        let events = self.events(module, body, &flow, depth - 1);
        events.iter().map(|e| returned_after(function, body, e)).reduce(join)
    }
}

fn join(a: Results, b: Results) -> Results {
    match (a, b) {
        (Results::These(a), Results::These(b)) => Results::These(a.union(&b).copied().collect()),
        _ => Results::Any,
    }
}

/// The blocks that have code of a line. All `return`s meet in one block, which has the line of one of
/// them: it counts only when nothing else does.
fn blocks_at(body: &Body, line: u32) -> BTreeSet<BlockId> {
    let at = |b: &BlockId| {
        let block = &body.blocks[*b];
        block.term_loc.line == line || block.insts.iter().any(|i| body.insts[*i].loc.line == line)
    };
    let shared = |b: &BlockId| {
        let block = &body.blocks[*b];
        let only_joins = |i: &InstId| matches!(body.insts[*i].kind, InstKind::Phi { .. });
        matches!(block.term, Terminator::Return(_)) && block.insts.iter().all(only_joins)
    };
    let all: BTreeSet<BlockId> = body.blocks.iter().map(|(id, _)| id).filter(at).collect();
    let own: BTreeSet<BlockId> = all.iter().copied().filter(|b| !shared(b)).collect();
    if own.is_empty() { all } else { own }
}

/// Whether the event comes before the release in its own block.
fn is_earlier(body: &Body, event: &Event, Moment { line, after }: Moment) -> bool {
    let block = &body.blocks[event.block];
    let rest = block.insts.iter().skip_while(|i| **i != event.inst).skip(1);
    let mut lines = rest.map(|i| body.insts[*i].loc.line).chain([block.term_loc.line]);
    let own = body.insts[event.inst].loc.line;
    (own == line && after) || (own != line && lines.any(|l| l == line))
}

/// Blocks that can be reached from one, over edges that are allowed.
fn reached(
    body: &Body,
    from: BlockId,
    allowed: impl Fn(BlockId, BlockId) -> bool,
) -> BTreeSet<BlockId> {
    let mut seen = BTreeSet::new();
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        for next in body.blocks[block].term.successors() {
            if allowed(block, next) && seen.insert(next) {
                work.push(next);
            }
        }
    }
    seen
}

/// Whether the event can come before the release, with a result with which the object was kept.
fn is_before(function: &Function, body: &Body, event: &Event, there: &BTreeSet<BlockId>) -> bool {
    let possible = |from: BlockId, to: BlockId| {
        let Terminator::Branch { cond, then, otherwise } = &body.blocks[from].term else {
            return true;
        };
        if then == otherwise {
            return true;
        }
        match decided(function, body, event, *cond) {
            (false, _) if to == *then => false,
            (_, false) if to == *otherwise => false,
            _ => true,
        }
    };
    reached(body, event.block, possible).iter().any(|b| there.contains(b))
}

/// Whether a condition on the event's result can be true, and whether it can be false, after the
/// object was kept.
fn decided(function: &Function, body: &Body, event: &Event, cond: ValueId) -> (bool, bool) {
    let unknown = (true, true);
    let Results::These(results) = &event.results else { return unknown };
    let ValueKind::Inst(inst) = function.values[cond].kind else { return unknown };
    let (pred, value, constant) = match &body.insts[inst].kind {
        InstKind::Cmp { pred, lhs, rhs } => (*pred, *lhs, function.values[*rhs].kind),
        _ => (Pred::Ne, cond, ValueKind::Int(0)),
    };
    let constant = match constant {
        ValueKind::Int(n) => n,
        ValueKind::Null => 0,
        _ => return unknown,
    };
    if !is_result(function, body, event, value) {
        return unknown;
    }
    let holds = |r: &u64| match pred {
        Pred::Eq => Some(*r == constant),
        Pred::Ne => Some(*r != constant),
        Pred::SLt => Some((*r as u32 as i32) < constant as u32 as i32),
        Pred::SGe => Some((*r as u32 as i32) >= constant as u32 as i32),
        _ => None,
    };
    let answers: Vec<Option<bool>> = results.iter().map(holds).collect();
    (answers.iter().any(|a| *a != Some(false)), answers.iter().any(|a| *a != Some(true)))
}

/// Whether a value is the result of the event's call, perhaps after a cast.
fn is_result(function: &Function, body: &Body, event: &Event, value: ValueId) -> bool {
    let mut at = value;
    loop {
        let ValueKind::Inst(inst) = function.values[at].kind else { return false };
        match &body.insts[inst].kind {
            _ if inst == event.inst => return true,
            InstKind::Cast { value, .. } => at = *value,
            _ => return false,
        }
    }
}

/// What a function returns after an event in it.
fn returned_after(function: &Function, body: &Body, event: &Event) -> Results {
    let mut after = reached(body, event.block, |_, _| true);
    after.insert(event.block);
    let mut all: Option<Results> = None;
    for &block in &after {
        if let Terminator::Return(value) = &body.blocks[block].term {
            let one = match value {
                Some(value) => returned(function, body, event, &after, *value),
                None => Results::Any,
            };
            all = Some(match all {
                Some(all) => join(all, one),
                None => one,
            });
        }
    }
    all.unwrap_or(Results::Any)
}

fn returned(
    function: &Function,
    body: &Body,
    event: &Event,
    after: &BTreeSet<BlockId>,
    value: ValueId,
) -> Results {
    match function.values[value].kind {
        ValueKind::Int(n) => Results::These([n].into()),
        ValueKind::Null => Results::These([0].into()),
        ValueKind::Inst(_) if is_result(function, body, event, value) => event.results.clone(),
        ValueKind::Inst(inst) => match &body.insts[inst].kind {
            InstKind::Phi { incoming } => {
                let ways = incoming.iter().filter(|(b, _)| after.contains(b));
                let one = |v: ValueId| match function.values[v].kind {
                    ValueKind::Int(n) => Results::These([n].into()),
                    ValueKind::Null => Results::These([0].into()),
                    _ if is_result(function, body, event, v) => event.results.clone(),
                    _ => Results::Any,
                };
                ways.map(|(_, v)| one(*v)).reduce(join).unwrap_or(Results::Any)
            }
            _ => Results::Any,
        },
        _ => Results::Any,
    }
}

/// Memory of others: what a parameter, a global or something read from memory leads to.
impl Flow<'_> {
    fn is_foreign(&self, ptr: ValueId) -> bool {
        match self.root(ptr) {
            Root::Own | Root::Local => false,
            Root::Made => self.is_param,
            Root::Foreign => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_findings::{AllocSite, Location};

    /// `append` keeps its second argument when it returns 0; `use` makes an object on line 4, tests
    /// the result on line 5, and goes on to line 6 or 7.
    const UNIT: &str = r#"
unit "k.c"
file file0 "k.c"
func f0 "append" (v0: ptr "l", v1: ptr "p") -> i32 @0:3:0 {
bb0:
  v2: i32 = load v0 @0:3:1
  v4 = cmp sgt v2, i32 9 @0:3:2
  br v4, bb1, bb2 @0:3:2
bb1:
  jump bb3 @0:3:3
bb2:
  v5 = offset v0, 8 @0:3:4
  store v1 -> v5 @0:3:4
  jump bb3 @0:3:5
bb3:
  v9: i32 = phi [bb2: i32 0], [bb1: i32 -1]
  ret v9 @0:3:6
}
func f1 "use" (v0: ptr "l", v1: i64 "n") -> i32 @0:4:0 {
bb0:
  v3 = call f2(v1) @0:4:44
  v5: i32 = call f0(v0, v3) @0:5:7
  v6 = cmp ne v5, i32 0 @0:5:20
  br v6, bb1, bb2 @0:5:7
bb1:
  jump bb3 @0:6:3
bb2:
  v7: i64 = add v1, i64 1 @0:7:3
  jump bb3 @0:8:2
bb3:
  v8: i32 = phi [bb2: i32 3], [bb1: i32 2]
  ret v8 @0:8:12
}
func f2 "malloc" (v0: i64) -> ptr
"#;

    fn stored(line: u32, after: bool) -> Option<u32> {
        let modules = [leakproof_ir::parse_module(UNIT).unwrap()];
        let finding = Finding {
            function: "use".to_owned(),
            alloc: AllocSite { line: 4, column: 44, ..AllocSite::default() },
            leak: Location { file: "k.c".to_owned(), ..Location::default() },
            ..Finding::default()
        };
        Keepers { modules: &modules }.before(&finding, Moment { line, after })
    }

    #[test]
    fn what_a_callee_keeps_on_success_is_not_kept_when_it_fails() {
        assert_eq!(stored(6, false), None, "append failed");
        assert_eq!(stored(7, false), Some(5), "append succeeded");
        assert_eq!(stored(8, false), Some(5));
    }

    #[test]
    fn a_release_comes_before_or_after_what_its_line_does() {
        assert_eq!(stored(5, false), None);
        assert_eq!(stored(5, true), Some(5));
        assert_eq!(stored(4, true), None);
    }
}
