//! Expectations against findings, in both directions.
//!
//! A finding meets an expectation if it is on its line (leak line for `leak:`, allocation line for
//! `leaks:`) and names the same variable, or, next best, is in the same function and names the
//! same variable, wherever exactly it puts the leak point. Kinds do not decide, but are counted.
//!
//! Invariant: each finding ends up in exactly one of `met`, `extra`, `known_false`, `unexpected`,
//! each group of expectations in exactly one of `met`, `known_missed`, `missing`.

use super::discover::Case;
use super::expectation::{Expectation, Point, Status};
use super::run::Found;

#[derive(Default)]
pub struct Outcome {
    pub idiom: String,
    pub name: String,
    /// Leaks that were expected and found.
    pub met: Vec<(Expectation, Found)>,
    /// Findings that repeat a leak that is already met, or something that it owns.
    pub extra: Vec<Found>,
    pub known_missed: Vec<Expectation>,
    pub known_false: Vec<Found>,
    pub missing: Vec<Expectation>,
    pub unexpected: Vec<Found>,
    /// Markers that are no longer true.
    pub stale: Vec<Expectation>,
    /// The run itself failed.
    pub problem: Option<String>,
}

impl Outcome {
    pub fn broken(case: &Case, problem: String) -> Self {
        let mut outcome = compare(case, Vec::new());
        // Counted as missed, but one message is enough; markers say nothing about a failed run.
        outcome.stale.clear();
        outcome.problem = Some(problem);
        outcome
    }

    /// What a reader has to look at; empty if all is as written.
    pub fn failures(&self) -> Vec<String> {
        let mut out = Vec::new();
        if let Some(problem) = &self.problem {
            return vec![format!("{}: {problem}", self.name)];
        }
        for e in &self.missing {
            out.push(format!(
                "{}: MISSED {} `{}` in {}",
                e.place(),
                e.kind,
                e.variable,
                e.function
            ));
        }
        for f in &self.unexpected {
            out.push(format!("{} FALSE", f.describe()));
        }
        for e in &self.stale {
            let what = if e.is_false_alarm() { "no longer reported" } else { "now found" };
            out.push(format!("{}: STALE marker: {what}", e.place()));
        }
        out
    }
}

pub fn compare(case: &Case, findings: Vec<Found>) -> Outcome {
    let (idiom, name) = (case.idiom.clone(), case.name.clone());
    let mut outcome = Outcome { idiom, name, ..Outcome::default() };
    let (false_alarms, leaks): (Vec<_>, Vec<_>) =
        case.expectations.iter().partition(|e| e.is_false_alarm());
    let rest = assign(groups(&leaks), findings, &mut outcome);
    let (known, unexpected) =
        rest.into_iter().partition(|f| false_alarms.iter().any(|e| on_line(e, f)));
    outcome.known_false = known;
    outcome.unexpected = unexpected;
    for alarm in false_alarms {
        if !outcome.known_false.iter().any(|f| on_line(alarm, f)) {
            outcome.stale.push(alarm.clone());
        }
    }
    outcome
}

/// Expectations that stand for the same leak.
fn groups<'a>(expectations: &[&'a Expectation]) -> Vec<Vec<&'a Expectation>> {
    let mut groups: Vec<Vec<&Expectation>> = Vec::new();
    for e in expectations {
        let same = |g: &&mut Vec<&Expectation>| e.group.is_some() && g[0].group == e.group;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(e),
            None => groups.push(vec![e]),
        }
    }
    groups
}

