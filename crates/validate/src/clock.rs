//! How much of a budget is used up: processor time of the search and of the runs it made.
//!
//! Wall-clock time says more about the machine's other work than about the search, so it is only the
//! last resort: a search may take a few times its budget of it.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// Wall-clock time allowed, in budgets.
const PATIENCE: u32 = 5;

/// Belongs to the thread that made it.
pub struct Clock {
    start: Instant,
    own_start: Duration,
    runs: Duration,
}

/// Processor time of this thread.
fn own_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

impl Clock {
    pub fn start() -> Self {
        Self { start: Instant::now(), own_start: own_time(), runs: Duration::ZERO }
    }

    /// A run used this much.
    pub fn add_run(&mut self, time: Duration) {
        self.runs += time;
    }

    pub fn spent(&self) -> Duration {
        own_time().saturating_sub(self.own_start) + self.runs
    }

    /// How much longer than usual a run of this length is, in powers of two; `count` runs were made.
    pub fn slowness(&self, run: Duration, count: u64) -> u32 {
        const SHORT: Duration = Duration::from_millis(20);
        let usual = (self.runs / u32::try_from(count).unwrap_or(u32::MAX).max(1)).max(SHORT);
        let times = run.as_micros() / usual.as_micros().max(1);
        times.checked_ilog2().unwrap_or(0)
    }

    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    pub fn is_over(&self, budget: Duration) -> bool {
        self.spent() >= budget || self.elapsed() >= budget.saturating_mul(PATIENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_slow_as_others_are_fast() {
        let mut clock = Clock::start();
        (0..10).for_each(|_| clock.add_run(Duration::from_millis(1)));
        let slowness = |ms| clock.slowness(Duration::from_millis(ms), 10);
        assert_eq!([slowness(0), slowness(20), slowness(90), slowness(2000)], [0, 0, 2, 6]);
    }

    #[test]
    fn runs_count_and_waiting_does_not() {
        let mut clock = Clock::start();
        std::thread::sleep(Duration::from_millis(30));
        assert!(clock.spent() < Duration::from_millis(25));
        clock.add_run(Duration::from_secs(2));
        assert!(clock.is_over(Duration::from_secs(2)));
        assert!(!clock.is_over(Duration::from_secs(3)));
        assert!(clock.is_over(Duration::from_millis(1)));
    }
}
