//! Units as they would be with some files changed: what a patch does, before it is applied.
//!
//! In: a project, one of its units, and new contents for files. Out: the lowered unit, or clang's
//! reason why there is none, and clang's warnings. The files on disk are not touched: clang sees the
//! new contents through a virtual file system, under the old names.

use crate::cancel::{Running, Temporary};
use crate::clang::{Clang, ClangError};
use crate::compile::{CompileFailure, Compiler};
use crate::lower::lower_bitcode;
use crate::paths::PathStyle;
use crate::project::Project;
use crate::unit::{SourceKind, Unit};
use leakproof_ir::Module;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum OverlayError {
    #[error("{0}")]
    Clang(#[from] ClangError),
    #[error("{}: temporary files cannot be written: {reason}; see that TMPDIR is writable", .path.display())]
    Temporary { path: PathBuf, reason: String },
}

/// New contents of files, in place as long as this lives.
pub struct Overlay {
    folder: Temporary,
    index: PathBuf,
}

impl Overlay {
    /// `files`: absolute paths and their new contents.
    pub fn new(files: &[(PathBuf, Vec<u8>)]) -> Result<Self, OverlayError> {
        let path = fresh_folder();
        let fail = |e: io::Error| OverlayError::Temporary {
            path: path.clone(),
            reason: crate::error::plain_reason(&e),
        };
        let folder = Temporary::folder(path.clone()).map_err(fail)?;
        let mut roots = Vec::new();
        for (i, (name, content)) in files.iter().enumerate() {
            let copy = path.join(format!("{i}"));
            std::fs::write(&copy, content).map_err(fail)?;
            roots.push(serde_json::json!({
                "type": "file",
                "name": name.to_string_lossy(),
                "external-contents": copy.to_string_lossy(),
            }));
        }
        let index = path.join("overlay.json");
        let text = serde_json::json!({
            "version": 0, "case-sensitive": true, "use-external-names": false, "roots": roots,
        });
        std::fs::write(&index, text.to_string()).map_err(fail)?;
        Ok(Self { folder, index })
    }

    fn flags(&self) -> [OsString; 2] {
        debug_assert!(self.index.starts_with(self.folder.path()));
        ["-ivfsoverlay".into(), self.index.clone().into()]
    }
}

fn fresh_folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("leakproof-patch-{}-{number}", std::process::id()))
}

/// Compiles units of one project under overlays.
pub struct Recompiler<'p> {
    project: &'p Project,
    clang: Clang,
    compiler: Compiler,
}

impl<'p> Recompiler<'p> {
    pub fn new(project: &'p Project) -> Result<Self, OverlayError> {
        let clang = Clang::locate()?;
        Ok(Self { project, compiler: Compiler::new(clang.clone()), clang })
    }

    /// The lowered unit, or in one line why there is none.
    pub fn lower(&self, unit: &Unit, overlay: &Overlay) -> Result<Module, String> {
        let mut changed = unit.clone();
        changed.flags.extend(overlay.flags());
        let compiled = self.compiler.compile(&changed).map_err(|failure| match failure {
            CompileFailure::Rejected(line) | CompileFailure::Clang(line) => line,
            CompileFailure::Interrupted => "interrupted".to_owned(),
        })?;
        let style = PathStyle { cwd: self.project.cwd.clone(), comp_dir: unit.directory.clone() };
        lower_bitcode(&compiled.bitcode, &self.project.name(unit), &style)
            .map_err(|e| e.to_string())
    }

    /// clang's warnings and errors about the unit in order: position and message.
    pub fn diagnostics(&self, unit: &Unit, overlay: Option<&Overlay>) -> Vec<(String, String)> {
        let mut command = Command::new(&self.clang.path);
        command.current_dir(&unit.directory).args(&unit.flags);
        command.args(overlay.map(Overlay::flags).into_iter().flatten());
        command.args(["-fsyntax-only", "-Wall", "-Wextra", "-fno-color-diagnostics"]);
        command.args(["-fno-caret-diagnostics", "-Qunused-arguments", "-ferror-limit=50"]);
        command.args(["-x", if unit.kind == SourceKind::Cxx { "c++" } else { "c" }]);
        command.arg(unit.path());
        let text = standard_error(&mut command).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().filter_map(message).collect()
    }

    /// The files that clang would read under this name.
    pub fn absolute(&self, name: &str) -> PathBuf {
        crate::paths::normalize(&self.project.cwd.join(Path::new(name)))
    }
}

fn standard_error(command: &mut Command) -> io::Result<Vec<u8>> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = Running::spawn(command)?;
    let mut text = Vec::new();
    if let Some(mut pipe) = running.child().stderr.take() {
        pipe.read_to_end(&mut text)?;
    }
    running.wait()?;
    Ok(text)
}

/// The two parts of `file:line:column: warning: ...`.
fn message(line: &str) -> Option<(String, String)> {
    let at = ["warning: ", "error: "].iter().find_map(|kind| line.find(kind))?;
    Some((line[..at].to_owned(), line[at..].to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_their_position() {
        let parts = ("a.c:3:4: ".to_owned(), "warning: unused".to_owned());
        assert_eq!(message("a.c:3:4: warning: unused"), Some(parts));
        assert_eq!(message("2 warnings generated."), None);
    }

    #[test]
    fn changed_contents_are_compiled_and_files_stay() {
        let dir = tempfile::tempdir().unwrap();
        let file = std::fs::canonicalize(dir.path()).unwrap().join("a.c");
        std::fs::write(&file, "int f(void) { return 1; }\n").unwrap();
        let cwd = file.parent().unwrap().to_owned();
        let request = crate::Request { cwd, paths: vec!["a.c".into()], ..Default::default() };
        let project = Project::discover(&request).unwrap();
        let overlay =
            Overlay::new(&[(file.clone(), b"int g(void) { int x; return 1; }\n".to_vec())])
                .unwrap();
        let recompiler = Recompiler::new(&project).unwrap();
        let module = recompiler.lower(&project.units[0], &overlay).unwrap();
        assert!(module.functions.values().any(|f| f.name == "g"));
        let before = recompiler.diagnostics(&project.units[0], None);
        let after = recompiler.diagnostics(&project.units[0], Some(&overlay));
        assert!(before.is_empty() && after.len() == 1, "{before:?} {after:?}");
        assert!(std::fs::read_to_string(&file).unwrap().contains("f(void)"));
    }
}
