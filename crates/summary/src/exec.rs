//! The engine: runs a function once, all paths merged, loops a few turns.
//!
//! In: the function, summaries of its callees. Out: the states at its exits, the heap objects it
//! met, and a log from which paths are told. Every block is executed once per turn of the loops
//! around it, with the join of all states that reach it.

mod elements;
mod endless;
mod inline;
mod join;
mod progress;
mod throw;
mod turns;

pub use inline::Inlining;

use crate::atoms::Favours;
use crate::cfg::{Cfg, Item, LoopId, MAX_WAYS, Tail};
use crate::context::Context;
use crate::deciding::Deciding;
use crate::dispatch::{BoundCallee, Route};
use crate::export::StepsTo;
use crate::memory::Bases;
use crate::planted::{Planted, PlantedElement, PlantedIn};
use crate::repeated::Outcomes;
use crate::same::Question;
use crate::state::{Cell, PathConditions, Pc, State};
use crate::summary::Summary;
use crate::vocabulary::{BaseKind, Object, ObjectId, Origin, Place, Site, Slot, SymKind, What};
pub(crate) use elements::ElementFree;
pub use endless::Endless;
pub(crate) use endless::reads_memory;
use imbl::OrdMap;
use inline::is_local;
use leakproof_guard::{Base, Cmp, Sym, SymInfo, Term, Terms, Units};
use leakproof_ir::{
    BlockId, Body, Entity, Function, Inst, InstId, InstKind, Loc, Module, Terminator, Ty, ValueId,
    ValueKind,
};
use leakproof_program::FuncRef;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// An edge on its way to a block.
#[derive(Clone)]
struct Edge {
    state: State,
    /// Terms of the target's phis.
    phis: Vec<Term>,
    /// Position of the jump.
    loc: Loc,
    /// The jump is unconditional: into a return block, it is a `return` statement.
    jump: bool,
}

/// What was created on the ways through a tail.
#[derive(Default)]
struct Way {
    /// By call, and how many objects the call had created before on the same way.
    objects: FxHashMap<(InstId, u32), ObjectId>,
    calls: FxHashMap<InstId, u32>,
}

/// A block was run.
pub struct Visit {
    /// Position in the order of everything that happened.
    pub seq: u32,
    pub block: BlockId,
    pub pc: Pc,
    /// The condition its terminator branched on.
    pub cond: Option<Term>,
}

/// A reference went away: an overwritten variable or cell, or a freed owner.
pub struct Drop {
    pub seq: u32,
    pub pc: Pc,
    /// On the paths of `pc`, the condition under which it happened.
    pub when: Term,
    pub at: Place,
    /// What the place held before.
    pub old: Term,
    pub holder: Cell,
    pub kind: DropKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropKind {
    Overwritten,
    OwnerFreed,
}

/// Something that happened to objects, for the path a reader sees.
pub struct Note {
    pub seq: u32,
    pub pc: Pc,
    pub at: Place,
    pub kind: NoteKind,
    /// The value concerned.
    pub value: Term,
    /// The function called.
    pub name: Arc<str>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoteKind {
    Allocated,
    PassedTo,
}

/// An address was stored in memory.
#[derive(Clone, Copy)]
pub struct Stored {
    pub pc: Pc,
    /// The value that names it.
    pub value: Term,
    /// Where it was stored.
    pub to: Term,
}

/// A call or free instruction released a base.
#[derive(Clone, Copy)]
pub struct Free {
    pub inst: InstId,
    pub base: Base,
    /// How many instructions had been executed: another turn of a loop has another number.
    pub(crate) step: u64,
}

/// An object that came in through a cell and was resized.
#[derive(Clone, Copy)]
pub struct Resized {
    pub pc: Pc,
    pub object: ObjectId,
    /// The cell that held it when the function was called.
    pub cell: Cell,
}

/// An end of the function.
pub struct Exit {
    pub state: State,
    pub value: Option<Term>,
    pub loc: Loc,
    pub kind: ExitKind,
}

/// How a function ends.
pub enum ExitKind {
    Returned,
    Thrown,
    /// Not at all: this is where another turn of a loop without a way out begins.
    Endless(Endless),
}

impl Exit {
    pub fn is_thrown(&self) -> bool {
        matches!(self.kind, ExitKind::Thrown)
    }

