//! Developer tasks, run with `cargo xtask TASK`.
//!
//!     cargo xtask bench frontend [PROJECT...]   docs/benchmarks/frontend.md from a real run
//!     cargo xtask bench program [PROGRAM...]    docs/benchmarks/program.md from a real run
//!     cargo xtask bench validate                docs/benchmarks/validate.md from a real run
//!     cargo xtask bench injected FOLDER [PROGRAM...]  docs/benchmarks/injected.md from a real run
//!     cargo xtask bench fresh FOLDER [PROGRAM...]     docs/benchmarks/fresh.md: other programs
//!     cargo xtask bench unseen FOLDER [PROGRAM...]    docs/benchmarks/unseen.md: and others again
//!     cargo xtask bench mixed FOLDER [PROGRAM...]     docs/benchmarks/mixed.md: of several packages
//!     cargo xtask bench tools FOLDER [PROGRAM...]     docs/benchmarks/tools.md: of six more
//!     cargo xtask bench later FOLDER [PROGRAM...]     docs/benchmarks/later.md: of four more
//!     cargo xtask bench last FOLDER [PROGRAM...]      docs/benchmarks/last.md: of other programs of these
//!     cargo xtask bench random FOLDER [PROGRAM...]    docs/benchmarks/random.md: of packages chosen at random
//!     cargo xtask bench scale [PROGRAM...]      docs/benchmarks/scale.md: cost beside compiling
//!     cargo xtask bench peers [PROGRAM...]      docs/benchmarks/peers.md: other analysers' warnings
//!     cargo xtask bench inject [PROGRAM...]     docs/benchmarks/inject.md: leaks made on purpose
//!     cargo xtask bench fix [PROGRAM...]        docs/benchmarks/fix.md: leaks that `fix` mends
//!     cargo xtask bench judged [-v] [PROGRAM...]  findings against the verdicts of docs/judged
//!     cargo xtask fixtures [-v] [FILTER]        recall and precision over tests/fixtures

mod bench;
mod fixtures;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["bench", "frontend", projects @ ..] => bench::frontend::run(projects),
        ["bench", "program", rest @ ..] => bench::program::run(rest),
        ["bench", "validate"] => bench::validate::run(),
        ["bench", "injected", folder, programs @ ..] => {
            bench::injected::run(&bench::injected::TUNED, folder, programs)
        }
        ["bench", "fresh", folder, programs @ ..] => {
            bench::injected::run(&bench::injected::FRESH, folder, programs)
        }
        ["bench", "unseen", folder, programs @ ..] => {
            bench::injected::run(&bench::injected::UNSEEN, folder, programs)
        }
        ["bench", "mixed", folder, programs @ ..] => {
            bench::injected::run(&bench::injected::MIXED, folder, programs)
        }
        ["bench", "tools", folder, programs @ ..] => {
            bench::injected::run(&bench::injected::TOOLS, folder, programs)
        }
        ["bench", "later", folder, programs @ ..] => {
            bench::injected::run(&bench::injected::LATER, folder, programs)
        }
        ["bench", "last", folder, programs @ ..] => {
            bench::injected::run(&bench::injected::LAST, folder, programs)
        }
        ["bench", "random", folder, programs @ ..] => {
            bench::injected::run(&bench::injected::RANDOM, folder, programs)
        }
        ["bench", "scale", rest @ ..] => bench::scale::run(rest),
        ["bench", "peers", rest @ ..] => bench::peers::run(rest),
        ["bench", "inject", rest @ ..] => bench::inject::run(rest),
        ["bench", "fix", rest @ ..] => bench::fix::run(rest),
        ["bench", "judged", rest @ ..] => bench::judged::run(rest),
        ["bench-inject", rest @ ..] => bench::inject::measure(rest),
        ["bench-load", rest @ ..] => bench::load::run(rest),
        ["bench-program", rest @ ..] => bench::program::measure(rest),
        ["fixtures", rest @ ..] => fixtures::run(rest),
        _ => bail!(
            "usage: cargo xtask (bench frontend [PROJECT...] | bench validate | \
             bench injected|fresh|unseen|mixed|tools|later|last|random FOLDER [PROGRAM...] | bench program|scale|peers|inject|fix|judged [PROGRAM...] \
             [--tree NAME=DIR] [--binary FILE] [--again] [--page] [--peers LIST|none] [--list FILE] [--sample N] [-v] | \
             fixtures [-v] [FILTER])"
        ),
    }
}
