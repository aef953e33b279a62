//! The symbols for outcomes of calls in a condition.
//!
//! Every object at every exit has conditions of its own, made of parts that most of them share. So the symbols of a
//! part are looked for once, and a condition has those of its parts: to walk through each condition as a whole took
//! most of the time of functions with hundreds of exits and objects.

use crate::marks::{CUT, OPEN, OUTCOME};
use leakproof_guard::{Marks, Node, Sym, Term, Terms, for_each_child};
use rustc_hash::FxHashMap;

/// Marks of the symbols that say how calls went.
pub(crate) const OUTCOMES: Marks = OUTCOME.with(CUT).with(OPEN);

/// Over so many words of sets, all are forgotten.
const MAX_WORDS: usize = 1 << 23;

/// A set of symbols, by number; the first one is empty.
type Set = u32;
const EMPTY: Set = 0;

#[derive(Default)]
pub(crate) struct Deciding {
    /// Symbols and their marks, by their bit in sets.
    symbols: Vec<(Sym, Marks)>,
    bits: FxHashMap<Sym, usize>,
    /// Without zeros at the end.
    sets: Vec<Box<[u64]>>,
    numbers: FxHashMap<Box<[u64]>, Set>,
    words: usize,
    /// Of the terms that have some.
    known: FxHashMap<Term, Set>,
}

impl Deciding {
    /// The symbols in a term that have one of these marks, which must be marks of outcomes, in order.
    pub fn symbols(&mut self, terms: &Terms, t: Term, marks: Marks) -> Vec<Sym> {
        debug_assert!(marks.within(OUTCOMES), "only the symbols for outcomes are known");
        if !terms.marks(t).intersects(marks) {
            return Vec::new();
        }
        let set = self.set_in(terms, t);
        let mut found: Vec<Sym> = self
            .members(set)
            .map(|bit| self.symbols[bit])
            .filter(|(_, mark)| mark.intersects(marks))
            .map(|(s, _)| s)
            .collect();
        found.sort_unstable();
        found
    }

    /// Of some symbols for outcomes, keeps those that are in a term.
    pub fn retain_in(&mut self, terms: &Terms, t: Term, symbols: &mut Vec<Term>) {
        let set = self.set_in(terms, t);
        symbols.retain(|&symbol| match terms.node(symbol) {
            Node::Sym(s) => self.bits.get(s).is_some_and(|&bit| self.is_member(set, bit)),
            _ => false,
        });
    }

    fn is_member(&self, set: Set, bit: usize) -> bool {
        let word = bit / u64::BITS as usize;
        set != EMPTY
            && self.sets[set as usize - 1]
                .get(word)
                .is_some_and(|w| w >> (bit % u64::BITS as usize) & 1 == 1)
    }

    fn members(&self, set: Set) -> impl Iterator<Item = usize> + '_ {
        let words = if set == EMPTY { &[][..] } else { &self.sets[set as usize - 1] };
        words.iter().enumerate().flat_map(|(i, &word)| {
            let bits = (0..u64::BITS as usize).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| i * u64::BITS as usize + bit)
        })
    }

    /// The set of a whole condition.
    fn set_in(&mut self, terms: &Terms, t: Term) -> Set {
        if self.words > MAX_WORDS {
            self.forget();
        }
        self.set_of(terms, t)
    }

    fn set_of(&mut self, terms: &Terms, t: Term) -> Set {
        if !terms.marks(t).intersects(OUTCOMES) {
            return EMPTY;
        }
        if let Some(&known) = self.known.get(&t) {
            return known;
        }
        let set = match terms.node(t) {
            Node::Sym(s) => self.set_of_one(*s, terms.marks(t)),
            node => self.set_of_parts(terms, node),
        };
        self.known.insert(t, set);
        set
    }

    fn set_of_one(&mut self, s: Sym, marks: Marks) -> Set {
        let next = self.symbols.len();
        let bit = *self.bits.entry(s).or_insert(next);
        if bit == next {
            self.symbols.push((s, marks));
        }
        let mut words = vec![0; bit / u64::BITS as usize + 1];
        words[bit / u64::BITS as usize] = 1 << (bit % u64::BITS as usize);
        self.number(words)
    }

    fn set_of_parts(&mut self, terms: &Terms, node: &Node) -> Set {
        let mut first = EMPTY;
        let mut all: Vec<u64> = Vec::new();
        for_each_child(node, |part| {
            let set = self.set_of(terms, part);
            if set == EMPTY || set == first {
                return;
            }
            if first == EMPTY {
                first = set;
                return;
            }
            if all.is_empty() {
                all.extend_from_slice(&self.sets[first as usize - 1]);
            }
            let words = &self.sets[set as usize - 1];
            all.resize(all.len().max(words.len()), 0);
            all.iter_mut().zip(words).for_each(|(a, b)| *a |= b);
        });
        if all.is_empty() { first } else { self.number(all) }
    }

    fn number(&mut self, words: Vec<u64>) -> Set {
        if let Some(&known) = self.numbers.get(&words[..]) {
            return known;
        }
        let words: Box<[u64]> = words.into();
        self.words += words.len();
        self.sets.push(words.clone());
        let number = self.sets.len() as Set;
        self.numbers.insert(words, number);
        number
    }

    fn forget(&mut self) {
        self.sets.clear();
        self.numbers.clear();
        self.known.clear();
        self.words = 0;
    }
}
