//! From the raw record of a watched build to compilations and link steps.
//!
//! Invariant: every compilation names a source file that still exists after the build, so the
//! probes of `configure`, cmake and meson are gone.

use super::{LinkKind, LinkStep, Recording};
use crate::arguments::expand_responses;
use crate::command::{Command, CompilerName, Stage, parse_command, split_driver};
use crate::database::Entry;
use crate::unit::FileClass;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub const LINKS_FILE_NAME: &str = "link_commands.json";

/// Folders in which build systems try the compiler out.
const PROBE_FOLDERS: &[&str] =
    &["CompilerIdC", "CompilerIdCXX", "CMakeTmp", "CMakeScratch", "meson-private"];

/// One call of a tool.
struct Call {
    directory: PathBuf,
    arguments: Vec<OsString>,
}

/// Reads the record and sorts it into compilations and links.
pub fn interpret(bytes: &[u8]) -> Recording {
    let mut recording = Recording::default();
    for call in calls(bytes) {
        match tool(&call.arguments) {
            Some(Tool::Compiler) => compiler(&call, &mut recording),
            Some(Tool::Archiver) => recording.links.extend(archive(&call)),
            Some(Tool::Linker) => {
                let command = linker_command(&call);
                recording.links.extend(link(&call, &command));
            }
            None => {}
        }
    }
    dedup(&mut recording);
    recording
}

enum Tool {
    Compiler,
    Linker,
    Archiver,
}

fn tool(arguments: &[OsString]) -> Option<Tool> {
    // Look through `ccache gcc ...`.
    let name = arguments.iter().map(|a| base_name(a)).find(|n| !is_launcher(n))?;
    if CompilerName::parse(&name).is_some() {
        return Some(Tool::Compiler);
    }
    let last = name.rsplit('-').find(|part| !part.starts_with(|c: char| c.is_ascii_digit()))?;
    match last {
        "ar" => Some(Tool::Archiver),
        "ld" | "ld.bfd" | "ld.gold" | "ld.lld" | "lld" | "ld.mold" | "mold" => Some(Tool::Linker),
        _ => None,
    }
}

fn is_launcher(name: &str) -> bool {
    matches!(name, "ccache" | "sccache" | "distcc" | "icecc")
}

fn base_name(path: &OsStr) -> String {
    Path::new(path).file_name().unwrap_or(path).to_string_lossy().into_owned()
}

/// Splits the record. A damaged tail (the disk was full) is ignored.
fn calls(mut bytes: &[u8]) -> Vec<Call> {
    let mut out = Vec::new();
    while let Some(count) = number(&mut bytes) {
        let strings: Option<Vec<OsString>> = (0..count).map(|_| string(&mut bytes)).collect();
        let Some(mut strings) = strings.filter(|s| s.len() > 1) else { break };
        let directory = PathBuf::from(strings.remove(0));
        out.push(Call { directory, arguments: strings });
    }
    out
}

fn number(bytes: &mut &[u8]) -> Option<u32> {
    let (head, tail) = bytes.split_first_chunk::<4>()?;
    *bytes = tail;
    Some(u32::from_ne_bytes(*head))
}

fn string(bytes: &mut &[u8]) -> Option<OsString> {
    let length = usize::try_from(number(bytes)?).ok()?;
    let (head, tail) = bytes.split_at_checked(length)?;
    *bytes = tail;
    Some(OsString::from_vec(head.to_vec()))
}

fn compiler(call: &Call, recording: &mut Recording) {
    let Ok(arguments) = expand_responses(call.arguments.clone(), &call.directory) else { return };
    let command = parse_command(&split_driver(&arguments));
    if command.stage == Stage::NoCode || is_probe(&call.directory) || !call.directory.is_dir() {
        return;
    }
    for input in &command.inputs {
        let unit = matches!(input.class, FileClass::Source(_) | FileClass::Assembler);
        if unit && is_lasting(&call.directory.join(&input.path)) {
            recording.compilations.push(Entry {
                directory: call.directory.clone(),
                file: input.path.clone(),
                arguments: arguments.clone(),
                output: command.output.clone().filter(|_| command.stage == Stage::Compile),
            });
        }
    }
    if command.stage == Stage::Link {
        recording
            .links
            .extend(link(&Call { directory: call.directory.clone(), arguments }, &command));
    }
}

/// Whether the source belongs to the project rather than to a test of the compiler.
fn is_lasting(path: &Path) -> bool {
    !is_probe(path) && path.is_file()
}

fn is_probe(path: &Path) -> bool {
    let name = |c: std::path::Component<'_>| c.as_os_str().to_str().map(str::to_owned);
    path.components().filter_map(name).any(|n| PROBE_FOLDERS.contains(&n.as_str()))
}

