//! The analysis with the cache around it: whole reports, and results by function.
//!
//! A program of which nothing changed has its report in the cache, and no module is read. Otherwise
//! results of functions are read, one pack per unit, and what is new is written back.

use crate::inputs::load_prepared;
use crate::ui::Ui;
use anyhow::Result;
use leakproof_detect::store::{fetch_report, keep_report, report_key};
use leakproof_detect::{Effort, Examination, Options, Stage, Store};
use leakproof_findings::{Report, Skipped};
use leakproof_frontend::cache::Results;
use leakproof_frontend::{Prepared, Timings};
use leakproof_models::Library;
use leakproof_program::{Program, empty_copies};

/// What an analysis gave, before anything is sorted out for the reader.
pub struct Analysed {
    pub report: Report,
    pub effort: Effort,
    pub timings: Timings,
    pub skipped: Vec<(String, String)>,
}

/// From a prepared project to findings.
pub fn analyse(
    prepared: Prepared<'_>,
    models: &Library,
    options: &Options,
    ui: &Ui,
) -> Result<Analysed> {
    let key = prepared.contents().map(|contents| report_key(models, options, &contents));
    let known = key.and_then(|key| fetch_report(&prepared.report(&key)?));
    let mut analysed = match known {
        Some(report) => unchanged(prepared, report, ui),
        None => examined(prepared, key.as_ref().map(|k| &k[..]), models, options, ui)?,
    };
    for leak in &mut analysed.report.leaks {
        leak.resource = !models.is_memory(&leak.family);
    }
    for (file, reason) in &analysed.skipped {
        let skipped = Skipped { file: file.clone(), reason: reason.clone() };
        analysed.report.skipped.push(skipped);
    }
    Ok(analysed)
}

fn unchanged(prepared: Prepared<'_>, report: Report, ui: &Ui) -> Analysed {
    let (functions, timings) = (report.stats.functions, prepared.timings);
    ui.totals(prepared.units(), functions as usize, prepared.skipped.len(), &timings);
    let effort = Effort { functions, reused: functions, ..Effort::default() };
    Analysed { report, effort, timings, skipped: prepared.skipped }
}

fn examined(
    prepared: Prepared<'_>,
    key: Option<&[u8]>,
    models: &Library,
    options: &Options,
    ui: &Ui,
) -> Result<Analysed> {
    let mut loaded = load_prepared(prepared, ui)?;
    empty_copies(&mut loaded.modules);
    let (program, linking) = Stage::run("linking", options.meter, || Program::link(loaded.modules));
    let mut examination = examine(&program, models, options, loaded.results.as_ref());
    if let (Some(key), Some(results), true) = (key, &loaded.results, examination.lasting)
        && let Some(bytes) = keep_report(&examination.report)
    {
        results.keep_report(key, &bytes);
        results.trim();
    }
    examination.effort.stages.insert(0, linking);
    let Examination { report, effort, .. } = examination;
    Ok(Analysed { report, effort, timings: loaded.timings, skipped: loaded.skipped })
}

/// The analysis of a program, with what is known of its functions.
pub fn examine(
    program: &Program,
    models: &Library,
    options: &Options,
    results: Option<&Results>,
) -> Examination {
    let Some(results) = results else {
        return leakproof_detect::examine(program, models, options, None);
    };
    let (store, reading) =
        Stage::run("reading results", options.meter, || Store::from_packs(results.packs()));
    let mut examination = leakproof_detect::examine(program, models, options, Some(&store));
    let ((), writing) = Stage::run("writing results", options.meter, || {
        results.keep_packs(&store.changed());
    });
    examination.effort.stages.insert(0, reading);
    examination.effort.stages.push(writing);
    examination
}
