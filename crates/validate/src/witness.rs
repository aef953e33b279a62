//! A witness: a folder with an input and a script that shows the leak, without us.
//!
//! The script compiles the original sources with LeakSanitizer, links them with the failure injector (a C
//! file in the folder) and runs the program on the input. Everything it needs beside the sources and a
//! compiler is in the folder.

use crate::build::{FAULTS_SOURCE, HARNESS_FILE, find_instrumenter, wrap_flags};
use crate::error::ValidateError;
use crate::input::Input;
use crate::run::finish;
use crate::source::Program;
use crate::verdict::Qualifier;
use crate::warning::Warning;
use leakproof_frontend::SourceKind;
use leakproof_frontend::cancel::adopt_orphans;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Lets the script keep what it built, for the next witness of the same program.
pub const BUILD_VARIABLE: &str = "LEAKPROOF_WITNESS_BUILD";

/// Names what the script is to start the program with: our sandbox, when it is we who run the script.
const CONFINE_VARIABLE: &str = "LEAKPROOF_CONFINE";

/// What the folder says about itself, for readers and for `replay`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WitnessNote {
    pub version: u32,
    pub warning: String,
    pub allocation: String,
    pub leak: String,
    pub qualifier: Qualifier,
    pub program: String,
    /// The function that the witness calls, when there is no `main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// As a shell would be told; for reading, the script has the exact bytes.
    pub command: String,
    pub faults: Vec<String>,
}

pub const NOTE_FILE: &str = "witness.json";
pub const SCRIPT: &str = "run.sh";

/// What LeakSanitizer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Its defaults: what nothing refers to.
    Unreferenced,
    /// Whatever the stack and registers still hold by chance does not count.
    NoStack,
    /// References from global variables do not count either: everything that was not freed.
    Unfreed,
}

impl Strictness {
    fn options(self) -> &'static str {
        match self {
            Strictness::Unreferenced => "",
            Strictness::NoStack => ":use_stacks=0:use_registers=0",
            Strictness::Unfreed => {
                ":use_stacks=0:use_registers=0:use_globals=0:use_tls=0:use_root_regions=0"
            }
        }
    }
}

/// Chooses who links. LeakSanitizer is a library that comes with a compiler, not always with the one that we use, and
/// any will do: the objects are the same.
const LINKER: &str = r#"linker_of() {
    for linker in "$@"; do
        if echo 'int main(void) { return 0; }' |
            $linker -fsanitize=leak -x c - -o "$build/probe" 2>/dev/null; then
            break
        fi
        linker=$1
    done
    echo "$linker"
}"#;

/// Collects the report. LeakSanitizer ends without one when it cannot start its symbolizer, as in a program
/// that closes its standard streams; so there is a second run without, whose frames are named here.
const NAMED_REPORT: &str = r#"cat "$build"/report.* 2>/dev/null | while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in
    *"($build/program+0x"*)
        at=${line##*program+}
        addr2line -pfe "$build/program" "${at%%)*}" 2>/dev/null ;;
    esac
done >"$build/report""#;

pub struct Witness<'a> {
    pub program: &'a Program,
    pub warning: &'a Warning,
    pub input: &'a Input,
    pub qualifier: Qualifier,
    pub compiler: &'a Path,
}

