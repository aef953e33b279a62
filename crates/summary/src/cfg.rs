//! Control-flow structure of a body: reverse postorder, loop nest, values that leave loops.
//!
//! Loops are natural loops of back edges to a dominating header. A retreating edge whose target
//! does not dominate its source (irreducible flow) is `cut`: it is never followed.

use leakproof_ir::{BlockId, Body, Entity, Function, InstKind, ValueId, ValueKind};
use rustc_hash::FxHashSet;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopId(pub u32);

/// A step of a region, in execution order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    Block(BlockId),
    Loop(LoopId),
}

#[derive(Debug)]
pub struct Loop {
    pub header: BlockId,
    pub parent: Option<LoopId>,
    pub blocks: FxHashSet<BlockId>,
    /// Its own blocks and child loops in reverse postorder; the header comes first.
    pub items: Vec<Item>,
    /// Values defined inside and used outside.
    pub live_out: Vec<ValueId>,
}

/// The way out of a function from a block on: no loops, few instructions.
#[derive(Clone, Debug)]
pub struct Tail {
    /// In execution order, the block itself first.
    pub blocks: Vec<BlockId>,
    /// How many ways in are kept apart.
    pub ways: usize,
}

/// Instructions run for one tail, over all ways in.
const TAIL_STEPS: usize = 600;
/// Ways into a tail that are kept apart at most, and at least: a longer one is no tail.
pub const MAX_WAYS: usize = 24;
const MIN_WAYS: usize = 10;

#[derive(Debug)]
pub struct Cfg {
    pub loops: Vec<Loop>,
    pub items: Vec<Item>,
    /// Innermost loop of each block.
    pub loop_of: Vec<Option<LoopId>>,
    /// Position in reverse postorder; `u32::MAX` for unreachable blocks.
    pub position: Vec<u32>,
    idom: Vec<Option<BlockId>>,
    tails: Vec<Option<Tail>>,
}

