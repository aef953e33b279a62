//! Builds a function's summary from the states at its exits.
//!
//! Exported are the cells a caller can name: globals, what arguments lead to, and the objects
//! that reach the caller. Cells behind anything else make what they hold escape. What grows too
//! large becomes private symbols; no action is dropped.

use crate::exec::{Exec, Free};
use crate::state::{Cell, State};
use crate::summary::{Effect, Expr, NewObject, PrivateInfo, Ref, Root, Summary};
use crate::vocabulary::{BaseKind, ObjectId, Origin, Slot, SymKind, What};
use leakproof_guard::{Base, Node, Seen, Sym, SymInfo, Term, Terms, is_contradiction};
use leakproof_ir::{InstId, Loc};
use rustc_hash::{FxHashMap, FxHashSet};

/// Access paths with more dereferences than this have no name.
const MAX_DEPTH: u32 = 5;
/// How much of a state callers are told.
#[derive(Clone, Copy)]
struct Sizes {
    /// Cells, the nearest first; what the others hold escapes.
    cells: usize,
    /// Values larger than this are out of sight.
    value: u32,
}
/// An exact summary has at most this many terms; otherwise outcomes are told apart by symbols.
const MAX_POOL: usize = 400;
/// Exits whose paths are larger than this together are not even tried exactly.
const MAX_CONDITIONS: u32 = 3000;
const EXACT: Sizes = Sizes { cells: 80, value: 250 };
const BY_OUTCOME: Sizes = Sizes { cells: 40, value: 1000 };
/// Of a pointer whose conditions are too large, this many alternatives are told.
const MAX_ALTERNATIVES: usize = 24;
/// Objects of others whose release callers are told of.
const MAX_FATES: usize = 24;
/// Objects of others of which callers are told that their contents are unknown.
const MAX_FORGOTTEN: usize = 40;
/// Plain numbers are told to callers this many dereferences away, and so many per object.
pub(crate) const MAX_NUMBER_DEPTH: u32 = 1;
const MAX_NUMBERS: usize = 12;

/// Contents of a new object that are not owned objects; and of one that took over what another one held, of which those
/// that are not told would seem to be as they were.
const MAX_OBJECT_CELLS: usize = 10;
const MAX_MOVED_CELLS: usize = 40;

/// The dereferences that lead from a function's inputs to a pointer.
#[derive(Clone, Copy)]
pub(crate) struct Steps {
    count: u32,
    /// They start at an argument, and each is known.
    from_argument: bool,
}

/// What is known of the way to a base.
#[derive(Clone, Copy)]
pub(crate) enum StepsTo {
    Unknown,
    Known(Option<Steps>),
}

