//! `cargo xtask bench injected|fresh|unseen FOLDER [PROGRAM...]`: section 5.1 of the ISSTA 2013 paper on coreutils.
//!
//! FOLDER is a configured coreutils 9.1 with a `compile_commands.json`. In a copy of it the releases that
//! a sample's list names are taken out (`free (x)` becomes `(void) (x)`), one warning is made of
//! each, and `leakproof validate` judges them. All of them are true leaks. The result, when no programs
//! are named, is the sample's page. There are three samples: one that the search was tuned on, and two that
//! were added later (docs/validate.md has their first figures, before anything was changed for them).

use super::selection::Selection;
use super::{machine, work_folder, write_page};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Releases to take out, and the page about them.
pub struct Sample {
    list: &'static str,
    page: &'static str,
    title: &'static str,
}

pub const TUNED: Sample = Sample {
    list: include_str!("injected/coreutils.txt"),
    page: "injected.md",
    title: "# Injected leaks\n\nMade by `cargo xtask bench injected FOLDER`",
};

pub const FRESH: Sample = Sample {
    list: include_str!("injected/fresh.txt"),
    page: "fresh.md",
    title: "# Injected leaks in other programs\n\nMade by `cargo xtask bench fresh FOLDER`",
};

pub const UNSEEN: Sample = Sample {
    list: include_str!("injected/unseen.txt"),
    page: "unseen.md",
    title: "# Injected leaks in a third set of programs\n\nMade by `cargo xtask bench unseen FOLDER`",
};

struct Injection {
    release: Place,
    allocation: Place,
}

/// A line of a file in `src/`.
struct Place {
    file: String,
    line: usize,
}

impl Place {
    /// `LINE` of the program's own file, or `FILE:LINE`.
    fn parse(program: &str, text: &str) -> Result<Self> {
        let (file, line) = match text.split_once(':') {
            Some((file, line)) => (file.to_owned(), line),
            None => (format!("{program}.c"), text),
        };
        Ok(Self { file: format!("src/{file}"), line: line.parse()? })
    }
}

pub fn run(sample: &Sample, folder: &str, programs: &[&str]) -> Result<()> {
    let copy = copy(Path::new(folder))?;
    let leakproof = Selection::default().leakproof()?;
    let mut text = format!(
        "{} from coreutils 9.1; do not edit. Measured on {}. Section 5.1 \
         of the ISSTA 2013 paper: each row is one release that was taken out of the program (`free (x)` became \
         `(void) (x)`), and the warning made of it (allocation, place of the release; no branches). All are \
         true leaks. Nothing but the default seeds is given. Budget: 60 s of processor time for each.\n\n\
         | program | allocation | release | verdict | reason | runs | run.sh |\n|---|---|---|---|---|---|---|\n",
        sample.title,
        machine::today()
    );
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut unconfirmed = 0;
    let wanted = |name: &str| programs.is_empty() || programs.contains(&name);
    for (program, list) in injections(sample)?.into_iter().filter(|(p, _)| wanted(p)) {
        eprintln!("{program} ...");
        inject(&copy, &list)?;
        let report = validate(&leakproof, &copy, &program, &list)?;
        for leak in report["leaks"].as_array().into_iter().flatten() {
            let verdict = leak["verdict"].as_str().unwrap_or("REJECTED").to_owned();
            let confirmed = confirmed(&copy, leak)?;
            unconfirmed += usize::from(verdict == "MUST-LEAK" && confirmed != "shows it");
            row(&mut text, &program, leak, &verdict, confirmed)?;
            *counts.entry(verdict).or_default() += 1;
        }
    }
    let total: usize = counts.values().sum();
    let of = |v: &str| counts.get(v).copied().unwrap_or(0);
    let decided = total - of("MAY-LEAK") - of("REJECTED");
    writeln!(
        text,
        "\n{decided} of {total} decided ({:.0} %); {} MUST-LEAK, of these {unconfirmed} not shown by their \
         `run.sh`; {} true leaks called LIKELY-NOT-LEAK or BLOAT.",
        100.0 * decided as f64 / total.max(1) as f64,
        of("MUST-LEAK"),
        of("LIKELY-NOT-LEAK") + of("BLOAT"),
    )?;
    print!("{text}");
    if programs.is_empty() {
        write_page(sample.page, &text)?;
    }
    Ok(())
}

