//! A witness replayed on changed sources: whether what leaked is released now, and nothing else is
//! wrong on that run.
//!
//! The witness's own script does the work. It is given a compiler that sees the changed files under
//! their names and builds with AddressSanitizer, LeakSanitizer included.

use crate::error::ValidateError;
use crate::run::scratch_folder;
use crate::witness::{BUILD_VARIABLE, run_script, telling_line};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What the replay showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Afterwards {
    /// No leak of the object, and no other complaint of the sanitizers about this run.
    Clean,
    /// The object still leaks.
    Leaks,
    /// AddressSanitizer stopped the run: its first line.
    Broken(String),
    /// The changed sources do not build: why.
    DoesNotBuild(String),
}

/// Replays the witness in `folder`. `files`: absolute paths and new contents.
pub fn replay_patched(
    folder: &Path,
    compiler: &Path,
    files: &[(PathBuf, Vec<u8>)],
) -> Result<Afterwards, ValidateError> {
    let scratch = scratch_folder("patched")?;
    let (build, wrapper) = (scratch.path().join("build"), scratch.path().join("cc"));
    std::fs::create_dir_all(&build).map_err(|e| ValidateError::io(&build, &e))?;
    let prepared = write_overlay(scratch.path(), files)
        .and_then(|overlay| write_compiler(&wrapper, compiler, &overlay));
    prepared.map_err(|e| ValidateError::io(scratch.path(), &e))?;
    let run = run_script(folder, &[("CC", &wrapper), (BUILD_VARIABLE, &build)])?;
    let error = run.errors.lines().chain(run.output.lines()).find_map(sanitizer_error);
    Ok(match (run.code, error) {
        (Some(2), _) => Afterwards::DoesNotBuild(telling_line(&run.errors)),
        (_, Some(error)) => Afterwards::Broken(error),
        (Some(0), None) => Afterwards::Leaks,
        _ => Afterwards::Clean,
    })
}

/// `==7==ERROR: AddressSanitizer: heap-use-after-free on address ...`, without numbers. That
/// other objects leak is no error of this run.
fn sanitizer_error(line: &str) -> Option<String> {
    let (_, error) = line.split_once("ERROR: AddressSanitizer: ")?;
    let words: Vec<&str> = error.split_whitespace().take_while(|w| *w != "on").collect();
    Some(words.join(" "))
}

/// Writes the new contents, and the index under which clang finds them.
fn write_overlay(folder: &Path, files: &[(PathBuf, Vec<u8>)]) -> std::io::Result<PathBuf> {
    let mut roots = Vec::new();
    for (i, (name, content)) in files.iter().enumerate() {
        let copy = folder.join(format!("{i}"));
        std::fs::write(&copy, content)?;
        roots.push(serde_json::json!({
            "type": "file",
            "name": name.to_string_lossy(),
            "external-contents": copy.to_string_lossy(),
        }));
    }
    let text = serde_json::json!({
        "version": 0, "case-sensitive": true, "use-external-names": false, "roots": roots,
    });
    let index = folder.join("overlay.json");
    std::fs::write(&index, text.to_string())?;
    Ok(index)
}

fn write_compiler(wrapper: &Path, compiler: &Path, overlay: &Path) -> std::io::Result<()> {
    let text = format!(
        "#!/bin/sh\n\
         for word do\n\
         \x20   shift\n\
         \x20   [ \"$word\" = -fsanitize=leak ] && word=-fsanitize=address\n\
         \x20   set -- \"$@\" \"$word\"\n\
         done\n\
         exec '{}' \"$@\" -ivfsoverlay '{}'\n",
        compiler.display(),
        overlay.display()
    );
    std::fs::write(wrapper, text)?;
    std::fs::set_permissions(wrapper, std::fs::Permissions::from_mode(0o755))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_sanitizer_without_addresses() {
        let line = "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60 at pc 0x5";
        assert_eq!(sanitizer_error(line).as_deref(), Some("heap-use-after-free"));
        assert_eq!(sanitizer_error("==7==ERROR: LeakSanitizer: detected memory leaks"), None);
    }
}
