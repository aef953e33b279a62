//! The page `docs/benchmarks/peers.md`.

use super::run::{LEAST_SECONDS, MEMORY_GIB, TIMES};
use super::tool::TOOLS;
use super::{PeerRow, Row};
use crate::bench::{machine, write_page};
use anyhow::Result;
use std::fmt::Write as _;

pub fn write(rows: &[(String, Row)]) -> Result<()> {
    let text = page(rows)?;
    print!("{text}");
    write_page("peers.md", &text)
}

fn page(rows: &[(String, Row)]) -> Result<String> {
    let mut out = format!(
        "# Leak warnings of other analysers\n\n\
         Made by `cargo xtask bench peers`; do not edit. {}.\n\n\
         Leak warnings are counted once per line of source: *memory + files*. *Shared* are those in a function \
         in which leakproof has a finding too, be it where the object is made or where it is lost. *Alone* \
         counts findings of leakproof in functions about which no peer says anything. None of these numbers says \
         what is true: `docs/judged.md` does that for leakproof. A unit on which a peer takes more than {TIMES} \
         times as long as `clang -O0 -c` (and more than {LEAST_SECONDS} s), or more than {MEMORY_GIB} GiB, is stopped; its warnings so far count.\n\n",
        machine::shape(),
    );
    let versions = TOOLS.iter().filter_map(|t| Some(format!("{} ({})", t.title(), t.version()?)));
    writeln!(out, "Peers: {}.\n", versions.collect::<Vec<_>>().join(", "))?;
    write!(out, "| program | leakproof | alone |")?;
    for tool in TOOLS {
        write!(out, " {} | shared | units stopped, failed |", tool.title())?;
    }
    writeln!(out, "\n|---|---|---|{}", "---|---|---|".repeat(TOOLS.len()))?;
    for (name, row) in rows {
        write!(out, "| {name} | {} | {} |", row.findings, row.alone)?;
        let peer = |i: usize| row.peers.get(i).and_then(Option::as_ref);
        (0..TOOLS.len()).try_for_each(|i| write!(out, " {} |", cells(peer(i))))?;
        writeln!(out)?;
    }
    writeln!(out, "\n{}", days(rows))?;
    Ok(out)
}

fn cells(peer: Option<&PeerRow>) -> String {
    let Some(PeerRow { stopped, failed, overlap }) = peer else { return "- | - | -".into() };
    format!("{} + {} | {} | {stopped}, {failed}", overlap.memory, overlap.resources, overlap.shared)
}

fn days(rows: &[(String, Row)]) -> String {
    let days: std::collections::BTreeSet<&str> = rows.iter().map(|(_, r)| r.day.as_str()).collect();
    format!("Measured on {}.", days.into_iter().collect::<Vec<_>>().join(", "))
}
