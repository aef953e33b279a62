//! A line of `docs/judged/*.tsv`: a finding as it was when somebody read it, and the verdict.

use crate::bench::verdict::Verdict;
use anyhow::{Context, Result, bail};
use leakproof_findings::Finding;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    function: String,
    variable: String,
    alloc: Place,
    leak: Place,
    pub verdict: Verdict,
    reason: String,
}

impl Row {
    pub fn parse(line: &str) -> Result<Self> {
        let cells: Vec<&str> = line.split('\t').collect();
        let [function, variable, alloc, leak, _evidence, verdict, reason] = cells[..] else {
            bail!("no seven cells: {line}");
        };
        Ok(Self {
            function: function.to_owned(),
            variable: variable.to_owned(),
            alloc: Place::parse(alloc)?,
            leak: Place::parse(leak)?,
            verdict: Verdict::of_word(verdict).with_context(|| format!("no verdict: {line}"))?,
            reason: reason.to_owned(),
        })
    }

    /// How much of what the row says of its place is true of a finding, when that can be the same
    /// one. A rule that finds a better place or name for a leak does not make another leak of it, so
    /// the allocation is enough, or the variable at the place of loss.
    pub fn closeness(&self, finding: &Finding) -> Option<usize> {
        let alloc = self.alloc.is(&finding.alloc.file, finding.alloc.line);
        let leak = self.leak.is(&finding.leak.file, finding.leak.line);
        let variable = self.variable == finding.variable;
        let same = self.function == finding.function && (alloc || (variable && leak));
        same.then(|| [alloc, leak, variable].into_iter().filter(|agrees| *agrees).count())
    }
}

/// When a row agrees with a finding in everything.
pub const EXACT: usize = 3;

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, variable, alloc, leak, reason, .. } = self;
        write!(f, "{function}\t{variable}\t{alloc}\t{leak}\t{reason}")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    file: String,
    line: u32,
}

impl Place {
    fn parse(text: &str) -> Result<Self> {
        let (file, line) = text.rsplit_once(':').with_context(|| format!("no place: {text}"))?;
        let line = line.parse().with_context(|| format!("no line: {text}"))?;
        Ok(Self { file: file.to_owned(), line })
    }

    /// Rows name files from the root of the source, findings from the folder with the compile
    /// database, which may be one further up.
    fn is(&self, file: &str, line: u32) -> bool {
        let above = file.strip_suffix(&self.file);
        self.line == line && above.is_some_and(|a| a.is_empty() || a.ends_with('/'))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