    /// What is known of the loop that goes on here.
    pub fn endless(&self) -> Option<&Endless> {
        match &self.kind {
            ExitKind::Endless(endless) => Some(endless),
            _ => None,
        }
    }
}

/// Why an analysis stopped early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    Steps,
    Terms,
}

/// One function under analysis.
pub struct Exec<'a> {
    pub ctx: &'a Context<'a>,
    pub me: FuncRef,
    pub module: &'a Module,
    pub function: &'a Function,
    pub body: &'a Body,
    pub cfg: Cfg,
    pub terms: Terms,
    pub pcs: PathConditions,
    pub base_kinds: Vec<BaseKind>,
    pub sym_kinds: Vec<SymKind>,
    pub objects: Vec<Object>,
    /// For the objects that calls made: how many symbols there were before. Pointers from then are others.
    pub(crate) born: FxHashMap<Base, u32>,
    pub visits: Vec<Visit>,
    pub drops: Vec<Drop>,
    pub notes: Vec<Note>,
    pub exits: Vec<Exit>,
    /// Where each cell was first written, and so lost what callers had there.
    pub written_at: FxHashMap<Cell, Place>,
    /// Results of large makers that one object stands for each.
    pub(crate) united: FxHashSet<Base>,
    /// Under which condition what others own had been released when a pointer was stored in one of its cells: it had not.
    pub(crate) alive_at_store: FxHashMap<Cell, Term>,
    /// What was released, by which call: a loop's second turn shows recursion.
    pub frees: Vec<Free>,
    /// Objects of others that were given to a resizing function: theirs to keep if it fails.
    pub resized: Vec<Resized>,
    /// Objects that were released as elements of an array.
    pub(crate) element_frees: Vec<ElementFree>,
    /// Bases whose address was stored in memory.
    pub stored: FxHashMap<Base, Vec<Stored>>,
    /// Values that are compared with null.
    pub(crate) null_tested: FxHashSet<ValueId>,
    /// Cells that were given a number computed from what they held.
    pub(crate) counted: FxHashSet<Cell>,
    /// Bases that hold more than characters.
    pub(crate) wide: FxHashSet<Base>,
    /// Bases of which some element was written: others have no cells for elements in any state.
    pub(crate) arrays: FxHashSet<Base>,
    /// How far bases are from the function's inputs, as far as somebody asked.
    pub(crate) steps_to: RefCell<Vec<StepsTo>>,
    /// Bases released through a recursive call.
    pub recursive_frees: FxHashSet<Base>,
    /// What functions of the library answered to questions that may come again.
    pub(crate) answers: FxHashMap<Question, Term>,
    /// Objects that nobody is seen to make.
    pub planted: Vec<Planted>,
    pub(crate) planted_in: Vec<PlantedIn>,
    pub(crate) planted_elements: Vec<PlantedElement>,
    /// The planted objects that are nodes of lists, and which of them stores took off.
    pub(crate) nodes: Vec<ObjectId>,
    pub(crate) cuts: Vec<(Pc, Term)>,
    /// Objects that calls took out of the memory of others.
    pub(crate) taken: Vec<ObjectId>,
    /// What an earlier call of the function did.
    pub before: Option<Arc<Summary>>,
    /// Objects of that call: so many are the first.
    pub(crate) objects_before: usize,
    /// Conditions with what is out of sight taken as met.
    pub(crate) favours: Favours,
    /// The same for conditions about objects, by the condition under which they exist: asked only when all calls
    /// were run.
    pub(crate) favoured: FxHashMap<(ObjectId, Term, Term), Term>,
    /// For the symbol of an outcome whose conditions were cut: symbols before this one were there
    /// before the call.
    pub(crate) known_before: FxHashMap<Sym, u32>,
    /// Which functions were called that release which bases.
    pub(crate) released_by: FxHashSet<(Base, FuncRef)>,
    /// What the symbols for outcomes of calls stand for.
    pub(crate) outcomes: Outcomes,
    /// In which conditions they are.
    pub(crate) deciding: Deciding,
    /// The bases in terms that were asked for before.
    pub(crate) bases_in: FxHashMap<Term, Bases>,
    /// Choices without what a path rules out.
    pub(crate) prunings: FxHashMap<(Pc, Term), Term>,
    /// The values that some instruction reads, once somebody asked.
    pub(crate) used: Option<FxHashSet<ValueId>>,
    /// Room for questions about paths, of which there are many.
    pub(crate) units: Units,
    /// The state in which the call that runs now is left by an exception.
    pub(crate) thrown: Option<State>,
    /// Where exceptions came from.
    pub(crate) throw_sites: Vec<Loc>,
    /// The calls whose callees run where they are called, the outermost first; and how many there were so far.
    inlined_at: Vec<Site>,
    pub inlined: u32,
    /// Instructions executed.
    pub steps: u64,
    pub limit: Option<Limit>,
    /// Kept for those who have to judge releases.
    pub audit: Option<crate::audit::Audit>,
    /// Something was released that callers cannot be told of.
    pub(crate) releases_untold: bool,
    /// Parameters that callees expect not to be null, and so this function, too.
    pub(crate) expected: BTreeSet<u32>,
    /// Parameters that are sizes of what the library is asked for.
    pub(crate) sizes: BTreeSet<u32>,
    /// Routes to pointers that it calls through and does not know.
    pub(crate) called_through: BTreeSet<Route>,
    /// Callees that acted by their summaries for functions that they were given.
    pub bound_to: BTreeSet<BoundCallee>,
    pub(crate) bound_calls: u32,
    env: Vec<Option<Term>>,
    def_loop: Vec<Option<LoopId>>,
    pending: FxHashMap<BlockId, Vec<Edge>>,
    pub(crate) bases: FxHashMap<BaseKind, Base>,
    /// The variables of the function that runs.
    pub(crate) locals: FxHashMap<BaseKind, Base>,
    pub(crate) inits: FxHashMap<(Base, Slot, Term, u16), Term>,
    /// Numbers in elements of arrays, by the symbol for all of them and the pointer.
    pub(crate) elements: FxHashMap<(Term, Term), Term>,
    pub(crate) current: BlockId,
    /// The back edges of the loop that runs now.
    back_edges: Vec<(BlockId, Edge)>,
    turns: u32,
    /// Loops take turns as long as they come to something new; otherwise only that they do is noted.
    pub takes_more_turns: bool,
    pub has_more_turns: bool,
    /// Inside a loop that had its first turn.
    repeating: bool,
    /// How many ways into a tail may still be kept apart, over all tails that are being run.
    ways: usize,
    way: Way,
    /// What calls created, in the order of the calls.
    pub(crate) created: Vec<ObjectId>,
    clock: u32,
}

