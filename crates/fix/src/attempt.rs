//! One way to mend one finding, and what to try next when it does not do.

use crate::declared;
use crate::holder::root_of;
use crate::kept::Standing;
use crate::op::Op;
use crate::placement::Placement;
use crate::releaser::Way;
use crate::style;
use crate::trial::Use;
use crate::view::View;
use crate::walk::Moment;
use leakproof_detect::{Given, Problem, ProblemKind};
use leakproof_findings::Finding;
use tree_sitter::Node;

/// Attempts per finding: each costs a part of a compilation.
pub const MAX_ATTEMPTS: usize = 10;
/// Parts of an object that are released before it.
const MAX_INNER: usize = 4;
/// Places at which one object is released, each on paths of its own.
const MAX_PLACES: usize = 4;

/// What is tried now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// Which reference to the object is released, and where.
    pub holder: usize,
    pub placement: usize,
    /// Other places at which it is released, too: each of them only on some of the paths that lose it.
    pub also: Vec<usize>,
    pub way: usize,
    /// The holder gets a null value at its declaration.
    pub init_null: bool,
    /// Released only if this holds.
    pub guard: Option<String>,
    /// And only if it is not what this says it might be.
    pub unlike: Option<String>,
    /// A `const` is dropped for the releasing function.
    pub cast: bool,
    /// Statements that release what the object holds.
    pub inner: Vec<String>,
    /// The releasing function is declared before the function that leaks.
    pub declared: bool,
}

impl Attempt {
    /// The same under conditions about another reference.
    fn renamed(&self, from: &str, to: &str) -> Attempt {
        let renamed = |guard: &String| renamed(guard, from, to);
        let (guard, unlike) = (self.guard.as_ref().map(renamed), self.unlike.as_ref().map(renamed));
        Attempt { guard, unlike, ..self.clone() }
    }

    fn all_places(&self) -> impl Iterator<Item = usize> + '_ {
        self.also.iter().copied().chain([self.placement])
    }

    /// The condition under which there is a release.
    pub fn condition(&self) -> Option<String> {
        match (&self.guard, &self.unlike) {
            (Some(guard), Some(unlike)) if guard.contains("||") => {
                Some(format!("({guard}) && {unlike}"))
            }
            (Some(guard), Some(unlike)) => Some(format!("{guard} && {unlike}")),
            (guard, unlike) => guard.clone().or_else(|| unlike.clone()),
        }
    }
}

/// Why an attempt does not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// clang does not compile it, or warns about it.
    Compiler(String),
    Problems(Vec<Problem>),
    /// The leak is still there.
    NotGone,
    /// Another leak appears.
    NewLeak(NewLeak),
}

/// A leak that the program did not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLeak {
    /// Where and of what, for a reader.
    pub text: String,
    /// The statement that would release it, when it is a part of what was released.
    pub release: Option<String>,
}

/// A reference to the object, and what can be done with it.
#[derive(Clone, Debug)]
pub struct Holder {
    /// As the source spells it.
    pub text: String,
    pub placements: Vec<Placement>,
    /// The place nearest to the leak, among the places.
    pub at_leak: usize,
    pub ways: Vec<Way>,
    /// How its variable could start as null.
    pub start: Option<Start>,
    /// Whatever is called with its address leaves null or a new object in it.
    pub only_filled: bool,
    /// Of each placement: what the code alone says of it there.
    pub standing: Vec<Standing>,
    /// Of each placement and way: a variable that the release changes and that is looked at afterwards.
    pub disturbed: Vec<Vec<Option<String>>>,
    /// Of each placement: when a release there happens, as far as lines tell that exactly.
    pub moments: Vec<Option<Moment>>,
    /// Of each placement: whether the function is left right behind it.
    pub leaves: Vec<bool>,
    /// Of each placement: what keeps a release there from being safe, whatever the analysis says.
    pub reserved: Vec<Option<String>>,
}

