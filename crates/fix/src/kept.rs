//! Who may have stored an object where it outlives the function that leaks it: a second opinion.
//!
//! In: the units as they were compiled, a finding and the line of a release. Out: the place before the
//! release at which the object was put into memory of others, by this function or by one that it calls,
//! if there is one. The analysis that says "nobody holds it any more" at such a release has followed
//! that memory through everything that happened since; when it is mistaken the finding is false,
//! and a release would hurt. So this asks the code alone, without paths: a store is a store.
//! Only results are believed: what a callee keeps when it returns 0 it does not keep when it does not.

use crate::flow::{Flow, Root};
use crate::out_param::OutParams;
use crate::results::{Event, Results, defined};
use crate::walk::{Moment, Ways};
use leakproof_findings::Finding;
use leakproof_ir::{
    BlockId, Body, Callee, FuncId, Function, Inst, InstId, InstKind, Module, ValueId, ValueKind,
};
use std::collections::BTreeSet;

/// Calls followed from the leaking function.
const DEPTH: u32 = 6;

/// The program as it was compiled.
pub struct Keepers<'k> {
    pub modules: &'k [Module],
    pub out_params: OutParams<'k>,
}

/// What is known of a variable at a release.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing {
    /// It is all that refers to the object: nobody else was given that or will be, except to look at
    /// it.
    pub alone: bool,
    /// It was set on every way.
    pub set: bool,
    /// Nobody looks at what it refers to afterwards.
    pub idle: bool,
}

/// A call that takes the object with one of its results, and with no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taker {
    pub line: u32,
    pub column: u32,
    pub result: i64,
}

/// What does not count as stored elsewhere at a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spared {
    Nothing,
    /// The call: the release happens only where it has another result.
    Call(Taker),
    /// Where the reference itself lies: it gets another value right after the release, on this line.
    OwnPlace(u32),
    /// Where the reference lies, in a struct that is released next: what that variable points to, and how
    /// far in.
    Member {
        owner: String,
        offset: i64,
    },
}

