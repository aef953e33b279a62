//! Functions that complain about a broken precondition: they print what they are told, and abort if a switch of the program says so.
//!
//! Who goes on after such a call is where the program itself says that nobody can be, as behind a failed `assert` in a build
//! without assertions. What is left behind there is no leak that anybody would mend, so the call counts as one that
//! does not return.

use crate::exec::Exec;
use leakproof_ir::{BlockId, Callee, InstKind, Terminator, ValueId, ValueKind};
use leakproof_program::Target;
use rustc_hash::FxHashSet;

/// Functions of the C library that end the process because the program is wrong.
const ABORTS: [&str; 4] = ["abort", "__assert_fail", "__assert_perror_fail", "__assert"];

impl Exec<'_> {
    /// Whether this function prints what it is given, and then aborts or not as a global says, on every way.
    pub(crate) fn complains(&self) -> bool {
        let mut terms = self.body.blocks.values().map(|b| &b.term);
        terms.all(|t| !matches!(t, Terminator::Return(Some(_))))
            && self.objects.is_empty()
            && self.frees.is_empty()
            && !self.sets_globals()
            && self.is_on_every_way(|block| self.asks_whether_to_abort(block))
            && self.is_on_every_way(|block| self.prints_what_it_is_given(block))
    }

    /// Who sets a global checks what he did, and goes on.
    fn sets_globals(&self) -> bool {
        self.body.insts.values().any(|inst| match inst.kind {
            InstKind::Store { ptr, .. } => {
                matches!(self.function.values[ptr].kind, ValueKind::Global(..))
            }
            _ => false,
        })
    }

    /// Whether every way to a return leads through a block of which this is true.
    fn is_on_every_way(&self, is_met: impl Fn(BlockId) -> bool) -> bool {
        let mut seen: FxHashSet<BlockId> = FxHashSet::default();
        let mut work: Vec<BlockId> = self.body.blocks.iter().map(|(b, _)| b).take(1).collect();
        while let Some(block) = work.pop() {
            if !seen.insert(block) || is_met(block) {
                continue;
            }
            let term = &self.body.blocks[block].term;
            if matches!(term, Terminator::Return(_)) {
                return false;
            }
            work.extend(term.successors());
        }
        true
    }

    fn asks_whether_to_abort(&self, block: BlockId) -> bool {
        let Terminator::Branch { cond, then, otherwise } = self.body.blocks[block].term else {
            return false;
        };
        self.aborts(then) != self.aborts(otherwise) && self.is_switch(cond)
    }

    fn aborts(&self, block: BlockId) -> bool {
        self.external_calls(block).any(|(name, _)| ABORTS.contains(&name))
    }

    /// Whether a block hands a text that the function was given to the library. What is not constant is no text: the
    /// library may do something to it.
    fn prints_what_it_is_given(&self, block: BlockId) -> bool {
        let is_text = |v: &ValueId| match self.function.values[*v].kind {
            ValueKind::Param(n) => {
                let ty = self.function.params.get(n as usize).and_then(|p| p.ty);
                ty.is_some_and(|ty| self.module.points_to_constant(ty))
            }
            _ => false,
        };
        self.external_calls(block).any(|(_, args)| args.iter().any(is_text))
    }

    /// The functions without a body that a block calls, and with what.
    fn external_calls(&self, block: BlockId) -> impl Iterator<Item = (&str, &[ValueId])> {
        self.body.blocks[block].insts.iter().filter_map(|&inst| {
            let InstKind::Call { callee: Callee::Direct(f), args, .. } =
                &self.body.insts[inst].kind
            else {
                return None;
            };
            match self.ctx.program.resolve(self.me.module, *f) {
                Target::External(f) => Some((&*self.ctx.program.function(f).name, &args[..])),
                Target::Defined(_) => None,
            }
        })
    }

    /// Whether a condition speaks of what globals hold, and of nothing else.
    fn is_switch(&self, v: ValueId) -> bool {
        let ValueKind::Inst(id) = self.function.values[v].kind else { return false };
        let is_constant = |v: ValueId| {
            matches!(self.function.values[v].kind, ValueKind::Int(_) | ValueKind::Null)
        };
        match self.body.insts[id].kind {
            InstKind::Load { ptr, .. } => {
                matches!(self.function.values[ptr].kind, ValueKind::Global(..))
            }
            InstKind::Cmp { lhs, rhs, .. } | InstKind::Bin { lhs, rhs, .. } => {
                self.is_switch(lhs) && (is_constant(rhs) || self.is_switch(rhs))
            }
            InstKind::Cast { value, .. } => self.is_switch(value),
            _ => false,
        }
    }
}
