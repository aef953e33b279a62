//! Whether the reported path contradicts itself: answers to "can its next element be taken?"

use rustc_hash::FxHashMap;

/// Contradictions after which a search that goes on is not expected to find anything else.
const ENOUGH: u64 = 20;

/// By element of the path.
#[derive(Default)]
pub struct Feasibility {
    /// How often branches of the path alone excluded it, and those of the last time.
    contradictions: FxHashMap<usize, (u64, Vec<String>)>,
    /// How often it was something else, or not known.
    undecided: FxHashMap<usize, u64>,
}

impl Feasibility {
    pub fn undecided(&mut self, element: usize) {
        *self.undecided.entry(element).or_insert(0) += 1;
    }

    pub fn contradicted(&mut self, element: usize, core: Vec<String>) {
        let entry = self.contradictions.entry(element).or_default();
        *entry = (entry.0 + 1, core);
    }

    /// The branches that exclude each other, if that is all there is to say about the element.
    pub fn core(&self, element: usize, exhausted: bool) -> Option<&[String]> {
        let (times, core) = self.contradictions.get(&element)?;
        let certain = !self.undecided.contains_key(&element);
        (certain && (exhausted || *times >= ENOUGH)).then_some(core)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_other_answer_spoils_it() {
        let mut f = Feasibility::default();
        f.contradicted(1, vec!["a.c:3 (true)".into()]);
        assert_eq!(f.core(1, false), None);
        assert_eq!(f.core(1, true), Some(["a.c:3 (true)".to_owned()].as_slice()));
        f.undecided(1);
        assert_eq!(f.core(1, true), None);
        assert_eq!(f.core(0, true), None);
    }
}
