//! `leakproof.toml`: found in the current folder or the nearest one above it.
//!
//! In: a file. Out: settings, every one optional, with paths made absolute. A key that does not
//! exist is an error with the closest one that does; every error names file, line and column.

use anyhow::{Context, Result, anyhow, bail};
use leakproof_findings::{Evidence, Kind};
use leakproof_triage::{Rule, Rules};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub const FILE_NAME: &str = "leakproof.toml";

/// What `leakproof init` writes: every key, commented out, with its default.
pub const TEMPLATE: &str = include_str!("leakproof.template.toml");

/// The keys of the file and of its tables.
const TOP_KEYS: [&str; 9] = [
    "models", "exclude", "level", "families", "evidence", "at-exit", "baseline", "budget",
    "suppress",
];
const BUDGET_KEYS: [&str; 5] = ["steps", "cheap-steps", "terms", "solver-ms", "solver-resources"];
const SUPPRESS_KEYS: [&str; 5] = ["path", "function", "id", "kind", "reason"];

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Config {
    /// The file itself; empty when there is none.
    #[serde(skip)]
    pub path: PathBuf,
    #[serde(skip)]
    text: String,
    pub models: Vec<PathBuf>,
    pub exclude: Vec<String>,
    pub level: Option<u8>,
    pub families: Vec<String>,
    pub evidence: Option<Evidence>,
    pub at_exit: Option<bool>,
    pub baseline: Option<PathBuf>,
    pub budget: BudgetConfig,
    suppress: Vec<Spanned<Suppress>>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct BudgetConfig {
    pub steps: Option<u64>,
    pub cheap_steps: Option<u64>,
    pub terms: Option<u64>,
    pub solver_ms: Option<u32>,
    pub solver_resources: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Suppress {
    path: Option<String>,
    function: Option<String>,
    id: Option<String>,
    kind: Option<Kind>,
    reason: String,
}

impl Config {
    /// The configuration named, or the nearest one at or above `cwd`, or none.
    pub fn load(named: Option<&Path>, cwd: &Path) -> Result<Self> {
        let above = || cwd.ancestors().map(|dir| dir.join(FILE_NAME)).find(|p| p.is_file());
        match named.map(|p| cwd.join(p)).or_else(above) {
            Some(path) => Self::read(&path, cwd),
            None => Ok(Config::default()),
        }
    }

    fn read(path: &Path, cwd: &Path) -> Result<Self> {
        let shown = path.strip_prefix(cwd).unwrap_or(path).to_owned();
        let text = std::fs::read_to_string(path).with_context(|| shown.display().to_string())?;
        let mut config = parse(&text).map_err(|e| e.at(&shown, &text))?;
        let folder = path.parent().unwrap_or(cwd);
        config.models = config.models.iter().map(|p| folder.join(p)).collect();
        config.baseline = config.baseline.map(|p| folder.join(p));
        config.path = shown;
        config.text = text;
        Ok(config)
    }

    /// The rules on paths and functions, for a tool started in `cwd`.
    pub fn rules(&self, cwd: &Path) -> Result<Rules> {
        let folder = cwd.join(&self.path);
        let folder = folder.parent().unwrap_or(cwd);
        let rules: Vec<Rule> = self.suppress.iter().map(|s| self.rule(s)).collect();
        Rules::new(cwd, folder, &self.exclude, &rules)
            .with_context(|| self.path.display().to_string())
    }

    fn rule(&self, entry: &Spanned<Suppress>) -> Rule {
        let (line, _) = position(&self.text, entry.span().start);
        let suppress = entry.get_ref();
        Rule {
            path: suppress.path.clone(),
            function: suppress.function.clone(),
            id: suppress.id.clone(),
            kind: suppress.kind,
            reason: suppress.reason.clone(),
            at: format!("{}:{line}", self.path.display()),
        }
    }
}

/// A mistake in the file and the byte where it stands.
#[derive(Debug)]
struct Mistake {
    message: String,
    offset: usize,
}

impl Mistake {
    fn at(self, path: &Path, text: &str) -> anyhow::Error {
        let (line, column) = position(text, self.offset);
        anyhow!("{}:{line}:{column}: {}", path.display(), self.message)
    }
}

impl From<toml::de::Error> for Mistake {
    fn from(error: toml::de::Error) -> Self {
        let offset = error.span().map_or(0, |s| s.start);
        Mistake { message: error.message().replace('\n', " "), offset }
    }
}

/// 1-based line and column of a byte.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset.min(text.len())).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

fn parse(text: &str) -> Result<Config, Mistake> {
    let table = DeTable::parse(text)?;
    check_keys(table.get_ref(), &TOP_KEYS)?;
    for (key, value) in table.get_ref() {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("budget", DeValue::Table(budget)) => check_keys(budget, &BUDGET_KEYS)?,
            ("suppress", DeValue::Array(entries)) => {
                for entry in entries.iter() {
                    if let DeValue::Table(entry) = entry.get_ref() {
                        check_keys(entry, &SUPPRESS_KEYS)?;
                    }
                }
            }
            ("level", DeValue::Integer(level)) if !["0", "1", "2"].contains(&level.as_str()) => {
                let message = format!("level is 0, 1 or 2, not {}", level.as_str());
                return Err(Mistake { message, offset: value.span().start });
            }
            _ => {}
        }
    }
    Ok(toml::from_str(text)?)
}

fn check_keys(table: &DeTable, known: &[&str]) -> Result<(), Mistake> {
    for key in table.keys() {
        let name = key.get_ref().as_ref();
        if !known.contains(&name) {
            let hint = match closest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known keys: {}", known.join(", ")),
            };
            let message = format!("unknown key `{name}`; {hint}");
            return Err(Mistake { message, offset: key.span().start });
        }
    }
    Ok(())
}

