//! A log for whoever has to judge a release: every release, access and call of one run, each with
//! the state it happened in.
//!
//! Kept only when asked for (`Exec::audit`): a state is a persistent map, so an entry is cheap, but
//! most runs need none. Entries are in the order of `seq`; what they mean is decided elsewhere.

mod exits;

use crate::cfg::for_each_term_operand;
use crate::exec::Exec;
use crate::memory::Leaves;
use crate::state::State;
use crate::vocabulary::{BaseKind, Place, Slot};
use leakproof_guard::{Base, Term, Terms};
use leakproof_ir::{BlockId, Callee, InstId, InstKind, ValueId};
use leakproof_models::{Effect, Model, Root};
use leakproof_program::Target;
use rustc_hash::{FxHashMap, FxHashSet};

/// How many dereferences away from an argument a callee is taken to look.
const REACH: u32 = 6;
/// How far away from its arguments a callee is taken to release something.
const RELEASE_REACH: u32 = 12;

#[derive(Default)]
pub struct Audit {
    pub releases: Vec<Release>,
    pub touches: Vec<Touch>,
    /// Edges between blocks that were followed, and when last.
    ways: FxHashMap<(BlockId, BlockId), u32>,
    /// Instructions that may be judged.
    judged: FxHashSet<InstId>,
}

impl Audit {
    /// A log for the judgement of these instructions: the loops around them are followed so far that
    /// what one turn releases and another one uses is in it, whichever turn that is.
    pub fn of(judged: FxHashSet<InstId>) -> Audit {
        Audit { judged, ..Audit::default() }
    }
}

/// An object is released: by the library, or by a function that this one calls.
pub struct Release {
    pub seq: u32,
    pub inst: InstId,
    pub at: Place,
    /// Where the release itself stands, when a callee does it.
    pub origin: Place,
    /// Before the release.
    pub state: State,
    pub pointer: Term,
    pub cond: Term,
}

/// Memory is used.
pub struct Touch {
    pub seq: u32,
    pub inst: InstId,
    pub at: Place,
    pub state: State,
    pub kind: TouchKind,
    /// A call may release something of which its summary does not speak.
    pub releases: bool,
    /// The pointers through which it is used.
    pub pointers: Vec<Term>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TouchKind {
    /// Through exactly these pointers.
    Access,
    /// A function of the library gets them: it sees what they lead to.
    Library,
    /// A function of the program gets them: it also sees what others can see.
    Function,
    /// Not all functions that may be called here are known.
    Unknown,
}

impl Exec<'_> {
    pub(crate) fn log_release(
        &mut self,
        state: &State,
        pointer: Term,
        cond: Term,
        inst: InstId,
        at: Place,
    ) {
        if self.audit.is_some() {
            let (seq, state) = (self.tick(), state.clone());
            let release = Release { seq, inst, at, origin: at, state, pointer, cond };
            if let Some(audit) = &mut self.audit {
                audit.releases.push(release);
            }
        }
    }

    /// Whether one of some blocks has an instruction that may be judged.
    pub(crate) fn is_judged_in(&self, blocks: &FxHashSet<BlockId>) -> bool {
        let judged = |audit: &Audit| {
            let insts = blocks.iter().flat_map(|b| &self.body.blocks[*b].insts);
            insts.into_iter().any(|i| audit.judged.contains(i))
        };
        self.audit.as_ref().is_some_and(|a| !a.judged.is_empty() && judged(a))
    }

    pub(crate) fn log_way(&mut self, from: BlockId, to: BlockId) {
        if self.audit.is_none() {
            return;
        }
        let seq = self.tick();
        if let Some(audit) = &mut self.audit {
            audit.ways.insert((from, to), seq);
        }
    }

    pub(crate) fn releases_logged(&self) -> usize {
        self.audit.as_ref().map_or(0, |a| a.releases.len())
    }

    /// Releases logged since then are those of a callee, at this place.
    pub(crate) fn set_origin(&mut self, since: usize, origin: Place) {
        let log = self.audit.iter_mut().flat_map(|a| a.releases.iter_mut().skip(since));
        log.for_each(|r| r.origin = origin);
    }

