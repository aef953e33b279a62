//! The judge on the programs of `tests/judge`, which have the releases in them already: a line that ends
//! in `// unsafe: WHY` has a release that must be objected to, one that ends in `// safe` has one
//! that must not. No finding and no second opinion stands between such a release and the judge.
//!
//! `// unsafe: WHY` on a release that is not objected to is a hole: such a fix would be offered.

use leakproof_detect::{Examination, Options, Watch, examine};
use leakproof_frontend::{LoadOptions, Project, Request, Silent, load};
use leakproof_models::Library;
use leakproof_program::Program;
use std::path::{Path, PathBuf};

/// What a program says of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Safe,
    Unsafe,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/judge").canonicalize().unwrap()
}

fn programs() -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path());
    let mut list: Vec<PathBuf> = files.collect();
    list.sort();
    list
}

/// The marked lines, 1-based.
fn marks(text: &str) -> Vec<(u32, Mark)> {
    let mark = |line: &str| match line.split_once("// ")?.1 {
        "safe" => Some(Mark::Safe),
        rest => rest.starts_with("unsafe: ").then_some(Mark::Unsafe),
    };
    text.lines().zip(1..).filter_map(|(l, n)| Some((n, mark(l)?))).collect()
}

fn examined(file: &Path, lines: &[(u32, Mark)]) -> Examination {
    let request = Request { cwd: folder(), paths: vec![file.to_owned()], ..Request::default() };
    let project = Project::discover(&request).unwrap();
    let loaded = load(&project, &LoadOptions::default(), &Silent).unwrap();
    assert_eq!(loaded.skipped, Vec::new());
    let name = file.file_name().unwrap().to_str().unwrap().to_owned();
    let line = |n: u32| Watch { file: name.clone(), start: (n, 1), end: (n + 1, 1) };
    let watch = lines.iter().map(|(n, _)| line(*n)).collect();
    let options = Options { watch, ..Options::default() };
    examine(&Program::link(loaded.modules), Library::shipped(), &options, None)
}

/// The releases of a program that are judged otherwise than it says.
fn misjudged(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let marks = marks(&text);
    let name = file.file_name().unwrap().to_string_lossy();
    assert!(marks.iter().any(|(_, m)| *m == Mark::Unsafe), "{name} has no unsafe release");
    let examination = examined(file, &marks);
    let mut wrong = Vec::new();
    for (n, (line, mark)) in marks.into_iter().enumerate() {
        let judged: Vec<_> = examination.judgements.iter().filter(|j| j.watch == n).collect();
        let problems: Vec<_> = judged.iter().flat_map(|j| &j.problems).collect();
        let said =
            if problems.is_empty() && !judged.is_empty() { Mark::Safe } else { Mark::Unsafe };
        if said != mark {
            wrong.push(format!("{name}:{line}: {said:?}, but it is {mark:?}: {problems:?}"));
        }
    }
    wrong
}

#[test]
fn unsafe_releases_are_objected_to() {
    let wrong: Vec<String> = programs().iter().flat_map(|p| misjudged(p)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