/// An initial value for a variable that has none.
#[derive(Clone, Debug)]
pub struct Start {
    pub at: usize,
    pub value: &'static str,
}

impl Start {
    /// Null for the pointer `text`; zero when `text` is a struct, or a member of one.
    fn of(
        view: &View,
        function: Node<'_>,
        text: &str,
        whole: bool,
        offset: usize,
    ) -> Option<Start> {
        let root = root_of(text);
        let declared = declared::find(view, function, root, offset.max(1))?;
        let member = text.strip_prefix(root)?;
        let inside = member.starts_with('.') && !member.contains("->");
        let value = match view.cxx {
            false if inside || whole => "{ 0 }",
            true if inside || whole => "{}",
            _ if !member.is_empty() => return None,
            false => "NULL",
            true => "nullptr",
        };
        let at = declared.uninitialised.filter(|_| !declared.is_parameter)?;
        Some(Start { at, value })
    }
}

impl Holder {
    pub fn new(
        view: &View,
        function: Node<'_>,
        finding: &Finding,
        text: String,
        placements: Vec<Placement>,
        ways: Vec<Way>,
    ) -> Holder {
        let offset = view.offset(finding.leak.line, finding.leak.column).unwrap_or(0);
        let whole = ways.iter().any(|w| w.whole);
        let start = Start::of(view, function, &text, whole, offset);
        Holder {
            text,
            placements,
            at_leak: 0,
            ways,
            start,
            only_filled: false,
            standing: Vec::new(),
            disturbed: Vec::new(),
            moments: Vec::new(),
            leaves: Vec::new(),
            reserved: Vec::new(),
        }
    }
}

/// All that can be tried for one finding.
#[derive(Clone, Debug)]
pub struct Plan {
    pub finding: Finding,
    /// References to the object, the likeliest first; never empty.
    pub holders: Vec<Holder>,
    pub null: &'static str,
    /// The condition under which the object was made, when it can be asked again.
    pub made_if: Option<String>,
    /// Calls have a space before the parenthesis.
    pub space: bool,
    /// Where declarations of functions would go.
    pub prelude: usize,
}

impl Plan {
    pub fn new(view: &View, function: Node<'_>, finding: &Finding, holders: Vec<Holder>) -> Plan {
        let null = if view.cxx { "nullptr" } else { "NULL" };
        let made_if = made_if(view, function, finding);
        let space = style::spaced_calls(view, function);
        let prelude = declared::prelude(function);
        Plan { finding: finding.clone(), holders, null, made_if, space, prelude }
    }

    pub fn holder(&self, attempt: &Attempt) -> Option<&Holder> {
        self.holders.get(attempt.holder)
    }

    pub fn placement(&self, attempt: &Attempt) -> Option<&Placement> {
        self.holder(attempt)?.placements.get(attempt.placement)
    }

    /// All places at which an attempt releases the object.
    fn places<'p>(&'p self, attempt: &'p Attempt) -> impl Iterator<Item = &'p Placement> {
        let holder = self.holder(attempt);
        attempt.all_places().filter_map(move |n| holder?.placements.get(n))
    }

    pub fn way(&self, attempt: &Attempt) -> Option<&Way> {
        self.holder(attempt)?.ways.get(attempt.way)
    }

    /// What keeps an attempt from being safe, whatever the analysis says.
    pub fn reservation(&self, attempt: &Attempt) -> Option<String> {
        attempt.all_places().find_map(|place| self.reservation_at(attempt, place))
    }

