//! What the program itself does with such an object: a second opinion on the parts of what is released.
//!
//! In: the units as they were compiled, a variable, the moment of a release of it and the function that
//! releases. Out: whether the program gives the same object, in the same condition, to the same function on another
//! way. What such a function does to the parts of the object is right there, so it is right here. The
//! analysis loses sight of the parts of trees and of tables first. What it has against releasing the object itself is
//! overruled only where nothing was done to that since the call that made it, and the code of what is called
//! makes new objects only, which it keeps nowhere.
//!
//! The condition of an object changes with a *touch*: somebody writes into it, stores it or gets it. From the call
//! that makes the object, and from each touch that may come last before the release, a way without any other
//! touch must lead to a release by the program: in this function, or, behind a `return` of the object, in a caller.
//! No way may lead from a release by the program to the one in question.
//!
//! A branch that follows on a touch may ask what came of it, so both ways have to take the same side of it.

use crate::flow::variable;
use crate::kept::Keepers;
use crate::out_param::OutParams;
use crate::results::defined;
use crate::walk::{Moment, Ways};
use leakproof_detect::Scope;
use leakproof_findings::Finding;
use leakproof_ir::{
    BlockId, Body, Callee, FuncId, Function, InstId, InstKind, Linkage, Module, Pred, Terminator,
    ValueId, ValueKind, VarId,
};
use std::collections::BTreeSet;

/// Blocks that are looked at on the ways from one touch.
const MAX_STEPS: usize = 2000;
/// Touches before one release.
const MAX_STARTS: usize = 40;
/// Callers of callers that are asked what they do with a result.
const CALLERS: u32 = 3;
/// Calls followed to see whether an object is new.
const MAX_MAKERS: usize = 12;
/// Calls followed into functions that only look at the object.
const DEPTH: usize = 4;

/// Asks about functions of one program.
pub struct Precedents<'p> {
    pub modules: &'p [Module],
    pub out_params: OutParams<'p>,
}

/// The function that releases, and which argument it releases.
#[derive(Clone, Copy)]
pub struct By<'b> {
    pub name: &'b str,
    pub arg: usize,
}

/// A moment on a way, and which values are the object there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stand {
    block: BlockId,
    /// The next instruction of the block.
    next: usize,
    object: BTreeSet<ValueId>,
    /// Whether the variable that is asked about refers to the object.
    held: bool,
}

/// Which ways lead to the release.
#[derive(Clone, Copy, Debug, Default)]
struct Comes {
    any: bool,
    /// Some with a touch on them.
    touched: bool,
}

/// What ways without a touch come to.
#[derive(Debug, Default)]
struct Seen {
    place: bool,
    /// Right behind releases by the program.
    released: Vec<Stand>,
    returned: bool,
    touched: Vec<Stand>,
    /// There were too many ways.
    cut: bool,
}

