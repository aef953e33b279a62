//! One way to mend one finding, and what to try next when it does not do.

use crate::declared;
use crate::op::Op;
use crate::placement::{Placement, root_of};
use crate::releaser::Way;
use crate::view::View;
use leakproof_detect::{Problem, ProblemKind};
use leakproof_findings::Finding;
use tree_sitter::Node;

/// Attempts per finding: each costs a part of a compilation.
pub const MAX_ATTEMPTS: usize = 12;

/// What is tried now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    pub placement: usize,
    pub way: usize,
    /// The holder gets a null value at its declaration.
    pub init_null: bool,
    /// Released only if this holds.
    pub guard: Option<String>,
}

/// Why an attempt does not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// clang does not compile it, or warns about it.
    Compiler(String),
    Problems(Vec<Problem>),
    /// The leak is still there.
    NotGone,
    /// Another leak appears: where and of what.
    NewLeak(String),
}

/// All that can be tried for one finding.
#[derive(Clone, Debug)]
pub struct Plan {
    pub finding: Finding,
    pub placements: Vec<Placement>,
    pub ways: Vec<Way>,
    /// Where the holder could be set to null.
    pub null_at: Option<usize>,
    pub null: &'static str,
}

impl Plan {
    pub fn new(
        view: &View,
        function: Node<'_>,
        finding: &Finding,
        placements: Vec<Placement>,
        ways: Vec<Way>,
    ) -> Plan {
        let variable = finding.variable.as_str();
        let offset = view.offset(finding.leak.line, finding.leak.column).unwrap_or(0);
        let declared = declared::find(view, function, variable, offset.max(1))
            .filter(|d| d.is_pointer && !d.is_parameter);
        let null_at = declared.and_then(|d| d.uninitialised);
        let null = if view.cxx { "nullptr" } else { "NULL" };
        Plan { finding: finding.clone(), placements, ways, null_at, null }
    }

    /// The ops of an attempt.
    pub fn ops(&self, attempt: &Attempt) -> Option<Vec<Op>> {
        let way = self.ways.get(attempt.way)?;
        let placement = self.placements.get(attempt.placement)?;
        let text = |holder: &str| match &attempt.guard {
            None => way.statement(holder),
            Some(guard) => format!("if ({guard})\n\t{}", way.statement(holder)),
        };
        let mut ops = placement.ops(&self.finding.variable, &text);
        if attempt.init_null {
            let text = format!(" = {}", self.null);
            ops.push(Op::Insert { at: self.null_at?, text });
        }
        Some(ops)
    }

    /// The attempt after one that got this feedback.
    pub fn next(&self, attempt: &Attempt, feedback: &Feedback) -> Option<Attempt> {
        let better = match feedback {
            Feedback::Problems(problems) => self.amended(attempt, problems),
            Feedback::NewLeak(_) | Feedback::Compiler(_) => {
                Some(Attempt { way: attempt.way + 1, ..attempt.clone() })
                    .filter(|a| a.way < self.ways.len())
            }
            Feedback::NotGone => None,
        };
        better.or_else(|| {
            let next = Attempt { placement: attempt.placement + 1, ..Attempt::default() };
            (next.placement < self.placements.len()).then_some(next)
        })
    }

    /// The same release under a condition or with a pointer that is always set, if that would help.
    fn amended(&self, attempt: &Attempt, problems: &[Problem]) -> Option<Attempt> {
        let any = |kind| problems.iter().find(|p| p.kind == kind);
        if any(ProblemKind::NoEffect).is_some() && attempt.way + 1 < self.ways.len() {
            return Some(Attempt { way: attempt.way + 1, ..attempt.clone() });
        }
        if any(ProblemKind::Uninitialised).is_some() && !attempt.init_null && self.null_at.is_some()
        {
            return Some(Attempt { init_null: true, ..attempt.clone() });
        }
        if attempt.guard.is_some() {
            return None;
        }
        let guard = if any(ProblemKind::NullOwner).is_some() {
            owner_of(&self.finding.variable).map(|owner| format!("{owner} != {}", self.null))
        } else if let Some(problem) = any(ProblemKind::NotHeap) {
            quoted(&problem.note).map(|other| format!("{} != {other}", self.finding.variable))
        } else {
            None
        };
        guard.map(|g| Attempt { guard: Some(g), ..attempt.clone() })
    }
}

/// The pointer through which an access path goes: `s->a` of `s->a->b`.
fn owner_of(path: &str) -> Option<&str> {
    path.rfind("->").map(|at| &path[..at])
}

/// The name in backquotes, when it is one that can be written.
fn quoted(note: &str) -> Option<&str> {
    let name = note.split('`').nth(1)?;
    (root_of(name) == name && !name.is_empty()).then_some(name)
}
