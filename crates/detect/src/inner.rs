//! Objects that are forgotten when the struct that owns them is released.
//!
//! A destructor gets its struct from a caller who got it from somewhere else: no function sees both
//! the allocation of a field and the release of the struct. So the fields that own are found
//! by how the whole program treats them (`fields`), and each function that releases such a struct
//! is run once more with an object planted in every owning field of every such struct that it
//! comes upon. Such findings rest on an assumption, and say so.

mod callee;
mod fields;
mod together;

use crate::component::{self, Env, Outcome};
use fields::{Destructor, Made, Survey};
use leakproof_summary::{Exec, Planted};
use rayon::prelude::*;
use together::Together;

/// The findings about destructors of the whole program.
pub fn find(env: &Env<'_>) -> Vec<Outcome> {
    let calls =
        callee::Program { program: env.program, models: env.models, summaries: env.summaries };
    let survey = Survey::of(&calls);
    let together = Together::of(env);
    let destructors = survey.destructors.par_iter();
    destructors.filter_map(|d| examine(env, &survey, &together, d)).collect()
}

/// One destructor, with an object in every owning field.
fn examine(
    env: &Env<'_>,
    survey: &Survey,
    together: &Together,
    destructor: &Destructor,
) -> Option<Outcome> {
    let meets =
        |made: &Made| made.trace.iter().all(|s| together.run(s.at.func, destructor.function));
    let planted: Vec<Planted> = survey
        .owning(&destructor.of, meets)
        .into_iter()
        .filter_map(|(offset, made)| {
            let offset = i64::try_from(offset).ok()?;
            let Made { trace, family } = made.clone();
            Some(Planted { values: destructor.values.clone(), offset, trace, family })
        })
        .collect();
    if planted.is_empty() {
        return None;
    }
    let run = |exec: &mut Exec<'_>, outcome: &mut Outcome| {
        let candidates = exec.planted_candidates();
        component::find_leaks(env, exec, candidates, outcome);
    };
    component::run_planted(env, destructor.function, planted, run)
}
