//! Suppression by comment: `leakproof: ignore REASON` and `leakproof: ignore-function REASON`.
//!
//! The first stands on the line of the leak or of its allocation, or in the comment directly above
//! it; the second above a function. A reason is required: without one nothing is suppressed.

use leakproof_findings::{Finding, Sources, SuppressedBy, SuppressedLeak, UnusedSuppression};

use crate::text::{self, Comment};

const MARK: &str = "leakproof:";
const NO_REASON: &str = "a suppression needs a reason: `leakproof: ignore REASON`";
const UNKNOWN: &str =
    "unknown word: `leakproof: ignore REASON` and `leakproof: ignore-function REASON` are known";
const IDLE: &str = "this suppression silences nothing";

/// All suppression comments of the files read, and whether each was of use.
#[derive(Debug, Default)]
pub(crate) struct Comments {
    entries: Vec<Entry>,
    faults: Vec<(String, u32, &'static str)>,
}

#[derive(Debug)]
struct Entry {
    file: String,
    line: u32,
    reason: String,
    scope: Scope,
    used: bool,
}

#[derive(Debug)]
enum Scope {
    /// The line it stands on, or the first one below its comment.
    Line(u32),
    /// Functions whose head follows: more than one name when the head has macros in it.
    Function(Vec<String>),
}

impl Comments {
    pub fn read(&mut self, file: &str, sources: &Sources) {
        let Some(source) = sources.get(file) else { return };
        // Most files have none, and reading comments costs more than a search.
        let mark = MARK.as_bytes();
        if !source.bytes().windows(mark.len()).any(|w| w == mark) {
            return;
        }
        let comments = text::comments(source.bytes());
        for (index, comment) in comments.iter().enumerate() {
            let Some((_, words)) = comment.text.split_once(MARK) else { continue };
            let below = first_line_below(&comments[index..]);
            match parse(words) {
                Ok((true, reason)) => {
                    let names = text::names_below(&source, below);
                    self.push(file, comment.line, reason, Scope::Function(names));
                }
                Ok((false, reason)) => {
                    let target = if comment.alone { below } else { comment.line };
                    self.push(file, comment.line, reason, Scope::Line(target));
                }
                Err(fault) => self.faults.push((file.to_owned(), comment.line, fault)),
            }
        }
    }

    fn push(&mut self, file: &str, line: u32, reason: String, scope: Scope) {
        self.entries.push(Entry { file: file.to_owned(), line, reason, scope, used: false });
    }

    /// The suppression that covers a finding, with an empty finding in it.
    pub fn suppress(&mut self, finding: &Finding) -> Option<SuppressedLeak> {
        let entry = self.entries.iter_mut().find(|entry| entry.covers(finding))?;
        entry.used = true;
        Some(SuppressedLeak {
            by: SuppressedBy::Comment,
            at: format!("{}:{}", entry.file, entry.line),
            reason: entry.reason.clone(),
            finding: Finding::default(),
        })
    }

    /// Suppressions that silence nothing, by place.
    pub fn unused(&self) -> Vec<UnusedSuppression> {
        let idle = self.entries.iter().filter(|e| !e.used).map(|e| (&e.file, e.line, IDLE));
        let faults = self.faults.iter().map(|(file, line, fault)| (file, *line, *fault));
        let mut list: Vec<_> = idle.chain(faults).collect();
        list.sort_unstable();
        let note = |(file, line, note): (&String, u32, &str)| UnusedSuppression {
            at: format!("{file}:{line}"),
            note: note.to_owned(),
        };
        list.into_iter().map(note).collect()
    }
}

impl Entry {
    fn covers(&self, finding: &Finding) -> bool {
        let (leak, alloc) = (&finding.leak, &finding.alloc);
        match &self.scope {
            Scope::Line(line) => {
                (leak.file == self.file && leak.line == *line)
                    || (alloc.file == self.file && alloc.line == *line)
            }
            Scope::Function(names) => leak.file == self.file && names.contains(&finding.function),
        }
    }
}

/// The first line after a block of comments that stand alone on adjacent lines.
fn first_line_below(comments: &[Comment]) -> u32 {
    let mut last = comments[0].line;
    for next in &comments[1..] {
        if next.alone && next.line <= last.saturating_add(1) {
            last = next.line;
        } else {
            break;
        }
    }
    last.saturating_add(1)
}

/// What follows the mark: whether it is for a function, and the reason.
fn parse(words: &str) -> Result<(bool, String), &'static str> {
    let words = words.trim();
    let (verb, reason) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let function = match verb.trim_end_matches(':') {
        "ignore" => false,
        "ignore-function" => true,
        _ => return Err(UNKNOWN),
    };
    let reason = reason.trim_start_matches([':', '-', ' ']).trim();
    if reason.is_empty() { Err(NO_REASON) } else { Ok((function, reason.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_findings::{AllocSite, Location};

    fn finding(function: &str, alloc: u32, leak: u32) -> Finding {
        Finding {
            function: function.into(),
            alloc: AllocSite { file: "a.c".into(), line: alloc, ..AllocSite::default() },
            leak: Location { file: "a.c".into(), line: leak, ..Location::default() },
            ..Finding::default()
        }
    }

    fn reasons(text: &str, findings: &[Finding]) -> (Vec<Option<String>>, Vec<String>) {
        let mut comments = Comments::default();
        comments.read("a.c", &Sources::in_memory([("a.c", text)]));
        let found = findings.iter().map(|f| comments.suppress(f).map(|s| s.reason)).collect();
        (found, comments.unused().into_iter().map(|u| format!("{}: {}", u.at, u.note)).collect())
    }

    #[test]
    fn on_the_line_and_above_it() {
        let text =
            "x; // leakproof: ignore one\n/* leakproof: ignore two\n   and more */\ny;\nz;\n";
        let (found, unused) =
            reasons(text, &[finding("f", 9, 1), finding("f", 4, 9), finding("f", 5, 3)]);
        assert_eq!(found, [Some("one".into()), Some("two".into()), None]);
        assert_eq!(unused, Vec::<String>::new());
    }

    #[test]
    fn a_trailing_comment_is_for_its_own_line_only() {
        let (found, _) = reasons("x; // leakproof: ignore one\ny;\n", &[finding("f", 2, 2)]);
        assert_eq!(found, [None]);
    }

    #[test]
    fn above_a_function() {
        let text = "/* Docs.\n * leakproof: ignore-function: kept by the pool */\nstatic int\nf(int a)\n{\n}\n";
        let (found, _) = reasons(text, &[finding("f", 20, 30), finding("g", 20, 30)]);
        assert_eq!(found, [Some("kept by the pool".into()), None]);
    }

    #[test]
    fn faults_are_told() {
        let (_, unused) = reasons(
            "// leakproof: ignore\n// leakproof: silence x\nchar *s = \"leakproof: ignore x\";\n",
            &[],
        );
        assert_eq!(unused, [format!("a.c:1: {NO_REASON}"), format!("a.c:2: {UNKNOWN}")]);
    }
}
