//! Files that a program looks for in vain: inputs in which they are there.
//!
//! No solver finds a file: whether there is one is nobody's expression. But a run tells what it looked for.

use crate::input::Input;
use leakproof_rt::abi::{SOURCE_ENV, SOURCE_FILES};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

/// Names that are taken up in one search.
const MAX_NAMES: usize = 40;
/// Inputs that one name is put into.
const MAX_TIMES: u32 = 3;

/// What is in such a file at first; its bytes are as symbolic as those of any other. Another time it is what the run read
/// from another file: what a file names is often of its own kind (an inclusion), and so leads on to itself.
const CONTENT: &[u8] = b"a 1\n\tb\n";

/// How often each name was taken up.
#[derive(Default)]
pub struct Missing {
    times: BTreeMap<String, u32>,
}

impl Missing {
    /// The input with each file that its run looked for in vain, in `folder`; `read` are the sources that it read.
    /// `has_news`: that run showed something new, so that a name which was taken up before is worth another try.
    pub fn inputs(
        &mut self,
        input: &Input,
        names: &[String],
        folder: &Path,
        read: &BTreeSet<u32>,
        has_news: bool,
    ) -> Vec<Input> {
        let mut inputs = Vec::new();
        let like = read.range(SOURCE_FILES..SOURCE_ENV).next().map(|s| input.content(*s));
        for name in names.iter().filter_map(|n| name_within(n, folder)) {
            let name = through_link(name, input);
            let times = self.times.get(&name).copied().unwrap_or(0);
            let is_worth_it = match times {
                0 => self.times.len() < MAX_NAMES,
                n => has_news && n < MAX_TIMES,
            };
            let contents = like.into_iter().chain([CONTENT]);
            let with: Vec<Input> = contents.filter_map(|c| input.with_file(&name, c)).collect();
            if is_worth_it && !with.is_empty() {
                inputs.extend(with);
                self.times.insert(name, times + 1);
            }
        }
        inputs
    }
}

/// A name as a path below the folder that the program runs in, if it is one.
fn name_within(name: &str, folder: &Path) -> Option<String> {
    let path = Path::new(name);
    let path = if path.is_absolute() { path.strip_prefix(folder).ok()? } else { path };
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_str()?),
            _ => return None,
        }
    }
    // What ends so is looked for as a folder.
    let is_file = !parts.is_empty() && !name.ends_with('/');
    is_file.then(|| parts.join("/"))
}

/// The name without a link at its beginning.
fn through_link(name: String, input: &Input) -> String {
    let (first, rest) = match name.split_once('/') {
        Some((first, rest)) => (first, Some(rest)),
        None => (name.as_str(), None),
    };
    match (input.links.get(first), rest) {
        (Some(target), Some(rest)) => format!("{target}/{rest}"),
        (Some(target), None) => target.clone(),
        (None, _) => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input() -> Input {
        let mut input = Input::with_arguments(Vec::new());
        input.files.insert("d/a".into(), b"x".to_vec());
        input.links.insert("l".into(), "d".into());
        input.links.insert("o".into(), "gone".into());
        input.folders.insert("e".into());
        input
    }

    fn inputs_of(m: &mut Missing, given: &Input, names: &[String], has_news: bool) -> Vec<Input> {
        m.inputs(given, names, Path::new("/w"), &BTreeSet::new(), has_news)
    }

    #[test]
    fn what_is_named_may_be_like_what_names_it() {
        let (given, looked_for) = (input(), ["x".to_owned()]);
        let contents = |read: &[u32]| {
            let read = read.iter().copied().collect();
            let all = Missing::default().inputs(&given, &looked_for, Path::new("/w"), &read, false);
            all.iter().map(|i| i.files["x"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(contents(&[SOURCE_FILES]), [b"x".to_vec(), CONTENT.to_vec()]);
        assert_eq!(contents(&[SOURCE_FILES - 1]), [CONTENT]);
    }

    fn names(looked_for: &[&str]) -> Vec<String> {
        let looked_for: Vec<String> = looked_for.iter().map(|n| (*n).to_owned()).collect();
        let given = input();
        let inputs = inputs_of(&mut Missing::default(), &given, &looked_for, true);
        let new = |i: &Input| i.files.keys().find(|k| !given.files.contains_key(*k)).cloned();
        inputs.iter().filter_map(new).collect()
    }

    #[test]
    fn names_stay_in_the_folder() {
        assert_eq!(names(&["./.info", "/w/.rc", "e/x"]), [".info", ".rc", "e/x"]);
        assert_eq!(names(&["../x", "/etc/rc", "", "/w", "x/", "d/a/b"]), [""; 0]);
    }

    #[test]
    fn links_are_followed() {
        assert_eq!(names(&["l/.info", "o"]), ["d/.info", "gone"]);
    }

    #[test]
    fn a_name_is_taken_up_a_few_times() {
        let mut missing = Missing::default();
        let looked_for = ["x".to_owned()];
        let mut again = |has_news| inputs_of(&mut missing, &input(), &looked_for, has_news).len();
        assert_eq!(
            [again(false), again(false), again(true), again(true), again(true)],
            [1, 0, 1, 1, 0]
        );
    }
}
