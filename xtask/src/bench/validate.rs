//! `cargo xtask bench validate`: how fast runs are, and what tracking objects adds to them.
//!
//! Throughput: searches of fixed length over some programs of the test suite, in runs per minute. Overhead:
//! three programs that work on many objects of the tracked site, with and without tracking, as table 1 of
//! the ISSTA 2013 paper compares them. The result is `docs/benchmarks/validate.md`.

use super::measure::{children_cpu, median};
use super::{machine, root, target_folder, work_folder, write_page};
use anyhow::{Context, Result, bail};
use leakproof_frontend::clang::Clang;
use leakproof_frontend::{Project, Request};
use leakproof_validate::{
    Input, Options, RunOptions, SourceUnit, Sources, Tools, Validator, Warning, default_seeds,
};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Programs of the suite whose search goes on for long.
const SEARCHED: &[&str] =
    &["behind_a_hash", "infeasible_path", "list_of_owner", "paper_bloat", "stale_buffer"];
const MEASURED: &[&str] = &["words", "tree", "rows"];
const ROUNDS: usize = 9;
const RUNS: u64 = 1000;

pub fn run() -> Result<()> {
    let tools = tools()?;
    let mut text = format!(
        "# Validation benchmark\n\n\
         Made by `cargo xtask bench validate`; do not edit. Measured on {}. *Guesses* are inputs that were found \
         without the solver. The searches stop after their runs or after 20 \
         seconds of processor time; *runs per minute* counts processor time of the search, the solver \
         and the runs, on one core.\n\n\
         | program | runs | guesses | questions to the solver | CPU s | runs per minute |\n|---|---|---|---|---|---|\n",
        machine::today()
    );
    for name in SEARCHED {
        eprintln!("{name} ...");
        throughput(&mut text, name, &tools)?;
    }
    text.push_str(&format!(
        "\nProcessor time of one run in milliseconds, median of {ROUNDS}. *Native* is the program as \
         clang -O1 makes it; *plain* is instrumented, with nothing switched on; *symbolic* follows \
         expressions; *overhead* is what tracking adds to a symbolic run (bound: 30 %).\n\n\
         | program | native | plain | tracking | symbolic | symbolic and tracking | overhead |\n|---|---|---|---|---|---|---|\n"
    ));
    for name in MEASURED {
        eprintln!("{name} ...");
        overhead(&mut text, name, &tools)?;
    }
    print!("{text}");
    write_page("validate.md", &text)
}

/// The instrumenter is a program of its own; it is built first.
fn tools() -> Result<Tools> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()).args(["build", "--quiet", "--release", "-p", "leakproof"]);
    if !cargo.args(["--bin", "leakproof-instrument"]).status()?.success() {
        bail!("the instrumenter does not build");
    }
    let instrumenter = target_folder().join("release/leakproof-instrument");
    Ok(Tools { clang: Clang::locate()?, instrumenter, jobs: 1 })
}

/// The warning that a program's `@alloc` and `@leak` marks describe.
fn warning(path: &Path) -> Result<Warning> {
    let text = std::fs::read_to_string(path)?;
    let line = |mark: &str| {
        let at = text.lines().position(|l| l.contains(mark));
        at.map(|i| i + 1).with_context(|| format!("{}: no {mark}", path.display()))
    };
    let (alloc, leak) = (line("@alloc")?, line("@leak")?);
    let name = path.display();
    Ok(format!("alloc={name}:{alloc},leak={name}:{leak}").parse()?)
}

