//! Inputs with a little more: what showed something new is tried with something in it twice, with parts of others that did
//! (`splice`), and with each option of the program before it.
//!
//! A search finds bytes, but adds no options to a command line and no lines to a file, and much happens only with two or
//! three options and the right operands, or the second time. Which inputs are tried first is told by how near they came to
//! the goal.

use crate::candidates::Rank;
use crate::input::Input;
use crate::splice::Splices;
use leakproof_rt::abi::{SOURCE_ENV, SOURCE_STDIN};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// Words of a command line to which nothing is added.
const MANY_WORDS: usize = 11;
/// Inputs that wait at once.
const MAX_WAITING: usize = 3000;
/// Lines of a file that are tried twice.
const MAX_LINES: usize = 6;
/// Longer files are not made longer still.
const LONG_FILE: usize = 4096;

/// An input, and what is tried with it.
struct Waiting {
    input: Input,
    others: Vec<Input>,
    /// With how many options it was tried.
    options: usize,
}

#[derive(Default)]
pub struct Extensions {
    /// Options as they are given.
    options: Vec<Vec<String>>,
    /// By nearness, then by age.
    waiting: BTreeMap<(Rank, u64), Waiting>,
    serial: u64,
    splices: Splices,
    /// What was made already.
    made: FxHashSet<Input>,
}

impl Extensions {
    pub fn new(options: Vec<Vec<String>>) -> Self {
        Self { options, ..Self::default() }
    }

    /// An input that showed something new, came so near and of which these sources were read.
    pub fn offer(&mut self, input: &Input, rank: Rank, read: &BTreeSet<u32>) {
        if input.faults.is_empty() {
            self.serial += 1;
            let mut others = [repeated(input, read), self.splices.of(input, rank, read)].concat();
            others.retain(|i| self.made.insert(i.clone()));
            // The last is tried first.
            others.reverse();
            let waiting = Waiting {
                input: input.clone(),
                others,
                options: if input.command_line().len() < MANY_WORDS { 0 } else { usize::MAX },
            };
            self.waiting.insert((rank, self.serial), waiting);
            if self.waiting.len() > MAX_WAITING {
                self.waiting.pop_last();
            }
        }
    }

    /// The next input to try: whatever came nearer meanwhile goes first.
    pub fn next_input(&mut self) -> Option<Input> {
        loop {
            let mut entry = self.waiting.first_entry()?;
            let waiting = entry.get_mut();
            if let Some(input) = waiting.others.pop() {
                return Some(input);
            }
            if let Some(option) = self.options.get(waiting.options) {
                waiting.options += 1;
                return Some(waiting.input.with_option(option));
            }
            entry.remove();
        }
    }
}

/// The input with one of its lines, or all its words, twice.
fn repeated(input: &Input, read: &BTreeSet<u32>) -> Vec<Input> {
    let files = read.iter().filter(|s| (SOURCE_STDIN..SOURCE_ENV).contains(*s));
    let mut all: Vec<Input> = files.flat_map(|s| with_lines_repeated(input, *s)).collect();
    let words = input.command_line();
    if (1..=MANY_WORDS / 2).contains(&words.len()) {
        let arguments = [words, words].concat();
        all.push(Input { argc: arguments.len() as u32 + 1, arguments, ..input.clone() });
    }
    all
}

/// A file with each of its first lines once more behind all the others.
fn with_lines_repeated(input: &Input, source: u32) -> Vec<Input> {
    let content = input.content(source);
    if content.len() > LONG_FILE {
        return Vec::new();
    }
    let lines: BTreeSet<&[u8]> = content.split_inclusive(|b| *b == b'\n').take(MAX_LINES).collect();
    let end: &[u8] = if content.ends_with(b"\n") { b"" } else { b"\n" };
    let added = lines.into_iter().map(|line| [end, line].concat());
    added.filter_map(|text| input.replaced(source, content.len(), 0, &text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(word: &[u8]) -> Input {
        Input::with_arguments(vec![word.to_vec()])
    }

    fn joined(input: Input) -> Vec<u8> {
        input.command_line().concat()
    }

    #[test]
    fn the_nearest_comes_first_with_each_option() {
        let options = [vec!["-s".to_owned()], vec!["-g".to_owned(), "1".to_owned()]];
        let mut extensions = Extensions::new(options.into());
        extensions.offer(&input(b"far"), (1, 9), &BTreeSet::new());
        extensions.offer(&input(b"near"), (1, 2), &BTreeSet::new());
        let lines: Vec<Vec<u8>> =
            std::iter::from_fn(|| extensions.next_input()).map(joined).collect();
        let near: [&[u8]; 3] = [b"nearnear", b"-snear", b"-g1near"];
        assert_eq!(lines[..3], near);
        assert_eq!(lines.len(), 6);
        assert!(Extensions::default().next_input().is_none());
    }

    #[test]
    fn who_comes_nearer_is_not_kept_waiting() {
        let mut extensions = Extensions::new(vec![vec!["-a".to_owned()]]);
        let mut next = |offered: Option<(&[u8], u32)>| {
            let offers = offered.into_iter();
            offers.for_each(|(w, d)| extensions.offer(&input(w), (1, d), &BTreeSet::new()));
            extensions.next_input().map(joined)
        };
        assert_eq!(next(Some((b"far", 9))).as_deref(), Some(&b"farfar"[..]));
        assert_eq!(next(Some((b"near", 2))).as_deref(), Some(&b"nearnear"[..]));
        assert_eq!(next(None).as_deref(), Some(&b"-anear"[..]));
        assert_eq!(next(None).as_deref(), Some(&b"-afar"[..]));
        assert_eq!(next(None), None);
    }

    #[test]
    fn lines_that_were_read_come_again() {
        let given = Input { stdin: b"a 1\nb".to_vec(), ..Input::default() };
        let texts = |read: &[u32]| {
            let all = repeated(&given, &read.iter().copied().collect());
            all.into_iter().map(|i| i.stdin).collect::<Vec<_>>()
        };
        assert_eq!(texts(&[SOURCE_STDIN]), [b"a 1\nb\na 1\n".to_vec(), b"a 1\nb\nb".to_vec()]);
        assert!(texts(&[]).is_empty());
    }
}
