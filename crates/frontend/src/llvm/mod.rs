//! Reads LLVM bitcode, as clang writes it, into plain tables.
//!
//! In: the bytes of a bitcode module. Out: [`Module`], whose types, constants, attributes and
//! metadata are tables of small records, and whose function bodies are decoded one at a time.
//! LLVM itself is not involved: building its in-memory module and tearing it down again costs
//! several times what this whole crate needs for a unit, and its reader may end the process on
//! malformed input. The price is that only bitcode of LLVM 15 to 19 is read; clang turns
//! everything else (textual IR, bitcode of other releases) into that.
//!
//! Invariant: no input makes the reader panic; ids in the tables are checked where they are used.

mod attributes;
mod bitstream;
mod body;
mod codes;
mod constants;
mod decode;
mod layout;
mod metadata;
mod module;
mod types;

pub use attributes::{AttributeTable, Attributes};
pub use bitstream::{Cursor, Record};
pub use body::{Body, DebugLoc, DebugRecord, Inst, Op, Range};
pub use codes::metadata as md_code;
pub use constants::Constant;
pub use layout::DataLayout;
pub use metadata::{MdId, MdNode, MetadataTable};
pub use module::{Linkage, Module, Value, strip_wrapper};
pub use types::{Type, TypeRef, TypeTable};

/// Why bytes are no module that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("the bitcode is truncated")]
    Truncated,
    #[error("malformed bitcode: {0}")]
    Malformed(&'static str),
    /// Record layouts change between releases; guessing would give wrong answers.
    #[error("bitcode written by {0}, not by LLVM 15 to 19")]
    OtherVersion(String),
}
