//! Inputs with one more option: what showed something new is tried with each option of the program before it.
//!
//! A search finds bytes, but adds no options to a command line, and much happens only with two or three of them and the
//! right operands. Which inputs are tried first is told by how near they came to the goal.

use crate::input::Input;
use std::collections::{BTreeMap, VecDeque};

/// Words of a command line to which nothing is added.
const MANY_WORDS: usize = 7;

/// Goals still ahead, and the distance to the next.
type Rank = (usize, u32);

#[derive(Default)]
pub struct Extensions {
    /// Options as they are given.
    options: Vec<Vec<String>>,
    /// By nearness, then by age.
    waiting: BTreeMap<(Rank, u64), Input>,
    ready: VecDeque<Input>,
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
            self.waiting.insert((rank, self.serial), input.clone());
        }
    }

    /// The next input to try.
    pub fn next_input(&mut self) -> Option<Input> {
        while self.ready.is_empty() {
            let (_, input) = self.waiting.pop_first()?;
            self.ready = self.options.iter().map(|o| input.with_option(o)).collect();
        }
        self.ready.pop_front()
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
}