    /// Logs what the instruction is about to use.
    pub(crate) fn log_touch(&mut self, id: InstId, state: &State) {
        if self.audit.is_none() {
            return;
        }
        let body = self.body;
        let inst = &body.insts[id];
        let (kind, values) = match &inst.kind {
            InstKind::Load { ptr, .. }
            | InstKind::Store { ptr, .. }
            | InstKind::AtomicRmw { ptr, .. }
            | InstKind::CmpXchg { ptr, .. } => (TouchKind::Access, vec![*ptr]),
            InstKind::MemSet { dst, .. } => (TouchKind::Access, vec![*dst]),
            InstKind::MemCopy { dst, src, .. } => (TouchKind::Access, vec![*dst, *src]),
            InstKind::Call { callee, args, .. } => {
                let (kind, released) = self.kind_of_call(id, *callee);
                let seen = args.iter().enumerate().filter(|(n, _)| !released.contains(n));
                (kind, seen.map(|(_, v)| *v).collect())
            }
            _ => return,
        };
        let pointers: Vec<Term> = values.into_iter().map(|v| self.value(state, v)).collect();
        let pointers = pointers.into_iter().filter(|&t| self.terms.bits(t) == 64).collect();
        self.push_touch(id, state, kind, pointers);
        let parts = self.pointers_read_in_part(id, state);
        if !parts.is_empty() {
            self.push_touch(id, state, TouchKind::Unknown, parts);
        }
    }

    fn push_touch(&mut self, id: InstId, state: &State, kind: TouchKind, pointers: Vec<Term>) {
        let releases = kind == TouchKind::Function && self.releases_out_of_sight(id);
        let at = self.place(self.body.insts[id].loc);
        let (seq, state) = (self.tick(), state.clone());
        let touch = Touch { seq, inst: id, at, state, kind, releases, pointers };
        if let Some(audit) = &mut self.audit {
            audit.touches.push(touch);
        }
    }

    /// Whether a function that a call may call releases something that its summary does not name.
    fn releases_out_of_sight(&self, id: InstId) -> bool {
        let targets = self.ctx.calls.targets(self.me, id);
        targets.list.iter().any(|target| match target {
            Target::Defined(f) => {
                (self.ctx.summary_of)(self.me, *f).is_some_and(|s| s.releases_untold)
            }
            Target::External(_) => false,
        })
    }

    /// Pointers of which an instruction reads some bytes as a number: who has all parts has the
    /// pointer, and where they go is not followed.
    fn pointers_read_in_part(&mut self, id: InstId, state: &State) -> Vec<Term> {
        let inst = &self.body.insts[id];
        let (InstKind::Load { ptr, .. }, Some(result)) = (&inst.kind, inst.result) else {
            return Vec::new();
        };
        if self.bits_of(self.function.values[result].ty) >= 64 {
            return Vec::new();
        }
        let address = self.value(state, *ptr);
        let leaves = self.leaves(state, address).unwrap_or_default();
        let at = leaves.into_iter().filter_map(|leaf| match leaf.target {
            Leaves::Cell(base, Slot::At(offset)) => Some((base, offset)),
            _ => None,
        });
        let around = |(base, offset): (Base, i64)| {
            let cells = state.contents_of(base).filter(move |(slot, _)| match slot {
                Slot::At(start) => (*start..start + 8).contains(&offset),
                _ => false,
            });
            cells.map(|(_, value)| value).collect::<Vec<Term>>()
        };
        let values: Vec<Term> = at.flat_map(around).collect();
        let is_pointer = |t: &Term| self.terms.bits(*t) == 64 && self.terms.has_addr(*t);
        let parts: Vec<Term> = values.into_iter().filter(is_pointer).collect();
        // Bytes that nobody takes go nowhere.
        if parts.is_empty() || !self.is_taken(result) { Vec::new() } else { parts }
    }

    /// Whether an instruction or the end of a block has a value as its operand.
    fn is_taken(&self, value: ValueId) -> bool {
        let mut taken = false;
        for inst in self.body.insts.values() {
            inst.kind.for_each_operand(|v| taken |= v == value);
        }
        for block in self.body.blocks.values() {
            for_each_term_operand(&block.term, |v| taken |= v == value);
        }
        taken
    }

