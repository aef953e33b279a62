//! Objects that are forgotten when the struct that owns them is released, when its field is given
//! another one, or when they are taken off a list.
//!
//! A destructor or a setter gets its struct from a caller who got it from somewhere else: no function
//! sees both the allocation of a field and the end of it. So the fields that own are found
//! by how the whole program treats them (`fields`), and each function that releases such a struct
//! or stores into one is run once more with an object planted in every owning field of every such
//! struct that it comes upon. Such findings rest on an assumption, and say so.

mod callee;
mod counted;
mod fields;
mod handed;
mod lists;
mod lives;
mod names;
mod order;
mod reader;
mod takers;
mod together;
mod united;

use crate::component::{self, Env, Outcome};
use fields::{CutOut, Handling, Made, Owning, Source, StructName, Survey};
use leakproof_program::FuncRef;
use leakproof_summary::{Planted, Replaced, Spot};
use rayon::prelude::*;
use takers::Takers;
use together::Together;
use united::Known;

/// The findings about destructors and setters of the whole program, and about what functions hand over. `before`: what is
/// known of all functions by themselves.
pub fn find(env: &Env<'_>, before: &[Outcome]) -> Vec<Outcome> {
    let calls =
        callee::Program { program: env.program, models: env.models, summaries: env.summaries };
    let mut survey = Survey::of(&calls);
    survey.taken = takers::fields_taken_out(&calls, &survey);
    let together = Together::of(env);
    let handlings: Vec<_> = survey.handlings.iter().collect();
    let examined = handlings.into_par_iter();
    let mut found: Vec<Outcome> =
        examined.filter_map(|((f, of), h)| examine(env, &survey, &together, *f, of, h)).collect();
    let cut_out: Vec<_> = survey.cut_out.iter().collect();
    let cutting = cut_out.into_par_iter();
    found.par_extend(cutting.filter_map(|(f, cut)| {
        component::run_with_planted(env, *f, nodes(&survey, &together, *f, cut))
    }));
    let takers = Takers::of(&calls, &survey);
    let functions: Vec<FuncRef> = env.program.definitions().collect();
    let taking = functions.par_iter();
    found.par_extend(
        taking.filter_map(|&f| component::run_with_planted(env, f, takers.results_in(&calls, f))),
    );
    let given: Vec<_> = handed::arguments(&calls, env.calls).into_iter().collect();
    let handlers = given.into_par_iter();
    found.par_extend(handlers.filter_map(|(f, all)| component::run_with_planted(env, f, all)));
    let known = Known::of(before.iter().chain(&found));
    let released = &survey.released_results;
    let made = functions.par_iter().filter_map(|&f| {
        let results = united::results_in(&calls, f, released, &known);
        component::run_with_planted(env, f, results)
    });
    found.par_extend(made.collect::<Vec<_>>());
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
    let mut planted: Vec<Planted> = planted.collect();
    planted.extend(in_elements(survey, together, (function, of), handling));
    component::run_with_planted(env, function, planted)
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
        let replaced = replaced(env, survey, function, of, handling, &owning);
        if replaced != Replaced::Unknown || forgotten(&owning) {
            spots.extend(field_spot(owning.offset, replaced, owning.made));
        }
    }
    // What a part of a struct owns goes with the struct.
    for (start, part) in survey.parts_of(of) {
        for owning in survey.owning(part, meets).into_iter().filter(forgotten) {
            spots.extend(field_spot(start + owning.offset, Replaced::Unknown, owning.made));
        }
    }
    for &offset in &handling.unlinks {
        let made = lists::node_taken_by(survey, env.calls, function, (of, offset), meets);
        let spot = i64::try_from(offset).ok().map(|offset| Spot::Listed { offset });
        spots.extend(spot.zip(made.cloned()));
    }
    spots
}

/// What elements of arrays own that a function may forget: when it releases the array, or gives one element something else.
fn in_elements(
    survey: &Survey,
    together: &Together,
    (function, of): (FuncRef, &StructName),
    handling: &Handling,
) -> Vec<Planted> {
    let meets = |made: &Made| made.trace.iter().all(|s| together.run(s.at.func, function));
    let mut list = Vec::new();
    for owning in survey.owning_in_elements(of, meets) {
        let Made { trace, family } = owning.made.clone();
        let Ok(offset) = i64::try_from(owning.offset) else { continue };
        let plant =
            |values, spot| Planted { values, spot, trace: trace.clone(), family: family.clone() };
        let is_taken = survey.taken.contains(&(of.clone(), owning.offset));
        if handling.releases && !owning.swept_apart && !is_taken {
            list.push(plant(
                handling.values.clone(),
                Spot::Field { offset, replaced: Replaced::OneOfMany },
            ));
        }
        let is_in_use = owning.appended && !handling.elements.is_empty() && !handling.empties;
        if is_in_use {
            let values = handling.elements.iter().copied().collect();
            list.push(plant(values, Spot::Element { offset }));
        }
    }
    list
}

/// The nodes that a function cuts out of lists.
fn nodes(survey: &Survey, together: &Together, function: FuncRef, cut: &[CutOut]) -> Vec<Planted> {
    let meets = |made: &Made| made.trace.iter().all(|s| together.run(s.at.func, function));
    let node = |cut: &CutOut| {
        let Made { trace, family } = lists::node_cut_out(survey, &cut.of, meets)?.clone();
        Some(Planted {
            values: [cut.node].into(),
            spot: Spot::CutOut { by: cut.store },
            trace,
            family,
        })
    };
    cut.iter().filter_map(node).collect()
}

fn field_spot(offset: u64, replaced: Replaced, made: &Made) -> Option<(Spot, Made)> {
    let offset = i64::try_from(offset).ok()?;
    Some((Spot::Field { offset, replaced }, made.clone()))
}

/// What becomes of what a field held when the function gives it another object: it is lost where fields are always
/// full, and where this struct has a life already and there are signs that the field has been filled in it. Who uses what
/// the field held before, or releases it on some other way, knows that there is something.
fn replaced(
    env: &Env<'_>,
    survey: &Survey,
    function: FuncRef,
    of: &StructName,
    handling: &Handling,
    field: &Owning<'_>,
) -> Replaced {
    let stores = || handling.stores.iter().filter(|(offset, _)| *offset == field.offset);
    if field.full && stores().next().is_some() {
        return Replaced::Certain;
    }
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
        is_older(source) && (field.changes || (field.released_with_owner && is_filled(source)))
    };
    let is_known = |source| source != Source::Other && handling.uses_old.contains(&field.offset);
    let is_filled_again = |store: &(u64, Source)| handling.fills.contains(store);
    let is_lost =
        |store: &(u64, Source)| is_filled_again(store) && is_changed(store.1) || is_known(store.1);
    if !handling.knows(field.offset) && stores().any(is_lost) {
        Replaced::Probable
    } else {
        Replaced::Unknown
    }
}
