//! Renderers: a finished report in, something a person or another tool reads out.
//!
//! Text, JSON and SARIF are one string; HTML is a folder of files. Nothing here decides what is
//! reported (crate `triage` did that) and nothing fails on odd input: source that is missing,
//! changed, binary or full of escape codes is shown as well as it can be, safely.
//! Output depends on the report and the source alone, never on time, locale or hash order.

mod describe;
mod escape;
mod html;
mod json;
mod output;
mod sarif;
mod span;
mod steps;
mod text;

pub use describe::{evidence_reason, headline, rule_id};
pub use html::{HtmlOptions, html};
pub use json::{JsonError, json, read_json};
pub use output::{OutputError, write_file, write_folder};
pub use sarif::{SarifOptions, sarif};
pub use text::{TextOptions, explain, summary_line, text};
