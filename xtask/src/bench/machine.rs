//! The machine that a result comes from, and the day, in words for a page.

use std::process::Command;

/// `2 cores (NAME), 23 GiB of memory`.
pub fn shape() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|l| l.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, name)| name.trim());
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = memory.lines().find_map(|l| l.strip_prefix("MemTotal:")?.split_whitespace().next());
    let gib = kib.and_then(|k| k.parse::<f64>().ok()).unwrap_or(0.0) / f64::from(1 << 20);
    format!("{cores} cores ({model}), {gib:.0} GiB of memory")
}

/// Today, as year-month-day.
pub fn today() -> String {
    let output = Command::new("date").args(["-u", "+%F"]).output();
    output
        .map_or_else(|_| "unknown day".into(), |o| String::from_utf8_lossy(&o.stdout).trim().into())
}

/// The first line that `PROGRAM --version` prints, if there is such a program.
pub fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned())
}

/// How many processes wanted to run in the last minute.
pub fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0.0)
}