impl Witness<'_> {
    /// Writes the folder, in place of an older one.
    pub fn write(&self, folder: &Path, strictness: Strictness) -> Result<(), ValidateError> {
        let fail = |e: std::io::Error| ValidateError::io(folder, &e);
        if folder.join(NOTE_FILE).is_file() {
            std::fs::remove_dir_all(folder).map_err(fail)?;
        }
        std::fs::create_dir_all(folder.join("files")).map_err(fail)?;
        self.input.write_entries(&folder.join("files")).map_err(fail)?;
        std::fs::write(folder.join("stdin"), &self.input.stdin).map_err(fail)?;
        std::fs::write(folder.join("faults.c"), FAULTS_SOURCE).map_err(fail)?;
        if let Some(harness) = &self.program.harness {
            std::fs::write(folder.join(HARNESS_FILE), &harness.text).map_err(fail)?;
        }
        let mut flags = wrap_flags();
        flags.push("-Wl,--wrap=main".to_owned());
        std::fs::write(folder.join("faults.link"), flags.join("\n") + "\n").map_err(fail)?;
        let note = serde_json::to_string_pretty(&self.note()).unwrap_or_default();
        std::fs::write(folder.join(NOTE_FILE), note + "\n").map_err(fail)?;
        std::fs::write(folder.join(SCRIPT), self.script(strictness)).map_err(fail)
    }

    fn note(&self) -> WitnessNote {
        let place = |file: &Path, line: u32| format!("{}:{line}", file.display());
        let first = self.warning.allocation.first();
        WitnessNote {
            version: 1,
            warning: self.warning.name.clone(),
            allocation: first.map_or(String::new(), |s| place(&s.file, s.line)),
            leak: place(&self.warning.leak.file, self.warning.leak.line),
            qualifier: self.qualifier,
            program: self.program.name.clone(),
            harness: self.program.harness.as_ref().map(|h| h.function.clone()),
            command: String::from_utf8_lossy(&self.command()).into_owned(),
            faults: self.faults(),
        }
    }

    fn faults(&self) -> Vec<String> {
        self.input.faults.iter().map(|f| format!("{}:{}", f.function, f.call)).collect()
    }

    /// The program's command line.
    fn command(&self) -> Vec<u8> {
        let mut line = quoted(self.input.started_by());
        for argument in self.input.command_line() {
            line.push(b' ');
            line.extend(quoted(argument));
        }
        line
    }

    fn script(&self, strictness: Strictness) -> Vec<u8> {
        let mut s = Vec::new();
        let mut line = |text: &[u8]| {
            s.extend(text);
            s.push(b'\n');
        };
        line(b"#!/bin/sh");
        line(
            b"# Builds the original sources with LeakSanitizer and runs them on the input of this",
        );
        line(
            b"# folder. Exits with 0 when the leak shows, with 1 when it does not, with 2 when the",
        );
        line(b"# sources do not build. CC names the compiler.");
        line(b"set -eu");
        line(b"here=$(cd \"$(dirname \"$0\")\" && pwd)");
        line(format!(": \"${{CC:={}}}\"", self.compiler.display()).as_bytes());
        line(format!("build=${{{BUILD_VARIABLE}:-}}").as_bytes());
        line(b"if [ -z \"$build\" ]; then");
        line(b"    build=$(mktemp -d)");
        line(b"    trap 'rm -rf \"$build\"' EXIT");
        line(b"fi");
        line(b"trap 'exit 2' HUP INT TERM");
        LINKER.lines().for_each(|l| line(l.as_bytes()));
        line(b"make_program() {");
        let steps = self.build_lines().join(&b" &&\n"[..]);
        line(&steps);
        line(b"}");
        line(b"if [ ! -x \"$build/program\" ] && ! make_program; then");
        line(b"    echo 'the sources do not build' >&2");
        line(b"    exit 2");
        line(b"fi");
        self.run_lines(strictness).iter().for_each(|l| line(l));
        s
    }

    fn build_lines(&self) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        let mut rest = Vec::new();
        for (i, unit) in self.program.units.iter().enumerate() {
            let unit = &unit.unit;
            let mut l = b"    ( cd ".to_vec();
            l.extend(quoted(unit.directory.as_os_str().as_encoded_bytes()));
            l.extend(b" && \"$CC\"");
            for flag in &unit.flags {
                l.push(b' ');
                l.extend(quoted(flag.as_encoded_bytes()));
            }
            let language = match unit.kind {
                SourceKind::C => "c",
                SourceKind::Cxx => "c++",
                SourceKind::Llvm => "ir",
            };
            l.extend(
                format!(" -Wno-everything -w -g -O0 -fsanitize=leak -x {language} -c ").bytes(),
            );
            match &self.program.harness {
                Some(_) if i == 0 => l.extend(format!("\"$here/{HARNESS_FILE}\"").bytes()),
                _ => l.extend(quoted(unit.source.as_os_str().as_encoded_bytes())),
            }
            l.extend(format!(" -o \"$build/unit{i}.o\" )").bytes());
            lines.push(l);
            if i > 0 {
                rest.push(format!("\"$build/unit{i}.o\""));
            }
        }
        lines.push(b"    \"$CC\" -w -g -c \"$here/faults.c\" -o \"$build/faults.o\"".to_vec());
        let archive = if rest.is_empty() {
            String::new()
        } else {
            lines.push(format!("    ar rcs \"$build/libunits.a\" {}", rest.join(" ")).into_bytes());
            "\"$build/libunits.a\" ".to_owned()
        };
        lines.push(format!("    linker=$(linker_of {})", self.linkers()).into_bytes());
        let mut link = format!(
            "    $linker -fsanitize=leak -o \"$build/program\" \"$build/unit0.o\" {archive}\"$build/faults.o\" $(cat \"$here/faults.link\")"
        )
        .into_bytes();
        for flag in &self.program.link_flags {
            link.push(b' ');
            link.extend(quoted(flag.as_encoded_bytes()));
        }
        lines.push(link);
        lines
    }

    /// Commands that may link the program, the compiler's own first.
    fn linkers(&self) -> &'static str {
        match self.program.is_cxx {
            true => "\"$CC --driver-mode=g++\" c++ g++ clang++",
            false => "\"$CC\" cc gcc clang",
        }
    }

    fn run_lines(&self, strictness: Strictness) -> Vec<Vec<u8>> {
        let mut lines: Vec<Vec<u8>> = Vec::new();
        for fixed in [
            "work=$build/work",
            "for symbolize in 1 0; do",
            "rm -rf \"$work\" \"$build\"/report*",
            "mkdir \"$work\"",
            "cp -RP \"$here/files/.\" \"$work/\"",
            "cd \"$work\"",
        ] {
            lines.push(fixed.as_bytes().to_vec());
        }
        let path = match &self.input.name {
            Some(name) => {
                lines.extend(link_lines(name));
                "\"$build/names\":/usr/bin:/bin"
            }
            None => "/usr/bin:/bin",
        };
        let mut run =
            format!("env -i PATH={path} HOME=\"$work\" TMPDIR=\"$work\" LC_ALL=C").into_bytes();
        for (name, value) in &self.input.environment {
            run.push(b' ');
            let mut word = name.as_bytes().to_vec();
            word.push(b'=');
            word.extend(value);
            run.extend(quoted(&word));
        }
        let faults = self.faults();
        if !faults.is_empty() {
            run.extend(format!(" LEAKPROOF_FAULTS={}", faults.join(",")).bytes());
        }
        let options = format!(
            "symbolize=$symbolize:exitcode=23:print_suppressions=0:fast_unwind_on_malloc=0{}",
            strictness.options()
        );
        // Into a file of its own: programs may close their standard error before they end.
        run.extend(
            format!(" LSAN_OPTIONS={options}:log_path=\"$build/report\" timeout 120 ").bytes(),
        );
        let flag = leakproof_rt::confine::FLAG;
        let confined = format!("\"${CONFINE_VARIABLE}\" {flag} \"$build\"");
        run.extend(format!("${{{CONFINE_VARIABLE}:+{confined}}} ").bytes());
        run.extend(self.command());
        run.extend(b" <\"$here/stdin\" >\"$build/output\" 2>\"$build/errors\" || true");
        lines.push(run);
        let spot = self.warning.allocation.first();
        let name = spot.and_then(|s| s.file.file_name()).unwrap_or_default();
        let line = spot.map_or(0, |s| s.line);
        let mut wanted = name.as_encoded_bytes().to_vec();
        wanted.extend(format!(":{line}").bytes());
        lines.extend(NAMED_REPORT.lines().map(|l| l.as_bytes().to_vec()));
        let mut check = b"if grep -A80 'leak of' \"$build/report\" | grep -F -q ".to_vec();
        check.extend(quoted(&wanted));
        check.extend(b"; then");
        lines.push(check);
        for fixed in [
            "    cat \"$build/report\"",
            "    exit 0",
            "fi",
            "done",
            "cat \"$build/errors\" \"$build/report\" >&2",
            "echo 'the leak did not show' >&2",
            "exit 1",
        ] {
            lines.push(fixed.as_bytes().to_vec());
        }
        lines
    }
}

