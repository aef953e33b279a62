//! Words that a program tells apart at one place: where it found one of them, another could be.
//!
//! In: the texts that runs compared. Out: for a part of an input, texts that this run did not compare it with, because it was
//! found to be one of the others before. Only a help for the search: nothing depends on it.

use crate::trace::Compared;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Words of one kind that are kept.
const MAX_WORDS: usize = 24;
/// Parts of one input that are looked at.
const MAX_PARTS: usize = 60;

/// For each word those that it was told apart from.
#[derive(Default)]
pub struct Siblings {
    words: FxHashMap<Vec<u8>, BTreeSet<Vec<u8>>>,
}

/// What a run did with one part of its input.
struct Part<'c> {
    first: &'c Compared,
    wanted: BTreeSet<&'c [u8]>,
}

impl Siblings {
    /// Takes a run's comparisons in, and says which others there could have been.
    pub fn others(&mut self, compared: &[Compared]) -> Vec<Compared> {
        let parts = parts(compared);
        parts.iter().for_each(|p| self.learn(p));
        parts.iter().take(MAX_PARTS).flat_map(|p| self.others_of(p)).collect()
    }

    fn learn(&mut self, part: &Part<'_>) {
        if part.wanted.len() < 2 {
            return;
        }
        for word in &part.wanted {
            let known = self.words.entry(word.to_vec()).or_default();
            for other in part.wanted.iter().filter(|o| *o != word) {
                if known.len() < MAX_WORDS {
                    known.insert(other.to_vec());
                }
            }
        }
    }

    fn others_of(&self, part: &Part<'_>) -> Vec<Compared> {
        let siblings = self.words.get(&part.first.is).into_iter().flatten();
        let new = siblings.filter(|s| !part.wanted.contains(s.as_slice()));
        new.map(|wanted| Compared { wanted: wanted.clone(), ..part.first.clone() }).collect()
    }
}

/// The comparisons by the part of the input that they look at, in the order of the run.
fn parts(compared: &[Compared]) -> Vec<Part<'_>> {
    let mut all: Vec<Part<'_>> = Vec::new();
    let mut numbers: BTreeMap<(u32, &[u8]), usize> = BTreeMap::new();
    for pair in compared {
        let Some(source) = pair.source else { continue };
        let number = *numbers.entry((source, pair.is.as_slice())).or_insert_with(|| {
            all.push(Part { first: pair, wanted: BTreeSet::new() });
            all.len() - 1
        });
        all[number].wanted.insert(&pair.wanted);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(source: u32, is: &str, wanted: &str) -> Compared {
        let (is, wanted) = (is.into(), wanted.into());
        Compared { event: 0, call: 1, source: Some(source), is, wanted }
    }

    #[test]
    fn what_comes_behind_the_word_that_was_found() {
        let mut siblings = Siblings::default();
        let words = ["set", "get", "drop"];
        let unknown: Vec<Compared> = words.iter().map(|w| pair(7, "x", w)).collect();
        assert_eq!(siblings.others(&unknown), []);
        let known = [pair(3, "set", "set")];
        assert_eq!(siblings.others(&known), [pair(3, "set", "drop"), pair(3, "set", "get")]);
        assert_eq!(siblings.others(&[pair(3, "name", "name")]), []);
    }
}
