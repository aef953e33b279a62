//! What the user sees on standard error: progress, notes, totals.
//!
//! A bar on a terminal, one line per unit elsewhere, nothing when quiet.

use crate::failure::one_line;
use indicatif::{ProgressBar, ProgressStyle};
use leakproof_frontend::{Progress, Timings, UnitDone};
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Skipped units listed, unless verbose.
const SKIPPED_SHOWN: usize = 10;

/// How much to say.
#[derive(Clone, Copy, Debug)]
pub struct Ui {
    quiet: bool,
    verbose: u8,
}

impl Ui {
    pub fn new(quiet: bool, verbose: u8) -> Self {
        Self { quiet, verbose }
    }

    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    pub fn is_verbose(&self) -> bool {
        self.verbose > 0
    }

    pub fn note(&self, text: &str) {
        if !self.quiet {
            eprintln!("leakproof: {}", one_line(text));
        }
    }

    pub fn warn(&self, text: &str) {
        if !self.quiet {
            eprintln!("leakproof: warning: {}", one_line(text));
        }
    }

    /// A reporter for one load.
    pub fn progress(&self) -> UnitProgress {
        let style = match (self.quiet, std::io::stderr().is_terminal()) {
            (true, _) => Style::None,
            (false, true) => Style::Bar(OnceLock::new()),
            (false, false) => {
                Style::Lines { done: AtomicUsize::new(0), total: AtomicUsize::new(0) }
            }
        };
        UnitProgress { style }
    }

    /// What loading came to, in one line.
    pub fn totals(&self, units: usize, functions: usize, skipped: usize, timings: &Timings) {
        self.note(&format!(
            "{}, {}, {} from the cache, {skipped} skipped, {:.2} s",
            count(units, "unit"),
            count(functions, "function"),
            timings.cached,
            timings.wall.as_secs_f64()
        ));
    }

    /// The units that were left out. The text report lists them itself.
    pub fn skipped(&self, skipped: &[(String, String)]) {
        let shown = if self.is_verbose() { usize::MAX } else { SKIPPED_SHOWN };
        for (name, reason) in skipped.iter().take(shown) {
            self.note(&format!("skipped {name}: {reason}"));
        }
        if skipped.len() > shown {
            self.note(&format!("... and {} more (-v lists all)", skipped.len() - shown));
        }
    }
}

pub fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

enum Style {
    None,
    Bar(OnceLock<ProgressBar>),
    Lines { done: AtomicUsize, total: AtomicUsize },
}

/// Shows units as they are done.
pub struct UnitProgress {
    style: Style,
}

impl Progress for UnitProgress {
    fn start(&self, units: usize) {
        match &self.style {
            Style::None => {}
            Style::Bar(bar) => {
                bar.get_or_init(|| new_bar(units));
            }
            Style::Lines { total, .. } => total.store(units, Ordering::Relaxed),
        }
    }

    fn unit_done(&self, unit: UnitDone<'_>) {
        match &self.style {
            Style::None => {}
            Style::Bar(bar) => {
                if let Some(bar) = bar.get() {
                    bar.set_message(one_line(unit.name));
                    bar.inc(1);
                }
            }
            Style::Lines { done, total } => {
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                let total = total.load(Ordering::Relaxed);
                let how = match (unit.skipped, unit.from_cache) {
                    (Some(_), _) => " (skipped)",
                    (None, true) => " (cached)",
                    (None, false) => "",
                };
                eprintln!("[{done}/{total}] {}{how}", one_line(unit.name));
            }
        }
    }

    fn finish(&self) {
        if let Style::Bar(bar) = &self.style
            && let Some(bar) = bar.get()
        {
            bar.finish_and_clear();
        }
    }
}

fn new_bar(units: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}");
    let bar = ProgressBar::new(units as u64);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
