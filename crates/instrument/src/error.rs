//! What can go wrong with one unit.

use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum InstrumentError {
    #[error("{}: cannot be read: {reason}", .path.display())]
    Read { path: PathBuf, reason: String },
    #[error("{}: cannot be written", .0.display())]
    Write(PathBuf),
    #[error("LLVM: {0}")]
    Llvm(String),
    #[error("the orders make no sense: {0}")]
    Orders(String),
}
