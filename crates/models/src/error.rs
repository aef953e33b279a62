//! What is wrong with a model file: where, what, and what was probably meant.

use std::fmt;

/// A 1-based position in a model file; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pos {
    pub line: u32,
    pub column: u32,
}

/// One mistake in a model file. `Display` gives `FILE:LINE:COLUMN: message (hint)`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{}:{}: {kind}{}", pos.line, pos.column, Hint(hint.as_deref()))]
pub struct ModelError {
    pub file: String,
    pub pos: Pos,
    pub kind: ErrorKind,
    pub hint: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ErrorKind {
    #[error("unexpected {found}, expected {expected}")]
    Syntax { found: String, expected: String },
    #[error("unknown word `{0}`")]
    UnknownWord(String),
    #[error("bad argument number `@{0}`")]
    BadArgument(String),
    #[error("bad number `{0}`")]
    BadNumber(String),
    #[error("duplicate entry `{name}`, first given in {first}")]
    Duplicate { name: String, first: String },
    #[error("contradictory entry: {0}")]
    Contradiction(String),
    #[error("unknown family `{0}`")]
    UnknownFamily(String),
    #[error("alias of unknown function `{0}`")]
    UnknownTarget(String),
    #[error("alias `{0}` leads back to itself")]
    AliasCycle(String),
}

struct Hint<'a>(Option<&'a str>);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// An error that does not yet know its file.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub pos: Pos,
    pub kind: ErrorKind,
    pub hint: Option<String>,
}

impl Fault {
    pub fn new(pos: Pos, kind: ErrorKind) -> Self {
        Fault { pos, kind, hint: None }
    }

    pub fn contradiction(pos: Pos, message: impl Into<String>) -> Self {
        Fault::new(pos, ErrorKind::Contradiction(message.into()))
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds "did you mean" when one of `candidates` is close to `word`.
    pub fn did_you_mean<'a>(
        mut self,
        word: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        if let Some(best) = closest(word, candidates) {
            self.hint = Some(format!("did you mean `{best}`?"));
        }
        self
    }

    pub fn in_file(self, file: &str) -> ModelError {
        ModelError { file: file.to_owned(), pos: self.pos, kind: self.kind, hint: self.hint }
    }
}

/// The candidate nearest to `word`, if near enough to be a typing mistake.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let limit = |c: &str| 1 + c.len().min(word.len()) / 4;
    candidates
        .into_iter()
        // The distance is at least the difference in length, and far dearer to compute.
        .filter(|c| c.len().abs_diff(word.len()) <= limit(c))
        .map(|c| (strsim::damerau_levenshtein(&lower, &c.to_lowercase()), c))
        .filter(|(distance, c)| *distance <= limit(c))
        .min()
        .map(|(_, c)| c)
}
