//! Triage: which findings of a report count.
//!
//! In: a report with ids, its source, and a policy (rules, baseline, change). Out: the same report
//! with `leaks` reduced to what counts and `triage` saying where the rest went. In this order:
//! excluded paths, evidence, suppressions, baseline, change. No finding is lost: each is kept or counted.

mod baseline;
mod change;
mod comment;
mod hunk;
mod rule;
mod text;

pub use baseline::{Baseline, BaselineError};
pub use change::{Change, ChangeError};
pub use rule::{Rule, RuleError, Rules};

use leakproof_findings::{Evidence, Finding, Report, Sources, SuppressedLeak};

use comment::Comments;

/// What to hold back.
#[derive(Debug, Default)]
pub struct Policy {
    pub rules: Rules,
    /// Name and content of the baseline.
    pub baseline: Option<(String, Baseline)>,
    pub change: Option<Change>,
    /// Findings less sure than this do not count.
    pub evidence: Evidence,
    /// Files to look through for suppression comments, beside those that findings point into, so
    /// that unused ones are noted.
    pub files: Vec<String>,
}

/// Moves the findings that do not count out of `report.leaks`.
pub fn apply(report: &mut Report, policy: &Policy, sources: &Sources) {
    let before = report.leaks.len();
    report.leaks.retain(|f| !policy.rules.excludes(&f.leak.file));
    report.triage.excluded = (before - report.leaks.len()) as u64;
    let before = report.leaks.len();
    report.leaks.retain(|f| f.evidence >= policy.evidence);
    report.triage.less_sure = (before - report.leaks.len()) as u64;
    suppress(report, policy, sources);
    if let Some((name, baseline)) = &policy.baseline {
        compare(report, name, baseline);
    }
    if let Some(change) = &policy.change {
        let before = report.leaks.len();
        report.leaks.retain(|f| change.touches(f));
        report.triage.diff = Some(change.revision().to_owned());
        report.triage.outside_diff = (before - report.leaks.len()) as u64;
    }
}

fn suppress(report: &mut Report, policy: &Policy, sources: &Sources) {
    let mut comments = Comments::default();
    let pointed_at = report.leaks.iter().flat_map(|f| [&f.leak.file, &f.alloc.file]);
    let mut files: Vec<&String> = pointed_at.chain(&policy.files).collect();
    files.sort_unstable();
    files.dedup();
    for file in files {
        comments.read(file, sources);
    }
    let mut rules = policy.rules.in_use();
    let mut kept = Vec::new();
    for finding in std::mem::take(&mut report.leaks) {
        match comments.suppress(&finding).or_else(|| rules.suppress(&finding)) {
            Some(by) => report.triage.suppressed.push(SuppressedLeak { finding, ..by }),
            None => kept.push(finding),
        }
    }
    report.leaks = kept;
    report.triage.unused = comments.unused();
    report.triage.unused.extend(rules.unused());
}

fn compare(report: &mut Report, name: &str, baseline: &Baseline) {
    let suppressed = report.triage.suppressed.iter().map(|s| &s.finding);
    let found: Vec<&Finding> = report.leaks.iter().chain(suppressed).collect();
    report.triage.fixed = baseline.without(&found);
    let (known, new) =
        std::mem::take(&mut report.leaks).into_iter().partition(|f| baseline.has(&f.id));
    report.leaks = new;
    report.triage.known = known;
    report.triage.baseline = Some(name.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_findings::{AllocSite, Location, finish};

    const TEXT: &str = "\
int f(void)
{
	char *a = malloc(1); // leakproof: ignore lives as long as the process
	char *b = malloc(2);
	// leakproof: ignore
	return 0;
}

// leakproof: ignore nothing leaks here
int g;
";

    fn leak(line: u32, variable: &str) -> Finding {
        Finding {
            family: "memory".into(),
            function: "f".into(),
            variable: variable.into(),
            alloc: AllocSite { file: "a.c".into(), line, column: 12, ..AllocSite::default() },
            leak: Location { file: "a.c".into(), line: 6, column: 2, function: "f".into() },
            ..Finding::default()
        }
    }

    fn report() -> (Report, Sources) {
        let sources = Sources::in_memory([("a.c", TEXT), ("b.c", "/* leakproof: ignore old */\n")]);
        let mut report = Report { leaks: vec![leak(3, "a"), leak(4, "b")], ..Report::default() };
        finish(&mut report, &sources);
        (report, sources)
    }

    #[test]
    fn comments_suppress_and_idle_ones_are_noted() {
        let (mut report, sources) = report();
        let policy = Policy { files: vec!["b.c".into()], ..Policy::default() };
        apply(&mut report, &policy, &sources);
        let variables =
            |list: &[Finding]| list.iter().map(|f| f.variable.clone()).collect::<Vec<_>>();
        assert_eq!(variables(&report.leaks), ["b"]);
        assert_eq!(report.triage.suppressed.len(), 1);
        assert_eq!(report.triage.suppressed[0].reason, "lives as long as the process");
        assert_eq!(report.triage.suppressed[0].at, "a.c:3");
        let unused: Vec<_> =
            report.triage.unused.iter().map(|u| (u.at.as_str(), u.note.as_str())).collect();
        let idle = "this suppression silences nothing";
        let bare = "a suppression needs a reason: `leakproof: ignore REASON`";
        assert_eq!(unused, [("a.c:5", bare), ("a.c:9", idle), ("b.c:1", idle)]);
    }

    #[test]
    fn the_baseline_splits_known_from_new_and_lists_the_fixed() {
        let (mut report, sources) = report();
        let mut old = report.leaks.clone();
        old[0].id = "gone".into();
        let baseline = Baseline::of(&old);
        let policy = Policy { baseline: Some(("base.json".into(), baseline)), ..Policy::default() };
        apply(&mut report, &policy, &sources);
        assert!(report.leaks.is_empty());
        assert_eq!(report.triage.known.len(), 1);
        assert_eq!(report.triage.fixed.len(), 1);
        assert_eq!(report.triage.fixed[0].id, "gone");
    }

    #[test]
    fn a_suppressed_leak_of_the_baseline_is_not_fixed() {
        let (mut report, sources) = report();
        let baseline = Baseline::of(&report.leaks);
        let policy = Policy { baseline: Some(("base.json".into(), baseline)), ..Policy::default() };
        apply(&mut report, &policy, &sources);
        assert_eq!(report.triage.fixed, []);
    }

    #[test]
    fn excluded_paths_are_counted() {
        let (mut report, sources) = report();
        let rules = Rules::new("", "", &["*.c".into()], &[]).unwrap();
        apply(&mut report, &Policy { rules, ..Policy::default() }, &sources);
        assert_eq!((report.leaks.len(), report.triage.excluded), (0, 2));
    }

    #[test]
    fn only_what_is_sure_enough_counts() {
        let (mut report, sources) = report();
        report.leaks[1].evidence = Evidence::Feasible;
        let policy = Policy { evidence: Evidence::Feasible, ..Policy::default() };
        apply(&mut report, &policy, &sources);
        assert_eq!((report.leaks.len(), report.triage.less_sure), (1, 1));
    }
}
