//! Hashes of the nodes of a graph, each over everything that can be reached from it.
//!
//! In: per node a hash of what it says by itself, and its successors in order. Out: per node a hash that is
//! equal for two nodes only if all that is reachable from them looks the same. Cycles are hashed as a
//! whole, a component at a time.

use super::digest::{Id, hash};
use leakproof_program::scc::{Graph, components};

/// `own` and the graph's nodes are numbered alike.
pub fn hashes(own: &[Id], graph: &Graph) -> Vec<Id> {
    let mut deep = vec![Id::default(); own.len()];
    // Position in its component, plus one, while the component is being hashed.
    let mut place = vec![0u32; own.len()];
    for mut component in components(graph) {
        component.sort_by_key(|&n| (own[n as usize], n));
        for (i, &n) in component.iter().enumerate() {
            place[n as usize] = i as u32 + 1;
        }
        let whole = hash(&describe(&component, own, graph, &deep, &place));
        for (i, &n) in component.iter().enumerate() {
            deep[n as usize] = hash(&[&whole[..], &(i as u32).to_le_bytes()].concat());
        }
        for &n in &component {
            place[n as usize] = 0;
        }
    }
    deep
}

fn describe(component: &[u32], own: &[Id], graph: &Graph, deep: &[Id], place: &[u32]) -> Vec<u8> {
    let mut text = Vec::new();
    for &n in component {
        text.extend(own[n as usize]);
        let successors = graph.successors(n);
        text.extend((successors.len() as u32).to_le_bytes());
        for &to in successors {
            text.extend(place[to as usize].to_le_bytes());
            if place[to as usize] == 0 {
                text.extend(deep[to as usize]);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[&[u32]]) -> Graph {
        let mut graph = Graph { starts: vec![0], targets: Vec::new() };
        for to in edges {
            graph.targets.extend(*to);
            graph.starts.push(graph.targets.len() as u32);
        }
        graph
    }

    fn own(names: &str) -> Vec<Id> {
        names.bytes().map(|b| hash(&[b])).collect()
    }

    #[test]
    fn a_change_shows_in_all_that_reach_it_and_nowhere_else() {
        // a -> b <-> c, d alone
        let edges = graph(&[&[1], &[2], &[1], &[]]);
        let (before, after) = (hashes(&own("abcd"), &edges), hashes(&own("abxd"), &edges));
        let same: Vec<bool> = before.iter().zip(&after).map(|(x, y)| x == y).collect();
        assert_eq!(same, [false, false, false, true]);
    }

    #[test]
    fn numbering_does_not_matter_but_the_order_of_successors_does() {
        let one = hashes(&own("abc"), &graph(&[&[1, 2], &[0], &[]]));
        let renumbered = hashes(&own("cba"), &graph(&[&[], &[2], &[1, 0]]));
        assert_eq!(one[0], renumbered[2]);
        assert_eq!(one[1], renumbered[1]);
        let swapped = hashes(&own("abc"), &graph(&[&[2, 1], &[0], &[]]));
        assert_ne!(one[0], swapped[0]);
    }
}