/// Lines that make the program known to the shell by a name.
fn link_lines(name: &[u8]) -> [Vec<u8>; 2] {
    let link = [b"ln -sf \"$build/program\" \"$build/names\"/", quoted(name).as_slice()].concat();
    [b"mkdir -p \"$build/names\"".to_vec(), link]
}

/// A word that a shell takes as it is.
fn quoted(word: &[u8]) -> Vec<u8> {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_=./,:+@%".contains(b);
    if !word.is_empty() && word.iter().all(plain) {
        return word.to_vec();
    }
    let mut out = vec![b'\''];
    for b in word {
        match b {
            b'\'' => out.extend(b"'\\''"),
            _ => out.push(*b),
        }
    }
    out.push(b'\'');
    out
}

/// The line that tells most: the linker's or the compiler's, or what was said last. That linking failed is said by the
/// compiler too, but not why.
pub(crate) fn telling_line(text: &str) -> String {
    let says = |words: &[&str]| text.lines().find(|l| words.iter().any(|w| l.contains(w)));
    let linker = says(&["undefined reference", "ld: cannot find", "multiple definition"]);
    let error = linker.or_else(|| says(&["error:"]));
    error.or_else(|| text.lines().next_back()).unwrap_or("").trim().to_owned()
}

/// What came of running a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    pub shown: Shown,
    /// LeakSanitizer's report, when the leak shows.
    pub report: String,
    /// The last line of what went wrong.
    pub complaint: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    Yes,
    No,
    DoesNotBuild,
}

