//! Stable identity of findings.
//!
//! In: a report and access to its source. Out: every finding has an `id` made of what the finding
//! *is* (kind, family, file name, function, allocator, variable, text of the allocation and leak
//! lines) and never of where it stands: line numbers, the order of units and of findings do not
//! enter. Findings that agree in all of this are told apart by their order in the file.

use std::collections::BTreeMap;

use crate::{Finding, Report, SourceStamp, Sources};

/// Hexadecimal digits of an id: 48 bits keep a report of a million findings free of collisions
/// with overwhelming odds, and can still be typed.
const ID_DIGITS: usize = 12;

/// Puts ids on all findings and stamps the source files they point into.
pub fn finish(report: &mut Report, sources: &Sources) {
    assign_ids(&mut report.leaks, sources);
    report.sources = stamps(report, sources);
}

/// Puts the id on every finding, whatever it had before.
pub fn assign_ids(findings: &mut [Finding], sources: &Sources) {
    let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, finding) in findings.iter().enumerate() {
        alike.entry(identity(finding, sources)).or_default().push(index);
    }
    for (identity, mut members) in alike {
        members.sort_by_key(|&i| position(&findings[i]));
        for (occurrence, index) in members.into_iter().enumerate() {
            findings[index].id = hash(&identity, occurrence);
        }
    }
}

fn position(finding: &Finding) -> (String, u32, u32, u32, u32) {
    let (alloc, leak) = (&finding.alloc, &finding.leak);
    (leak.file.clone(), alloc.line, alloc.column, leak.line, leak.column)
}

/// Everything that makes two findings the same one, as unambiguous text.
fn identity(finding: &Finding, sources: &Sources) -> String {
    let line_text = |file: &str, line: u32| {
        let text = sources.get(file).and_then(|f| f.line(line).map(|l| normalise(&l)));
        text.unwrap_or_default()
    };
    let parts = [
        finding.kind.name().to_owned(),
        finding.family.clone(),
        // The directory depends on where the tool was started, the name does not.
        base_name(&finding.leak.file).to_owned(),
        finding.function.clone(),
        finding.alloc.callee.clone(),
        finding.variable.clone(),
        line_text(&finding.alloc.file, finding.alloc.line),
        line_text(&finding.leak.file, finding.leak.line),
    ];
    parts.iter().map(|part| format!("{}:{part}", part.len())).collect()
}

fn hash(identity: &str, occurrence: usize) -> String {
    let digest = blake3::hash(format!("{occurrence}\n{identity}").as_bytes());
    digest.to_hex().chars().take(ID_DIGITS).collect()
}

