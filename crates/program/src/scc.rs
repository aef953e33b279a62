//! Strongly connected components of a graph, iteratively, callees (successors) first.
//!
//! In: node count and successor lists. Out: components in reverse topological order. Deterministic:
//! roots are visited in index order and successors in list order. Never recurses.

/// Adjacency in compressed rows: successors of `n` are `targets[starts[n]..starts[n + 1]]`.
pub struct Graph {
    pub starts: Vec<u32>,
    pub targets: Vec<u32>,
}

impl Graph {
    pub fn successors(&self, node: u32) -> &[u32] {
        &self.targets[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }
}

const UNSEEN: u32 = u32::MAX;

struct Tarjan<'g> {
    graph: &'g Graph,
    index: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<u32>,
    /// Node and position of its next successor.
    frames: Vec<(u32, u32)>,
    next: u32,
    components: Vec<Vec<u32>>,
}

/// Components in reverse topological order: every successor outside a component comes earlier.
pub fn components(graph: &Graph) -> Vec<Vec<u32>> {
    let n = graph.len();
    let mut t = Tarjan {
        graph,
        index: vec![UNSEEN; n],
        low: vec![0; n],
        on_stack: vec![false; n],
        stack: Vec::new(),
        frames: Vec::new(),
        next: 0,
        components: Vec::new(),
    };
    for root in 0..n as u32 {
        if t.index[root as usize] == UNSEEN {
            t.visit(root);
        }
    }
    t.components
}

impl Tarjan<'_> {
    fn visit(&mut self, root: u32) {
        self.enter(root);
        while let Some(&mut (node, ref mut position)) = self.frames.last_mut() {
            let successors = self.graph.successors(node);
            if let Some(&to) = successors.get(*position as usize) {
                *position += 1;
                if self.index[to as usize] == UNSEEN {
                    self.enter(to);
                } else if self.on_stack[to as usize] {
                    self.low[node as usize] = self.low[node as usize].min(self.index[to as usize]);
                }
            } else {
                self.leave(node);
            }
        }
    }

    fn enter(&mut self, node: u32) {
        self.index[node as usize] = self.next;
        self.low[node as usize] = self.next;
        self.next += 1;
        self.on_stack[node as usize] = true;
        self.stack.push(node);
        self.frames.push((node, 0));
    }

    fn leave(&mut self, node: u32) {
        self.frames.pop();
        if let Some(&(parent, _)) = self.frames.last() {
            let low = self.low[node as usize];
            self.low[parent as usize] = self.low[parent as usize].min(low);
        }
        if self.low[node as usize] == self.index[node as usize] {
            let mut component = Vec::new();
            while let Some(member) = self.stack.pop() {
                self.on_stack[member as usize] = false;
                component.push(member);
                if member == node {
                    break;
                }
            }
            component.sort_unstable();
            self.components.push(component);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(n: usize, edges: &[(u32, u32)]) -> Graph {
        let mut starts = vec![0];
        let mut targets = Vec::new();
        for node in 0..n as u32 {
            targets.extend(edges.iter().filter(|e| e.0 == node).map(|e| e.1));
            starts.push(targets.len() as u32);
        }
        Graph { starts, targets }
    }

    #[test]
    fn callees_come_first() {
        let g = graph(4, &[(0, 1), (1, 2), (2, 1), (2, 3)]);
        assert_eq!(components(&g), vec![vec![3], vec![1, 2], vec![0]]);
    }

    #[test]
    fn a_chain_of_a_million_does_not_overflow_the_stack() {
        let n = 1_000_000;
        let starts = (0..=n).map(|i| i.min(n - 1)).collect();
        let g = Graph { starts, targets: (1..n).collect() };
        let found = components(&g);
        assert_eq!(found.len(), n as usize);
        assert_eq!(found[0], vec![n - 1]);
    }

    #[test]
    fn self_loop_is_one_component() {
        assert_eq!(components(&graph(2, &[(0, 0), (0, 1)])), vec![vec![1], vec![0]]);
    }
}