impl Exec<'_> {
    /// The summary, after `run`.
    pub fn summarise(&mut self) -> Summary {
        if self.limit.is_some() {
            return Summary::opaque();
        }
        if self.complains() {
            return Summary::never_returns();
        }
        self.exits.retain(|e| e.endless().is_none());
        self.forget_untold();
        self.know_lengths();
        if self.conditions_of_exits() <= MAX_CONDITIONS
            && let Some((state, value)) = self.joined_exits()
            && self.is_tellable(&state, value)
        {
            let summary = self.export_prepared(state, value, EXACT);
            if summary.pool.len() <= MAX_POOL {
                return summary;
            }
        }
        self.forget_distant(BY_OUTCOME.cells);
        let Some((state, value)) = self.chosen_exits() else {
            return Summary::never_returns();
        };
        self.export_prepared(state, value, BY_OUTCOME)
    }

    /// How large the paths to all exits are together.
    fn conditions_of_exits(&self) -> u32 {
        let paths = self.exits.iter().flat_map(|e| self.pcs.path(e.state.pc));
        paths.map(|t| self.terms.size(t)).fold(0, u32::saturating_add)
    }

    /// Whether the result and what arguments point to can be told as they are.
    fn is_tellable(&self, state: &State, value: Option<Term>) -> bool {
        value.is_none_or(|v| self.terms.size(v) <= EXACT.value && !self.became_vague(v))
            && state.mem.iter().all(|((base, slot), t)| {
                let pointer = self.terms.as_pointee(*base);
                !slot.is_contents()
                    || self.terms.size(*t) <= EXACT.value
                    || pointer.is_none_or(|p| self.pointer_depth(p) != Some(0))
            })
            && !state.mem.iter().any(|(cell, t)| self.forgets_to_be_kept(*cell, *t))
    }

    /// Whether a result lost conditions only when the exits were joined.
    fn became_vague(&self, result: Term) -> bool {
        let mut vague = self.vague_values(result);
        vague.retain(|&t| self.is_held_by_global(t));
        let results = self.exits.iter().filter_map(|e| e.value);
        let before: FxHashSet<Term> = results.flat_map(|t| self.vague_values(t)).collect();
        !vague.iter().all(|t| before.contains(t))
    }

    /// Whether a value is what a global variable held when the function was called.
    fn is_held_by_global(&self, t: Term) -> bool {
        let Node::Sym(s) = *self.terms.node(t) else { return false };
        matches!(self.sym_kinds[s.0 as usize], SymKind::Init { base, epoch: Terms::NULL, .. }
            if matches!(self.kind(base), BaseKind::Global(_)))
    }

    /// Whether it was known at each exit if a cell was changed, and is not any more now that they are joined.
    fn forgets_to_be_kept(&self, cell: Cell, t: Term) -> bool {
        let is_old = |t: &Term| self.is_entry_value(*t, cell);
        let forgets = |t: Term| self.vague_values(t).iter().any(is_old);
        let at_exits = self.exits.iter().filter_map(|e| e.state.mem.get(&cell));
        forgets(t) && !at_exits.copied().any(forgets)
    }

    /// The alternatives of a value of which it is not known when it is which.
    fn vague_values(&self, t: Term) -> Vec<Term> {
        let (mut seen, mut work) = (Seen::default(), vec![t]);
        let mut found = Vec::new();
        while let Some(t) = work.pop() {
            match self.terms.node(t) {
                Node::Ite { then, otherwise, .. } if seen.insert(t) => {
                    work.extend([*then, *otherwise]);
                }
                Node::Any(items) => found.extend(items.iter().copied()),
                _ => {}
            }
        }
        found
    }

    fn export_prepared(
        &mut self,
        mut state: State,
        mut value: Option<Term>,
        sizes: Sizes,
    ) -> Summary {
        self.release_counted(&mut state);
        self.note_stars(&mut state);
        self.escape_unnameable(&mut state);
        self.keep_nearest_cells(&mut state, sizes.cells);
        self.keep_nearest_fates(&mut state);
        self.keep_nearest_forgotten(&mut state);
        self.give_up_large_values(&mut state, &mut value, sizes.value);
        let followed = self.followed_objects(&state, value);
        self.escape_held_by_others(&mut state, &followed);
        self.export(&state, value, followed)
    }

    /// A value without the alternatives that the path rules out.
    pub fn pruned(&mut self, state: &State, t: Term) -> Term {
        match self.terms.node(t).clone() {
            Node::Ite { cond, then, otherwise } if self.terms.width(t) < 100 => {
                if let Some(&known) = self.prunings.get(&(state.pc, t)) {
                    return known;
                }
                let c = self.pcs.simplify(&mut self.terms, state.pc, cond);
                let pruned = match c {
                    Terms::TRUE => self.pruned(state, then),
                    Terms::FALSE => self.pruned(state, otherwise),
                    _ => {
                        let a = self.pruned(state, then);
                        let b = self.pruned(state, otherwise);
                        self.terms.ite(c, a, b)
                    }
                };
                self.prunings.insert((state.pc, t), pruned);
                pruned
            }
            Node::Tuple(items) => {
                let items = items.iter().map(|&i| self.pruned(state, i)).collect();
                self.terms.tuple(items)
            }
            _ => t,
        }
    }

    pub(crate) fn symbols_in(&self, t: Term) -> FxHashSet<Sym> {
        let mut found = FxHashSet::default();
        let mut seen = Seen::default();
        let mut work = vec![t];
        while let Some(t) = work.pop() {
            if !seen.insert(t) {
                continue;
            }
            if let Node::Sym(s) = self.terms.node(t) {
                found.insert(*s);
            }
            leakproof_guard::for_each_child(self.terms.node(t), |c| work.push(c));
        }
        found
    }

    /// A release that reaches from an object on to the one in its field, in a later turn of the
    /// same loop or through recursion, goes on to the end of the list. A function that looks for
    /// one object and releases that does not.
    fn note_stars(&mut self, state: &mut State) {
        let mut stars: FxHashSet<(Base, i64)> = FxHashSet::default();
        for (owner, offset, base) in self.repeated_releases() {
            if stars.insert((owner, offset)) && self.may_both_be_released(state, owner, base) {
                state.mem.insert((owner, Slot::Star(offset)), Terms::TRUE);
            }
        }
    }

    /// Where an object and the one in its field were released in different turns: the object, the field, and the other.
    pub(crate) fn repeated_releases(&self) -> Vec<(Base, i64, Base)> {
        let mut steps: FxHashMap<(InstId, Base), FxHashSet<u64>> = FxHashMap::default();
        for free in &self.frees {
            steps.entry((free.inst, free.base)).or_default().insert(free.step);
        }
        let released: FxHashSet<Base> = self.frees.iter().map(|f| f.base).collect();
        let repeated = self.frees.iter().filter_map(|&Free { inst, base, step }| {
            let (owner, offset) = self.owner_of(base)?;
            let others = steps.get(&(inst, owner));
            let again = others.is_some_and(|s| s.iter().any(|&s| s != step));
            let recursive = self.recursive_frees.contains(&base) && released.contains(&owner);
            (again || recursive).then_some((owner, offset, base))
        });
        repeated.collect()
    }

    fn may_both_be_released(&mut self, state: &State, a: Base, b: Base) -> bool {
        let (a, b) = (state.fact(a, Slot::Freed), state.fact(b, Slot::Freed));
        let both = self.terms.and2(a, b);
        !is_contradiction(&self.terms, both)
    }

    /// The base and offset whose initial contents point to `base`.
    fn owner_of(&self, base: Base) -> Option<(Base, i64)> {
        let pointer = self.terms.as_pointee(base)?;
        let Node::Sym(s) = self.terms.node(pointer) else { return None };
        match &self.sym_kinds[s.0 as usize] {
            SymKind::Init { base, slot: Slot::At(o), epoch } if *epoch == Terms::NULL => {
                Some((*base, *o))
            }
            _ => None,
        }
    }

    /// What is stored where no caller can look has escaped.
    fn escape_unnameable(&mut self, state: &mut State) {
        let cells: Vec<(Base, Term)> = state
            .mem
            .iter()
            .filter(|((_, slot), _)| slot.is_contents())
            .map(|((b, _), v)| (*b, *v))
            .collect();
        for (base, value) in cells {
            if self.kind(base) == BaseKind::Pointee && !self.is_nameable(base) {
                let freed = state.fact(base, Slot::Freed);
                let kept = self.terms.not(freed);
                self.escape_if(state, value, kept);
            }
        }
    }

    /// Forgets external cells beyond the number that callers are told of.
    fn keep_nearest_cells(&mut self, state: &mut State, most: usize) {
        let mut cells: Vec<(u32, Cell)> =
            state.mem.keys().filter_map(|&cell| Some((self.distance_of(cell)?, cell))).collect();
        if cells.len() <= most {
            return;
        }
        cells.sort_unstable();
        for (_, cell) in cells.split_off(most) {
            if let Some(value) = state.mem.remove(&cell) {
                self.escape(state, value);
            }
        }
    }

    /// How far contents are from callers that they can be told of.
    pub(crate) fn distance_of(&self, (base, slot): Cell) -> Option<u32> {
        match self.kind(base) {
            _ if !slot.is_contents() => None,
            BaseKind::Global(_) => Some(1),
            BaseKind::Pointee if self.is_nameable(base) => {
                let pointer = self.terms.as_pointee(base);
                Some(pointer.and_then(|p| self.pointer_depth(p)).unwrap_or(MAX_DEPTH))
            }
            _ => None,
        }
    }

    /// Callers are told what becomes of the objects nearest to them, those that they handed in
    /// first; of others of theirs, that they are out of sight.
    fn keep_nearest_fates(&mut self, state: &mut State) {
        for (foreign, base) in self.distant_fates(state.mem.keys().copied()) {
            let told: Vec<Slot> = state.cells_of(base).map(|(slot, _)| slot).collect();
            for slot in told.into_iter().filter(|s| s.is_fate()) {
                state.mem.remove(&(base, slot));
            }
            if !foreign {
                state.mem.insert((base, Slot::Escaped), Terms::TRUE);
            }
        }
    }

    /// The objects of others of whose fate there is something in some cells, without those nearest to callers; and whether
    /// they were not handed in.
    pub(crate) fn distant_fates(&self, cells: impl Iterator<Item = Cell>) -> Vec<(bool, Base)> {
        let fates =
            cells.filter(|(base, slot)| slot.is_fate() && self.kind(*base) == BaseKind::Pointee);
        let mut bases: Vec<(bool, u32, Base)> = fates
            .filter_map(|(base, _)| {
                let pointer = self.terms.as_pointee(base)?;
                let depth = self.pointer_depth(pointer)?;
                Some((self.argument_depth(pointer).is_none(), depth, base))
            })
            .collect();
        bases.sort_unstable();
        bases.dedup();
        bases.into_iter().skip(MAX_FATES).map(|(foreign, _, base)| (foreign, base)).collect()
    }

    /// Callers are told of the objects nearest to them that their contents are unknown. Calls of what
    /// nothing is known of leave such objects behind at every step of every path of pointers: told of
    /// them all, each caller would have more of them than its callees.
    fn keep_nearest_forgotten(&mut self, state: &mut State) {
        let epochs = state.mem.keys().filter(|(_, slot)| *slot == Slot::Epoch);
        let mut bases: Vec<(u32, Base)> = epochs
            .filter_map(|&(base, _)| {
                let pointer = self.terms.as_pointee(base)?;
                Some((self.pointer_depth(pointer)?, base))
            })
            .collect();
        bases.sort_unstable();
        for (_, base) in bases.into_iter().skip(MAX_FORGOTTEN) {
            state.mem.remove(&(base, Slot::Epoch));
        }
    }

    /// Of a pointer with large conditions callers are told the alternatives; with more of them
    /// than anybody will follow, it is out of sight.
    pub(crate) fn give_up_large_values(
        &mut self,
        state: &mut State,
        value: &mut Option<Term>,
        most: u32,
    ) {
        let large: Vec<(Cell, Term)> = state
            .mem
            .iter()
            .filter(|((_, slot), t)| slot.is_contents() && self.terms.size(**t) > most)
            .map(|(cell, t)| (*cell, *t))
            .collect();
        for (cell, t) in large {
            let unknown = self.out_of_sight(state, t);
            let told = self.or_unchanged(cell, t, unknown);
            state.mem.insert(cell, told);
        }
        if let Some(t) = value.filter(|t| self.terms.size(*t) > most) {
            *value = Some(self.out_of_sight(state, t));
        }
    }

    /// What callers are told of a cell that is out of sight now: it may also hold what it held, if that is one of the
    /// values that it had before. Else a list whose first element is sometimes taken out would lose it in every call.
    pub(crate) fn or_unchanged(&mut self, cell: Cell, before: Term, now: Term) -> Term {
        let is_lost = now != before && matches!(self.terms.node(now), Node::Sym(_));
        if !is_lost || self.terms.bits(now) != 64 {
            return now;
        }
        let entry =
            self.terms.alternatives(before).into_iter().find(|&v| self.is_entry_value(v, cell));
        entry.map_or(now, |entry| self.terms.any([entry, now]))
    }

    fn out_of_sight(&mut self, state: &mut State, t: Term) -> Term {
        if let Node::Tuple(_) = self.terms.node(t) {
            return t;
        }
        let pointers = self.terms.alternatives(t);
        if self.terms.has_addr(t) && pointers.len() <= MAX_ALTERNATIVES {
            return self.terms.any(pointers);
        }
        if self.terms.bits(t) == 64 {
            self.escape(state, t);
        }
        let bits = self.terms.bits(t).max(1);
        let name = self.function.source_name.clone();
        self.opaque(bits, What::Unknown, &name, Loc::default())
    }

    /// Whether a caller can name the base.
    pub(crate) fn is_nameable(&self, base: Base) -> bool {
        match self.kind(base) {
            BaseKind::Global(_)
            | BaseKind::Heap(_)
            | BaseKind::Func(_)
            | BaseKind::VarArgs
            | BaseKind::Errno => true,
            BaseKind::Pointee => match self.terms.as_pointee(base) {
                Some(pointer) => self.pointer_depth(pointer).is_some_and(|d| d <= MAX_DEPTH),
                None => false,
            },
            BaseKind::Slot(_) | BaseKind::Var(_) | BaseKind::Values => false,
        }
    }

    /// Whether a function's inputs lead to the base, but not so that callers could be told of it.
    pub(crate) fn is_beyond_callers(&self, base: Base) -> bool {
        let inputs_lead_to = |base: Base| {
            let owners = std::iter::successors(Some(base), |b| self.owner_by_contents(*b));
            owners.last().is_some_and(|first| match self.kind(first) {
                BaseKind::Global(_) | BaseKind::VarArgs => true,
                _ => self.terms.as_pointee(first).is_some_and(|p| self.argument_depth(p).is_some()),
            })
        };
        self.kind(base) == BaseKind::Pointee && !self.is_nameable(base) && inputs_lead_to(base)
    }

    /// The base in which the pointer to another one was found.
    fn owner_by_contents(&self, base: Base) -> Option<Base> {
        self.holder_of(self.terms.as_pointee(base)?)
    }

    /// How many dereferences lead from the function's inputs to this pointer.
    pub(crate) fn pointer_depth(&self, t: Term) -> Option<u32> {
        self.steps_to(t).map(|steps| steps.count)
    }

    /// How many dereferences lead from an argument to this pointer.
    pub(crate) fn argument_depth(&self, pointer: Term) -> Option<u32> {
        self.steps_to(pointer).filter(|steps| steps.from_argument).map(|steps| steps.count)
    }

    fn steps_to(&self, t: Term) -> Option<Steps> {
        match *self.terms.node(t) {
            Node::Sym(s) => match self.sym_kinds[s.0 as usize] {
                SymKind::Arg(_) => Some(Steps { count: 0, from_argument: true }),
                SymKind::Init { base, epoch: Terms::NULL, .. } => match self.kind(base) {
                    BaseKind::Global(_) | BaseKind::VarArgs => {
                        Some(Steps { count: 1, from_argument: false })
                    }
                    BaseKind::Pointee => {
                        self.steps_to_base(base).map(|s| Steps { count: s.count + 1, ..s })
                    }
                    _ => None,
                },
                _ => None,
            },
            Node::Bin { lhs, rhs, .. } if self.terms.as_int(rhs).is_some() => self.steps_to(lhs),
            Node::Addr { base, .. } => self.steps_to_base(base),
            // Which element it was is not known, unless an argument says so.
            Node::Elem { base, .. } => self
                .steps_to_base(base)
                .map(|s| Steps { from_argument: s.from_argument && s.count == 0, ..s }),
            _ => None,
        }
    }

    /// How many lead to the pointer whose pointee a base is. The same is asked of a base again and again.
    fn steps_to_base(&self, base: Base) -> Option<Steps> {
        let number = base.0 as usize;
        if let Some(StepsTo::Known(steps)) = self.steps_to.borrow().get(number) {
            return *steps;
        }
        let steps = self.terms.as_pointee(base).and_then(|pointer| self.steps_to(pointer));
        let mut known = self.steps_to.borrow_mut();
        if known.len() <= number {
            known.resize(number + 1, StepsTo::Unknown);
        }
        known[number] = StepsTo::Known(steps);
        steps
    }

    /// The base whose initial contents a pointer was.
    fn holder_of(&self, pointer: Term) -> Option<Base> {
        match self.terms.node(pointer) {
            Node::Sym(s) => match &self.sym_kinds[s.0 as usize] {
                SymKind::Init { base, .. } => Some(*base),
                _ => None,
            },
            Node::Bin { lhs, .. } => self.holder_of(*lhs),
            Node::Addr { base, .. } => self.holder_of(self.terms.as_pointee(*base)?),
            _ => None,
        }
    }

    fn export(
        &mut self,
        state: &State,
        value: Option<Term>,
        followed: FxHashSet<ObjectId>,
    ) -> Summary {
        let mut out = Exporter {
            exec: self,
            pool: Vec::new(),
            memo: FxHashMap::default(),
            objects: Vec::new(),
            object_index: FxHashMap::default(),
            numbers: 0,
            work: Vec::new(),
            followed,
        };
        let value = value.map(|v| out.term(v));
        let pc = out.exec.pcs.formula(&mut out.exec.terms, state.pc);
        let returns = (pc != Terms::TRUE).then(|| out.term(pc));
        let thrown = out.exec.is_thrown(state);
        let throws = (thrown != Terms::FALSE).then(|| out.term(thrown));
        let mut effects = out.external_effects(state);
        effects.extend(out.object_effects(state));
        effects.sort_by_key(|e| match e.slot {
            Slot::Epoch => 0,
            Slot::Live => 1,
            _ => 2,
        });
        Summary {
            pool: out.pool,
            value,
            returns,
            throws,
            objects: out.objects,
            effects,
            opaque: false,
            never_returns: false,
            returns_deeper: false,
            releases_untold: self.releases_untold,
            used: self.used_parameters(),
            expected: self.expected_parameters(),
            sizes: self.sizes.iter().copied().collect(),
            calls_through: self.told_routes(),
        }
    }
}

