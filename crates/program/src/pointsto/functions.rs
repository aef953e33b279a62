//! Sets of functions, each kept once.
//!
//! Functions that are out of sight stay in sets by name, for the call graph: a few hundred of them
//! are in the sets of most pointers of a program, over and over the same. So a set of functions is a number,
//! and joining two of them is looked up. Pointers to functions lead nowhere and do not change by
//! arithmetic: only calls and escapes ask which they are.
//! Invariant: equal sets have equal numbers.

use super::object::{Loc, NONE};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Number of a set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub(super) struct FunctionSetId(u32);

impl FunctionSetId {
    pub const EMPTY: Self = Self(0);
}

pub(super) struct FunctionSets {
    /// Functions in the order in which they turned up.
    locs: Vec<Loc>,
    /// Per location: its position in `locs`; `NONE` for what is no function.
    positions: Vec<u32>,
    /// Bits by position, without zeros at the end.
    sets: Vec<Rc<[u64]>>,
    sizes: Vec<u32>,
    known: FxHashMap<Rc<[u64]>, FunctionSetId>,
    unions: FxHashMap<(FunctionSetId, FunctionSetId), FunctionSetId>,
}

impl FunctionSets {
    pub fn new() -> Self {
        let mut sets = Self {
            locs: Vec::new(),
            positions: Vec::new(),
            sets: Vec::new(),
            sizes: Vec::new(),
            known: FxHashMap::default(),
            unions: FxHashMap::default(),
        };
        sets.numbered(Vec::new());
        sets
    }

    pub fn add(&mut self, function: Loc) {
        self.positions.resize(function as usize, NONE);
        self.positions.push(self.locs.len() as u32);
        self.locs.push(function);
    }

    /// The set of this function alone; `None` when it is none.
    pub fn only(&mut self, loc: Loc) -> Option<FunctionSetId> {
        let at = *self.positions.get(loc as usize).filter(|at| **at != NONE)? as usize;
        let mut bits = vec![0; at / 64 + 1];
        bits[at / 64] = 1 << (at % 64);
        Some(self.numbered(bits))
    }

    fn numbered(&mut self, bits: Vec<u64>) -> FunctionSetId {
        if let Some(&known) = self.known.get(&bits[..]) {
            return known;
        }
        let id = FunctionSetId(self.sets.len() as u32);
        let bits: Rc<[u64]> = bits.into();
        self.sizes.push(bits.iter().map(|word| word.count_ones()).sum());
        self.sets.push(bits.clone());
        self.known.insert(bits, id);
        id
    }

    pub fn len(&self, set: FunctionSetId) -> usize {
        self.sizes[set.0 as usize] as usize
    }

    pub fn union(&mut self, a: FunctionSetId, b: FunctionSetId) -> FunctionSetId {
        if a == b || b == FunctionSetId::EMPTY {
            return a;
        }
        if a == FunctionSetId::EMPTY {
            return b;
        }
        let pair = (a.min(b), a.max(b));
        if let Some(&known) = self.unions.get(&pair) {
            return known;
        }
        let (mut long, mut short) = (&self.sets[a.0 as usize], &self.sets[b.0 as usize]);
        if long.len() < short.len() {
            std::mem::swap(&mut long, &mut short);
        }
        let mut bits = long.to_vec();
        bits.iter_mut().zip(short.iter()).for_each(|(to, from)| *to |= from);
        let union = self.numbered(bits);
        self.unions.insert(pair, union);
        union
    }

    /// The functions of `set` that are not in `without`.
    pub fn difference(&self, set: FunctionSetId, without: FunctionSetId) -> Vec<Loc> {
        if set == without {
            return Vec::new();
        }
        let without = &self.sets[without.0 as usize];
        let mut found = Vec::new();
        for (i, word) in self.sets[set.0 as usize].iter().enumerate() {
            let mut rest = word & !without.get(i).copied().unwrap_or(0);
            while rest != 0 {
                found.push(self.locs[i * 64 + rest.trailing_zeros() as usize]);
                rest &= rest - 1;
            }
        }
        found
    }

    pub fn list(&self, set: FunctionSetId) -> Vec<Loc> {
        self.difference(set, FunctionSetId::EMPTY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_are_one() {
        let mut sets = FunctionSets::new();
        (0..100).for_each(|i| sets.add(3 * i + 1));
        assert_eq!(sets.only(2), None);
        let of = |sets: &mut FunctionSets, locs: &[Loc]| {
            locs.iter().fold(FunctionSetId::EMPTY, |set, &loc| {
                let only = sets.only(loc).unwrap();
                sets.union(set, only)
            })
        };
        let (a, b) = (of(&mut sets, &[1, 298]), of(&mut sets, &[4, 1]));
        let both = sets.union(a, b);
        assert_eq!(both, of(&mut sets, &[298, 4, 1]));
        assert_eq!(sets.union(both, b), both);
        assert_eq!((sets.len(both), sets.list(both)), (3, vec![1, 4, 298]));
        assert_eq!(sets.difference(both, b), vec![298]);
        assert_eq!(sets.difference(b, both), Vec::<Loc>::new());
    }
}
