//! Watching a build: the compilations and link steps of any command.
//!
//! A small library, compiled on the spot with the clang that is needed anyway, is preloaded into
//! every process that the build starts; compilers, linkers and archivers write down how they were
//! called (see `shim.c`). So it does not matter who starts them, by which name or path, or how many
//! run at once. It cannot see statically linked compilers, builds inside containers or on other
//! machines, and builds that empty the environment. Invariant: the build runs as it would without
//! us, in the user's folder and terminal; only its standard output goes to our standard error.

mod record;

use crate::cancel::{Running, Temporary};
use crate::clang::Clang;
use crate::database::Entry;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use thiserror::Error;

pub use record::LINKS_FILE_NAME;

const SHIM: &str = include_str!("shim.c");

#[derive(Debug, Error)]
pub enum WatchError {
    #[error("{0}: the build command cannot be started: {1}; check its spelling")]
    CannotStart(String, String),
    #[error(
        "the build cannot be watched: {0}; make a compile database instead (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, bear -- make) and pass it with -p"
    )]
    CannotWatch(String),
    #[error(
        "the build command compiled nothing; if it was up to date, clean it first (make clean), and see that it uses a dynamically linked compiler on this machine"
    )]
    NothingCompiled,
    #[error(
        "the build command failed ({0}) before it compiled anything; make it succeed by itself first"
    )]
    BuildFailed(String),
    #[error("{}: cannot be written: {reason}; check the folder and its permissions", .path.display())]
    CannotWrite { path: PathBuf, reason: String },
    #[error("interrupted")]
    Interrupted,
}

/// A program, shared library or archive that the build makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkStep {
    pub directory: PathBuf,
    /// The whole command, compiler included. What is not UTF-8 is replaced.
    pub arguments: Vec<String>,
    pub output: PathBuf,
    /// Source, object and library files on the command line, in order.
    pub inputs: Vec<PathBuf>,
    pub kind: LinkKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    Program,
    Shared,
    /// `ld -r`: several objects into one.
    Relocatable,
    Archive,
}

/// What a watched build did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// In the order in which the compilers were started, sorted where that depends on timing.
    pub compilations: Vec<Entry>,
    pub links: Vec<LinkStep>,
    /// How the build ended, when it failed after it had compiled something.
    pub failure: Option<String>,
}

/// Runs `command` in `cwd` and records what it compiles and links. With `quiet` its standard output
/// is dropped.
pub fn watch(command: &[OsString], cwd: &Path, quiet: bool) -> Result<Recording, WatchError> {
    let clang = Clang::locate().map_err(|e| WatchError::CannotWatch(e.to_string()))?;
    let folder = std::env::temp_dir().join(format!("leakproof-watch-{}", std::process::id()));
    let folder = Temporary::folder(folder).map_err(|e| WatchError::CannotWatch(e.to_string()))?;
    let shim = compile_shim(&clang, folder.path())?;
    let log = folder.path().join("record");
    std::fs::write(&log, b"").map_err(|e| WatchError::CannotWatch(e.to_string()))?;
    let status = run_build(command, cwd, quiet, &shim, &log)?;
    let bytes = std::fs::read(&log).map_err(|e| WatchError::CannotWatch(e.to_string()))?;
    let mut recording = record::interpret(&bytes);
    let failure = (!status.success()).then(|| status.to_string());
    match (recording.compilations.is_empty(), failure) {
        (true, Some(status)) => Err(WatchError::BuildFailed(status)),
        (true, None) => Err(WatchError::NothingCompiled),
        (false, failure) => {
            recording.failure = failure;
            Ok(recording)
        }
    }
}

fn compile_shim(clang: &Clang, folder: &Path) -> Result<PathBuf, WatchError> {
    let fail = |reason: String| WatchError::CannotWatch(reason);
    let source = folder.join("shim.c");
    let shim = folder.join("libleakproof-watch.so");
    std::fs::write(&source, SHIM).map_err(|e| fail(e.to_string()))?;
    let mut command = Command::new(&clang.path);
    command.args(["-O1", "-w", "-shared", "-fPIC", "-o"]).arg(&shim).arg(&source);
    let output = command.stdin(Stdio::null()).output().map_err(|e| fail(e.to_string()))?;
    if output.status.success() {
        return Ok(shim);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|l| l.contains("error")).unwrap_or("clang cannot link").to_owned();
    Err(fail(line))
}

fn run_build(
    command: &[OsString],
    cwd: &Path,
    quiet: bool,
    shim: &Path,
    log: &Path,
) -> Result<std::process::ExitStatus, WatchError> {
    let (program, arguments) = command.split_first().ok_or(WatchError::NothingCompiled)?;
    let mut build = Command::new(program);
    build.args(arguments).current_dir(cwd);
    build.stdout(if quiet { Stdio::null() } else { Stdio::from(std::io::stderr()) });
    build.env("LD_PRELOAD", extended("LD_PRELOAD", shim.as_os_str(), ":"));
    // Tools built with gcc's address sanitizer refuse to run after another preloaded library.
    build
        .env("ASAN_OPTIONS", extended("ASAN_OPTIONS", OsStr::new("verify_asan_link_order=0"), ":"));
    build.env("LEAKPROOF_RECORD", log).env_remove("LEAKPROOF_RECORDED");
    let start = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::Interrupted => WatchError::Interrupted,
        _ => WatchError::CannotStart(
            program.to_string_lossy().into_owned(),
            crate::error::plain_reason(&e),
        ),
    };
    let status = Running::spawn(&mut build).and_then(Running::wait).map_err(start)?;
    if crate::cancel::is_interrupted() { Err(WatchError::Interrupted) } else { Ok(status) }
}

/// The variable's present value with `word` added.
fn extended(variable: &str, word: &OsStr, separator: &str) -> OsString {
    let mut value = std::env::var_os(variable).unwrap_or_default();
    if !value.is_empty() {
        value.push(separator);
    }
    value.push(word);
    value
}

impl Recording {
    /// Writes the compile database to `path`, and the link steps beside it.
    pub fn keep(&self, path: &Path) -> Result<(), WatchError> {
        let write = |path: &Path, text: &str| {
            std::fs::write(path, text).map_err(|e| WatchError::CannotWrite {
                path: path.to_owned(),
                reason: crate::error::plain_reason(&e),
            })
        };
        write(path, &crate::database::to_json(&self.compilations))?;
        let mut links = serde_json::to_string_pretty(&self.links).unwrap_or_else(|_| "[]".into());
        links.push('\n');
        write(&path.with_file_name(LINKS_FILE_NAME), &links)
    }
}

/// The link steps kept beside a compile database, if any.
pub fn read_links(database: &Path) -> Vec<LinkStep> {
    let text = std::fs::read(database.with_file_name(LINKS_FILE_NAME)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}
