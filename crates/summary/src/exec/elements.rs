//! Loops that release the elements of an array.
//!
//! How often a loop turns and which element it is at are not asked: all elements that there are, are released. What
//! else a release depends on stays its condition: that a pointer is an element at all, where it was put into the array on
//! one way only, or what was known before the loop began.

use super::{Edge, Exec};
use crate::atoms::Decided;
use crate::cfg::LoopId;
use crate::state::{Cell, Pc};
use crate::vocabulary::{BaseKind, Slot, SymKind};
use leakproof_guard::{Base, Cmp, Marks, Node, Seen, Sym, Term, Terms, for_each_child};
use leakproof_ir::{BlockId, Entity};
use rustc_hash::{FxHashMap, FxHashSet};

/// A release that depends on more than this counts as if it did not.
const MAX_CONDITION: u32 = 200;

/// An object was released as an element of an array.
#[derive(Clone, Copy)]
pub(crate) struct ElementFree {
    pub base: Base,
    pub pc: Pc,
    /// On the path of `pc`, the condition, and under which it had been put into the array.
    pub when: Term,
    pub stored: Term,
}

/// What there was when a loop began.
pub(super) struct Begin {
    /// Edges that were waiting, by block.
    waiting: FxHashMap<BlockId, usize>,
    visits: usize,
    symbols: u32,
    /// The releases of elements before each turn, and the path to it.
    turns: Vec<(usize, Pc)>,
}

impl Begin {
    pub fn turn(&mut self, frees: usize, path: Pc) {
        self.turns.push((frees, path));
    }
}

/// What decides about a loop's releases without being a reason for any of them.
struct Indifferent {
    /// What decides whether there is another turn.
    tests: FxHashSet<Term>,
    /// Symbols from here on were made by the loop.
    symbols: u32,
}

/// What a value depends on: the least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nature {
    Constant,
    /// What was there before the loop.
    Given,
    /// What an element holds, or leads to.
    OfElement,
    /// What is new in each turn.
    Varies,
}

/// What is known of conditions on the path, and of those of the releases themselves.
#[derive(Default)]
struct Decisions {
    on_path: Decided,
    of_release: Decided,
}

/// By the elements that are released, of which alone it depends what is a reason: large loops release many objects under
/// much the same conditions.
type Reasons = FxHashMap<Option<Cell>, Decisions>;

