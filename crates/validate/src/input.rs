//! One test input: arguments, standard input, files, environment, and calls that fail.
//!
//! Invariant: an input describes a run completely; the same input gives the same run, as far as the
//! program is deterministic.

use crate::trace::Trace;
use leakproof_rt::abi::{
    FAULTS, LENGTH, MAX_ARGS, SOURCE_ARGC, SOURCE_ARGS, SOURCE_ENV, SOURCE_FILES, SOURCE_NAME,
    SOURCE_SHIFT, SOURCE_STDIN, USUAL_NAME, event,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Room that arguments and environment variables have to grow.
const TEXT_CAPACITY: u32 = 24;
/// Arguments that an input may come to have.
const EXTRA_ARGUMENTS: usize = 3;
/// Bytes that a file may come to have beyond those of its seed.
const FILE_GROWTH: u64 = 1024;
/// Bytes that a file may have when nothing smaller will do.
const LARGEST_FILE: u64 = 4 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Input {
    /// Arguments after the program's name; those beyond `argc` wait for it to grow.
    pub arguments: Vec<Vec<u8>>,
    /// How many words the command line has, the program's name included.
    pub argc: u32,
    /// The name that the program is started by, a plain word; without one it is started by its path.
    pub name: Option<Vec<u8>>,
    pub stdin: Vec<u8>,
    pub files: BTreeMap<String, Vec<u8>>,
    /// Folders with nothing in them, and symbolic links with what they point to.
    pub folders: BTreeSet<String>,
    pub links: BTreeMap<String, String>,
    pub environment: BTreeMap<String, Vec<u8>>,
    pub faults: BTreeSet<Fault>,
}

/// One call of one function that fails.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fault {
    pub function: String,
    /// 1 is the first call after `main` has started.
    pub call: u32,
}

impl Fault {
    pub fn number(&self) -> u32 {
        FAULTS.iter().position(|f| *f == self.function).unwrap_or(usize::MAX) as u32
    }
}

impl Input {
    pub fn with_arguments(arguments: Vec<Vec<u8>>) -> Self {
        let argc = arguments.len() as u32 + 1;
        Self { arguments, argc, ..Self::default() }
    }

    /// This input with the files, if there are any, and the environment of another besides its own.
    pub fn beside(mut self, other: &Input) -> Self {
        if !other.files.is_empty() {
            self.files = other.files.clone();
            (self.folders, self.links) = (other.folders.clone(), other.links.clone());
        }
        self.environment.extend(other.environment.clone());
        self
    }

    /// This input with more words at the beginning of its command line.
    pub fn with_option(&self, words: &[String]) -> Self {
        let words = words.iter().map(|w| w.as_bytes().to_vec());
        let arguments: Vec<Vec<u8>> = words.chain(self.command_line().iter().cloned()).collect();
        Self { argc: arguments.len() as u32 + 1, arguments, ..self.clone() }
    }

    /// This input with the command line, the name and the environment of another.
    pub fn with_command_line_of(&self, other: &Self) -> Self {
        Self {
            arguments: other.arguments.clone(),
            argc: other.argc,
            name: other.name.clone(),
            environment: other.environment.clone(),
            ..self.clone()
        }
    }

    /// What the program finds in its folder.
    pub fn entries(&self) -> Vec<String> {
        let named = self.files.keys().chain(&self.folders).chain(self.links.keys());
        named.cloned().collect()
    }

    /// This input without one entry of the folder.
    pub fn without(&self, entry: &str) -> Self {
        let mut input = self.clone();
        input.files.remove(entry);
        input.folders.remove(entry);
        input.links.remove(entry);
        input
    }

    /// Whether there is a folder of this name.
    pub fn has_folder(&self, name: &str) -> bool {
        let is_above =
            |file: &String| Path::new(file) != Path::new(name) && Path::new(file).starts_with(name);
        self.folders.contains(name) || (!name.is_empty() && self.files.keys().any(is_above))
    }

    /// The name of the file that a source is, if it is one.
    pub fn file_name(&self, source: u32) -> Option<&str> {
        let number = source.checked_sub(SOURCE_FILES)?;
        self.files.keys().nth(number as usize).map(String::as_str)
    }

    /// This input with one more file, unless something else is in its place.
    pub fn with_file(&self, name: &str, content: &[u8]) -> Option<Self> {
        let is_entry = |path: &Path| {
            let path = path.to_string_lossy();
            self.files.contains_key(path.as_ref()) || self.links.contains_key(path.as_ref())
        };
        if self.has_folder(name) || Path::new(name).ancestors().any(is_entry) {
            return None;
        }
        let mut input = self.clone();
        input.files.insert(name.to_owned(), content.to_vec());
        Some(input)
    }