fn injections(sample: &Sample) -> Result<BTreeMap<String, Vec<Injection>>> {
    let mut all: BTreeMap<String, Vec<Injection>> = BTreeMap::new();
    for line in sample.list.lines().filter(|l| !l.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [program, release, allocation] = words.as_slice() else { bail!("bad line: {line}") };
        let injection = Injection {
            release: Place::parse(program, release)?,
            allocation: Place::parse(program, allocation)?,
        };
        all.entry((*program).to_owned()).or_default().push(injection);
    }
    Ok(all)
}

/// A copy whose databases name the copy.
fn copy(folder: &Path) -> Result<PathBuf> {
    let folder = std::fs::canonicalize(folder)?;
    let to = work_folder().join("injected");
    if to.exists() {
        std::fs::remove_dir_all(&to)?;
    }
    std::fs::create_dir_all(work_folder())?;
    if !Command::new("cp").arg("-a").arg(&folder).arg(&to).status()?.success() {
        bail!("{}: cannot be copied", folder.display());
    }
    let to = std::fs::canonicalize(to)?;
    let database = to.join("compile_commands.json");
    let text = std::fs::read_to_string(&database).context("no compile_commands.json")?;
    let moved = |text: &str| text.replace(&folder.display().to_string(), &to.display().to_string());
    std::fs::write(&database, moved(&text))?;
    let links = to.join("link_commands.json");
    if let Ok(text) = std::fs::read_to_string(&links) {
        std::fs::write(&links, moved(&text))?;
    }
    Ok(to)
}

fn inject(copy: &Path, list: &[Injection]) -> Result<()> {
    for Injection { release, .. } in list {
        let path = copy.join(&release.file);
        let text = std::fs::read_to_string(&path)?;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let line = lines.get_mut(release.line - 1).context("no such line")?;
        if !line.contains("free (") {
            bail!("{}:{}: no release; is this coreutils 9.1?", release.file, release.line);
        }
        *line = line.replace("free (", "(void) (");
        std::fs::write(path, lines.join("\n") + "\n")?;
    }
    Ok(())
}

fn validate(tool: &Path, copy: &Path, program: &str, list: &[Injection]) -> Result<Value> {
    let mut command = Command::new(tool);
    let file = format!("src/{program}.c");
    command.current_dir(copy).args(["validate", "-q", "-p", ".", "--format", "json"]);
    command.args(["--program", &file, "--link-flags=-lgmp"]);
    for i in list {
        let place = |p: &Place| format!("{}:{}", p.file, p.line);
        let warning = format!("alloc={},leak={}", place(&i.allocation), place(&i.release));
        command.args(["--warning", &warning]);
    }
    let output = command.output()?;
    serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What a witness's own script says.
fn confirmed(copy: &Path, leak: &Value) -> Result<&'static str> {
    let Some(witness) = leak["validation"]["witness"].as_str() else { return Ok("") };
    let script = copy.join(witness).join("run.sh");
    let status = Command::new("sh").arg(script).output()?.status;
    Ok(if status.success() { "shows it" } else { "does not show it" })
}

fn row(text: &mut String, program: &str, leak: &Value, verdict: &str, run: &str) -> Result<()> {
    let (allocation, release) = (&leak["alloc"]["line"], &leak["leak"]["line"]);
    let validation = &leak["validation"];
    let reason = validation["reason"].as_str().unwrap_or("");
    let runs = validation["runs"].as_u64().unwrap_or(0);
    let line =
        format!("| {program} | {allocation} | {release} | {verdict} | {reason} | {runs} | {run} |");
    Ok(writeln!(text, "{line}")?)
}
