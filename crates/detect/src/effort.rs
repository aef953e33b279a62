//! How long an analysis took, and what took longest: for `--stats`, never part of the result.

use crate::component::Outcome;
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
    /// Functions, and those of them whose results an earlier analysis gave.
    pub functions: u64,
    pub reused: u64,
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
    pub fn function(&mut self, outcome: &Outcome) {
        let Outcome { name, took, longest_question: question, .. } = outcome;
        let (took, question) = (*took, *question);
        self.functions += u64::from(!outcome.again);
        self.reused += u64::from(!outcome.again && outcome.reused);
        let longest = self.question.as_ref().map_or(Duration::ZERO, |(_, d)| *d);
        if question > longest {
            self.question = Some((name.clone(), question));
        }
        let shortest = self.slowest.get(SLOWEST - 1).map_or(Duration::ZERO, |(_, d)| *d);
        if took > shortest {
            self.slowest.push((name.clone(), took));
            self.slowest.sort_by_key(|(_, d)| std::cmp::Reverse(*d));
            self.slowest.truncate(SLOWEST);
        }
    }
}
