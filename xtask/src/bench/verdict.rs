//! What a reader said of a finding.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    True,
    False,
    Unsure,
    /// Nobody read it.
    #[default]
    Unjudged,
}

impl Verdict {
    /// A reader's word; anything else is no verdict.
    pub fn of_word(word: &str) -> Option<Self> {
        match word.trim() {
            "true" => Some(Self::True),
            "false" => Some(Self::False),
            "unsure" => Some(Self::Unsure),
            _ => None,
        }
    }
}