impl<'a> Exec<'a> {
    pub fn new(ctx: &'a Context<'a>, me: FuncRef) -> Option<Self> {
        let module = ctx.program.module(me.module);
        let function = ctx.program.function(me);
        let body = function.body.as_ref()?;
        let cfg = Cfg::new(function, body);
        let mut def_loop = vec![None; function.values.len()];
        for (b, block) in body.blocks.iter() {
            for &i in &block.insts {
                if let Some(v) = body.insts[i].result {
                    def_loop[v.index()] = cfg.loop_of[b.index()];
                }
            }
        }
        let turns = if estimated_cost(&cfg, body) > ctx.budget.cheap_steps { 1 } else { 2 };
        Some(Self {
            ctx,
            me,
            module,
            function,
            body,
            cfg,
            terms: Terms::new(),
            pcs: PathConditions::new(),
            base_kinds: Vec::new(),
            sym_kinds: Vec::new(),
            objects: Vec::new(),
            born: FxHashMap::default(),
            visits: Vec::new(),
            drops: Vec::new(),
            notes: Vec::new(),
            exits: Vec::new(),
            written_at: FxHashMap::default(),
            frees: Vec::new(),
            resized: Vec::new(),
            united: FxHashSet::default(),
            alive_at_store: FxHashMap::default(),
            element_frees: Vec::new(),
            stored: FxHashMap::default(),
            null_tested: compared_with_null(function, body),
            counted: FxHashSet::default(),
            wide: FxHashSet::default(),
            arrays: FxHashSet::default(),
            steps_to: RefCell::default(),
            recursive_frees: FxHashSet::default(),
            answers: FxHashMap::default(),
            planted: Vec::new(),
            planted_in: Vec::new(),
            planted_elements: Vec::new(),
            nodes: Vec::new(),
            cuts: Vec::new(),
            taken: Vec::new(),
            before: None,
            objects_before: 0,
            favours: Favours::default(),
            favoured: FxHashMap::default(),
            known_before: FxHashMap::default(),
            released_by: FxHashSet::default(),
            outcomes: Outcomes::default(),
            deciding: Deciding::default(),
            bases_in: FxHashMap::default(),
            prunings: FxHashMap::default(),
            used: None,
            units: Units::default(),
            thrown: None,
            throw_sites: Vec::new(),
            inlined_at: Vec::new(),
            inlined: 0,
            steps: 0,
            limit: None,
            audit: None,
            releases_untold: false,
            expected: BTreeSet::new(),
            sizes: BTreeSet::new(),
            called_through: BTreeSet::new(),
            bound_to: BTreeSet::new(),
            bound_calls: 0,
            env: vec![None; function.values.len()],
            def_loop,
            pending: FxHashMap::default(),
            bases: FxHashMap::default(),
            locals: FxHashMap::default(),
            inits: FxHashMap::default(),
            elements: FxHashMap::default(),
            current: Body::ENTRY,
            back_edges: Vec::new(),
            turns,
            takes_more_turns: false,
            has_more_turns: false,
            repeating: false,
            ways: MAX_WAYS,
            way: Way::default(),
            created: Vec::new(),
            clock: 0,
        })
    }

