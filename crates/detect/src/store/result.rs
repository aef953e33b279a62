//! What all results depend on, and whole results: the report of a program of which nothing
//! changed.

use super::digest::{Id, hash};
use crate::Options;
use leakproof_findings::Report;
use leakproof_models::Library;
use std::fmt::Write;

/// What an analysis is given besides the program.
pub struct Circumstances<'a> {
    pub models: &'a Library,
    pub options: &'a Options,
}

impl Circumstances<'_> {
    /// Stands for this code, the solver, models and options, except those that only choose what
    /// is shown.
    pub fn id(&self) -> Id {
        let Options {
            jobs: _,
            level: _,
            watch: _,
            pairs: _,
            meter: _,
            also,
            at_exit,
            families,
            budget,
            solver,
        } = self.options;
        let mut text = Hashed(blake3::Hasher::new());
        let wrote = write!(
            text,
            "{} {} {also:?} {at_exit} {families:?} {budget:?} {solver:?} {:?}",
            env!("LEAKPROOF_ANALYSIS_ID"),
            leakproof_smt::version(),
            // The shipped ones are part of this code; to print them takes longer than all the rest.
            Some(self.models).filter(|models| !std::ptr::eq(*models, Library::shipped())),
        );
        debug_assert!(wrote.is_ok(), "hashing does not fail");
        let mut id = Id::default();
        id.copy_from_slice(&text.0.finalize().as_bytes()[..16]);
        id
    }
}

struct Hashed(blake3::Hasher);

impl Write for Hashed {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        self.0.update(s.as_bytes());
        Ok(())
    }
}

/// The key of the report of a program, from hashes of its modules in their order.
pub fn report_key(models: &Library, options: &Options, modules: &[[u8; 32]]) -> Id {
    let common = Circumstances { models, options }.id();
    let mut text = [&b"report"[..], &common, &[options.level]].concat();
    modules.iter().for_each(|m| text.extend(m));
    hash(&text)
}

/// The bytes by which a report is kept.
pub fn keep_report(report: &Report) -> Option<Vec<u8>> {
    serde_json::to_vec(report).ok()
}

/// The report that was kept by these bytes.
pub fn fetch_report(bytes: &[u8]) -> Option<Report> {
    serde_json::from_slice(bytes).ok()
}
