//! Source text that findings point into, read on demand and kept.
//!
//! In: file names as findings spell them, relative to one root directory. Out: lines as text that
//! is safe to index (invalid UTF-8 replaced), by 1-based number. Never fails: a file that cannot be
//! read, is not a regular file, or is larger than `MAX_BYTES` is simply missing.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::SourceStamp;

/// No source file is this large; a device or a data file given as source may be.
const MAX_BYTES: u64 = 256 << 20;

/// Reads and keeps source files. Shared between threads by reference.
#[derive(Debug, Default)]
pub struct Sources {
    root: Option<PathBuf>,
    stamps: BTreeMap<String, String>,
    files: Mutex<BTreeMap<String, Option<Arc<SourceFile>>>>,
}

/// What the text on disk is, compared with the text that was analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceState {
    /// The analysed text, as far as is known.
    Same,
    Changed,
    Missing,
}

impl Sources {
    /// Relative file names are looked up under `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Sources { root: Some(root.into()), ..Sources::default() }
    }

    /// Text given directly; nothing is read from disk.
    pub fn in_memory<N: Into<String>, T: Into<Vec<u8>>>(
        files: impl IntoIterator<Item = (N, T)>,
    ) -> Self {
        let files = files
            .into_iter()
            .map(|(name, text)| (name.into(), Some(Arc::new(SourceFile::new(text.into())))))
            .collect();
        Sources { files: Mutex::new(files), ..Sources::default() }
    }

    /// Remembers what the analysed files were, so that `state` can tell a changed one.
    #[must_use]
    pub fn with_stamps(mut self, stamps: &[SourceStamp]) -> Self {
        self.stamps = stamps.iter().map(|s| (s.file.clone(), s.blake3.clone())).collect();
        self
    }

    pub fn get(&self, file: &str) -> Option<Arc<SourceFile>> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = files.get(file) {
            return known.clone();
        }
        let read = self.root.as_deref().and_then(|root| read(root, file));
        files.insert(file.to_owned(), read.clone());
        read
    }

    pub fn state(&self, file: &str) -> SourceState {
        let Some(text) = self.get(file) else { return SourceState::Missing };
        match self.stamps.get(file) {
            Some(hash) if !hash.is_empty() && *hash != text.blake3() => SourceState::Changed,
            _ => SourceState::Same,
        }
    }
}

fn read(root: &Path, file: &str) -> Option<Arc<SourceFile>> {
    if file.is_empty() {
        return None;
    }
    let path = root.join(file);
    let meta = std::fs::metadata(&path).ok()?;
    if !meta.is_file() || meta.len() > MAX_BYTES {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    Some(Arc::new(SourceFile::new(bytes)))
}

/// One file's bytes, indexed by line.
#[derive(Debug)]
pub struct SourceFile {
    bytes: Vec<u8>,
    /// Offset of the first byte of each line; never empty.
    starts: Vec<usize>,
}

impl SourceFile {
    pub fn new(bytes: Vec<u8>) -> Self {
        let after_newline =
            bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1);
        let mut starts: Vec<usize> = std::iter::once(0).chain(after_newline).collect();
        if starts.len() > 1 && starts.last() == Some(&bytes.len()) {
            starts.pop();
        }
        SourceFile { bytes, starts }
    }

    pub fn line_count(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }

    /// The bytes of a line without its line ending.
    pub fn line_bytes(&self, line: u32) -> Option<&[u8]> {
        let index = usize::try_from(line.checked_sub(1)?).ok()?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).copied().unwrap_or(self.bytes.len());
        let text = self.bytes.get(start..end)?;
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        Some(text.strip_suffix(b"\r").unwrap_or(text))
    }

    pub fn line(&self, line: u32) -> Option<Cow<'_, str>> {
        self.line_bytes(line).map(String::from_utf8_lossy)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn blake3(&self) -> String {
        blake3::hash(&self.bytes).to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<String> {
        let file = SourceFile::new(text.to_vec());
        (1..=file.line_count()).map(|n| file.line(n).unwrap().into_owned()).collect()
    }

    #[test]
    fn lines_lose_their_endings_only() {
        assert_eq!(lines(b"a\r\nb\n\nc"), ["a", "b", "", "c"]);
        assert_eq!(lines(b"a\n"), ["a"]);
        assert_eq!(lines(b""), [""]);
        assert_eq!(lines(b"\xff\n"), ["\u{fffd}"]);
    }

    #[test]
    fn lines_outside_the_file_are_none() {
        let file = SourceFile::new(b"a\n".to_vec());
        assert!(file.line(0).is_none() && file.line(2).is_none() && file.line(u32::MAX).is_none());
    }

    #[test]
    fn changed_and_missing_are_told_apart() {
        let stamp = |file: &str, text: &str| SourceStamp {
            file: file.into(),
            blake3: blake3::hash(text.as_bytes()).to_hex().to_string(),
        };
        let sources = Sources::in_memory([("a.c", "one"), ("b.c", "two"), ("d.c", "x")])
            .with_stamps(&[stamp("a.c", "one"), stamp("b.c", "2"), stamp("c.c", "")]);
        assert_eq!(sources.state("a.c"), SourceState::Same);
        assert_eq!(sources.state("b.c"), SourceState::Changed);
        assert_eq!(sources.state("c.c"), SourceState::Missing);
        assert_eq!(sources.state("d.c"), SourceState::Same);
    }

    #[test]
    fn directories_and_absent_files_are_missing() {
        let dir = std::env::temp_dir();
        let sources = Sources::new(&dir);
        assert!(sources.get(".").is_none());
        assert!(sources.get("no-such-file-here.c").is_none());
        assert!(sources.get("").is_none());
    }
}
