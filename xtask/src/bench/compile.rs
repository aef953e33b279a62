//! The yardstick: `clang -O0 -c` over the units of a project.

use super::measure::children_cpu;
use anyhow::{Context, Result};
use leakproof_frontend::clang::Clang;
use leakproof_frontend::{Project, SourceKind, Unit};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};

/// `clang -O0 -c` on every unit, as many at once as there are cores. Returns those that fail.
pub fn compile_all(project: &Project) -> Result<BTreeSet<String>> {
    let units = &project.units;
    let clang = Clang::locate()?;
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failed = std::sync::Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for _ in 0..leakproof_frontend::worker_count(0, units.len()) {
            scope.spawn(|| {
                while let Some(unit) =
                    units.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    if !compile(&clang, unit)
                        && let Ok(mut failed) = failed.lock()
                    {
                        failed.insert(project.name(unit));
                    }
                }
            });
        }
    });
    failed.into_inner().ok().context("a worker died")
}

/// CPU seconds of `clang -O0 -c` of each unit, one after the other; `None` when it fails.
pub fn compile_each(project: &Project) -> Result<Vec<Option<f64>>> {
    let clang = Clang::locate()?;
    let one = |unit| {
        let (seconds, fine) = children_cpu(|| compile(&clang, unit));
        fine.then_some(seconds)
    };
    Ok(project.units.iter().map(one).collect())
}

/// What `-x` is told about a unit.
pub fn language(unit: &Unit) -> &'static str {
    if unit.kind == SourceKind::Cxx { "c++" } else { "c" }
}

fn compile(clang: &Clang, unit: &Unit) -> bool {
    let mut command = Command::new(&clang.path);
    command.current_dir(&unit.directory).args(&unit.flags);
    command.args(["-O0", "-w", "-Wno-everything", "-c", "-o", "/dev/null", "-x", language(unit)]);
    command.arg(&unit.source).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success())
}