fn base_name(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

/// A source line without comments and white space, so that re-indenting it or adding a suppression
/// comment to it keeps the identity. Literals stay as they are.
fn normalise(line: &str) -> String {
    let mut out = String::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '/' if chars.peek() == Some(&'/') => break,
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                skip_block_comment(&mut chars);
            }
            '"' | '\'' => copy_literal(c, &mut chars, &mut out),
            c if c.is_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

fn skip_block_comment(chars: &mut impl Iterator<Item = char>) {
    let mut last = ' ';
    for c in chars {
        if last == '*' && c == '/' {
            return;
        }
        last = c;
    }
}

fn copy_literal(quote: char, chars: &mut impl Iterator<Item = char>, out: &mut String) {
    out.push(quote);
    let mut escaped = false;
    for c in chars {
        out.push(c);
        if c == quote && !escaped {
            return;
        }
        escaped = c == '\\' && !escaped;
    }
}

fn stamps(report: &Report, sources: &Sources) -> Vec<SourceStamp> {
    let mut files: Vec<&str> = report.leaks.iter().flat_map(Finding::files).collect();
    files.sort_unstable();
    files.dedup();
    let hash = |file: &str| sources.get(file).map(|f| f.blake3()).unwrap_or_default();
    files.iter().map(|f| SourceStamp { file: (*f).to_owned(), blake3: hash(f) }).collect()
}

impl Finding {
    /// Every file the finding points into, with repetitions.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let ends = [self.alloc.file.as_str(), self.leak.file.as_str()];
        let trace = self.alloc_trace.iter().map(|site| site.file.as_str());
        let path = self.path.iter().map(|step| step.file.as_str());
        ends.into_iter().chain(trace).chain(path).filter(|file| !file.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AllocSite, Location};

    const TEXT: &str = "\
int f(int n) {
    char *p = malloc(n);
    if (n > 9) return 1;
    free(p);
    char *q = malloc(n);
    if (n > 9) return 1;
}
";

    fn finding(file: &str, alloc: u32, leak: u32) -> Finding {
        Finding {
            family: "memory".into(),
            function: "f".into(),
            variable: "p".into(),
            alloc: AllocSite {
                file: file.into(),
                line: alloc,
                column: 15,
                function: "f".into(),
                callee: "malloc".into(),
            },
            leak: Location { file: file.into(), line: leak, column: 16, function: "f".into() },
            ..Finding::default()
        }
    }

    fn ids(text: &str, findings: &[Finding]) -> Vec<String> {
        let mut findings = findings.to_vec();
        let sources = Sources::in_memory([("a.c", text), ("dir/a.c", text)]);
        assign_ids(&mut findings, &sources);
        findings.into_iter().map(|f| f.id).collect()
    }

    #[test]
    fn inserted_lines_and_white_space_keep_the_id() {
        let before = ids(TEXT, &[finding("a.c", 2, 3)]);
        let shifted = format!("// new\n\n{TEXT}").replace("    ", "\t");
        let commented =
            shifted.replace("return 1;", "return /* why */ 1; // leakproof: ignore it is fine");
        assert_eq!(before, ids(&shifted, &[finding("a.c", 4, 5)]));
        assert_eq!(before, ids(&commented, &[finding("a.c", 4, 5)]));
        assert_eq!(before[0].len(), ID_DIGITS);
    }

    #[test]
    fn a_changed_line_changes_the_id() {
        let before = ids(TEXT, &[finding("a.c", 2, 3)]);
        assert_ne!(
            before,
            ids(&TEXT.replace("malloc(n)", "malloc(n + 1)"), &[finding("a.c", 2, 3)])
        );
    }

    #[test]
    fn the_directory_does_not_matter() {
        assert_eq!(ids(TEXT, &[finding("a.c", 2, 3)]), ids(TEXT, &[finding("dir/a.c", 2, 3)]));
    }

    #[test]
    fn look_alikes_are_numbered_by_place_not_by_order() {
        let text = "char *p = malloc(n);\nreturn;\nchar *p = malloc(n);\nreturn;\n";
        let (first, second) = (finding("a.c", 1, 2), finding("a.c", 3, 4));
        let there = ids(text, &[first.clone(), second.clone()]);
        let mut back = ids(text, &[second, first]);
        back.reverse();
        assert_eq!(there, back);
        assert_ne!(there[0], there[1]);
    }

    #[test]
    fn comments_inside_literals_are_text() {
        assert_eq!(
            normalise(r#"f( "a // b /* c" , '"' ); /* x */ y // z"#),
            r#"f("a // b /* c",'"');y"#
        );
        assert_eq!(normalise(r#"f("\" // x")"#), r#"f("\" // x")"#);
        assert_eq!(normalise("a /* open"), "a");
    }

    #[test]
    fn missing_source_still_gives_distinct_ids() {
        let found = ids(TEXT, &[finding("gone.c", 2, 3), finding("gone.c", 5, 6)]);
        assert_ne!(found[0], found[1]);
    }

    #[test]
    fn finish_stamps_every_file_once() {
        let mut report = Report { leaks: vec![finding("a.c", 2, 3); 2], ..Report::default() };
        finish(&mut report, &Sources::in_memory([("a.c", TEXT)]));
        assert_eq!(report.sources.len(), 1);
        assert_eq!(report.sources[0].blake3.len(), 64);
    }
}