    fn reservation_at(&self, attempt: &Attempt, place: usize) -> Option<String> {
        let holder = self.holder(attempt)?;
        let disturbed = holder.disturbed.get(place);
        if let Some(Some(name)) = disturbed.and_then(|ways| ways.get(attempt.way)) {
            return Some(format!("the release changes `{name}`, which is looked at afterwards"));
        }
        let may_reset = |w: &Way| w.given != Given::Pointer || w.spelled.is_some();
        let resets = self.way(attempt).is_some_and(may_reset);
        let idle = holder.standing.get(place).is_some_and(|s| s.idle);
        // What is null from then on, the analysis takes for what nobody looks at.
        let used =
            "the releasing function may leave null, and what was there is looked at afterwards";
        let reserved = holder.reserved.get(place).and_then(|r| r.as_deref());
        reserved.or((resets && !idle).then_some(used)).map(str::to_owned)
    }

    /// The same with the next function that nothing keeps from being safe.
    pub fn unreserved(&self, attempt: &Attempt) -> Option<Attempt> {
        let ways = self.holder(attempt)?.ways.len();
        let next = (attempt.way + 1..ways).map(|way| Attempt { way, ..attempt.clone() });
        next.into_iter().find(|a| a.inner.is_empty() && self.reservation(a).is_none())
    }

    /// Whether the function is left right behind every release of an attempt.
    pub fn leaves(&self, attempt: &Attempt) -> bool {
        let Some(holder) = self.holder(attempt) else { return false };
        attempt.all_places().all(|n| holder.leaves.get(n).is_some_and(|l| *l))
    }

    /// Whether what is released is null or new and nobody else's, by the code alone.
    pub fn is_filled(&self, attempt: &Attempt) -> bool {
        let Some(holder) = self.holder(attempt).filter(|h| h.only_filled) else { return false };
        attempt.all_places().all(|n| {
            let standing = holder.standing.get(n).copied().unwrap_or_default();
            standing.alone && (standing.set || attempt.init_null)
        })
    }

    /// The moments of all releases of an attempt; none when lines do not tell them exactly.
    pub fn moments(&self, attempt: &Attempt) -> Option<Vec<Moment>> {
        let holder = self.holder(attempt)?;
        attempt.all_places().map(|n| holder.moments.get(n).copied().flatten()).collect()
    }

    /// Whether nobody looks at what is released afterwards, by the code alone.
    pub fn is_idle(&self, attempt: &Attempt) -> bool {
        let Some(holder) = self.holder(attempt) else { return false };
        attempt.all_places().all(|n| holder.standing.get(n).is_some_and(|s| s.idle))
    }

    /// The ops of an attempt. For an analysis the pointer is also looked through before a release that
    /// must not be given null: so the analysis says whether it may be.
    pub fn ops(&self, attempt: &Attempt, use_of: Use) -> Option<Vec<Op>> {
        let holder = self.holder(attempt)?;
        let way = self.way(attempt)?;
        self.placement(attempt)?;
        let text = |name: &str| {
            let mut lines = attempt.inner.clone();
            if use_of == Use::Analysis && !way.accepts_null {
                lines.push(look(name));
            }
            let owner = way.argument(name, false);
            if use_of == Use::Analysis && way.needs_owner && !owner.starts_with('&') {
                lines.push(look(&owner));
            }
            lines.push(way.statement(name, attempt.cast, self.space));
            let guard = attempt.renamed(&holder.text, name).condition();
            match (guard, lines.as_slice()) {
                (None, lines) => lines.join("\n"),
                (Some(guard), [release]) => format!("if ({guard})\n\t{release}"),
                (Some(guard), lines) => format!("if ({guard}) {{\n\t{}\n}}", lines.join("\n\t")),
            }
        };
        let mut ops: Vec<Op> =
            self.places(attempt).flat_map(|p| p.ops(&holder.text, &text)).collect();
        if attempt.init_null {
            let Start { at, value } = *holder.start.as_ref()?;
            ops.push(Op::Insert { at, end: at, text: format!(" = {value}") });
        }
        if attempt.declared {
            let text = format!("{};\n\n", way.prototype.as_ref()?);
            ops.push(Op::Insert { at: self.prelude, end: self.prelude, text });
        }
        Some(ops)
    }