    /// Runs the whole function.
    pub fn run(&mut self) {
        let mut state = State { pc: PathConditions::ROOT, mem: OrdMap::new() };
        for param in &self.function.params {
            self.plant_in(&mut state, param.value);
        }
        self.call_before(&mut state);
        self.run_from(state);
    }

    /// Runs the function from its entry.
    fn run_from(&mut self, state: State) {
        let entry = Edge { state, phis: Vec::new(), loc: Loc::default(), jump: false };
        self.pending.entry(Body::ENTRY).or_default().push(entry);
        let items = self.cfg.items.clone();
        self.run_items(&items, None);
    }

    fn run_items(&mut self, items: &[Item], only: Option<&FxHashSet<BlockId>>) {
        for item in items {
            if self.limit.is_some() {
                return;
            }
            match *item {
                Item::Block(b) if only.is_none_or(|set| set.contains(&b)) => self.run_block(b),
                Item::Block(b) => drop(self.pending.remove(&b)),
                Item::Loop(l) if only.is_none() => self.run_loop(l),
                Item::Loop(l) => {
                    let header = self.cfg.loops[l.0 as usize].header;
                    self.pending.remove(&header);
                }
            }
        }
    }

    // ---- blocks ----------------------------------------------------------------------------

    fn run_block(&mut self, b: BlockId) {
        match self.cfg.tail_of(b) {
            Some(tail) => self.run_tail(b, &tail.clone()),
            None => self.run_merged(b),
        }
    }

    fn run_merged(&mut self, b: BlockId) {
        if let Some(edge) = self.take_merged(b) {
            self.run_edge(b, edge);
        }
    }

    /// The way out of the function is run once per way in: each `return` statement is an exit of
    /// its own, and what a cleanup label releases stays related to why it was reached.
    fn run_tail(&mut self, b: BlockId, tail: &Tail) {
        let edges = self.pending.remove(&b).unwrap_or_default();
        let edges = self.merged_down_to(edges, tail.ways.min(self.ways));
        let ways = self.ways;
        if ways == MAX_WAYS {
            self.way = Way::default();
        }
        self.ways = (ways / edges.len().max(1)).clamp(1, MAX_WAYS - 1);
        let calls = self.way.calls.clone();
        let others: Vec<(BlockId, Vec<Edge>)> =
            tail.blocks[1..].iter().filter_map(|&t| Some((t, self.pending.remove(&t)?))).collect();
        for edge in edges {
            self.way.calls.clone_from(&calls);
            self.run_edge(b, edge);
            for &t in &tail.blocks[1..] {
                if self.limit.is_none() {
                    self.run_block(t);
                }
            }
        }
        self.ways = ways;
        self.pending.extend(others);
    }

