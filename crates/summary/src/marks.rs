//! Kinds of symbols that conditions are asked about, as marks: whether a condition speaks of them is
//! then known without looking through it.

use crate::exec::Exec;
use crate::vocabulary::{BaseKind, SymKind, What};
use leakproof_guard::{Base, Marks, Node, Sym, SymInfo, Term};

pub(crate) const ARGUMENT: Marks = Marks::bit(0);
/// First contents of globals, of the function's own objects and variables, of what is others'.
pub(crate) const GLOBAL: Marks = Marks::bit(1);
pub(crate) const OWN: Marks = Marks::bit(2);
pub(crate) const OTHERS: Marks = Marks::bit(3);
pub(crate) const FAILURE: Marks = Marks::bit(4);
pub(crate) const EXCEPTION: Marks = Marks::bit(5);
pub(crate) const OUTCOME: Marks = Marks::bit(6);
pub(crate) const CUT: Marks = Marks::bit(7);
pub(crate) const OPEN: Marks = Marks::bit(8);
/// What the analysis lost sight of.
pub(crate) const LOST: Marks = Marks::bit(9);
/// Other opaque values.
pub(crate) const OPAQUE: Marks = Marks::bit(10);

impl Exec<'_> {
    /// A new symbol. Every symbol has exactly one mark.
    pub(crate) fn add_symbol(&mut self, info: SymInfo, kind: SymKind) -> Term {
        let mark = self.mark(&kind, info.bits);
        let sym = self.terms.new_marked_sym(info, mark);
        self.sym_kinds.push(kind);
        self.terms.sym(sym)
    }

    fn mark(&self, kind: &SymKind, bits: u16) -> Marks {
        match kind {
            SymKind::Arg(_) => ARGUMENT,
            SymKind::Init { base, epoch, .. } => match self.kind(*base) {
                BaseKind::Global(_) => GLOBAL,
                BaseKind::Heap(_) if bits == 64 && self.united.contains(base) => OWN,
                BaseKind::Heap(_) | BaseKind::Slot(_) if self.is_input(*epoch) => OPAQUE,
                BaseKind::Heap(_) | BaseKind::Slot(_) => OWN,
                _ if self.is_behind_lost(*base) => OWN,
                _ => OTHERS,
            },
            SymKind::Opaque(origin) => match origin.what {
                What::Failure => FAILURE,
                What::Exception => EXCEPTION,
                What::Outcome => OUTCOME,
                What::Cut => CUT,
                What::Open => OPEN,
                What::Written | What::Unknown | What::Inner => LOST,
                What::Choice | What::Result | What::Input | What::Loop => OPAQUE,
            },
        }
    }

    /// Whether the way to something leads through contents of own objects that are out of sight.
    fn is_behind_lost(&self, base: Base) -> bool {
        let marks = self.terms.as_pointee(base).map_or(Marks::NONE, |p| self.terms.marks(p));
        marks.intersects(OWN | LOST) && marks.within(OWN | LOST)
    }

    /// Whether contents since the start of `epoch` are what a function of the library wrote.
    fn is_input(&self, epoch: Term) -> bool {
        let Node::Sym(s) = self.terms.node(epoch) else { return false };
        matches!(&self.sym_kinds[s.0 as usize], SymKind::Opaque(o) if o.what == What::Input)
    }

    /// Whether a term has no other symbols than those with these marks.
    pub(crate) fn speaks_only_of(&self, t: Term, marks: Marks) -> bool {
        self.terms.marks(t).within(marks | Marks::ANY)
    }

    /// The symbols in a term that have one of these marks of outcomes, in order.
    pub(crate) fn symbols_with(&mut self, t: Term, marks: Marks) -> Vec<Sym> {
        self.deciding.symbols(&self.terms, t, marks)
    }
}
