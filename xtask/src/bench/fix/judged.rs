//! The verdicts of `docs/judged.md`, by finding.

use crate::bench::verdict::Verdict;
use leakproof_findings::Finding;
use std::collections::BTreeMap;

/// Verdicts by program and by what the table says of a finding.
pub struct Judged(BTreeMap<(String, String), Verdict>);

impl Judged {
    /// Reads the page: a section per program, a row per finding.
    pub fn parse(page: &str) -> Self {
        let mut all = BTreeMap::new();
        let mut program = "";
        for line in page.lines() {
            if let Some(name) = line.strip_prefix("## ") {
                program = name.trim();
            }
            let mut cells = line.split(" | ");
            let (Some(finding), Some(verdict)) = (cells.next(), cells.next()) else { continue };
            let Some(finding) = finding.strip_prefix("| `") else { continue };
            let Some(verdict) = Verdict::of_word(verdict) else { continue };
            all.insert((program.to_owned(), format!("`{finding}")), verdict);
        }
        Self(all)
    }

    pub fn verdict(&self, program: &str, finding: &Finding) -> Verdict {
        let key = (program.to_owned(), described(finding));
        self.0.get(&key).copied().unwrap_or_default()
    }
}

/// A finding as the table names it.
pub fn described(finding: &Finding) -> String {
    let Finding { function, variable, leak, alloc, .. } = finding;
    let variable = if variable.is_empty() { String::new() } else { format!("`{variable}`, ") };
    let at = if alloc.file == leak.file {
        format!("line {}", alloc.line)
    } else {
        format!("{}:{}", alloc.file, alloc.line)
    };
    format!(
        "`{function}`, {variable}lost at {}:{}, from `{}` at {at}",
        leak.file, leak.line, alloc.callee
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_findings::{AllocSite, Location};

    fn finding(variable: &str, file: &str) -> Finding {
        Finding {
            function: "f".to_owned(),
            variable: variable.to_owned(),
            alloc: AllocSite {
                file: file.to_owned(),
                line: 3,
                callee: "make".to_owned(),
                ..AllocSite::default()
            },
            leak: Location { file: "a.c".to_owned(), line: 9, ..Location::default() },
            ..Finding::default()
        }
    }

    #[test]
    fn rows_are_found_by_what_they_say() {
        let page = "## p\n\n| Finding | Verdict | Reason |\n|---|---|---|\n\
            | `f`, `v`, lost at a.c:9, from `make` at line 3 | true | so it is |\n\
            | `f`, lost at a.c:9, from `make` at b.c:3 | false | it is not |\n\n## q\n";
        let judged = Judged::parse(page);
        assert_eq!(judged.verdict("p", &finding("v", "a.c")), Verdict::True);
        assert_eq!(judged.verdict("p", &finding("", "b.c")), Verdict::False);
        assert_eq!(judged.verdict("p", &finding("", "a.c")), Verdict::Unjudged);
        assert_eq!(judged.verdict("q", &finding("v", "a.c")), Verdict::Unjudged);
    }
}