    /// A block that only returns: where it was left from is the exit's position.
    fn is_plain_return(&self, b: BlockId) -> bool {
        let block = &self.body.blocks[b];
        matches!(block.term, Terminator::Return(_))
            && self.cfg.loop_of[b.index()].is_none()
            && block.insts.iter().all(|&i| is_pure(&self.body.insts[i].kind))
    }

    fn run_edge(&mut self, b: BlockId, edge: Edge) {
        self.current = b;
        let mut state = edge.state;
        let block = &self.body.blocks[b];
        let phis = block.insts.iter().filter_map(|&i| phi_result(&self.body.insts[i]));
        for (result, term) in phis.zip(edge.phis) {
            self.env[result.index()] = Some(term);
            self.plant_in(&mut state, result);
        }
        let seq = self.tick();
        self.visits.push(Visit { seq, block: b, pc: state.pc, cond: None });
        let visit = self.visits.len() - 1;
        for &i in &block.insts {
            self.steps += 1;
            let goes_on = self.run_inst(i, &mut state);
            if let Some(thrown) = self.thrown.take() {
                self.unwind(b, i, thrown);
            }
            if let Some(result) = self.body.insts[i].result {
                self.plant_in(&mut state, result);
            }
            if !goes_on {
                return;
            }
        }
        self.check_limits();
        if self.limit.is_none() {
            let way_in = if edge.jump { edge.loc } else { Loc::default() };
            self.run_terminator(b, state, way_in, visit);
        }
    }

    fn check_limits(&mut self) {
        if self.steps > self.ctx.budget.steps {
            self.limit = Some(Limit::Steps);
        } else if self.terms.len() as u64 > self.ctx.budget.terms {
            self.limit = Some(Limit::Terms);
        }
    }

    fn run_terminator(&mut self, b: BlockId, state: State, way_in: Loc, visit: usize) {
        let block = &self.body.blocks[b];
        let loc = block.term_loc;
        match &block.term {
            Terminator::Jump(to) => self.follow(b, *to, state, loc),
            Terminator::Branch { cond, then, otherwise } => {
                let c = self.value(&state, *cond);
                self.visits[visit].cond = Some(c);
                let not_c = self.terms.not(c);
                self.follow_if(b, *then, &state, c, loc);
                self.follow_if(b, *otherwise, &state, not_c, loc);
            }
            Terminator::Switch { value, cases, default } => {
                let v = self.value(&state, *value);
                self.visits[visit].cond = Some(v);
                self.run_switch(b, &state, v, cases, *default, loc);
            }
            Terminator::Return(value) => {
                let value = value.map(|v| self.value(&state, v));
                let loc = if way_in.is_known() && self.is_plain_return(b) { way_in } else { loc };
                self.exits.push(Exit { state, value, loc, kind: ExitKind::Returned });
            }
            // Where the call throws, `run_edge` follows the other edge.
            Terminator::Invoke { normal, .. } => self.follow(b, *normal, state, loc),
            Terminator::Indirect { targets } => {
                let unknown = self.opaque(32, What::Choice, "", loc);
                for (i, &to) in targets.iter().enumerate() {
                    let n = self.terms.int(32, i as u64);
                    let chosen = self.terms.eq(unknown, n);
                    self.follow_if(b, to, &state, chosen, loc);
                }
            }
            Terminator::Resume => self.leave_by_exception(state, loc),
            Terminator::Unreachable => {}
        }
    }

