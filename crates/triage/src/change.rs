//! The change under review: which findings it touches.
//!
//! In: a git revision to compare the working tree with. A finding is touched when a changed line
//! lies on its path (between two steps in one function counts as on it), or when the path leans on a
//! function whose body changed: one that it calls or that allocates the object. Files that git does
//! not track count as changed from end to end.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use leakproof_findings::{Finding, PathStep, Sources};

use crate::hunk::{self, Hunks};
use crate::text;

#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("cannot run git: {0}")]
    Start(#[from] std::io::Error),
    #[error("git {command}: {message}")]
    Git { command: &'static str, message: String },
}

#[derive(Debug)]
pub struct Change {
    revision: String,
    /// The folder that finding paths are relative to.
    started_in: PathBuf,
    /// Changed lines by full path.
    lines: BTreeMap<PathBuf, Vec<RangeInclusive<u32>>>,
    /// Functions with a changed line in them.
    functions: BTreeSet<String>,
}

impl Change {
    /// What the working tree around `folder` changes against `revision`.
    pub fn since(revision: &str, folder: &Path, sources: &Sources) -> Result<Self, ChangeError> {
        let folder = folder.canonicalize()?;
        let top = git("rev-parse", &folder, &["rev-parse", "--show-toplevel"])?;
        let top = PathBuf::from(String::from_utf8_lossy(&top).trim_end_matches('\n'));
        let commit = format!("{revision}^{{commit}}");
        // A revision that starts with a dash must not become an option.
        git("rev-parse", &top, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])
            .map_err(|_| unknown_revision(revision))?;
        let mut options = vec!["-c", "core.quotePath=true", "diff", "--unified=0", "--no-prefix"];
        options.extend([
            "--no-color",
            "--no-ext-diff",
            "--no-renames",
            "--end-of-options",
            revision,
            "--",
        ]);
        let mut hunks = hunk::read(&git("diff", &top, &options)?);
        let untracked = ["ls-files", "--others", "--exclude-standard", "-z"];
        for name in git("ls-files", &top, &untracked)?.split(|b| *b == 0).filter(|n| !n.is_empty())
        {
            hunks.insert(String::from_utf8_lossy(name).into_owned(), vec![1..=u32::MAX]);
        }
        Ok(Change::of(revision, &folder, &top, hunks, sources))
    }

    fn of(revision: &str, folder: &Path, top: &Path, hunks: Hunks, sources: &Sources) -> Self {
        let mut functions = BTreeSet::new();
        for (name, ranges) in &hunks {
            let full = top.join(name);
            // Source is kept under the names findings use: relative to the folder where possible.
            let known = full.strip_prefix(folder).unwrap_or(&full).to_string_lossy().into_owned();
            if let Some(file) = sources.get(&known).filter(|_| is_source(name)) {
                functions.extend(ranges.iter().flat_map(|r| text::functions_in(&file, r)));
            }
        }
        let lines = hunks.into_iter().map(|(name, ranges)| (top.join(name), ranges)).collect();
        Change { revision: revision.to_owned(), started_in: folder.to_owned(), lines, functions }
    }

    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// Whether the change has to do with a finding.
    pub fn touches(&self, finding: &Finding) -> bool {
        let (alloc, leak) = (&finding.alloc, &finding.leak);
        let mut places = vec![(alloc.file.as_str(), alloc.line..=alloc.line)];
        places.push((&leak.file, leak.line..=leak.line));
        places.extend(finding.alloc_trace.iter().map(|s| (s.file.as_str(), s.line..=s.line)));
        places.extend(finding.path.iter().map(|s| (s.file.as_str(), s.line..=s.line)));
        places.extend(finding.path.windows(2).filter_map(stretch));
        places.iter().any(|(file, lines)| self.changes(file, lines)) || self.leans_on(finding)
    }

    fn changes(&self, file: &str, lines: &RangeInclusive<u32>) -> bool {
        let path = normal(&self.started_in.join(file));
        let ranges = self.lines.get(&path).map(Vec::as_slice).unwrap_or_default();
        ranges.iter().any(|r| r.start() <= lines.end() && lines.start() <= r.end())
    }

    /// Whether the path calls a changed function, or one is on the way to the allocator.
    fn leans_on(&self, finding: &Finding) -> bool {
        let changed = |name: &str| self.functions.contains(name);
        let called = finding.path.iter().flat_map(|step| step.note.split(['`', '\'']));
        finding.alloc_trace.iter().any(|site| changed(&site.callee))
            || called.into_iter().any(changed)
    }
}