/// Copies terms into a summary's pool.
struct Exporter<'e, 'a> {
    exec: &'e mut Exec<'a>,
    pool: Vec<Expr>,
    memo: FxHashMap<Term, Ref>,
    objects: Vec<NewObject>,
    object_index: FxHashMap<ObjectId, u32>,
    numbers: u32,
    /// Objects whose cells are still to be exported.
    work: Vec<ObjectId>,
    /// Objects that callers are told about.
    followed: FxHashSet<ObjectId>,
}

impl Exporter<'_, '_> {
    fn is_followed(&self, id: ObjectId) -> bool {
        self.followed.contains(&id)
    }

    fn external_effects(&mut self, state: &State) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut numbers: FxHashMap<Base, usize> = FxHashMap::default();
        for (&(base, slot), &value) in &state.mem {
            let kind = self.exec.kind(base);
            let external = match kind {
                BaseKind::Global(_) | BaseKind::Pointee => true,
                BaseKind::Errno => self.exec.is_chosen_number(value),
                _ => false,
            };
            let told = slot != Slot::Last && value != Terms::FALSE;
            if !external || !self.exec.is_nameable(base) || !told {
                continue;
            }
            let value = self.exec.pruned(state, value);
            if slot.is_contents() && self.is_unchanged(state, base, slot, value) {
                continue;
            }
            if slot == Slot::Escaped && !self.escape_matters(state, base, value) {
                continue;
            }
            if slot.is_contents() && self.exec.terms.bits(value) < 64 {
                let count = numbers.entry(base).or_default();
                *count += 1;
                let depth =
                    self.exec.terms.as_pointee(base).and_then(|p| self.exec.pointer_depth(p));
                if *count > MAX_NUMBERS || depth.unwrap_or(0) > MAX_NUMBER_DEPTH {
                    continue;
                }
            }
            self.effect(state, base, slot, value, &mut effects);
        }
        effects
    }

    fn is_unchanged(&mut self, state: &State, base: Base, slot: Slot, value: Term) -> bool {
        let bits = self.exec.terms.bits(value);
        !state.mem.contains_key(&(base, Slot::Epoch))
            && self.exec.initial(state, base, slot, bits) == value
    }

    /// Only what the caller itself may own: what arguments lead to, and not through something
    /// that escapes as a whole.
    fn escape_matters(&self, state: &State, base: Base, escaped: Term) -> bool {
        let exec = &self.exec;
        let Some(pointer) = exec.terms.as_pointee(base) else { return false };
        match exec.holder_of(pointer) {
            None => true,
            Some(holder) => {
                let kept = state.fact(holder, Slot::Escaped);
                exec.kind(holder) == BaseKind::Pointee && kept != Terms::TRUE && kept != escaped
            }
        }
    }

    fn object_effects(&mut self, state: &State) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut done = FxHashSet::default();
        while let Some(id) = self.work.pop() {
            if !done.insert(id) {
                continue;
            }
            let base = self.exec.objects[id.0 as usize].base;
            for (slot, value) in self.told_cells(state, base) {
                if value != Terms::FALSE || slot == Slot::Live {
                    self.effect(state, base, slot, value, &mut effects);
                }
            }
        }
        effects
    }

    /// The cells of a new object that callers are told of: facts, owned objects, then the first
    /// others. When some are left out, unwritten ones are unknown rather than initial.
    fn told_cells(&mut self, state: &State, base: Base) -> Vec<(Slot, Term)> {
        let (mut told, mut rest) = (Vec::new(), Vec::new());
        for (slot, value) in state.cells_of(base).filter(|(slot, _)| *slot != Slot::Last) {
            let owned = self.exec.terms.has_addr(value) || self.exec.is_callers(value);
            let first = !slot.is_contents() || owned;
            if first { told.push((slot, value)) } else { rest.push((slot, value)) }
        }
        let epoch = state.mem.get(&(base, Slot::Epoch));
        let moved = epoch.is_some_and(|&epoch| !self.exec.copied_from(epoch).is_empty());
        let most = if moved { MAX_MOVED_CELLS } else { MAX_OBJECT_CELLS };
        if rest.len() > most {
            rest.truncate(MAX_OBJECT_CELLS);
            let unknown = self.exec.opaque(64, What::Unknown, "", Loc::default());
            told.retain(|(slot, _)| *slot != Slot::Epoch);
            told.push((Slot::Epoch, unknown));
        }
        told.extend(rest);
        told
    }

    fn effect(
        &mut self,
        state: &State,
        base: Base,
        slot: Slot,
        value: Term,
        effects: &mut Vec<Effect>,
    ) {
        let Some(root) = self.root(base) else { return };
        let only = self.exec.only_element(state, base, slot, value).map(|p| self.term(p));
        let value = match (slot, root) {
            (Slot::Epoch, Root::Object(_)) => self.exec.pruned(state, value),
            // Since when contents of others are unknown is of use to nobody else.
            (Slot::Epoch, _) if self.exec.copied_from(value).is_empty() => Terms::TRUE,
            _ => self.exec.pruned(state, value),
        };
        let value = self.term(value);
        let here = self.exec.place(self.exec.function.loc);
        let at = self.exec.written_at.get(&(base, slot)).copied().unwrap_or(here);
        effects.push(Effect { root, slot, value, only, at });
    }

    fn root(&mut self, base: Base) -> Option<Root> {
        Some(match self.exec.kind(base) {
            BaseKind::Heap(o) if self.is_followed(o) => Root::Object(self.object(o)),
            BaseKind::Heap(_) => return None,
            BaseKind::Global(g) => Root::Global(g),
            BaseKind::Func(f) => Root::Func(f),
            BaseKind::VarArgs => Root::VarArgs,
            BaseKind::Errno => Root::Errno,
            BaseKind::Pointee => {
                let pointer = self.exec.terms.as_pointee(base)?;
                Root::Pointee(self.term(pointer))
            }
            BaseKind::Slot(_) | BaseKind::Var(_) | BaseKind::Values => return None,
        })
    }

    fn object(&mut self, id: ObjectId) -> u32 {
        if let Some(&i) = self.object_index.get(&id) {
            return i;
        }
        let object = &self.exec.objects[id.0 as usize];
        let i = self.objects.len() as u32;
        self.objects.push(NewObject {
            family: object.family.clone(),
            trace: object.trace.clone(),
            assumed: object.assumed,
        });
        self.object_index.insert(id, i);
        self.work.push(id);
        i
    }

    fn push(&mut self, t: Term, expr: Expr) -> Ref {
        let r = Ref(self.pool.len() as u32);
        self.pool.push(expr);
        self.memo.insert(t, r);
        r
    }

    fn term(&mut self, t: Term) -> Ref {
        if let Some(&r) = self.memo.get(&t) {
            return r;
        }
        let node = self.exec.terms.node(t).clone();
        let expr = match node {
            Node::Bool(b) => Expr::Bool(b),
            Node::Int { bits, value } => Expr::Int { bits, value },
            Node::Sym(s) => return self.symbol(t, s),
            Node::Addr { base, offset } => match self.root(base) {
                Some(root) => Expr::Addr { root, offset },
                None => return self.private(t),
            },
            Node::Elem { base, offset, stride, index, area } => match self.root(base) {
                Some(root) => {
                    let index = self.term(index);
                    Expr::Elem { root, offset, stride, index, area }
                }
                None => return self.private(t),
            },
            Node::Not(x) => Expr::Not(self.term(x)),
            Node::And(xs) => Expr::And(self.all(&xs)),
            Node::Or(xs) => Expr::Or(self.all(&xs)),
            Node::Ite { cond, then, otherwise } => {
                let cond = self.term(cond);
                let then = self.term(then);
                let otherwise = self.term(otherwise);
                Expr::Ite { cond, then, otherwise }
            }
            Node::Cmp { cmp, lhs, rhs } => {
                let (lhs, rhs) = (self.term(lhs), self.term(rhs));
                Expr::Cmp { cmp, lhs, rhs }
            }
            Node::Bin { op, lhs, rhs } => {
                let (lhs, rhs) = (self.term(lhs), self.term(rhs));
                Expr::Bin { op, lhs, rhs }
            }
            Node::Cast { cast, bits, value } => {
                let value = self.term(value);
                Expr::Cast { cast, bits, value }
            }
            Node::Any(xs) => Expr::Any(self.all(&xs)),
            Node::Tuple(xs) => Expr::Tuple(self.all(&xs)),
        };
        self.push(t, expr)
    }

    fn all(&mut self, xs: &[Term]) -> Box<[Ref]> {
        xs.iter().map(|&x| self.term(x)).collect()
    }

    fn symbol(&mut self, t: Term, s: Sym) -> Ref {
        let bits = self.exec.terms.bits(t);
        match self.exec.sym_kinds[s.0 as usize].clone() {
            SymKind::Arg(index) => self.push(t, Expr::Arg { index, bits }),
            // Which element it was is not told: another call may mean another one.
            SymKind::Init { slot: Slot::Every { .. }, .. } if bits < 64 => {
                let info = self.exec.terms.sym_info(s);
                let origin = self.unnamed(What::Loop);
                self.push_private(t, info, origin)
            }
            SymKind::Init { base, slot, epoch } if epoch == Terms::NULL => {
                let input = match self.exec.kind(base) {
                    BaseKind::Global(_) | BaseKind::VarArgs => true,
                    BaseKind::Pointee => self.exec.is_nameable(base),
                    _ => false,
                };
                if !input {
                    return self.private(t);
                }
                match self.root(base) {
                    Some(root) => self.push(t, Expr::Init { root, slot, bits }),
                    None => self.private(t),
                }
            }
            _ => self.private(t),
        }
    }

    /// A private symbol in the place of `t`.
    fn private(&mut self, t: Term) -> Ref {
        let terms = &self.exec.terms;
        let bits = terms.bits(t);
        let unnamed = self.unnamed(if bits == 1 { What::Inner } else { What::Unknown });
        let (info, origin) = match terms.node(t) {
            Node::Sym(s) => {
                let origin = match &self.exec.sym_kinds[s.0 as usize] {
                    SymKind::Opaque(o) => o.clone(),
                    _ => unnamed,
                };
                (terms.sym_info(*s), origin)
            }
            _ => (
                SymInfo { bits: bits.max(1), range: None, nonzero: false, outside: false },
                unnamed,
            ),
        };
        self.push_private(t, info, origin)
    }

    fn unnamed(&self, what: What) -> Origin {
        let name = self.exec.function.source_name.as_str().into();
        Origin { what, name, at: self.exec.place(Loc::default()) }
    }

    fn push_private(&mut self, t: Term, info: SymInfo, origin: Origin) -> Ref {
        let number = self.numbers;
        self.numbers += 1;
        let info =
            PrivateInfo { bits: info.bits, range: info.range, nonzero: info.nonzero, origin };
        self.push(t, Expr::Private { number, info })
    }
}
