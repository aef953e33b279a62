//! The programs in `programs/`, each with one warning and the verdict it must get.
//!
//! A program marks its lines with `@alloc`, `@leak` and `@branch N T|F`, and says on its first lines what is
//! expected (`verdict: MUST-LEAK still-referenced`) and what it starts from (`file:`, `env:`,
//! `faults:`, `budget:`). This is a program of its own rather than a test harness, since it is also the
//! instrumenter that it starts.

use leakproof_frontend::clang::Clang;
use leakproof_frontend::{LoadOptions, Project, Request, Silent, load};
use leakproof_ir::Linkage;
use leakproof_validate::{
    Cause, Input, Options, Outcome, Qualifier, SourceUnit, Sources, Tools, Validator, Warning,
    default_seeds,
};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|a| a.ends_with(".bc")) {
        return match leakproof_instrument::run(&arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let has = |flag: &str| arguments.iter().any(|a| a == flag);
    let programs = programs(&arguments);
    if has("--list") {
        // As test runners ask; none of the programs is ignored.
        let names = programs.iter().filter(|_| !has("--ignored"));
        names.for_each(|p| println!("{}: test", name(p)));
        return ExitCode::SUCCESS;
    }
    let failed = check_all(&programs);
    println!("{} programs, {failed} failed", programs.len());
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn name(program: &Path) -> String {
    program.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The programs that a test runner's arguments choose.
fn programs(arguments: &[String]) -> Vec<PathBuf> {
    // The word after `--format` is no filter.
    let words = arguments.iter().enumerate().filter(|(_, a)| !a.starts_with('-'));
    let mut words = words.filter(|(i, _)| *i == 0 || arguments[i - 1] != "--format");
    let filter = words.next().map(|(_, a)| a.clone()).unwrap_or_default();
    let exact = arguments.iter().any(|a| a == "--exact") && !filter.is_empty();
    let chosen = |p: &PathBuf| if exact { name(p) == filter } else { name(p).contains(&filter) };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut programs: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the programs")
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "c" || e == "cpp"))
        .filter(chosen)
        .collect();
    programs.sort();
    assert!(!programs.is_empty() || !filter.is_empty(), "no programs");
    programs
}

/// All programs, two at a time; how many failed.
fn check_all(programs: &[PathBuf]) -> usize {
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = name(program);
                    let start = Instant::now();
                    let result = check(program);
                    let seconds = start.elapsed().as_secs_f64();
                    match result {
                        Ok(note) => println!("ok      {name} ({seconds:.1} s): {note}"),
                        Err(reason) => {
                            failed.fetch_add(1, Ordering::Relaxed);
                            println!("FAILED  {name} ({seconds:.1} s): {reason}");
                        }
                    }
                }
            });
        }
    });
    failed.into_inner()
}

/// What a program says about itself.
#[derive(Default)]
struct Expected {
    verdict: String,
    detail: String,
    faults: Vec<String>,
    budget: u64,
    seed: Input,
}

fn read_expected(text: &str) -> Expected {
    let mut e = Expected { budget: 60, ..Expected::default() };
    for line in text.lines().filter_map(|l| l.strip_prefix("// ")) {
        let Some((key, value)) = line.split_once(": ") else { continue };
        let pair = || value.split_once('=').map(|(a, b)| (a.to_owned(), b.as_bytes().to_vec()));
        match key {
            "verdict" => {
                let (verdict, detail) = value.split_once(' ').unwrap_or((value, ""));
                (e.verdict, e.detail) = (verdict.to_owned(), detail.to_owned());
            }
            "faults" => e.faults = value.split(' ').map(str::to_owned).collect(),
            "budget" => e.budget = value.parse().expect("seconds"),
            "file" => e.seed.files.extend(pair()),
            "env" => e.seed.environment.extend(pair()),
            _ => {}
        }
    }
    e
}

fn read_warning(path: &Path, text: &str) -> Warning {
    let mut parts = Vec::new();
    let mut branches = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let place = format!("{}:{}", path.display(), i + 1);
        if line.contains("@alloc") {
            parts.push(format!("alloc={place}"));
        }
        if line.contains("@leak") {
            parts.push(format!("leak={place}"));
        }
        if let Some((_, rest)) = line.split_once("@branch ") {
            branches.push((rest[..1].to_owned(), format!("branch={place}:{}", &rest[2..3])));
        }
    }
    branches.sort();
    parts.extend(branches.into_iter().map(|(_, b)| b));
    parts.join(",").parse().expect("a warning")
}

