//! One unit through clang: bitcode on its stdout, dependencies and messages on its stderr.
//!
//! Invariant: clang writes nothing to disk, so an interruption leaves nothing behind. A flag that
//! clang refuses is dropped and the unit tried again; it is remembered for the units that follow.

use crate::cancel::Running;
use crate::clang::Clang;
use crate::deps;
use crate::flags::rejected;
use crate::unit::{SourceKind, Unit};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// How often a unit is tried with fewer flags: clang reports unknown flags, then unsupported
/// values, then what the target does not have.
const MAX_TRIES: usize = 5;

/// Appended to the unit's own flags. Optimisation level 1 without any pass makes clang keep the
/// attributes of functions and the types of external declarations, and leave out `optnone`;
/// `__OPTIMIZE__` would pull in the C library's inline variants.
const CODE_FLAGS: &[&str] = &[
    "-O1",
    "-Xclang",
    "-disable-llvm-passes",
    "-g",
    "-fno-strict-aliasing",
    "-U__OPTIMIZE__",
    "-U_FORTIFY_SOURCE",
    // Also turns what clang takes for an error and gcc for a warning (implicit int, implicit
    // function declarations, mixed integers and pointers) back into nothing.
    "-w",
    "-Wno-everything",
    "-Qunused-arguments",
    "-fno-color-diagnostics",
    "-fno-caret-diagnostics",
    "-ferror-limit=1",
    "-emit-llvm",
    "-c",
    "-o",
    "-",
    // Not /dev/stderr: clang removes the dependency file when a header is missing, and only in
    // /proc is nobody allowed to.
    "-MD",
    "-MF",
    "/proc/self/fd/2",
    "-MT",
    deps::TARGET,
];

/// What clang made of a unit.
#[derive(Debug)]
pub struct Compiled {
    pub bitcode: Vec<u8>,
    /// Every file that was read, the source first; absolute.
    pub dependencies: Vec<PathBuf>,
}

/// Why a unit could not be compiled.
#[derive(Debug)]
pub enum CompileFailure {
    /// The first error that clang reported.
    Rejected(String),
    /// clang itself could not run to its end.
    Clang(String),
    Interrupted,
}

/// Runs clang, one process per call.
pub struct Compiler {
    clang: Clang,
    refused: Mutex<BTreeSet<OsString>>,
}

impl Compiler {
    pub fn new(clang: Clang) -> Self {
        Self { clang, refused: Mutex::new(BTreeSet::new()) }
    }

    /// Compiles `unit` to bitcode.
    pub fn compile(&self, unit: &Unit) -> Result<Compiled, CompileFailure> {
        let mut flags = self.without_refused(&unit.flags);
        for _ in 0..MAX_TRIES {
            let run = self.run(unit, &flags)?;
            if run.success && !run.stdout.is_empty() {
                return Ok(finish(unit, run));
            }
            let messages = String::from_utf8_lossy(&run.stderr).into_owned();
            let bad = rejected(&flags, &messages);
            if bad.is_empty() {
                return Err(failure(&messages, run.signal));
            }
            self.refuse(&bad);
            flags.retain(|f| !bad.contains(f));
        }
        Err(CompileFailure::Rejected("clang refuses its flags one after the other".into()))
    }

    fn without_refused(&self, flags: &[OsString]) -> Vec<OsString> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        flags.iter().filter(|f| !refused.contains(*f)).cloned().collect()
    }

    /// Values that only one language refuses must be tried again elsewhere.
    fn refuse(&self, flags: &[OsString]) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.extend(flags.iter().filter(|f| !f.as_bytes().starts_with(b"-std")).cloned());
    }

    fn run(&self, unit: &Unit, flags: &[OsString]) -> Result<Run, CompileFailure> {
        let mut command = self.command(unit, flags);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        collect(&mut command).map_err(|e| match e.kind() {
            io::ErrorKind::Interrupted => CompileFailure::Interrupted,
            _ if !unit.directory.is_dir() => CompileFailure::Rejected(format!(
                "its working directory {} does not exist",
                unit.directory.display()
            )),
            _ => CompileFailure::Clang(format!("clang cannot be started: {e}")),
        })
    }

    fn command(&self, unit: &Unit, flags: &[OsString]) -> Command {
        let mut command = Command::new(&self.clang.path);
        command.current_dir(&unit.directory).args(flags).args(CODE_FLAGS);
        // What clang itself makes is well-formed; a file from elsewhere need not be.
        if unit.kind != SourceKind::Llvm {
            command.args(["-Xclang", "-disable-llvm-verifier"]);
        }
        command.args(["-x", language(unit)]).arg(operand(&unit.source));
        command
    }
}

struct Run {
    success: bool,
    signal: bool,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// Starts `command` and reads both its pipes to their ends.
fn collect(command: &mut Command) -> io::Result<Run> {
    let mut running = Running::spawn(command)?;
    let out = running.child().stdout.take();
    let err = running.child().stderr.take();
    let (stdout, stderr) = std::thread::scope(|scope| {
        let errors = scope.spawn(|| read_all(err));
        let stdout = read_all(out);
        (stdout, errors.join().unwrap_or_default())
    });
    let status = running.wait()?;
    Ok(Run { success: status.success(), signal: status.code().is_none(), stdout, stderr })
}

/// A pipe that breaks gives what came through it: the exit status tells the rest.
fn read_all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut bytes).ok();
    }
    bytes
}

fn finish(unit: &Unit, run: Run) -> Compiled {
    let (files, _) = deps::split_dependencies(&run.stderr);
    let mut dependencies = vec![unit.path()];
    for file in files {
        let path = unit.directory.join(file);
        if path != dependencies[0] {
            dependencies.push(path);
        }
    }
    Compiled { bitcode: run.stdout, dependencies }
}

fn failure(messages: &str, signal: bool) -> CompileFailure {
    if crate::cancel::is_interrupted() {
        return CompileFailure::Interrupted;
    }
    match messages.lines().find(|l| l.contains("error: ")) {
        Some(line) => CompileFailure::Rejected(line.trim().to_owned()),
        None if signal => CompileFailure::Clang("clang was killed or crashed".into()),
        None => CompileFailure::Clang(
            messages.lines().next().unwrap_or("clang failed without a message").to_owned(),
        ),
    }
}

/// The `-x` value of the unit's main file.
fn language(unit: &Unit) -> &'static str {
    let preprocessed = matches!(unit.source.extension().and_then(OsStr::to_str), Some("i" | "ii"));
    match (unit.kind, preprocessed) {
        (SourceKind::C, false) => "c",
        (SourceKind::C, true) => "cpp-output",
        (SourceKind::Cxx, false) => "c++",
        (SourceKind::Cxx, true) => "c++-cpp-output",
        (SourceKind::Llvm, _) => "ir",
    }
}

/// A file name that cannot be taken for an option.
fn operand(source: &Path) -> PathBuf {
    if source.as_os_str().as_bytes().starts_with(b"-") {
        Path::new(".").join(source)
    } else {
        source.to_owned()
    }
}
