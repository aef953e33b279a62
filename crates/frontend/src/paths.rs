//! Paths as the user would name them from where leakproof runs.
//!
//! Pure text work on absolute paths: nothing is resolved on disk, so symbolic links stay as the
//! build spelled them.

use std::path::{Component, Path, PathBuf};

/// How far up `..` may lead before an absolute path reads better.
const MAX_UPS: usize = 4;

/// From where a unit was compiled and from where its files are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathStyle {
    /// Where the user stands; absolute.
    pub cwd: PathBuf,
    /// The compiler's working directory, which its relative file names start from; absolute.
    pub comp_dir: PathBuf,
}

impl PathStyle {
    /// The name for the user of a file that debug info gives as `name` in `directory`.
    pub fn name(&self, directory: &str, name: &str) -> String {
        display_name(&self.comp_dir.join(directory).join(name), &self.cwd)
    }
}

/// `path` without `.` and with `x/..` folded away.
pub fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => {
                    out.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => out.push(".."),
            },
            other => out.push(other),
        }
    }
    out
}

/// The name of the absolute `path` as seen from `cwd`: relative inside it and in its neighbours,
/// absolute for system files and for what is far away.
pub fn display_path(path: &Path, cwd: &Path) -> PathBuf {
    let path = normalize(path);
    if !path.is_absolute() {
        return path;
    }
    let shared = path.components().zip(cwd.components()).take_while(|(a, b)| a == b).count();
    let ups = cwd.components().count() - shared;
    // `shared` counts the root. Two trees that share only `/` or `/home` are no neighbours.
    if shared == 0 || (ups > 0 && (ups > MAX_UPS || shared < 3)) {
        return path;
    }
    let mut out: PathBuf = std::iter::repeat_n("..", ups).collect();
    out.extend(path.components().skip(shared));
    if out.as_os_str().is_empty() { PathBuf::from(".") } else { out }
}

/// `display_path` as text, with a replacement character for what is not UTF-8.
pub fn display_name(path: &Path, cwd: &Path) -> String {
    display_path(path, cwd).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_current_directory() {
        let name = |p: &str| display_name(Path::new(p), Path::new("/home/u/proj"));
        assert_eq!(name("/home/u/proj/src/./a.c"), "src/a.c");
        assert_eq!(name("/home/u/proj/build/../src/a.c"), "src/a.c");
        assert_eq!(name("/home/u/other/a.c"), "../other/a.c");
        assert_eq!(name("/home/v/a.c"), "/home/v/a.c");
        assert_eq!(name("/usr/include/stdlib.h"), "/usr/include/stdlib.h");
        assert_eq!(name("/home/u/proj"), ".");
    }

    #[test]
    fn root_as_current_directory() {
        assert_eq!(display_name(Path::new("/a.c"), Path::new("/")), "a.c");
    }
}
