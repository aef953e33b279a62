//! Control-flow facts of one body: predecessors, reverse post-order and the dominator tree.
//!
//! In: a body whose terminators name existing blocks (edges to others are ignored). Out: tables
//! indexed by block. Dominators by Cooper, Harvey and Kennedy's iteration; nothing recurses, so
//! the depth of the graph does not matter.
//!
//! Invariant: `order` starts with the entry and holds each reachable block once.

use crate::{Arena, BlockId, Body, Entity};

pub struct Cfg {
    /// Distinct source blocks of the edges into each block, ascending.
    pub preds: Arena<BlockId, Vec<BlockId>>,
    /// Reachable blocks in reverse post-order.
    pub order: Vec<BlockId>,
    /// Position in `order`; `None` for unreachable blocks.
    number: Arena<BlockId, Option<usize>>,
    /// Immediate dominators; the entry's is itself, unreachable blocks have none.
    idom: Arena<BlockId, Option<BlockId>>,
    /// Entry and exit times of a walk over the dominator tree: `a` dominates `b` when its
    /// interval encloses `b`'s.
    interval: Arena<BlockId, (u32, u32)>,
}

impl Cfg {
    pub fn of(body: &Body) -> Self {
        let order = reverse_post_order(body);
        let mut number: Arena<BlockId, Option<usize>> = body.blocks.ids().map(|_| None).collect();
        for (i, block) in order.iter().enumerate() {
            number[*block] = Some(i);
        }
        let preds = predecessors(body);
        let idom = immediate_dominators(&order, &number, &preds);
        let interval = tree_intervals(&order, &idom);
        Self { preds, order, number, idom, interval }
    }

    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.number.get(block).is_some_and(Option::is_some)
    }

    /// The closest strict dominator of a reachable block other than the entry.
    pub fn idom(&self, block: BlockId) -> Option<BlockId> {
        self.idom[block].filter(|d| *d != block)
    }

    /// Does every path from the entry to `b` pass `a`? True of every `a` for unreachable `b`.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        if !self.is_reachable(b) {
            return true;
        }
        if !self.is_reachable(a) {
            return false;
        }
        let ((a_in, a_out), (b_in, b_out)) = (self.interval[a], self.interval[b]);
        a_in <= b_in && b_out <= a_out
    }
}

fn existing_successors(body: &Body, block: BlockId) -> impl Iterator<Item = BlockId> {
    let len = body.blocks.len();
    body.blocks[block].term.successors().into_iter().filter(move |s| s.index() < len)
}

fn predecessors(body: &Body) -> Arena<BlockId, Vec<BlockId>> {
    let mut preds: Arena<BlockId, Vec<BlockId>> = body.blocks.ids().map(|_| Vec::new()).collect();
    for block in body.blocks.ids() {
        for successor in existing_successors(body, block) {
            // Blocks are visited in order, so a repeated edge has its source at the end.
            if preds[successor].last() != Some(&block) {
                preds[successor].push(block);
            }
        }
    }
    preds
}

