//! Inputs that a search starts from: a few that suit most programs, and those that the program's own
//! words suggest (options of `getopt`, texts that its functions are given).

use crate::formats;
use crate::input::Input;
use crate::map::ProgramMap;
use crate::samples::Sample;
use crate::target::Target;
use leakproof_rt::map::OptionMap;
use std::collections::{BTreeMap, BTreeSet};

/// Guesses of each kind that are run.
const MAX_OPTIONS: usize = 80;
const MAX_WORDS: usize = 60;
const MAX_PAIRS: usize = 1000;
const MAX_FORMATS: usize = 600;
const MAX_PREDICATES: usize = 300;
const MAX_COMMANDS: usize = 1000;

const LINES: &str = "a 1\nb 2\n";
/// A table of numbers, for programs that compute: conversion to floating point is not followed, so no search finds these.
const NUMBERS: &str = "1\t2\n1\t3\n2\t1\n";
/// More digits than any integer has.
const LONG_NUMBER: &str = "123456789012345678901234567890123456789012345";

/// A number that fits most integers but few buffers.
const LARGE_NUMBER: &str = "-9999999";

/// Files that are there unless the user gives some: the operands of our inputs name them. The last line of one
/// has no end, one is in a folder, one is hidden and like another. Beside them are an empty folder `e` and links to a folder,
/// to a file and to nothing.
fn default_files() -> BTreeMap<String, Vec<u8>> {
    let files = [("1", LINES), ("a", "a 2\nc 3"), ("d/a", "b 1\n"), ("d/.b", "b 1\n")];
    files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).into()
}

fn default_links() -> BTreeMap<String, String> {
    let links = [("l", "d"), ("k", "a"), ("o", "gone")];
    links.map(|(name, target)| (name.to_owned(), target.to_owned())).into()
}

/// The names of all that, as programs read them that take lists of files.
const NAMES: &str = "1\na\nd\nd/a\ne\nk\nl\no\n";

fn with(arguments: &[&str], stdin: &str) -> Input {
    Input {
        stdin: stdin.as_bytes().to_vec(),
        files: default_files(),
        folders: BTreeSet::from(["e".to_owned()]),
        links: default_links(),
        ..Input::with_arguments(arguments.iter().map(|a| a.as_bytes().to_vec()).collect())
    }
}

/// Inputs to start from for a harness, which makes arguments of standard input.
pub fn harness_seeds() -> Vec<Input> {
    let with = |stdin: &[u8]| Input { stdin: stdin.to_vec(), ..Input::with_arguments(Vec::new()) };
    vec![with(b""), with(&[1; 24]), with(&[b'A'; 64]), with(b"\x01abc\0\x01abc\0\x01\0\0\0\x01")]
}

/// Inputs to start from when the user gives none: nothing, numbers, words, lines, files.
pub fn default_seeds() -> Vec<Input> {
    vec![
        with(&[], ""),
        with(&["1"], "1\n"),
        with(&["AAAAAAAA", "0000000000"], "0000000000\n0000000000\n0000000000\n"),
        with(&[], "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nAAAAAAAA\n"),
        with(&["-a"], "a b c\n"),
        with(&["a", "b", "c"], LINES),
        with(&["1", "a"], LINES),
        with(&["d", "."], LINES),
        with(&["l/", "e", "l"], LINES),
        with(&["k", "o", "a"], NAMES),
        with(&[LONG_NUMBER], LONG_NUMBER),
    ]
}

/// Inputs made of the program's own words, in surroundings of the user's first seed.
pub fn of_words(map: &ProgramMap, target: &Target, base: Option<&Input>) -> Vec<Input> {
    let mut all = Vec::new();
    for option in options(map).iter().take(MAX_OPTIONS) {
        all.extend(option_inputs(&option.name, option.takes_value));
    }
    for word in all_words(map, target).into_iter().take(MAX_WORDS) {
        all.extend(environment_inputs(&word));
        let lines = format!("{word}\n{word} 1\n");
        all.push(with(&[&word], LINES));
        all.push(with(&[&word, "1", "2", "3"], LINES));
        all.push(with(&["1", &word, "2"], &lines));
    }
    beside(all, base)
}

