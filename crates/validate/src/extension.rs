//! Inputs with one more option: what showed something new is tried with each option of the program before it.
//!
//! A search finds bytes, but adds no options to a command line, and much happens only with two or three of them and the
//! right operands. Which inputs are tried first is told by how near they came to the goal.

use crate::candidates::Rank;
use crate::input::Input;
use std::collections::BTreeMap;

/// Words of a command line to which nothing is added.
const MANY_WORDS: usize = 11;

#[derive(Default)]
pub struct Extensions {
    /// Options as they are given.
    options: Vec<Vec<String>>,
    /// By nearness, then by age; with how many options each was tried.
    waiting: BTreeMap<(Rank, u64), (Input, usize)>,
    serial: u64,
}

impl Extensions {
    pub fn new(options: Vec<Vec<String>>) -> Self {
        Self { options, ..Self::default() }
    }

    /// An input that showed something new and came so near.
    pub fn offer(&mut self, input: &Input, rank: Rank) {
        if input.faults.is_empty() && input.command_line().len() < MANY_WORDS {
            self.serial += 1;
            self.waiting.insert((rank, self.serial), (input.clone(), 0));
        }
    }

    /// The next input to try: whatever came nearer meanwhile goes first.
    pub fn next_input(&mut self) -> Option<Input> {
        loop {
            let mut entry = self.waiting.first_entry()?;
            let (input, tried) = entry.get_mut();
            if let Some(option) = self.options.get(*tried) {
                *tried += 1;
                return Some(input.with_option(option));
            }
            entry.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_comes_first_with_each_option() {
        let options = [vec!["-s".to_owned()], vec!["-g".to_owned(), "1".to_owned()]];
        let mut extensions = Extensions::new(options.into());
        let input = |word: &[u8]| Input::with_arguments(vec![word.to_vec()]);
        extensions.offer(&input(b"far"), (1, 9));
        extensions.offer(&input(b"near"), (1, 2));
        let lines: Vec<Vec<Vec<u8>>> =
            std::iter::from_fn(|| extensions.next_input()).map(|i| i.arguments).collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0], [b"-s".to_vec(), b"near".to_vec()]);
        assert_eq!(lines[1], [b"-g".to_vec(), b"1".to_vec(), b"near".to_vec()]);
        assert!(Extensions::default().next_input().is_none());
    }

    #[test]
    fn who_comes_nearer_is_not_kept_waiting() {
        let options = [vec!["-a".to_owned()], vec!["-b".to_owned()]];
        let mut extensions = Extensions::new(options.into());
        let input = |word: &[u8]| Input::with_arguments(vec![word.to_vec()]);
        let mut next = |offered: Option<(&[u8], u32)>| {
            offered.into_iter().for_each(|(w, d)| extensions.offer(&input(w), (1, d)));
            extensions.next_input().map(|i| i.arguments.concat())
        };
        assert_eq!(next(Some((b"far", 9))).as_deref(), Some(&b"-afar"[..]));
        assert_eq!(next(Some((b"near", 2))).as_deref(), Some(&b"-anear"[..]));
        assert_eq!(next(None).as_deref(), Some(&b"-bnear"[..]));
        assert_eq!(next(None).as_deref(), Some(&b"-bfar"[..]));
        assert_eq!(next(None), None);
    }
}