impl Cfg {
    pub fn new(function: &Function, body: &Body) -> Self {
        let order = reverse_postorder(body);
        let mut position = vec![u32::MAX; body.blocks.len()];
        for (i, b) in order.iter().enumerate() {
            position[b.index()] = i as u32;
        }
        let preds = predecessors(body, &position);
        let idom = dominators(&order, &position, &preds);
        let mut cfg = Self {
            loops: Vec::new(),
            items: Vec::new(),
            loop_of: vec![None; body.blocks.len()],
            position,
            idom,
            tails: vec![None; body.blocks.len()],
        };
        cfg.find_loops(body, &order, &preds);
        cfg.list_items(&order);
        cfg.find_live_out(function, body);
        cfg.find_tails(body, &order, &preds);
        cfg
    }

    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let mut at = b;
        loop {
            if at == a {
                return true;
            }
            match self.idom[at.index()] {
                Some(d) if d != at && self.position[at.index()] > self.position[a.index()] => {
                    at = d;
                }
                _ => return false,
            }
        }
    }

    /// The way out that starts at a join.
    pub fn tail_of(&self, b: BlockId) -> Option<&Tail> {
        self.tails[b.index()].as_ref()
    }

    fn find_tails(&mut self, body: &Body, order: &[BlockId], preds: &[Vec<BlockId>]) {
        for &b in order {
            let joins = preds[b.index()].len() > 1;
            if joins && self.loop_of[b.index()].is_none() {
                self.tails[b.index()] = self.tail(body, b);
            }
        }
    }

    fn tail(&self, body: &Body, start: BlockId) -> Option<Tail> {
        let mut blocks = vec![start];
        let mut steps = 0;
        let mut next = 0;
        while next < blocks.len() {
            let b = blocks[next];
            next += 1;
            steps += body.blocks[b].insts.iter().map(|&i| cost(&body.insts[i].kind)).sum::<usize>();
            if self.loop_of[b.index()].is_some() || steps * MIN_WAYS > TAIL_STEPS {
                return None;
            }
            for to in body.blocks[b].term.successors() {
                if !blocks.contains(&to) {
                    blocks.push(to);
                }
            }
        }
        blocks.sort_unstable_by_key(|b| self.position[b.index()]);
        Some(Tail { blocks, ways: (TAIL_STEPS / steps.max(1)).min(MAX_WAYS) })
    }

    /// An edge that goes up without reaching a dominating header.
    pub fn is_cut(&self, from: BlockId, to: BlockId) -> bool {
        self.position[to.index()] <= self.position[from.index()] && !self.dominates(to, from)
    }

    pub fn is_back_edge(&self, from: BlockId, to: BlockId) -> bool {
        self.position[to.index()] <= self.position[from.index()] && self.dominates(to, from)
    }

    /// Whether `inner` is `outer` or nested in it.
    pub fn is_inside(&self, inner: Option<LoopId>, outer: LoopId) -> bool {
        let mut at = inner;
        while let Some(l) = at {
            if l == outer {
                return true;
            }
            at = self.loops[l.0 as usize].parent;
        }
        false
    }

    pub fn depth(&self, b: BlockId) -> u32 {
        let mut depth = 0;
        let mut at = self.loop_of[b.index()];
        while let Some(l) = at {
            depth += 1;
            at = self.loops[l.0 as usize].parent;
        }
        depth
    }

    fn find_loops(&mut self, body: &Body, order: &[BlockId], preds: &[Vec<BlockId>]) {
        // Inner headers come later in reverse postorder: going backwards, inner loops are found
        // first, and an outer loop adopts those that have no parent yet.
        for &header in order.iter().rev() {
            let latches: Vec<BlockId> = preds[header.index()]
                .iter()
                .copied()
                .filter(|&p| self.is_back_edge(p, header))
                .collect();
            if latches.is_empty() {
                continue;
            }
            let blocks = natural_loop(header, &latches, preds);
            let id = LoopId(self.loops.len() as u32);
            for &b in &blocks {
                match self.loop_of[b.index()] {
                    None => self.loop_of[b.index()] = Some(id),
                    Some(inner) => self.adopt(inner, id),
                }
            }
            self.loops.push(Loop {
                header,
                parent: None,
                blocks,
                items: Vec::new(),
                live_out: Vec::new(),
            });
        }
        debug_assert_eq!(self.loop_of.len(), body.blocks.len());
    }

    /// Makes `parent` the parent of the outermost loop above `inner` that has none.
    fn adopt(&mut self, inner: LoopId, parent: LoopId) {
        let mut at = inner;
        while let Some(p) = self.loops[at.0 as usize].parent {
            if p == parent {
                return;
            }
            at = p;
        }
        self.loops[at.0 as usize].parent = Some(parent);
    }

    fn list_items(&mut self, order: &[BlockId]) {
        for &b in order {
            let Some(l) = self.loop_of[b.index()] else {
                self.items.push(Item::Block(b));
                continue;
            };
            if self.loops[l.0 as usize].header == b {
                match self.loops[l.0 as usize].parent {
                    Some(p) => self.loops[p.0 as usize].items.push(Item::Loop(l)),
                    None => self.items.push(Item::Loop(l)),
                }
            }
            self.loops[l.0 as usize].items.push(Item::Block(b));
        }
    }

    fn find_live_out(&mut self, function: &Function, body: &Body) {
        let mut def_loop = vec![None; function.values.len()];
        for (b, block) in body.blocks.iter() {
            for &i in &block.insts {
                if let Some(v) = body.insts[i].result {
                    def_loop[v.index()] = self.loop_of[b.index()];
                }
            }
        }
        let mut seen = FxHashSet::default();
        for_each_use(function, body, |b, v| {
            let here = self.loop_of[b.index()];
            let mut at = def_loop[v.index()];
            while let Some(l) = at {
                if self.is_inside(here, l) {
                    break;
                }
                if seen.insert((l.0, v)) {
                    self.loops[l.0 as usize].live_out.push(v);
                }
                at = self.loops[l.0 as usize].parent;
            }
        });
    }
}