/// Runs a witness's script.
pub fn replay(folder: &Path, kept: Option<&Path>) -> Result<Replay, ValidateError> {
    let variables: Vec<(&str, &Path)> = kept.into_iter().map(|k| (BUILD_VARIABLE, k)).collect();
    let run = run_script(folder, &variables)?;
    let shown = match run.code {
        Some(0) => Shown::Yes,
        Some(2) => Shown::DoesNotBuild,
        _ => Shown::No,
    };
    Ok(Replay { shown, report: run.output, complaint: telling_line(&run.errors) })
}

/// What a script said.
pub(crate) struct ScriptRun {
    pub code: Option<i32>,
    pub output: String,
    pub errors: String,
}

/// Runs a witness's script with these variables in its environment.
pub(crate) fn run_script(
    folder: &Path,
    variables: &[(&str, &Path)],
) -> Result<ScriptRun, ValidateError> {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    let script: PathBuf = folder.join(SCRIPT);
    if !script.is_file() {
        return Err(ValidateError::Io {
            path: script,
            reason: "no such file: not a witness".into(),
        });
    }
    let said = crate::run::scratch_folder("replay")?;
    let (output, errors) = (said.path().join("stdout"), said.path().join("stderr"));
    let create = |path: &Path| std::fs::File::create(path).map_err(|e| ValidateError::io(path, &e));
    let mut command = Command::new("sh");
    command.arg(&script).stdin(Stdio::null()).stdout(create(&output)?).stderr(create(&errors)?);
    command.process_group(0).envs(variables.iter().copied());
    if let Some(sandbox) = find_instrumenter() {
        command.env(CONFINE_VARIABLE, sandbox);
    }
    adopt_orphans();
    let status = finish(&mut command, LONGEST).map_err(|e| match e.kind() {
        std::io::ErrorKind::Interrupted => ValidateError::Interrupted,
        _ => ValidateError::io(&script, &e),
    })?;
    let text = |path: &Path| {
        String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
    };
    let code = status.and_then(|s| s.code());
    Ok(ScriptRun { code, output: text(&output), errors: text(&errors) })
}

/// Compiling the sources may take long; the program itself has its own limit in the script.
const LONGEST: Duration = Duration::from_secs(3600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linker_tells_more_than_the_compiler() {
        let text =
            "/usr/bin/ld: cannot find -lx: No such file\nclang: error: linker command failed\nend";
        assert_eq!(telling_line(text), "/usr/bin/ld: cannot find -lx: No such file");
        assert_eq!(telling_line("a.c:1: error: b\nc"), "a.c:1: error: b");
        assert_eq!(telling_line("a\nb"), "b");
    }

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(quoted(b"-la"), b"-la");
        assert_eq!(quoted(b""), b"''");
        assert_eq!(quoted(b"a b"), b"'a b'");
        assert_eq!(quoted(b"it's"), b"'it'\\''s'");
        assert_eq!(quoted(b"\xff\n"), b"'\xff\n'");
    }
}