/// The known word that an unknown one was most likely meant to be.
pub fn closest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let scored = known.iter().map(|k| (strsim::damerau_levenshtein(word, k), *k));
    scored.filter(|(distance, k)| *distance <= (k.len() / 3).max(1)).min().map(|(_, k)| k)
}

/// Refuses families that no model has.
pub fn check_families(wanted: &[String], known: &[&str]) -> Result<()> {
    for family in wanted {
        if !known.contains(&family.as_str()) {
            let hint = closest(family, known).map(|k| format!(" (did you mean `{k}`?)"));
            bail!("no family `{family}`{}", hint.unwrap_or_default());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse(text).unwrap_err().at(Path::new("leakproof.toml"), text).to_string()
    }

    #[test]
    fn the_template_is_valid_and_its_keys_are_all_there_are() {
        assert!(parse(TEMPLATE).is_ok());
        let live: String = TEMPLATE.lines().map(|l| format!("{}\n", uncommented(l))).collect();
        let config = parse(&live).unwrap_or_else(|m| panic!("{}\n{live}", m.message));
        assert_eq!(config.suppress.len(), 2);
        for key in TOP_KEYS.iter().chain(&BUDGET_KEYS).chain(&SUPPRESS_KEYS) {
            let named = live.contains(&format!("{key} =")) || live.contains(&format!("[{key}]"));
            assert!(named, "{key} is not in the template");
        }
    }

    /// A setting without its comment sign; prose stays a comment.
    fn uncommented(line: &str) -> &str {
        match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => setting,
            _ => line,
        }
    }

    #[test]
    fn unknown_keys_are_named_with_the_closest_one() {
        assert_eq!(
            refused("level = 1\nmodles = []\n"),
            "leakproof.toml:2:1: unknown key `modles`; did you mean `models`?"
        );
        assert!(
            refused("[budget]\n  step = 1\n")
                .contains("2:3: unknown key `step`; did you mean `steps`?")
        );
        assert!(refused("[[suppress]]\npth = \"a\"\n").contains("did you mean `path`?"));
        assert!(refused("zzzzzzzz = 1\n").contains("known keys: models"));
    }

    #[test]
    fn mistakes_in_values_have_a_place() {
        assert!(refused("level = 7\n").starts_with("leakproof.toml:1:9: level is 0, 1 or 2"));
        assert!(
            refused("\nevidence = \"sure\"\n").starts_with("leakproof.toml:2:12: unknown variant")
        );
        assert!(refused("models = \n").starts_with("leakproof.toml:1:"));
        assert!(refused("[[suppress]]\nkind = \"x\"\n").contains(":2:8:"));
    }

    #[test]
    fn paths_are_relative_to_the_file_and_it_is_found_from_below() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        let text = "models = [\"m.model\"]\nbaseline = \"base.json\"\n[[suppress]]\npath = \"a/**\"\nreason = \"r\"\n";
        std::fs::write(dir.path().join(FILE_NAME), text).unwrap();
        let config = Config::load(None, &below).unwrap();
        assert_eq!(config.models, [dir.path().join("m.model")]);
        assert_eq!(config.baseline, Some(dir.path().join("base.json")));
        let rules = config.rules(&below).unwrap();
        assert!(!rules.excludes("x.c"));
        let rule = config.rule(&config.suppress[0]);
        assert!(rule.at.ends_with("leakproof.toml:3"), "{}", rule.at);
    }

    #[test]
    fn a_rule_without_a_reason_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE_NAME), "[[suppress]]\npath = \"a\"\n").unwrap();
        let config = Config::load(None, dir.path()).unwrap();
        let error = format!("{:#}", config.rules(dir.path()).unwrap_err());
        assert_eq!(error, "leakproof.toml: suppression 1 needs a reason");
    }
}