/// More inputs than there is time for before a search begins; their kinds take turns, so that none waits long.
pub fn for_later(
    map: &ProgramMap,
    target: &Target,
    samples: &[Sample],
    base: Option<&Input>,
) -> Vec<Input> {
    let kinds = [
        beside_samples(samples, base),
        of_formats(map, base),
        beside(of_operands(map), base),
        beside(of_predicates(map, target), base),
        beside(of_commands(map, target), base),
        beside(of_pairs(map), base),
    ];
    let longest = kinds.iter().map(Vec::len).max().unwrap_or(0);
    let turns = (0..longest).flat_map(|i| kinds.iter().filter_map(move |kind| kind.get(i)));
    turns.cloned().collect()
}

/// Each sample as an operand and on standard input, in surroundings of the user's first seed; then as the second of two.
fn beside_samples(samples: &[Sample], base: Option<&Input>) -> Vec<Input> {
    let lines: [&[&str]; 2] = [&[], &["1"]];
    let with_operands = |operands: &[&str], sample: &Sample| {
        let line = [operands, &[sample.name.as_str()]].concat();
        let mut input = match base {
            Some(base) => with(&line, "").beside(base),
            None => with(&line, ""),
        };
        input.stdin = sample.content.clone();
        input.with_file(&sample.name, &sample.content)
    };
    lines.iter().flat_map(|l| samples.iter().filter_map(|s| with_operands(l, s))).collect()
}

/// Texts of known formats on standard input and in a file that operands name; then with each option.
fn of_formats(map: &ProgramMap, base: Option<&Input>) -> Vec<Input> {
    let mut all = Vec::new();
    for text in formats::texts() {
        let mut inputs = beside(vec![with(&[], &text), with(&["a", "1"], "")], base);
        if let Some(content) = inputs[1].files.get_mut("a") {
            *content = text.into_bytes();
        }
        all.extend(inputs);
    }
    for option in &options(map) {
        let words = option_words(option);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let inputs = formats::texts().iter().map(|text| with(&words, text)).collect();
        all.extend(beside(inputs, base));
    }
    all.truncate(MAX_FORMATS);
    all
}

/// Operands that programs which copy, move and remove want: new names, folders to put things into, links, something
/// that is no file and on another device.
const OPERANDS: &[&[&str]] = &[
    &["1", "a", "d"],
    &["1", "new"],
    &["d", "new"],
    &["d", "e"],
    &["l", "new"],
    &["l", "d", "e"],
    &["k", "new"],
    &["e"],
    &["/dev/null", "."],
];

/// Each option with these operands.
fn of_operands(map: &ProgramMap) -> Vec<Input> {
    let mut all: Vec<Input> = OPERANDS.iter().map(|o| with(o, NAMES)).collect();
    for option in options(map).iter().take(MAX_OPTIONS) {
        let words = option_words(option);
        for operands in OPERANDS {
            let words = words.iter().map(String::as_str);
            let line: Vec<&str> = words.chain(operands.iter().copied()).collect();
            all.push(with(&line, NAMES));
        }
    }
    all
}

/// The program's options, those first that have a letter: they are used more. Without `getopt` and `argp`, words that
/// look like options are.
fn options(map: &ProgramMap) -> Vec<OptionMap> {
    let mut all: Vec<OptionMap> = map.units.iter().flat_map(|u| u.options.clone()).collect();
    if all.is_empty() {
        let functions = map.units.iter().flat_map(|u| &u.functions);
        let words = functions.flat_map(|f| &f.words).chain(map.units.iter().flat_map(|u| &u.words));
        let names: BTreeSet<&String> = words.filter(|w| is_option(w)).collect();
        let option = |name: &String| OptionMap { name: name.clone(), takes_value: false };
        all = names.into_iter().map(option).collect();
    }
    all.sort_by_key(|o| o.name.starts_with("--"));
    all
}

/// Whether a word begins as options do.
fn is_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    let dashes = word.len() - name.len();
    (1..=2).contains(&dashes) && name.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Words of tables as options of programs that have a parser of their own: alone, and with a value behind.