/// Gives findings to groups, best fit first; returns the findings that fit none.
fn assign(
    groups: Vec<Vec<&Expectation>>,
    findings: Vec<Found>,
    outcome: &mut Outcome,
) -> Vec<Found> {
    let mut open: Vec<Option<Vec<&Expectation>>> = groups.iter().cloned().map(Some).collect();
    let mut left: Vec<Option<Found>> = findings.into_iter().map(Some).collect();
    for fit in [Fit::Exact, Fit::Line, Fit::Function] {
        for slot in &mut left {
            let Some(finding) = slot.as_ref() else { continue };
            let group = open
                .iter_mut()
                .find(|g| g.as_ref().is_some_and(|g| member(g, finding, fit).is_some()));
            let Some(members) = group.and_then(Option::take) else { continue };
            let Some(e) = member(&members, finding, fit) else { continue };
            if matches!(e.status, Status::Missed(_)) {
                outcome.stale.push(e.clone());
            }
            outcome.met.extend(slot.take().map(|f| (e.clone(), f)));
        }
    }
    for group in open.into_iter().flatten() {
        let list = match group[0].status {
            Status::Missed(_) => &mut outcome.known_missed,
            _ => &mut outcome.missing,
        };
        list.push(group[0].clone());
    }
    let (extra, rest) = left.into_iter().flatten().partition(|f| repeats(f, &groups, &outcome.met));
    outcome.extra = extra;
    rest
}

/// The expectation of a group that a finding fits this well. The places of a group may call the
/// object by different names (`u.mail` in the caller, `p.mail` in the destructor), so a finding
/// may use any of them at any place.
fn member<'a>(group: &[&'a Expectation], finding: &Found, fit: Fit) -> Option<&'a Expectation> {
    group.iter().copied().find(|e| {
        group.iter().any(|named| {
            let e = Expectation { variable: named.variable.clone(), ..(*e).clone() };
            fits(&e, finding) == Some(fit)
        })
    })
}

/// How well a finding fits an expectation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// Line and variable.
    Exact,
    /// Line, and nothing against it in the names.
    Line,
    /// Function and variable.
    Function,
}

fn fits(e: &Expectation, f: &Found) -> Option<Fit> {
    let (expected, found) = (path(&e.variable), path(&f.variable));
    let same_variable = expected == found && !expected.is_empty();
    let nameless = expected.is_empty() || found.is_empty();
    let same_root = expected.first() == found.first();
    match on_line(e, f) {
        true if same_variable => Some(Fit::Exact),
        // The call that yields it says which object is meant, whatever it is called.
        true if nameless || same_root || e.point == Point::Alloc => Some(Fit::Line),
        _ if same_variable && in_function(e, f) => Some(Fit::Function),
        _ => None,
    }
}

fn on_line(e: &Expectation, f: &Found) -> bool {
    let here = |(file, line): &(String, u32)| *file == e.file && *line == e.line;
    match (&e.status, e.point) {
        (Status::False(_), _) => here(&f.leak) || here(&f.alloc),
        (_, Point::Leak) => here(&f.leak),
        (_, Point::Alloc) => here(&f.alloc),
    }
}

fn in_function(e: &Expectation, f: &Found) -> bool {
    let last = f.function.rsplit("::").next().unwrap_or("");
    f.leak.0 == e.file && last == e.function
}

/// Does the finding repeat a met leak: fit its group too, or show something that it owns?
fn repeats(f: &Found, groups: &[Vec<&Expectation>], met: &[(Expectation, Found)]) -> bool {
    let is_met = |group: &Vec<&Expectation>| {
        group
            .iter()
            .any(|e| met.iter().any(|(m, _)| m.place() == e.place() && m.variable == e.variable))
    };
    let fits_met = groups.iter().any(|g| {
        is_met(g)
            && [Fit::Exact, Fit::Line, Fit::Function].iter().any(|fit| member(g, f, *fit).is_some())
    });
    let owned = met.iter().any(|(_, m)| {
        let (owner, inner) = (path(&m.variable), path(&f.variable));
        let deeper = !owner.is_empty() && inner.len() > owner.len();
        m.function == f.function && deeper && inner.starts_with(&owner)
    });
    fits_met || owned
}

/// `q->buf[3].name` as `[q, buf, name]`, `this->buf` as `[buf]`.
fn path(variable: &str) -> Vec<String> {
    let mut out = Vec::new();
    for part in variable.replace("->", ".").split('.') {
        let name = part.split('[').next().unwrap_or("").trim_start_matches(['*', '&', '(']);
        let name = name.trim_end_matches(')');
        if !name.is_empty() && (name != "this" || !out.is_empty()) {
            out.push(name.to_owned());
        }
    }
    out
}
