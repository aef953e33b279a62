//! The question at every exit: which objects exist, are not released, and nobody can reach?
//!
//! In: the states at the exits. Out: candidates, each with the one condition under which the
//! object leaks there. A condition that is already false ends as clean with no solver asked.

use crate::atoms::{Kind, Purpose};
use crate::circles::circles_of;
use crate::exec::{Exec, Limit, Resized};
use crate::marks::{CUT, FAILURE, LOST, OUTCOME, OWN};
use crate::repeated::Repeated;
use crate::state::State;
use crate::vocabulary::{BaseKind, ObjectId, Slot};
use leakproof_guard::{Base, Marks, Node, Seen, Sym, Term, Terms, for_each_child};
use rustc_hash::{FxHashMap, FxHashSet};

/// An object that may leak at an exit.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub object: ObjectId,
    /// Index into `Exec::exits`.
    pub exit: usize,
    pub condition: Term,
    /// The condition without the path to the exit.
    pub(crate) lost: Term,
    /// Nothing that outlives the function may refer to the object there.
    pub(crate) unheld: bool,
}

/// What the path to an exit compares of pointers that are one of several.
struct Tests {
    all: Vec<Term>,
    /// What elements of arrays refer to there, once somebody asked.
    in_arrays: Option<FxHashSet<Base>>,
}

/// Which way conditions are decided that speak of what is out of sight.
#[derive(Clone, Copy)]
struct Lean {
    to: bool,
    /// Whether the outcomes of calls count as out of sight.
    outcomes: bool,
}

/// The conditions of candidates may take this part of the budget of terms besides, and so many fates of objects are
/// looked at over all exits: a few functions have hundreds of exits and a thousand objects. Exits whose turn does not
/// come then have no candidates.
const TERMS_OF_CANDIDATES: u64 = 4;
const MAX_FATES: usize = 200_000;

