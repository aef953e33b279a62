//! Inputs made of two, and inputs that end sooner: the command line of one with the files of another, a line of one behind
//! those of another, a file without its last lines.
//!
//! What a program does is often the product of parts that different inputs have: a command that is known from one, a file that
//! reads well from another, one more line in it. Each part showed something new by itself; no expression of either run
//! says that the other part would go with it. And what a program refuses in a file's last lines hides what it does with
//! the others.

use crate::candidates::Rank;
use crate::input::Input;
use leakproof_rt::abi::{SOURCE_ENV, SOURCE_STDIN};
use std::collections::{BTreeMap, BTreeSet};

/// Longer files stay as they are.
const LONG_FILE: usize = 4096;
/// Longer lines are not put elsewhere.
const LONG_LINE: usize = 120;
/// Inputs that another is joined with, and lines that are put behind those of one file.
const MAX_PARTNERS: usize = 3;
const MAX_LINES: usize = 8;
/// Shorter forms of one file.
const MAX_CUTS: usize = 5;
/// Inputs that are kept as partners.
const MAX_KEPT: usize = 60;

/// An input, and a file that was read of it.
#[derive(Clone)]
struct Part {
    input: Input,
    file: Option<String>,
}

impl Part {
    /// This input with the command line of another, whose operands name our file in the place of its own.
    fn told(&self, other: &Part) -> Input {
        let mut input = self.input.with_command_line_of(&other.input);
        let Some(file) = &self.file else { return input };
        let names: BTreeSet<String> = other.input.entries().into_iter().collect();
        for word in &mut input.arguments {
            let plain = String::from_utf8_lossy(word);
            let plain = plain.trim_end_matches('/');
            if names.contains(plain) || other.input.has_folder(plain) {
                *word = file.as_bytes().to_vec();
            }
        }
        input
    }
}

/// Inputs that showed something new, and the lines they had.
#[derive(Default)]
pub struct Splices {
    kept: BTreeMap<(Rank, u64), Part>,
    serial: u64,
    /// In the order in which they were found.
    lines: Vec<Vec<u8>>,
}

impl Splices {
    /// Takes in an input that showed something new, came so near and of which these sources were read; what could be made
    /// of it and those known before.
    pub fn of(&mut self, input: &Input, rank: Rank, read: &BTreeSet<u32>) -> Vec<Input> {
        let files: Vec<u32> =
            read.iter().copied().filter(|s| (SOURCE_STDIN..SOURCE_ENV).contains(s)).collect();
        let mut all: Vec<Input> = files.iter().flat_map(|s| shortened(input, *s)).collect();
        all.extend(files.iter().flat_map(|s| self.with_other_lines(input, *s)));
        let file = files.iter().find_map(|s| input.file_name(*s)).map(str::to_owned);
        let part = Part { input: input.clone(), file };
        all.extend(self.joined(&part));
        for source in files {
            self.learn_lines(input.content(source));
        }
        self.serial += 1;
        self.kept.insert((rank, self.serial), part);
        if self.kept.len() > MAX_KEPT {
            self.kept.pop_last();
        }
        all
    }

    fn learn_lines(&mut self, content: &[u8]) {
        for line in content.split(|b| *b == b'\n') {
            let is_new = !self.lines.iter().any(|l| l == line);
            if !line.is_empty() && line.len() <= LONG_LINE && is_new {
                self.lines.push(line.to_vec());
            }
        }
    }

    /// The file with one more line behind its own, those first that were found last.
    fn with_other_lines(&self, input: &Input, source: u32) -> Vec<Input> {
        let content = input.content(source);
        if content.len() > LONG_FILE {
            return Vec::new();
        }
        let own: BTreeSet<&[u8]> = content.split(|b| *b == b'\n').collect();
        let others = self.lines.iter().rev().filter(|l| !own.contains(l.as_slice()));
        let end: &[u8] = if content.is_empty() || content.ends_with(b"\n") { b"" } else { b"\n" };
        let text = |line: &Vec<u8>| [end, line, b"\n"].concat();
        let added = others.take(MAX_LINES).map(text);
        added.filter_map(|text| input.replaced(source, content.len(), 0, &text)).collect()
    }

    /// The command line of the one with all else of the other, both ways, for the nearest that differ in both.
    fn joined(&self, part: &Part) -> Vec<Input> {
        let input = &part.input;
        let differs = |other: &&Part| {
            let other = &other.input;
            other.command_line() != input.command_line()
                && (&other.stdin, &other.files) != (&input.stdin, &input.files)
        };
        let partners = self.kept.values().filter(differs).take(MAX_PARTNERS);
        partners.flat_map(|other| [other.told(part), part.told(other)]).collect()
    }
}

/// The file cut off behind each of its lines but the last, the longest first.
fn shortened(input: &Input, source: u32) -> Vec<Input> {
    let content = input.content(source);
    if content.len() > LONG_FILE {
        return Vec::new();
    }
    let inner = content.len().saturating_sub(1);
    let ends = (0..inner).rev().filter(|i| content[*i] == b'\n').take(MAX_CUTS);
    ends.filter_map(|i| input.replaced(source, i + 1, content.len() - i - 1, b"")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Rank = (1, 9);

    fn input(words: &[&str], stdin: &str) -> Input {
        let words = words.iter().map(|w| w.as_bytes().to_vec()).collect();
        Input { stdin: stdin.as_bytes().to_vec(), ..Input::with_arguments(words) }
    }

    fn stdin() -> BTreeSet<u32> {
        BTreeSet::from([SOURCE_STDIN])
    }

    #[test]
    fn a_command_goes_with_the_file_of_another() {
        let mut splices = Splices::default();
        assert_eq!(splices.of(&input(&["get", "x"], ""), FAR, &BTreeSet::new()), []);
        let made = splices.of(&input(&["1"], "x=2\n"), FAR, &BTreeSet::new());
        assert_eq!(made, [input(&["1"], ""), input(&["get", "x"], "x=2\n")]);
        // What differs in one only is there already.
        assert_eq!(splices.of(&input(&["get", "y"], ""), FAR, &BTreeSet::new()).len(), 2);
    }

    #[test]
    fn operands_name_the_file_that_is_there() {
        let with_file = |words: &[&str], name: &str| {
            let mut input = input(words, "");
            input.files.insert(name.into(), b"x".to_vec());
            input
        };
        let mut splices = Splices::default();
        splices.of(&with_file(&["d", "get", "x"], "d/a"), FAR, &BTreeSet::new());
        let made = splices.of(&with_file(&["b"], "b"), FAR, &BTreeSet::from([SOURCE_STDIN + 1]));
        let lines: Vec<_> = made.iter().map(|i| i.command_line().concat()).collect();
        assert_eq!(lines, [b"b".to_vec(), b"bgetx".to_vec()]);
    }

    #[test]
    fn files_end_sooner_or_go_on_with_lines_of_others() {
        let mut splices = Splices::default();
        let texts = |made: Vec<Input>| {
            made.into_iter().map(|i| String::from_utf8(i.stdin).expect("text")).collect::<Vec<_>>()
        };
        let first = texts(splices.of(&input(&[], "a\nb\nc"), FAR, &stdin()));
        assert_eq!(first, ["a\nb\n", "a\n"]);
        let second = texts(splices.of(&input(&[], "d\na"), FAR, &stdin()));
        assert_eq!(second, ["d\n", "d\na\nc\n", "d\na\nb\n"]);
        // What was not read is no part of it.
        assert!(texts(splices.of(&input(&[], "a\nb\n"), FAR, &BTreeSet::new())).is_empty());
    }
}
