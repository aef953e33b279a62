//! The engine: runs a function once, all paths merged, loops a few turns.
//!
//! In: the function, summaries of its callees. Out: the states at its exits, the heap objects it
//! met, and a log from which paths are told. Every block is executed once per turn of the loops
//! around it, with the join of all states that reach it.
//!
//! Loops: two full turns, the second with everything that the first changed by arithmetic made
//! unknown, then one turn of the loop's condition only, so that what follows the loop is reached
//! whatever its trip count.

use crate::cfg::{Cfg, Item, LoopId, MAX_WAYS, Tail};
use crate::context::Context;
use crate::state::{Cell, Cells, PathConditions, Pc, State, differences};
use crate::vocabulary::{BaseKind, Object, ObjectId, Origin, Place, Slot, SymKind, What};
use imbl::OrdMap;
use leakproof_guard::{Base, Cmp, Node, SymInfo, Term, Terms};
use leakproof_ir::{
    BlockId, Body, Entity, Function, Inst, InstId, InstKind, Loc, Module, Terminator, Ty, ValueId,
    ValueKind,
};
use leakproof_program::FuncRef;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// An edge on its way to a block.
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

/// An object that came in through a cell and was resized.
#[derive(Clone, Copy)]
pub struct Resized {
    pub pc: Pc,
    pub object: ObjectId,
    /// The cell that held it when the function was called.
    pub cell: Cell,
}