fn of_predicates(map: &ProgramMap, target: &Target) -> Vec<Input> {
    let mut all = Vec::new();
    if map.units.iter().any(|u| !u.options.is_empty()) {
        return all;
    }
    for word in all_words(map, target).into_iter().filter(|w| is_name(w)).take(MAX_PREDICATES) {
        let option = format!("-{}", word.trim_start_matches('-'));
        all.push(with(&[".", &option], LINES));
        all.push(with(&[".", "/dev/null", &option, "1"], LINES));
    }
    all
}

/// Words as commands, with a number: alone, and behind each option.
fn of_commands(map: &ProgramMap, target: &Target) -> Vec<Input> {
    let words = all_words(map, target);
    let commands: Vec<&str> = words.iter().map(String::as_str).filter(|w| is_name(w)).collect();
    let mut all: Vec<Input> = commands.iter().map(|c| with(&[c, "1"], NUMBERS)).collect();
    let options = option_lines(map);
    for command in commands {
        for option in &options {
            let option = option.iter().map(String::as_str);
            let line: Vec<&str> = option.chain([command, "1"]).collect();
            all.push(with(&line, NUMBERS));
        }
    }
    all.truncate(MAX_COMMANDS);
    all
}

/// Whether a word may be the name of something to do.
fn is_name(word: &str) -> bool {
    word.len() > 1 && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Inputs with two options of the program's, for files and for a folder: much happens only when both are given.
fn of_pairs(map: &ProgramMap) -> Vec<Input> {
    let options = options(map);
    let mut pairs = Vec::new();
    for (i, first) in options.iter().enumerate() {
        for second in &options[i + 1..] {
            for operands in [&["1", "a"][..], &["."]] {
                let words = [option_words(first), option_words(second)].concat();
                let words = words.iter().map(String::as_str);
                let line: Vec<&str> = words.chain(operands.iter().copied()).collect();
                pairs.push(with(&line, LINES));
            }
        }
    }
    pairs.truncate(MAX_PAIRS);
    pairs
}

/// Every option as it is given.
pub fn option_lines(map: &ProgramMap) -> Vec<Vec<String>> {
    options(map).iter().take(MAX_OPTIONS).map(option_words).collect()
}

/// An option as it is given, with a value if it takes one.
fn option_words(option: &OptionMap) -> Vec<String> {
    match (option.takes_value, option.name.starts_with("--")) {
        (false, _) => vec![option.name.clone()],
        (true, true) => vec![format!("{}=1", option.name)],
        (true, false) => vec![option.name.clone(), "1".to_owned()],
    }
}

fn beside(inputs: Vec<Input>, base: Option<&Input>) -> Vec<Input> {
    match base {
        Some(base) => inputs.into_iter().map(|i| i.beside(base)).collect(),
        None => inputs,
    }
}

/// A word in capitals may be the name of an environment variable.
fn environment_inputs(word: &str) -> Vec<Input> {
    let is_name = |c: char| c.is_ascii_uppercase() || c == '_';
    if word.len() < 2 || !word.chars().all(is_name) {
        return Vec::new();
    }
    let set = |value: &str| Input {
        environment: BTreeMap::from([(word.to_owned(), value.as_bytes().to_vec())]),
        ..with(&["1", "a"], LINES)
    };
    vec![set("1"), set("a b")]
}

fn option_inputs(name: &str, takes_value: bool) -> Vec<Input> {
    if !takes_value {
        let operands: [&[&str]; 3] = [&[name], &[name, "1", "a"], &[name, "d", "."]];
        return operands.map(|o| with(o, LINES)).into();
    }
    let value = |value: &str| match name.starts_with("--") {
        true => with(&[&format!("{name}={value}"), "1", "a"], LINES),
        false => with(&[name, value, "1", "a"], LINES),
    };
    ["1", "a", "-1", LONG_NUMBER, LARGE_NUMBER].map(value).into()
}

/// Words of the functions from which the allocation can be reached, the nearest functions first; then
/// those of tables.
fn all_words(map: &ProgramMap, target: &Target) -> Vec<String> {
    let distances = map.distances(&target.site_blocks);
    let mut functions = Vec::new();
    for (unit, function, entry) in map.entries() {
        if let Some(distance) = distances[entry as usize] {
            functions.push((distance, entry, &map.units[unit].functions[function]));
        }
    }
    functions.sort_by_key(|(distance, entry, _)| (*distance, *entry));
    let near = functions.iter().flat_map(|(_, _, f)| &f.words);
    let tables = map.units.iter().flat_map(|u| &u.words);
    let mut seen = BTreeSet::new();
    let new = near.chain(tables).filter(|w| seen.insert(w.as_str()));
    new.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_rt::map::{BlockMap, FunctionMap, UnitMap};

    #[test]
    fn options_and_words_become_arguments() {
        let function = |word: &str| FunctionMap {
            words: vec![word.to_owned()],
            blocks: vec![BlockMap::default()],
            ..FunctionMap::default()
        };
        let unit = UnitMap {
            functions: vec![function("far"), function("near")],
            options: vec![OptionMap { name: "--size".into(), takes_value: true }],
            words: vec!["near".into(), "row".into()],
            ..UnitMap::default()
        };
        let target = Target { site_blocks: vec![1], ..Target::default() };
        let inputs = of_words(&ProgramMap::new(vec![unit]), &target, None);
        let firsts: Vec<String> = inputs
            .iter()
            .map(|i| String::from_utf8_lossy(&i.arguments[0]).into_owned())
            .filter(|a| a != "1")
            .collect();
        let sizes = ["1", "a", "-1", LONG_NUMBER, LARGE_NUMBER].map(|v| format!("--size={v}"));
        assert_eq!(firsts[..5], sizes);
        assert_eq!(firsts[5..], ["near", "near", "row", "row"]);
    }

    #[test]
    fn more_operands_and_predicates_for_later() {
        let has = |unit: UnitMap, words: &[&str]| {
            let words: Vec<Vec<u8>> = words.iter().map(|w| w.as_bytes().to_vec()).collect();
            let all = for_later(&ProgramMap::new(vec![unit]), &Target::default(), &[], None);
            all.iter().any(|i| i.arguments == words)
        };
        let option = OptionMap { name: "-n".into(), takes_value: true };
        let usual = || UnitMap { options: vec![option.clone()], ..UnitMap::default() };
        assert!(has(usual(), &["d", "new"]) && has(usual(), &["-n", "1", "1", "a", "d"]));
        let words = vec!["depth".to_owned(), "a b".to_owned()];
        let own = || UnitMap { words: words.clone(), ..UnitMap::default() };
        assert!(has(own(), &[".", "-depth"]) && !has(own(), &[".", "-a b"]));
        assert!(has(own(), &["depth", "1"]));
        let both = || UnitMap { words: words.clone(), ..usual() };
        assert!(has(both(), &["-n", "1", "depth", "1"]));
    }

    #[test]
    fn words_may_be_options() {
        let function = |words: &[&str]| FunctionMap {
            words: words.iter().map(|w| (*w).to_owned()).collect(),
            ..FunctionMap::default()
        };
        let unit = || UnitMap {
            functions: vec![function(&["--keep", "-k", "k", "-", "--", "-1", "---"])],
            ..UnitMap::default()
        };
        let names = |unit| -> Vec<String> {
            options(&ProgramMap::new(vec![unit])).into_iter().map(|o| o.name).collect()
        };
        assert_eq!(names(unit()), ["-k", "--keep"]);
        let known = OptionMap { name: "-x".into(), takes_value: false };
        assert_eq!(names(UnitMap { options: vec![known], ..unit() }), ["-x"]);
    }

    #[test]
    fn two_options_at_once_and_variables() {
        let option = |name: &str, takes_value| OptionMap { name: name.into(), takes_value };
        let options = vec![option("--long", false), option("-a", false), option("-n", true)];
        let map = ProgramMap::new(vec![UnitMap { options, ..UnitMap::default() }]);
        let pairs = of_pairs(&map);
        assert_eq!(pairs.len(), 6);
        assert_eq!(pairs[0].arguments, ["-a", "-n", "1", "1", "a"].map(|a| a.as_bytes().to_vec()));
        assert_eq!(environment_inputs("GZIP")[0].environment["GZIP"], b"1");
        assert!(environment_inputs("gzip").is_empty() && environment_inputs("A").is_empty());
    }
}