impl Exec<'_> {
    /// Candidates at all exits. `keeps_locals`: references in locals count (`main` returning).
    pub fn candidates(&mut self, keeps_locals: bool) -> Vec<Candidate> {
        let mut list = Vec::new();
        let most = self.terms.len() as u64 + self.ctx.budget.terms / TERMS_OF_CANDIDATES;
        for exit in 0..self.exits.len() {
            if self.terms.len() as u64 > most || exit * self.objects.len() > MAX_FATES {
                self.limit.get_or_insert(Limit::Terms);
                break;
            }
            self.candidates_at(exit, keeps_locals, &mut list);
            self.certain_candidates_at(exit, keeps_locals, &mut list);
            if self.exits[exit].endless().is_none() {
                self.lost_resized(exit, &mut list);
            }
        }
        list
    }

    /// For every exit and object, the condition under which that is reached with the object made and not released,
    /// whoever refers to it there.
    pub fn unreleased_at_exits(&mut self) -> Vec<(usize, ObjectId, Term)> {
        let mut list = Vec::new();
        for exit in 0..self.exits.len() {
            let state = self.exits[exit].state.clone();
            let path = self.pcs.known_formula(&mut self.terms, state.pc);
            for i in 0..self.objects.len() {
                let base = self.objects[i].base;
                let (live, freed) = (state.fact(base, Slot::Live), state.fact(base, Slot::Freed));
                let unreleased = self.terms.not(freed);
                let condition = self.terms.and([path, live, unreleased]);
                list.push((exit, ObjectId(i as u32), condition));
            }
        }
        list
    }

    /// The objects that are asked about at an exit, by number: where a loop goes on for ever, those that its turns make.
    pub(crate) fn objects_of_exit(&self, exit: usize) -> std::ops::Range<usize> {
        self.exits[exit].endless().map_or(0, |e| e.made_before)..self.objects.len()
    }

    /// Whether a candidate is an object of others that was to be resized.
    pub fn is_resized(&self, candidate: &Candidate) -> bool {
        self.resized.iter().any(|r| r.object == candidate.object)
    }

    /// Whether no memory ever held a reference to the object, only values did.
    pub fn was_never_stored(&self, object: ObjectId) -> bool {
        !self.stored.contains_key(&self.objects[object.0 as usize].base)
    }

    /// `p->buf = realloc(p->buf, n)`: when it fails, the cell is overwritten and the object,
    /// which nobody released, has no other name.
    fn lost_resized(&mut self, exit: usize, list: &mut Vec<Candidate>) {
        for i in 0..self.resized.len() {
            let Resized { pc, object, cell } = self.resized[i];
            let state = self.exits[exit].state.clone();
            let base = self.objects[object.0 as usize].base;
            if !state.mem.contains_key(&cell) {
                continue;
            }
            let (freed, escaped) = (state.fact(base, Slot::Freed), state.fact(base, Slot::Escaped));
            let pointer = self.terms.addr(base, 0);
            let null = self.terms.is_null(pointer);
            let held = self.still_named(&state, base, self.exits[exit].value);
            let gone = self.terms.or([freed, escaped, null, held]);
            let gone = self.favoured(gone, &Repeated::default());
            let lost = self.terms.not(gone);
            let path = self.pcs.known_formula(&mut self.terms, state.pc);
            let reached = self.pcs.formula(&mut self.terms, pc);
            let condition = self.terms.and([path, reached, lost]);
            if condition != Terms::FALSE {
                list.push(Candidate { object, exit, condition, lost, unheld: false });
            }
        }
    }

    /// Under which condition a cell that outlives the function, or the result, refers to `base`.
    fn still_named(&mut self, state: &State, base: Base, value: Option<Term>) -> Term {
        let cells = state.mem.iter().filter(|((b, slot), _)| {
            slot.is_contents() && !matches!(self.kind(*b), BaseKind::Slot(_) | BaseKind::Var(_))
        });
        let holders: Vec<Term> = cells.map(|(_, &t)| t).chain(value).collect();
        let mut named = Terms::FALSE;
        for t in holders {
            if self.terms.bits(t) == 64 && self.all_bases(t).contains(&base) {
                for (target, when) in self.targets(state, t) {
                    if target == base {
                        named = self.terms.or2(named, when);
                    }
                }
            }
        }
        named
    }

    fn candidates_at(&mut self, exit: usize, keeps_locals: bool, list: &mut Vec<Candidate>) {
        let state = self.exits[exit].state.clone();
        let open: Vec<(ObjectId, Term)> = self
            .objects_of_exit(exit)
            .filter_map(|i| {
                let object = ObjectId(i as u32);
                let cond = self.unreleased(&state, object);
                (cond != Terms::FALSE).then_some((object, cond))
            })
            .collect();
        if open.is_empty() {
            return;
        }
        let leads = self.bases_leading_to(&state, &open);
        let held = self.held_objects(exit, keeps_locals, &leads);
        let open: Vec<(ObjectId, Term)> =
            open.into_iter().filter(|(o, _)| held.get(o) != Some(&Terms::TRUE)).collect();
        if open.is_empty() {
            return;
        }
        let owners = self.owners(&state, &open);
        let path = self.pcs.formula(&mut self.terms, state.pc);
        let mut tests = Tests { all: self.tests_of_unknown(path), in_arrays: None };
        let path = self.pcs.known_formula(&mut self.terms, state.pc);
        for &(object, unreleased) in &open {
            let held = held.get(&object).copied().unwrap_or(Terms::FALSE);
            let owned = owners.get(&object).copied().unwrap_or(Terms::FALSE);
            let reachable = self.terms.or2(held, owned);
            let reachable = self.pcs.simplify(&mut self.terms, state.pc, reachable);
            let reachable = self.favoured_about(&state, object, reachable);
            let lost = self.terms.not(reachable);
            let leaks = self.terms.and2(unreleased, lost);
            let tested = self.tested_as(&state, object, &mut tests);
            let condition = self.terms.and([path, leaks, tested]);
            if condition != Terms::FALSE {
                let unheld = reachable == Terms::FALSE;
                list.push(Candidate { object, exit, condition, lost: leaks, unheld });
            }
        }
    }

    /// Comparisons on the path of pointers that are one of several.
    fn tests_of_unknown(&self, path: Term) -> Vec<Term> {
        let mut tests = Vec::new();
        let mut seen = FxHashSet::default();
        let mut work = vec![path];
        while let Some(t) = work.pop() {
            if !seen.insert(t) {
                continue;
            }
            match self.terms.node(t) {
                Node::Cmp { lhs, rhs, .. } => {
                    let unknown = |t: Term| {
                        matches!(self.terms.node(t), Node::Any(_)) && self.terms.has_addr(t)
                    };
                    if unknown(*lhs) != unknown(*rhs) {
                        tests.push(t);
                    }
                }
                Node::And(items) | Node::Or(items) => work.extend(items.iter().copied()),
                Node::Not(x) => work.push(*x),
                _ => {}
            }
        }
        tests.sort_unstable();
        tests
    }

    /// A pointer that may be the object was compared on the path. In the question about this
    /// object, it was this object: `if (p == NULL) return` loses nothing. Elements of an array
    /// are different: the one that was compared is seldom the one that is lost.
    fn tested_as(&mut self, state: &State, object: ObjectId, tests: &mut Tests) -> Term {
        let base = self.objects[object.0 as usize].base;
        let pointer = self.terms.addr(base, 0);
        let is_it = |terms: &Terms, t: Term| matches!(terms.node(t), Node::Any(items) if items.contains(&pointer));
        let mut results = Vec::new();
        for &test in &tests.all {
            let Node::Cmp { cmp, lhs, rhs } = *self.terms.node(test) else { continue };
            if is_it(&self.terms, lhs) {
                results.push((test, cmp, pointer, rhs));
            } else if is_it(&self.terms, rhs) {
                results.push((test, cmp, lhs, pointer));
            }
        }
        if results.is_empty() {
            return Terms::TRUE;
        }
        let in_arrays = tests.in_arrays.get_or_insert_with(|| self.bases_in_arrays(state));
        if in_arrays.contains(&base) {
            return Terms::TRUE;
        }
        let results = results.into_iter().map(|(test, cmp, lhs, rhs)| {
            let result = self.terms.cmp(cmp, lhs, rhs);
            self.terms.eq(test, result)
        });
        let results: Vec<Term> = results.collect();
        self.terms.and(results)
    }

    /// What elements of arrays refer to.
    pub(crate) fn bases_in_arrays(&mut self, state: &State) -> FxHashSet<Base> {
        let elements = state.mem.iter().filter(|((_, slot), _)| matches!(slot, Slot::Every { .. }));
        let held: Vec<Term> =
            elements.map(|(_, &t)| t).filter(|&t| self.terms.has_addr(t)).collect();
        held.into_iter().flat_map(|t| self.all_bases(t)).collect()
    }

    /// Exists, is not released, has not escaped.
    fn unreleased(&mut self, state: &State, object: ObjectId) -> Term {
        let base = self.objects[object.0 as usize].base;
        let live = state.fact(base, Slot::Live);
        if live == Terms::FALSE {
            return Terms::FALSE;
        }
        let (freed, escaped) = (state.fact(base, Slot::Freed), state.fact(base, Slot::Escaped));
        let given_back = self.given_back(state, object);
        let gone = self.terms.or([freed, escaped, given_back]);
        let gone = self.pcs.simplify(&mut self.terms, state.pc, gone);
        let gone = self.favoured_about(state, object, gone);
        let here = self.terms.not(gone);
        let cond = self.terms.and2(live, here);
        self.pcs.simplify(&mut self.terms, state.pc, cond)
    }

    /// A condition about an object with what is out of sight taken as met. Most exits ask the same.
    fn favoured_about(&mut self, state: &State, object: ObjectId, t: Term) -> Term {
        if matches!(t, Terms::TRUE | Terms::FALSE) {
            return t;
        }
        let live = state.fact(self.objects[object.0 as usize].base, Slot::Live);
        let key = (object, live, t);
        if let Some(&known) = self.favoured.get(&key) {
            return known;
        }
        let repeated = self.repeated(state, object, t);
        let favoured = self.favoured(t, &repeated);
        self.favoured.insert(key, favoured);
        favoured
    }

    /// A release depends on what the analysis lost sight of: the contents of own objects after
    /// an unknown write, conditions cut from a summary, an element of an array in some turn of a
    /// loop. Programs check their own state before they release it; so these count as met. Where a
    /// call has outcomes that need no such condition, those decide. What happened before may happen
    /// again: `repeated` outcomes are not taken as anything.
    fn favoured(&mut self, t: Term, repeated: &Repeated) -> Term {
        let leant = self.leant(t, Lean { to: true, outcomes: true }, repeated);
        if leant == Terms::TRUE {
            return leant;
        }
        let met = self.met_by_cut(t, repeated);
        self.terms.or2(leant, met)
    }

    /// Where conditions were cut from a summary, what depends on its outcomes counts as met, unless
    /// something that had failed before the call rules it out: callees are not told of that, but
    /// they are given what came of it.
    fn met_by_cut(&mut self, t: Term, repeated: &Repeated) -> Term {
        let cut = self.symbols_with(t, CUT);
        let cut = cut.into_iter().map(|s| (s, self.terms.sym(s)));
        let cut: Vec<(Sym, Term)> = cut.filter(|(_, t)| !repeated.contains(*t)).collect();
        let known_before = |s: &Sym| self.known_before.get(s).copied().unwrap_or(0);
        let Some(first) = cut.iter().map(|(s, _)| known_before(s)).min() else {
            return Terms::FALSE;
        };
        let met = |exec: &Self, atom: Term, to: bool| match exec.terms.node(atom) {
            Node::Sym(s) if s.0 < first && exec.terms.marks(atom).within(FAILURE) => None,
            _ if exec.speaks_of_repeated(atom, repeated) => None,
            _ => Some(to),
        };
        let purpose = Purpose { kind: Kind::Cut { first }, except: repeated.symbols().into() };
        let mut known = self.favours.take(&purpose);
        let possible = self.with_atoms(t, true, Marks::ALL, &mut known, &met);
        self.favours.keep(purpose, known);
        let cut = self.terms.or(cut.into_iter().map(|(_, t)| t));
        self.terms.and2(cut, possible)
    }

    /// As far as a condition holds whatever is out of sight, given the outcomes of calls: whether
    /// a constructor filled a field usually depends on what it was asked for, and callers know
    /// what they asked for.
    pub(crate) fn certain(&mut self, t: Term) -> Term {
        self.leant(t, Lean { to: false, outcomes: false }, &Repeated::default())
    }

    fn leant(&mut self, t: Term, lean: Lean, repeated: &Repeated) -> Term {
        let at_stake = OWN | LOST | OUTCOME | Marks::ANY;
        let lost = |exec: &Self, atom: Term, to: bool| {
            let is_atom = matches!(exec.terms.node(atom), Node::Cmp { .. } | Node::Sym(_));
            let lost = is_atom
                && exec.is_out_of_sight(atom, lean.outcomes)
                && !exec.speaks_of_repeated(atom, repeated);
            lost.then_some(to)
        };
        let kind = Kind::Lost { outcomes: lean.outcomes };
        let purpose = Purpose { kind, except: repeated.symbols().into() };
        let mut known = self.favours.take(&purpose);
        let leant = self.with_atoms(t, lean.to, at_stake, &mut known, &lost);
        self.favours.keep(purpose, known);
        leant
    }

    /// Whether an atom speaks only of things the analysis lost sight of; the outcomes of calls
    /// are such when `outcomes` says so.
    fn is_out_of_sight(&self, t: Term, outcomes: bool) -> bool {
        let lost = if outcomes { OWN | LOST | OUTCOME } else { OWN | LOST };
        let marks = self.terms.marks(t);
        if marks.intersects(Marks::ANY) {
            return self.is_any_out_of_sight(t, lost);
        }
        marks.intersects(lost) && (marks.within(lost) || self.are_choices_out_of_sight(t, lost))
    }

    /// Whether a comparison is about choices that were too wide to be looked into, and all that they are between is out of
    /// sight: what decides between them does not tell more.
    fn are_choices_out_of_sight(&self, t: Term, lost: Marks) -> bool {
        let mut has_choice = false;
        let mut work = vec![t];
        let mut seen = Seen::default();
        while let Some(t) = work.pop() {
            if !seen.insert(t) || self.terms.marks(t) == Marks::NONE {
                continue;
            }
            match self.terms.node(t) {
                Node::Ite { then, otherwise, .. } => {
                    has_choice = true;
                    work.extend([*then, *otherwise]);
                }
                Node::Sym(_) if !self.terms.marks(t).within(lost) => return false,
                node => for_each_child(node, |c| work.push(c)),
            }
        }
        has_choice
    }

    /// One of several values is out of sight, unless something else is found first. One of several
    /// characters of a text is data, like any of them.
    fn is_any_out_of_sight(&self, t: Term, lost: Marks) -> bool {
        let mut some = false;
        let mut work = vec![t];
        let mut seen = Seen::default();
        while let Some(t) = work.pop() {
            match self.terms.node(t) {
                Node::Any(items) => return !self.is_data(t, items, lost),
                Node::Sym(_) if !self.terms.marks(t).within(lost) => return false,
                Node::Sym(_) => some = true,
                node if seen.insert(t) => for_each_child(node, |c| work.push(c)),
                _ => {}
            }
        }
        some
    }

    /// Whether one of several numbers is a character that came from somewhere else.
    fn is_data(&self, t: Term, items: &[Term], lost: Marks) -> bool {
        let is_seen = |&i: &Term| {
            let marks = self.terms.marks(i);
            marks != Marks::NONE && !marks.intersects(lost | Marks::ANY)
        };
        self.terms.bits(t) == 8 && items.iter().any(is_seen)
    }

    /// Objects held by another object that leaks itself: only the owner is reported.
    pub(crate) fn owners(
        &mut self,
        state: &State,
        open: &[(ObjectId, Term)],
    ) -> FxHashMap<ObjectId, Term> {
        let mut edges: Vec<(ObjectId, ObjectId, Term)> = Vec::new();
        for &(owner, alive) in open {
            let base = self.objects[owner.0 as usize].base;
            for value in self.pointers_in(state, base) {
                let bases = self.all_bases(value);
                if !bases.iter().any(|&b| b != base && self.object_of(b).is_some()) {
                    continue;
                }
                for (target, when) in self.targets_of_cell(state, value) {
                    if let Some(o) = self.object_of(target).filter(|&o| o != owner) {
                        let cond = self.terms.and2(alive, when);
                        edges.push((owner, o, cond));
                    }
                }
            }
        }
        let circles = circles_of(edges.iter().map(|&(from, to, _)| (from, to)));
        let mut owned: FxHashMap<ObjectId, Term> = FxHashMap::default();
        for &(owner, o, cond) in &edges {
            // In a cycle the oldest object is the one that is reported.
            if o < owner && circles[&o] == circles[&owner] {
                continue;
            }
            let old = owned.get(&o).copied().unwrap_or(Terms::FALSE);
            let both = self.terms.or2(old, cond);
            owned.insert(o, both);
        }
        owned
    }
}
