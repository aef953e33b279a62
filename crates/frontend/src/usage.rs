//! What the run cost: CPU time of this process and of its children, and peak memory, from `/proc`.
//!
//! Children count only once they have ended.

use std::fmt;

/// The kernel reports CPU time in these units.
const TICKS_PER_SECOND: f64 = 100.0;

/// Costs so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub own_cpu: f64,
    pub children_cpu: f64,
    pub peak_mib: f64,
}

impl Usage {
    /// Reads what can be read; what cannot is 0.
    pub fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // The command name in parentheses may hold spaces; the numbers start behind it.
        let fields: Vec<f64> = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .map(|f| f.parse().unwrap_or(0.0))
            .collect();
        let ticks = |a: usize, b: usize| {
            (fields.get(a).unwrap_or(&0.0) + fields.get(b).unwrap_or(&0.0)) / TICKS_PER_SECOND
        };
        Self { own_cpu: ticks(11, 12), children_cpu: ticks(13, 14), peak_mib: peak_mib() }
    }
}

fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = line.and_then(|l| l.split_whitespace().next()).and_then(|n| n.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CPU {:.2} s own, {:.2} s children; peak memory {:.0} MiB",
            self.own_cpu, self.children_cpu, self.peak_mib
        )
    }
}