    /// The attempt after one that got this feedback.
    pub fn next(&self, attempt: &Attempt, feedback: &Feedback) -> Option<Attempt> {
        let better = match feedback {
            // What the label does is not for this attempt to change.
            _ if matches!(self.placement(attempt), Some(Placement::Jump { .. })) => None,
            // No other place would make a difference, but another function may release less.
            Feedback::Problems(problems) if problems.iter().any(is_final) => {
                // The library's own would leave the object's parts behind.
                let next = self.next_way(attempt);
                let next = next.filter(|a| self.way(a).is_some_and(|w| !w.basic));
                // It may be another part of the owner: the part that leaks has a release of its own.
                let instead = matches!(self.placement(attempt), Some(Placement::Replace { .. }));
                let part = instead.then(|| self.next_holder(attempt)).flatten();
                return next.or(part);
            }
            // A reference that was only guessed would hold the object at the leak, if it did at all; and a
            // function for the struct around it that passes it over does so everywhere.
            Feedback::Problems(problems)
                if (self.is_whole(attempt) || (attempt.holder > 0 && self.is_at_leak(attempt)))
                    && is_idle(problems) =>
            {
                return self.next_way(attempt).or_else(|| self.next_holder(attempt));
            }
            Feedback::Problems(problems) if problems.iter().any(is_of_holder) => {
                return self.next_holder(attempt);
            }
            Feedback::Problems(problems) => self.amended(attempt, problems),
            Feedback::NewLeak(new) => self.next_way(attempt).or_else(|| with_inner(attempt, new)),
            Feedback::Compiler(message)
                if message.contains("discards qualifiers") && !attempt.cast =>
            {
                Some(Attempt { cast: true, ..attempt.clone() })
            }
            Feedback::Compiler(message)
                if is_declared_later(message)
                    && !attempt.declared
                    && self.way(attempt).is_some_and(|w| w.prototype.is_some()) =>
            {
                Some(Attempt { declared: true, ..attempt.clone() })
            }
            Feedback::Compiler(message) if self.is_unknown(attempt, message) => {
                return self.next_holder(attempt);
            }
            Feedback::Compiler(message) if is_of_call(message) => {
                return self.next_way(attempt).or_else(|| self.next_holder(attempt));
            }
            Feedback::Compiler(message) => {
                self.set_first(attempt, message).or_else(|| self.next_way(attempt))
            }
            Feedback::NotGone => None,
        };
        let elsewhere = || {
            let Attempt { holder, placement, .. } = *attempt;
            let at = |placement| match self.kept_places(attempt, feedback) {
                also if also.is_empty() => Attempt { holder, placement, ..Attempt::default() },
                also => Attempt { placement, also, ..attempt.clone() },
            };
            let skipped = |a: &Attempt| {
                let hoists = matches!(self.placement(a), Some(Placement::HoistReturn { .. }));
                hoists && !is_used_later(feedback)
            };
            let next = [1, 2].map(|step| at(placement + step));
            let next = next.into_iter().find(|a| !skipped(a));
            next.filter(|a| self.placement(a).is_some()).or_else(|| self.next_holder(attempt))
        };
        better.or_else(elsewhere)
    }

    /// The places so far that are worth keeping beside another one: nothing was wrong there, but other paths lose the
    /// object, too.
    fn kept_places(&self, attempt: &Attempt, feedback: &Feedback) -> Vec<usize> {
        let mut kept = attempt.also.clone();
        let adds = self.placement(attempt).is_some_and(Placement::is_addition);
        if matches!(feedback, Feedback::NotGone) && adds && kept.len() + 1 < MAX_PLACES {
            kept.push(attempt.placement);
        }
        kept
    }

