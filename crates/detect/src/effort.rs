//! How long an analysis took, and what took longest: for `--stats`, never part of the result.

use std::time::{Duration, Instant};

/// How many of the slowest functions are kept.
const SLOWEST: usize = 5;

#[derive(Clone, Debug, Default)]
pub struct Effort {
    /// Stages in their order, wall time.
    pub stages: Vec<(&'static str, Duration)>,
    /// The functions that took longest, the slowest first.
    pub slowest: Vec<(String, Duration)>,
    /// The question to the solver that took longest, and the function that it was about.
    pub question: Option<(String, Duration)>,
}

impl Effort {
    /// Runs a stage.
    pub fn stage<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.stages.push((name, start.elapsed()));
        result
    }

    /// Takes note of a function.
    pub fn function(&mut self, name: &str, took: Duration, question: Duration) {
        let longest = self.question.as_ref().map_or(Duration::ZERO, |(_, d)| *d);
        if question > longest {
            self.question = Some((name.to_owned(), question));
        }
        let shortest = self.slowest.get(SLOWEST - 1).map_or(Duration::ZERO, |(_, d)| *d);
        if took > shortest {
            self.slowest.push((name.to_owned(), took));
            self.slowest.sort_by_key(|(_, d)| std::cmp::Reverse(*d));
            self.slowest.truncate(SLOWEST);
        }
    }
}
