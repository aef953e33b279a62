//! The conditions that held in a run, and which of them matter to a question: those that share inputs
//! with it, directly or through others.

use crate::trace::Trace;
use leakproof_rt::abi::{Event, Node, event, op};
use leakproof_smt::{Claim, children};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// One condition of a run.
pub struct Fact {
    /// Position in the trace's events.
    pub event: usize,
    pub claim: Claim,
    /// The variables in it, in order.
    pub variables: Rc<[u32]>,
}

/// All conditions of a run, in the order of its events.
pub struct Facts {
    list: Vec<Fact>,
    /// Positions in `list` of the facts with a variable.
    of_variable: FxHashMap<u32, Vec<u32>>,
}

impl Facts {
    /// `cases` gives the values of a switch, by its number.
    pub fn of(trace: &Trace, cases: impl Fn(u32) -> Vec<u64>) -> Self {
        let mut variables = Variables::default();
        let mut facts = Self { list: Vec::new(), of_variable: FxHashMap::default() };
        // The same condition again says nothing new, but it may be asked about.
        for (event, e) in trace.events.iter().enumerate().filter(|(_, e)| e.node != 0) {
            let set = variables.of(&trace.nodes, e.node);
            for (value, equal) in held(trace, e, &cases) {
                let claim = Claim { node: e.node, value, equal };
                facts.add(Fact { event, claim, variables: set.clone() });
            }
        }
        facts
    }

    fn add(&mut self, fact: Fact) {
        let number = self.list.len() as u32;
        for variable in fact.variables.iter() {
            self.of_variable.entry(*variable).or_default().push(number);
        }
        self.list.push(fact);
    }

    /// The variables of the condition at `event`.
    pub fn variables_at(&self, event: usize) -> Rc<[u32]> {
        let at = self.list.binary_search_by_key(&event, |f| f.event);
        at.map_or_else(|_| Rc::from([]), |i| self.list[i].variables.clone())
    }

    /// The conditions before `event` that share an input with it, directly or through others.
    pub fn relevant(&self, event: usize) -> Vec<&Fact> {
        let end = self.list.partition_point(|f| f.event < event) as u32;
        let mut reached: FxHashSet<u32> = self.variables_at(event).iter().copied().collect();
        let mut waiting: Vec<u32> = self.variables_at(event).to_vec();
        let mut chosen = vec![false; end as usize];
        while let Some(variable) = waiting.pop() {
            let facts = self.of_variable.get(&variable).into_iter().flatten();
            for &number in facts.take_while(|n| **n < end) {
                if !std::mem::replace(&mut chosen[number as usize], true) {
                    let new = self.list[number as usize].variables.iter();
                    waiting.extend(new.filter(|v| reached.insert(**v)));
                }
            }
        }
        let mut said = FxHashSet::default();
        let all = self.list.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(f, _)| f);
        all.filter(|f| said.insert((f.claim.node, f.claim.value, f.claim.equal))).collect()
    }
}

/// What an event says about its node: values that it has or has not.
fn held(trace: &Trace, e: &Event, cases: impl Fn(u32) -> Vec<u64>) -> Vec<(u64, bool)> {
    match e.kind {
        event::BRANCH | event::LIBRARY => vec![(u64::from(e.taken != 0), true)],
        event::ASSERT => vec![(1, true)],
        // The default is where all values go that are no case: the run's is only one of them.
        event::SWITCH if e.taken == 0 => cases(e.id).into_iter().map(|v| (v, false)).collect(),
        event::SWITCH => {
            let node = trace.nodes.get(e.node as usize);
            node.map(|n| (n.value, true)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Variables that occur in nodes, remembered.
#[derive(Default)]
struct Variables {
    known: FxHashMap<u32, Rc<[u32]>>,
}

impl Variables {
    fn of(&mut self, nodes: &[Node], root: u32) -> Rc<[u32]> {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.known.contains_key(&id) {
                stack.pop();
                continue;
            }
            let Some(node) = nodes.get(id as usize) else { break };
            let parts: Vec<u32> = children(node).into_iter().filter(|c| *c < id).collect();
            let open: Vec<u32> =
                parts.iter().copied().filter(|c| !self.known.contains_key(c)).collect();
            if !open.is_empty() {
                stack.extend(open);
                continue;
            }
            let set = self.joined(node, &parts);
            self.known.insert(id, set);
            stack.pop();
        }
        self.known.get(&root).cloned().unwrap_or_default()
    }

    /// The variables of a node whose parts are known.
    fn joined(&self, node: &Node, parts: &[u32]) -> Rc<[u32]> {
        if node.op == op::VAR {
            return Rc::from([node.a]);
        }
        let mut sets = parts.iter().map(|p| &self.known[p]).filter(|s| !s.is_empty());
        let Some(first) = sets.next() else { return Rc::from([]) };
        let mut set = first.to_vec();
        let more: Vec<&Rc<[u32]>> = sets.collect();
        if more.is_empty() {
            return first.clone();
        }
        more.iter().for_each(|s| set.extend(s.iter()));
        set.sort_unstable();
        set.dedup();
        set.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(op: u8, bits: u8, a: u32, b: u32) -> Node {
        Node { op, bits, pad: 0, a, b, c: 0, value: 0 }
    }

    #[test]
    fn conditions_are_connected_through_inputs() {
        let nodes = vec![
            Node::default(),
            node(op::VAR, 8, 7, 0),
            node(op::VAR, 8, 8, 0),
            node(op::VAR, 8, 9, 0),
            node(op::EQ, 1, 1, 2),
            node(op::EQ, 1, 3, 3),
            node(op::ULT, 1, 2, 2),
        ];
        let branch = |node| Event { kind: event::BRANCH, node, ..Event::default() };
        let events = vec![branch(4), branch(5), branch(4), branch(6), branch(4)];
        let facts = Facts::of(&Trace { nodes, events, ..Trace::default() }, |_| Vec::new());
        let before = |event| facts.relevant(event).iter().map(|f| f.event).collect::<Vec<_>>();
        assert_eq!(before(4), [0, 3]);
        assert_eq!(before(1), [0usize; 0]);
        assert_eq!(*facts.variables_at(4), [7, 8]);
    }

    #[test]
    fn the_default_of_a_switch_leaves_other_values_open() {
        let nodes = vec![Node::default(), Node { value: 65, ..node(op::VAR, 8, 7, 0) }];
        let switch = |taken| Event { kind: event::SWITCH, node: 1, taken, ..Event::default() };
        let claims = |taken| {
            let events = vec![switch(taken), switch(0)];
            let trace = Trace { nodes: nodes.clone(), events, ..Trace::default() };
            let facts = Facts::of(&trace, |_| vec![3, 4]);
            let known = facts.relevant(1);
            known.iter().map(|f| (f.claim.value, f.claim.equal)).collect::<Vec<_>>()
        };
        assert_eq!(claims(0), [(3, false), (4, false)]);
        assert_eq!(claims(1), [(65, true)]);
    }
}
