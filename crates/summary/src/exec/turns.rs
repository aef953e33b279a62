//! Loops: a few turns, and what they leave behind.
//!
//! Two full turns, the second with everything that the first changed by arithmetic made unknown,
//! then one turn of the condition only. So what follows the loop is reached whatever its trip
//! count, and values carried round it are symbols. In the second turn of a loop the loops inside it
//! take one: they had their two before, and the cost of nested loops stays a sum, not a product.
//! A loop around a release that is judged takes one turn more.

use super::progress::{MAX_TURNS, Progress};
use super::{Edge, Exec, is_pure};
use crate::cfg::LoopId;
use crate::memory::Leaves;
use crate::state::{State, differences};
use crate::vocabulary::{BaseKind, What};
use leakproof_guard::{Base, Node, Op, Term, signed_limits};
use leakproof_ir::{BinOp, BlockId, InstKind, Loc, ValueId, ValueKind};
use rustc_hash::FxHashSet;

/// A pointer goes no more steps than this: so many bytes have no object.
const MAX_STEPS: i64 = 1 << 40;

/// What is known of a loop when it begins another turn.
struct Again {
    /// How many ways out there were after the first turn.
    ways: usize,
    /// The last time.
    entry: Edge,
}

impl Exec<'_> {
    pub(super) fn run_loop(&mut self, l: LoopId) {
        let header = self.cfg.loops[l.0 as usize].header;
        let items = self.cfg.loops[l.0 as usize].items.clone();
        let counters = self.counting_phis(header);
        let mut begin = self.begin_loop();
        let volatile = self.volatile_loads(l);
        let (outer, mut turns) = (self.repeating, self.turns_of(l));
        let mut progress = Progress::new(self.may_take_more_turns(l), self.deciding_phis(header));
        let made_before = self.objects.len();
        let (mut turn, mut again, mut edges) = (0, None, Vec::new());
        loop {
            self.repeating = outer || turn > 0;
            let Some(entry) = self.take_merged(header) else { break };
            let entered = entry.state.clone();
            begin.turn(self.element_frees.len(), entered.pc);
            let before_phis = entry.phis.clone();
            if turn > 0 {
                let ways = again.take().map_or_else(|| self.ways_out_of(l), |a: Again| a.ways);
                again = Some(Again { ways, entry: entry.clone() });
            }
            self.pending.entry(header).or_default().push(entry);
            let last = turn >= turns && !self.walks_own_objects(&before_phis, turn);
            if last {
                let prefix = self.condition_blocks(l);
                self.run_items(&items, Some(&prefix));
                self.take_back_edges(header);
                break;
            }
            self.run_items(&items, None);
            edges = self.take_back_edges(header);
            if self.goes_on(&mut progress, &entered, &before_phis, &counters, &edges) {
                if self.takes_more_turns {
                    turns = turns.max(turn + 2).min(MAX_TURNS);
                }
                self.has_more_turns = true;
            }
            for mut edge in edges.clone() {
                self.generalise(&entered, &before_phis, &counters, &mut edge);
                self.change(&volatile, &mut edge);
                self.pending.entry(header).or_default().push(edge);
            }
            turn += 1;
        }
        if let Some(again) = again
            && self.limit.is_none()
            && self.ways_out_of(l) == again.ways
        {
            self.wait_for_others(l, again.entry);
            if self.ways_out_of(l) == again.ways {
                self.go_on_for_ever(l, made_before, edges);
            }
        }
        self.repeating = outer;
        self.release_elements(l, &begin);
    }

    /// Full turns of a loop. Where a release is judged, one more: what the second turn releases, the
    /// third may use, while a first turn often does not come to the release.
    fn turns_of(&self, l: LoopId) -> u32 {
        let judged = self.is_judged_in(&self.cfg.loops[l.0 as usize].blocks);
        match (self.repeating, judged) {
            (false, false) => self.turns,
            (false, true) => 3,
            (true, false) => 1,
            (true, true) => 2,
        }
    }

    pub(super) fn take_back_edges(&mut self, header: BlockId) -> Vec<Edge> {
        let (mine, others) =
            std::mem::take(&mut self.back_edges).into_iter().partition(|(to, _)| *to == header);
        self.back_edges = others;
        let mine: Vec<(BlockId, Edge)> = mine;
        mine.into_iter().map(|(_, edge)| edge).collect()
    }

    /// Which of the header's phis get an arithmetic result from inside the loop, in every turn or in some: their
    /// constants are counters, not flags.
    fn counting_phis(&self, header: BlockId) -> Vec<bool> {
        let body = self.body;
        let phis = body.blocks[header].insts.iter().filter_map(|&i| match &body.insts[i].kind {
            InstKind::Phi { incoming } => Some(incoming.iter().any(|&(p, v)| {
                self.cfg.is_back_edge(p, header)
                    && (self.is_arithmetic(v) || self.may_be_a_step_from(body.insts[i].result, v))
            })),
            _ => None,
        });
        phis.collect()
    }

    fn is_arithmetic(&self, v: ValueId) -> bool {
        matches!(self.kind_of(v), Some(InstKind::Bin { .. } | InstKind::Cast { .. }))
    }

    /// Whether a value is, on some way round the loop, what a phi of its header was plus or minus something.
    fn may_be_a_step_from(&self, phi: Option<ValueId>, v: ValueId) -> bool {
        let mut seen = FxHashSet::default();
        let mut work = vec![(v, false)];
        while let Some((v, stepped)) = work.pop() {
            if Some(v) == phi && stepped {
                return true;
            }
            if Some(v) == phi || !seen.insert((v, stepped)) {
                continue;
            }
            match self.kind_of(v) {
                Some(InstKind::Phi { incoming }) => {
                    work.extend(incoming.iter().map(|&(_, v)| (v, stepped)));
                }
                Some(InstKind::Select { then, otherwise, .. }) => {
                    work.extend([(*then, stepped), (*otherwise, stepped)]);
                }
                Some(InstKind::Cast { value, .. }) => work.push((*value, stepped)),
                Some(InstKind::Bin { op: BinOp::Add | BinOp::Sub, lhs, .. }) => {
                    work.push((*lhs, true))
                }
                _ => {}
            }
        }
        false
    }

    /// The instruction that computes a value.
    pub(crate) fn kind_of(&self, v: ValueId) -> Option<&InstKind> {
        match self.function.values[v].kind {
            ValueKind::Inst(i) => Some(&self.body.insts[i].kind),
            _ => None,
        }
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
            let counts = counters.get(i) == Some(&true);
            let start = old.filter(|&o| counts && self.terms.as_int(o).is_some());
            let stepped = old.filter(|&o| self.is_step_from(o, *t));
            *t = match start {
                Some(start) => self.counted_from(start, *t, loc),
                None => self.forget_arithmetic(old, *t, loc),
            };
            // Whoever counts on does not come back to where the turn began.
            if let Some(start) = stepped {
                let same = self.terms.eq(*t, start);
                let other = self.terms.not(same);
                edge.state.pc = self.pcs.know(&self.terms, edge.state.pc, other);
            }
        }
        for (cell, old, new) in differences(before, &edge.state) {
            let kind = self.kind(cell.0);
            if matches!(kind, BaseKind::Var(_) | BaseKind::Values) {
                continue;
            }
            if let (true, Some(new)) = (cell.1.is_contents(), new) {
                let number = |t: Term| self.terms.as_int(t).is_some();
                let counts = self.counted.contains(&cell) && number(new) && old.is_some_and(number);
                let general = if counts {
                    self.counter_symbol(old, new, loc)
                } else {
                    self.forget_arithmetic(old, new, loc)
                };
                if general != new {
                    edge.state.mem.insert(cell, general);
                }
            }
        }
    }

    /// Whether a value is another one plus or minus a constant.
    fn is_step_from(&self, start: Term, t: Term) -> bool {
        match *self.terms.node(t) {
            Node::Bin { op: Op::Add | Op::Sub, lhs, rhs } => {
                lhs == start && self.terms.as_int(rhs).is_some_and(|step| step != 0)
            }
            _ => false,
        }
    }

    /// What a counter that began with a constant is after some turns: where it moved, any number beyond.
    fn counted_from(&mut self, start: Term, t: Term, loc: Loc) -> Term {
        match *self.terms.node(t) {
            Node::Int { .. } if t != start => self.counter_symbol(Some(start), t, loc),
            Node::Ite { cond, then, otherwise } if self.terms.width(t) < 64 => {
                let a = self.counted_from(start, then, loc);
                let b = self.counted_from(start, otherwise, loc);
                self.terms.ite(cond, a, b)
            }
            _ => self.forget_arithmetic(Some(start), t, loc),
        }
    }

    fn forget_arithmetic(&mut self, old: Option<Term>, t: Term, loc: Loc) -> Term {
        match *self.terms.node(t) {
            Node::Bin { .. } if self.sets_bits(t) => t,
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
                    self.steps_from(base, o0, offset - o0, loc)
                }
                _ if self.terms.as_pointee(base).is_some_and(|p| old == Some(p)) => {
                    self.steps_from(base, 0, offset, loc)
                }
                _ => t,
            },
            _ => t,
        }
    }

    /// Whether a value is another one with some bits set and some cleared: doing that again changes nothing.
    fn sets_bits(&self, t: Term) -> bool {
        match *self.terms.node(t) {
            Node::Bin { op: Op::And | Op::Or, lhs, rhs } => {
                self.terms.as_int(rhs).is_some() && self.sets_bits(lhs)
            }
            Node::Bin { .. } => false,
            _ => true,
        }
    }

    /// A pointer that went some steps on from where it was, at least one.
    fn steps_from(&mut self, base: Base, start: i64, step: i64, loc: Loc) -> Term {
        let stride = step.unsigned_abs().min(1 << 20) as u32;
        let range = if step > 0 { (1, MAX_STEPS) } else { (-MAX_STEPS, -1) };
        let number = self.symbol_in(64, Some(range), What::Loop, "", loc);
        let stride_term = self.terms.int(64, u64::from(stride));
        let bytes = self.terms.bin(Op::Mul, number, stride_term);
        self.terms.elem(base, start, stride, bytes)
    }

    /// Whether a value is the result of arithmetic on something that was loaded.
    pub(crate) fn is_computed_from_memory(&self, v: ValueId) -> bool {
        let loaded = |v: &ValueId| matches!(self.kind_of(*v), Some(InstKind::Load { .. }));
        match self.kind_of(v) {
            Some(InstKind::Bin { lhs, rhs, .. }) => loaded(lhs) || loaded(rhs),
            _ => false,
        }
    }

    /// Remembers that the cell at `pointer` counts.
    pub(crate) fn note_counted(&mut self, state: &State, pointer: Term) {
        if let Some([leaf]) = self.leaves(state, pointer).as_deref()
            && let Leaves::Cell(base, slot) = leaf.target
        {
            self.counted.insert((base, slot));
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
        let (lo, hi) = signed_limits(bits);
        let range = if next > start { (next, hi) } else { (lo, next) };
        self.symbol_in(bits, Some(range), What::Loop, "", loc)
    }

    fn loop_symbol(&mut self, old: Option<Term>, t: Term, lhs: Term, rhs: Term, loc: Loc) -> Term {
        let bits = self.terms.bits(t);
        let carried = old.is_some_and(|o| o == lhs || self.terms.alternatives(o).contains(&lhs));
        let step = self.terms.as_signed(rhs).filter(|_| carried);
        let (lo, hi) = signed_limits(bits);
        let range = step.map(|s| {
            let (start_lo, start_hi) = self.terms.range(lhs);
            if s > 0 {
                (start_lo.saturating_add(s).min(hi), hi)
            } else {
                (lo, start_hi.saturating_add(s).max(lo))
            }
        });
        self.symbol_in(bits, range, What::Loop, "", loc)
    }
}
