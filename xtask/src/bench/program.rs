//! `cargo xtask bench program`: how the cost of the whole-program part grows with the program.
//!
//! Per project: the CPU time of linking, of the points-to analysis and of the call graph, on modules
//! that come from the cache, against the number of instructions. The medians of the rounds go into
//! `docs/benchmarks/program.md` with the exponent of the growth.

use super::fit::power_law;
use super::measure::{median, run_with_peak};
use super::selection::{Selection, Tree};
use super::{machine, release_xtask, source_lines, store, work_folder, write_page};
use anyhow::{Context, Result, bail};
use leakproof_frontend::{LoadOptions, Project, Request, Silent, load};
use leakproof_models::Library;
use leakproof_program::{Andersen, CallGraph, Effects, Program};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROUNDS: usize = 3;
const KIND: &str = "program";

/// What one run of the part cost, in CPU seconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Cost {
    functions: usize,
    instructions: usize,
    link: f64,
    points_to: f64,
    call_graph: f64,
    effects: f64,
    objects: usize,
    indirect: usize,
    /// Indirect calls whose targets were guessed from the signature.
    guessed: usize,
}

/// One program, as it is kept.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Row {
    day: String,
    lines: usize,
    cost: Cost,
    peak_mib: f64,
}

impl Cost {
    fn total(&self) -> f64 {
        self.link + self.points_to + self.call_graph
    }
}

pub fn run(words: &[&str]) -> Result<()> {
    let selection = Selection::parse(words)?;
    if !selection.page_only {
        let xtask = release_xtask()?;
        for choice in selection.programs()? {
            if selection.again || store::kept::<Row>(KIND, choice.name()).is_none() {
                eprintln!("{} ...", choice.name());
                store::keep(KIND, choice.name(), &measure_tree(&choice.tree()?, &xtask)?)?;
            }
        }
    }
    let mut rows: Vec<(String, Row)> = store::all(KIND);
    rows.sort_by_key(|(_, r)| r.cost.instructions);
    let text = page(&rows)?;
    print!("{text}");
    write_page("program.md", &text)
}

fn measure_tree(tree: &Tree, xtask: &Path) -> Result<Row> {
    let cache = work_folder().join(format!("{}.cache", tree.name));
    let mut samples: [Vec<f64>; 5] = Default::default();
    let mut last = None;
    for _ in 0..ROUNDS {
        let mut command = Command::new(xtask);
        command.current_dir(&tree.folder).args(["bench-program", "compile_commands.json"]);
        let (output, peak) = run_with_peak(command.arg(&cache))?;
        let cost: Cost = serde_json::from_slice(&output)?;
        let values = [cost.link, cost.points_to, cost.call_graph, cost.effects, peak];
        samples.iter_mut().zip(values).for_each(|(s, v)| s.push(v));
        last = Some(cost);
    }
    let cost = last.context("no round was run")?;
    let [link, points_to, call_graph, effects, peak_mib] = samples.map(|mut s| median(&mut s));
    let cost = Cost { link, points_to, call_graph, effects, ..cost };
    let lines = source_lines(&tree.project()?.units);
    Ok(Row { day: machine::today(), lines, cost, peak_mib })
}

/// `xtask bench-program DATABASE CACHE`: measures once, in a process of its own.
pub fn measure(arguments: &[&str]) -> Result<()> {
    let &[database, cache] = arguments else { bail!("usage: xtask bench-program DATABASE CACHE") };
    let request = Request {
        cwd: std::env::current_dir()?,
        paths: vec![PathBuf::from(database)],
        ..Request::default()
    };
    let project = Project::discover(&request)?;
    let options = LoadOptions { jobs: 0, cache: Some(PathBuf::from(cache)) };
    let modules = load(&project, &options, &Silent)?.modules;
    let models = Library::shipped();
    let (link, program) = timed(|| Program::link(modules));
    let (points_to, pts) = timed(|| Andersen::solve(&program, models));
    let (call_graph, graph) = timed(|| CallGraph::build(&program, &pts, models));
    let (effects, _) = timed(|| Effects::new(&program, &pts, &graph, models));
    let bodies = program.definitions().filter_map(|f| program.function(f).body.as_ref());
    let calls = || program.definitions().flat_map(|f| graph.calls_of(f).map(|(_, t)| t));
    let several = calls().filter(|t| t.list.len() != 1 || !t.complete).count();
    let cost = Cost {
        functions: program.definition_list().len(),
        instructions: bodies.map(|b| b.insts.len()).sum(),
        link,
        points_to,
        call_graph,
        effects,
        objects: pts.stats().objects,
        indirect: several,
        guessed: calls().filter(|t| t.fallback).count(),
    };
    println!("{}", serde_json::to_string(&cost)?);
    Ok(())
}

/// CPU seconds of this process.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let now = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    };
    let before = now();
    let result = work();
    (now() - before, result)
}

fn page(rows: &[(String, Row)]) -> Result<String> {
    let mut days: Vec<&str> = rows.iter().map(|(_, r)| r.day.as_str()).collect();
    days.sort_unstable();
    days.dedup();
    let mut out = format!(
        "# Whole-program benchmark\n\n\
         Made by `cargo xtask bench program`; do not edit. Measured on {}. CPU seconds, median of {ROUNDS} rounds. *Points-to* \
         is the pointer analysis with everything that it needs (wrappers of allocators, types of heap \
         objects), *effects* what calls may read, write and release. *Open calls* have no, several or \
         unknown targets; *by signature* counts those of them that only the signature decides. *Per 100k* is \
         linking, points-to and call graph for 100,000 instructions of our IR.\n\n\
         | program | KLoC | functions | instructions | objects | link | points-to | call graph | effects | \
         per 100k | open calls | by signature | peak MiB |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        days.join(" and ")
    );
    for (name, Row { lines, cost, peak_mib, .. }) in rows {
        writeln!(
            out,
            "| {name} | {:.1} | {} | {} | {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {} | {} | {peak_mib:.0} |",
            *lines as f64 / 1000.0,
            cost.functions,
            cost.instructions,
            cost.objects,
            cost.link,
            cost.points_to,
            cost.call_graph,
            cost.effects,
            cost.total() / cost.instructions as f64 * 1e5,
            cost.indirect,
            cost.guessed,
        )?;
    }
    let over = |least: f64| {
        let grows = |cost: fn(&Cost) -> f64| growth(rows, least, cost);
        format!(
            "linking, points-to and call graph together {}, points-to alone {}, effects {}",
            grows(Cost::total),
            grows(|c| c.points_to),
            grows(|c| c.effects)
        )
    };
    writeln!(
        out,
        "\nThe cost grows as instructions to a power of (least squares on logarithms), over the programs that cost \
         0.05 s and more: {}. Over all programs: {}; small programs of few pointers cost next to nothing, which \
         makes that one steeper.",
        over(0.05),
        over(0.0)
    )?;
    Ok(out)
}

/// The exponent of the growth over programs of at least this cost.
fn growth(rows: &[(String, Row)], least: f64, cost: fn(&Cost) -> f64) -> String {
    let points = rows.iter().map(|(_, r)| (r.cost.instructions as f64, cost(&r.cost)));
    let law = power_law(points.filter(|&(_, cost)| cost >= least));
    law.map_or("(too few)".to_owned(), |l| format!("{:.2}", l.exponent))
}
