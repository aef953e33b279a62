//! What can go wrong before any unit is analysed.
//!
//! Invariant: every message is one line that names the file and says what to do about it. What goes
//! wrong with a single unit is no error: the unit is listed as skipped and the run goes on.

use std::path::{Path, PathBuf};
use thiserror::Error;

/// A failure of the whole run.
#[derive(Debug, Error)]
pub enum FrontendError {
    #[error("{}: no such file; check the spelling, or run from the directory it is relative to", .0.display())]
    Missing(PathBuf),
    #[error("{}: cannot be read: {reason}; check its permissions", .path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("{}: is not C, C++ or LLVM bitcode; give .c, .cc, .cpp, .cxx, .bc or .ll files", .0.display())]
    UnknownKind(PathBuf),
    #[error("{}: is empty; write a compile database (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON) or name source files", .0.display())]
    EmptyFile(PathBuf),
    #[error("{}: is empty; there is nothing to analyse in it, name another file", .0.display())]
    EmptyInput(PathBuf),
    #[error("{}:{line}:{column}: not a compile database: {reason}; generate the file again, or record the build with `leakproof check -- BUILD COMMAND`", .path.display())]
    Database { path: PathBuf, line: usize, column: usize, reason: String },
    #[error("{}: the compile database has no entries; build the project once, or record the build with `leakproof check -- BUILD COMMAND`", .0.display())]
    EmptyDatabase(PathBuf),
    #[error("{}: holds no compile_commands.json (nor does its build/ folder); generate one (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, bear -- make), name source files, or record the build with `leakproof check -- BUILD COMMAND`", .0.display())]
    NoDatabase(PathBuf),
    #[error("{}: not listed in {}; name another file, or give its compiler flags on the command line", .file.display(), .database.display())]
    NotInDatabase { file: PathBuf, database: PathBuf },
    #[error("{}: response file: {reason}; check the @file argument", .path.display())]
    ResponseFile { path: PathBuf, reason: String },
    #[error("{0}")]
    Clang(#[from] crate::clang::ClangError),
    #[error("{0}")]
    Watch(#[from] crate::watch::WatchError),
    #[error("interrupted")]
    Interrupted,
}

impl FrontendError {
    /// The error that describes why `path` could not be opened or read.
    pub(crate) fn from_io(path: &Path, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::NotFound => Self::Missing(path.to_owned()),
            _ => Self::Unreadable { path: path.to_owned(), reason: plain_reason(error) },
        }
    }
}

/// An operating system error without Rust's `(os error N)` tail.
pub(crate) fn plain_reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_lowercase()
}
