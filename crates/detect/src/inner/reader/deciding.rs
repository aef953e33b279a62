//! Which fields a function treats by what other members of the struct say: those may tell that a field is empty, or whose
//! its object is.

use super::Reader;
use crate::inner::callee::Fate;
use crate::inner::fields::{Field, Survey};
use crate::inner::order::Order;
use leakproof_ir::{InstId, InstKind, Terminator, ValueId, ValueKind};
use rustc_hash::FxHashSet;

impl Reader<'_> {
    /// Notes the fields whose stores or releases hang on other members.
    pub(super) fn read_decided(&self, survey: &mut Survey) {
        let Some(body) = &self.function.body else { return };
        let order = Order::of(body);
        for (address, (_, field)) in &self.addresses {
            let decided = self
                .stores_at(*address)
                .any(|(store, _)| self.is_decided_by_others(store, field, &order))
                || self
                    .releases_of_content(*address)
                    .any(|release| self.is_decided_by_others(release, field, &order));
            if decided && let Some(handling) = self.handling_of(survey, &field.0) {
                handling.decided.insert(field.1);
            }
        }
    }

    /// The calls that release what is at an address.
    fn releases_of_content(&self, address: ValueId) -> impl Iterator<Item = InstId> {
        let loads = self.users(address).iter().filter_map(|&user| match self.inst(user).kind {
            InstKind::Load { .. } => self.inst(user).result,
            _ => None,
        });
        loads.flat_map(move |v| {
            self.users(v).iter().copied().filter(move |&user| self.is_released_by(user, v))
        })
    }

    fn is_released_by(&self, call: InstId, v: ValueId) -> bool {
        let InstKind::Call { callee, args, .. } = &self.inst(call).kind else { return false };
        let mut at = (0..args.len()).filter(|&n| args[n] == v);
        at.any(|n| self.calls.fate(self.me.module, callee, n) == Fate::Released)
    }

    /// Whether a branch that decides if an instruction is reached looks at another member than the field.
    fn is_decided_by_others(&self, at: InstId, field: &Field, order: &Order<'_>) -> bool {
        order.deciding(at).into_iter().any(|cond| self.looks_at_others(cond, field))
    }

    fn looks_at_others(&self, cond: ValueId, (of, offset): &Field) -> bool {
        let (mut seen, mut work) = (FxHashSet::default(), vec![cond]);
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            if self.members.get(&v).is_some_and(|(s, at)| s == of && at != offset) {
                return true;
            }
            let ValueKind::Inst(id) = self.function.values[v].kind else { continue };
            match &self.inst(id).kind {
                // Who asks a function about the struct itself may learn anything.
                InstKind::Call { args, .. } => {
                    if args.iter().any(|arg| self.pointee(arg) == Some(of)) {
                        return true;
                    }
                }
                InstKind::Phi { .. } => {}
                kind => kind.for_each_operand(|operand| work.push(operand)),
            }
        }
        false
    }
}

/// The value that a block's way on depends on.
pub fn decides(term: &Terminator) -> Option<ValueId> {
    match *term {
        Terminator::Branch { cond, .. } => Some(cond),
        Terminator::Switch { value, .. } => Some(value),
        _ => None,
    }
}
