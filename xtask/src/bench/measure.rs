//! Measuring child processes: CPU time of a whole process tree, and its peak memory.

use anyhow::{Result, bail};
use leakproof_frontend::usage::Usage;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// CPU seconds that `work` spends in child processes that it waits for.
pub fn children_cpu<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let before = Usage::now().children_cpu;
    let result = work();
    (Usage::now().children_cpu - before, result)
}

/// Runs a command to its end and returns its standard output and the most memory (in MiB) that it
/// and its children held at one moment, looked at every few milliseconds.
pub fn run_with_peak(command: &mut Command) -> Result<(Vec<u8>, f64)> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let id = child.id();
    let output = std::thread::scope(|scope| {
        let reader = scope.spawn(move || child.wait_with_output());
        let mut peak = 0.0_f64;
        while !reader.is_finished() {
            peak = peak.max(tree_mib(id));
            std::thread::sleep(Duration::from_millis(5));
        }
        reader.join().map(|output| (output, peak))
    });
    let Ok((output, peak)) = output else { bail!("the reader of a child process died") };
    let output = output?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", output.status);
    }
    Ok((output.stdout, peak))
}

/// Memory held now by a process and its direct children.
fn tree_mib(id: u32) -> f64 {
    let children = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let children = children.flat_map(|task| {
        let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        list.split_whitespace().filter_map(|n| n.parse().ok()).collect::<Vec<u32>>()
    });
    children.chain([id]).map(resident_mib).sum()
}

fn resident_mib(id: u32) -> f64 {
    let path = format!("/proc/{id}/statm");
    let pages = std::fs::read_to_string(Path::new(&path)).unwrap_or_default();
    let resident: f64 = pages.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0.0);
    resident * 4096.0 / f64::from(1 << 20)
}

/// The middle one.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
