//! Release and escape: who may still have to release an object.

use super::Leaves;
use crate::exec::{DropKind, ElementFree, Exec, Free};
use crate::state::{Pc, State};
use crate::vocabulary::{BaseKind, Place, Slot, SymKind};
use leakproof_guard::{Base, Node, Seen, Term, Terms};
use leakproof_ir::InstId;
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

/// A condition of escape that is larger than this, and has more different parts, is taken as met.
const MAX_ESCAPE_CONDITION: u32 = 1000;
const MAX_ESCAPE_PARTS: u32 = 200;
/// Objects of callers that escape are followed as far as this many dereferences away.
pub(crate) const MAX_ESCAPE_DEPTH: u32 = 2;
/// A condition of being an element that is larger than this, or has more parts, is taken as met.
const MAX_STORED_CONDITION: u32 = 200;
const MAX_STORES: usize = 24;
/// How deep contents escape with their owner.
const ESCAPE_DEPTH: u32 = 4;

impl Exec<'_> {
    /// The object that `pointer` refers to is released under `cond`.
    pub fn free(&mut self, state: &mut State, pointer: Term, cond: Term, inst: InstId, at: Place) {
        self.log_release(state, pointer, cond, inst, at);
        let Some(leaves) = self.leaves(state, pointer) else {
            self.escape(state, pointer);
            return;
        };
        let element = self.is_element(pointer);
        // What elements of arrays refer to, which releases leave as it is. Any of several is also what a variable holds
        // that was given many objects on different ways.
        let mut in_arrays = None;
        for leaf in leaves {
            let Leaves::Cell(base, slot) = leaf.target else { continue };
            let when = self.terms.and2(cond, leaf.cond);
            let released = match (slot, self.kind(base)) {
                // An aligned pointer, or one from which its own offset was subtracted again: who releases it means the object.
                _ if leaf.computed => base,
                // Nobody releases the middle of an object: this is not the path that was meant.
                (Slot::At(offset), BaseKind::Heap(_)) if offset != 0 => continue,
                // The object around a member (`container_of`) has a pointer of its own.
                (Slot::At(offset), BaseKind::Pointee) if offset != 0 => {
                    let around = self.terms.addr(base, offset);
                    self.pointee(around)
                }
                // So has a block whose start is computed, from a header in front of the text for instance.
                (Slot::Every(_), BaseKind::Pointee) => self.pointee(leaf.pointer),
                _ => base,
            };
            let is_any_element = leaf.any
                && in_arrays.get_or_insert_with(|| self.bases_in_arrays(state)).contains(&released);
            let stored =
                if is_any_element { self.where_stored(state, released) } else { Terms::TRUE };
            let element = element || is_any_element;
            if element && !self.was_taken_out(released) {
                let free = ElementFree { base: released, pc: state.pc, when, stored };
                self.element_frees.push(free);
            }
            let when = self.terms.and2(when, stored);
            self.free_base(state, released, when, inst, at);
        }
    }

    /// Under which condition an object was put anywhere in memory: it is one of an array's elements only then.
    pub(crate) fn where_stored(&mut self, state: &State, base: Base) -> Term {
        let Some(stores) = self.stored.get(&base) else { return Terms::TRUE };
        let ways: FxHashSet<(Pc, Term)> = stores.iter().map(|s| (s.pc, s.value)).collect();
        if ways.len() > MAX_STORES {
            return Terms::TRUE;
        }
        let mut ways: Vec<(Pc, Term)> = ways.into_iter().collect();
        ways.sort_unstable();
        let mut stored = Terms::FALSE;
        for (pc, value) in ways {
            let reached = self.pcs.formula(&mut self.terms, pc);
            let reached = self.pcs.simplify(&mut self.terms, state.pc, reached);
            let holds = self.targets(state, value).into_iter().filter(|(b, _)| *b == base);
            let holds: Vec<Term> = holds.map(|(_, when)| when).collect();
            let holds = self.terms.or(holds);
            let both = self.terms.and2(reached, holds);
            stored = self.terms.or2(stored, both);
        }
        if self.terms.has_more_parts(stored, MAX_STORED_CONDITION) { Terms::TRUE } else { stored }
    }

    /// Whether something is no element any more: a call took it out of where it was.
    fn was_taken_out(&self, base: Base) -> bool {
        matches!(self.kind(base), BaseKind::Heap(id) if self.is_handed_over(id))
    }

    /// Whether a pointer is what some element of an array held, or what that led to.
    pub(crate) fn is_element(&self, pointer: Term) -> bool {
        let mut seen = Seen::default();
        let mut work = vec![pointer];
        while let Some(t) = work.pop() {
            if !seen.insert(t) {
                continue;
            }
            match self.terms.node(t) {
                Node::Sym(s) => match self.sym_kinds[s.0 as usize] {
                    SymKind::Init { slot: Slot::Every { .. }, .. } => return true,
                    SymKind::Init { base, .. } => work.extend(self.terms.as_pointee(base)),
                    _ => {}
                },
                Node::Ite { then, otherwise, .. } => work.extend([*then, *otherwise]),
                _ => {}
            }
        }
        false
    }

    pub fn free_base(
        &mut self,
        state: &mut State,
        base: Base,
        when: Term,
        inst: InstId,
        at: Place,
    ) {
        if when == Terms::FALSE || !self.is_releasable(base) {
            return;
        }
        self.releases_untold = self.releases_untold || self.is_beyond_callers(base);
        let old = state.fact(base, Slot::Freed);
        let freed = self.terms.or2(old, when);
        state.mem.insert((base, Slot::Freed), freed);
        self.written_at.insert((base, Slot::Freed), at);
        self.frees.push(Free { inst, base, step: self.steps });
        let inner: Vec<(Slot, Term)> = state.contents_of(base).collect();
        let alive = self.terms.not(old);
        let now = self.terms.and2(when, alive);
        for (slot, value) in inner {
            self.log_drop(state, now, value, (base, slot), at, DropKind::OwnerFreed);
        }
    }

    fn is_releasable(&self, base: Base) -> bool {
        matches!(self.kind(base), BaseKind::Heap(_) | BaseKind::Pointee)
    }

    /// Somebody unknown now holds `value`: every object in it, and what those hold, is out of
    /// sight.
    pub fn escape(&mut self, state: &mut State, value: Term) {
        self.escape_if(state, value, Terms::TRUE);
    }

    pub fn escape_if(&mut self, state: &mut State, value: Term, cond: Term) {
        for (base, leaf_cond) in self.targets(state, value) {
            let when = self.terms.and2(cond, leaf_cond);
            self.escape_base(state, base, when);
        }
    }

    /// A base escapes with all that it leads to, which is not told apart any further.
    pub(crate) fn escape_base(&mut self, state: &mut State, base: Base, when: Term) {
        let mut seen = Seen::default();
        let mut work: SmallVec<[(Base, u32); 16]> = smallvec![(base, ESCAPE_DEPTH)];
        while let Some((base, depth)) = work.pop() {
            if when == Terms::FALSE || !self.may_be_owned(base) || !seen.insert(base) {
                continue;
            }
            let old = state.fact(base, Slot::Escaped);
            if old == Terms::TRUE {
                // What is stored in it later is out of sight by being there.
                continue;
            }
            let mut escaped = self.terms.or2(old, when);
            if escaped == old {
                continue;
            }
            if self.terms.is_larger(escaped, MAX_ESCAPE_CONDITION, MAX_ESCAPE_PARTS) {
                escaped = Terms::TRUE;
            }
            state.mem.insert((base, Slot::Escaped), escaped);
            if depth > 0 {
                let inner: SmallVec<[Term; 16]> = state
                    .contents_of(base)
                    .map(|(_, t)| t)
                    .filter(|&t| self.terms.has_addr(t) || self.is_callers(t))
                    .collect();
                for t in inner {
                    work.extend(self.all_bases(t).into_iter().map(|b| (b, depth - 1)));
                }
            }
        }
    }

    /// Whether this function or its caller may have to release the base.
    pub(crate) fn may_be_owned(&self, base: Base) -> bool {
        match self.kind(base) {
            BaseKind::Pointee => {
                let pointer = self.terms.as_pointee(base);
                let depth = pointer.and_then(|p| self.argument_depth(p));
                depth.is_some_and(|d| d <= MAX_ESCAPE_DEPTH)
            }
            BaseKind::Func(_) | BaseKind::Global(_) => false,
            _ => true,
        }
    }

    /// Whether a pointer is an argument or what an argument points to: the caller may own it.
    pub(crate) fn is_callers(&self, t: Term) -> bool {
        self.terms.bits(t) == 64
            && matches!(self.terms.node(t), Node::Sym(_))
            && self.argument_depth(t).is_some_and(|d| d <= 1)
    }
}