impl Keepers<'_> {
    /// The line before a release of `holder` on which the object of a finding is stored elsewhere.
    pub fn before(
        &self,
        finding: &Finding,
        holder: &str,
        moment: Moment,
        spared: Spared,
    ) -> Option<u32> {
        let here = |m: &&Module| m.files.values().any(|f| *f == finding.leak.file);
        self.modules.iter().filter(here).find_map(|module| {
            let mut named = module.functions.values();
            let function = named.find(|f| f.source_name == finding.function && f.body.is_some())?;
            let body = function.body.as_ref()?;
            let site = (finding.alloc.line, finding.alloc.column);
            let flow = Flow::of_call(function, body, site, holder)?;
            let ends = self.ends(module, &flow, site, holder);
            let ways = Ways::new(body, moment, ends);
            let events = self.events(module, body, &flow, DEPTH);
            let counts = |e: &&Event| !spared.covers(function, body, e.inst, holder);
            let kept = events.iter().filter(counts).find(|e| e.leads_to(function, body, &ways))?;
            Some(body.insts[kept.inst].loc.line)
        })
    }

    /// Whether a function may keep what it is given.
    pub fn keeps(&self, name: &str, arg: usize) -> bool {
        self.modules.iter().any(|module| {
            let named = |f: &Function| f.source_name == name && f.body.is_some();
            let found = module.functions.iter().find(|(_, f)| named(f));
            found.is_some_and(|(id, _)| self.kept_by(module, id, arg, DEPTH).is_some())
        })
    }

    /// The same of a function that a unit calls.
    pub fn keeps_argument(&self, module: &Module, callee: FuncId, arg: usize) -> bool {
        self.kept_by(module, callee, arg, DEPTH).is_some()
    }

    /// The calls that take the object of a finding with one result only.
    pub fn takers(&self, finding: &Finding, holder: &str) -> Vec<Taker> {
        let here = |m: &&Module| m.files.values().any(|f| *f == finding.leak.file);
        let found = self.modules.iter().filter(here).find_map(|module| {
            let named = |f: &&Function| f.source_name == finding.function && f.body.is_some();
            let function = module.functions.values().find(named)?;
            let body = function.body.as_ref()?;
            let site = (finding.alloc.line, finding.alloc.column);
            let flow = Flow::of_call(function, body, site, holder)?;
            let events = self.events(module, body, &flow, DEPTH);
            Some(events.iter().filter_map(|e| taker(body, e)).collect())
        });
        found.unwrap_or_default()
    }

    /// What the code alone says of the variable `holder` at a release; nothing in doubt.
    pub fn standing(&self, finding: &Finding, holder: &str, moment: Moment) -> Standing {
        let here = |m: &&Module| m.files.values().any(|f| *f == finding.leak.file);
        let named = |f: &&Function| f.source_name == finding.function && f.body.is_some();
        let all = self.modules.iter().filter(here).filter_map(|module| {
            let function = module.functions.values().find(named)?;
            let body = function.body.as_ref()?;
            let site = (finding.alloc.line, finding.alloc.column);
            let flow = Flow::of_call(function, body, site, holder)?;
            let ways = Ways::new(body, moment, self.ends(module, &flow, site, holder));
            let uses = self.uses(module, &flow, holder);
            let before =
                uses.iter().any(|(block, inst)| ways.lead_from(*block, *inst, |_, _| true));
            Some(Standing {
                alone: !before && !ways.lead_to(&uses.into_iter().map(|(_, inst)| inst).collect()),
                set: !ways.lead_from_start(),
                idle: !ways.lead_to(&flow.lookups()),
            })
        });
        all.reduce(|a, b| Standing {
            alone: a.alone && b.alone,
            set: a.set && b.set,
            idle: a.idle && b.idle,
        })
        .unwrap_or_default()
    }

    /// Where the object goes anywhere else than into its variable.
    fn uses(&self, module: &Module, flow: &Flow<'_>, holder: &str) -> Vec<(BlockId, InstId)> {
        let variable = flow.variable(holder);
        let is_own = |ptr: ValueId| variable.is_some_and(|v| v.is_slot(ptr));
        let is_use = |inst: InstId| match &flow.body.insts[inst].kind {
            InstKind::Store { ptr, value } => flow.is_object(*value) && !is_own(*ptr),
            InstKind::Call { callee, args, .. } => {
                let looks = match callee {
                    Callee::Direct(f) => self.out_params.is_harmless(&module.functions[*f].name),
                    _ => false,
                };
                !looks && args.iter().any(|a| flow.is_object(*a))
            }
            _ => false,
        };
        let all = flow.body.blocks.iter().flat_map(|(block, b)| {
            b.insts.iter().map(move |inst| (block, *inst)).collect::<Vec<_>>()
        });
        all.filter(|(_, inst)| is_use(*inst)).collect()
    }

    /// What gives the variable `holder` another object, or none: in a loop that is not the one
    /// which was stored the turn before.
    fn ends(
        &self,
        module: &Module,
        flow: &Flow<'_>,
        site: (u32, u32),
        holder: &str,
    ) -> BTreeSet<InstId> {
        let Some(variable) = flow.variable(holder) else { return BTreeSet::new() };
        let ends = flow.body.insts.iter().filter(|(_, inst)| match &inst.kind {
            InstKind::Call { callee: Callee::Direct(f), args, .. } => {
                let here = (inst.loc.line, inst.loc.column) == site;
                let given = args.iter().position(|a| variable.is_slot(*a));
                here && given.is_some_and(|n| !self.out_params.after_call(module, *f, n).old)
            }
            kind => variable.set_by(kind).is_some_and(|value| flow.is_other(value, site)),
        });
        ends.map(|(id, _)| id).collect()
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
                        kept.reduce(Results::join)
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
        let (module, function) = defined(self.modules, module, callee)?;
        let body = function.body.as_ref().filter(|_| depth > 0)?;
        let param = function.params.get(arg)?.value;
        let flow = Flow::of_param(function, body, param);
        let events = self.events(module, body, &flow, depth - 1);
        events.iter().map(|e| e.returned_after(function, body)).reduce(Results::join)
    }
}

