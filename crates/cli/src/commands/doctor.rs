//! `leakproof doctor`: which tools were found, and what is wrong with them.
//!
//! Exit code 0 when leakproof can work here, 2 when it cannot.

use crate::output;
use anyhow::Result;
use leakproof_frontend::clang::{Clang, find_program};
use leakproof_frontend::{LoadOptions, Project, Request, Silent, cache, load};
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

/// One line of the diagnosis.
struct Line {
    subject: &'static str,
    /// What was found, or what is wrong and what to do about it.
    result: Result<String, String>,
    /// Without it nothing works.
    required: bool,
}

pub fn run() -> Result<ExitCode> {
    let lines = [
        Line { subject: "clang", result: clang(), required: true },
        Line { subject: "LLVM bitcode", result: bitcode(), required: true },
        Line { subject: "Z3", result: Ok(leakproof_smt::version()), required: true },
        Line { subject: "build watching", result: watching(), required: false },
        Line { subject: "cache", result: cache_folder(), required: false },
    ];
    let mut text = format!("leakproof {}\n", env!("CARGO_PKG_VERSION"));
    for line in &lines {
        text.push_str(&line.to_string());
    }
    output::write(None, &text)?;
    let broken = lines.iter().any(|l| l.required && l.result.is_err());
    Ok(if broken { ExitCode::from(2) } else { ExitCode::SUCCESS })
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let subject = self.subject;
        match &self.result {
            Ok(found) => writeln!(f, "  ok       {subject}: {found}"),
            Err(wrong) if self.required => writeln!(f, "  BROKEN   {subject}: {wrong}"),
            Err(wrong) => writeln!(f, "  missing  {subject}: {wrong}"),
        }
    }
}

fn clang() -> Result<String, String> {
    let clang = Clang::locate().map_err(|e| e.to_string())?;
    let version = clang.version().map_err(|e| e.to_string())?;
    Ok(format!("{version} ({})", clang.path.display()))
}

/// Compiles and lowers a function, so that the whole way is known to work.
fn bitcode() -> Result<String, String> {
    let folder =
        tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}; set TMPDIR"))?;
    let source = "#include <stdlib.h>\nint probe(int n) { char *p = malloc(n); return p != 0; }\n";
    std::fs::write(folder.path().join("probe.c"), source).map_err(|e| e.to_string())?;
    let request = Request {
        cwd: folder.path().to_owned(),
        paths: vec!["probe.c".into()],
        ..Request::default()
    };
    let project = Project::discover(&request).map_err(|e| e.to_string())?;
    let loaded = load(&project, &LoadOptions::default(), &Silent).map_err(|e| e.to_string())?;
    match (loaded.modules.first(), loaded.skipped.first()) {
        (Some(module), _) if module.functions.values().any(|f| f.name == "probe") => {
            Ok("a test unit compiles and is read back (no LLVM library is needed)".to_owned())
        }
        (_, Some((_, reason))) => {
            Err(format!("a test unit does not compile: {reason}; install libc6-dev and clang-19"))
        }
        _ => Err("a test unit is lost; please report this".to_owned()),
    }
}

fn watching() -> Result<String, String> {
    let linker = ["ld", "ld.lld", "lld"].iter().find_map(|n| find_program(OsStr::new(n)));
    match linker {
        Some(path) => Ok(format!("linker {}", path.display())),
        None => Err("no linker in PATH; install binutils to watch builds".to_owned()),
    }
}

fn cache_folder() -> Result<String, String> {
    let dir = cache::default_dir().ok_or("no folder; set LEAKPROOF_CACHE_DIR or HOME")?;
    let usage = cache::usage(&dir);
    if !is_writable(&dir) {
        return Err(format!("{} cannot be written; set LEAKPROOF_CACHE_DIR", dir.display()));
    }
    Ok(format!("{} ({} units)", dir.display(), usage.units))
}

/// Whether the folder, or the closest one above it that exists, takes new files.
fn is_writable(dir: &Path) -> bool {
    let existing = dir.ancestors().find(|d| d.is_dir());
    existing.is_some_and(|d| tempfile::tempfile_in(d).is_ok())
}
