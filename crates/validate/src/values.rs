//! The values that a run's expressions would have with other inputs.

use leakproof_rt::abi::{Node, op};
use leakproof_rt::compute::{compute, mask, signed};
use leakproof_smt::children;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Inputs that differ from the run's, and what follows from them.
pub struct Values<'a> {
    pub nodes: &'a [Node],
    assigned: BTreeMap<u32, u64>,
    known: FxHashMap<u32, u64>,
}

impl<'a> Values<'a> {
    pub fn new(nodes: &'a [Node]) -> Self {
        Self { nodes, assigned: BTreeMap::new(), known: FxHashMap::default() }
    }

    pub fn assigned(&self) -> &BTreeMap<u32, u64> {
        &self.assigned
    }

    pub fn assign(&mut self, variable: u32, value: u64) {
        self.assigned.insert(variable, value);
        self.known.clear();
    }

    /// Goes back to an earlier state of the inputs.
    pub fn restore(&mut self, assigned: BTreeMap<u32, u64>) {
        self.assigned = assigned;
        self.known.clear();
    }

    pub fn node(&self, id: u32) -> Node {
        self.nodes.get(id as usize).copied().unwrap_or_default()
    }

    /// The value of a node; of one that is not there, 0.
    pub fn of(&mut self, root: u32) -> u64 {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.known.contains_key(&id) {
                stack.pop();
                continue;
            }
            let node = self.node(id);
            let missing = |c: &u32| *c < id && !self.known.contains_key(c);
            let open: Vec<u32> = children(&node).into_iter().filter(missing).collect();
            if open.is_empty() {
                let value = self.computed(&node);
                self.known.insert(id, value);
                stack.pop();
            } else {
                stack.extend(open);
            }
        }
        self.known.get(&root).copied().unwrap_or(0)
    }

    /// The value of a node whose parts are known.
    fn computed(&self, n: &Node) -> u64 {
        let part = |id: u32| self.known.get(&id).copied().unwrap_or(0);
        let width = |id: u32| u32::from(self.node(id).bits);
        let value = match n.op {
            0 => 0,
            op::CONST => n.value,
            op::VAR => self.assigned.get(&n.a).copied().unwrap_or(n.value),
            op::ZEXT => part(n.a),
            op::SEXT => signed(width(n.a), part(n.a)) as u64,
            op::EXTRACT => part(n.a).checked_shr(n.c).unwrap_or(0),
            op::CONCAT => part(n.a).checked_shl(width(n.b)).unwrap_or(0) | part(n.b),
            op::ITE if part(n.a) != 0 => part(n.b),
            op::ITE => part(n.c),
            _ => compute(n.op, width(n.a), part(n.a), part(n.b)),
        };
        value & mask(u32::from(n.bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_inputs_give_other_values() {
        let node = |op, bits, a, b, value| Node { op, bits, pad: 0, a, b, c: 0, value };
        let nodes = [
            Node::default(),
            node(op::VAR, 8, 7, 0, 200),
            node(op::SEXT, 32, 1, 0, 0),
            node(op::CONST, 32, 0, 0, 5),
            node(op::SLT, 1, 2, 3, 1),
        ];
        let mut values = Values::new(&nodes);
        assert_eq!((values.of(2), values.of(4)), (0xffff_ffc8, 1));
        values.assign(7, 100);
        assert_eq!((values.of(2), values.of(4)), (100, 0));
        values.restore(BTreeMap::new());
        assert_eq!(values.of(4), 1);
    }
}
