//! The fixture suite: C and C++ programs under `tests/fixtures` whose expected leaks stand in
//! comments, run through the `leakproof` binary and compared in both directions.
//!
//! In: the binary and the fixture folder. Out: one `Outcome` per program, in order of their names.
//! Used by the test `fixtures` and by `cargo xtask fixtures`. The comment language is described in
//! `tests/fixtures/README.md`.

pub mod compare;
pub mod discover;
pub mod expectation;
pub mod run;
pub mod table;

use compare::Outcome;
use discover::Case;
use std::path::Path;

/// Runs every case whose name contains `filter`, on all cores.
pub fn run_all(binary: &Path, root: &Path, filter: &str) -> Result<Vec<Outcome>, String> {
    let cases = discover::cases(root)?;
    let cases: Vec<Case> = cases.into_iter().filter(|c| c.name.contains(filter)).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get());
    let mut outcomes: Vec<(usize, Outcome)> = std::thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            loop {
                let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let Some(case) = cases.get(i) else { return done };
                done.push((i, one(binary, root, case)));
            }
        };
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|t| t.join().unwrap_or_default()).collect()
    });
    outcomes.sort_by_key(|(i, _)| *i);
    Ok(outcomes.into_iter().map(|(_, o)| o).collect())
}

fn one(binary: &Path, root: &Path, case: &Case) -> Outcome {
    match run::findings(binary, root, case) {
        Ok(findings) => compare::compare(case, findings),
        Err(problem) => Outcome::broken(case, problem),
    }
}
