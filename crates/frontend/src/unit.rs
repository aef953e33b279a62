//! One translation unit to lower: a source file with the flags that matter, or a bitcode file.
//!
//! Invariant: two units of one project differ in directory, source or flags; `flags` holds only
//! what changes the meaning of the code (output names, warnings and optimisation are gone).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What the file of a unit holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceKind {
    C,
    Cxx,
    /// LLVM bitcode or its text form.
    Llvm,
}

/// What a file name tells about its content, as compiler drivers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileClass {
    Source(SourceKind),
    Assembler,
    /// A language of the compiler collection that is neither C nor C++.
    OtherLanguage,
    Header,
    /// Object file, library, linker script: something for the linker.
    LinkInput,
}

impl FileClass {
    /// Classifies by extension; case matters (`.C` is C++), as it does for gcc and clang.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(OsStr::to_str).unwrap_or("") {
            "c" | "i" => Self::Source(SourceKind::C),
            "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "ii" | "cppm" | "ixx" => {
                Self::Source(SourceKind::Cxx)
            }
            "bc" | "ll" => Self::Source(SourceKind::Llvm),
            "s" | "S" | "sx" | "asm" => Self::Assembler,
            "h" | "hh" | "H" | "hp" | "hxx" | "hpp" | "h++" | "tcc" => Self::Header,
            "m" | "mi" | "mm" | "M" | "mii" | "f" | "for" | "ftn" | "F" | "FOR" | "fpp" | "f90"
            | "f95" | "f03" | "f08" | "F90" | "F95" | "F03" | "F08" | "go" | "d" | "di" | "adb"
            | "ads" | "cu" | "hip" | "rs" | "swift" | "java" | "cl" => Self::OtherLanguage,
            _ => Self::LinkInput,
        }
    }

    /// What `-x LANGUAGE` says a file is, whatever its name.
    pub fn of_language(language: &OsStr) -> Option<Self> {
        Some(match language.to_str()? {
            "c" | "cpp-output" => Self::Source(SourceKind::C),
            "c++" | "c++-cpp-output" | "c++-module" => Self::Source(SourceKind::Cxx),
            "ir" => Self::Source(SourceKind::Llvm),
            "assembler" | "assembler-with-cpp" => Self::Assembler,
            "c-header" | "c++-header" => Self::Header,
            "none" => return None,
            _ => Self::OtherLanguage,
        })
    }
}

/// A translation unit of the project.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// Where the compiler runs: absolute.
    pub directory: PathBuf,
    /// The main file as the compiler is told it, relative to `directory` or absolute.
    pub source: PathBuf,
    pub kind: SourceKind,
    /// The flags that change the code's meaning, in order.
    pub flags: Vec<OsString>,
    /// The object file that the build makes of it, as told to the compiler.
    pub output: Option<PathBuf>,
}

impl Unit {
    /// The main file's absolute path.
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.source)
    }
}