fn sources(path: &Path) -> Sources {
    let cwd = path.parent().expect("a folder").to_owned();
    let request = Request { cwd, paths: vec![path.to_owned()], ..Request::default() };
    let project = Project::discover(&request).expect("a project");
    let loaded = load(&project, &LoadOptions::default(), &Silent).expect("modules");
    let visible = |l: Linkage| l != Linkage::Internal;
    let units = project.units.iter().zip(&loaded.modules).map(|(unit, module)| SourceUnit {
        unit: unit.clone(),
        name: project.name(unit),
        defines: module
            .functions
            .values()
            .filter(|f| f.is_definition() && visible(f.linkage))
            .map(|f| f.name.clone())
            .collect(),
        needs: Vec::new(),
        files: vec![path.to_owned()],
    });
    Sources { units: units.collect(), links: Vec::new() }
}

fn check(path: &Path) -> Result<String, String> {
    let path = std::fs::canonicalize(path).map_err(|e| e.to_string())?;
    let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
    let expected = read_expected(&text);
    let warning = read_warning(&path, &text);
    let tools = Tools {
        clang: Clang::locate().map_err(|e| e.to_string())?,
        instrumenter: std::env::current_exe().map_err(|e| e.to_string())?,
        jobs: 1,
    };
    let programs = sources(&path).programs(&[]);
    let mut options = Options::default();
    options.search.budget = Duration::from_secs(expected.budget);
    let list = [warning.clone()];
    let validator =
        Validator::new(&programs[0], &list, &tools, options).map_err(|e| e.to_string())?;
    let seeds: Vec<Input> = default_seeds().into_iter().map(|s| s.beside(&expected.seed)).collect();
    let folder = std::env::temp_dir().join(format!(
        "leakproof-witness-{}-{}",
        std::process::id(),
        programs[0].name
    ));
    let outcome = validator.validate(&warning, &seeds, &folder, None).map_err(|e| e.to_string())?;
    let outcome = outcome.map_err(|e| e.to_string())?;
    let confirmed = folder.is_dir();
    std::fs::remove_dir_all(&folder).ok();
    let note = format!(
        "{} {} [{} runs, {} covering, {} guessed, {} queries, {} unsat, {} unknown, {:.1} s of {:.1}]",
        outcome.verdict.name(),
        outcome.reason,
        outcome.stats.runs,
        outcome.stats.covering,
        outcome.stats.guessed,
        outcome.stats.queries,
        outcome.stats.unsatisfiable,
        outcome.stats.unknown,
        outcome.stats.spent.as_secs_f64(),
        outcome.stats.elapsed.as_secs_f64()
    );
    fits(&expected, &outcome, confirmed).map_err(|e| format!("{e}; got {note}"))?;
    Ok(note)
}

fn fits(expected: &Expected, outcome: &Outcome, confirmed: bool) -> Result<(), String> {
    if outcome.verdict.name() != expected.verdict {
        return Err(format!("expected {}", expected.verdict));
    }
    match expected.detail.as_str() {
        "still-referenced" if outcome.qualifier != Some(Qualifier::StillReferenced) => {
            return Err("expected it to be still referenced".into());
        }
        "" if expected.verdict == "MUST-LEAK"
            && outcome.qualifier == Some(Qualifier::StillReferenced) =>
        {
            return Err("expected it to be lost".into());
        }
        "infeasible" if outcome.cause != Cause::InfeasiblePath || outcome.core.len() < 2 => {
            return Err("expected the path to be infeasible".into());
        }
        _ => {}
    }
    if expected.verdict == "MUST-LEAK" && !confirmed {
        return Err("its witness does not show the leak".into());
    }
    let Some(witness) = &outcome.witness else { return Ok(()) };
    for fault in &expected.faults {
        if !witness.faults.iter().any(|f| f.function == *fault) {
            return Err(format!("expected {fault} to fail"));
        }
    }
    Ok(())
}
