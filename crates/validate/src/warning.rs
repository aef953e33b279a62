//! A warning to validate: (a, p, e), where an object is allocated, the branches on the way, and
//! where it leaks.

use leakproof_findings::{Event, Finding};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use thiserror::Error;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warning {
    /// How reports name it: a finding's id, or `file:line`.
    pub name: String,
    /// From the call seen at the leak down to the library's allocator; at least one.
    pub allocation: Vec<Spot>,
    pub branches: Vec<Step>,
    pub leak: Spot,
    /// What leaks, when it is no memory (`file`).
    pub family: String,
}

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// Absolute.
    pub file: PathBuf,
    pub line: u32,
    /// 0: not known.
    pub column: u32,
    /// The function called there; empty when not known.
    pub callee: String,
}

/// A branch of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub at: Spot,
    pub direction: Direction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The condition as the source has it holds, or not.
    Condition(bool),
    /// The line that control goes on to.
    Line(u32),
    /// Control stays on the line, as far as that can be told from the other side.
    SameLine,
}

impl Warning {
    /// A finding of `check`; its file names are relative to `root`.
    pub fn from_finding(finding: &Finding, root: &Path) -> Self {
        let spot = |file: &str, line, column, callee: &str| Spot {
            file: absolute(root, Path::new(file)),
            line,
            column,
            callee: callee.to_owned(),
        };
        let mut sites = vec![&finding.alloc];
        sites.extend(finding.alloc_trace.iter().filter(|s| **s != finding.alloc));
        let allocation = sites.iter().map(|s| spot(&s.file, s.line, s.column, &s.callee)).collect();
        let branches = finding.path.iter().filter(|s| s.event == Event::Branch).filter_map(|s| {
            let at = spot(&s.file, s.line, s.column, "");
            Some(Step { at, direction: direction(&s.note)? })
        });
        Self {
            name: finding.id.clone(),
            allocation,
            branches: branches.collect(),
            leak: spot(&finding.leak.file, finding.leak.line, finding.leak.column, ""),
            family: finding.family.clone(),
        }
    }
}

impl Warning {
    /// A leak of memory with nothing known about the way.
    pub fn between(allocation: Spot, leak: Spot) -> Self {
        Self {
            name: name(&allocation, &leak),
            allocation: vec![allocation],
            branches: Vec::new(),
            leak,
            family: "memory".to_owned(),
        }
    }
}

/// What a warning without an id is called: `a.c:4-8`, `a.c:4-b.c:9`.
fn name(allocation: &Spot, leak: &Spot) -> String {
    let start = format!("{}:{}", allocation.file.display(), allocation.line);
    if allocation.file == leak.file {
        format!("{start}-{}", leak.line)
    } else {
        format!("{start}-{}:{}", leak.file.display(), leak.line)
    }
}

/// Where a branch goes by its note, which names the line only if it is another one.
fn direction(note: &str) -> Option<Direction> {
    let Some((_, rest)) = note.rsplit_once("on to line ") else {
        return note.starts_with("assuming ").then_some(Direction::SameLine);
    };
    let line = rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    Some(Direction::Line(line))
}

