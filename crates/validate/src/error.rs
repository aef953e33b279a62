//! Why a program cannot be validated at all.

use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum ValidateError {
    #[error("{unit}: does not compile: {reason}")]
    Compile { unit: String, reason: String },
    #[error("{unit}: cannot be instrumented: {reason}")]
    Instrument { unit: String, reason: String },
    #[error("the instrumented program does not link: {0}; give what it needs with --link-flags")]
    Link(String),
    #[error("{}: {reason}", .path.display())]
    Io { path: PathBuf, reason: String },
    #[error("{0}")]
    Clang(String),
    #[error("the program `leakproof-instrument` was not found beside leakproof; install it there")]
    NoInstrumenter,
    #[error("no unit defines `main`: nothing to run")]
    NoMain,
    #[error("{0}")]
    Program(String),
    #[error("the instrumented program does not run: {0}")]
    DoesNotRun(String),
    #[error(transparent)]
    Harness(#[from] crate::harness::HarnessError),
    #[error("interrupted")]
    Interrupted,
}

impl ValidateError {
    /// Whether it is about one program, so that others may still be validated.
    pub fn is_of_program(&self) -> bool {
        matches!(
            self,
            Self::Compile { .. } | Self::Instrument { .. } | Self::Link(_) | Self::DoesNotRun(_)
        )
    }

    pub fn io(path: impl Into<PathBuf>, error: &std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::Interrupted {
            return Self::Interrupted;
        }
        Self::Io { path: path.into(), reason: error.to_string() }
    }
}
