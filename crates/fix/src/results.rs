//! What happens in a function, and with which results it then returns.
//!
//! Callers test results: what a callee does only when it returns 0 was not done where it returned
//! something else. In: an event in a function's code, with the results that the call which it is may
//! have. Out: the ways that are left after it, and what the function returns at their ends.

use crate::walk::Ways;
use leakproof_ir::{
    BlockId, Body, FuncId, Function, InstId, InstKind, Linkage, Module, Pred, Terminator, ValueId,
    ValueKind,
};
use std::collections::BTreeSet;

/// The results of a call after which something has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Results {
    These(BTreeSet<u64>),
    Any,
}

impl Results {
    pub fn join(self, other: Results) -> Results {
        match (self, other) {
            (Results::These(a), Results::These(b)) => Results::These(&a | &b),
            _ => Results::Any,
        }
    }
}

/// Something that happens at an instruction.
pub struct Event {
    pub block: BlockId,
    pub inst: InstId,
    pub results: Results,
}

impl Event {
    /// Whether a way with these results leads from here to a release.
    pub fn leads_to(&self, function: &Function, body: &Body, ways: &Ways<'_>) -> bool {
        ways.lead_from(self.block, self.inst, |from, to| self.allows(function, body, from, to))
    }

    /// Whether an edge can be taken after it.
    fn allows(&self, function: &Function, body: &Body, from: BlockId, to: BlockId) -> bool {
        let Terminator::Branch { cond, then, otherwise } = &body.blocks[from].term else {
            return true;
        };
        if then == otherwise {
            return true;
        }
        match self.decides(function, body, *cond) {
            (false, _) if to == *then => false,
            (_, false) if to == *otherwise => false,
            _ => true,
        }
    }

    /// Blocks that can be reached from it, its own included.
    fn reached(&self, function: &Function, body: &Body) -> BTreeSet<BlockId> {
        let mut seen: BTreeSet<BlockId> = [self.block].into();
        let mut work = vec![self.block];
        while let Some(block) = work.pop() {
            for next in body.blocks[block].term.successors() {
                if self.allows(function, body, block, next) && seen.insert(next) {
                    work.push(next);
                }
            }
        }
        seen
    }

    /// Whether a condition on its result can be true, and whether it can be false.
    fn decides(&self, function: &Function, body: &Body, cond: ValueId) -> (bool, bool) {
        let unknown = (true, true);
        let Results::These(results) = &self.results else { return unknown };
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
        if !self.is_result(function, body, value) {
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

    /// Whether a value is the result of its call, perhaps after a cast.
    fn is_result(&self, function: &Function, body: &Body, value: ValueId) -> bool {
        let mut at = value;
        loop {
            let ValueKind::Inst(inst) = function.values[at].kind else { return false };
            match &body.insts[inst].kind {
                _ if inst == self.inst => return true,
                InstKind::Cast { value, .. } => at = *value,
                _ => return false,
            }
        }
    }

    /// What the function returns after it.
    pub fn returned_after(&self, function: &Function, body: &Body) -> Results {
        let after = self.reached(function, body);
        let values = after.iter().filter_map(|block| match &body.blocks[*block].term {
            Terminator::Return(value) => Some(*value),
            _ => None,
        });
        let one = |value: Option<ValueId>| match value {
            Some(value) => self.returned(function, body, &after, value),
            None => Results::Any,
        };
        values.map(one).reduce(Results::join).unwrap_or(Results::Any)
    }

    fn returned(
        &self,
        function: &Function,
        body: &Body,
        after: &BTreeSet<BlockId>,
        value: ValueId,
    ) -> Results {
        let one = |value: ValueId| match function.values[value].kind {
            ValueKind::Int(n) => Results::These([n].into()),
            ValueKind::Null => Results::These([0].into()),
            _ if self.is_result(function, body, value) => self.results.clone(),
            _ => Results::Any,
        };
        let ValueKind::Inst(inst) = function.values[value].kind else { return one(value) };
        match &body.insts[inst].kind {
            InstKind::Phi { incoming } => {
                let ways = incoming.iter().filter(|(b, _)| after.contains(b));
                ways.map(|(_, v)| one(*v)).reduce(Results::join).unwrap_or(Results::Any)
            }
            _ => one(value),
        }
    }
}

/// The definition of a function that a unit calls.
pub fn defined<'m>(
    modules: &'m [Module],
    module: &'m Module,
    callee: FuncId,
) -> Option<(&'m Module, &'m Function)> {
    let declared = &module.functions[callee];
    if declared.linkage == Linkage::Internal || declared.body.is_some() {
        return Some((module, declared));
    }
    modules.iter().find_map(|m| {
        let named = |f: &&Function| f.name == declared.name && f.body.is_some();
        Some((m, m.functions.values().find(named)?))
    })
}
