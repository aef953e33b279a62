//! `cargo xtask bench fix [PROGRAM...]`: how many leaks of real programs `leakproof fix` mends.
//!
//! Per program: every finding with the verdict that `docs/judged.md` or `docs/judged` has on it, and what
//! became of it; what `check` and `fix` cost from the same state of the cache. With `--sample N` also releases
//! deleted one at a time, and whether `fix` puts them back. `docs/benchmarks/fix.md` is made of the
//! kept results.

mod deleted;
mod judged;
mod mend;
mod page;

use super::selection::Selection;
use super::{recipes, root, store};
use anyhow::Result;
use judged::Judged;
use mend::Row;

const KIND: &str = "fix";
const DELETED: &str = "fix-deleted";

pub fn run(words: &[&str]) -> Result<()> {
    let selection = Selection::parse(words)?;
    if !selection.page_only {
        let binary = selection.leakproof()?;
        let judged = Judged::parse(&std::fs::read_to_string(root().join("docs/judged.md"))?);
        for choice in selection.programs_or(recipes::known())? {
            if !selection.again && store::kept::<Row>(KIND, choice.name()).is_some() {
                continue;
            }
            eprintln!("{} ...", choice.name());
            let row = mend::measure(&binary, &choice.tree()?, &judged)?;
            store::keep(KIND, choice.name(), &row)?;
        }
        if let Some(sample) = selection.sample {
            for choice in selection.programs_or(recipes::known())? {
                let tree = choice.tree()?;
                store::keep(DELETED, choice.name(), &deleted::measure(&binary, &tree, sample)?)?;
            }
        }
    }
    page::write(&store::all(KIND), &store::all(DELETED))
}
