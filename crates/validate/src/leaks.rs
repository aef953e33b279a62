//! Leaks that runs showed, and which of them to make a witness of next.
//!
//! A run of ours is no proof: what it shows must show in the original program too. So a leak waits here until its witness
//! was tried. One that did not show it is not tried again, and those that came about in the same way wait longer.

use crate::input::{Fault, Input};
use crate::verdict::Qualifier;
use std::collections::BTreeSet;

/// Leaks that wait.
const MAX_WAITING: usize = 8;

/// An input that makes the object leak.
#[derive(Clone, Debug)]
pub struct Leak {
    pub qualifier: Qualifier,
    pub input: Input,
    pub on_path: bool,
}

impl Leak {
    /// Whether there is no better one to wait for.
    pub fn is_as_reported(&self) -> bool {
        self.qualifier < Qualifier::StillReferenced && self.on_path
    }
}

/// What the witness of a leak came to.
pub enum Confirmation {
    /// It shows the object left over so.
    Shown(Qualifier),
    /// It does not, so another input might.
    NotShown(String),
    /// No witness of this program can be made.
    Impossible(String),
}

/// How a leak came about: what the program was told, and which of its calls failed.
type Way = (Vec<Vec<u8>>, BTreeSet<Fault>);

#[derive(Default)]
pub struct Leaks {
    waiting: Vec<Leak>,
    refused: Vec<Way>,
    /// Why the first of these was.
    why: Option<(Qualifier, String)>,
}

fn way(leak: &Leak) -> Way {
    (leak.input.command_line().to_vec(), leak.input.faults.clone())
}

impl Leaks {
    /// Smaller is better.
    fn value(&self, leak: &Leak) -> impl Ord + use<> {
        (self.refusals_like(leak), !leak.on_path, leak.qualifier, leak.input.faults.len())
    }

    pub fn add(&mut self, leak: Leak) {
        if self.waiting.iter().any(|l| l.qualifier == leak.qualifier && way(l) == way(&leak)) {
            return;
        }
        self.waiting.push(leak);
        self.order();
    }

    fn order(&mut self) {
        let mut valued: Vec<_> = self
            .waiting
            .drain(..)
            .collect::<Vec<_>>()
            .into_iter()
            .map(|l| (self.value(&l), l))
            .collect();
        valued.sort_by(|a, b| a.0.cmp(&b.0));
        valued.truncate(MAX_WAITING);
        self.waiting = valued.into_iter().map(|(_, leak)| leak).collect();
    }

    pub fn best(&self) -> Option<&Leak> {
        self.waiting.first()
    }

    /// The witness of the best one does not show it.
    pub fn refuse_best(&mut self, why: String) {
        if self.waiting.is_empty() {
            return;
        }
        let leak = self.waiting.remove(0);
        self.why.get_or_insert((leak.qualifier, why));
        self.refused.push(way(&leak));
        self.order();
    }

    /// How many witnesses of the same way failed.
    pub fn refusals_like(&self, leak: &Leak) -> u32 {
        let way = way(leak);
        self.refused.iter().filter(|w| **w == way).count() as u32
    }

    /// How the first leak was left whose witness failed, and why it did.
    pub fn refusal(&self) -> Option<&(Qualifier, String)> {
        self.why.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leak(argument: &str, qualifier: Qualifier) -> Leak {
        let input = Input::with_arguments(vec![argument.as_bytes().to_vec()]);
        Leak { qualifier, input, on_path: true }
    }

    #[test]
    fn another_way_comes_before_what_failed() {
        let mut leaks = Leaks::default();
        leaks.add(leak("b", Qualifier::StillReferenced));
        leaks.add(leak("a", Qualifier::LostLater));
        assert_eq!(leaks.best().unwrap().input.arguments[0], b"a");
        leaks.refuse_best("it does not show".into());
        leaks.add(leak("a", Qualifier::LostAtPoint));
        let best = leaks.best().unwrap();
        assert_eq!((best.input.arguments[0].as_slice(), leaks.refusals_like(best)), (&b"b"[..], 0));
        leaks.refuse_best("nor this".into());
        assert_eq!(leaks.refusals_like(leaks.best().unwrap()), 1);
        assert_eq!(leaks.refusal().unwrap().1, "it does not show");
    }

    #[test]
    fn the_same_way_waits_once() {
        let mut leaks = Leaks::default();
        leaks.add(leak("a", Qualifier::LostLater));
        leaks.add(leak("a", Qualifier::LostLater));
        leaks.refuse_best("no".into());
        assert!(leaks.best().is_none());
    }
}
