//! What a caller can never be told is taken out of the exits before they are joined.
//!
//! A function that walks lists and trees leaves behind cells of structures that its callers have no
//! name for, and variables of its own. Joining exits and telling outcomes apart would work out for
//! all of them what they hold when. They count only as far as an object that a caller may have to
//! release is in them.

use crate::exec::Exec;
use crate::export::MAX_NUMBER_DEPTH;
use crate::memory::MAX_ESCAPE_DEPTH;
use crate::state::Cell;
use crate::vocabulary::{BaseKind, Slot};
use leakproof_guard::{Base, Node, Seen, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

impl Exec<'_> {
    pub(crate) fn forget_untold(&mut self) {
        let mut kept: FxHashSet<Base> = FxHashSet::default();
        let mut untold: FxHashSet<Base> = FxHashSet::default();
        let mut answers: FxHashMap<Term, bool> = FxHashMap::default();
        for i in 0..self.exits.len() {
            let mem = self.exits[i].state.mem.clone();
            for (&(base, slot), &value) in &mem {
                if kept.contains(&base) || !self.is_untold(base) {
                    continue;
                }
                let mut holds_owned =
                    || *answers.entry(value).or_insert_with(|| self.may_hold_owned(value));
                if slot.is_contents() && holds_owned() {
                    kept.insert(base);
                } else {
                    untold.insert(base);
                }
            }
        }
        for exit in &mut self.exits {
            let gone = |(base, _): &Cell| untold.contains(base) && !kept.contains(base);
            let cells: Vec<Cell> = exit.state.mem.keys().filter(|c| gone(c)).copied().collect();
            for cell in cells {
                exit.state.mem.remove(&cell);
            }
        }
    }

    /// Takes out of the exits what is too far from callers to be told, as far as nothing that they may own hangs on it.
    /// Functions that are told by outcome leave many such cells behind, and what they hold would be worked out at every exit.
    pub(crate) fn forget_distant(&mut self, most: usize) {
        let cells: FxHashSet<Cell> =
            self.exits.iter().flat_map(|e| e.state.mem.keys().copied()).collect();
        let mut gone = self.distant_contents(&cells, most);
        let fates = self.distant_fates_only(&cells);
        let has_fate = |base: &Base| fates.contains_key(base);
        gone.extend(cells.iter().filter(|(base, slot)| slot.is_fate() && has_fate(base)));
        let handed_in = fates.iter().filter(|(_, foreign)| !**foreign).map(|(base, _)| *base);
        let out_of_sight: Vec<Base> = handed_in.collect();
        for exit in &mut self.exits {
            let mem = &mut exit.state.mem;
            let cells: Vec<Cell> = mem.keys().filter(|c| gone.contains(c)).copied().collect();
            for cell in cells {
                mem.remove(&cell);
            }
            for &base in &out_of_sight {
                mem.insert((base, Slot::Escaped), Terms::TRUE);
            }
        }
    }

    /// Contents that are further from callers than those that they are told of, or numbers further away than any that is
    /// told, where they lead to nothing that callers may own.
    fn distant_contents(&self, cells: &FxHashSet<Cell>, most: usize) -> FxHashSet<Cell> {
        let contents = cells.iter().filter_map(|&cell| Some((self.distance_of(cell)?, cell)));
        let mut contents: Vec<(u32, Cell)> = contents.collect();
        contents.sort_unstable();
        let mut gone: FxHashSet<Cell> = FxHashSet::default();
        let mut only_numbers: FxHashSet<Cell> = FxHashSet::default();
        for (i, (distance, cell)) in contents.into_iter().enumerate() {
            // A count of references says something about the release of what it is in.
            let may_count = cells.contains(&(cell.0, Slot::Freed));
            if i >= most {
                gone.insert(cell);
            } else if distance > MAX_NUMBER_DEPTH && !may_count {
                only_numbers.insert(cell);
            }
        }
        let mut answers: FxHashMap<Term, bool> = FxHashMap::default();
        for exit in &self.exits {
            for (cell, &value) in &exit.state.mem {
                if self.terms.bits(value) >= 64 {
                    only_numbers.remove(cell);
                }
                if gone.contains(cell)
                    && *answers.entry(value).or_insert_with(|| self.may_hold_owned(value))
                {
                    gone.remove(cell);
                }
            }
        }
        gone.extend(only_numbers);
        gone
    }

    /// Objects of others whose fate callers are not told, and whether they were not handed in, as far as nothing else depends
    /// on it.
    fn distant_fates_only(&self, cells: &FxHashSet<Cell>) -> FxHashMap<Base, bool> {
        let repeated = self.repeated_releases();
        let repeated: FxHashSet<Base> = repeated.iter().flat_map(|r| [r.0, r.2]).collect();
        let distant = self.distant_fates(cells.iter().copied()).into_iter();
        let is_alone = |base: Base| self.is_nameable(base) && !repeated.contains(&base);
        distant.filter(|(_, base)| is_alone(*base)).map(|(foreign, base)| (base, foreign)).collect()
    }

    /// Whether one of the alternatives of a value leads to something that a caller may own.
    fn may_hold_owned(&self, value: Term) -> bool {
        let mut seen = Seen::default();
        let mut work = vec![value];
        while let Some(t) = work.pop() {
            if !seen.insert(t) {
                continue;
            }
            let owned = match self.terms.node(t) {
                Node::Addr { base, .. } | Node::Elem { base, .. } => self.may_be_owned(*base),
                _ => self.argument_depth(t).is_some_and(|d| d <= MAX_ESCAPE_DEPTH),
            };
            if owned {
                return true;
            }
            match self.terms.node(t) {
                Node::Ite { then, otherwise, .. } => work.extend([*then, *otherwise]),
                Node::Any(items) | Node::Tuple(items) => work.extend(items.iter().copied()),
                Node::Bin { lhs, rhs, .. } => work.extend([*lhs, *rhs]),
                Node::Cast { value, .. } => work.push(*value),
                _ => {}
            }
        }
        false
    }

    /// Whether callers have no name for a base: a variable, or what no input leads to.
    pub(crate) fn is_untold(&self, base: Base) -> bool {
        match self.kind(base) {
            BaseKind::Var(_) | BaseKind::Slot(_) => true,
            BaseKind::Pointee => {
                self.terms.as_pointee(base).is_none_or(|p| self.pointer_depth(p).is_none())
            }
            _ => false,
        }
    }
}