    /// What is tried before another place for the same release: a function for the struct around what leaks
    /// concerns all that this holds, and what leaks is but one part of it.
    pub fn aside(&self, attempt: &Attempt, feedback: &Feedback) -> Option<Attempt> {
        let judged = matches!(feedback, Feedback::Problems(_) | Feedback::NotGone);
        (judged && self.is_whole(attempt))
            .then(|| self.next_way(attempt).or_else(|| self.next_holder(attempt)))
            .flatten()
    }

    fn is_at_leak(&self, attempt: &Attempt) -> bool {
        self.holder(attempt).is_some_and(|h| h.at_leak == attempt.placement)
    }

    fn is_whole(&self, attempt: &Attempt) -> bool {
        self.way(attempt).is_some_and(|w| w.whole)
    }

    /// Whether clang does not know the variable: no place in the function would be better.
    fn is_unknown(&self, attempt: &Attempt, message: &str) -> bool {
        let root = self.holder(attempt).map(|h| root_of(&h.text)).unwrap_or_default();
        message.contains(&format!("undeclared identifier '{root}'"))
            || message.contains("no member named")
    }

    /// The same with a pointer that is always set, when clang says that it may not be.
    fn set_first(&self, attempt: &Attempt, message: &str) -> Option<Attempt> {
        let unset = message.contains("uninitialized") && !attempt.init_null;
        let can = self.holder(attempt)?.start.is_some();
        (unset && can).then(|| Attempt { init_null: true, ..attempt.clone() })
    }

    fn next_holder(&self, attempt: &Attempt) -> Option<Attempt> {
        let next = Attempt { holder: attempt.holder + 1, ..Attempt::default() };
        self.placement(&next).is_some().then_some(next)
    }

    fn next_way(&self, attempt: &Attempt) -> Option<Attempt> {
        let next = Attempt { way: attempt.way + 1, ..attempt.clone() };
        (self.way(&next).is_some() && attempt.inner.is_empty()).then_some(next)
    }

    /// The same release under a condition or with a pointer that is always set, if that would help.
    fn amended(&self, attempt: &Attempt, problems: &[Problem]) -> Option<Attempt> {
        let holder = self.holder(attempt)?;
        let any = |kind| problems.iter().find(|p| p.kind == kind);
        if any(ProblemKind::NoEffect).is_some() {
            return self.next_way(attempt);
        }
        if problems.iter().any(|p| p.kind == ProblemKind::UsedAfter)
            && problems.iter().all(|p| !is_about_value(p))
        {
            // No condition and no other start makes it the last use.
            return None;
        }
        let unset = any(ProblemKind::Uninitialised).or(any(ProblemKind::Unclear));
        if unset.is_some() && !attempt.init_null && holder.start.is_some() {
            return Some(Attempt { init_null: true, ..attempt.clone() });
        }
        if any(ProblemKind::NullOwner).is_some() {
            return self.not_null(attempt);
        }
        let differs = |problem: &Problem| {
            let other = quoted(&problem.note).filter(|other| *other != root_of(&holder.text));
            other.map(|other| format!("{} != {other}", holder.text))
        };
        let other = any(ProblemKind::NotHeap).or(any(ProblemKind::Foreign));
        if let Some(unlike) = other.and_then(differs).filter(|_| attempt.unlike.is_none()) {
            return Some(Attempt { unlike: Some(unlike), ..attempt.clone() });
        }
        let made_if = self.made_if.clone().filter(|_| attempt.guard.is_none());
        let guard = other.or(unset).and(made_if)?;
        Some(Attempt { guard: Some(guard), ..attempt.clone() })
    }

    /// The same release only if there is something to release, or an owner to look into.
    fn not_null(&self, attempt: &Attempt) -> Option<Attempt> {
        let text = &self.holder(attempt)?.text;
        let itself = format!("{text} != {}", self.null);
        let owner = owner_of(text).map(|owner| format!("{owner} != {}", self.null));
        let both = owner.as_ref().map(|owner| format!("{owner} && {itself}"));
        let guards = match self.way(attempt)?.accepts_null {
            true => vec![owner],
            false => vec![Some(itself), both],
        };
        let guards: Vec<String> = guards.into_iter().flatten().collect();
        let next = match &attempt.guard {
            None => 0,
            Some(guard) => guards.iter().position(|g| g == guard).map_or(0, |at| at + 1),
        };
        let guard = guards.into_iter().nth(next)?;
        Some(Attempt { guard: Some(guard), ..attempt.clone() })
    }
}