/// Calls `f` with every use of an instruction's result and the block where it is read: a phi
/// reads its operands at the end of the incoming blocks.
fn for_each_use(function: &Function, body: &Body, mut f: impl FnMut(BlockId, ValueId)) {
    let is_inst = |v: ValueId| matches!(function.values[v].kind, ValueKind::Inst(_));
    let mut report = |b, v| {
        if is_inst(v) {
            f(b, v);
        }
    };
    for (b, block) in body.blocks.iter() {
        for &i in &block.insts {
            match &body.insts[i].kind {
                InstKind::Phi { incoming } => incoming.iter().for_each(|&(p, v)| report(p, v)),
                kind => kind.for_each_operand(|v| report(b, v)),
            }
        }
        for_each_term_operand(&block.term, |v| report(b, v));
    }
}

/// Values that a terminator reads.
pub fn for_each_term_operand(term: &leakproof_ir::Terminator, mut f: impl FnMut(ValueId)) {
    use leakproof_ir::Terminator as T;
    match term {
        T::Branch { cond: v, .. } | T::Switch { value: v, .. } | T::Return(Some(v)) => f(*v),
        _ => {}
    }
}

fn reverse_postorder(body: &Body) -> Vec<BlockId> {
    let mut state = vec![0u8; body.blocks.len()];
    let mut order = Vec::with_capacity(body.blocks.len());
    let mut stack = vec![(Body::ENTRY, 0usize)];
    state[0] = 1;
    while let Some((b, next)) = stack.pop() {
        let successors = body.blocks[b].term.successors();
        if let Some(&s) = successors.get(next) {
            stack.push((b, next + 1));
            if state[s.index()] == 0 {
                state[s.index()] = 1;
                stack.push((s, 0));
            }
        } else {
            order.push(b);
        }
    }
    order.reverse();
    order
}

fn predecessors(body: &Body, position: &[u32]) -> Vec<Vec<BlockId>> {
    let mut preds = vec![Vec::new(); body.blocks.len()];
    for (b, block) in body.blocks.iter() {
        if position[b.index()] == u32::MAX {
            continue;
        }
        for s in block.term.successors() {
            if preds[s.index()].last() != Some(&b) {
                preds[s.index()].push(b);
            }
        }
    }
    preds
}

/// Immediate dominators by the iterative algorithm of Cooper, Harvey and Kennedy.
fn dominators(order: &[BlockId], position: &[u32], preds: &[Vec<BlockId>]) -> Vec<Option<BlockId>> {
    let mut idom: Vec<Option<BlockId>> = vec![None; preds.len()];
    let entry = order[0];
    idom[entry.index()] = Some(entry);
    let mut changed = true;
    while changed {
        changed = false;
        for &b in &order[1..] {
            let mut new: Option<BlockId> = None;
            for &p in &preds[b.index()] {
                if idom[p.index()].is_some() {
                    new = Some(match new {
                        None => p,
                        Some(n) => intersect(&idom, position, n, p),
                    });
                }
            }
            if new.is_some() && idom[b.index()] != new {
                idom[b.index()] = new;
                changed = true;
            }
        }
    }
    idom
}

fn intersect(
    idom: &[Option<BlockId>],
    position: &[u32],
    mut a: BlockId,
    mut b: BlockId,
) -> BlockId {
    while a != b {
        while position[a.index()] > position[b.index()] {
            a = idom[a.index()].unwrap_or(a);
        }
        while position[b.index()] > position[a.index()] {
            b = idom[b.index()].unwrap_or(b);
        }
    }
    a
}

fn natural_loop(
    header: BlockId,
    latches: &[BlockId],
    preds: &[Vec<BlockId>],
) -> FxHashSet<BlockId> {
    let mut blocks = FxHashSet::default();
    blocks.insert(header);
    let mut work = latches.to_vec();
    while let Some(b) = work.pop() {
        if blocks.insert(b) {
            work.extend(preds[b.index()].iter().copied());
        }
    }
    blocks
}

/// How much of a tail's steps an instruction takes: calls apply whole summaries.
fn cost(kind: &InstKind) -> usize {
    if matches!(kind, InstKind::Call { .. }) { 8 } else { 1 }
}