    fn run_switch(
        &mut self,
        b: BlockId,
        state: &State,
        v: Term,
        cases: &[(u64, BlockId)],
        default: BlockId,
        loc: Loc,
    ) {
        let bits = self.terms.bits(v);
        let mut by_target: Vec<(BlockId, Vec<Term>)> = Vec::new();
        let mut position: FxHashMap<BlockId, usize> = FxHashMap::default();
        let mut none = Vec::new();
        for &(case, to) in cases {
            let c = self.terms.int(bits, case);
            let hit = self.terms.eq(v, c);
            none.push(self.terms.not(hit));
            let at = *position.entry(to).or_insert_with(|| {
                by_target.push((to, Vec::new()));
                by_target.len() - 1
            });
            by_target[at].1.push(hit);
        }
        let mut otherwise = if none.len() > 64 {
            self.opaque(1, What::Choice, "", loc)
        } else {
            self.terms.and(none)
        };
        for (to, hits) in by_target {
            let mut cond = self.terms.or(hits);
            if to == default {
                cond = self.terms.or2(cond, otherwise);
                otherwise = Terms::FALSE;
            }
            self.follow_if(b, to, state, cond, loc);
        }
        self.follow_if(b, default, state, otherwise, loc);
    }

    fn follow_if(&mut self, from: BlockId, to: BlockId, state: &State, cond: Term, loc: Loc) {
        if let Some(pc) = self.pcs.extend(&mut self.terms, state.pc, cond) {
            let taken = State { pc, mem: state.mem.clone() };
            self.follow(from, to, taken, loc);
        }
    }

    fn follow(&mut self, from: BlockId, to: BlockId, mut state: State, loc: Loc) {
        if self.cfg.is_cut(from, to) {
            return;
        }
        self.log_way(from, to);
        let phis = self.phi_terms(from, to, &state);
        self.save_live_out(from, to, &mut state);
        let jump = matches!(self.body.blocks[from].term, Terminator::Jump(_));
        let edge = Edge { state, phis, loc, jump };
        if self.cfg.is_back_edge(from, to) {
            self.back_edges.push((to, edge));
        } else {
            self.pending.entry(to).or_default().push(edge);
        }
    }

    fn phi_terms(&mut self, from: BlockId, to: BlockId, state: &State) -> Vec<Term> {
        let body = self.body;
        let mut list = Vec::new();
        for &i in &body.blocks[to].insts {
            if let InstKind::Phi { incoming } = &body.insts[i].kind {
                let value = incoming.iter().find(|(p, _)| *p == from).map(|(_, v)| *v);
                list.push(match value {
                    Some(v) => self.value(state, v),
                    None => self.opaque(64, What::Unknown, "", body.insts[i].loc),
                });
            }
        }
        list
    }

    /// Keeps values that are used after their loop in the state of the edge that leaves it.
    fn save_live_out(&mut self, from: BlockId, to: BlockId, state: &mut State) {
        let target = self.cfg.loop_of[to.index()];
        let mut at = self.cfg.loop_of[from.index()];
        while let Some(l) = at {
            if self.cfg.is_inside(target, l) {
                break;
            }
            let values = self.base(BaseKind::Values);
            for v in self.cfg.loops[l.0 as usize].live_out.clone() {
                // What an inner loop left behind is in the state since then.
                let here = self.def_loop[v.index()]
                    .is_none_or(|d| self.cfg.is_inside(self.cfg.loop_of[from.index()], d));
                if let Some(t) = self.env[v.index()].filter(|_| here) {
                    state.mem.insert((values, Slot::At(i64::from(v.0))), t);
                }
            }
            at = self.cfg.loops[l.0 as usize].parent;
        }
    }

    // ---- values ----------------------------------------------------------------------------

    pub fn define(&mut self, v: ValueId, t: Term) {
        self.env[v.index()] = Some(t);
    }

    /// The term of an SSA value in `state`.
    pub fn value(&mut self, state: &State, v: ValueId) -> Term {
        if let Some(l) = self.def_loop[v.index()]
            && !self.cfg.is_inside(self.cfg.loop_of[self.current.index()], l)
        {
            let values = self.base(BaseKind::Values);
            if let Some(&t) = state.mem.get(&(values, Slot::At(i64::from(v.0)))) {
                return t;
            }
        }
        if let Some(t) = self.env[v.index()] {
            return t;
        }
        let t = self.constant(v);
        self.env[v.index()] = Some(t);
        t
    }

