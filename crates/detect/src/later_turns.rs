//! Leaks that need more turns of a loop than most do.
//!
//! Loops take two turns, which is enough for what they do in every turn. A state machine makes an object in one turn and
//! loses it some turns later. So a function with a loop that still came to something new in its last turn is run once
//! more, with as many turns as that goes on. Of this run only findings are kept, of objects about which nothing was found
//! yet: its states are larger, and callers are told less by them.

use crate::component::{Env, Outcome, Round, find_leaks, keeps_locals};
use crate::second_look;
use leakproof_program::FuncRef;
use leakproof_summary::{Context, Exec};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Adds what a function loses in later turns of its loops.
pub fn find(
    env: &Env<'_>,
    context: &Context<'_>,
    round: &Round,
    f: FuncRef,
    outcome: &mut Outcome,
) {
    let work = || later(env, context, round, f, outcome.instructions);
    let Some(later) = catch_unwind(AssertUnwindSafe(work)).ok().flatten() else { return };
    let known = outcome.findings.len();
    outcome.queries += later.queries;
    outcome.longest_question = outcome.longest_question.max(later.longest_question);
    outcome.looked_twice |= later.looked_twice;
    for finding in later.findings {
        if outcome.findings[..known].iter().all(|f| f.alloc != finding.alloc) {
            outcome.findings.push(finding);
        }
    }
}

/// What the function does when its loops take more turns.
fn later(
    env: &Env<'_>,
    context: &Context<'_>,
    round: &Round,
    f: FuncRef,
    instructions: u64,
) -> Option<Outcome> {
    let mut exec = Exec::new(context, f)?;
    exec.takes_more_turns = true;
    exec.run();
    let candidates = exec.candidates(keeps_locals(env, f));
    if exec.limit.is_some() {
        return None;
    }
    let mut outcome = Outcome { instructions, ..Outcome::default() };
    find_leaks(env, &mut exec, candidates, &mut outcome);
    if !outcome.asked.is_empty() {
        second_look::take(env, context, round, f, true, &mut outcome);
    }
    Some(outcome)
}
