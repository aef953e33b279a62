//! A function that is called a second time, and finds in globals what its first call left there.

use crate::call::Call;
use crate::exec::Exec;
use crate::leak::Candidate;
use crate::state::State;
use crate::vocabulary::{BaseKind, What};
use leakproof_guard::Term;
use rustc_hash::FxHashSet;

impl Exec<'_> {
    /// Whether globals of the program hold objects of this function when it returns. Those of libraries are
    /// somebody else's.
    pub fn leaves_objects_in_globals(&mut self) -> bool {
        let cells = self.exits.iter().flat_map(|e| &e.state.mem);
        let kept: FxHashSet<Term> = cells
            .filter(|((base, slot), value)| {
                slot.is_contents()
                    && matches!(self.kind(*base), BaseKind::Global(g) if self.ctx.program.global(g).init.is_some())
                    && self.terms.has_addr(**value)
            })
            .map(|(_, &value)| value)
            .collect();
        kept.into_iter().any(|t| self.all_bases(t).iter().any(|&b| self.object_of(b).is_some()))
    }

    /// The state at entry after an earlier call with other arguments.
    pub(crate) fn call_before(&mut self, state: &mut State) {
        let Some(summary) = self.before.clone() else { return };
        let loc = self.function.loc;
        let types = self.function.params.iter().map(|p| self.function.values[p.value].ty);
        let widths: Vec<u16> = types.map(|ty| self.bits_of(ty)).collect();
        let args: Vec<Term> =
            widths.into_iter().map(|bits| self.opaque(bits, What::Unknown, "", loc)).collect();
        let Some(inst) = self.body.insts.iter().map(|(id, _)| id).next() else { return };
        let name = self.function.source_name.as_str();
        let call = Call { name, inst, args: &args, ty: self.function.ret, loc };
        let mut after = state.clone();
        if let Some(value) = self.apply_summary(&call, &summary, self.me, false, &mut after) {
            // The first caller has what it was given.
            value.into_iter().for_each(|v| self.escape(&mut after, v));
            *state = after;
        }
        // To the reader, the allocation is where the function has it, not in a call of it.
        for object in &mut self.objects {
            object.trace = object.trace[1..].into();
        }
        self.objects_before = self.objects.len();
    }

    /// Where objects that the earlier call left are lost.
    pub fn candidates_of_call_before(&mut self) -> Vec<Candidate> {
        let mut list = self.candidates(false);
        list.retain(|c| (c.object.0 as usize) < self.objects_before);
        list
    }
}
