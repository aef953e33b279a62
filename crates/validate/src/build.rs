//! From a program's units to one instrumented executable and its map.
//!
//! Each unit goes through clang (bitcode), the instrumenter, and clang again (object code). The object
//! of `main` is linked with an archive of the others, so that only what is needed gets in, with the
//! failure injector and with the runtime. All of it happens in a folder of its own.

use crate::error::ValidateError;
use crate::libraries::{flags_for, missing_symbols};
use crate::map::ProgramMap;
use crate::source::{Program, SourceUnit};
use crate::witness::telling_line;
use leakproof_frontend::cancel::Running;
use leakproof_frontend::clang::{Clang, find_program};
use leakproof_frontend::{CompileFailure, Compiler, SourceKind, Unit};
use leakproof_rt::abi::FAULTS;
use leakproof_rt::map::{Orders, UnitMap, WatchedLine};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pub const FAULTS_SOURCE: &str = include_str!("c/faults.c");
const GETOPT_SOURCE: &str = include_str!("c/getopt.c");
const RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libleakproof_rt.a"));

/// The file with a harness, in the build and in witnesses.
pub const HARNESS_FILE: &str = "harness.c";

/// Other spellings of functions that may fail.
const OTHER_SPELLINGS: &[&str] = &[
    "fopen64",
    "freopen64",
    "tmpfile64",
    "open64",
    "openat64",
    "readdir64",
    "lseek64",
    "stat64",
    "lstat64",
    "fstat64",
    "mkstemp64",
];

/// Character classes as calls, so that they have models; blocks with names, which tell the true side of
/// a condition; no knowledge about library functions, with which the optimiser would remove an
/// allocation that is only freed, or merge two calls.
const EXTRA_FLAGS: &[&str] = &[
    "-D__NO_CTYPE",
    "-fno-builtin",
    "-fno-discard-value-names",
    "-Xclang",
    "-disable-lifetime-markers",
];

/// The programs that building needs.
#[derive(Clone, Debug)]
pub struct Tools {
    pub clang: Clang,
    pub instrumenter: PathBuf,
    /// Units built at once.
    pub jobs: usize,
}

/// `leakproof-instrument`: beside the running program, or where programs are.
pub fn find_instrumenter() -> Option<PathBuf> {
    const NAME: &str = "leakproof-instrument";
    let beside = std::env::current_exe().ok().map(|us| us.with_file_name(NAME));
    beside.filter(|b| b.is_file()).or_else(|| find_program(NAME.as_ref()))
}

/// An instrumented program.
pub struct Built {
    pub executable: PathBuf,
    pub map: ProgramMap,
    /// Libraries that it lacks, found among those of the system.
    pub libraries: Vec<OsString>,
}

/// The linker's options that lead calls through the failure injector.
pub fn wrap_flags() -> Vec<String> {
    FAULTS.iter().chain(OTHER_SPELLINGS).map(|f| format!("-Wl,--wrap={f}")).collect()
}

/// Builds `program` in `folder`, with marks on the watched lines.
pub fn build(
    program: &Program,
    watch: &[WatchedLine],
    tools: &Tools,
    folder: &Path,
) -> Result<Built, ValidateError> {
    let builder =
        Builder { program, watch, tools, folder, compiler: Compiler::new(tools.clang.clone()) };
    let mut maps = builder.units()?;
    let (getopt, map) = builder.getopt()?;
    maps.push(map);
    let (executable, libraries) = builder.link(&getopt)?;
    maps.sort_by_key(|m| m.unit);
    Ok(Built { executable, map: ProgramMap::new(maps), libraries })
}

struct Builder<'a> {
    program: &'a Program,
    watch: &'a [WatchedLine],
    tools: &'a Tools,
    folder: &'a Path,
    compiler: Compiler,
}

