//! Objects that are forgotten when the struct that owns them is released.
//!
//! A destructor gets its struct from a caller who got it from somewhere else: no function sees both
//! the allocation of a field and the release of the struct. So the fields that own are found
//! by how the whole program treats them (`fields`), and each function that releases such a struct
//! is run once more with an object planted in every owning field. Such findings rest on an
//! assumption, and say so.

mod callee;
mod fields;

use crate::component::{self, Env, Outcome};
use fields::{Destructor, Survey};
use leakproof_summary::{Exec, Planted};

/// The findings about destructors of the whole program.
pub fn find(env: &Env<'_>) -> Vec<Outcome> {
    let calls =
        callee::Program { program: env.program, models: env.models, summaries: env.summaries };
    let survey = Survey::of(&calls);
    survey.destructors.iter().filter_map(|d| examine(env, &survey, d)).collect()
}

/// One destructor, with an object in every owning field.
fn examine(env: &Env<'_>, survey: &Survey, destructor: &Destructor) -> Option<Outcome> {
    let planted: Vec<Planted> = survey
        .owning(&destructor.of)
        .into_iter()
        .filter_map(|(offset, made)| {
            let offset = i64::try_from(offset).ok()?;
            let (trace, family) = (made.trace, made.family);
            Some(Planted { param: destructor.param, offset, trace, family })
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
