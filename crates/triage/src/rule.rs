//! Suppression and exclusion by the configuration: globs over paths and function names.
//!
//! In: rules as the configuration states them. Paths match relative to the configuration's folder,
//! whatever folder the tool was started in. Out: matchers; a rule without a reason or a subject, or
//! with a bad glob, is an error.

use std::path::{Component, Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};
use leakproof_findings::{Finding, Kind, SuppressedBy, SuppressedLeak, UnusedSuppression};

#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    #[error("bad pattern: {0}")]
    Glob(#[from] globset::Error),
    #[error("suppression {0} needs a reason")]
    NoReason(usize),
    #[error("suppression {0} names neither a path, a function nor an id")]
    NoSubject(usize),
}

/// One suppression of the configuration; all subjects given must match.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    pub path: Option<String>,
    pub function: Option<String>,
    pub id: Option<String>,
    pub kind: Option<Kind>,
    pub reason: String,
    /// Where it stands, for notes: `leakproof.toml:12`.
    pub at: String,
}

#[derive(Debug, Default)]
pub struct Rules {
    /// The folder that finding paths are relative to, and the one that globs are.
    started_in: PathBuf,
    relative_to: PathBuf,
    excluded: GlobSet,
    rules: Vec<Compiled>,
}

#[derive(Debug)]
struct Compiled {
    rule: Rule,
    path: Option<GlobMatcher>,
    function: Option<GlobMatcher>,
}

impl Rules {
    pub fn new(
        started_in: impl Into<PathBuf>,
        relative_to: impl Into<PathBuf>,
        excluded: &[String],
        rules: &[Rule],
    ) -> Result<Self, RuleError> {
        let mut set = GlobSetBuilder::new();
        for pattern in excluded {
            set.add(path_glob(pattern)?);
        }
        let compile = |(index, rule)| Compiled::new(index + 1, rule);
        Ok(Rules {
            started_in: started_in.into(),
            relative_to: relative_to.into(),
            excluded: set.build()?,
            rules: rules.iter().enumerate().map(compile).collect::<Result<_, _>>()?,
        })
    }

    pub fn excludes(&self, file: &str) -> bool {
        !self.excluded.is_empty() && self.excluded.is_match(self.resolve(file))
    }

    /// A file name as the globs see it.
    fn resolve(&self, file: &str) -> PathBuf {
        let full = normal(&self.started_in.join(file));
        match full.strip_prefix(normal(&self.relative_to)) {
            Ok(inside) => inside.to_owned(),
            Err(_) => full,
        }
    }

    pub(crate) fn in_use(&self) -> RulesInUse<'_> {
        RulesInUse { rules: self, used: vec![false; self.rules.len()] }
    }
}

/// A path without `.` and `..`, as far as that can be told from its text.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) =>
            {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// `*` stays inside a folder, `**` does not; a bare folder name means all that is in it.
fn path_glob(pattern: &str) -> Result<Glob, globset::Error> {
    let pattern = pattern.trim_start_matches("./");
    let pattern = match pattern.strip_suffix('/') {
        Some(folder) => format!("{folder}/**"),
        None => pattern.to_owned(),
    };
    GlobBuilder::new(&pattern).literal_separator(true).build()
}

impl Compiled {
    fn new(number: usize, rule: &Rule) -> Result<Self, RuleError> {
        if rule.reason.trim().is_empty() {
            return Err(RuleError::NoReason(number));
        }
        if rule.path.is_none() && rule.function.is_none() && rule.id.is_none() {
            return Err(RuleError::NoSubject(number));
        }
        let path = rule.path.as_deref().map(path_glob).transpose()?;
        let function = rule.function.as_deref().map(Glob::new).transpose()?;
        Ok(Compiled {
            rule: rule.clone(),
            path: path.map(|g| g.compile_matcher()),
            function: function.map(|g| g.compile_matcher()),
        })
    }

    fn covers(&self, finding: &Finding, path: &Path) -> bool {
        let rule = &self.rule;
        self.path.as_ref().is_none_or(|glob| glob.is_match(path))
            && self.function.as_ref().is_none_or(|glob| glob.is_match(&finding.function))
            && rule.id.as_ref().is_none_or(|id| *id == finding.id)
            && rule.kind.is_none_or(|kind| kind == finding.kind)
    }
}

/// Rules at work on one report, remembering which were of use.
pub(crate) struct RulesInUse<'a> {
    rules: &'a Rules,
    used: Vec<bool>,
}

