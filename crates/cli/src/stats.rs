//! What `--stats` prints: where time and memory went, and what took longest.

use leakproof_detect::{Effort, Stage};
use leakproof_frontend::Timings;
use leakproof_frontend::usage::Usage;
use std::fmt;
use std::time::Duration;

pub struct StatsTable<'a> {
    pub wall: Duration,
    pub frontend: Timings,
    pub effort: &'a Effort,
}

impl fmt::Display for StatsTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "stats: wall {:.2} s; {}", self.wall.as_secs_f64(), Usage::now())?;
        let frontend = [
            ("clang (all workers)", self.frontend.clang),
            ("lowering (all workers)", self.frontend.lower),
            ("unit cache (all workers)", self.frontend.cache),
        ];
        for (name, took) in frontend {
            writeln!(f, "  {name:<26} {:>9.3} s", took.as_secs_f64())?;
        }
        for Stage { name, took, peak_mib } in &self.effort.stages {
            let took = took.as_secs_f64();
            writeln!(f, "  {name:<26} {took:>9.3} s  {peak_mib:>6.0} MiB at most so far")?;
        }
        let Effort { functions, reused, .. } = self.effort;
        writeln!(f, "  {:<26} {reused:>9} of {functions}", "functions from the cache")?;
        for (i, (name, took)) in self.effort.slowest.iter().enumerate() {
            let title = if i == 0 { "slowest functions" } else { "" };
            writeln!(f, "  {title:<26} {:>9.3} s  {name}", took.as_secs_f64())?;
        }
        if let Some((name, took)) = &self.effort.question {
            writeln!(f, "  {:<26} {:>9.3} s  in {name}", "slowest question", took.as_secs_f64())?;
        }
        Ok(())
    }
}