impl Precedents<'_> {
    /// Whose past is known: the program releases what a variable refers to by the same function elsewhere,
    /// wherever the object may come from and whatever was done to it last.
    pub fn known(
        &self,
        finding: &Finding,
        holder: &str,
        moment: Moment,
        by: By<'_>,
    ) -> Option<Scope> {
        let here = |m: &&Module| m.files.values().any(|f| *f == finding.leak.file);
        let named = |f: &&Function| f.source_name == finding.function && f.body.is_some();
        let mut all = self.modules.iter().filter(here).filter_map(|module| {
            let function = module.functions.values().find(named)?;
            let body = function.body.as_ref()?;
            let variable = body.vars.iter().filter(|(_, v)| v.name == holder).map(|(id, _)| id);
            // What is in memory a call may change.
            let plain = variable_in_register(body, holder);
            let var = variable.into_iter().next().filter(|_| plain)?;
            let ways = Ways::new(body, moment, BTreeSet::new());
            Some(self.known_at(module, function, var, &ways, by))
        });
        all.next().flatten()
    }

    fn known_at(
        &self,
        module: &Module,
        function: &Function,
        var: VarId,
        place: &Ways<'_>,
        by: By<'_>,
    ) -> Option<Scope> {
        let body = function.body.as_ref()?;
        let sets = body.insts.values().filter_map(|i| match i.kind {
            InstKind::VarSet { var: of, value } if of == var => Some(value),
            _ => None,
        });
        let (mut reached, mut known) = (false, Scope::Past);
        for root in roots(function, body, sets.collect()) {
            let made_by = match function.values[root].kind {
                ValueKind::Null | ValueKind::Undef => continue,
                ValueKind::Inst(inst) => direct_callee(body, inst),
                _ => None,
            };
            let start = start_of(function, body, root)?;
            let code = Code::new(self, module, function, body, root, by, Some((var, place)));
            let made = || made_by.is_some_and(|f| self.is_released(module, f, by, CALLERS));
            let comes = code.from(start, &made)?;
            reached |= comes.any;
            let new = || made_by.is_some_and(|f| self.is_new(module, f, &mut Vec::new()));
            if comes.any && (comes.touched || !new()) {
                known = Scope::PartsPast;
            }
        }
        reached.then_some(known)
    }

    /// Whether a function returns null or a new object, and keeps no reference to that. `above`: functions
    /// that are being asked about.
    fn is_new(&self, module: &Module, maker: FuncId, above: &mut Vec<String>) -> bool {
        let name = &module.functions[maker].name;
        if self.out_params.is_allocator(name) || above.contains(name) {
            return true;
        }
        let Some((module, function)) = defined(self.modules, module, maker) else { return false };
        let Some(body) = function.body.as_ref().filter(|_| above.len() < MAX_MAKERS) else {
            return false;
        };
        above.push(name.clone());
        let returned = body.blocks.iter().filter_map(|(_, b)| match b.term {
            Terminator::Return(value) => value,
            _ => None,
        });
        let new = roots(function, body, returned.collect()).into_iter().all(|root| match function
            .values[root]
            .kind
        {
            ValueKind::Null => true,
            ValueKind::Inst(inst) => {
                let made_by = direct_callee(body, inst);
                made_by.is_some_and(|f| self.is_new(module, f, above))
                    && !self.is_kept(module, function, body, root)
            }
            _ => false,
        });
        above.pop();
        new
    }

    /// Whether a function returns an object that it made after it has put it anywhere but into its own
    /// variables, or has given it to somebody who may.
    fn is_kept(&self, module: &Module, function: &Function, body: &Body, made: ValueId) -> bool {
        let Some(start) = start_of(function, body, made) else { return true };
        let nobody = By { name: "", arg: 0 };
        let code = Code::new(self, module, function, body, made, nobody, None);
        let mut known: BTreeSet<(Stand, bool)> = [(start.clone(), false)].into();
        let mut work = vec![(start, false)];
        while let Some((at, kept)) = work.pop() {
            let seen = code.walk(at);
            if seen.cut || known.len() > MAX_STARTS || (kept && seen.returned) {
                return true;
            }
            for touched in seen.touched {
                let inst = body.blocks[touched.block].insts[touched.next - 1];
                let kept = kept || self.keeps(module, &body.insts[inst].kind, &touched.object);
                if known.insert((touched.clone(), kept)) {
                    work.push((touched, kept));
                }
            }
        }
        false
    }

    /// Whether an instruction puts an object somewhere, or gives it to somebody who may.
    fn keeps(&self, module: &Module, kind: &InstKind, object: &BTreeSet<ValueId>) -> bool {
        let keepers = Keepers { modules: self.modules, out_params: self.out_params };
        match kind {
            InstKind::Store { value, .. } => object.contains(value),
            InstKind::Call { callee, args, .. } => {
                let mut given = (0..args.len()).filter(|&n| object.contains(&args[n]));
                let Callee::Direct(f) = callee else { return given.next().is_some() };
                let name = &module.functions[*f].name;
                match defined(self.modules, module, *f).is_some_and(|(_, f)| f.body.is_some()) {
                    true => given.any(|n| keepers.keeps_argument(module, *f, n)),
                    false => {
                        let known =
                            self.out_params.is_harmless(name) || self.out_params.is_releaser(name);
                        !known && given.next().is_some()
                    }
                }
            }
            _ => false,
        }
    }

    /// Whether the program releases the result of a function somewhere before anything was done to it.
    fn is_released(&self, module: &Module, maker: FuncId, by: By<'_>, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let made = &module.functions[maker];
        let own = made.linkage == Linkage::Internal;
        let all = self.modules.iter().filter(|m| !own || std::ptr::eq(*m, module));
        let is = |m: &Module, f: FuncId| {
            let other = &m.functions[f];
            other.name == made.name && (own || other.linkage != Linkage::Internal)
        };
        for caller_module in all {
            for (id, caller) in caller_module.functions.iter() {
                let Some(body) = &caller.body else { continue };
                for inst in body.insts.values() {
                    let InstKind::Call { callee: Callee::Direct(f), .. } = inst.kind else {
                        continue;
                    };
                    let Some(result) = inst.result.filter(|_| is(caller_module, f)) else {
                        continue;
                    };
                    let Some(start) = start_of(caller, body, result) else { continue };
                    let code = Code::new(self, caller_module, caller, body, result, by, None);
                    let seen = code.walk(start);
                    let again = || self.is_released(caller_module, id, by, depth);
                    if !seen.released.is_empty() || (seen.returned && again()) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Whether a function only looks at an argument and what that leads to. `above`: functions that are
    /// being asked about.
    fn only_looks(
        &self,
        module: &Module,
        callee: FuncId,
        arg: usize,
        above: &mut Vec<(String, usize)>,
    ) -> bool {
        let name = &module.functions[callee].name;
        let asked = (name.clone(), arg);
        if self.out_params.is_harmless(name) || above.contains(&asked) {
            return true;
        }
        let Some((module, function)) = defined(self.modules, module, callee) else { return false };
        let (Some(body), Some(param)) = (&function.body, function.params.get(arg)) else {
            return false;
        };
        if above.len() >= DEPTH {
            return false;
        }
        above.push(asked);
        let inside = inside(function, body, param.value);
        let quiet = body.insts.values().all(|i| !self.touches(module, &i.kind, &inside, above));
        let returned = body.blocks.iter().any(|(_, b)| match b.term {
            Terminator::Return(Some(value)) => inside.contains(&value),
            _ => false,
        });
        above.pop();
        quiet && !returned
    }

    /// Whether an instruction does more than look at some values and what they lead to.
    fn touches(
        &self,
        module: &Module,
        kind: &InstKind,
        inside: &BTreeSet<ValueId>,
        above: &mut Vec<(String, usize)>,
    ) -> bool {
        let is = |v: &ValueId| inside.contains(v);
        match kind {
            InstKind::Call { callee, args, .. } => {
                let mut given = (0..args.len()).filter(|&n| is(&args[n]));
                match callee {
                    Callee::Direct(f) => given.any(|n| !self.only_looks(module, *f, n, above)),
                    _ => given.next().is_some(),
                }
            }
            InstKind::Load { .. }
            | InstKind::Offset { .. }
            | InstKind::Cmp { .. }
            | InstKind::Cast { .. }
            | InstKind::Bin { .. }
            | InstKind::Phi { .. }
            | InstKind::Select { .. }
            | InstKind::VarSet { .. } => false,
            other => {
                let mut found = false;
                other.for_each_operand(|v| found |= is(&v));
                found
            }
        }
    }
}

/// Ways through one function, of one object.
struct Code<'c> {
    all: &'c Precedents<'c>,
    module: &'c Module,
    function: &'c Function,
    body: &'c Body,
    by: By<'c>,
    /// The object, what may be it, and all that it leads to.
    inside: BTreeSet<ValueId>,
    /// The variable that is asked about, and when.
    place: Option<(VarId, &'c Ways<'c>)>,
}

impl<'c> Code<'c> {
    fn new(
        all: &'c Precedents<'c>,
        module: &'c Module,
        function: &'c Function,
        body: &'c Body,
        object: ValueId,
        by: By<'c>,
        place: Option<(VarId, &'c Ways<'c>)>,
    ) -> Self {
        let inside = inside(function, body, object);
        Self { all, module, function, body, by, inside, place }
    }

    /// Which ways lead from a start to the place, if all that do are covered; `made`: the program releases
    /// elsewhere what is there at the start.
    fn from(&self, start: Stand, made: &dyn Fn() -> bool) -> Option<Comes> {
        let mut known: BTreeSet<Stand> = [start.clone()].into();
        let mut work = vec![(start, true)];
        let mut comes = Comes::default();
        while let Some((start, first)) = work.pop() {
            for side in self.sides(start) {
                let seen = self.walk(side);
                if seen.cut || known.len() > MAX_STARTS {
                    return None;
                }
                comes.any |= seen.place;
                comes.touched |= seen.place && !first;
                let returned = || seen.returned && self.is_result_released();
                let released = !seen.released.is_empty();
                if seen.place && !(released || returned() || (first && made())) {
                    return None;
                }
                if seen.released.into_iter().any(|r| self.comes_to_place(r)) {
                    return None;
                }
                let fresh = seen.touched.into_iter().filter(|t| known.insert(t.clone()));
                work.extend(fresh.collect::<Vec<_>>().into_iter().map(|t| (t, false)));
            }
        }
        Some(comes)
    }

    /// Whether a way leads from a stand to the place, whatever is done to the object on it.
    fn comes_to_place(&self, from: Stand) -> bool {
        let mut known: BTreeSet<Stand> = [from.clone()].into();
        let mut work = vec![from];
        while let Some(at) = work.pop() {
            let seen = self.walk(at);
            if seen.place || seen.cut || known.len() > MAX_STARTS {
                return true;
            }
            let later = seen.touched.into_iter().chain(seen.released);
            work.extend(later.filter(|s| known.insert(s.clone())));
        }
        false
    }

    fn is_result_released(&self) -> bool {
        let own = |f: &&Function| std::ptr::eq(*f, self.function);
        let id = self.module.functions.iter().find(|(_, f)| own(f)).map(|(id, _)| id);
        id.is_some_and(|id| self.all.is_released(self.module, id, self.by, CALLERS))
    }

    /// The sides of the first branch behind a start, each as a start of its own; the start itself when something
    /// happens before that.
    fn sides(&self, start: Stand) -> Vec<Stand> {
        let mut at = start.clone();
        for _ in 0..MAX_STEPS {
            let mut seen = Seen::default();
            let Some(mut next) = self.step(at, &mut seen) else { return vec![start] };
            if seen.place {
                return vec![start];
            }
            match (next.len(), next.pop()) {
                (1, Some(only)) => at = only,
                (_, Some(last)) => {
                    next.push(last);
                    return next;
                }
                (_, None) => return vec![start],
            }
        }
        vec![start]
    }

    /// All that ways without a touch come to.
    fn walk(&self, start: Stand) -> Seen {
        let mut seen = Seen::default();
        let mut known: BTreeSet<Stand> = [start.clone()].into();
        let mut work = vec![start];
        while let Some(at) = work.pop() {
            if known.len() > MAX_STEPS {
                seen.cut = true;
                break;
            }
            let next = self.step(at, &mut seen).unwrap_or_default();
            work.extend(next.into_iter().filter(|n| known.insert(n.clone())));
        }
        seen
    }

    /// Goes to the end of a block; none when the way ends before that: with a touch, or a release.
    fn step(&self, mut at: Stand, seen: &mut Seen) -> Option<Vec<Stand>> {
        let block = &self.body.blocks[at.block];
        for n in at.next..block.insts.len() {
            seen.place |= self.is_place(&at, n);
            let inst = block.insts[n];
            let data = &self.body.insts[inst];
            if self.is_release(&data.kind, &at.object) {
                seen.released.push(Stand { next: n + 1, ..at });
                return None;
            }
            if let Some(result) = data.result {
                at.object.remove(&result);
            }
            if self.all.touches(self.module, &data.kind, &self.inside, &mut Vec::new()) {
                seen.touched.push(Stand { next: n + 1, ..at });
                return None;
            }
            match (&data.kind, data.result) {
                (InstKind::Cast { value, .. }, Some(result)) if at.object.contains(value) => {
                    at.object.insert(result);
                }
                (InstKind::VarSet { var, value }, _) if self.place.is_some_and(|p| p.0 == *var) => {
                    at.held = at.object.contains(value);
                }
                _ => {}
            }
            if at.object.is_empty() {
                return Some(Vec::new());
            }
        }
        seen.place |= self.is_place(&at, block.insts.len());
        if let Terminator::Return(Some(value)) = block.term {
            seen.returned |= at.object.contains(&value);
        }
        let next = self.successors(&at).into_iter().map(|to| self.enter(&at, to));
        Some(next.collect())
    }

    fn is_place(&self, at: &Stand, n: usize) -> bool {
        at.held && self.place.is_some_and(|(_, ways)| ways.release_at(at.block) == Some(n))
    }

    fn is_release(&self, kind: &InstKind, object: &BTreeSet<ValueId>) -> bool {
        let InstKind::Call { callee: Callee::Direct(f), args, .. } = kind else { return false };
        let named = &self.module.functions[*f];
        (named.name == self.by.name || named.source_name == self.by.name)
            && args.get(self.by.arg).is_some_and(|a| object.contains(a))
    }

    /// Behind an edge joins have the values of the block that it comes from. They stand first, and say which values are
    /// the object before any of them is set.
    fn enter(&self, at: &Stand, to: BlockId) -> Stand {
        let insts = &self.body.blocks[to].insts;
        let is_phi = |i: &&InstId| matches!(self.body.insts[**i].kind, InstKind::Phi { .. });
        let phis: Vec<InstId> = insts.iter().take_while(is_phi).copied().collect();
        let mut object = at.object.clone();
        for phi in &phis {
            let inst = &self.body.insts[*phi];
            let (InstKind::Phi { incoming }, Some(result)) = (&inst.kind, inst.result) else {
                continue;
            };
            let same = |(from, v): &(BlockId, ValueId)| *from == at.block && at.object.contains(v);
            match incoming.iter().any(same) {
                true => object.insert(result),
                false => object.remove(&result),
            };
        }
        Stand { block: to, next: phis.len(), object, held: at.held }
    }

    /// The blocks that may follow where the object is there.
    fn successors(&self, at: &Stand) -> Vec<BlockId> {
        let term = &self.body.blocks[at.block].term;
        if let Terminator::Branch { cond, then, otherwise } = term
            && let Some(there) = self.asks_for(*cond, &at.object)
        {
            return vec![if there { *then } else { *otherwise }];
        }
        let mut next = term.successors().to_vec();
        next.sort();
        next.dedup();
        next
    }

    /// The answer to a comparison of the object with null.
    fn asks_for(&self, cond: ValueId, object: &BTreeSet<ValueId>) -> Option<bool> {
        let ValueKind::Inst(inst) = self.function.values[cond].kind else { return None };
        let InstKind::Cmp { pred, lhs, rhs } = &self.body.insts[inst].kind else { return None };
        let null = |v: &ValueId| self.function.values[*v].kind == ValueKind::Null;
        let compared = (object.contains(lhs) && null(rhs)) || (object.contains(rhs) && null(lhs));
        match pred {
            Pred::Ne if compared => Some(true),
            Pred::Eq if compared => Some(false),
            _ => None,
        }
    }
}

/// Whether there is exactly one variable of a name, and its address is nowhere taken.
fn variable_in_register(body: &Body, name: &str) -> bool {
    variable(body, name).is_some_and(|v| !v.is_in_memory())
}

/// What values were before they were cast and joined.
fn roots(function: &Function, body: &Body, values: Vec<ValueId>) -> BTreeSet<ValueId> {
    let (mut found, mut seen, mut work) = (BTreeSet::new(), BTreeSet::new(), values);
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        let kind = match function.values[value].kind {
            ValueKind::Inst(inst) => Some(&body.insts[inst].kind),
            _ => None,
        };
        match kind {
            Some(InstKind::Cast { value, .. }) => work.push(*value),
            Some(InstKind::Phi { incoming }) => work.extend(incoming.iter().map(|(_, v)| *v)),
            _ => drop(found.insert(value)),
        }
    }
    found
}

fn direct_callee(body: &Body, inst: InstId) -> Option<FuncId> {
    match body.insts[inst].kind {
        InstKind::Call { callee: Callee::Direct(f), .. } => Some(f),
        _ => None,
    }
}

/// Right behind the instruction that gives a value; the start of the function for what it is given.
fn start_of(function: &Function, body: &Body, value: ValueId) -> Option<Stand> {
    let object: BTreeSet<ValueId> = [value].into();
    let inst = match function.values[value].kind {
        ValueKind::Inst(inst) => inst,
        ValueKind::Param(_) => {
            let (block, _) = body.blocks.iter().next()?;
            return Some(Stand { block, next: 0, object, held: false });
        }
        _ => return None,
    };
    body.blocks.iter().find_map(|(block, b)| {
        let next = b.insts.iter().position(|i| *i == inst)? + 1;
        Some(Stand { block, next, object: object.clone(), held: false })
    })
}

/// The values that may be an object, point into it, or are pointers read out of it.
fn inside(function: &Function, body: &Body, object: ValueId) -> BTreeSet<ValueId> {
    let mut all: BTreeSet<ValueId> = [object].into();
    loop {
        let before = all.len();
        for inst in body.insts.values() {
            let Some(result) = inst.result.filter(|r| function.values[*r].ty.is_ptr()) else {
                continue;
            };
            let is = |v: &ValueId| all.contains(v);
            let leads = match &inst.kind {
                InstKind::Load { ptr, .. } => is(ptr),
                InstKind::Cast { value, .. } => is(value),
                InstKind::Offset { base, .. } => is(base),
                InstKind::Phi { incoming } => incoming.iter().any(|(_, v)| is(v)),
                InstKind::Select { then, otherwise, .. } => is(then) || is(otherwise),
                _ => false,
            };
            if leads {
                all.insert(result);
            }
        }
        if all.len() == before {
            return all;
        }
    }
}