/// The lines between two steps that follow each other in one function.
fn stretch(pair: &[PathStep]) -> Option<(&str, RangeInclusive<u32>)> {
    let (a, b) = (&pair[0], &pair[1]);
    let forward = a.file == b.file && a.function == b.function && a.line <= b.line;
    forward.then_some((a.file.as_str(), a.line..=b.line))
}

fn is_source(name: &str) -> bool {
    let extension = name.rsplit('.').next().unwrap_or_default();
    ["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "inc"].contains(&extension)
}

fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

fn unknown_revision(revision: &str) -> ChangeError {
    ChangeError::Git { command: "rev-parse", message: format!("unknown revision `{revision}`") }
}

fn git(name: &'static str, folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, ChangeError> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output()?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let message = message.lines().next().unwrap_or("failed").to_owned();
    Err(ChangeError::Git { command: name, message })
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_findings::{AllocSite, Event, Location};

    const TEXT: &str =
        "int f(void)\n{\n\tp = g();\n\tx();\n\treturn 1;\n}\n\nint other(void)\n{\n\ty();\n}\n";

    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("src")).unwrap();
        std::fs::write(dir.path().join("src/a.c"), TEXT).unwrap();
        for arguments in [
            &["init", "-q"][..],
            &["config", "user.name", "t"],
            &["config", "user.email", "t@example.org"],
            &["add", "."],
            &["commit", "-q", "-m", "one"],
        ] {
            git("setup", dir.path(), arguments).unwrap();
        }
        dir
    }

    fn step(line: u32, note: &str) -> PathStep {
        PathStep {
            file: "a.c".into(),
            line,
            column: 1,
            function: "f".into(),
            event: Event::Call,
            note: note.into(),
        }
    }

    /// A leak in `f` from line 3 to line 5, seen from `src`.
    fn finding(note: &str) -> Finding {
        Finding {
            function: "f".into(),
            alloc: AllocSite { file: "a.c".into(), line: 3, ..AllocSite::default() },
            leak: Location { file: "a.c".into(), line: 5, ..Location::default() },
            path: vec![step(3, ""), step(5, note)],
            ..Finding::default()
        }
    }

    fn touched(edit: &str, finding: &Finding) -> bool {
        let dir = repository();
        let src = dir.path().join("src");
        std::fs::write(src.join("a.c"), edit).unwrap();
        let change = Change::since("HEAD", &src, &Sources::new(&src)).unwrap();
        change.touches(finding)
    }

    #[test]
    fn a_change_on_the_path_touches_and_one_elsewhere_does_not() {
        assert!(touched(&TEXT.replace("x();", "z();"), &finding("")));
        assert!(touched(&TEXT.replace("\tx();\n", ""), &finding("")), "a deletion");
        assert!(!touched(&TEXT.replace("y();", "z();"), &finding("")));
        assert!(!touched(TEXT, &finding("")));
    }

    #[test]
    fn a_changed_callee_touches_its_callers() {
        let edit = TEXT.replace("y();", "z();");
        assert!(touched(&edit, &finding("passed to `other`")));
        assert!(!touched(&edit, &finding("passed to `another`")));
    }

    #[test]
    fn a_new_file_is_touched_all_over() {
        let dir = repository();
        std::fs::write(dir.path().join("src/new file.c"), TEXT).unwrap();
        let src = dir.path().join("src");
        let change = Change::since("HEAD", &src, &Sources::new(&src)).unwrap();
        let mut leak = finding("");
        leak.leak.file = "../src/new file.c".into();
        assert!(change.touches(&leak));
        assert_eq!(change.revision(), "HEAD");
    }

    #[test]
    fn an_unknown_revision_and_a_folder_without_git_are_errors() {
        let dir = repository();
        let error = |revision: &str, folder: &Path| {
            Change::since(revision, folder, &Sources::default()).unwrap_err().to_string()
        };
        assert!(error("nope", dir.path()).contains("unknown revision `nope`"));
        assert!(error("--output=x", dir.path()).contains("unknown revision"));
        let plain = tempfile::tempdir().unwrap();
        assert!(error("HEAD", plain.path()).contains("not a git repository"));
    }
}
