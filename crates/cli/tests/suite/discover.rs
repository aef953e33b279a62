//! Finds the fixtures: `IDIOM/NAME.c` is a program of one file, `IDIOM/NAME/` one of all the
//! sources in the folder.

use super::expectation::{self, Expectation};
use std::path::Path;

/// One program with what it should report.
pub struct Case {
    pub idiom: String,
    /// `IDIOM/NAME`, as in the file system.
    pub name: String,
    /// Paths relative to the fixture folder, with `/`.
    pub sources: Vec<String>,
    /// Extra options of the command line (`// options: --at-exit` in the first line).
    pub options: Vec<String>,
    pub expectations: Vec<Expectation>,
}

pub fn cases(root: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for idiom in entries(root)? {
        if !root.join(&idiom).is_dir() {
            continue;
        }
        for name in entries(&root.join(&idiom))? {
            let relative = format!("{idiom}/{name}");
            let files = if root.join(&relative).is_dir() {
                let inside = entries(&root.join(&relative))?;
                inside.into_iter().map(|f| format!("{relative}/{f}")).collect()
            } else {
                vec![relative.clone()]
            };
            cases.extend(case(root, &idiom, relative, files)?);
        }
    }
    Ok(cases)
}

fn entries(folder: &Path) -> Result<Vec<String>, String> {
    let say = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(say)? {
        names.push(entry.map_err(say)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn case(
    root: &Path,
    idiom: &str,
    name: String,
    files: Vec<String>,
) -> Result<Option<Case>, String> {
    let is = |f: &str, extensions: &[&str]| {
        extensions.iter().any(|e| f.strip_suffix(e).is_some_and(|stem| stem.ends_with('.')))
    };
    let sources: Vec<String> = files.iter().filter(|f| is(f, &["c", "cpp"])).cloned().collect();
    if sources.is_empty() {
        return Ok(None);
    }
    let mut expectations = Vec::new();
    let mut options = Vec::new();
    for file in files.iter().filter(|f| is(f, &["c", "cpp", "h"])) {
        let text = std::fs::read_to_string(root.join(file)).map_err(|e| format!("{file}: {e}"))?;
        expectations.extend(expectation::parse(file, &text)?);
        let first = text.lines().next().unwrap_or("");
        if let Some(words) = first.strip_prefix("// options: ") {
            options.extend(words.split_whitespace().map(str::to_owned));
        }
    }
    Ok(Some(Case { idiom: idiom.to_owned(), name, sources, options, expectations }))
}
