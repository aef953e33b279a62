//! Which judged rows a run still reports, and which of its findings nobody has judged.

use super::row::{EXACT, Row};
use crate::bench::verdict::Verdict;
use leakproof_findings::Finding;
use std::cmp::Reverse;
use std::ops::AddAssign;

pub struct Score<'a> {
    findings: usize,
    /// Rows with the finding that is the same, and how close it is.
    reported: Vec<(&'a Row, &'a Finding, usize)>,
    gone: Vec<&'a Row>,
    unjudged: Vec<&'a Finding>,
}

impl<'a> Score<'a> {
    /// Pairs rows with findings, the closest first; each of them has at most one partner.
    pub fn new(rows: &'a [Row], findings: &'a [Finding]) -> Self {
        let mut free_rows: Vec<Option<&Row>> = rows.iter().map(Some).collect();
        let mut free_findings: Vec<Option<&Finding>> = findings.iter().map(Some).collect();
        let mut reported = Vec::new();
        for (closeness, r, f) in candidates(rows, findings) {
            if let (Some(row), Some(finding)) = (free_rows[r], free_findings[f]) {
                (free_rows[r], free_findings[f]) = (None, None);
                reported.push((row, finding, closeness));
            }
        }
        Self {
            findings: findings.len(),
            reported,
            gone: free_rows.into_iter().flatten().collect(),
            unjudged: free_findings.into_iter().flatten().collect(),
        }
    }

    pub fn counts(&self) -> Counts {
        let still = |v| self.reported.iter().filter(|(row, ..)| row.verdict == v).count();
        Counts {
            findings: self.findings,
            kept: still(Verdict::True),
            left: still(Verdict::False),
            unjudged: self.unjudged.len(),
            lost: self.lost().count(),
        }
    }

    /// What its row says of each finding.
    pub fn verdicts(&self, findings: &[Finding]) -> Vec<Verdict> {
        let of = |finding: &Finding| {
            let same = |(_, f, _): &&(&Row, &Finding, usize)| std::ptr::eq(*f, finding);
            self.reported.iter().find(same).map_or(Verdict::Unjudged, |(row, ..)| row.verdict)
        };
        findings.iter().map(of).collect()
    }

    /// A line for each true row that is lost, each false one that is left and each unjudged finding,
    /// the last in the cells of a row. Also what was paired although something differs: whether the
    /// verdict still holds is for a reader to say.
    pub fn details(&self) -> Vec<String> {
        let lost = self.lost().map(|row| format!("lost\t{row}"));
        let reported = self.reported.iter().filter_map(|&(row, finding, closeness)| {
            let verdict = format!("{:?}", row.verdict).to_lowercase();
            match closeness {
                EXACT if row.verdict != Verdict::False => None,
                EXACT => Some(format!("{verdict}\t{row}")),
                _ => Some(format!("{verdict}\t{row}\tnow: {}", cells(finding))),
            }
        });
        let unjudged = self.unjudged.iter().map(|f| format!("unjudged\t{}", cells(f)));
        lost.chain(reported).chain(unjudged).collect()
    }

    fn lost(&self) -> impl Iterator<Item = &Row> {
        self.gone.iter().copied().filter(|row| row.verdict == Verdict::True)
    }
}

