//! Objects that are forgotten when the struct that owns them is released, when its field is given
//! another one, or when they are taken off a list.
//!
//! A destructor or a setter gets its struct from a caller who got it from somewhere else: no function
//! sees both the allocation of a field and the end of it. So the fields that own are found
//! by how the whole program treats them (`fields`), and each function that releases such a struct
//! or stores into one is run once more with an object planted in every owning field of every such
//! struct that it comes upon. Such findings rest on an assumption, and say so.

mod callee;
mod fields;
mod lists;
mod lives;
mod names;
mod order;
mod reader;
mod takers;
mod together;

use crate::component::{self, Env, Outcome};
use fields::{Handling, Made, Owning, Source, StructName, Survey};
use leakproof_program::FuncRef;
use leakproof_summary::{Exec, Planted, Spot};
use rayon::prelude::*;
use takers::Takers;
use together::Together;

/// The findings about destructors and setters of the whole program.
pub fn find(env: &Env<'_>) -> Vec<Outcome> {
    let calls =
        callee::Program { program: env.program, models: env.models, summaries: env.summaries };
    let survey = Survey::of(&calls);
    let together = Together::of(env);
    let handlings: Vec<_> = survey.handlings.iter().collect();
    let examined = handlings.into_par_iter();
    let mut found: Vec<Outcome> =
        examined.filter_map(|((f, of), h)| examine(env, &survey, &together, *f, of, h)).collect();
    let takers = Takers::of(&calls, &survey);
    let functions: Vec<FuncRef> = env.program.definitions().collect();
    let taking = functions.into_par_iter();
    found.par_extend(taking.filter_map(|f| run_with(env, f, takers.results_in(&calls, f))));
    found
}

/// One function, with an object in every owning field of structs of one kind.
fn examine(
    env: &Env<'_>,
    survey: &Survey,
    together: &Together,
    function: FuncRef,
    of: &StructName,
    handling: &Handling,
) -> Option<Outcome> {
    let spots = spots(env, survey, together, (function, of), handling);
    let planted = spots.into_iter().map(|(spot, Made { trace, family })| {
        let values = handling.values.clone();
        Planted { values, spot, trace, family }
    });
    run_with(env, function, planted.collect())
}

/// The fields of structs of one kind whose objects a function may forget, each with one of those.
fn spots(
    env: &Env<'_>,
    survey: &Survey,
    together: &Together,
    (function, of): (FuncRef, &StructName),
    handling: &Handling,
) -> Vec<(Spot, Made)> {
    let meets = |made: &Made| made.trace.iter().all(|s| together.run(s.at.func, function));
    let forgotten = |owning: &Owning<'_>| {
        handling.releases && !owning.emptied_apart && !owning.is_left_to_callers(function)
    };
    let mut spots: Vec<(Spot, Made)> = Vec::new();
    for owning in survey.owning(of, meets) {
        let full = loses_old(env, survey, function, of, handling, &owning);
        if full || forgotten(&owning) {
            spots.extend(field_spot(owning.offset, full, owning.made));
        }
    }
    // What a part of a struct owns goes with the struct.
    for (start, part) in survey.parts_of(of) {
        for owning in survey.owning(part, meets).into_iter().filter(forgotten) {
            spots.extend(field_spot(start + owning.offset, false, owning.made));
        }
    }
    for &offset in &handling.unlinks {
        let made = lists::node_taken_by(survey, env.calls, function, (of, offset), meets);
        let spot = i64::try_from(offset).ok().map(|offset| Spot::Listed { offset });
        spots.extend(spot.zip(made.cloned()));
    }
    spots
}

fn field_spot(offset: u64, full: bool, made: &Made) -> Option<(Spot, Made)> {
    let offset = i64::try_from(offset).ok()?;
    Some((Spot::Field { offset, full }, made.clone()))
}

/// Runs a function once more with these objects, if there are any.
fn run_with(env: &Env<'_>, function: FuncRef, planted: Vec<Planted>) -> Option<Outcome> {
    if planted.is_empty() {
        return None;
    }
    let run = |exec: &mut Exec<'_>, outcome: &mut Outcome| {
        let candidates = exec.planted_candidates();
        component::find_leaks(env, exec, candidates, outcome);
    };
    component::run_planted(env, function, planted, run)
}

/// Whether what a field held is lost when the function gives it another object: where fields are always
/// full, or where this struct has a life already and there are signs that the field has been filled in it.
fn loses_old(
    env: &Env<'_>,
    survey: &Survey,
    function: FuncRef,
    of: &StructName,
    handling: &Handling,
    field: &Owning<'_>,
) -> bool {
    let mut stores = handling.stores.iter().filter(|(offset, _)| *offset == field.offset);
    // Nobody knows how often a callback is given which struct.
    let is_callback = component::is_callback(env, function);
    let is_older = |source: Source| match source {
        Source::Given(n) => !is_callback && !survey.lives.is_always_new((function, n)),
        Source::Found => true,
        Source::Other => false,
    };
    let is_filled = |source: Source| match source {
        // A method of a library's interface has the struct that it is about as its first parameter.
        Source::Given(0) if env.calls.callers_of(function).is_empty() => {
            survey.is_made_elsewhere(of, function)
        }
        Source::Given(n) => survey.lives.is_older((function, n)),
        Source::Found => field.filled_by_maker,
        Source::Other => false,
    };
    let is_changed = |source| {
        is_older(source)
            && !handling.knows(field.offset)
            && (field.changes || (field.released_with_owner && is_filled(source)))
    };
    let is_filled_again = |store: &(u64, Source)| handling.fills.contains(store);
    stores.any(|store| field.full || (is_filled_again(store) && is_changed(store.1)))
}
