//! Leak warnings out of what the peers print.

use super::tool::Tool;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One leak that a peer reports; `file` as seen from the tree's folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Warning {
    pub file: String,
    pub line: u32,
    /// A file or another handle, not memory.
    pub resource: bool,
    pub message: String,
}

/// The leak warnings in the output of one unit. `directory` is where the tool ran, `tree` the folder
/// that names are relative to.
pub fn parse(tool: Tool, output: &str, directory: &Path, tree: &Path) -> Vec<Warning> {
    let lines = output.lines().filter_map(|l| warning(tool, l));
    let mut found: BTreeSet<Warning> = lines
        .map(|w| Warning { file: name_in_tree(&directory.join(&w.file), tree), ..w })
        .collect();
    // gcc says of one stream both that it leaks and that its memory does.
    let streams: BTreeSet<(String, u32)> =
        found.iter().filter(|w| w.resource).map(|w| (w.file.clone(), w.line)).collect();
    found.retain(|w| w.resource || !streams.contains(&(w.file.clone(), w.line)));
    found.into_iter().collect()
}

/// The leaks that saber reports: where the object is allocated. It names files as the compiler was
/// told them, so every folder in which the compiler ran is tried.
pub fn parse_saber(output: &str, directories: &BTreeSet<PathBuf>, tree: &Path) -> Vec<Warning> {
    let found: BTreeSet<Warning> = output.lines().filter_map(saber).collect();
    let place = |warning: Warning| {
        let path = directories.iter().map(|d| d.join(&warning.file)).find(|p| p.is_file());
        let file = path.map_or(warning.file.clone(), |p| name_in_tree(&p, tree));
        Warning { file, ..warning }
    };
    found.into_iter().map(place).collect()
}

/// `NeverFree : memory allocation at : (CallICFGNode: { "ln": 4, "cl": 25, "fl": "a.c" })`
fn saber(line: &str) -> Option<Warning> {
    let kind = ["NeverFree", "PartialLeak"].into_iter().find(|k| line.contains(k))?;
    let number: String =
        line.split_once("\"ln\": ")?.1.chars().take_while(char::is_ascii_digit).collect();
    let file = line.split_once("\"fl\": \"")?.1.split('"').next()?;
    Some(Warning {
        file: file.to_owned(),
        line: number.parse().ok()?,
        resource: false,
        message: format!("{kind}: memory allocated here"),
    })
}

/// `FILE:LINE:COLUMN: ...` with the tool's mark of a leak.
fn warning(tool: Tool, line: &str) -> Option<Warning> {
    let mut parts = line.splitn(4, ':');
    let (file, number) = (parts.next()?, parts.next()?.parse().ok()?);
    parts.next()?.parse::<u32>().ok()?;
    let text = parts.next()?.trim();
    let (resource, message) = match tool {
        Tool::ClangAnalyzer => clang(text)?,
        Tool::GccAnalyzer => gcc(text)?,
        Tool::Cppcheck => cppcheck(text)?,
        Tool::Saber => return None,
    };
    Some(Warning { file: file.to_owned(), line: number, resource, message: message.to_owned() })
}

fn clang(text: &str) -> Option<(bool, &str)> {
    let message = text.strip_prefix("warning: ")?;
    let leak = message.contains("leak");
    let resource = message.ends_with("[unix.Stream]");
    let memory = message.ends_with("[unix.Malloc]") || message.ends_with("NewDeleteLeaks]");
    (leak && (resource || memory)).then_some((resource, message))
}

fn gcc(text: &str) -> Option<(bool, &str)> {
    let message = text.strip_prefix("warning: ")?;
    let resource =
        message.contains("-Wanalyzer-file-leak") || message.contains("-Wanalyzer-fd-leak");
    (resource || message.contains("-Wanalyzer-malloc-leak")).then_some((resource, message))
}

fn cppcheck(text: &str) -> Option<(bool, &str)> {
    let id = text.split(':').next()?;
    let resource = id == "resourceLeak";
    (resource || id.starts_with("memleak") || id == "leakNoVarFunctionCall")
        .then_some((resource, text))
}

/// The file's name as seen from the tree, when it lies there.
fn name_in_tree(path: &Path, tree: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.strip_prefix(tree).unwrap_or(&path).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(tool: Tool, output: &str) -> Vec<(u32, bool)> {
        let found = parse(tool, output, Path::new("/nowhere"), Path::new("/nowhere"));
        found.into_iter().map(|w| (w.line, w.resource)).collect()
    }

    #[test]
    fn leaks_are_told_from_other_warnings() {
        let clang = "a.c:4:73: warning: Potential leak of memory pointed to by 'p' [unix.Malloc]\n\
                     a.c:4:25: note: Memory is allocated\n\
                     a.c:9:1: warning: Attempt to free released memory [unix.Malloc]\n\
                     a.c:5:65: warning: Opened stream never closed. Potential resource leak [unix.Stream]\n";
        assert_eq!(lines(Tool::ClangAnalyzer, clang), [(4, false), (5, true)]);
        let cppcheck = "a.c:4:66: memleak: Memory leak: p\na.c:7:1: nullPointer: Null pointer\n";
        assert_eq!(lines(Tool::Cppcheck, cppcheck), [(4, false)]);
    }

    #[test]
    fn saber_names_the_allocation() {
        let output = "\t PartialLeak : memory allocation at : (CallICFGNode: { \"ln\": 4, \"cl\": 25, \"fl\": \"a.c\" })\n\
                      \t\t  --> ({ \"ln\": 5, \"cl\": 59, \"fl\": \"a.c\" }|False)\n";
        let found = parse_saber(output, &BTreeSet::new(), Path::new("/nowhere"));
        assert_eq!(
            found.iter().map(|w| (w.file.as_str(), w.line)).collect::<Vec<_>>(),
            [("a.c", 4)]
        );
    }

    #[test]
    fn a_stream_of_gcc_counts_once() {
        let gcc = "a.c: In function 'g':\n\
                   a.c:5:72: warning: leak of FILE 'q' [CWE-775] [-Wanalyzer-file-leak]\n\
                   a.c:5:72: warning: leak of 'q' [CWE-401] [-Wanalyzer-malloc-leak]\n\
                   a.c:8:72: warning: leak of 'q' [CWE-401] [-Wanalyzer-malloc-leak]\n";
        assert_eq!(lines(Tool::GccAnalyzer, gcc), [(5, true), (8, false)]);
    }
}