/// Every row and finding that can be the same one, by index, the closest first.
fn candidates(rows: &[Row], findings: &[Finding]) -> Vec<(usize, usize, usize)> {
    let of_row = |(r, row): (usize, &Row)| {
        let close = |(f, finding)| Some((row.closeness(finding)?, r, f));
        findings.iter().enumerate().filter_map(close).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = rows.iter().enumerate().flat_map(of_row).collect();
    all.sort_by_key(|&(closeness, ..)| Reverse(closeness));
    all
}

/// A finding as `docs/judged` writes it down, up to the verdict.
fn cells(finding: &Finding) -> String {
    let Finding { function, variable, alloc, leak, evidence, .. } = finding;
    let evidence = format!("{evidence:?}").to_lowercase();
    let (alloc, leak) =
        (format!("{}:{}", alloc.file, alloc.line), format!("{}:{}", leak.file, leak.line));
    [function, variable, &alloc, &leak, &evidence].map(String::as_str).join("\t")
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub findings: usize,
    /// True rows that are reported.
    pub kept: usize,
    /// False rows that are reported.
    pub left: usize,
    /// Findings without a row.
    pub unjudged: usize,
    /// True rows that are not reported.
    pub lost: usize,
}

impl Counts {
    pub fn heading() -> String {
        columns("program", &["findings", "true kept", "false left", "unjudged", "true lost"])
    }

    pub fn line(&self, name: &str) -> String {
        let Self { findings, kept, left, unjudged, lost } = self;
        let numbers = [findings, kept, left, unjudged, lost].map(usize::to_string);
        columns(name, &numbers.each_ref().map(String::as_str))
    }
}

fn columns(name: &str, cells: &[&str]) -> String {
    let cells: String = cells.iter().map(|cell| format!("{cell:>12}")).collect();
    format!("{name:<16}{cells}")
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.findings += other.findings;
        self.kept += other.kept;
        self.left += other.left;
        self.unjudged += other.unjudged;
        self.lost += other.lost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_findings::{AllocSite, Location};

    fn finding(variable: &str, alloc: u32, leak: u32) -> Finding {
        let file = || "p-1.0/src/a.c".to_owned();
        Finding {
            function: "f".to_owned(),
            variable: variable.to_owned(),
            alloc: AllocSite { file: file(), line: alloc, ..AllocSite::default() },
            leak: Location { file: file(), line: leak, ..Location::default() },
            ..Finding::default()
        }
    }

    fn rows(lines: &[&str]) -> Vec<Row> {
        let row = |line: &&str| Row::parse(&line.replace(' ', "\t")).unwrap();
        lines.iter().map(row).collect()
    }

    #[test]
    fn a_finding_is_the_row_that_says_the_same() {
        let rows = rows(&[
            "f v src/a.c:3 src/a.c:8 feasible false no",
            "f v src/a.c:3 src/a.c:9 feasible true yes",
            "g v src/a.c:3 src/a.c:9 feasible true yes",
        ]);
        let findings = [finding("v", 3, 9)];
        let counts = Score::new(&rows, &findings).counts();
        assert_eq!(counts, Counts { findings: 1, kept: 1, lost: 1, ..Counts::default() });
    }

    #[test]
    fn the_same_leak_may_get_another_name_or_place() {
        let rows = rows(&[
            "f v src/a.c:3 src/a.c:8 feasible false no",
            "f w src/a.c:5 src/a.c:9 feasible true yes",
        ]);
        let elsewhere = finding("u", 3, 20);
        let other_allocation = finding("w", 6, 9);
        let other_variable_there = finding("x", 6, 9);
        let findings = [elsewhere, other_allocation, other_variable_there];
        let score = Score::new(&rows, &findings);
        let wanted = Counts { findings: 3, kept: 1, left: 1, unjudged: 1, lost: 0 };
        assert_eq!(score.counts(), wanted);
        assert_eq!(
            score.details(),
            [
                "true\tf\tw\tsrc/a.c:5\tsrc/a.c:9\tyes\tnow: f\tw\tp-1.0/src/a.c:6\tp-1.0/src/a.c:9\tassumed",
                "false\tf\tv\tsrc/a.c:3\tsrc/a.c:8\tno\tnow: f\tu\tp-1.0/src/a.c:3\tp-1.0/src/a.c:20\tassumed",
                "unjudged\tf\tx\tp-1.0/src/a.c:6\tp-1.0/src/a.c:9\tassumed",
            ]
        );
    }

    #[test]
    fn a_row_counts_once() {
        let rows = rows(&["f v src/a.c:3 src/a.c:8 feasible true yes"]);
        let findings = [finding("v", 3, 7), finding("v", 3, 8)];
        let score = Score::new(&rows, &findings);
        assert_eq!(score.verdicts(&findings), [Verdict::Unjudged, Verdict::True]);
        assert_eq!(score.unjudged, [&findings[0]]);
        assert_eq!(score.counts().kept, 1);
    }

    #[test]
    fn a_file_of_the_same_end_is_another_one() {
        let rows = rows(&["f v c/a.c:3 c/a.c:8 feasible true yes"]);
        assert_eq!(Score::new(&rows, &[finding("v", 3, 8)]).counts().lost, 1);
    }
}