    fn constant(&mut self, v: ValueId) -> Term {
        let value = self.function.values[v];
        let bits = self.bits_of(value.ty);
        match value.kind {
            ValueKind::Int(n) => self.terms.int(bits, n),
            ValueKind::Null => self.terms.int(bits, 0),
            ValueKind::Global(g, offset) => {
                let global = self.ctx.program.resolve_global(self.me.module, g);
                let base = self.base(BaseKind::Global(global));
                self.terms.addr(base, offset)
            }
            ValueKind::Function(f) => {
                let base = self.function_base(f);
                self.terms.addr(base, 0)
            }
            ValueKind::Param(i) => self.argument(i, bits),
            ValueKind::Inst(_) | ValueKind::Undef => self.unknown_value(value.ty),
        }
    }

    fn unknown_value(&mut self, ty: Ty) -> Term {
        match ty {
            Ty::Tuple(n) => {
                let items = (0..n).map(|_| self.opaque(64, What::Unknown, "", Loc::default()));
                let items = items.collect();
                self.terms.tuple(items)
            }
            _ => self.opaque(self.bits_of(ty), What::Unknown, "", Loc::default()),
        }
    }

    pub fn function_base(&mut self, f: leakproof_ir::FuncId) -> Base {
        use leakproof_program::Target;
        let (Target::Defined(r) | Target::External(r)) =
            self.ctx.program.resolve(self.me.module, f);
        self.base(BaseKind::Func(r))
    }

    fn argument(&mut self, i: u32, bits: u16) -> Term {
        if let Some(function) = self.bound_argument(i) {
            return function;
        }
        let nonzero = self.ctx.never_null.contains(self.me, i);
        let info = SymInfo { bits, range: None, nonzero, outside: true };
        self.add_symbol(info, SymKind::Arg(i))
    }

    pub fn bits_of(&self, ty: Ty) -> u16 {
        match ty {
            Ty::Int(n) if n <= 64 => n.max(1),
            _ => 64,
        }
    }

    /// The base of this kind, made at first use.
    pub fn base(&mut self, kind: BaseKind) -> Base {
        let known = if is_local(kind) { &self.locals } else { &self.bases };
        if let Some(&b) = known.get(&kind) {
            return b;
        }
        let fresh = matches!(kind, BaseKind::Slot(_) | BaseKind::Heap(_));
        let base = self.terms.new_distinct_base(fresh);
        self.base_kinds.resize(base.0 as usize, BaseKind::Pointee);
        self.base_kinds.push(kind);
        let known = if is_local(kind) { &mut self.locals } else { &mut self.bases };
        known.insert(kind, base);
        base
    }

    pub fn kind(&self, base: Base) -> BaseKind {
        self.base_kinds.get(base.0 as usize).copied().unwrap_or(BaseKind::Pointee)
    }

    /// The base that a pointer term (not an address) points to.
    pub fn pointee(&mut self, pointer: Term) -> Base {
        let base = self.terms.pointee(pointer);
        if self.base_kinds.len() <= base.0 as usize {
            self.base_kinds.resize(base.0 as usize + 1, BaseKind::Pointee);
        }
        base
    }

    /// A new symbol about which nothing is known.
    pub fn opaque(&mut self, bits: u16, what: What, name: &str, loc: Loc) -> Term {
        self.symbol_in(bits, None, what, name, loc)
    }

    pub fn symbol_in(
        &mut self,
        bits: u16,
        range: Option<(i64, i64)>,
        what: What,
        name: &str,
        loc: Loc,
    ) -> Term {
        let origin = self.origin(what, name, loc);
        self.symbol(SymInfo { bits, range, nonzero: false, outside: false }, origin)
    }

    pub fn origin(&self, what: What, name: &str, loc: Loc) -> Origin {
        Origin { what, name: name.into(), at: self.place(loc) }
    }

    pub fn symbol(&mut self, info: SymInfo, origin: Origin) -> Term {
        self.add_symbol(info, SymKind::Opaque(origin))
    }