impl Builder<'_> {
    /// All units in parallel; the first error in their order wins.
    fn units(&self) -> Result<Vec<UnitMap>, ValidateError> {
        let count = self.program.units.len();
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Result<UnitMap, ValidateError>)>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..self.tools.jobs.clamp(1, count.max(1)) {
                scope.spawn(|| {
                    loop {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        let Some(unit) = self.program.units.get(i) else { break };
                        let result = self.unit(i, unit);
                        if let Ok(mut list) = done.lock() {
                            list.push((i, result));
                        }
                    }
                });
            }
        });
        let mut list = done.into_inner().unwrap_or_default();
        list.sort_by_key(|(i, _)| *i);
        list.into_iter().map(|(_, r)| r).collect()
    }

    fn unit(&self, index: usize, unit: &SourceUnit) -> Result<UnitMap, ValidateError> {
        let mut flagged: Unit = unit.unit.clone();
        if let Some(harness) = self.program.harness.as_ref().filter(|_| index == 0) {
            flagged.source = self.file(HARNESS_FILE);
            self.write(&flagged.source, harness.text.as_bytes())?;
        }
        if flagged.kind != SourceKind::Llvm {
            flagged.flags.extend(EXTRA_FLAGS.iter().map(OsString::from));
        }
        self.compile(index, &flagged, &unit.name)
    }

    /// Our own getopt, as one more unit: options are then followed through it.
    fn getopt(&self) -> Result<(PathBuf, UnitMap), ValidateError> {
        let source = self.file("getopt.c");
        self.write(&source, GETOPT_SOURCE.as_bytes())?;
        let unit = Unit {
            directory: self.folder.to_owned(),
            source,
            kind: SourceKind::C,
            flags: EXTRA_FLAGS.iter().map(OsString::from).collect(),
            output: None,
        };
        let index = self.program.units.len();
        let map = self.compile(index, &unit, "getopt.c")?;
        Ok((self.object(index), map))
    }

    fn compile(&self, index: usize, unit: &Unit, name: &str) -> Result<UnitMap, ValidateError> {
        let compiled = self.compiler.compile(unit).map_err(|e| match e {
            CompileFailure::Rejected(reason) | CompileFailure::Clang(reason) => {
                ValidateError::Compile { unit: name.to_owned(), reason }
            }
            CompileFailure::Interrupted => ValidateError::Interrupted,
        })?;
        let bitcode = self.file(&format!("unit{index}.bc"));
        self.write(&bitcode, &compiled.bitcode)?;
        let map = self.instrument(index, &bitcode, name)?;
        let mut command = Command::new(&self.tools.clang.path);
        command.args(["-O1", "-w", "-c", "-x", "ir"]).arg(self.file(&format!("unit{index}.lp.bc")));
        command.arg("-o").arg(self.object(index));
        run(&mut command)
            .map_err(|reason| ValidateError::Instrument { unit: name.into(), reason })?;
        Ok(map)
    }

    fn instrument(
        &self,
        index: usize,
        bitcode: &Path,
        name: &str,
    ) -> Result<UnitMap, ValidateError> {
        let fail = |reason: String| ValidateError::Instrument { unit: name.to_owned(), reason };
        let orders = Orders {
            unit: index as u32,
            watch: self.watch.to_vec(),
            defined: self.program.units.iter().flat_map(|u| u.defines.iter().cloned()).collect(),
        };
        let order_file = self.file(&format!("unit{index}.orders"));
        let map_file = self.file(&format!("unit{index}.map"));
        let text = serde_json::to_vec(&orders).map_err(|e| fail(e.to_string()))?;
        self.write(&order_file, &text)?;
        let mut command = Command::new(&self.tools.instrumenter);
        command.arg(bitcode).arg(self.file(&format!("unit{index}.lp.bc")));
        command.arg(order_file).arg(&map_file);
        run(&mut command).map_err(&fail)?;
        let text = std::fs::read(&map_file).map_err(|e| ValidateError::io(&map_file, &e))?;
        serde_json::from_slice(&text).map_err(|e| fail(e.to_string()))
    }

    /// The executable, and what it was linked with besides what the program says.
    fn link(&self, getopt: &Path) -> Result<(PathBuf, Vec<OsString>), ValidateError> {
        let (faults, runtime) = (self.file("faults.c"), self.file("libleakproof_rt.a"));
        self.write(&faults, FAULTS_SOURCE.as_bytes())?;
        self.write(&runtime, RUNTIME)?;
        let archive = self.archive(getopt)?;
        let mut libraries = Vec::new();
        if let Err(said) = finished(&mut self.link_command(&archive, &[])) {
            let fail = || ValidateError::Link(reason(&said));
            libraries = self.lacking_libraries(&archive, &said).ok_or_else(fail)?;
            run(&mut self.link_command(&archive, &libraries)).map_err(ValidateError::Link)?;
        }
        Ok((self.file("program"), libraries))
    }

    fn link_command(&self, archive: &Path, more: &[OsString]) -> Command {
        let mut command = Command::new(&self.tools.clang.path);
        if self.program.is_cxx {
            command.arg("--driver-mode=g++");
        }
        command.args(["-O1", "-w", "-DLEAKPROOF_RUNTIME", "-o"]).arg(self.file("program"));
        command.arg(self.object(0)).arg(archive);
        // The driver would take a C source for C++.
        command.args(["-x", "c"]).arg(self.file("faults.c")).args(["-x", "none"]);
        command.arg(self.file("libleakproof_rt.a"));
        command.args(wrap_flags()).args(&self.program.link_flags).args(more);
        command
    }

    /// Libraries with what the linker missed, when it is that and they have it.
    fn lacking_libraries(&self, archive: &Path, said: &str) -> Option<Vec<OsString>> {
        if missing_symbols(said).is_empty() {
            return None;
        }
        // Libraries know symbols by their whole names.
        let said =
            finished(&mut self.link_command(archive, &["-Wl,--no-demangle".into()])).err()?;
        let flags = flags_for(&missing_symbols(&said))?;
        Some(flags.into_iter().map(OsString::from).collect())
    }

    fn archive(&self, getopt: &Path) -> Result<PathBuf, ValidateError> {
        let archive = self.file("libunits.a");
        let ar = ["llvm-ar-19", "/usr/lib/llvm-19/bin/llvm-ar", "ar"]
            .iter()
            .find_map(|n| leakproof_frontend::clang::find_program(n.as_ref()))
            .ok_or_else(|| ValidateError::Link("no archiver (ar) was found".into()))?;
        let mut command = Command::new(ar);
        command.arg("rcs").arg(&archive);
        command.args((1..self.program.units.len()).map(|i| self.object(i))).arg(getopt);
        run(&mut command).map_err(ValidateError::Link)?;
        Ok(archive)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn object(&self, index: usize) -> PathBuf {
        self.file(&format!("unit{index}.o"))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), ValidateError> {
        std::fs::write(path, bytes).map_err(|e| ValidateError::io(path, &e))
    }
}

/// Runs a tool to its end; the line of its messages that tells most when it fails.
fn run(command: &mut Command) -> Result<(), String> {
    finished(command).map_err(|said| reason(&said))
}

/// Runs a tool to its end; all its messages when it fails.
fn finished(command: &mut Command) -> Result<(), String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = Running::spawn(command).map_err(|e| e.to_string())?;
    let mut text = Vec::new();
    if let Some(mut pipe) = running.child().stderr.take() {
        pipe.read_to_end(&mut text).ok();
    }
    let status = running.wait().map_err(|e| e.to_string())?;
    if status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&text).into_owned()) }
}

fn reason(said: &str) -> String {
    match telling_line(said) {
        line if line.is_empty() => "it failed without a message".to_owned(),
        line => line,
    }
}
