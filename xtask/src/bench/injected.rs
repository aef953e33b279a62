//! `cargo xtask bench injected|fresh|unseen|mixed|tools|later|last|random FOLDER [PROGRAM...]`: section 5.1 of the ISSTA 2013 paper.
//!
//! FOLDER is a configured coreutils 9.1 with a `compile_commands.json`; for `mixed` and those after it, the folder with the
//! trees of its list. In a copy the releases that a sample's list names are taken out (`free (x)` becomes
//! `(void) (x)`), one warning is made of each, and `leakproof validate` judges them. All of them are true leaks. The
//! result, when no programs are named, is the sample's page. One sample was tuned on; the others were added
//! later (docs/validate.md has their first figures, before anything was changed for them).

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
    /// One release per line: program, release, allocation (coreutils, in `src`), or tree, file with `main`, release,
    /// allocation.
    list: &'static str,
    page: &'static str,
    title: &'static str,
}

pub const TUNED: Sample = Sample {
    list: include_str!("injected/coreutils.txt"),
    page: "injected.md",
    title: "# Injected leaks\n\nMade by `cargo xtask bench injected FOLDER` from coreutils 9.1",
};

pub const FRESH: Sample = Sample {
    list: include_str!("injected/fresh.txt"),
    page: "fresh.md",
    title: "# Injected leaks in other programs\n\nMade by `cargo xtask bench fresh FOLDER` from coreutils 9.1",
};

pub const UNSEEN: Sample = Sample {
    list: include_str!("injected/unseen.txt"),
    page: "unseen.md",
    title: "# Injected leaks in a third set of programs\n\nMade by `cargo xtask bench unseen FOLDER` from coreutils 9.1",
};

pub const MIXED: Sample = Sample {
    list: include_str!("injected/mixed.txt"),
    page: "mixed.md",
    title: "# Injected leaks in programs of several packages\n\nMade by `cargo xtask bench mixed FOLDER`",
};

pub const TOOLS: Sample = Sample {
    list: include_str!("injected/tools.txt"),
    page: "tools.md",
    title: "# Injected leaks in tools of six packages\n\nMade by `cargo xtask bench tools FOLDER`",
};

pub const LATER: Sample = Sample {
    list: include_str!("injected/later.txt"),
    page: "later.md",
    title: "# Injected leaks in programs of four more packages\n\nMade by `cargo xtask bench later FOLDER`",
};

pub const LAST: Sample = Sample {
    list: include_str!("injected/last.txt"),
    page: "last.md",
    title: "# Injected leaks in other programs of these packages\n\nMade by `cargo xtask bench last FOLDER`",
};

pub const RANDOM: Sample = Sample {
    list: include_str!("injected/random.txt"),
    page: "random.md",
    title: "# Injected leaks in programs chosen at random\n\nMade by `cargo xtask bench random FOLDER`",
};

struct Injection {
    release: Place,
    allocation: Place,
}

/// A line of a file of a tree.
struct Place {
    file: String,
    line: usize,
}

impl Place {
    /// `FILE:LINE`, or `LINE` of the file with `main`; files are in its folder unless they name another.
    fn parse(main: &str, text: &str) -> Result<Self> {
        let (file, line) = text.split_once(':').unwrap_or((main, text));
        let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_whole = file.contains('/') || folder.is_empty();
        let file = if is_whole { file.to_owned() } else { format!("{folder}/{file}") };
        Ok(Self { file, line: line.parse()? })
    }
}

/// Where a program is: a tree below the sample's folder, and the file with `main` in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Origin {
    tree: String,
    main: String,
}

impl Origin {
    fn name(&self) -> &str {
        Path::new(&self.main).file_stem().and_then(|n| n.to_str()).unwrap_or_default()
    }
}

pub fn run(sample: &Sample, folder: &str, programs: &[&str]) -> Result<()> {
    let leakproof = Selection::default().leakproof()?;
    let mut text = format!(
        "{}; do not edit. Measured on {}. Section 5.1 \
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
    let mut copies: BTreeMap<String, PathBuf> = BTreeMap::new();
    for (origin, list) in injections(sample)?.into_iter().filter(|(o, _)| wanted(o.name())) {
        let program = origin.name();
        eprintln!("{program} ...");
        let copy = match copies.get(&origin.tree) {
            Some(copy) => copy.clone(),
            None => copy(&Path::new(folder).join(&origin.tree))?,
        };
        copies.insert(origin.tree.clone(), copy.clone());
        inject(&copy, &list)?;
        let report = validate(&leakproof, &copy, &origin.main, &list)?;
        for leak in report["leaks"].as_array().into_iter().flatten() {
            let verdict = leak["verdict"].as_str().unwrap_or("REJECTED").to_owned();
            let confirmed = confirmed(&copy, leak)?;
            unconfirmed += usize::from(verdict == "MUST-LEAK" && confirmed != "shows it");
            row(&mut text, (program, &copy), leak, &verdict, confirmed)?;
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

fn injections(sample: &Sample) -> Result<BTreeMap<Origin, Vec<Injection>>> {
    let mut all: BTreeMap<Origin, Vec<Injection>> = BTreeMap::new();
    for line in sample.list.lines().filter(|l| !l.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (tree, main, release, allocation) = match words.as_slice() {
            [program, release, allocation] => ("", format!("src/{program}.c"), release, allocation),
            [tree, main, release, allocation] => (*tree, (*main).to_owned(), release, allocation),
            _ => bail!("bad line: {line}"),
        };
        let injection = Injection {
            release: Place::parse(&main, release)?,
            allocation: Place::parse(&main, allocation)?,
        };
        all.entry(Origin { tree: tree.to_owned(), main }).or_default().push(injection);
    }
    Ok(all)
}

/// A copy whose databases name the copy.
fn copy(folder: &Path) -> Result<PathBuf> {
    let folder = std::fs::canonicalize(folder)?;
    let name = folder.file_name().unwrap_or_default();
    let to = work_folder().join("injected").join(name);
    if to.exists() {
        std::fs::remove_dir_all(&to)?;
    }
    std::fs::create_dir_all(work_folder().join("injected"))?;
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
        if !line.contains("free (") && !line.contains("free(") {
            bail!("{}:{}: no release; is this another version?", release.file, release.line);
        }
        *line = line.replace("free (", "(void) (").replace("free(", "(void) (");
        std::fs::write(path, lines.join("\n") + "\n")?;
    }
    Ok(())
}

fn validate(tool: &Path, copy: &Path, main: &str, list: &[Injection]) -> Result<Value> {
    let mut command = Command::new(tool);
    command.current_dir(copy).args(["validate", "-q", "-p", ".", "--format", "json"]);
    command.args(["--program", main, "--link-flags=-lgmp -lm"]);
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

fn row(
    text: &mut String,
    (program, copy): (&str, &Path),
    leak: &Value,
    verdict: &str,
    run: &str,
) -> Result<()> {
    let (allocation, release) = (&leak["alloc"]["line"], &leak["leak"]["line"]);
    let validation = &leak["validation"];
    // Where the copy lies is nobody's business.
    let reason = validation["reason"].as_str().unwrap_or("");
    let reason = reason.replace(&format!("{}/", copy.display()), "");
    let runs = validation["runs"].as_u64().unwrap_or(0);
    let line =
        format!("| {program} | {allocation} | {release} | {verdict} | {reason} | {runs} | {run} |");
    Ok(writeln!(text, "{line}")?)
}
