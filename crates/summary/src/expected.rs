//! Arguments that a function expects not to be null.
//!
//! Some functions refuse null before they do anything, with a message or a negative result, and go through the pointer
//! otherwise: that is a check for mistakes of callers, like an assertion. Who passes on what it was given itself, without
//! looking at it, makes none: that its callers would is no reason to say that it leaks. Where null quietly gives null or
//! zero, as in the copy of an empty list, it is as good as anything else.

use crate::call::Call;
use crate::exec::{Exec, Exit};
use crate::state::State;
use crate::summary::Summary;
use crate::vocabulary::{BaseKind, SymKind};
use leakproof_guard::{Node, Sym, Term, Terms};
use leakproof_ir::{BlockId, InstKind, Pred, Terminator, Ty, ValueId, ValueKind};

impl Exec<'_> {
    /// The parameters that are refused when they are null and gone through otherwise, here or in callees that they are
    /// handed on to.
    pub(crate) fn expected_parameters(&mut self) -> Vec<u32> {
        let mut expected = self.pointer_parameters();
        expected.retain(|(index, t)| self.expected.contains(index) || self.is_refused(*index, *t));
        expected.into_iter().map(|(index, _)| index).collect()
    }

    /// Pointers that the function is given, with the number of the parameter.
    pub(crate) fn pointer_parameters(&mut self) -> Vec<(u32, Term)> {
        let mut list: Vec<(u32, Term)> = Vec::new();
        for (i, kind) in self.sym_kinds.iter().enumerate() {
            if let SymKind::Arg(index) = *kind {
                list.push((index, self.terms.sym(Sym(i as u32))));
            }
        }
        list.retain(|(index, _)| {
            let parameter = self.function.params.get(*index as usize);
            parameter.is_some_and(|p| self.function.ty(p.value) == Ty::Ptr)
        });
        list.sort_unstable();
        list
    }

    /// Whether every exit is either a refusal of null or reached only with something.
    fn is_refused(&mut self, index: u32, pointer: Term) -> bool {
        let null = self.terms.is_null(pointer);
        let there = self.terms.not(null);
        let (for_null, others): (Vec<&Exit>, Vec<&Exit>) =
            self.exits.iter().partition(|e| self.pcs.says(e.state.pc, null));
        !for_null.is_empty()
            && !others.is_empty()
            && others.iter().all(|e| self.pcs.says(e.state.pc, there))
            && for_null.iter().all(|e| self.is_constant(e))
            && (for_null.iter().all(|e| self.is_negative(e)) || self.complains_of_null(index))
    }

    fn is_constant(&self, exit: &Exit) -> bool {
        exit.value.is_some_and(|v| self.terms.as_int(v).is_some())
    }

    fn is_negative(&self, exit: &Exit) -> bool {
        exit.value.and_then(|v| self.terms.as_signed(v)).is_some_and(|n| n < 0)
    }

    /// Whether the function has a message for the case that a parameter is null.
    fn complains_of_null(&self, index: u32) -> bool {
        let of_null = |v: ValueId| match self.function.values[v].kind {
            ValueKind::Inst(i) => match self.body.insts[i].kind {
                InstKind::Cmp { pred, lhs, rhs } => {
                    let kind = |v: ValueId| self.function.values[v].kind;
                    let is_test =
                        kind(lhs) == ValueKind::Param(index) && kind(rhs) == ValueKind::Null;
                    is_test.then_some(pred)
                }
                _ => None,
            },
            _ => None,
        };
        self.body.blocks.values().any(|block| match block.term {
            Terminator::Branch { cond, then, otherwise } => match of_null(cond) {
                Some(Pred::Eq) => self.says_something(then),
                Some(Pred::Ne) => self.says_something(otherwise),
                _ => false,
            },
            _ => false,
        })
    }

    /// Whether a block calls something with a text of the program.
    fn says_something(&self, block: BlockId) -> bool {
        let is_text = |v: &ValueId| match self.function.values[*v].kind {
            ValueKind::Global(g, _) => self.module.globals[g].constant,
            _ => false,
        };
        self.body.blocks[block].insts.iter().any(|&i| match &self.body.insts[i].kind {
            InstKind::Call { args, .. } => args.iter().any(is_text),
            _ => false,
        })
    }

    /// Notes that what the callee expects is there, where this function was given it and hands it on.
    pub(crate) fn know_expected(&mut self, call: &Call<'_>, summary: &Summary, state: &mut State) {
        for &i in &summary.expected {
            let Some(&pointer) = call.args.get(i as usize) else { continue };
            let Node::Sym(s) = *self.terms.node(pointer) else { continue };
            match self.sym_kinds[s.0 as usize] {
                SymKind::Arg(index) => drop(self.expected.insert(index)),
                SymKind::Init { base, epoch: Terms::NULL, .. }
                    if matches!(self.kind(base), BaseKind::Pointee | BaseKind::Global(_)) => {}
                _ => continue,
            }
            self.know_not_zero(pointer, state);
        }
    }
}
