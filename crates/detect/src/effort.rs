//! How long an analysis took, and what took longest: for `--stats`, never part of the result.

use crate::component::Outcome;
use std::time::{Duration, Instant};

/// How many of the slowest functions are kept.
const SLOWEST: usize = 5;

/// One step of the analysis.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    pub name: &'static str,
    /// Wall time.
    pub took: Duration,
    /// Peak memory of the process when it was done, in MiB.
    pub peak_mib: f64,
}

/// Tells the peak memory of the process in MiB. The analysis itself asks nothing of the system.
pub type Meter = fn() -> f64;

impl Stage {
    /// Does the work.
    pub fn run<T>(name: &'static str, meter: Meter, work: impl FnOnce() -> T) -> (T, Stage) {
        let start = Instant::now();
        let result = work();
        (result, Stage { name, took: start.elapsed(), peak_mib: meter() })
    }
}

#[derive(Clone, Debug, Default)]
pub struct Effort {
    /// Stages in their order.
    pub stages: Vec<Stage>,
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
    pub fn stage<T>(&mut self, name: &'static str, meter: Meter, work: impl FnOnce() -> T) -> T {
        let (result, stage) = Stage::run(name, meter, work);
        self.stages.push(stage);
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
