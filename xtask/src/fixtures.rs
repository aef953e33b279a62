//! `cargo xtask fixtures`: recall and precision over `tests/fixtures`, by idiom.
//!
//! In: the release binary (built first, unless `--binary` names one) and the fixtures, or those of another
//! folder (`--root DIR`). Out: the table, and with `-v` every difference. `--truth` checks the fixtures
//! instead (see `truth`). `--update` removes markers of known failures that are none any more; it never
//! adds one, since a failure needs a reason.

#[path = "../../crates/cli/tests/suite/mod.rs"]
mod suite;
#[path = "truth.rs"]
mod truth;

use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use suite::compare::Outcome;

#[derive(Default)]
struct Options {
    binary: Option<PathBuf>,
    root: Option<PathBuf>,
    filter: String,
    verbose: bool,
    update: bool,
    truth: bool,
}

pub fn run(words: &[&str]) -> Result<()> {
    let options = parse(words)?;
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = options.root.unwrap_or_else(|| workspace.join("tests/fixtures"));
    if options.truth {
        return check_truth(&root, &options.filter);
    }
    let binary = match options.binary {
        Some(path) => path.canonicalize().with_context(|| path.display().to_string())?,
        None => build(&workspace)?,
    };
    let outcomes = suite::run_all(&binary, &root, &options.filter).map_err(anyhow::Error::msg)?;
    if options.verbose {
        outcomes.iter().flat_map(Outcome::failures).for_each(|f| println!("{f}"));
    }
    if options.update {
        outcomes.iter().try_for_each(|o| remove_stale(&root, o))?;
    }
    print!("{}", suite::table::render(&outcomes));
    Ok(())
}

fn check_truth(root: &Path, filter: &str) -> Result<()> {
    let cases = suite::discover::cases(root).map_err(anyhow::Error::msg)?;
    let cases: Vec<_> = cases.into_iter().filter(|c| c.name.contains(filter)).collect();
    let scratch = std::env::temp_dir().join(format!("leakproof-truth-{}", std::process::id()));
    let truth = truth::check(root, &cases, &scratch);
    std::fs::remove_dir_all(&scratch).ok();
    let truth = truth?;
    println!("{} functions run; no function of: {}", truth.functions, truth.not_run.join(", "));
    ensure!(truth.wrong.is_empty(), "the fixtures are wrong:\n{}", truth.wrong.join("\n"));
    Ok(())
}

fn parse(words: &[&str]) -> Result<Options> {
    let mut options = Options::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "-v" => options.verbose = true,
            "--truth" => options.truth = true,
            "--update" => options.update = true,
            "--root" => options.root = words.next().map(PathBuf::from),
            "--binary" => options.binary = words.next().map(PathBuf::from),
            filter if !filter.starts_with('-') => options.filter = filter.to_owned(),
            _ => bail!(
                "usage: cargo xtask fixtures [-v] [--update] [--truth] [--binary FILE] \
                 [--root DIR] [FILTER]"
            ),
        }
    }
    Ok(options)
}

fn build(workspace: &Path) -> Result<PathBuf> {
    let status = Command::new("cargo")
        .current_dir(workspace)
        .args(["build", "--release", "--quiet", "--package", "leakproof"])
        .status()?;
    ensure!(status.success(), "leakproof does not build");
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    Ok(target.unwrap_or_else(|| workspace.join("target")).join("release/leakproof"))
}

/// Takes `; missed: ...` and `// false: ...` off the lines where they are no longer true.
fn remove_stale(root: &Path, outcome: &Outcome) -> Result<()> {
    for stale in &outcome.stale {
        let path = root.join(&stale.file);
        let text = std::fs::read_to_string(&path)?;
        let lines: Vec<&str> = text.lines().collect();
        let mut out = String::with_capacity(text.len());
        for (i, line) in lines.iter().enumerate() {
            let here = i + 1 == stale.line as usize;
            let cut = line.find("; missed: ").or_else(|| line.find("// false: ")).filter(|_| here);
            out.push_str(cut.map_or(*line, |at| line[..at].trim_end()));
            out.push('\n');
        }
        std::fs::write(&path, out)?;
    }
    Ok(())
}