/// A statement that looks through a pointer.
fn look(pointer: &str) -> String {
    format!("(void)*(volatile char *)({pointer});")
}

/// A condition about one reference, about another one.
fn renamed(guard: &str, from: &str, to: &str) -> String {
    match guard.strip_prefix(from).filter(|rest| rest.starts_with(' ')) {
        Some(rest) => format!("{to}{rest}"),
        None => guard.to_owned(),
    }
}

/// Whether the object may be used after the release: by what is returned, for instance.
fn is_used_later(feedback: &Feedback) -> bool {
    match feedback {
        Feedback::Problems(problems) => problems.iter().any(|p| p.kind == ProblemKind::UsedAfter),
        _ => false,
    }
}

/// Whether a problem is one of the object, not of the place.
fn is_final(problem: &Problem) -> bool {
    matches!(problem.kind, ProblemKind::Escaped | ProblemKind::Undecided)
}

/// Whether what the pointer is was lost sight of: then all that is said of it may be about something else.
fn is_about_value(problem: &Problem) -> bool {
    use ProblemKind as K;
    matches!(problem.kind, K::Unclear | K::Foreign | K::NotHeap | K::NullOwner)
}

/// Whether the only thing wrong is that nothing is released.
fn is_idle(problems: &[Problem]) -> bool {
    problems.iter().all(|p| p.kind == ProblemKind::NoEffect)
}

/// Whether clang does not like what the function is given: another place makes no difference.
fn is_of_call(message: &str) -> bool {
    ["incompatible", "too few arguments", "too many arguments", "unterminated"]
        .iter()
        .any(|words| message.contains(words))
}

/// Whether clang does not know the releasing function yet.
pub fn is_declared_later(message: &str) -> bool {
    ["follows non-static declaration", "undeclared function", "conflicting types for"]
        .iter()
        .any(|words| message.contains(words))
}

/// Whether it is one of the reference: another one may refer to the start of the object.
fn is_of_holder(problem: &Problem) -> bool {
    problem.kind == ProblemKind::Inexact
}

/// What the object holds is released before it, with the first way to do so.
pub fn with_inner(attempt: &Attempt, new: &NewLeak) -> Option<Attempt> {
    let release = new.release.clone()?;
    let mut next = Attempt { way: 0, ..attempt.clone() };
    if next.inner.contains(&release) || next.inner.len() >= MAX_INNER {
        return None;
    }
    // What was found last lies deepest.
    next.inner.insert(0, release);
    Some(next)
}

/// The condition of the `if` whose first branch makes the object, when asking it does nothing.
fn made_if(view: &View, function: Node<'_>, finding: &Finding) -> Option<String> {
    let alloc = &finding.alloc;
    let offset = view.offset(alloc.line, alloc.column)?;
    if alloc.file != finding.leak.file || !function.byte_range().contains(&offset) {
        return None;
    }
    let statement = view.statement(offset)?.node;
    let around = view.around(statement).find(|n| n.kind() == "if_statement")?;
    let first = around.child_by_field_name("consequence")?;
    let condition = around.child_by_field_name("condition")?;
    let effects = view.find(condition, |n| {
        matches!(n.kind(), "call_expression" | "update_expression" | "assignment_expression")
    });
    let text = view.source(condition).trim();
    let text = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(text).trim();
    let asks_again = first.byte_range().contains(&offset) && effects.is_empty();
    (asks_again && !text.is_empty()).then(|| text.to_owned())
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
