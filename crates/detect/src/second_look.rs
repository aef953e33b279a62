//! A second look at what was found: the function once more, with callees run where they are called.
//!
//! Summaries of large callees forget which result goes with which effect. Most findings do not hang on that; those
//! that do are often false. So a function that has findings is run again, and where its calls stand the
//! bodies of callees whose summaries were cut are run. A finding whose question has no answer then is dropped. It can
//! only refute: where this run meets a limit, or the solver gives up, the finding stays.

use crate::component::{Env, Outcome, Round, exit_loc};
use leakproof_guard::{Term, is_refuted};
use leakproof_ir::Loc;
use leakproof_program::FuncRef;
use leakproof_smt::{Answer, Session};
use leakproof_summary::{Budget, Candidate, Context, Exec, Inlining, ObjectId, Site};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

/// How far callees are run where they are called: calls within calls, instructions in all, and the estimate for one of
/// them.
const DEPTH: usize = 3;
const STEPS: u64 = 12_000;
const CALLEE: u64 = 2_000;

/// What the whole run may cost; a finding that needs more stays.
const BUDGET: Budget = Budget { steps: 100_000, cheap_steps: 20_000, terms: 150_000 };

/// What all second questions of a function may cost.
const MAX_QUESTIONS: usize = 200;

/// What a finding was asked about: an object by its trace, and an exit.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Asked {
    pub trace: Arc<[Site]>,
    pub exit: Loc,
}

impl Asked {
    /// `None` for an object of others, which no run makes.
    pub fn of(exec: &Exec<'_>, candidate: &Candidate) -> Option<Self> {
        let trace = exec.objects[candidate.object.0 as usize].trace.clone();
        let asked = Self { trace, exit: exit_loc(exec, candidate.exit) };
        (!exec.is_resized(candidate)).then_some(asked)
    }

    fn is_about(&self, exec: &Exec<'_>, exit: usize, object: ObjectId) -> bool {
        self.exit == exit_loc(exec, exit) && self.trace == exec.objects[object.0 as usize].trace
    }
}

/// The callees that may be run where they are called.
pub fn inlinable(env: &Env<'_>, round: &Round, f: FuncRef) -> BTreeSet<FuncRef> {
    let mut found = BTreeSet::new();
    let mut callers = vec![f];
    for _ in 0..DEPTH {
        let calls =
            callers.iter().flat_map(|&g| env.calls.callees_of(g).iter().map(move |&c| (g, c)));
        let cut = calls.filter(|&(g, callee)| {
            let summary = round.summary(env, g, callee);
            !round.is_member(callee) && summary.is_some_and(|s| !s.opaque && !s.is_exact())
        });
        let next: Vec<FuncRef> = cut.map(|(_, callee)| callee).collect();
        callers = next.into_iter().filter(|&callee| found.insert(callee)).collect();
    }
    found
}

/// Drops the findings of a function that callees in full rule out.
pub fn take(
    env: &Env<'_>,
    context: &Context<'_>,
    round: &Round,
    f: FuncRef,
    more_turns: bool,
    outcome: &mut Outcome,
) {
    outcome.looked_twice = true;
    if inlinable(env, round, f).is_empty() {
        return;
    }
    let calls = outcome.asked.iter().flatten().flat_map(|a| a.trace.iter().map(|s| s.at)).collect();
    let inlining = Inlining { calls, depth: DEPTH, steps: STEPS, callee: CALLEE };
    let context = Context { inlining: Some(&inlining), budget: BUDGET, ..*context };
    let Some(mut exec) = Exec::new(&context, f) else { return };
    exec.takes_more_turns = more_turns;
    exec.run();
    if exec.inlined == 0 || exec.limit.is_some() {
        return;
    }
    let states = exec.unreleased_at_exits();
    let mut session = Session::new();
    let (mut questions, mut longest) = (0, outcome.longest_question);
    let asked = std::mem::take(&mut outcome.asked);
    let mut is_kept = |asked: &Asked| {
        let same = states.iter().filter(|(exit, object, _)| asked.is_about(&exec, *exit, *object));
        let conditions: Vec<Term> = same.map(|(_, _, condition)| *condition).collect();
        conditions.into_iter().any(|condition| {
            questions += 1;
            if questions > MAX_QUESTIONS {
                return true;
            }
            let start = Instant::now();
            let possible = is_possible(env, &mut exec, condition, &mut session);
            longest = longest.max(start.elapsed());
            possible
        })
    };
    let stays: Vec<bool> = asked.iter().map(|a| a.as_ref().is_none_or(&mut is_kept)).collect();
    outcome.longest_question = longest;
    let others = outcome.findings.len() - stays.len();
    let mut stay = std::iter::repeat_n(true, others).chain(stays.iter().copied());
    outcome.findings.retain(|_| stay.next().unwrap_or(true));
    outcome.infeasible += stays.iter().filter(|s| !**s).count() as u64;
}

fn is_possible(env: &Env<'_>, exec: &mut Exec<'_>, condition: Term, session: &mut Session) -> bool {
    !is_refuted(&mut exec.terms, condition)
        && !matches!(session.solve(&exec.terms, condition, env.options.solver), Answer::Unsat)
}
