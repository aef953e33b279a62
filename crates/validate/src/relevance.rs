//! Which of a run's conditions matter to a question: those that share inputs with it.

use crate::trace::Trace;
use leakproof_rt::abi::{Node, event, op};
use leakproof_smt::{Claim, children};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The conditions before `event` that share an input with `claims`, directly or through others.
pub fn relevant(trace: &Trace, event: usize, claims: &[Claim]) -> Vec<(usize, Claim)> {
    let mut facts: Vec<(usize, Claim)> = Vec::new();
    for (i, e) in trace.events[..event].iter().enumerate() {
        let held = match e.kind {
            event::BRANCH | event::LIBRARY => u64::from(e.taken != 0),
            event::ASSERT => 1,
            event::SWITCH => match trace.nodes.get(e.node as usize) {
                Some(node) => node.value,
                None => continue,
            },
            _ => continue,
        };
        if e.node != 0 {
            facts.push((i, Claim { node: e.node, value: held, equal: true }));
        }
    }
    let mut variables = Variables::default();
    let mut wanted: FxHashSet<u32> = FxHashSet::default();
    claims.iter().for_each(|c| wanted.extend(variables.of(&trace.nodes, c.node).iter()));
    let sets: Vec<Rc<[u32]>> =
        facts.iter().map(|(_, c)| variables.of(&trace.nodes, c.node)).collect();
    let mut chosen = vec![false; facts.len()];
    loop {
        let mut grew = false;
        for (i, set) in sets.iter().enumerate() {
            if !chosen[i] && set.iter().any(|v| wanted.contains(v)) {
                chosen[i] = true;
                grew = true;
                wanted.extend(set.iter());
            }
        }
        if !grew {
            break;
        }
    }
    // The same condition again says nothing new.
    let mut said = FxHashSet::default();
    let mut kept = Vec::new();
    for (fact, chosen) in facts.into_iter().zip(chosen) {
        if chosen && said.insert((fact.1.node, fact.1.value)) {
            kept.push(fact);
        }
    }
    kept
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
            let mut set: Vec<u32> = if node.op == op::VAR { vec![node.a] } else { Vec::new() };
            parts.iter().for_each(|p| set.extend(self.known[p].iter()));
            set.sort_unstable();
            set.dedup();
            self.known.insert(id, set.into());
            stack.pop();
        }
        self.known.get(&root).cloned().unwrap_or_default()
    }
}