    /// The bases that a call may release without saying so: what its arguments lead to, and what
    /// others can see; what an argument itself points to is told.
    pub fn released_out_of_sight(&mut self, touch: &Touch) -> Vec<(Base, Term)> {
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        let mut starts = self.seen_by_others(&touch.state);
        for &pointer in &touch.pointers {
            for (base, when) in self.targets(&touch.state, pointer) {
                let contents = touch.state.contents_of(base).map(|(_, value)| (value, when));
                starts.extend(contents.filter(|(t, _)| self.terms.has_addr(*t)));
            }
        }
        for (value, when) in starts {
            self.reach(&touch.state, value, when, RELEASE_REACH, &mut seen, &mut found);
        }
        found
    }

    /// Whom a call may call, and the arguments that it only releases.
    fn kind_of_call(&self, id: InstId, callee: Callee) -> (TouchKind, Vec<usize>) {
        let target = match callee {
            Callee::Direct(f) => self.ctx.program.resolve(self.me.module, f),
            Callee::Indirect(_) => {
                let targets = self.ctx.calls.targets(self.me, id);
                let known = targets.complete && !targets.fallback;
                let kind = if known { TouchKind::Function } else { TouchKind::Unknown };
                return (kind, Vec::new());
            }
            Callee::Asm => return (TouchKind::Unknown, Vec::new()),
        };
        let (Target::Defined(f) | Target::External(f)) = target;
        match (self.ctx.models.get(&self.ctx.program.function(f).name), target) {
            (Some(model), _) => (TouchKind::Library, released_arguments(model)),
            (None, Target::Defined(_)) => (TouchKind::Function, Vec::new()),
            (None, Target::External(_)) => (TouchKind::Unknown, Vec::new()),
        }
    }

    /// The bases that a touch may use, each with the condition under which it does.
    pub fn touched(&mut self, touch: &Touch) -> Vec<(Base, Term)> {
        let mut found = Vec::new();
        let depth = if touch.kind == TouchKind::Access { 0 } else { REACH };
        let mut seen = FxHashSet::default();
        for &pointer in &touch.pointers {
            self.reach(&touch.state, pointer, Terms::TRUE, depth, &mut seen, &mut found);
        }
        if matches!(touch.kind, TouchKind::Function | TouchKind::Unknown) {
            for (value, when) in self.seen_by_others(&touch.state) {
                self.reach(&touch.state, value, when, REACH, &mut seen, &mut found);
            }
        }
        found
    }

    /// Values in memory that code outside this function can read.
    pub fn seen_by_others(&mut self, state: &State) -> Vec<(Term, Term)> {
        let mut list = Vec::new();
        for (&(base, slot), &value) in state.mem.iter() {
            if !slot.is_contents() || !self.terms.has_addr(value) {
                continue;
            }
            let when = match self.kind(base) {
                BaseKind::Global(_) | BaseKind::VarArgs => Terms::TRUE,
                BaseKind::Pointee => {
                    let freed = state.fact(base, Slot::Freed);
                    self.terms.not(freed)
                }
                BaseKind::Slot(_) | BaseKind::Heap(_) => state.fact(base, Slot::Escaped),
                _ => Terms::FALSE,
            };
            if when != Terms::FALSE {
                list.push((value, when));
            }
        }
        list
    }

    /// The bases that `pointer` leads to over at most `depth` dereferences.
    pub fn reach(
        &mut self,
        state: &State,
        pointer: Term,
        when: Term,
        depth: u32,
        seen: &mut FxHashSet<(Base, Term)>,
        found: &mut Vec<(Base, Term)>,
    ) {
        for (base, leaf) in self.targets(state, pointer) {
            let when = self.terms.and2(when, leaf);
            if when == Terms::FALSE || !seen.insert((base, when)) {
                continue;
            }
            found.push((base, when));
            if depth == 0 {
                continue;
            }
            let inner: Vec<Term> = state.contents_of(base).map(|(_, t)| t).collect();
            for t in inner {
                if self.terms.has_addr(t) {
                    self.reach(state, t, when, depth - 1, seen, found);
                }
            }
        }
    }
}

/// Arguments that a library function releases without looking at them.
fn released_arguments(model: &Model) -> Vec<usize> {
    let effects = model.outcomes.iter().flat_map(|o| &o.effects);
    let released = effects.filter_map(|e| match e {
        Effect::Free { place, .. } if place.derefs.is_empty() => match place.root {
            Root::Arg(n) => Some(n),
            _ => None,
        },
        _ => None,
    });
    released.collect()
}