    /// Makes the folder's entries.
    pub fn write_entries(&self, folder: &Path) -> std::io::Result<()> {
        for (name, content) in &self.files {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, content)?;
        }
        for name in &self.folders {
            std::fs::create_dir_all(folder.join(name))?;
        }
        for (name, target) in &self.links {
            std::os::unix::fs::symlink(target, folder.join(name))?;
        }
        Ok(())
    }

    /// The first word of the command line.
    pub fn started_by(&self) -> &[u8] {
        self.name.as_deref().unwrap_or(USUAL_NAME.as_bytes())
    }

    /// This input for a run outside of the sandbox: what that refused must fail there too.
    pub fn with_refused(&self, trace: &Trace) -> Self {
        let mut input = self.clone();
        let refused = trace.events.iter().filter(|e| e.kind == event::FAULT && e.aux == 2);
        for e in refused {
            let function = FAULTS.get(usize::from(e.taken)).copied().unwrap_or_default();
            input.faults.insert(Fault { function: function.to_owned(), call: e.node });
        }
        input
    }

    /// The arguments that the program gets.
    pub fn command_line(&self) -> &[Vec<u8>] {
        let count = (self.argc.max(1) as usize - 1).min(self.arguments.len());
        &self.arguments[..count]
    }

    /// How many bytes the text in this slot may have.
    pub fn capacity(text: &[u8]) -> u32 {
        TEXT_CAPACITY.max(text.len() as u32 + TEXT_CAPACITY / 2)
    }

    /// The least and greatest value of a variable; `None` for bytes, which may be anything.
    pub fn bounds(&self, variable: u32) -> Option<(u64, u64)> {
        if variable & LENGTH != LENGTH {
            return None;
        }
        match variable >> SOURCE_SHIFT {
            SOURCE_ARGC => {
                let most = (self.arguments.len() + EXTRA_ARGUMENTS).min(MAX_ARGS as usize);
                Some((1, most as u64 + 1))
            }
            source => Some((0, self.content(source).len() as u64 + FILE_GROWTH)),
        }
    }

    /// These bounds for a search that found nothing within them: files may become as large as those of whole devices.
    pub fn wide_bounds(&self, variable: u32) -> Option<(u64, u64)> {
        if is_file_size(variable) { Some((0, LARGEST_FILE)) } else { self.bounds(variable) }
    }

    pub fn content(&self, source: u32) -> &[u8] {
        match source.checked_sub(SOURCE_STDIN) {
            Some(0) => &self.stdin,
            Some(n) => self.files.values().nth(n as usize - 1).map_or(&[], Vec::as_slice),
            None => &[],
        }
    }

    /// This input with other values for some variables.
    pub fn changed(&self, values: &BTreeMap<u32, u64>) -> Self {
        let mut input = self.clone();
        // Lengths first: bytes of what is cut off do not matter, bytes of what grows do.
        for (&variable, &value) in values.iter().filter(|(v, _)| **v & LENGTH == LENGTH) {
            input.set_length(variable >> SOURCE_SHIFT, value as usize);
        }
        // While it is changed a name may be anything.
        input.name = Some(self.started_by().to_vec());
        for (&variable, &value) in values.iter().filter(|(v, _)| **v & LENGTH != LENGTH) {
            input.set_byte(variable >> SOURCE_SHIFT, (variable & LENGTH) as usize, value as u8);
        }
        input.name = input.name.and_then(plain_name);
        input.arguments.iter_mut().for_each(trim);
        input.environment.values_mut().for_each(trim);
        input
    }

    /// This input with `text` instead of `length` bytes of a source, if it has them.
    pub fn replaced(&self, source: u32, at: usize, length: usize, text: &[u8]) -> Option<Self> {
        const LONGEST: usize = 1 << 16;
        let mut input = self.clone();
        let content = match source {
            SOURCE_ARGS..SOURCE_STDIN => input.arguments.get_mut((source - SOURCE_ARGS) as usize),
            SOURCE_ENV..SOURCE_NAME => {
                input.environment.values_mut().nth((source - SOURCE_ENV) as usize)
            }
            SOURCE_STDIN..SOURCE_ENV => input.content_mut(source),
            _ => None,
        }?;
        let is_there = at + length <= content.len() && content.len() + text.len() < LONGEST;
        let is_file = (SOURCE_STDIN..SOURCE_ENV).contains(&source);
        if !is_there || (!is_file && text.contains(&0)) {
            return None;
        }
        content.splice(at..at + length, text.iter().copied());
        Some(input)
    }

    /// Where a text stands first: its source, and the place in that.
    pub fn place_of(&self, text: &[u8]) -> Option<(u32, usize)> {
        let arguments = self.command_line().iter().zip(SOURCE_ARGS..);
        let files = [&self.stdin].into_iter().chain(self.files.values()).zip(SOURCE_STDIN..);
        let variables = self.environment.values().zip(SOURCE_ENV..);
        let place = |(content, source): (&Vec<u8>, u32)| {
            let at = content.windows(text.len().max(1)).position(|w| w == text)?;
            Some((source, at))
        };
        arguments.chain(files).chain(variables).find_map(place)
    }

    fn set_length(&mut self, source: u32, length: usize) {
        const FILLER: u8 = b'0';
        const MANY: usize = 1 << 16;
        match source {
            SOURCE_ARGC => {
                self.argc = length as u32;
                let wanted = length.saturating_sub(1);
                if self.arguments.len() < wanted {
                    self.arguments.resize(wanted, vec![FILLER]);
                }
            }
            _ => {
                if let Some(content) = self.content_mut(source) {
                    // What is large is no text.
                    let is_large = length > content.len() + MANY;
                    content.resize(length, if is_large { 0 } else { FILLER });
                }
            }
        }
    }

    fn set_byte(&mut self, source: u32, at: usize, value: u8) {
        let is_text = !(SOURCE_STDIN..SOURCE_ENV).contains(&source);
        let content = match source {
            SOURCE_ARGS..SOURCE_STDIN => self.arguments.get_mut((source - SOURCE_ARGS) as usize),
            SOURCE_NAME => self.name.as_mut(),
            SOURCE_ENV.. => self.environment.values_mut().nth((source - SOURCE_ENV) as usize),
            _ => self.content_mut(source),
        };
        let Some(content) = content else { return };
        if is_text && content.len() <= at {
            content.resize(at + 1, 0);
        }
        if let Some(byte) = content.get_mut(at) {
            *byte = value;
        }
    }

    fn content_mut(&mut self, source: u32) -> Option<&mut Vec<u8>> {
        match source.checked_sub(SOURCE_STDIN)? {
            0 => Some(&mut self.stdin),
            n => self.files.values_mut().nth(n as usize - 1),
        }
    }
}

