//! The page `docs/benchmarks/fix.md`.

use super::deleted::{Result as Back, Trial};
use super::mend::{Item, Mended, Row};
use crate::bench::verdict::Verdict;
use crate::bench::{share, write_page};
use anyhow::Result;
use std::collections::BTreeSet;
use std::fmt::Write as _;

pub fn write(rows: &[(String, Row)], deleted: &[(String, Vec<Trial>)]) -> Result<()> {
    let mut text = page(rows)?;
    put_back(&mut text, deleted)?;
    print!("{text}");
    write_page("fix.md", &text)
}

/// How many items have a verdict and an end.
fn count(items: &[Item], verdict: Verdict, mended: Option<Mended>) -> usize {
    let same = |i: &&Item| i.verdict == verdict && mended.is_none_or(|m| i.mended == m);
    items.iter().filter(same).count()
}

fn page(rows: &[(String, Row)]) -> Result<String> {
    let days: BTreeSet<&str> = rows.iter().map(|(_, r)| r.day.as_str()).collect();
    let days: Vec<&str> = days.into_iter().collect();
    let mut out = format!(
        "# Fixes\n\n\
         Made by `cargo xtask bench fix`; do not edit. Measured on {}.\n\n\
         Every finding of `leakproof fix` on real programs, with the verdict that [judged.md](../judged.md) or \
         [judged](../judged) has on it. *True*: the finding is a leak. *Fixed*: a fix was proven safe; the share is of true findings. \
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
         CPU seconds, clang's included: `check` with an empty cache, then `fix` with what that left there: finding \
         the leaks again costs next to nothing, so it is the time of mending.\n\n\
         | program | check | fix | fix beside check |\n|---|---|---|---|\n",
    );
    for (name, row) in rows {
        let Row { check, fix, .. } = row;
        writeln!(out, "| {name} | {check:.1} | {fix:.1} | {:.2} |", fix / check.max(0.01))?;
    }
    Ok(())
}

/// Releases that were deleted.
fn put_back(out: &mut String, rows: &[(String, Vec<Trial>)]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    out.push_str(
        "\n## Deleted releases\n\n\
         One release at a time is blanked in a copy of the source (a sample of those whose deletion leaks, chosen as in \
         [inject.md](inject.md)), and `fix` runs on the copy. *Found*: there are findings that were not there before. \
         *Fixed*: all of them have a safe fix. *Same*: the text is the original again, but for white space; *alike*: the \
         fix calls the deleted function on the deleted argument, in the same function; *other*: it does something else. \
         The shares are of those found.\n\n\
         | program | deleted | found | fixed | share | same | alike | other |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (name, trials) in rows {
        let of = |wanted: &[Back]| trials.iter().filter(|t| wanted.contains(&t.result)).count();
        let fixed = of(&[Back::Same, Back::Alike, Back::Other]);
        let found = fixed + of(&[Back::NotFixed]);
        writeln!(
            out,
            "| {name} | {} | {found} | {fixed} | {} | {} | {} | {} |",
            trials.len(),
            share(fixed, found),
            of(&[Back::Same]),
            of(&[Back::Alike]),
            of(&[Back::Other]),
        )?;
    }
    for (name, trials) in rows {
        for trial in trials.iter().filter(|t| t.result == Back::NotFixed) {
            writeln!(out, "\n- {name}, `{}`: {}", trial.release, trial.why)?;
        }
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
