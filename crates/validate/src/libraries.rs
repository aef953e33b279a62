//! Libraries for a program whose link step nobody recorded: those of the system that define what it lacks.
//!
//! In: what the linker said. Out: `-l` flags, or nothing when some symbol is in no library. Only asked when a program does
//! not link: databases that other tools record have compilations and no link steps.

use leakproof_frontend::clang::find_program;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where systems keep libraries.
const FOLDERS: &[&str] = &[
    "/usr/local/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/lib/x86_64-linux-gnu",
];
/// Larger libraries are not what a program lacks by accident.
const LARGEST: u64 = 64 << 20;

/// The symbols that a linker missed.
pub fn missing_symbols(messages: &str) -> BTreeSet<String> {
    let names = messages.lines().filter_map(|line| {
        let (_, rest) = line.split_once("undefined reference to `")?;
        rest.split_once('\'').map(|(name, _)| name.to_owned())
    });
    names.collect()
}

/// Flags for libraries that together define these symbols; `None` when some are in none.
pub fn flags_for(symbols: &BTreeSet<String>) -> Option<Vec<String>> {
    let mut missing = symbols.clone();
    let libraries = libraries();
    let mut flags = Vec::new();
    while let Some(wanted) = missing.first().cloned() {
        let defining = libraries.iter().filter(|l| l.may_define(&wanted));
        let offers = defining.map(|l| (l.defined_of(&missing), l));
        let offers = offers.filter(|(defined, _)| defined.contains(&wanted));
        // What defines most, then the plainest name: `z` before `z-variant`.
        let (defined, library) =
            offers.min_by_key(|(d, l)| (usize::MAX - d.len(), l.name.len(), l.name.clone()))?;
        missing.retain(|m| !defined.contains(m));
        flags.push(format!("-l{}", library.name));
    }
    Some(flags)
}

struct Library {
    /// As `-l` wants it.
    name: String,
    /// The file with the code.
    path: PathBuf,
}

impl Library {
    /// Whether the name is in the file at all.
    fn may_define(&self, symbol: &str) -> bool {
        let quoted = [b"\0", symbol.as_bytes(), b"\0"].concat();
        let is_small = self.path.metadata().is_ok_and(|m| m.len() < LARGEST);
        let bytes = if is_small { std::fs::read(&self.path) } else { return false };
        bytes.is_ok_and(|b| b.windows(quoted.len()).any(|w| w == quoted))
    }

    /// Those of the symbols that it defines.
    fn defined_of(&self, symbols: &BTreeSet<String>) -> BTreeSet<String> {
        let lister = ["nm", "llvm-nm-19", "/usr/lib/llvm-19/bin/llvm-nm"];
        let lister = lister.iter().find_map(|n| find_program(n.as_ref()));
        let Some(lister) = lister else { return BTreeSet::new() };
        let mut command = Command::new(lister);
        if self.path.extension().is_none_or(|e| e != "a") {
            command.arg("-D");
        }
        command.arg("--defined-only").arg(&self.path).stdin(Stdio::null());
        let text = command.output().map(|o| o.stdout).unwrap_or_default();
        defined_in(&String::from_utf8_lossy(&text), symbols)
    }
}

/// Those of the symbols that a list of definitions (address, kind, name) has.
fn defined_in(list: &str, symbols: &BTreeSet<String>) -> BTreeSet<String> {
    let names = list.lines().filter_map(|l| l.split_whitespace().nth(2));
    let plain = names.map(|n| n.split('@').next().unwrap_or(n));
    plain.filter(|n| symbols.contains(*n)).map(str::to_owned).collect()
}

/// What can be linked with, shared libraries before archives.
fn libraries() -> Vec<Library> {
    let mut found = Vec::new();
    for folder in FOLDERS.iter().map(Path::new).filter(|f| !f.is_symlink()) {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        let paths = entries.filter_map(|e| Some(e.ok()?.path()));
        found.extend(paths.filter_map(|p| library(&p)));
    }
    found.sort_by(|a, b| (is_archive(&a.path), &a.name).cmp(&(is_archive(&b.path), &b.name)));
    found
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "a")
}

fn library(path: &Path) -> Option<Library> {
    let file = path.file_name()?.to_str()?.strip_prefix("lib")?;
    let name = file.strip_suffix(".so").or_else(|| file.strip_suffix(".a"))?.to_owned();
    Some(Library { name, path: behind_script(path) })
}

/// The library that a linker script in its place names first, or the file itself.
fn behind_script(path: &Path) -> PathBuf {
    let is_script = path.metadata().is_ok_and(|m| m.len() < 1024);
    let text = if is_script { std::fs::read_to_string(path).ok() } else { None };
    let words = text.iter().flat_map(|t| t.split([' ', '\n', '(', ')']));
    let named = words.filter(|w| w.contains(".so")).map(|w| path.with_file_name(w));
    named.into_iter().find(|p| p.is_file()).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_linker_missed_and_a_library_has() {
        let said = "a.c:(.text+0x1): undefined reference to `cos'\n\
                    a.c:(.text+0x2): undefined reference to `cos'\nother words\n\
                    a.c:(.text+0x3): undefined reference to `gone'\n";
        let missing = missing_symbols(said);
        assert_eq!(missing.iter().map(String::as_str).collect::<Vec<_>>(), ["cos", "gone"]);
        let list = "0000000000010e10 W cos@@GLIBC_2.2.5\n                 U gone\n";
        let defined = defined_in(list, &missing);
        assert_eq!(defined.iter().map(String::as_str).collect::<Vec<_>>(), ["cos"]);
    }

    #[test]
    fn a_symbol_that_no_library_has() {
        let nobody = BTreeSet::from(["no_library_has_this_symbol".to_owned()]);
        assert_eq!(flags_for(&nobody), None);
        assert_eq!(flags_for(&BTreeSet::new()), Some(Vec::new()));
    }
}
