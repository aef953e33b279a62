//! Developer tasks, run with `cargo xtask TASK`.
//!
//!     cargo xtask bench frontend [PROJECT...]   docs/benchmarks/frontend.md from a real run
//!     cargo xtask bench program [PROJECT...]    docs/benchmarks/program.md from a real run
//!     cargo xtask fixtures [-v] [FILTER]        recall and precision over tests/fixtures

mod bench;
mod fixtures;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["bench", "frontend", projects @ ..] => bench::frontend::run(projects),
        ["bench", "program", projects @ ..] => bench::program::run(projects),
        ["bench", "peers", rest @ ..] => bench::peers::run(rest),
        ["bench-load", rest @ ..] => bench::load::run(rest),
        ["bench-program", rest @ ..] => bench::program::measure(rest),
        ["fixtures", rest @ ..] => fixtures::run(rest),
        _ => bail!(
            "usage: cargo xtask (bench frontend|program [PROJECT...] | fixtures [-v] [FILTER])"
        ),
    }
}