fn validator(path: &Path, warning: &Warning, tools: &Tools) -> Result<Validator> {
    let cwd = path.parent().context("no folder")?.to_owned();
    let request = Request { cwd, paths: vec![path.to_owned()], ..Request::default() };
    let project = Project::discover(&request)?;
    let units = project.units.iter().map(|unit| SourceUnit {
        unit: unit.clone(),
        name: project.name(unit),
        defines: vec!["main".to_owned()],
        needs: Vec::new(),
        files: vec![path.to_owned()],
    });
    let programs = Sources { units: units.collect(), links: Vec::new() }.programs(&[]);
    let mut options = Options::default();
    options.search.budget = Duration::from_secs(20);
    options.search.max_runs = RUNS;
    let list = [warning.clone()];
    Ok(Validator::new(programs.first().context("no program")?, &list, tools, options)?)
}

fn throughput(text: &mut String, name: &str, tools: &Tools) -> Result<()> {
    let path = root().join("crates/validate/tests/programs").join(format!("{name}.c"));
    let warning = warning(&path)?;
    let validator = validator(&path, &warning, tools)?;
    let witness = work_folder().join("validate").join(name);
    let outcome = validator.validate(&warning, &default_seeds(), &witness, None)?;
    let stats = outcome.map_err(|r| anyhow::anyhow!("{r}"))?.stats;
    let seconds = stats.spent.as_secs_f64();
    let rate = stats.runs as f64 * 60.0 / seconds.max(1e-6);
    let (runs, guesses, questions) = (stats.runs, stats.guessed, stats.queries);
    writeln!(text, "| {name} | {runs} | {guesses} | {questions} | {seconds:.1} | {rate:.0} |")?;
    Ok(())
}

/// Words of one to seven letters; always the same.
fn input() -> Input {
    let mut state = 1u32;
    let mut stdin = Vec::new();
    while stdin.len() < 4000 {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12345);
        let letter = b'a' + (state >> 16) as u8 % 26;
        stdin.push(if (state >> 24).is_multiple_of(5) { b' ' } else { letter });
    }
    Input { stdin, ..Input::with_arguments(Vec::new()) }
}

fn overhead(text: &mut String, name: &str, tools: &Tools) -> Result<()> {
    let path = root().join("xtask/src/bench/validate").join(format!("{name}.c"));
    let warning = warning(&path)?;
    let validator = validator(&path, &warning, tools)?;
    let input = input();
    let time = |symbolic: bool, tracked: bool| -> Result<f64> {
        let options = RunOptions { symbolic, tracked, ..RunOptions::default() };
        let mut samples = Vec::new();
        for _ in 0..ROUNDS {
            samples.push(validator.run_time(&warning, &input, options)?.as_secs_f64() * 1e3);
        }
        Ok(median(&mut samples))
    };
    let native = native(&path, &input, tools)?;
    let (plain, tracking) = (time(false, false)?, time(false, true)?);
    let (symbolic, both) = (time(true, false)?, time(true, true)?);
    let added = (both / symbolic - 1.0) * 100.0;
    writeln!(
        text,
        "| {name} | {native:.1} | {plain:.1} | {tracking:.1} | {symbolic:.1} | {both:.1} | {added:.0} % |"
    )?;
    Ok(())
}

/// Milliseconds of the program without us; from many runs, since the kernel counts in large steps.
fn native(path: &Path, input: &Input, tools: &Tools) -> Result<f64> {
    const REPEATED: u32 = 50;
    let folder = super::work_folder();
    std::fs::create_dir_all(&folder)?;
    let (program, stdin) = (folder.join("native"), folder.join("native.in"));
    std::fs::write(&stdin, &input.stdin)?;
    let mut clang = Command::new(&tools.clang.path);
    if !clang.arg("-O1").arg("-w").arg(path).arg("-o").arg(&program).status()?.success() {
        bail!("{}: does not compile", path.display());
    }
    let (seconds, result) = children_cpu(|| -> Result<()> {
        for _ in 0..REPEATED {
            let file = std::fs::File::open(&stdin)?;
            Command::new(&program).stdin(file).stdout(Stdio::null()).status()?;
        }
        Ok(())
    });
    result?;
    Ok(seconds * 1e3 / f64::from(REPEATED))
}