pub fn absolute(root: &Path, file: &Path) -> PathBuf {
    let path = root.join(file);
    std::fs::canonicalize(&path).unwrap_or_else(|_| leakproof_frontend::normalize(&path))
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum WarningError {
    #[error("`{0}`: expected FILE:LINE")]
    NoPlace(String),
    #[error("`{0}`: expected FILE:LINE:T or FILE:LINE:F")]
    NoBranch(String),
    #[error("`{0}`: expected alloc=FILE:LINE, leak=FILE:LINE or branch=FILE:LINE:T|F")]
    UnknownPart(String),
    #[error("a warning needs alloc=FILE:LINE and leak=FILE:LINE")]
    Incomplete,
}

/// `alloc=FILE:LINE,leak=FILE:LINE[,branch=FILE:LINE:T|F]...`
impl FromStr for Warning {
    type Err = WarningError;

    fn from_str(text: &str) -> Result<Self, WarningError> {
        let mut warning = Warning { family: "memory".into(), ..Warning::default() };
        let mut leak = None;
        for part in text.split(',').filter(|p| !p.is_empty()) {
            match part.split_once('=') {
                Some(("alloc", place)) => warning.allocation.push(spot(place)?),
                Some(("leak", place)) => leak = Some(spot(place)?),
                Some(("branch", place)) => warning.branches.push(step(place)?),
                _ => return Err(WarningError::UnknownPart(part.to_owned())),
            }
        }
        warning.leak = leak.ok_or(WarningError::Incomplete)?;
        let first = warning.allocation.first().ok_or(WarningError::Incomplete)?;
        warning.name = name(first, &warning.leak);
        Ok(warning)
    }
}

fn spot(text: &str) -> Result<Spot, WarningError> {
    let wrong = || WarningError::NoPlace(text.to_owned());
    let (file, line) = text.rsplit_once(':').ok_or_else(wrong)?;
    let line = line.parse().map_err(|_| wrong())?;
    if file.is_empty() || line == 0 {
        return Err(wrong());
    }
    Ok(Spot { file: file.into(), line, ..Spot::default() })
}

fn step(text: &str) -> Result<Step, WarningError> {
    let wrong = || WarningError::NoBranch(text.to_owned());
    let (place, side) = text.rsplit_once(':').ok_or_else(wrong)?;
    let side = match side {
        "T" | "t" => true,
        "F" | "f" => false,
        _ => return Err(wrong()),
    };
    Ok(Step { at: spot(place)?, direction: Direction::Condition(side) })
}

impl Warning {
    /// All its file names taken from `root` when they are relative.
    pub fn resolved(mut self, root: &Path) -> Self {
        for spot in self.allocation.iter_mut().chain([&mut self.leak]) {
            spot.file = absolute(root, &spot.file);
        }
        for step in &mut self.branches {
            step.at.file = absolute(root, &step.at.file);
        }
        self
    }

    /// Every line that it names.
    pub fn lines(&self) -> impl Iterator<Item = (&Path, u32)> {
        let branches = self.branches.iter().map(|s| &s.at);
        let named = self.allocation.iter().chain(branches).map(|s| (s.file.as_path(), s.line));
        named.chain(self.leak_lines().into_iter().map(|line| (self.leak.file.as_path(), line)))
    }

    /// The lines that may have the code of the leak point: its own; and of one with nothing but braces, as where a scope
    /// ends, those right above it.
    pub fn leak_lines(&self) -> Vec<u32> {
        const MOST: u32 = 6;
        let text = std::fs::read(&self.leak.file).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let has_no_word = |line: u32| {
            let text = lines.get(line.saturating_sub(1) as usize);
            text.is_some_and(|t| !t.contains(|c: char| c.is_alphanumeric()))
        };
        let at = self.leak.line;
        if !has_no_word(at) {
            return vec![at];
        }
        (at.saturating_sub(MOST).max(1)..=at).rev().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_by_hand() {
        let w: Warning = "alloc=a.c:4,leak=a.c:8,branch=a.c:3:T,branch=b c.c:7:F".parse().unwrap();
        assert_eq!((w.allocation[0].line, w.leak.line), (4, 8));
        assert_eq!(w.name, "a.c:4-8");
        assert_eq!(w.branches[1].direction, Direction::Condition(false));
        assert_eq!(w.branches[1].at.file, Path::new("b c.c"));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| text.parse::<Warning>().unwrap_err();
        assert_eq!(error("alloc=a.c:4"), WarningError::Incomplete);
        assert_eq!(error("alloc=a.c,leak=a.c:8"), WarningError::NoPlace("a.c".into()));
        assert_eq!(
            error("alloc=a.c:4,leak=a.c:8,branch=a.c:3"),
            WarningError::NoBranch("a.c:3".into())
        );
        assert_eq!(error("alloc=a.c:0,leak=a.c:8"), WarningError::NoPlace("a.c:0".into()));
        assert_eq!(error("x"), WarningError::UnknownPart("x".into()));
    }

    #[test]
    fn notes_tell_where_a_branch_goes() {
        assert_eq!(direction("assuming 'n' is 0: on to line 17"), Some(Direction::Line(17)));
        assert_eq!(direction("assuming malloc() fails"), Some(Direction::SameLine));
        assert_eq!(direction("the switch value is 3"), None);
    }
}
