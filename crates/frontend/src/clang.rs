//! Which clang: found, its version known, and an identity that changes when it is replaced.
//!
//! Invariant: a `Clang` whose `version` was asked writes bitcode that our reader knows. The identity
//! comes from the file on disk, so that a run in which every unit is cached starts no clang.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use thiserror::Error;

/// The newest clang whose bitcode our reader knows, and the one that is looked for.
pub const NEWEST_MAJOR: u32 = 19;
/// The oldest clang whose bitcode has opaque pointers, which the lowering needs.
pub const OLDEST_MAJOR: u32 = 15;
/// Names the clang to use instead of the one found in `PATH`.
pub const CLANG_VARIABLE: &str = "LEAKPROOF_CLANG";

const INSTALL: &str =
    "install it (on Debian: apt-get install clang-19) or name one in LEAKPROOF_CLANG";

#[derive(Debug, Error)]
pub enum ClangError {
    #[error("clang {NEWEST_MAJOR} was not found in PATH; {INSTALL}")]
    NotFound,
    #[error("{}: named in LEAKPROOF_CLANG, but it is no program; unset the variable or correct it", .0.display())]
    BadOverride(PathBuf),
    #[error("{}: does not run: {reason}; {INSTALL}", .path.display())]
    DoesNotRun { path: PathBuf, reason: String },
    #[error("{}: is clang {found}, but a version from {OLDEST_MAJOR} to {NEWEST_MAJOR} is needed; {INSTALL}", .path.display())]
    WrongVersion { path: PathBuf, found: u32 },
}

/// A clang executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clang {
    pub path: PathBuf,
    /// Changes whenever the executable does.
    pub identity: String,
}

impl Clang {
    fn new(path: PathBuf) -> Self {
        Self { identity: identity(&path), path }
    }

    /// Looks for the executable without starting it.
    pub fn locate() -> Result<Self, ClangError> {
        if let Some(name) = std::env::var_os(CLANG_VARIABLE).filter(|v| !v.is_empty()) {
            let path = find_program(&name).ok_or_else(|| ClangError::BadOverride(name.into()))?;
            return Ok(Self::new(path));
        }
        let names = [
            format!("clang-{NEWEST_MAJOR}"),
            format!("/usr/lib/llvm-{NEWEST_MAJOR}/bin/clang"),
            "clang".into(),
        ];
        let path = names.iter().find_map(|n| find_program(OsStr::new(n)));
        path.map(Self::new).ok_or(ClangError::NotFound)
    }

    /// Runs `clang --version` and returns its first line.
    pub fn version(&self) -> Result<String, ClangError> {
        let fail = |reason| ClangError::DoesNotRun { path: self.path.clone(), reason };
        let mut command = Command::new(&self.path);
        command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null());
        let output = command.output().map_err(|e| fail(crate::error::plain_reason(&e)))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().next().unwrap_or_default().to_owned();
        let major = major_version(&line).ok_or_else(|| fail("it prints no version".into()))?;
        if (OLDEST_MAJOR..=NEWEST_MAJOR).contains(&major) {
            Ok(line)
        } else {
            Err(ClangError::WrongVersion { path: self.path.clone(), found: major })
        }
    }
}

/// The executable's real path, size and times.
fn identity(path: &Path) -> String {
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let stamp = std::fs::metadata(&real)
        .map(|m| format!("{} {}.{:09} {}", m.len(), m.mtime(), m.mtime_nsec(), m.ino()))
        .unwrap_or_default();
    format!("{} {stamp}", real.to_string_lossy())
}

/// The number after `clang version`.
fn major_version(line: &str) -> Option<u32> {
    let rest = line.split("version ").nth(1)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// An executable by name in `PATH`, or by path.
pub fn find_program(name: &OsStr) -> Option<PathBuf> {
    if Path::new(name).components().count() > 1 {
        return is_executable(Path::new(name)).then(|| PathBuf::from(name));
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|p| is_executable(p))
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(major_version("Debian clang version 19.1.7 (3~deb12u1)"), Some(19));
        assert_eq!(major_version("clang version 20.0.0git"), Some(20));
        assert_eq!(major_version("gcc (Debian 12.2.0-14) 12.2.0"), None);
    }
}
