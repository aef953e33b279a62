//! Measuring child processes: CPU time of a whole process tree, and its peak memory.

use anyhow::{Result, bail};
use leakproof_frontend::usage::Usage;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The kernel reports CPU time in these units.
const TICKS_PER_SECOND: f64 = 100.0;

/// CPU seconds that `work` spends in child processes that it waits for.
pub fn children_cpu<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let before = Usage::now().children_cpu;
    let result = work();
    (Usage::now().children_cpu - before, result)
}

/// What a process cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// CPU seconds of the process itself.
    pub own: f64,
    /// CPU seconds of the processes that it started.
    pub children: f64,
    pub wall: f64,
    /// The most memory that the process and its children held at one moment, looked at every few
    /// milliseconds.
    pub peak_mib: f64,
    /// The most memory that the process itself held.
    pub own_peak_mib: f64,
}

impl Cost {
    pub fn cpu(self) -> f64 {
        self.own + self.children
    }
}

/// Runs a command to its end, whatever that is.
pub fn run_measured(command: &mut Command) -> Result<(Output, Cost)> {
    let start = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let id = child.id();
    let (out, err) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let readers = [scope.spawn(move || read(out)), scope.spawn(move || read(err))];
        let mut cost = Cost::default();
        while !has_ended(&child)? {
            cost.peak_mib = cost.peak_mib.max(tree_mib(id));
            cost.own_peak_mib = cost.own_peak_mib.max(high_water_mib(id));
            std::thread::sleep(Duration::from_millis(5));
        }
        // It is not waited for yet, so the kernel still knows what it took.
        (cost.own, cost.children) = cpu(id);
        cost.wall = start.elapsed().as_secs_f64();
        let status = child.wait()?;
        let [stdout, stderr] = readers.map(|r| r.join().unwrap_or_default());
        Ok((Output { status, stdout, stderr }, cost))
    })
}

fn read(stream: Option<impl std::io::Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        stream.read_to_end(&mut bytes).ok();
    }
    bytes
}

/// Whether a child has ended; it stays there to be looked at.
fn has_ended(child: &Child) -> Result<bool> {
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        bail!("a child without a process id");
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    Ok(waitid(WaitId::Pid(pid), options)?.is_some())
}

/// CPU seconds of a process and of its children that have ended.
fn cpu(id: u32) -> (f64, f64) {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The command name in parentheses may hold spaces; the numbers start behind it.
    let numbers = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: Vec<f64> = numbers.skip(11).take(4).map(|n| n.parse().unwrap_or(0.0)).collect();
    let sum = |part: &[f64]| part.iter().sum::<f64>() / TICKS_PER_SECOND;
    ticks.split_at_checked(2).map_or((0.0, 0.0), |(own, children)| (sum(own), sum(children)))
}

/// Runs a command to its end and returns its standard output and the most memory (in MiB) that it
/// and its children held at one moment.
pub fn run_with_peak(command: &mut Command) -> Result<(Vec<u8>, f64)> {
    let (output, cost) = run_measured(command)?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok((output.stdout, cost.peak_mib))
}

/// A command with a limit of CPU seconds and of address space for each of its processes.
pub fn limited(command: &Command, seconds: f64, gib: u64) -> Command {
    let mut limited = Command::new("prlimit");
    limited.arg(format!("--cpu={}", seconds.ceil())).arg(format!("--as={}", gib << 30));
    limited.arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        limited.current_dir(directory);
    }
    limited.envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
    limited
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
    let pages = std::fs::read_to_string(format!("/proc/{id}/statm")).unwrap_or_default();
    let resident: f64 = pages.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0.0);
    resident * 4096.0 / f64::from(1 << 20)
}

/// The most memory that a process held so far.
fn high_water_mib(id: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = line.and_then(|l| l.split_whitespace().next()).and_then(|n| n.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

/// The middle one.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