fn taker(body: &Body, event: &Event) -> Option<Taker> {
    let Results::These(results) = &event.results else { return None };
    let (Some(&result), 1) = (results.first(), results.len()) else { return None };
    let loc = body.insts[event.inst].loc;
    // Results of type `int` are kept in 32 bits.
    let result = u32::try_from(result).map_or(result as i64, |r| i64::from(r as i32));
    Some(Taker { line: loc.line, column: loc.column, result })
}

impl Spared {
    fn covers(&self, function: &Function, body: &Body, inst: InstId, holder: &str) -> bool {
        let loc = body.insts[inst].loc;
        match self {
            Spared::Nothing => false,
            Spared::Member { owner, offset } => {
                is_member_store(function, body, inst, owner, *offset)
            }
            Spared::Call(taker) => (loc.line, loc.column) == (taker.line, taker.column),
            Spared::OwnPlace(line) => {
                is_own_place(function, body, inst, holder)
                    || is_stored_on(function, body, inst, *line)
            }
        }
    }
}

/// Whether an instruction stores to `*p`, which is what the reference is, and `p` is a parameter that never
/// changes.
fn is_own_place(function: &Function, body: &Body, inst: InstId, holder: &str) -> bool {
    let InstKind::Store { ptr, .. } = &body.insts[inst].kind else { return false };
    let Some(name) = holder.strip_prefix('*') else { return false };
    let Some(param) = function.params.iter().find(|p| p.name == name) else { return false };
    let same = |kind: &InstKind| match kind {
        InstKind::VarSet { var, value } => body.vars[*var].name != name || *value == param.value,
        _ => true,
    };
    *ptr == param.value && body.insts.values().all(|i| same(&i.kind))
}

/// Whether an instruction stores to a member of what a variable points to that is set only once.
fn is_member_store(
    function: &Function,
    body: &Body,
    inst: InstId,
    owner: &str,
    offset: i64,
) -> bool {
    let InstKind::Store { ptr, .. } = &body.insts[inst].kind else { return false };
    let sets = body.insts.values().filter_map(|i| match &i.kind {
        InstKind::VarSet { var, value } if body.vars[*var].name == owner => Some(*value),
        _ => None,
    });
    let mut values: Vec<ValueId> = sets.collect();
    values.retain(|v| function.values[*v].kind != ValueKind::Undef);
    let [value] = values[..] else { return false };
    let ValueKind::Inst(at) = function.values[*ptr].kind else {
        return *ptr == value && offset == 0;
    };
    match &body.insts[at].kind {
        InstKind::Offset { base, offset: by, indices, .. } => {
            *base == value && *by == offset && indices.is_empty()
        }
        _ => *ptr == value && offset == 0,
    }
}

/// Whether an instruction stores to a place to which one on a line stores, too.
fn is_stored_on(function: &Function, body: &Body, inst: InstId, line: u32) -> bool {
    let place = |inst: &Inst| match &inst.kind {
        InstKind::Store { ptr, .. } => fixed_place(function, body, *ptr),
        _ => None,
    };
    let own = place(&body.insts[inst]);
    own.is_some() && body.insts.values().filter(|i| i.loc.line == line).any(|i| place(i) == own)
}

/// A place that is the same whenever the function comes by: a constant distance from a global
/// variable or from what a parameter points to.
fn fixed_place(function: &Function, body: &Body, ptr: ValueId) -> Option<(ValueKind, i64)> {
    let (mut at, mut sum) = (ptr, 0i64);
    loop {
        let inst = match function.values[at].kind {
            kind @ (ValueKind::Global(..) | ValueKind::Param(_)) => return Some((kind, sum)),
            ValueKind::Inst(inst) => inst,
            _ => return None,
        };
        match &body.insts[inst].kind {
            InstKind::Cast { value, .. } => at = *value,
            InstKind::Offset { base, offset, indices, .. } if indices.is_empty() => {
                (at, sum) = (*base, sum.saturating_add(*offset));
            }
            _ => return None,
        }
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
        let models = leakproof_models::Library::default();
        let out_params = OutParams { modules: &modules, models: &models };
        Keepers { modules: &modules, out_params }.before(
            &finding,
            "p",
            Moment { line, after },
            Spared::Nothing,
        )
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