fn link(call: &Call, command: &Command) -> Option<LinkStep> {
    let output = command.output.clone().unwrap_or_else(|| "a.out".into());
    let inputs: Vec<PathBuf> = command.inputs.iter().map(|i| i.path.clone()).collect();
    if inputs.is_empty() || !call.directory.join(&output).is_file() {
        return None;
    }
    let has = |flags: &[&str]| call.arguments.iter().any(|a| flags.iter().any(|f| a == f));
    let kind = if has(&["-shared", "--shared", "-Bshareable", "-dynamiclib"]) {
        LinkKind::Shared
    } else if has(&["-r", "--relocatable", "-Wl,-r"]) {
        LinkKind::Relocatable
    } else {
        LinkKind::Program
    };
    Some(step(call, output, inputs, kind))
}

/// `ld` shares the options that matter here with the compiler drivers.
fn linker_command(call: &Call) -> Command {
    parse_command(&split_driver(&call.arguments))
}

/// `ar crs lib.a a.o b.o`; listing and extracting make no archive.
fn archive(call: &Call) -> Option<LinkStep> {
    let mut operands = call.arguments.iter().skip(1).filter(|a| !a.as_bytes().starts_with(b"--"));
    let operation = operands.next()?;
    let letters = operation.as_bytes().strip_prefix(b"-").unwrap_or(operation.as_bytes());
    if !letters.iter().any(|l| matches!(l, b'r' | b'q')) {
        return None;
    }
    let output = PathBuf::from(operands.next()?);
    let inputs: Vec<PathBuf> = operands.map(PathBuf::from).collect();
    (!inputs.is_empty()).then(|| step(call, output, inputs, LinkKind::Archive))
}

fn step(call: &Call, output: PathBuf, inputs: Vec<PathBuf>, kind: LinkKind) -> LinkStep {
    let text = |a: &OsString| a.to_string_lossy().into_owned();
    let arguments = call.arguments.iter().map(text).collect();
    LinkStep { directory: call.directory.clone(), arguments, output, inputs, kind }
}

/// Equal entries collapse; the order of parallel jobs is made the same for every run.
fn dedup(recording: &mut Recording) {
    recording.compilations.sort_by(|a, b| {
        (&a.directory, &a.file, &a.arguments).cmp(&(&b.directory, &b.file, &b.arguments))
    });
    recording.compilations.dedup();
    recording.links.sort_by(|a, b| {
        (&a.directory, &a.output, &a.arguments).cmp(&(&b.directory, &b.output, &b.arguments))
    });
    recording.links.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(calls: &[&[&str]]) -> Vec<u8> {
        let mut out = Vec::new();
        for call in calls {
            out.extend((call.len() as u32).to_ne_bytes());
            for word in *call {
                out.extend((word.len() as u32).to_ne_bytes());
                out.extend(word.as_bytes());
            }
        }
        out
    }

    #[test]
    fn compilations_links_and_archives() {
        let dir = tempfile::tempdir().unwrap();
        let d = dir.path().to_str().unwrap();
        for file in ["a.c", "b.c", "prog"] {
            std::fs::write(dir.path().join(file), "x").unwrap();
        }
        let r = interpret(&record(&[
            &[d, "gcc", "-c", "conftest.c"],
            &[d, "/usr/bin/gcc-12", "-DX", "-c", "a.c", "-o", "a.o"],
            &[d, "ccache", "cc", "-c", "b.c"],
            &[d, "gcc", "-E", "a.c"],
            &[d, "x86_64-linux-gnu-ar", "crs", "lib.a", "b.o"],
            &[d, "ar", "t", "lib.a"],
            &[d, "gcc", "-o", "prog", "a.o", "lib.a", "-lm"],
        ]));
        let files: Vec<_> = r.compilations.iter().map(|e| e.file.to_str().unwrap()).collect();
        assert_eq!(files, ["a.c", "b.c"]);
        assert_eq!(r.links.len(), 2);
        assert_eq!(
            (r.links[0].kind, r.links[0].output.to_str()),
            (LinkKind::Archive, Some("lib.a"))
        );
        assert_eq!(r.links[1].kind, LinkKind::Program);
        assert_eq!(r.links[1].inputs, ["a.o", "lib.a"].map(PathBuf::from));
    }

    #[test]
    fn a_damaged_tail_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.c"), "x").unwrap();
        let mut bytes = record(&[&[dir.path().to_str().unwrap(), "cc", "-c", "a.c"]]);
        bytes.extend([9, 0, 0]);
        assert_eq!(interpret(&bytes).compilations.len(), 1);
        bytes.extend([0, 255, 255, 255, 255, 1]);
        assert_eq!(interpret(&bytes).compilations.len(), 1);
    }
}
