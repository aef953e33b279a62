//! Objects that count the references to them: releasing one gives a reference back.

use crate::exec::Exec;
use crate::marks::OTHERS;
use crate::state::State;
use crate::vocabulary::{BaseKind, Object, ObjectId, Slot, SymKind};
use leakproof_guard::{Base, Cmp, Node, Sym, Term, Terms};
use rustc_hash::FxHashSet;

impl Exec<'_> {
    /// A release that depends on a counter in the object itself, which this function counts
    /// down, gives the caller's reference back whether or not it was the last, unless callers know
    /// that it was not.
    pub(crate) fn release_counted(&mut self, state: &mut State) {
        let freed: Vec<(Base, Term)> = state
            .mem
            .iter()
            .filter(|((_, slot), v)| *slot == Slot::Freed && **v != Terms::TRUE)
            .map(|((b, _), v)| (*b, *v))
            .collect();
        for (base, cond) in freed {
            if self.kind(base) != BaseKind::Pointee {
                continue;
            }
            let Some(counter) = self.counted_down(state, base, cond) else { continue };
            let pointer = self.terms.as_pointee(base).unwrap_or(Terms::NULL);
            let not_null = self.terms.is_not_null(pointer);
            let counter = self.terms.sym(counter);
            let one = self.terms.int(self.terms.bits(counter), 1);
            let last = self.terms.cmp(Cmp::SLe, counter, one);
            let given_back = self.terms.and2(not_null, last);
            let old = state.fact(base, Slot::Escaped);
            let either = self.terms.or2(old, given_back);
            state.mem.insert((base, Slot::Escaped), either);
        }
    }

    /// Under which condition a reference to an object of others was given back: a count that its release depends on is
    /// not what it was. If the reference was not the last, somebody else has another.
    pub(crate) fn given_back(&mut self, state: &State, object: ObjectId) -> Term {
        let Object { base, assumed, .. } = self.objects[object.0 as usize];
        let freed = state.fact(base, Slot::Freed);
        if !assumed || matches!(freed, Terms::TRUE | Terms::FALSE) {
            return Terms::FALSE;
        }
        let decides = self.symbols_in(freed);
        let counts: Vec<(Sym, Term)> = state
            .contents_of(base)
            .filter_map(|(slot, now)| {
                let is_count = |s: &&Sym| self.is_initial(**s, base, slot);
                Some((*decides.iter().find(is_count)?, now))
            })
            .collect();
        let fewer: Vec<Term> =
            counts.into_iter().map(|(count, now)| self.is_less(now, count)).collect();
        self.terms.or(fewer)
    }

    /// Under which condition a count is not what it was, nor more. In a loop it is any number.
    fn is_less(&mut self, now: Term, count: Sym) -> Term {
        match *self.terms.node(now) {
            Node::Ite { cond, then, otherwise } => {
                let [then, otherwise] = [then, otherwise].map(|t| self.is_less(t, count));
                self.terms.ite(cond, then, otherwise)
            }
            Node::Sym(s) if s == count => Terms::FALSE,
            Node::Sym(_) => Terms::TRUE,
            _ => {
                let before = self.terms.sym(count);
                self.terms.cmp(Cmp::SLt, now, before)
            }
        }
    }

    /// The counter in an object that its release depends on, and that was counted down.
    fn counted_down(&self, state: &State, base: Base, cond: Term) -> Option<Sym> {
        // Counters are first contents of what is others'.
        let counts = |t: Term| self.terms.marks(t).intersects(OTHERS);
        if !counts(cond) {
            return None;
        }
        let contents = state.contents_of(base).filter(|(_, value)| counts(*value));
        let mut counters =
            contents.filter_map(|(slot, value)| self.decremented(base, slot, value)).peekable();
        counters.peek()?;
        let symbols = self.symbols_in(cond);
        counters.find(|s| symbols.contains(s))
    }

    /// The initial contents of the cell when its value is those minus one.
    fn decremented(&self, base: Base, slot: Slot, value: Term) -> Option<Sym> {
        if !self.has_arithmetic(value) {
            return None;
        }
        self.symbols_in(value).into_iter().find(|s| self.is_initial(*s, base, slot))
    }

    /// Whether a symbol stands for what a cell held first.
    fn is_initial(&self, s: Sym, base: Base, slot: Slot) -> bool {
        matches!(self.sym_kinds[s.0 as usize], SymKind::Init { base: b, slot: o, .. } if (b, o) == (base, slot))
    }

    /// Whether one of the values that `t` is a choice of is computed.
    fn has_arithmetic(&self, t: Term) -> bool {
        let mut seen = FxHashSet::default();
        let mut work = vec![t];
        while let Some(t) = work.pop() {
            match self.terms.node(t) {
                Node::Bin { .. } => return true,
                Node::Ite { then, otherwise, .. } if seen.insert(t) => {
                    work.extend([*then, *otherwise]);
                }
                Node::Cast { value, .. } => work.push(*value),
                _ => {}
            }
        }
        false
    }
}