/// Whether a variable is the length of a file with a name.
pub fn is_file_size(variable: u32) -> bool {
    let is_length = variable & LENGTH == LENGTH;
    is_length && (SOURCE_FILES..SOURCE_ENV).contains(&(variable >> SOURCE_SHIFT))
}

/// A name by which a witness can start the program, through a link of that name: the last part of what the search
/// wants. `None` when that is its path, or no name for a link.
fn plain_name(mut name: Vec<u8>) -> Option<Vec<u8>> {
    trim(&mut name);
    let last = name.rsplit(|b| *b == b'/').next().unwrap_or_default();
    let is_usual = name == USUAL_NAME.as_bytes();
    (!is_usual && ![&b""[..], b".", b".."].contains(&last)).then(|| last.to_vec())
}

/// Strings end at their first zero.
fn trim(text: &mut Vec<u8>) {
    if let Some(end) = text.iter().position(|b| *b == 0) {
        text.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn byte(source: u32, at: u32) -> u32 {
        source << SOURCE_SHIFT | at
    }

    #[test]
    fn arguments_grow_and_shrink() {
        let input = Input::with_arguments(vec![b"1".to_vec()]);
        let grown = input.changed(&BTreeMap::from([
            (byte(SOURCE_ARGS, 0), 52),
            (byte(SOURCE_ARGS, 1), 50),
            (byte(SOURCE_ARGC, LENGTH), 3),
        ]));
        assert_eq!(grown.command_line(), [b"42".to_vec(), b"0".to_vec()]);
        let cut = grown
            .changed(&BTreeMap::from([(byte(SOURCE_ARGS, 1), 0), (byte(SOURCE_ARGC, LENGTH), 2)]));
        assert_eq!(cut.command_line(), [b"4".to_vec()]);
    }

    #[test]
    fn programs_are_started_by_their_path_or_by_a_word() {
        let input = Input::with_arguments(Vec::new());
        let named = |bytes: &[(u32, u8)]| {
            let pairs = bytes.iter().map(|(at, b)| (byte(SOURCE_NAME, *at), u64::from(*b)));
            input.changed(&pairs.collect()).name
        };
        assert_eq!(named(&[]), None);
        assert_eq!(named(&[(2, b'a')]), Some(b"..aprogram".to_vec()));
        assert_eq!(named(&[(3, b'x'), (4, 0)]), Some(b"x".to_vec()));
        assert_eq!(named(&[(3, 0)]), None);
    }

    #[test]
    fn files_take_their_length_before_their_bytes() {
        let mut input = Input { stdin: b"ab".to_vec(), ..Input::default() };
        input.files.insert("f".into(), b"xyz".to_vec());
        let changed = input.changed(&BTreeMap::from([
            (byte(SOURCE_STDIN, 3), 99),
            (byte(SOURCE_STDIN, LENGTH), 4),
            (byte(SOURCE_STDIN + 1, LENGTH), 1),
        ]));
        assert_eq!(changed.stdin, b"ab0c");
        assert_eq!(changed.files["f"], b"x");
    }
}
