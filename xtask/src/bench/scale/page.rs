//! The page `docs/benchmarks/scale.md`.

use super::{Measured, Row, SHORT_SECONDS, plot};
use crate::bench::fit::{PowerLaw, power_law};
use crate::bench::measure::median;
use crate::bench::peers::run::{LEAST_SECONDS, MEMORY_GIB, PeerRun, TIMES};
use crate::bench::peers::tool::TOOLS;
use crate::bench::{machine, write_page};
use anyhow::Result;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What the clock of the kernel can tell apart from nothing.
const MEASURABLE: f64 = 0.05;

pub fn write(rows: &[Measured]) -> Result<()> {
    let text = page(rows)?;
    print!("{text}");
    write_page("scale.md", &text)?;
    write_page("scale.svg", &plot::draw(rows, law(rows, |r| r.lines as f64))?)
}

/// How the cold run grows with the program.
fn law(rows: &[Measured], size: fn(&Row) -> f64) -> Option<PowerLaw> {
    let measurable = rows.iter().map(|m| &m.row).filter(|r| r.cold >= MEASURABLE);
    power_law(measurable.map(|r| (size(r), r.cold)))
}

fn page(rows: &[Measured]) -> Result<String> {
    let mut out = introduction(rows);
    out.push_str(
        "| program | KLoC | units | instructions | `clang -O0 -c` s | bitcode | cold s | cold | warm | edit s | \
         edit | worst edit s | wall, 1 core | wall, all | peak MiB | KiB per line | findings | limited |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    rows.iter().try_for_each(|m| writeln!(out, "{}", own_cells(m)))?;
    out.push_str(&summary(rows));
    out.push_str("\n![CPU time against lines](scale.svg)\n\n## Beside other analysers\n\n");
    out.push_str(&peers(rows)?);
    Ok(out)
}

fn introduction(rows: &[Measured]) -> String {
    let days: BTreeSet<&str> = rows.iter().map(|m| m.row.day.as_str()).collect();
    let days = days.into_iter().collect::<Vec<_>>().join(", ");
    let load = rows.iter().map(|m| m.row.load).fold(0.0, f64::max);
    format!(
        "# Scale benchmark\n\n\
         Made by `cargo xtask bench scale`; do not edit. Measured on {days}; {}; load of up to {load:.1} when a \
         program's turn came. So CPU times and their ratios count; times by the clock (*wall*) hold only \
         for a load of 0.\n\n\
         *Cold*, *warm* and *edit* are CPU times of leakproof, and ratios to the CPU time of `clang -O0 -c` over the \
         same units in the same run. *Bitcode* is what clang takes for us; it is not part of *cold* and *edit*. \
         *Warm* is a second run, *edit* the run after a statement was added to one function (the middle one of three \
         such edits; *worst* is the dearest). *Peak* is what leakproof itself held at most. *Limited* counts \
         functions in which a budget ran out. Programs that compile in less than {SHORT_SECONDS} s: median of three rounds.\n\n",
        machine::shape()
    )
}

fn ratio(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.2}", part / whole) } else { "-".into() }
}

fn own_cells(Measured { name, row: r, .. }: &Measured) -> String {
    let kib_per_line = r.peak_mib * 1024.0 / (r.lines.max(1) as f64);
    format!(
        "| {name} | {:.1} | {} | {} | {:.2} | {} | {:.2} | {} | {} | {:.2} | {} | {:.2} | {:.1} | {:.1} | {:.0} | {:.2} | \
         {} | {} |",
        r.lines as f64 / 1000.0,
        r.units,
        r.instructions,
        r.compile,
        ratio(r.bitcode, r.compile),
        r.cold,
        ratio(r.cold, r.compile),
        ratio(r.warm, r.compile),
        r.edit,
        ratio(r.edit, r.compile),
        r.edit_worst,
        r.wall_one,
        r.wall_all,
        r.peak_mib,
        kib_per_line,
        r.findings,
        r.limited,
    )
}

/// The figures that have a target.
fn summary(rows: &[Measured]) -> String {
    let ratios = |f: fn(&Row) -> f64| rows.iter().map(move |m| f(&m.row) / m.row.compile);
    let cold = |r: &Row| r.cold;
    let worst = |f: fn(&Row) -> f64| ratios(f).fold(0.0, f64::max);
    let mut out = format!(
        "\n- cold: median {:.2}, worst {:.2} (target: 0.6 and 0.8)\n- warm: worst {:.2} (target: 0.05)\n\
         - after an edit: worst {:.2} s, {:.1} % (target for programs up to 300 KLoC: 2 s and 2 %)\n",
        median(&mut ratios(cold).collect::<Vec<_>>()),
        worst(cold),
        worst(|r| r.warm),
        small(rows).map(|r| r.edit_worst).fold(0.0, f64::max),
        small(rows).map(|r| r.edit_worst / r.compile * 100.0).fold(0.0, f64::max),
    );
    let exponents = (law(rows, |r| r.instructions as f64), law(rows, |r| r.lines as f64));
    if let (Some(instructions), Some(lines)) = exponents {
        out.push_str(&format!(
            "- growth: cold CPU time grows as instructions of our IR to the power of {:.2} (target: 1.15), and as \
             lines to the power of {:.2}; least squares on logarithms\n",
            instructions.exponent, lines.exponent
        ));
    }
    out
}

fn small(rows: &[Measured]) -> impl Iterator<Item = &Row> {
    rows.iter().map(|m| &m.row).filter(|r| r.lines <= 300_000)
}

fn peers(rows: &[Measured]) -> Result<String> {
    let mut out = format!(
        "CPU time in compile times, and peak memory of the largest unit in MiB. The Clang Static Analyzer runs only \
         its core and its leak checkers. A unit on which a peer takes more than {TIMES} times as long as `clang -O0 -c` \
         (and more than {LEAST_SECONDS} s), or more than {MEMORY_GIB} GiB, is stopped: the figure then starts with >. \
         For leakproof: cold, clang's bitcode included, so that everything counts.\n\n| program | leakproof |"
    );
    TOOLS.iter().try_for_each(|t| write!(out, " {} |", t.title()))?;
    writeln!(out, "\n|---|---|{}", "---|".repeat(TOOLS.len()))?;
    for Measured { name, row, peers } in rows.iter().filter(|m| m.peers.iter().any(Option::is_some))
    {
        let ours = (row.cold + row.bitcode) / row.compile;
        write!(out, "| {name} | {ours:.1}, {:.0} |", row.peak_mib)?;
        peers.iter().try_for_each(|p| write!(out, " {} |", peer_cell(p.as_ref())))?;
        writeln!(out)?;
    }
    Ok(out)
}

fn peer_cell(run: Option<&PeerRun>) -> String {
    let Some(run) = run else { return "-".into() };
    let more = if run.stopped.is_empty() { "" } else { "> " };
    format!("{more}{:.1}, {:.0}", run.ratio(), run.peak_mib)
}
