//! The page `docs/benchmarks/inject.md`.

use super::SAMPLE;
use super::origin::Origin;
use super::trial::Outcome;
use crate::bench::{share, write_page};
use anyhow::Result;
use std::collections::BTreeSet;
use std::fmt::Write as _;

pub fn write(rows: &[(String, Outcome)]) -> Result<()> {
    let text = page(rows)?;
    print!("{text}");
    write_page("inject.md", &text)
}

fn page(rows: &[(String, Outcome)]) -> Result<String> {
    let days: BTreeSet<&str> = rows.iter().map(|(_, o)| o.day.as_str()).collect();
    let mut out = format!(
        "# Injected leaks\n\n\
         Made by `cargo xtask bench inject`; do not edit. Measured on {}.\n\n\
         In each program one release is deleted at a time, in our IR: a call of `free`, of another \
         deallocator that a model knows, or of one of the program's own (a function of one argument that releases what it is given). \
         All copies that the lowering made of one place in the source go together. Then the analysis runs as \
         `check` does. *Found*: there is a finding that was not there before, about an allocation that the deleted call \
         could release (by points-to sets; where these know nothing, a finding in a function from which the call is \
         reached), or in the function that contained it. *Elsewhere*: new findings that \
         are neither.\n\n\
         Which releases leak once they are deleted is approximated, without the analysis that is measured. A release \
         of a correct program is the last use of its object, so without it the object leaks whenever control gets there \
         with a pointer that is not null. Not counted are releases where the pointer is null by the branch \
         before it (*null*), after which the process ends or which are in `main` (*ends*: what is referenced \
         at exit is no leak), whose pointer was read from a global variable that is neither overwritten nor \
         released with its holder afterwards (*kept*), which release nothing from the heap (*no object*), and \
         those of objects that leak already (*already*). Of the rest, some (*deleted*; {SAMPLE} by default) are drawn with a \
         fixed seed. Some of them may be unreachable, or null on every path, so the share that is found \
         is a lower bound. *Local*, *given*, *global*: found of deleted, by where the function that releases has the pointer \
         from: a call or a local variable, a parameter (so it is a destructor), a global variable.\n\n\
         | program | releases | null | ends | kept | no object | already | deleted | found | share | local | \
         given | global | elsewhere |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        days.into_iter().collect::<Vec<_>>().join(", ")
    );
    for (name, o) in rows {
        let (found, elsewhere) = counts(o);
        writeln!(
            out,
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {found} | {} | {} | {elsewhere} |",
            o.releases,
            o.null,
            o.process_ends,
            o.still_referenced,
            o.no_object,
            o.leaking_already,
            o.trials.len(),
            share(found, o.trials.len()),
            origins(&[o]),
        )?;
    }
    let all = rows.iter().map(|(_, o)| counts(o));
    let (found, elsewhere) = all.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    let outcomes: Vec<&Outcome> = rows.iter().map(|(_, o)| o).collect();
    let deleted = rows.iter().map(|(_, o)| o.trials.len()).sum();
    writeln!(
        out,
        "\nAll together: {found} of {deleted} found, {} (target: 70 %); {elsewhere} new findings elsewhere (target: \
         none). By origin, local | given | global: {}.",
        share(found, deleted),
        origins(&outcomes)
    )?;
    Ok(out)
}

/// Found of deleted, for each origin.
fn origins(outcomes: &[&Outcome]) -> String {
    let parts = [Origin::Local, Origin::Given, Origin::Global].map(|origin| {
        let trials = || outcomes.iter().flat_map(|o| &o.trials).filter(|t| t.origin == origin);
        format!("{} of {}", trials().filter(|t| t.found).count(), trials().count())
    });
    parts.join(" | ")
}

fn counts(outcome: &Outcome) -> (usize, usize) {
    let found = outcome.trials.iter().filter(|t| t.found).count();
    (found, outcome.trials.iter().map(|t| t.elsewhere.len()).sum())
}
