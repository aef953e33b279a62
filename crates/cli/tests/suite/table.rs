//! Recall and precision over the suite, by idiom, as a text table.

use super::compare::Outcome;
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Default)]
struct Row {
    programs: usize,
    expected: usize,
    found: usize,
    findings: usize,
    repeats: usize,
    false_alarms: usize,
    kind: usize,
    line: usize,
}

impl Row {
    fn add(&mut self, o: &Outcome) {
        self.programs += 1;
        self.expected += o.met.len() + o.missing.len() + o.known_missed.len();
        self.found += o.met.len();
        self.repeats += o.extra.len();
        self.false_alarms += o.unexpected.len() + o.known_false.len();
        self.findings += o.met.len() + o.extra.len() + o.unexpected.len() + o.known_false.len();
        self.kind += o.met.iter().filter(|(e, f)| e.kind.is_empty() || e.kind == f.kind).count();
        self.line +=
            o.met.iter().filter(|(e, f)| e.line == f.leak.1 || e.line == f.alloc.1).count();
    }
}

fn percent(part: usize, whole: usize) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1}", 100.0 * part as f64 / whole as f64) }
}

pub fn render(outcomes: &[Outcome]) -> String {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let mut total = Row::default();
    for outcome in outcomes {
        rows.entry(&outcome.idiom).or_default().add(outcome);
        total.add(outcome);
    }
    let mut out = format!(
        "{:<14} {:>8} {:>8} {:>6} {:>8} {:>9} {:>6} {:>9} {:>8} {:>6} {:>6}\n",
        "idiom",
        "programs",
        "expected",
        "found",
        "recall %",
        "findings",
        "false",
        "precis. %",
        "repeats",
        "kind %",
        "line %"
    );
    for (name, row) in rows.iter().map(|(n, r)| (*n, r)).chain([("total", &total)]) {
        let _ = writeln!(
            out,
            "{name:<14} {:>8} {:>8} {:>6} {:>8} {:>9} {:>6} {:>9} {:>8} {:>6} {:>6}",
            row.programs,
            row.expected,
            row.found,
            percent(row.found, row.expected),
            row.findings,
            row.false_alarms,
            percent(row.findings - row.false_alarms, row.findings),
            row.repeats,
            percent(row.kind, row.found),
            percent(row.line, row.found),
        );
    }
    out
}