impl RulesInUse<'_> {
    /// The suppression that covers a finding, with an empty finding in it.
    pub fn suppress(&mut self, finding: &Finding) -> Option<SuppressedLeak> {
        if self.used.is_empty() {
            return None;
        }
        let path = self.rules.resolve(&finding.leak.file);
        let index = self.rules.rules.iter().position(|rule| rule.covers(finding, &path))?;
        self.used[index] = true;
        let rule = &self.rules.rules[index].rule;
        Some(SuppressedLeak {
            by: SuppressedBy::Config,
            at: rule.at.clone(),
            reason: rule.reason.clone(),
            finding: Finding::default(),
        })
    }

    pub fn unused(&self) -> impl Iterator<Item = UnusedSuppression> {
        let idle = self.rules.rules.iter().zip(&self.used).filter(|(_, used)| !**used);
        idle.map(|(rule, _)| UnusedSuppression {
            at: rule.rule.at.clone(),
            note: "this suppression silences nothing".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_findings::Location;

    fn finding(file: &str, function: &str) -> Finding {
        Finding {
            function: function.into(),
            leak: Location { file: file.into(), ..Location::default() },
            ..Finding::default()
        }
    }

    fn rule(path: Option<&str>, function: Option<&str>) -> Rule {
        Rule {
            path: path.map(Into::into),
            function: function.map(Into::into),
            reason: "vendored".into(),
            ..Rule::default()
        }
    }

    fn covers(rule: Rule, started_in: &str, finding: &Finding) -> bool {
        let rules = Rules::new(started_in, "/p", &[], &[rule]).unwrap();
        rules.in_use().suppress(finding).is_some()
    }

    #[test]
    fn paths_match_from_the_folder_of_the_configuration() {
        let vendored = || rule(Some("third_party/**"), None);
        assert!(covers(vendored(), "/p", &finding("third_party/a/b.c", "f")));
        assert!(covers(vendored(), "/p/build", &finding("../third_party/b.c", "f")));
        assert!(covers(vendored(), "/elsewhere", &finding("/p/./third_party/b.c", "f")));
        assert!(!covers(vendored(), "/p/src", &finding("third_party/b.c", "f")));
        assert!(covers(rule(Some("third_party/"), None), "/p", &finding("third_party/a/b.c", "f")));
        assert!(!covers(rule(Some("*.c"), None), "/p", &finding("src/b.c", "f")));
    }

    #[test]
    fn all_subjects_must_match() {
        let both = || rule(Some("src/*.c"), Some("test_*"));
        assert!(covers(both(), "/p", &finding("src/a.c", "test_one")));
        assert!(!covers(both(), "/p", &finding("src/a.c", "main")));
        let kind = Rule { kind: Some(Kind::Forgotten), ..both() };
        assert!(!covers(kind, "/p", &finding("src/a.c", "test_one")));
    }

    #[test]
    fn incomplete_rules_are_errors() {
        let refused = |rule| Rules::new("/p", "/p", &[], &[rule]).unwrap_err().to_string();
        assert!(refused(rule(None, None)).contains("neither a path"));
        assert!(refused(Rule { reason: " ".into(), ..rule(Some("a"), None) }).contains("reason"));
        assert!(refused(rule(Some("a["), None)).contains("bad pattern"));
    }
}
