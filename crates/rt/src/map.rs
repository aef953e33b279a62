//! The program map: what the instrumenter saw in one unit, for the search to be guided by.
//!
//! Invariant: ids are unique in the program (`abi::LOCAL_BITS` split unit and number); block numbers are
//! positions in `FunctionMap::blocks`.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitMap {
    pub unit: u32,
    /// Absolute paths of source files; other parts refer to them by position.
    pub files: Vec<String>,
    pub functions: Vec<FunctionMap>,
    /// Options that the unit asks `getopt` and relatives for.
    #[serde(default)]
    pub options: Vec<OptionMap>,
    /// Words in constant tables.
    #[serde(default)]
    pub words: Vec<String>,
    /// What could not be instrumented, for the user.
    #[serde(default)]
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionMap {
    pub name: String,
    /// Not visible to other units.
    pub internal: bool,
    /// May be called through a pointer.
    pub address_taken: bool,
    pub parameters: u32,
    /// Words that its calls are given.
    #[serde(default)]
    pub words: Vec<String>,
    pub blocks: Vec<BlockMap>,
}

/// One option of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OptionMap {
    /// As it stands on the command line: `-x` or `--name`.
    pub name: String,
    pub takes_value: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockMap {
    /// The compiler's name for it, which tells the true side of a condition (`if.then`).
    pub name: String,
    /// Lines of the instructions, first one first, without repetitions.
    pub lines: Vec<Position>,
    pub successors: Vec<u32>,
    pub branch: Option<BranchMap>,
    pub calls: Vec<CallMap>,
    pub returns: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchMap {
    pub id: u32,
    pub at: Position,
    /// Of a switch: the values that lead to each successor (several may), none for the default.
    pub cases: Option<Vec<Vec<u64>>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallMap {
    pub id: u32,
    pub at: Position,
    /// Absent when it goes through a pointer.
    pub callee: Option<String>,
    pub arguments: u32,
}

/// A source line that the runtime must tell about.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WatchedLine {
    /// Absolute and normalised.
    pub file: String,
    pub line: u32,
    /// The number under which passing it is told.
    pub point: u32,
}

/// What the instrumenter is told about one unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    pub unit: u32,
    pub watch: Vec<WatchedLine>,
    /// Functions that the program itself defines: no models for those.
    pub defined: Vec<String>,
}
