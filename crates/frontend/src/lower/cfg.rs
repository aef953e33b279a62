//! The control flow of one body: reachable blocks, predecessors, dominators and their frontiers.
//!
//! Dominators after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
//! Invariant: everything below speaks of reachable blocks only; the entry is block 0.

use crate::llvm::{Body, Op};

const NONE: u32 = u32::MAX;

/// Lists of blocks, one per block, in one vector.
#[derive(Debug, Default)]
pub struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// From (list, item) pairs; the items of a list keep their order.
    fn new(lists: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0u32; lists + 1];
        for (list, _) in pairs {
            starts[*list as usize + 1] += 1;
        }
        for index in 0..lists {
            starts[index + 1] += starts[index];
        }
        let mut fill = starts.clone();
        let mut items = vec![0; pairs.len()];
        for (list, item) in pairs {
            let at = &mut fill[*list as usize];
            items[*at as usize] = *item;
            *at += 1;
        }
        Self { starts, items }
    }

    pub fn of(&self, list: u32) -> &[u32] {
        let list = list as usize;
        &self.items[self.starts[list] as usize..self.starts[list + 1] as usize]
    }
}

#[derive(Debug, Default)]
pub struct Cfg {
    /// Reachable blocks in reverse post-order.
    pub order: Vec<u32>,
    /// Position in `order`, `NONE` when not reachable.
    position: Vec<u32>,
    /// One entry per edge.
    pub succs: Lists,
    /// One entry per reachable predecessor block, however many edges it has.
    pub preds: Lists,
    /// Immediate dominator; the entry's is itself.
    idom: Vec<u32>,
    /// The blocks that a block immediately dominates.
    pub children: Lists,
    pub frontiers: Lists,
}

impl Cfg {
    pub fn new(body: &Body) -> Self {
        let count = body.blocks.len();
        let mut pairs = Vec::with_capacity(count * 2);
        for (block, range) in (0u32..).zip(&body.blocks) {
            if let Some(last) = range.of(&body.insts).last() {
                for_each_successor(body, last.op, |target| pairs.push((block, target)));
            }
        }
        let mut cfg = Self { succs: Lists::new(count, &pairs), ..Self::default() };
        cfg.number(count);
        pairs.retain(|(from, _)| cfg.is_reachable(*from));
        let mut reversed: Vec<_> = pairs.iter().map(|(from, to)| (*to, *from)).collect();
        reversed.sort_unstable();
        reversed.dedup();
        cfg.preds = Lists::new(count, &reversed);
        cfg.dominators(count);
        cfg.frontiers(count);
        cfg
    }

    pub fn is_reachable(&self, block: u32) -> bool {
        self.position.get(block as usize).is_some_and(|p| *p != NONE)
    }

    fn number(&mut self, count: usize) {
        self.position = vec![NONE; count];
        if count == 0 {
            return;
        }
        let mut stack = vec![(0u32, 0usize)];
        self.position[0] = 0;
        while let Some((block, next)) = stack.last_mut() {
            match self.succs.of(*block).get(*next) {
                Some(&succ) => {
                    *next += 1;
                    if self.position[succ as usize] == NONE {
                        self.position[succ as usize] = 0;
                        stack.push((succ, 0));
                    }
                }
                None => {
                    self.order.push(*block);
                    stack.pop();
                }
            }
        }
        self.order.reverse();
        for (position, block) in (0u32..).zip(&self.order) {
            self.position[*block as usize] = position;
        }
    }

    fn dominators(&mut self, count: usize) {
        self.idom = vec![NONE; count];
        if count == 0 {
            return;
        }
        self.idom[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for &block in self.order.iter().skip(1) {
                let known = self.preds.of(block).iter().filter(|p| self.idom[**p as usize] != NONE);
                let idom = known.copied().reduce(|a, b| self.common_dominator(a, b));
                let idom = idom.unwrap_or(NONE);
                changed |= std::mem::replace(&mut self.idom[block as usize], idom) != idom;
            }
        }
        let below = self.order.iter().skip(1).map(|b| (self.idom[*b as usize], *b));
        self.children = Lists::new(count, &below.collect::<Vec<_>>());
    }

    fn common_dominator(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            if self.position[a as usize] > self.position[b as usize] {
                a = self.idom[a as usize];
            } else {
                b = self.idom[b as usize];
            }
        }
        a
    }

    fn frontiers(&mut self, count: usize) {
        let mut pairs = Vec::new();
        for &block in &self.order {
            let preds = self.preds.of(block);
            // In valid bitcode nothing leads back to the entry.
            if preds.len() < 2 {
                continue;
            }
            for &pred in preds {
                let mut runner = pred;
                while runner != self.idom[block as usize] {
                    pairs.push((runner, block));
                    runner = self.idom[runner as usize];
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        self.frontiers = Lists::new(count, &pairs);
    }
}

/// Calls `f` with the target of every edge that leaves a terminator.
pub fn for_each_successor(body: &Body, op: Op, mut f: impl FnMut(u32)) {
    match op {
        Op::Jump { target } => f(target),
        Op::Branch { then, otherwise, .. } => {
            f(then);
            f(otherwise);
        }
        Op::Switch { default, cases, .. } => {
            cases.of(&body.pool).chunks_exact(2).for_each(|c| f(c[1] as u32));
            f(default);
        }
        Op::Indirect { targets } | Op::CallBr { targets, .. } => {
            targets.of(&body.pool).iter().for_each(|t| f(*t as u32));
        }
        Op::Invoke { normal, unwind, .. } => {
            f(normal);
            f(unwind);
        }
        _ => {}
    }
}
