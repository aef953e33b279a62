//! What refers to each other in circles.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// What others refer to, or are referred to by.
type Neighbours<T> = FxHashMap<T, Vec<T>>;

/// Each of what some references are between with a number: those that lead to each other have the same, and who leads to others
/// without a way back has a smaller one.
pub fn circles_of<T: Copy + Eq + Hash>(
    references: impl Iterator<Item = (T, T)>,
) -> FxHashMap<T, usize> {
    let references: Vec<(T, T)> = references.collect();
    let (mut ahead, mut back) = (Neighbours::default(), Neighbours::default());
    for &(from, to) in &references {
        ahead.entry(from).or_default().push(to);
        back.entry(to).or_default().push(from);
    }
    let mut done = FxHashSet::default();
    let mut order: Vec<T> = Vec::new();
    for &(root, _) in &references {
        // Each one with the number of its references that were followed.
        let mut open: Vec<(T, usize)> = Vec::new();
        if done.insert(root) {
            open.push((root, 0));
        }
        while let Some((o, next)) = open.last_mut() {
            match ahead.get(o).and_then(|list| list.get(*next)) {
                Some(&to) => {
                    *next += 1;
                    if done.insert(to) {
                        open.push((to, 0));
                    }
                }
                None => {
                    order.push(*o);
                    open.pop();
                }
            }
        }
    }
    let mut circles: FxHashMap<T, usize> = FxHashMap::default();
    for (number, root) in order.into_iter().rev().enumerate() {
        let mut work = vec![root];
        while let Some(o) = work.pop() {
            if let Entry::Vacant(new) = circles.entry(o) {
                new.insert(number);
                work.extend(back.get(&o).into_iter().flatten());
            }
        }
    }
    circles
}
