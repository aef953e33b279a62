//! Objects that are forgotten when the struct that owns them is released, or when its field is given
//! another one.
//!
//! A destructor or a setter gets its struct from a caller who got it from somewhere else: no function
//! sees both the allocation of a field and the end of it. So the fields that own are found
//! by how the whole program treats them (`fields`), and each function that releases such a struct
//! or stores into one is run once more with an object planted in every owning field of every such
//! struct that it comes upon. Such findings rest on an assumption, and say so.

mod callee;
mod fields;
mod names;
mod order;
mod reader;
mod together;

use crate::component::{self, Env, Outcome};
use fields::{Handling, Made, Owning, StructName, Survey};
use leakproof_program::FuncRef;
use leakproof_summary::{Exec, Planted};
use rayon::prelude::*;
use together::Together;

/// The findings about destructors and setters of the whole program.
pub fn find(env: &Env<'_>) -> Vec<Outcome> {
    let calls =
        callee::Program { program: env.program, models: env.models, summaries: env.summaries };
    let survey = Survey::of(&calls);
    let together = Together::of(env);
    let handlings: Vec<_> = survey.handlings.iter().collect();
    let examined = handlings.into_par_iter();
    examined.filter_map(|((f, of), h)| examine(env, &survey, &together, *f, of, h)).collect()
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
    let meets = |made: &Made| made.trace.iter().all(|s| together.run(s.at.func, function));
    let owning = survey.owning(of, meets).into_iter();
    let at_stake =
        |o: &Owning<'_>| handling.releases || o.full && handling.stores.contains(&o.offset);
    let planted: Vec<Planted> = owning
        .filter(at_stake)
        .filter_map(|owning| {
            let offset = i64::try_from(owning.offset).ok()?;
            let Made { trace, family } = owning.made.clone();
            let values = handling.values.clone();
            Some(Planted { values, offset, trace, family, full: owning.full })
        })
        .collect();
    if planted.is_empty() {
        return None;
    }
    let run = |exec: &mut Exec<'_>, outcome: &mut Outcome| {
        let candidates = exec.planted_candidates();
        component::find_leaks(env, exec, candidates, outcome);
    };
    component::run_planted(env, function, planted, run)
}