    /// The next position in the order of events.
    pub fn tick(&mut self) -> u32 {
        self.clock += 1;
        self.clock
    }

    pub fn place(&self, loc: Loc) -> Place {
        Place { func: self.me, loc }
    }

    /// The object that a call creates. Ways out of the function that are run one after the other
    /// exclude each other: what the same call creates on each of them is one object.
    pub fn new_object(&mut self, call: InstId, object: impl FnOnce(Base) -> Object) -> ObjectId {
        let symbols = self.sym_kinds.len() as u32;
        let id = self.object_of_call(call, object);
        self.born.entry(self.objects[id.0 as usize].base).or_insert(symbols);
        self.created.push(id);
        id
    }

    fn object_of_call(&mut self, call: InstId, object: impl FnOnce(Base) -> Object) -> ObjectId {
        if self.ways == MAX_WAYS {
            return self.add_object(object);
        }
        let nth = self.way.calls.entry(call).or_default();
        let key = (call, *nth);
        *nth += 1;
        if let Some(&id) = self.way.objects.get(&key) {
            return id;
        }
        let id = self.add_object(object);
        self.way.objects.insert(key, id);
        id
    }

    pub(crate) fn add_object(&mut self, object: impl FnOnce(Base) -> Object) -> ObjectId {
        let id = ObjectId(self.objects.len() as u32);
        let base = self.base(BaseKind::Heap(id));
        let mut object = object(base);
        if !self.inlined_at.is_empty() {
            object.trace = self.inlined_at.iter().chain(object.trace.iter()).cloned().collect();
        }
        self.objects.push(object);
        id
    }

    /// A comparison in the IR's vocabulary.
    pub fn compare(&mut self, pred: leakproof_ir::Pred, a: Term, b: Term) -> Term {
        use leakproof_ir::Pred as P;
        let (cmp, swap, negate) = match pred {
            P::Eq => (Cmp::Eq, false, false),
            P::Ne => (Cmp::Eq, false, true),
            P::ULt => (Cmp::ULt, false, false),
            P::ULe => (Cmp::ULe, false, false),
            P::UGt => (Cmp::ULt, true, false),
            P::UGe => (Cmp::ULe, true, false),
            P::SLt => (Cmp::SLt, false, false),
            P::SLe => (Cmp::SLe, false, false),
            P::SGt => (Cmp::SLt, true, false),
            P::SGe => (Cmp::SLe, true, false),
        };
        let t = if swap { self.terms.cmp(cmp, b, a) } else { self.terms.cmp(cmp, a, b) };
        if negate { self.terms.not(t) } else { t }
    }
}

fn phi_result(inst: &Inst) -> Option<ValueId> {
    matches!(inst.kind, InstKind::Phi { .. }).then_some(inst.result).flatten()
}

/// Instructions that change nothing but their own result.
fn is_pure(kind: &InstKind) -> bool {
    matches!(
        kind,
        InstKind::Load { .. }
            | InstKind::Offset { .. }
            | InstKind::Bin { .. }
            | InstKind::Cmp { .. }
            | InstKind::Cast { .. }
            | InstKind::Select { .. }
            | InstKind::Phi { .. }
            | InstKind::Extract { .. }
            | InstKind::Insert { .. }
            | InstKind::VarSet { .. }
            | InstKind::ScopeEnd { .. }
            | InstKind::Opaque { .. }
    )
}

fn estimated_cost(cfg: &Cfg, body: &Body) -> u64 {
    body.blocks.iter().map(|(b, block)| (block.insts.len() as u64) << cfg.depth(b).min(20)).sum()
}

fn compared_with_null(function: &Function, body: &Body) -> FxHashSet<ValueId> {
    let is_null = |v: ValueId| function.values[v].kind == ValueKind::Null;
    let tests = body.insts.iter().filter_map(|(_, inst)| match inst.kind {
        InstKind::Cmp { lhs, rhs, .. } if is_null(rhs) => Some(lhs),
        InstKind::Cmp { lhs, rhs, .. } if is_null(lhs) => Some(rhs),
        _ => None,
    });
    tests.collect()
}
