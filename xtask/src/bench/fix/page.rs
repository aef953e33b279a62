//! The page `docs/benchmarks/fix.md`.

use super::judged::Verdict;
use super::mend::{Item, Mended, Row};
use crate::bench::write_page;
use anyhow::Result;
use std::collections::BTreeSet;
use std::fmt::Write as _;

pub fn write(rows: &[(String, Row)]) -> Result<()> {
    let text = page(rows)?;
    print!("{text}");
    write_page("fix.md", &text)
}

/// How many items have a verdict and an end.
fn count(items: &[Item], verdict: Verdict, mended: Option<Mended>) -> usize {
    let same = |i: &&Item| i.verdict == verdict && mended.is_none_or(|m| i.mended == m);
    items.iter().filter(same).count()
}

fn share(part: usize, all: usize) -> String {
    match all {
        0 => "–".to_owned(),
        _ => format!("{:.0} %", 100.0 * part as f64 / all as f64),
    }
}

fn page(rows: &[(String, Row)]) -> Result<String> {
    let days: BTreeSet<&str> = rows.iter().map(|(_, r)| r.day.as_str()).collect();
    let days: Vec<&str> = days.into_iter().collect();
    let mut out = format!(
        "# Fixes\n\n\
         Made by `cargo xtask bench fix`; do not edit. Measured on {}.\n\n\
         Every finding of `leakproof fix` on real programs, with the verdict that [judged.md](../judged.md) has on \
         it. *True*: the finding is a leak. *Fixed*: a fix was proven safe; the share is of true findings. \
         *Suggested*: there is a fix, and something about it could not be proven. *Refused*: there is none. \
         *False, fixed*: a finding that is no leak got a fix that is safe, so it is useless. *Unjudged*: findings that \
         are not in the table (fixed of all).\n\n\
         | program | findings | true | fixed | share | suggested | refused | false, fixed | unjudged |\n\
         |---|---|---|---|---|---|---|---|---|\n",
        days.join(", ")
    );
    for (name, row) in rows {
        line(&mut out, name, &row.items)?;
    }
    let all: Vec<Item> = rows.iter().flat_map(|(_, r)| r.items.clone()).collect();
    line(&mut out, "**all**", &all)?;
    costs(&mut out, rows)?;
    left(&mut out, rows)?;
    Ok(out)
}

fn line(out: &mut String, name: &str, items: &[Item]) -> Result<()> {
    let of = |mended| count(items, Verdict::True, mended);
    let (all, safe) = (of(None), of(Some(Mended::Safe)));
    let unjudged = count(items, Verdict::Unjudged, None);
    writeln!(
        out,
        "| {name} | {} | {all} | {safe} | {} | {} | {} | {} of {} | {} of {unjudged} |",
        items.len(),
        share(safe, all),
        of(Some(Mended::Suggested)),
        of(Some(Mended::No)),
        count(items, Verdict::False, Some(Mended::Safe)),
        count(items, Verdict::False, None),
        count(items, Verdict::Unjudged, Some(Mended::Safe)),
    )?;
    Ok(())
}

fn costs(out: &mut String, rows: &[(String, Row)]) -> Result<()> {
    out.push_str(
        "\n## Time\n\n\
         CPU seconds, clang's included. *Mending*: what `fix` needs beyond finding the leaks, that is `fix` after `check`.\n\n\
         | program | check, empty cache | fix, empty cache | fix after check | mending beside check |\n|---|---|---|---|---|\n",
    );
    for (name, row) in rows {
        let Row { check_cold, fix_cold, fix_after_check, .. } = row;
        writeln!(
            out,
            "| {name} | {check_cold:.1} | {fix_cold:.1} | {fix_after_check:.1} | {:.2} |",
            fix_after_check / check_cold.max(0.01)
        )?;
    }
    Ok(())
}

/// True findings without a safe fix.
fn left(out: &mut String, rows: &[(String, Row)]) -> Result<()> {
    out.push_str("\n## True findings without a safe fix\n");
    for (name, row) in rows {
        let open: Vec<&Item> = row
            .items
            .iter()
            .filter(|i| i.verdict == Verdict::True && i.mended != Mended::Safe)
            .collect();
        if open.is_empty() {
            continue;
        }
        writeln!(out, "\n### {name}\n\n| finding | | why |\n|---|---|---|")?;
        for item in open {
            let kind = if item.mended == Mended::Suggested { "suggested" } else { "refused" };
            writeln!(out, "| {} | {kind} | {} |", item.finding, item.why.replace('|', "\\|"))?;
        }
    }
    Ok(())
}
