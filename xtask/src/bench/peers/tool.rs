//! The peers that are installable from packages, each told to look for leaks as well as it can.

use crate::bench::compile::language;
use crate::bench::machine;
use anyhow::{Result, bail};
use leakproof_frontend::Unit;
use leakproof_frontend::clang::Clang;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Another analyser that finds leaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    ClangAnalyzer,
    GccAnalyzer,
    Cppcheck,
    /// Of SVF. It reads the bitcode of the whole program; `SABER_VARIABLE` names it.
    Saber,
}

pub const TOOLS: [Tool; 4] = [Tool::ClangAnalyzer, Tool::GccAnalyzer, Tool::Cppcheck, Tool::Saber];

/// The `saber` to run. Package `pysvf` of the Python index ships one; it wants glibc 2.38.
pub const SABER_VARIABLE: &str = "LEAKPROOF_SABER";

/// Of the Clang Static Analyzer only what leaks need: its core, and the checkers of memory and
/// streams. All default checkers would cost more.
const CLANG_CHECKERS: &str =
    "-analyzer-checker=core,unix.Malloc,unix.Stream,cplusplus.NewDelete,cplusplus.NewDeleteLeaks";

impl Tool {
    /// The name in file names and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClangAnalyzer => "clang",
            Self::GccAnalyzer => "gcc",
            Self::Cppcheck => "cppcheck",
            Self::Saber => "saber",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::ClangAnalyzer => "Clang Static Analyzer",
            Self::GccAnalyzer => "gcc -fanalyzer",
            Self::Cppcheck => "Cppcheck",
            Self::Saber => "SVF saber",
        }
    }

    /// `None` when it is not installed.
    pub fn version(self) -> Option<String> {
        match self {
            Self::ClangAnalyzer => Clang::locate().ok()?.version().ok(),
            Self::GccAnalyzer => machine::version("gcc"),
            Self::Cppcheck => machine::version("cppcheck"),
            Self::Saber => saber().map(|_| "of package pysvf".to_owned()),
        }
    }

    /// The program and its arguments for one unit, to be run in the unit's directory.
    pub fn command(self, unit: &Unit) -> Result<Vec<OsString>> {
        Ok(match self {
            Self::ClangAnalyzer => clang(unit, Clang::locate()?.path.as_os_str()),
            Self::GccAnalyzer => gcc(unit),
            Self::Cppcheck => cppcheck(unit),
            Self::Saber => bail!("saber reads whole programs"),
        })
    }
}

/// Where saber is, when the environment says so.
pub fn saber() -> Option<PathBuf> {
    std::env::var_os(SABER_VARIABLE).map(PathBuf::from).filter(|p| p.is_file())
}

fn words<'a>(list: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = OsString> {
    list.into_iter().map(OsString::from).collect::<Vec<_>>().into_iter()
}

fn clang(unit: &Unit, program: &OsStr) -> Vec<OsString> {
    let mut line = vec![program.to_owned(), "--analyze".into()];
    line.extend(unit.flags.iter().cloned());
    line.extend(words(["-w", "-Wno-everything", "--analyzer-no-default-checks", "-Xclang"]));
    line.extend(words([CLANG_CHECKERS, "-Xclang", "-analyzer-output=text"]));
    line.extend(words(["-fno-caret-diagnostics", "-o", "/dev/null", "-x", language(unit)]));
    line.push(unit.source.clone().into());
    line
}

/// gcc's analyser needs no optimisation, and warns about nothing under `-w`.
fn gcc(unit: &Unit) -> Vec<OsString> {
    let mut line = vec![OsString::from("gcc")];
    line.extend(common_flags(&unit.flags));
    line.extend(words(["-O0", "-fanalyzer", "-Wno-error", "-fdiagnostics-plain-output"]));
    line.extend(words(["-fdiagnostics-path-format=none", "-c", "-o", "/dev/null", "-x"]));
    line.push(language(unit).into());
    line.push(unit.source.clone().into());
    line
}

/// The flags that every compiler knows and that decide what the code is. A build by clang may have
/// others at which gcc would give up.
fn common_flags(flags: &[OsString]) -> Vec<OsString> {
    const PAIRS: [&str; 8] =
        ["-D", "-U", "-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros"];
    const SINGLE: [&str; 6] =
        ["-ansi", "-pthread", "-fsigned-char", "-funsigned-char", "-fms-extensions", "-nostdinc"];
    let mut kept = Vec::new();
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        let text = flag.to_string_lossy();
        let joined = PAIRS.iter().any(|p| text.starts_with(p)) || text.starts_with("-std=");
        if joined || SINGLE.contains(&text.as_ref()) {
            kept.push(flag.clone());
        }
        if PAIRS.contains(&text.as_ref()) {
            kept.extend(rest.next().cloned());
        }
    }
    kept
}

/// Cppcheck takes macros, include folders and the language standard from the compiler's flags.
fn cppcheck(unit: &Unit) -> Vec<OsString> {
    let mut line: Vec<OsString> =
        words(["cppcheck", "-q", "--library=posix", "--library=gnu"]).collect();
    line.extend(words(["--template={file}:{line}:{column}: {id}: {message}"]));
    line.push(format!("--language={}", language(unit)).into());
    let mut flags = unit.flags.iter();
    while let Some(flag) = flags.next() {
        line.extend(cppcheck_flag(flag, &mut flags));
    }
    line.push(unit.source.clone().into());
    line
}

fn cppcheck_flag<'a>(
    flag: &OsStr,
    rest: &mut impl Iterator<Item = &'a OsString>,
) -> Option<OsString> {
    let text = flag.to_str()?;
    let joined = |prefix: &str, value: &OsStr| {
        let mut word = OsString::from(prefix);
        word.push(value);
        Some(word)
    };
    match text {
        "-D" | "-U" | "-I" => joined(text, rest.next()?),
        "-isystem" | "-iquote" | "-idirafter" => joined("-I", rest.next()?),
        "-include" => joined("--include=", rest.next()?),
        _ if ["-D", "-U", "-I"].iter().any(|p| text.starts_with(p)) => Some(flag.to_owned()),
        _ => text.strip_prefix("-std=").and_then(standard).map(Into::into),
    }
}

/// Cppcheck knows the standards by their ISO names only.
fn standard(name: &str) -> Option<String> {
    let name = name.replace("gnu", "c");
    ["c89", "c99", "c11", "c++11", "c++14", "c++17", "c++20"]
        .contains(&name.as_str())
        .then(|| format!("--std={name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_one_compiler_stay_out() {
        let flags: Vec<OsString> =
            words(["-mretpoline", "-I", "inc", "-DX=1", "-Qunused-arguments", "-std=gnu99"])
                .collect();
        assert_eq!(common_flags(&flags), ["-I", "inc", "-DX=1", "-std=gnu99"]);
    }
}
