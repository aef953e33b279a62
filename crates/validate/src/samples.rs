//! Files that lie beside a program's sources for its own tests and as examples: inputs that it understands.
//!
//! In: the program. Out: small files, of different kinds first. A search finds bytes and words by itself, but hardly a whole
//! format, and a project that reads one mostly brings files in it. Only a help for the search: nothing depends on them.

use crate::source::Program;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files that are taken.
const MAX_SAMPLES: usize = 40;
/// Larger files make long runs.
const LARGEST: u64 = 6 << 10;
/// Entries of the tree that are looked at.
const MAX_ENTRIES: usize = 20_000;

/// What lies in the uppermost folder of a project, and seldom in others.
const TOP: &[&str] =
    &["configure", "configure.ac", "COPYING", "LICENSE", "README", "README.md", "debian", ".git"];
/// Parts of names of folders that have inputs in them.
const FOLDERS: &[&str] = &["test", "example", "sample", "demo", "fixture", "data", "corpus"];
/// Endings of files that are there to build or describe the project.
const OTHERS: &[&str] = &[
    "a", "ac", "am", "c", "cc", "cmake", "cpp", "cxx", "guess", "gmo", "h", "hh", "hpp", "in",
    "la", "lo", "log", "m4", "mk", "o", "pl", "po", "pot", "py", "rb", "sh", "so", "sub", "trs",
];

/// A file with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub name: String,
    pub content: Vec<u8>,
}

/// The samples of a program.
pub fn of_program(program: &Program) -> Vec<Sample> {
    let Some(main) = program.units.first().map(|u| u.unit.path()) else { return Vec::new() };
    let Some(top) = top_folder(&main) else { return Vec::new() };
    let name = main.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut files: Vec<File> =
        files_below(&top).into_iter().filter_map(|p| File::of(&p, &top, &name)).collect();
    files.sort();
    let chosen = by_turns(files).into_iter().take(MAX_SAMPLES);
    chosen.filter_map(|f| sample(&f.path)).collect()
}

/// The nearest folder above a source file that looks like the uppermost of a project.
fn top_folder(source: &Path) -> Option<PathBuf> {
    let is_top = |folder: &&Path| TOP.iter().any(|name| folder.join(name).exists());
    source.ancestors().skip(1).take(4).find(is_top).map(Path::to_owned)
}

/// All files below a folder, as far as they are looked at.
fn files_below(top: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders, mut seen) = (Vec::new(), vec![top.to_owned()], 0);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        paths.sort();
        seen += paths.len();
        if seen > MAX_ENTRIES {
            break;
        }
        for path in paths {
            let is_hidden = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
            match path.symlink_metadata() {
                Ok(m) if m.is_dir() && !is_hidden => folders.push(path),
                Ok(m) if m.is_file() && (1..=LARGEST).contains(&m.len()) => files.push(path),
                _ => {}
            }
        }
    }
    files
}

/// A file that may be a sample: those first that are named like the program, then small ones.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct File {
    is_of_others: bool,
    size: u64,
    path: PathBuf,
}

impl File {
    fn of(path: &Path, top: &Path, program: &str) -> Option<Self> {
        if OTHERS.contains(&ending(path).as_str()) {
            return None;
        }
        let inner = path.strip_prefix(top).ok()?;
        let folder = inner.parent()?.to_string_lossy().to_lowercase();
        let is_of_program = program.len() > 2 && inner.to_string_lossy().contains(program);
        let is_input = FOLDERS.iter().any(|f| folder.contains(f));
        let size = path.metadata().ok()?.len();
        is_input.then(|| Self { is_of_others: !is_of_program, size, path: path.to_owned() })
    }
}

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// The files in an order in which kinds take turns.
fn by_turns(files: Vec<File>) -> Vec<File> {
    let mut counts: BTreeMap<(bool, String), usize> = BTreeMap::new();
    let mut numbered: Vec<(bool, usize, File)> = Vec::new();
    for file in files {
        let count = counts.entry((file.is_of_others, ending(&file.path))).or_default();
        numbered.push((file.is_of_others, *count, file));
        *count += 1;
    }
    numbered.sort();
    numbered.into_iter().map(|(_, _, file)| file).collect()
}

/// The file as an input under a plain name.
fn sample(path: &Path) -> Option<Sample> {
    let name = path.file_name()?.to_str()?;
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let name = if is_plain && !name.starts_with('-') { name } else { "sample" };
    Some(Sample { name: name.to_owned(), content: std::fs::read(path).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_for_tests_count_and_sources_do_not() {
        let top = std::env::temp_dir().join(format!("leakproof-samples-{}", std::process::id()));
        let write = |name: &str| {
            let path = top.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, "x").expect("written");
        };
        ["src/tool.c", "tests/a.txt", "tests/b.c", "src/c.txt", "README"]
            .into_iter()
            .for_each(write);
        assert_eq!(top_folder(&top.join("src/tool.c")), Some(top.clone()));
        let all = files_below(&top);
        let kept: Vec<File> = all.iter().filter_map(|p| File::of(p, &top, "tool")).collect();
        let samples: Vec<Sample> = kept.iter().filter_map(|f| sample(&f.path)).collect();
        std::fs::remove_dir_all(&top).expect("removed");
        assert_eq!(samples, [Sample { name: "a.txt".into(), content: b"x".to_vec() }]);
    }

    #[test]
    fn kinds_take_turns_and_the_programs_own_come_first() {
        let file = |name: &str, is_of_others| File { is_of_others, size: 1, path: name.into() };
        let files = vec![
            file("a.txt", true),
            file("b.txt", true),
            file("c.bin", true),
            file("tool.txt", false),
        ];
        let names: Vec<String> =
            by_turns(files).iter().map(|f| f.path.display().to_string()).collect();
        assert_eq!(names, ["tool.txt", "a.txt", "c.bin", "b.txt"]);
    }
}
