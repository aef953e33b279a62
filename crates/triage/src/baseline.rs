//! Baselines: the leaks a project has accepted for now.
//!
//! In and out: a JSON file that is kept under version control. It lists leaks by id with enough words
//! for a reviewer, in a fixed order and without line numbers, so that it changes only when leaks do.

use std::collections::BTreeSet;

use leakproof_findings::{BaselineLeak, Finding};
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error("not a leakproof baseline: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error("baseline version {0} is not known to this leakproof (it reads version {VERSION})")]
    Version(u32),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    version: u32,
    leaks: Vec<BaselineLeak>,
}

impl Baseline {
    /// A baseline that accepts exactly these findings.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        let mut leaks: Vec<BaselineLeak> = findings.into_iter().map(BaselineLeak::from).collect();
        leaks.sort_by(|a, b| key(a).cmp(&key(b)));
        leaks.dedup_by(|a, b| a.id == b.id);
        Baseline { version: VERSION, leaks }
    }

    pub fn read(text: &[u8]) -> Result<Self, BaselineError> {
        let baseline: Baseline = serde_json::from_slice(text)?;
        if baseline.version != VERSION {
            return Err(BaselineError::Version(baseline.version));
        }
        Ok(baseline)
    }

    /// The file's content, one leak per line.
    pub fn write(&self) -> String {
        // Serialising plain data into memory has no way to fail.
        let line = |leak| serde_json::to_string(leak).unwrap_or_default();
        let lines: Vec<String> =
            self.leaks.iter().map(|leak| format!("    {}", line(leak))).collect();
        match lines.len() {
            0 => format!("{{\n  \"version\": {VERSION},\n  \"leaks\": []\n}}\n"),
            _ => {
                let list = lines.join(",\n");
                format!("{{\n  \"version\": {VERSION},\n  \"leaks\": [\n{list}\n  ]\n}}\n")
            }
        }
    }

    pub fn has(&self, id: &str) -> bool {
        self.leaks.iter().any(|leak| leak.id == id)
    }

    pub fn len(&self) -> usize {
        self.leaks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.leaks.is_empty()
    }

    /// The entries that are not among the findings.
    pub fn without(&self, findings: &[&Finding]) -> Vec<BaselineLeak> {
        let found: BTreeSet<&str> = findings.iter().map(|f| f.id.as_str()).collect();
        self.leaks.iter().filter(|leak| !found.contains(leak.id.as_str())).cloned().collect()
    }
}

fn key(leak: &BaselineLeak) -> (&str, &str, &str, &str) {
    (&leak.file, &leak.function, &leak.variable, &leak.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(id: &str, function: &str) -> Finding {
        Finding { id: id.into(), function: function.into(), ..Finding::default() }
    }

    #[test]
    fn a_baseline_comes_back_the_same_whatever_the_order() {
        let (a, b) = (finding("1", "f"), finding("2", "e"));
        let there = Baseline::of([&a, &b]);
        assert_eq!(there, Baseline::of([&b, &a, &a]));
        assert_eq!(Baseline::read(there.write().as_bytes()).unwrap(), there);
        assert_eq!(there.write().lines().count(), 7);
        let empty = Baseline::of([]);
        assert_eq!(Baseline::read(empty.write().as_bytes()).unwrap(), empty);
    }

    #[test]
    fn other_files_are_refused() {
        assert!(Baseline::read(b"[]").is_err());
        let newer = b"{\"version\": 7, \"leaks\": []}";
        assert!(Baseline::read(newer).unwrap_err().to_string().contains("version 7"));
    }
}
