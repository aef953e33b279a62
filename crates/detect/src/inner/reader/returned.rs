//! What a function returns: the contents of fields, and results of other functions.

use super::super::callee::Fate;
use super::super::fields::{Field, Survey};
use super::Reader;
use leakproof_ir::{InstKind, ValueId, ValueKind};
use leakproof_program::FuncRef;
use rustc_hash::FxHashSet;

impl Reader<'_> {
    /// The fields whose contents the function returns, and the functions whose results.
    pub(super) fn read_returned(&self, survey: &mut Survey) {
        let values: Vec<ValueId> = self.returned.iter().flat_map(|v| self.choices(*v)).collect();
        let behind = values.iter().filter_map(|v| self.field_behind(*v));
        let fields: FxHashSet<Field> = behind.map(|(_, f)| f.clone()).collect();
        if !fields.is_empty() {
            survey.returned.insert(self.me, fields);
        }
        let calls: Vec<(FuncRef, bool)> =
            values.iter().filter_map(|v| self.returned_call(*v)).collect();
        if !calls.is_empty() {
            survey.returned_calls.insert(self.me, calls);
        }
    }

    /// The function of the program whose result a value is, and whether it returns what it is given and that is an argument.
    fn returned_call(&self, v: ValueId) -> Option<(FuncRef, bool)> {
        let ValueKind::Inst(id) = self.function.values[v].kind else { return None };
        let InstKind::Call { callee, args, .. } = &self.inst(id).kind else { return None };
        let function = self.calls.defined(self.me.module, callee)?;
        let is_param = |v: &ValueId| matches!(self.function.values[*v].kind, ValueKind::Param(_));
        let of_argument = (0..args.len()).any(|n| {
            self.calls.fate(self.me.module, callee, n) == Fate::Returned
                && self.choices(args[n]).iter().any(is_param)
        });
        Some((function, of_argument))
    }
}
