//! `cargo xtask bench frontend`: what our work costs beside clang's own.
//!
//! Per project and round, in the same minute: the CPU time of `clang -O0 -c` over every unit; a cold
//! load (our own CPU time apart from clang's); a warm load. The medians of the rounds go into
//! `docs/benchmarks/frontend.md`.

use super::compile::compile_all;
use super::load::LoadCost;
use super::measure::{children_cpu, median, run_with_peak};
use super::projects::BenchProject;
use super::recipes::PROJECTS;
use super::{release_xtask, root, source_lines, work_folder};
use anyhow::{Context, Result, bail};
use leakproof_frontend::clang::Clang;
use leakproof_frontend::{Project, Request};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const ROUNDS: usize = 3;

/// One project's result.
struct Row {
    name: &'static str,
    build_system: &'static str,
    lines: usize,
    /// CPU seconds of `clang -O0 -c`.
    baseline: f64,
    /// CPU seconds of clang for bitcode with debug information.
    bitcode: f64,
    cold: f64,
    warm: f64,
    peak_mib: f64,
    cost: LoadCost,
    /// Units that clang compiles and we lost.
    lost: Vec<String>,
}

pub fn run(names: &[&str]) -> Result<()> {
    let chosen: Vec<&BenchProject> =
        PROJECTS.iter().filter(|p| names.is_empty() || names.contains(&p.name)).collect();
    if chosen.is_empty() {
        let known: Vec<_> = PROJECTS.iter().map(|p| p.name).collect();
        bail!("no such project; there are: {}", known.join(", "));
    }
    let xtask = release_xtask()?;
    let mut rows = Vec::new();
    for project in chosen {
        eprintln!("{} ...", project.name);
        let row = measure_project(project, &xtask)?;
        eprintln!("{}", row_text(&row));
        rows.push(row);
    }
    let text = page(&rows)?;
    print!("{text}");
    if names.is_empty() {
        let path = root().join("docs/benchmarks/frontend.md");
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        std::fs::write(path, text)?;
    }
    Ok(())
}

fn measure_project(project: &'static BenchProject, xtask: &Path) -> Result<Row> {
    let folder = project.prepare()?;
    let request = Request {
        cwd: folder.clone(),
        paths: vec!["compile_commands.json".into()],
        ..Request::default()
    };
    let units = Project::discover(&request)?;
    let cache = work_folder().join(format!("{}.cache", project.name));
    let mut samples: [Vec<f64>; 5] = Default::default();
    let mut row = None;
    for _ in 0..ROUNDS {
        let (baseline, failed) = children_cpu(|| compile_all(&units));
        let failed = failed?;
        std::fs::remove_dir_all(&cache).ok();
        let (cold, peak) = load_once(xtask, &folder, &cache)?;
        let (warm, _) = load_once(xtask, &folder, &cache)?;
        if warm.cached != cold.units {
            bail!(
                "{}: the warm run took {} of {} units from the cache",
                project.name,
                warm.cached,
                cold.units
            );
        }
        let values =
            [baseline, cold.children_cpu, cold.own_cpu, warm.own_cpu + warm.children_cpu, peak];
        samples.iter_mut().zip(values).for_each(|(s, v)| s.push(v));
        row = Some((cold, failed));
    }
    let (cost, failed) = row.context("no round was run")?;
    let [baseline, bitcode, cold, warm, peak_mib] = samples.map(|mut s| median(&mut s));
    let lost = cost
        .skipped
        .iter()
        .map(|(name, _)| name)
        .filter(|n| !failed.contains(*n))
        .cloned()
        .collect();
    let (name, build_system) = (project.name, project.build_system);
    let lines = source_lines(&units.units);
    Ok(Row { name, build_system, lines, baseline, bitcode, cold, warm, peak_mib, cost, lost })
}

fn load_once(xtask: &Path, folder: &Path, cache: &Path) -> Result<(LoadCost, f64)> {
    let mut command = Command::new(xtask);
    command.current_dir(folder).args(["bench-load", "compile_commands.json"]).arg(cache);
    let (output, peak) = run_with_peak(&mut command)?;
    Ok((serde_json::from_slice(&output)?, peak))
}

fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1} %", part / whole * 100.0) } else { "-".into() }
}

fn row_text(row: &Row) -> String {
    format!(
        "| {} | {} | {} | {:.1} | {} | {} | {:.2} | {:.2} | {:.2} | {} | {:.2} | {} | {:.0} |",
        row.name,
        row.build_system,
        row.cost.units,
        row.lines as f64 / 1000.0,
        row.cost.functions,
        row.lost.len(),
        row.baseline,
        row.bitcode,
        row.cold,
        percent(row.cold, row.baseline),
        row.warm,
        percent(row.warm, row.baseline),
        row.peak_mib,
    )
}

fn page(rows: &[Row]) -> Result<String> {
    let clang = Clang::locate()?.version()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut out = format!(
        "# Frontend benchmark\n\n\
         Made by `cargo xtask bench frontend`; do not edit. Median of {ROUNDS} rounds, {cores} cores, \
         {clang}.\n\n\
         *Ours* is the CPU time of the leakproof process itself: reading clang's bitcode, promotion to \
         SSA, lowering, writing the cache. *Warm* is all CPU time of a second run, in which no clang is \
         started. Both are compared to the CPU time of `clang -O0 -c` over the same units in the same \
         round. *Lost* counts units that clang compiles and that we do not get. *Peak* is the most memory \
         that leakproof and its clang processes held together.\n\n\
         | project | build system | units | KLoC | functions | lost | `clang -O0 -c` s | clang's bitcode s | \
         ours s | ours | warm s | warm | peak MiB |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
    );
    for row in rows {
        writeln!(out, "{}", row_text(row))?;
    }
    let sum = |f: fn(&Row) -> f64| rows.iter().map(f).sum::<f64>();
    let baseline = sum(|r| r.baseline);
    writeln!(
        out,
        "\nAll together: ours {} and warm {} of `clang -O0 -c`.",
        percent(sum(|r| r.cold), baseline),
        percent(sum(|r| r.warm), baseline)
    )?;
    for row in rows {
        for (name, reason) in &row.cost.skipped {
            writeln!(out, "\n- {}: skipped {name}: {reason}", row.name)?;
        }
    }
    Ok(out)
}
