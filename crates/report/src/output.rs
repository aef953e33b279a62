//! Writing results so that a reader never sees half of one.
//!
//! Files are written beside their target and renamed over it. A folder is built beside its target
//! and renamed into place; an existing folder is replaced only if an earlier report wrote it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("cannot write {}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error(
        "{} exists and is not a leakproof report: choose another folder or remove it first",
        path.display()
    )]
    Foreign { path: PathBuf },
}

/// Every report folder has this file; a folder without it is never replaced.
pub(crate) const FOLDER_MARK: &str = "leakproof-report.txt";

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> OutputError {
    let path = path.to_owned();
    |source| OutputError::Io { path, source: bare(source) }
}

/// The system's own words: the name of a temporary file, which is added to them, means nothing to
/// the user.
fn bare(error: std::io::Error) -> std::io::Error {
    match error.to_string().split_once(" at path ") {
        Some((words, _)) => std::io::Error::new(error.kind(), words.to_owned()),
        None => error,
    }
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

/// Writes the whole text or leaves the target as it was.
pub fn write_file(path: &Path, text: &[u8]) -> Result<(), OutputError> {
    // A pipe or device (`/dev/stdout`) cannot be renamed over, and must not be.
    if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return fs::write(path, text).map_err(io(path));
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut file = tempfile::NamedTempFile::new_in(parent(&target)).map_err(io(path))?;
    file.write_all(text).map_err(io(path))?;
    set_mode(file.path(), &target).map_err(io(path))?;
    file.persist(&target).map_err(|e| io(path)(e.error))?;
    Ok(())
}

/// A temporary file is private; a result has the mode of the file it replaces, or the usual one.
#[cfg(unix)]
fn set_mode(file: &Path, target: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(target).map_or(0o644, |m| m.permissions().mode());
    fs::set_permissions(file, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_file: &Path, _target: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Writes a folder of files (names relative, `/`-separated) as a whole.
pub fn write_folder(
    path: &Path,
    files: impl IntoIterator<Item = (String, Vec<u8>)>,
) -> Result<(), OutputError> {
    let old = existing_report(path)?;
    let staging = tempfile::Builder::new()
        .prefix(".leakproof-")
        .tempdir_in(parent(path))
        .map_err(io(path))?;
    for (name, text) in files {
        let file = staging.path().join(name);
        fs::create_dir_all(parent(&file)).map_err(io(path))?;
        fs::write(&file, text).map_err(io(path))?;
    }
    fs::write(staging.path().join(FOLDER_MARK), MARK_TEXT).map_err(io(path))?;
    open_mode(staging.path()).map_err(io(path))?;
    if old {
        fs::remove_dir_all(path).map_err(io(path))?;
    }
    fs::rename(staging.keep(), path).map_err(io(path))
}

const MARK_TEXT: &str =
    "This folder was written by leakproof and is replaced by its next report.\n";

#[cfg(unix)]
fn open_mode(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn open_mode(_folder: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Whether something replaceable stands at `path`.
fn existing_report(path: &Path) -> Result<bool, OutputError> {
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(io(path)(e)),
        Ok(meta) if meta.is_dir() => {
            let empty = fs::read_dir(path).map_err(io(path))?.next().is_none();
            if empty || path.join(FOLDER_MARK).is_file() {
                Ok(true)
            } else {
                Err(OutputError::Foreign { path: path.to_owned() })
            }
        }
        Ok(_) => Err(OutputError::Foreign { path: path.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.json");
        write_file(&path, b"one").unwrap();
        write_file(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_unwritable_place_is_an_error_with_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("no/such/dir/out.json");
        let error = write_file(&path, b"x").unwrap_err().to_string();
        assert!(error.contains("no/such/dir/out.json"), "{error}");
        let error = write_folder(&path, []).unwrap_err().to_string();
        assert!(error.contains("no/such/dir/out.json"), "{error}");
    }

    #[test]
    fn a_folder_is_replaced_only_if_it_is_a_report() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("html");
        let file = |name: &str| vec![(name.to_owned(), b"x".to_vec())];
        write_folder(&path, file("a.html")).unwrap();
        write_folder(&path, file("sub/b.html")).unwrap();
        assert!(path.join("sub/b.html").is_file() && !path.join("a.html").exists());
        fs::remove_file(path.join(FOLDER_MARK)).unwrap();
        assert!(matches!(write_folder(&path, file("a.html")), Err(OutputError::Foreign { .. })));
        assert!(path.join("sub/b.html").is_file());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
