//! Whether an object can be there at all where it would be released: a second opinion.
//!
//! Many functions leave an object in a variable of their caller only when they fail (a message that says
//! why) or only when they succeed, and say so by their result. In: the units as they were compiled, a
//! finding and the moment of a release. Out: whether some result with which the callee returns after
//! it filled the variable leads there. A release where none does would release nothing.

use crate::flow::Flow;
use crate::results::{Event, Results, defined};
use crate::walk::{Moment, Ways};
use leakproof_findings::Finding;
use leakproof_ir::{Body, Callee, FuncId, Function, InstKind, Module, ValueId, ValueKind};
use std::collections::BTreeSet;

/// Calls followed from the leaking function.
const DEPTH: u32 = 6;

/// The program as it was compiled.
pub struct Makers<'m> {
    pub modules: &'m [Module],
}

impl Makers<'_> {
    /// Whether the variable can hold the object of a finding at a release; yes in doubt.
    pub fn may_be_there(&self, finding: &Finding, holder: &str, moment: Moment) -> bool {
        let here = |m: &&Module| m.files.values().any(|f| *f == finding.leak.file);
        let named = |f: &&Function| f.source_name == finding.function && f.body.is_some();
        self.modules.iter().filter(here).all(|module| {
            let function = module.functions.values().find(named);
            function.is_none_or(|f| self.may_reach(module, f, finding, holder, moment))
        })
    }

    fn may_reach(
        &self,
        module: &Module,
        function: &Function,
        finding: &Finding,
        holder: &str,
        moment: Moment,
    ) -> bool {
        let site = (finding.alloc.line, finding.alloc.column);
        let Some(body) = &function.body else { return true };
        let Some(flow) = Flow::of_call(function, body, site, holder) else { return true };
        let Some(variable) = flow.variable(holder) else { return true };
        let ways = Ways::new(body, moment, BTreeSet::new());
        let mut calls = body.blocks.iter().flat_map(|(block, b)| {
            b.insts.iter().map(move |inst| (block, *inst)).filter(|(_, inst)| {
                let loc = body.insts[*inst].loc;
                (loc.line, loc.column) == site
            })
        });
        calls.all(|(block, inst)| {
            let InstKind::Call { callee: Callee::Direct(f), args, .. } = &body.insts[inst].kind
            else {
                return true;
            };
            let given = args.iter().position(|a| variable.is_slot(*a));
            let results = given.and_then(|n| self.filled_by(module, *f, n, DEPTH));
            results.is_none_or(|results| {
                Event { block, inst, results }.leads_to(function, body, &ways)
            })
        })
    }

    /// The results with which a callee returns after it put something into what it was given the address
    /// of; none when it puts nothing there.
    fn filled_by(
        &self,
        module: &Module,
        callee: FuncId,
        arg: usize,
        depth: u32,
    ) -> Option<Results> {
        let Some((module, function)) = defined(self.modules, module, callee) else {
            return Some(Results::Any);
        };
        let (Some(body), Some(param), true) = (&function.body, function.params.get(arg), depth > 0)
        else {
            return Some(Results::Any);
        };
        let events = self.events(module, function, body, param.value, depth);
        events.iter().map(|e| e.returned_after(function, body)).reduce(Results::join)
    }

    /// Where a function may put something into what a parameter points to.
    fn events(
        &self,
        module: &Module,
        function: &Function,
        body: &Body,
        param: ValueId,
        depth: u32,
    ) -> Vec<Event> {
        let aliases = Flow::of_param(function, body, param);
        let is = |v: ValueId| aliases.is_object(v);
        let mut list = Vec::new();
        for (block, b) in body.blocks.iter() {
            for &inst in &b.insts {
                let results = match &body.insts[inst].kind {
                    InstKind::Store { value, .. } if is(*value) => Some(Results::Any),
                    InstKind::Store { ptr, value } if is(*ptr) => {
                        let null = function.values[*value].kind == ValueKind::Null;
                        (!null).then_some(Results::Any)
                    }
                    InstKind::Call { callee, args, .. } => {
                        let given = (0..args.len()).filter(|&n| is(args[n]));
                        let filled = given.filter_map(|n| match callee {
                            Callee::Direct(f) => self.filled_by(module, *f, n, depth - 1),
                            _ => Some(Results::Any),
                        });
                        filled.reduce(Results::join)
                    }
                    InstKind::MemCopy { dst, .. } if is(*dst) => Some(Results::Any),
                    InstKind::AtomicRmw { ptr, .. } | InstKind::CmpXchg { ptr, .. } if is(*ptr) => {
                        Some(Results::Any)
                    }
                    _ => None,
                };
                list.extend(results.map(|results| Event { block, inst, results }));
            }
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_findings::{AllocSite, Location};

    /// `spawn` leaves a message in `*cause` when it returns null; `use` calls it on line 14 and comes to
    /// line 15 when it did, to line 16 when it did not.
    const UNIT: &str = r#"
unit "m.c"
file file0 "m.c"
global g0 "made" internal size 4 init { } @0:4:0
func f0 "spawn" (v0: i32 "n", v1: ptr "cause") -> ptr @0:2:0 {
bb0:
  store null -> v1 @0:4:6
  v2 = cmp sgt v0, i32 9 @0:5:8
  br v2, bb1, bb2 @0:5:6
bb1:
  v3 = call f1(i64 8) @0:6:12
  store v3 -> v1 @0:6:10
  jump bb3 @0:7:3
bb2:
  jump bb3 @0:9:2
bb3:
  v4 = phi [bb2: @g0], [bb1: null]
  ret v4 @0:10:1
}
func f1 "malloc" (v0: i64) -> ptr
func f2 "use" (v0: i32 "n") -> i32 @0:11:0 {
  var var0 "cause" @0:13:8
bb0:
  v1 = alloca 8 var0 @0:13:8
  v2 = call f0(v0, v1) @0:14:6
  v3 = cmp eq v2, null @0:14:23
  br v3, bb1, bb2 @0:14:6
bb1:
  jump bb3 @0:15:3
bb2:
  jump bb3 @0:16:2
bb3:
  v4: i32 = phi [bb2: i32 0], [bb1: i32 -1]
  ret v4 @0:17:1
}
"#;

    fn may_be_there(unit: &str, line: u32) -> bool {
        let modules = [leakproof_ir::parse_module(unit).unwrap()];
        let finding = Finding {
            function: "use".to_owned(),
            alloc: AllocSite { line: 14, column: 6, ..AllocSite::default() },
            leak: Location { file: "m.c".to_owned(), ..Location::default() },
            ..Finding::default()
        };
        let moment = Moment { line, after: false };
        Makers { modules: &modules }.may_be_there(&finding, "cause", moment)
    }

    #[test]
    fn what_comes_with_one_result_is_not_there_with_another() {
        assert!(may_be_there(UNIT, 15), "it failed");
        assert!(!may_be_there(UNIT, 16), "it did not");
        assert!(may_be_there(UNIT, 17));
    }

    #[test]
    fn a_result_that_says_nothing_decides_nothing() {
        let always = UNIT.replace("[bb1: null]", "[bb1: @g0]");
        assert!(may_be_there(&always, 15) && may_be_there(&always, 16));
    }
}