/// The function returned.
pub struct Exit {
    pub state: State,
    pub value: Option<Term>,
    pub loc: Loc,
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
    pub visits: Vec<Visit>,
    pub drops: Vec<Drop>,
    pub notes: Vec<Note>,
    pub exits: Vec<Exit>,
    /// Where each cell was last written, for blame.
    pub written_at: FxHashMap<Cell, Place>,
    /// (call or free instruction, base it released): a loop's second turn shows recursion.
    pub frees: Vec<(InstId, Base)>,
    /// Objects of others that were given to a resizing function: theirs to keep if it fails.
    pub resized: Vec<Resized>,
    /// Objects that were released as elements of an array.
    pub(crate) element_frees: Vec<Base>,
    /// Bases whose address was stored in memory.
    pub stored: FxHashSet<Base>,
    /// Bases released through a recursive call.
    pub recursive_frees: FxHashSet<Base>,
    /// Instructions executed.
    pub steps: u64,
    pub limit: Option<Limit>,
    /// Kept for those who have to judge releases.
    pub audit: Option<crate::audit::Audit>,
    env: Vec<Option<Term>>,
    def_loop: Vec<Option<LoopId>>,
    pending: FxHashMap<BlockId, Vec<Edge>>,
    pub(crate) bases: FxHashMap<BaseKind, Base>,
    pub(crate) inits: FxHashMap<(Base, Slot, Term, u16), Term>,
    current: BlockId,
    /// The back edges of the loop that runs now.
    back_edges: Vec<(BlockId, Edge)>,
    turns: u32,
    /// How many ways into a tail may still be kept apart, over all tails that are being run.
    ways: usize,
    way: Way,
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
            visits: Vec::new(),
            drops: Vec::new(),
            notes: Vec::new(),
            exits: Vec::new(),
            written_at: FxHashMap::default(),
            frees: Vec::new(),
            resized: Vec::new(),
            element_frees: Vec::new(),
            stored: FxHashSet::default(),
            recursive_frees: FxHashSet::default(),
            steps: 0,
            limit: None,
            audit: None,
            env: vec![None; function.values.len()],
            def_loop,
            pending: FxHashMap::default(),
            bases: FxHashMap::default(),
            inits: FxHashMap::default(),
            current: Body::ENTRY,
            back_edges: Vec::new(),
            turns,
            ways: MAX_WAYS,
            way: Way::default(),
            clock: 0,
        })
    }

    /// Runs the whole function.
    pub fn run(&mut self) {
        let state = State { pc: PathConditions::ROOT, mem: OrdMap::new() };
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

    fn run_loop(&mut self, l: LoopId) {
        let header = self.cfg.loops[l.0 as usize].header;
        let items = self.cfg.loops[l.0 as usize].items.clone();
        let counters = self.counting_phis(header);
        let before: FxHashMap<BlockId, usize> =
            self.pending.iter().map(|(b, edges)| (*b, edges.len())).collect();
        let released = self.element_frees.len();
        let mut turn = 0;
        loop {
            let Some(entry) = self.take_merged(header) else { break };
            let entered = entry.state.clone();
            let before_phis = entry.phis.clone();
            self.pending.entry(header).or_default().push(entry);
            let last = turn >= self.turns && !self.walks_own_objects(&before_phis, turn);
            if last {
                let prefix = self.condition_blocks(l);
                self.run_items(&items, Some(&prefix));
                self.take_back_edges(header);
                break;
            }
            self.run_items(&items, None);
            for mut edge in self.take_back_edges(header) {
                self.generalise(&entered, &before_phis, &counters, &mut edge);
                self.pending.entry(header).or_default().push(edge);
            }
            turn += 1;
        }
        self.release_elements(l, &before, released);
    }

    /// A loop that releases the elements of an array releases all that there are: when it takes
    /// no turn, there were none.
    fn release_elements(&mut self, l: LoopId, before: &FxHashMap<BlockId, usize>, released: usize) {
        let mut bases = self.element_frees[released..].to_vec();
        bases.sort_unstable();
        bases.dedup();
        for (b, edges) in &mut self.pending {
            let old = before.get(b).copied().unwrap_or(0);
            if bases.is_empty() || self.cfg.loops[l.0 as usize].blocks.contains(b) {
                continue;
            }
            for edge in edges.iter_mut().skip(old) {
                for &base in &bases {
                    edge.state.mem.insert((base, Slot::Freed), Terms::TRUE);
                }
            }
        }
    }

    fn take_back_edges(&mut self, header: BlockId) -> Vec<Edge> {
        let (mine, others) =
            std::mem::take(&mut self.back_edges).into_iter().partition(|(to, _)| *to == header);
        self.back_edges = others;
        let mine: Vec<(BlockId, Edge)> = mine;
        mine.into_iter().map(|(_, edge)| edge).collect()
    }

    /// Which of the header's phis get an arithmetic result from inside the loop: their constants
    /// are counters, not flags.
    fn counting_phis(&self, header: BlockId) -> Vec<bool> {
        let body = self.body;
        let is_arithmetic = |v: ValueId| match self.function.values[v].kind {
            ValueKind::Inst(i) => {
                matches!(body.insts[i].kind, InstKind::Bin { .. } | InstKind::Cast { .. })
            }
            _ => false,
        };
        let phis = body.blocks[header].insts.iter().filter_map(|&i| match &body.insts[i].kind {
            InstKind::Phi { incoming } => Some(
                incoming.iter().any(|&(p, v)| self.cfg.is_back_edge(p, header) && is_arithmetic(v)),
            ),
            _ => None,
        });
        phis.collect()
    }

    /// A loop over a structure that this function built itself is followed a little longer.
    fn walks_own_objects(&mut self, phis: &[Term], turn: u32) -> bool {
        turn < 5
            && self.turns > 1
            && phis.iter().any(|&t| {
                matches!(self.terms.node(t), Node::Addr { base, .. }
                    if matches!(self.kind(*base), BaseKind::Heap(_)))
            })
    }

    /// The header and what follows it without effect: the loop's condition.
    fn condition_blocks(&self, l: LoopId) -> FxHashSet<BlockId> {
        let lp = &self.cfg.loops[l.0 as usize];
        let mut set = FxHashSet::default();
        let mut work = vec![lp.header];
        while let Some(b) = work.pop() {
            if !lp.blocks.contains(&b) || !set.insert(b) {
                continue;
            }
            if self.body.blocks[b].insts.iter().all(|&i| is_pure(&self.body.insts[i].kind)) {
                work.extend(self.body.blocks[b].term.successors());
            }
        }
        set
    }

    /// Makes what a turn of the loop computed by arithmetic unknown.
    fn generalise(
        &mut self,
        before: &State,
        before_phis: &[Term],
        counters: &[bool],
        edge: &mut Edge,
    ) {
        let loc = edge.loc;
        for (i, t) in edge.phis.iter_mut().enumerate() {
            let old = before_phis.get(i).copied();
            if old == Some(*t) {
                continue;
            }
            let counts = counters.get(i) == Some(&true) && self.terms.as_int(*t).is_some();
            *t = if counts && old.is_some_and(|o| self.terms.as_int(o).is_some()) {
                self.counter_symbol(old, *t, loc)
            } else {
                self.forget_arithmetic(old, *t, loc)
            };
        }
        for (cell, old, new) in differences(before, &edge.state) {
            let kind = self.kind(cell.0);
            if matches!(kind, BaseKind::Var(_) | BaseKind::Values) {
                continue;
            }
            if let (true, Some(new)) = (cell.1.is_contents(), new) {
                let general = self.forget_arithmetic(old, new, loc);
                if general != new {
                    edge.state.mem.insert(cell, general);
                }
            }
        }
    }

    fn forget_arithmetic(&mut self, old: Option<Term>, t: Term, loc: Loc) -> Term {
        match *self.terms.node(t) {
            Node::Bin { lhs, rhs, .. } => self.loop_symbol(old, t, lhs, rhs, loc),
            Node::Cast { value, .. } => match *self.terms.node(value) {
                Node::Bin { .. } => {
                    let bits = self.terms.bits(t);
                    self.opaque(bits, What::Loop, "", loc)
                }
                _ => t,
            },
            Node::Int { bits, .. } if bits > 1 && self.is_counting(old, t) => {
                self.counter_symbol(old, t, loc)
            }
            Node::Ite { cond, then, otherwise } if self.terms.width(t) < 64 => {
                let a = self.forget_arithmetic(old, then, loc);
                let b = self.forget_arithmetic(old, otherwise, loc);
                self.terms.ite(cond, a, b)
            }
            Node::Addr { base, offset } => match old.map(|o| self.terms.node(o).clone()) {
                Some(Node::Addr { base: b0, offset: o0 }) if b0 == base && o0 != offset => {
                    let stride = (offset - o0).unsigned_abs().min(1 << 20) as u32;
                    let index = self.opaque(64, What::Loop, "", loc);
                    self.terms.elem(base, o0, stride, index)
                }
                _ if self.terms.as_pointee(base).is_some_and(|p| old == Some(p)) => {
                    let index = self.opaque(64, What::Loop, "", loc);
                    self.terms.elem(base, 0, offset.unsigned_abs().min(1 << 20) as u32, index)
                }
                _ => t,
            },
            _ => t,
        }
    }

    /// 1 then 2, 5 then 4: a counter in memory that started from a constant. 0 then 1 may as well
    /// be a flag; the next turn tells.
    fn is_counting(&self, old: Option<Term>, new: Term) -> bool {
        let old = old.and_then(|o| self.terms.as_signed(o));
        let new = self.terms.as_signed(new);
        matches!((old, new), (Some(a), Some(b))
            if a.abs_diff(b) == 1 && !(0..=1).contains(&a.min(b)) | (a.max(b) > 1))
    }

    fn counter_symbol(&mut self, old: Option<Term>, new: Term, loc: Loc) -> Term {
        let bits = self.terms.bits(new);
        let start = old.and_then(|o| self.terms.as_signed(o)).unwrap_or(0);
        let next = self.terms.as_signed(new).unwrap_or(0);
        let (lo, hi) = self.type_range(bits);
        let range = if next > start { (next, hi) } else { (lo, next) };
        self.symbol_in(bits, Some(range), What::Loop, "", loc)
    }

    fn loop_symbol(&mut self, old: Option<Term>, t: Term, lhs: Term, rhs: Term, loc: Loc) -> Term {
        let bits = self.terms.bits(t);
        let step = self.terms.as_signed(rhs).filter(|_| old == Some(lhs));
        let (lo, hi) = self.type_range(bits);
        let range = match (step, old) {
            (Some(s), Some(o)) => {
                let (start_lo, start_hi) = self.terms.range(o);
                if s > 0 {
                    Some((start_lo.saturating_add(s).min(hi), hi))
                } else {
                    Some((lo, start_hi.saturating_add(s).max(lo)))
                }
            }
            _ => None,
        };
        self.symbol_in(bits, range, What::Loop, "", loc)
    }

    fn type_range(&self, bits: u16) -> (i64, i64) {
        if bits >= 64 {
            (i64::MIN, i64::MAX)
        } else {
            (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1)
        }
    }

    // ---- joins -----------------------------------------------------------------------------

    /// All edges into `b` as one.
    fn take_merged(&mut self, b: BlockId) -> Option<Edge> {
        let edges = self.pending.remove(&b)?;
        self.merged_down_to(edges, 1).pop()
    }

    /// At most `count` edges: those whose paths parted last become one first.
    fn merged_down_to(&mut self, mut edges: Vec<Edge>, count: usize) -> Vec<Edge> {
        while edges.len() > count {
            let (i, j) = self.deepest_pair(&edges);
            let second = edges.remove(j);
            let first = edges.remove(i);
            let merged = self.merge(first, second);
            edges.insert(i, merged);
        }
        edges
    }

    /// The two edges whose paths parted last.
    fn deepest_pair(&self, edges: &[Edge]) -> (usize, usize) {
        let mut best = (0, 1, 0);
        // Looking at neighbours first keeps joins of large switches linear.
        let window = if edges.len() > 32 { 2 } else { edges.len() };
        for i in 0..edges.len() {
            for j in i + 1..edges.len().min(i + window) {
                let depth = self.pcs.depth_of_join(edges[i].state.pc, edges[j].state.pc);
                if depth > best.2 {
                    best = (i, j, depth);
                }
            }
        }
        (best.0, best.1)
    }

    fn merge(&mut self, a: Edge, b: Edge) -> Edge {
        let (state, chooser) = self.merge_states(&a.state, &b.state);
        let phis =
            a.phis.iter().zip(&b.phis).map(|(&x, &y)| self.terms.ite(chooser, x, y)).collect();
        let loc = if a.loc.is_known() { a.loc } else { b.loc };
        Edge { state, phis, loc, jump: a.jump && b.jump }
    }

    /// The join of two states, and the condition under which it was `a`.
    pub fn merge_states(&mut self, a: &State, b: &State) -> (State, Term) {
        let (pc, chooser) = self.pcs.join(&mut self.terms, a.pc, b.pc);
        let mem = self.chosen_cells(a, b, chooser);
        (State { pc, mem }, chooser)
    }

    /// What cells hold: as in `a` when `chooser` holds, else as in `b`.
    pub(crate) fn chosen_cells(&mut self, a: &State, b: &State, chooser: Term) -> Cells {
        let mut mem = a.mem.clone();
        let changed = differences(a, b);
        self.steps += changed.len() as u64;
        for (cell, left, right) in changed {
            let merged = match (left, right) {
                // An object that does not exist on the other side has no contents there.
                (Some(x), None) if self.is_absent(b, cell) => x,
                (None, Some(y)) if self.is_absent(a, cell) => y,
                _ if cell.1 == Slot::Epoch => {
                    let (x, y) = (left.unwrap_or(Terms::NULL), right.unwrap_or(Terms::NULL));
                    self.terms.choose(chooser, x, y)
                }
                (Some(x), Some(y)) => self.terms.ite(chooser, x, y),
                (Some(x), None) => match self.untouched(b, cell, x) {
                    Some(y) => self.terms.ite(chooser, x, y),
                    None => x,
                },
                (None, Some(y)) => match self.untouched(a, cell, y) {
                    Some(x) => self.terms.ite(chooser, x, y),
                    None => y,
                },
                (None, None) => continue,
            };
            mem.insert(cell, merged);
        }
        mem
    }

    /// Whether the cell belongs to a heap object that does not exist in `state`.
    fn is_absent(&self, state: &State, (base, slot): Cell) -> bool {
        (slot.is_contents() || slot == Slot::Epoch)
            && matches!(self.kind(base), BaseKind::Heap(_))
            && !state.mem.contains_key(&(base, Slot::Live))
    }

    /// What a cell holds that `state` never touched; `None` when it cannot matter there.
    fn untouched(&mut self, state: &State, cell: Cell, like: Term) -> Option<Term> {
        match (self.kind(cell.0), cell.1) {
            (BaseKind::Values, _) => None,
            (_, Slot::Epoch) => Some(Terms::NULL),
            (_, slot) if !slot.is_contents() => Some(Terms::FALSE),
            _ => {
                let bits = self.terms.bits(like);
                Some(self.initial(state, cell.0, cell.1, bits))
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
        }
        let seq = self.tick();
        self.visits.push(Visit { seq, block: b, pc: state.pc, cond: None });
        let visit = self.visits.len() - 1;
        for &i in &block.insts {
            self.steps += 1;
            if !self.run_inst(i, &mut state) {
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
                self.exits.push(Exit { state, value, loc });
            }
            // Leaks by exceptions are not reported: the unwinding path ends here.
            Terminator::Invoke { normal, .. } => self.follow(b, *normal, state, loc),
            Terminator::Indirect { targets } => {
                let unknown = self.opaque(32, What::Choice, "", loc);
                for (i, &to) in targets.iter().enumerate() {
                    let n = self.terms.int(32, i as u64);
                    let chosen = self.terms.eq(unknown, n);
                    self.follow_if(b, to, &state, chosen, loc);
                }
            }
            Terminator::Unreachable | Terminator::Resume => {}
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
                if let Some(t) = self.env[v.index()] {
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
        let info = SymInfo { bits, range: None, nonzero: false, outside: true };
        let sym = self.terms.new_sym(info);
        self.sym_kinds.push(SymKind::Arg(i));
        self.terms.sym(sym)
    }

    pub fn bits_of(&self, ty: Ty) -> u16 {
        match ty {
            Ty::Int(n) if n <= 64 => n.max(1),
            _ => 64,
        }
    }

    /// The base of this kind, made at first use.
    pub fn base(&mut self, kind: BaseKind) -> Base {
        if let Some(&b) = self.bases.get(&kind) {
            return b;
        }
        let fresh = matches!(kind, BaseKind::Slot(_) | BaseKind::Heap(_));
        let base = self.terms.new_distinct_base(fresh);
        self.base_kinds.resize(base.0 as usize, BaseKind::Pointee);
        self.base_kinds.push(kind);
        self.bases.insert(kind, base);
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
        let at = Place { func: self.me, loc };
        let origin = Origin { what, name: name.into(), at };
        self.symbol(SymInfo { bits, range, nonzero: false, outside: false }, origin)
    }

    pub fn symbol(&mut self, info: SymInfo, origin: Origin) -> Term {
        let sym = self.terms.new_sym(info);
        self.sym_kinds.push(SymKind::Opaque(origin));
        self.terms.sym(sym)
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

    fn add_object(&mut self, object: impl FnOnce(Base) -> Object) -> ObjectId {
        let id = ObjectId(self.objects.len() as u32);
        let base = self.base(BaseKind::Heap(id));
        self.objects.push(object(base));
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