fn reverse_post_order(body: &Body) -> Vec<BlockId> {
    if body.blocks.is_empty() {
        return Vec::new();
    }
    let mut seen: Arena<BlockId, bool> = body.blocks.ids().map(|_| false).collect();
    let mut order = Vec::with_capacity(body.blocks.len());
    let successors = |b| existing_successors(body, b).collect::<Vec<_>>().into_iter();
    seen[Body::ENTRY] = true;
    let mut stack = vec![(Body::ENTRY, successors(Body::ENTRY))];
    while let Some((block, rest)) = stack.last_mut() {
        match rest.next() {
            Some(next) if !seen[next] => {
                seen[next] = true;
                stack.push((next, successors(next)));
            }
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

fn immediate_dominators(
    order: &[BlockId],
    number: &Arena<BlockId, Option<usize>>,
    preds: &Arena<BlockId, Vec<BlockId>>,
) -> Arena<BlockId, Option<BlockId>> {
    // By position in `order`: a dominator has a smaller one than what it dominates.
    let mut idom: Vec<Option<usize>> = vec![None; order.len()];
    if let Some(entry) = idom.first_mut() {
        *entry = Some(0);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (i, block) in order.iter().enumerate().skip(1) {
            let known =
                preds[*block].iter().filter_map(|p| number[*p]).filter(|p| idom[*p].is_some());
            let new = known.reduce(|a, b| common_dominator(&idom, a, b));
            if new != idom[i] {
                idom[i] = new;
                changed = true;
            }
        }
    }
    let mut result: Arena<BlockId, Option<BlockId>> = number.ids().map(|_| None).collect();
    for (i, block) in order.iter().enumerate() {
        result[*block] = idom[i].map(|d| order[d]);
    }
    result
}

fn common_dominator(idom: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let deeper = a.max(b);
        // Both have dominators: the callers only pass such blocks, and their dominators have too.
        let up = idom[deeper].unwrap_or(0);
        (a, b) = (a.min(b), up);
    }
    a
}

fn tree_intervals(
    order: &[BlockId],
    idom: &Arena<BlockId, Option<BlockId>>,
) -> Arena<BlockId, (u32, u32)> {
    let mut interval: Arena<BlockId, (u32, u32)> = idom.ids().map(|_| (0, 0)).collect();
    let mut children: Arena<BlockId, Vec<BlockId>> = idom.ids().map(|_| Vec::new()).collect();
    for block in order.iter().skip(1) {
        if let Some(parent) = idom[*block] {
            children[parent].push(*block);
        }
    }
    let mut clock = 0;
    let mut stack: Vec<(BlockId, usize)> = order.first().map(|b| (*b, 0)).into_iter().collect();
    while let Some((block, next)) = stack.last_mut() {
        let block = *block;
        if *next == 0 {
            interval[block].0 = clock;
            clock += 1;
        }
        match children[block].get(*next) {
            Some(child) => {
                *next += 1;
                stack.push((*child, 0));
            }
            None => {
                interval[block].1 = clock;
                clock += 1;
                stack.pop();
            }
        }
    }
    interval
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_module;

    fn cfg_of(blocks: &str) -> Cfg {
        let text = format!("func f0 \"f\" (v0: i1) {{ {blocks} }}");
        let module = parse_module(&text).expect("text IR");
        let body = module.functions.values().next().and_then(|f| f.body.as_ref());
        Cfg::of(body.expect("a body"))
    }

    #[test]
    fn diamond() {
        let cfg = cfg_of("bb0: br v0, bb1, bb2 bb1: jump bb3 bb2: jump bb3 bb3: ret");
        assert_eq!(cfg.preds[BlockId(3)], [BlockId(1), BlockId(2)]);
        assert_eq!(cfg.idom(BlockId(3)), Some(BlockId(0)));
        assert!(cfg.dominates(BlockId(0), BlockId(3)));
        assert!(!cfg.dominates(BlockId(1), BlockId(3)));
    }

    #[test]
    fn loop_and_unreachable_block() {
        let cfg = cfg_of("bb0: jump bb1 bb1: br v0, bb1, bb2 bb2: ret bb3: jump bb2");
        assert_eq!(cfg.preds[BlockId(1)], [BlockId(0), BlockId(1)]);
        assert!(!cfg.is_reachable(BlockId(3)));
        assert_eq!(cfg.idom(BlockId(2)), Some(BlockId(1)));
        assert!(cfg.dominates(BlockId(1), BlockId(1)));
    }

    #[test]
    fn two_edges_to_one_block_are_one_predecessor() {
        let cfg = cfg_of("bb0: br v0, bb1, bb1 bb1: ret");
        assert_eq!(cfg.preds[BlockId(1)], [BlockId(0)]);
    }

    #[test]
    fn irreducible_loop() {
        let cfg = cfg_of("bb0: br v0, bb1, bb2 bb1: jump bb2 bb2: br v0, bb1, bb3 bb3: ret");
        assert_eq!(cfg.idom(BlockId(1)), Some(BlockId(0)));
        assert_eq!(cfg.idom(BlockId(2)), Some(BlockId(0)));
    }
}