impl Exec<'_> {
    pub(super) fn begin_loop(&self) -> Begin {
        Begin {
            waiting: self.pending.iter().map(|(b, edges)| (*b, edges.len())).collect(),
            visits: self.visits.len(),
            symbols: self.sym_kinds.len() as u32,
            turns: Vec::new(),
        }
    }

    /// A loop that releases the elements of an array releases all that there are: when it takes
    /// no turn, there were none. Structs with planted objects are released where they are: what
    /// they hold is asked about in the same turn.
    pub(super) fn release_elements(&mut self, l: LoopId, begin: &Begin) {
        let released = self.released_elements(l, begin);
        let inside = &self.cfg.loops[l.0 as usize].blocks;
        for (b, edges) in &mut self.pending {
            let old = begin.waiting.get(b).copied().unwrap_or(0);
            if inside.contains(b) {
                continue;
            }
            for edge in edges.iter_mut().skip(old) {
                release_in(&mut self.terms, edge, &released);
            }
        }
    }

    /// What a loop released of arrays, with the condition for each.
    fn released_elements(&mut self, l: LoopId, begin: &Begin) -> Vec<(Base, Term)> {
        let first = begin.turns.first().map_or(self.element_frees.len(), |t| t.0);
        if first == self.element_frees.len() {
            return Vec::new();
        }
        let indifferent =
            Indifferent { tests: self.tests_of_turns(l, begin.visits), symbols: begin.symbols };
        let mut conditions: FxHashMap<Base, Term> = FxHashMap::default();
        let mut reasons = Reasons::default();
        for i in first..self.element_frees.len() {
            let free = self.element_frees[i];
            if self.is_planted_in(free.base) {
                continue;
            }
            let (_, start) = *begin.turns.iter().rfind(|t| t.0 <= i).unwrap_or(&begin.turns[0]);
            let when = self.condition_of_element(free, start, &indifferent, &mut reasons);
            let old = conditions.get(&free.base).copied().unwrap_or(Terms::FALSE);
            let either = self.terms.or2(old, when);
            conditions.insert(free.base, either);
        }
        let mut list: Vec<(Base, Term)> = conditions.into_iter().collect();
        list.sort_unstable();
        list
    }

    /// What the release of an element depends on besides the loop's turns.
    fn condition_of_element(
        &mut self,
        free: ElementFree,
        start: Pc,
        indifferent: &Indifferent,
        reasons: &mut Reasons,
    ) -> Term {
        let own = self.terms.as_pointee(free.base).and_then(|t| self.as_element(t));
        let Decisions { on_path, of_release } = reasons.entry(own).or_default();
        let path = self.pcs.since(free.pc, start);
        let path = self.terms.and(path);
        let path = self.with_reasons(path, on_path, &|exec, atom| {
            !indifferent.tests.contains(&atom) && exec.is_reason(atom, own, indifferent)
        });
        let when = self.with_reasons(free.when, of_release, &|exec, atom| {
            exec.is_reason(atom, own, indifferent)
        });
        let stored = match self.is_made_in_loop(free.base, indifferent) {
            true => free.stored,
            false => self.with_reasons(free.stored, of_release, &|exec, atom| {
                exec.is_reason(atom, own, indifferent)
            }),
        };
        let when = self.terms.and([path, when, stored]);
        if self.terms.size(when) > MAX_CONDITION { Terms::TRUE } else { when }
    }

    /// Whether the loop makes an object itself: then it is known which of the ways through a turn puts it into the array.
    fn is_made_in_loop(&self, base: Base, indifferent: &Indifferent) -> bool {
        self.born.get(&base).is_some_and(|&born| born >= indifferent.symbols)
    }

    /// A condition with everything met that is no reason.
    fn with_reasons(
        &mut self,
        t: Term,
        known: &mut Decided,
        is_reason: &impl Fn(&Self, Term) -> bool,
    ) -> Term {
        let decide =
            |exec: &Self, atom: Term, wanted: bool| (!is_reason(exec, atom)).then_some(wanted);
        self.with_atoms(t, true, Marks::ALL, known, &decide)
    }

    /// Whether a condition is a reason to release an element or not. What an element holds decides together with
    /// something else that is given; compared with a constant, it is the program's way to tell what it owns.
    fn is_reason(&self, atom: Term, own: Option<Cell>, indifferent: &Indifferent) -> bool {
        if self.terms.marks(atom).intersects(Marks::ANY) {
            return false;
        }
        let Node::Cmp { lhs, rhs, .. } = *self.terms.node(atom) else {
            return self.nature(atom, indifferent) <= Nature::Given;
        };
        let [a, b] = [lhs, rhs].map(|t| self.nature(t, indifferent));
        let is_number = self.terms.bits(lhs) < 64;
        match (a.min(b), a.max(b)) {
            (_, Nature::Given | Nature::Constant) => true,
            (Nature::Given, Nature::OfElement) => is_number,
            _ => !is_number && self.is_test_of_other_array(atom, own),
        }
    }

    /// Whether a condition says that an element is there, and it is one of another array than the one released. Callers
    /// know the elements of both.
    fn is_test_of_other_array(&self, atom: Term, own: Option<Cell>) -> bool {
        let Node::Cmp { cmp: Cmp::Eq, lhs, rhs } = *self.terms.node(atom) else { return false };
        let tested = match (self.terms.as_int(lhs), self.terms.as_int(rhs)) {
            (None, Some(0)) => lhs,
            (Some(0), None) => rhs,
            _ => return false,
        };
        let tested = self.as_element(tested);
        tested.is_some() && own.is_some() && own != tested
    }

    /// The elements that a value was one of when the function was called.
    fn as_element(&self, t: Term) -> Option<Cell> {
        let Node::Sym(s) = self.terms.node(t) else { return None };
        match self.sym_kinds[s.0 as usize] {
            SymKind::Init { base, slot: slot @ Slot::Every(_), epoch: Terms::NULL } => {
                Some((base, slot))
            }
            _ => None,
        }
    }

    /// What a value depends on.
    fn nature(&self, t: Term, indifferent: &Indifferent) -> Nature {
        let mut nature = Nature::Constant;
        let mut seen = Seen::default();
        let mut work = vec![t];
        while let Some(t) = work.pop() {
            if !seen.insert(t) {
                continue;
            }
            match self.terms.node(t) {
                Node::Sym(s) => nature = nature.max(self.nature_of_symbol(*s, indifferent)),
                Node::Elem { .. } => return Nature::Varies,
                node => for_each_child(node, |c| work.push(c)),
            }
        }
        nature
    }

    fn nature_of_symbol(&self, s: Sym, indifferent: &Indifferent) -> Nature {
        let before = s.0 < indifferent.symbols;
        match self.sym_kinds[s.0 as usize] {
            SymKind::Arg(_) => Nature::Given,
            SymKind::Opaque(_) if before => Nature::Given,
            SymKind::Opaque(_) => Nature::Varies,
            SymKind::Init { base, slot, epoch } => {
                let pointer = self.terms.as_pointee(base);
                let is_known = epoch == Terms::NULL || before;
                match slot {
                    _ if !is_known || self.kind(base) == BaseKind::Errno => Nature::Varies,
                    Slot::At(_) if pointer.is_some_and(|p| self.is_element(p)) => Nature::OfElement,
                    Slot::At(_) => Nature::Given,
                    _ => Nature::OfElement,
                }
            }
        }
    }

    /// What decides, in the visits from one on, whether a loop or one inside it takes another turn.
    fn tests_of_turns(&self, l: LoopId, from: usize) -> FxHashSet<Term> {
        let inside = &self.cfg.loops[l.0 as usize].blocks;
        let mut tests = FxHashSet::default();
        for visit in &self.visits[from..] {
            let Some(inner) = self.cfg.loop_of[visit.block.index()] else { continue };
            let lp = &self.cfg.loops[inner.0 as usize];
            let leaves = |b: &BlockId| !lp.blocks.contains(b);
            let exits =
                self.body.blocks[visit.block].term.successors().into_iter().any(|b| leaves(&b));
            if inside.contains(&visit.block) && exits {
                tests.extend(visit.cond.iter().flat_map(|&c| self.atoms_of(c)));
            }
        }
        tests
    }

    /// The conditions that one is made of.
    fn atoms_of(&self, t: Term) -> Vec<Term> {
        let (mut atoms, mut work) = (Vec::new(), vec![t]);
        let mut seen = Seen::default();
        while let Some(t) = work.pop() {
            match self.terms.node(t) {
                Node::Not(x) => work.push(*x),
                Node::And(items) | Node::Or(items) if seen.insert(t) => {
                    work.extend(items.iter().copied());
                }
                Node::And(_) | Node::Or(_) => {}
                _ => atoms.push(t),
            }
        }
        atoms
    }
}

fn release_in(terms: &mut Terms, edge: &mut Edge, released: &[(Base, Term)]) {
    for &(base, when) in released {
        let old = edge.state.fact(base, Slot::Freed);
        let either = terms.or2(old, when);
        edge.state.mem.insert((base, Slot::Freed), either);
    }
}
