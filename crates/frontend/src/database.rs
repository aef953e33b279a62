//! `compile_commands.json`: finding it, reading it, writing it.
//!
//! Both forms of an entry (`command`, `arguments`) are read; strings need not be UTF-8, since build
//! systems write file names as they are. A file that is no compile database is an error with line
//! and column; a single entry that makes no sense is a note.

use crate::arguments::split_command;
use crate::error::FrontendError;
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

pub const FILE_NAME: &str = "compile_commands.json";

/// One entry, its command line split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Absolute.
    pub directory: PathBuf,
    pub file: PathBuf,
    /// The compiler and its arguments; response files not yet expanded.
    pub arguments: Vec<OsString>,
    pub output: Option<PathBuf>,
}

/// A compile database as read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Database {
    pub path: PathBuf,
    pub entries: Vec<Entry>,
    /// Entries that were left out: the file, and why.
    pub skipped: Vec<(PathBuf, String)>,
}

/// The database of a folder: in itself, or in its `build/`.
pub fn find(folder: &Path) -> Option<PathBuf> {
    [folder.join(FILE_NAME), folder.join("build").join(FILE_NAME)].into_iter().find(|p| p.is_file())
}

impl Database {
    /// Reads the file at `path`; relative directories are relative to the file's own.
    pub fn read(path: &Path) -> Result<Self, FrontendError> {
        Self::read_as(path, path)
    }

    /// Like `read`, with the name under which errors should speak of the file.
    pub fn read_as(actual: &Path, path: &Path) -> Result<Self, FrontendError> {
        let text = std::fs::read(actual).map_err(|e| FrontendError::from_io(path, &e))?;
        if text.iter().all(u8::is_ascii_whitespace) {
            return Err(FrontendError::EmptyFile(path.to_owned()));
        }
        let raw: Vec<RawEntry> =
            serde_json::from_slice(&text).map_err(|e| database_error(path, &e))?;
        if raw.is_empty() {
            return Err(FrontendError::EmptyDatabase(path.to_owned()));
        }
        let base = std::path::absolute(actual).unwrap_or_else(|_| actual.to_owned());
        let base = base.parent().unwrap_or(Path::new("/")).to_owned();
        let mut database = Self { path: path.to_owned(), ..Self::default() };
        for entry in raw {
            database.add(entry, &base);
        }
        Ok(database)
    }

    fn add(&mut self, raw: RawEntry, base: &Path) {
        let directory = base.join(raw.directory.map(PathBuf::from).unwrap_or_default());
        let file = PathBuf::from(raw.file.0);
        let arguments = match (raw.arguments, raw.command) {
            (Some(words), _) => Some(words.into_iter().map(|w| w.0).collect()),
            (None, Some(line)) => split_command(&line.0.into_vec()),
            (None, None) => None,
        };
        match arguments {
            Some(arguments) => {
                let output = raw.output.map(PathBuf::from);
                self.entries.push(Entry { directory, file, arguments, output });
            }
            None => {
                let reason = "its compile command is missing or has an unclosed quote".to_owned();
                self.skipped.push((directory.join(file), reason));
            }
        }
    }
}

fn database_error(path: &Path, error: &serde_json::Error) -> FrontendError {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    FrontendError::Database {
        path: path.to_owned(),
        line: error.line(),
        column: error.column(),
        reason: reason.to_owned(),
    }
}

#[derive(Deserialize)]
struct RawEntry {
    directory: Option<Bytes>,
    file: Bytes,
    arguments: Option<Vec<Bytes>>,
    command: Option<Bytes>,
    output: Option<Bytes>,
}

/// A JSON string whose bytes need not be UTF-8.
struct Bytes(OsString);

impl From<Bytes> for PathBuf {
    fn from(bytes: Bytes) -> Self {
        PathBuf::from(bytes.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BytesVisitor;
        impl Visitor<'_> for BytesVisitor {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(OsString::from_vec(bytes.to_vec())))
            }
            fn visit_str<E>(self, text: &str) -> Result<Bytes, E> {
                Ok(Bytes(text.into()))
            }
        }
        deserializer.deserialize_bytes(BytesVisitor)
    }
}

#[derive(Serialize)]
struct WrittenEntry<'a> {
    directory: String,
    file: String,
    arguments: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
}

/// The text of a compile database with these entries. What is not UTF-8 is replaced: JSON has no
/// way to say it.
pub fn to_json(entries: &[Entry]) -> String {
    let written: Vec<WrittenEntry<'_>> = entries.iter().map(written_entry).collect();
    let mut text = serde_json::to_string_pretty(&written).unwrap_or_else(|_| "[]".into());
    text.push('\n');
    text
}

fn written_entry(entry: &Entry) -> WrittenEntry<'_> {
    WrittenEntry {
        directory: entry.directory.to_string_lossy().into_owned(),
        file: entry.file.to_string_lossy().into_owned(),
        arguments: entry.arguments.iter().map(|a| a.to_string_lossy().into_owned()).collect(),
        output: entry.output.as_deref().and_then(Path::to_str),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Database, FrontendError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE_NAME);
        std::fs::write(&path, text).unwrap();
        Database::read(&path)
    }

    #[test]
    fn both_forms() {
        let db = read(
            br#"[{"directory": "/d", "file": "a.c", "command": "cc '-DA=\"x\"' -c a.c"},
                 {"directory": "/d", "file": "b.c", "arguments": ["cc", "-DB=a b", "b.c"]}]"#,
        )
        .unwrap();
        assert_eq!(db.entries[0].arguments[1], r#"-DA="x""#);
        assert_eq!(db.entries[1].arguments[1], "-DB=a b");
    }

    #[test]
    fn json_errors_have_a_position() {
        let error = read(b"[{\"directory\": \"/d\",\n  \"file\" 3}]").unwrap_err().to_string();
        assert!(error.contains(":2:10: not a compile database"), "{error}");
        assert!(!error.contains('\n'));
    }

    #[test]
    fn empty_ones_are_errors() {
        assert!(matches!(read(b" \n"), Err(FrontendError::EmptyFile(_))));
        assert!(matches!(read(b"[]"), Err(FrontendError::EmptyDatabase(_))));
        assert!(matches!(read(b"{}"), Err(FrontendError::Database { .. })));
    }

    #[test]
    fn names_need_not_be_utf8() {
        let db =
            read(b"[{\"directory\":\"/d\",\"file\":\"\xff.c\",\"arguments\":[\"cc\",\"\xff.c\"]}]");
        assert_eq!(db.unwrap().entries[0].file.as_os_str().as_encoded_bytes(), b"\xff.c");
    }

    #[test]
    fn an_unclosed_quote_only_loses_its_entry() {
        let db = read(
            br#"[{"directory":"/d","file":"a.c","command":"cc 'a.c"},
                           {"directory":"/d","file":"b.c","command":"cc b.c"}]"#,
        )
        .unwrap();
        assert_eq!((db.entries.len(), db.skipped.len()), (1, 1));
    }

    #[test]
    fn written_databases_read_back() {
        let entry = Entry {
            directory: "/d".into(),
            file: "a.c".into(),
            arguments: vec!["cc".into(), "-DA=\"x y\"".into(), "a.c".into()],
            output: Some("a.o".into()),
        };
        assert_eq!(
            read(to_json(std::slice::from_ref(&entry)).as_bytes()).unwrap().entries,
            [entry]
        );
    }
}
