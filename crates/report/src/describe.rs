//! The words of a finding, shared by all renderers so that they agree.
//!
//! In: a finding. Out: plain text that may still hold foreign characters (names come from source);
//! the renderer escapes it.

use leakproof_findings::{BaselineLeak, Event, Evidence, Finding, Kind, PathStep, Verdict};

/// The kind of a finding as a rule name: `lost-memory`, `forgotten-file`.
pub fn rule_id(finding: &Finding) -> String {
    rule_name(finding.kind, &finding.family)
}

pub(crate) fn rule_name(kind: Kind, family_name: &str) -> String {
    match kind.is_leak() {
        true => format!("{}-{}", kind.name(), family(family_name)),
        false => kind.name().to_owned(),
    }
}

/// What a finding is.
pub(crate) fn noun(finding: &Finding) -> &'static str {
    if finding.kind.is_leak() { "leak" } else { "error" }
}

/// One sentence: what leaks and how.
pub fn headline(finding: &Finding) -> String {
    let what = object(finding);
    let variable = &finding.variable;
    match (finding.kind, variable.is_empty()) {
        (Kind::Lost, true) => format!("{what} is lost"),
        (Kind::Lost, false) => format!("{what} is lost; `{variable}` was its last reference"),
        (Kind::Forgotten, true) => {
            format!("{what} is forgotten: still held when `{}` returns", finding.function)
        }
        (Kind::Forgotten, false) => forgotten(finding, &what),
        (Kind::DoubleFree, _) => format!("{what} is released twice"),
        (Kind::UseAfterFree, _) => format!("{what} is used after its release"),
    }
}

fn forgotten(finding: &Finding, what: &str) -> String {
    let (function, variable) = (&finding.function, &finding.variable);
    match finding.held_by.as_deref() {
        None => {
            format!("{what} is forgotten; `{variable}` still holds it when `{function}` returns")
        }
        Some("") => {
            format!("{what} is forgotten when `{function}` returns; `{variable}` may have held it")
        }
        Some(last) => {
            format!("{what} is forgotten when `{function}` returns; `{last}` held it last")
        }
    }
}

/// The object and where it comes from: "memory allocated by `malloc`".
pub(crate) fn object(finding: &Finding) -> String {
    let callee = &finding.alloc.callee;
    match family(&finding.family) {
        "file" => with_maker("a file", "opened", callee),
        "dir" => with_maker("a directory stream", "opened", callee),
        other if finding.resource => {
            with_maker(&format!("a resource of family `{other}`"), "obtained", callee)
        }
        _ => with_maker("memory", "allocated", callee),
    }
}

fn with_maker(noun: &str, verb: &str, callee: &str) -> String {
    if callee.is_empty() { noun.to_owned() } else { format!("{noun} {verb} by `{callee}`") }
}

/// Families that are no memory in every report, old ones included.
pub(crate) fn is_other_resource(family: &str) -> bool {
    matches!(family, "file" | "dir")
}

pub(crate) fn family(name: &str) -> &str {
    if name.is_empty() { "memory" } else { name }
}

/// One line about a leak that the baseline has and the program has no more.
pub(crate) fn fixed_line(leak: &BaselineLeak) -> String {
    let variable =
        if leak.variable.is_empty() { String::new() } else { format!(" in `{}`", leak.variable) };
    let (kind, family) = (leak.kind.name(), family(&leak.family));
    format!("{kind} {family} from `{}`{variable}, {}, `{}`", leak.callee, leak.file, leak.function)
}

pub fn evidence_reason(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Witnessed => "an input runs into it",
        Evidence::Feasible => "the solver has values that take this path",
        Evidence::Assumed => {
            "not proven: the solver gave up, an unknown function is taken not to own the object, \
             or a field to own it"
        }
    }
}

/// Why the verdict is what it is: what validation said, else what the verdict means.
pub(crate) fn why(finding: &Finding, verdict: Verdict) -> String {
    let said = finding.validation.as_ref().map(|v| v.reason.clone());
    said.unwrap_or_else(|| verdict_reason(verdict).to_owned())
}

/// Why there is no verdict although one was asked for.
pub(crate) fn rejection(finding: &Finding) -> Option<&str> {
    let said = finding.validation.as_ref().map(|v| v.reason.as_str());
    said.filter(|_| finding.verdict.is_none())
}

fn verdict_reason(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::MustLeak => "a run reaches the leak and the object is never freed",
        Verdict::LikelyNotLeak => {
            "no run can take this path, or the object is used and freed later"
        }
        Verdict::Bloat => "freed in the end, but never used again after this point",
        Verdict::MayLeak => "no run reached it within the budget",
    }
}

/// What a path step says; steps without a note get one from their event.
pub(crate) fn note(step: &PathStep, finding: &Finding) -> String {
    if !step.note.is_empty() {
        return step.note.clone();
    }
    match step.event {
        Event::Alloc => format!("{} here", object(finding)),
        Event::Branch => "this branch is taken".to_owned(),
        Event::Call => "passed to a call that does not take it".to_owned(),
        Event::Store => "a reference is stored".to_owned(),
        Event::Drop => "a reference goes away".to_owned(),
        Event::Leak => leak_note(finding),
    }
}

pub(crate) fn leak_note(finding: &Finding) -> String {
    match finding.kind {
        Kind::Lost => "lost here: nothing refers to it any more".to_owned(),
        Kind::Forgotten => "forgotten here: nobody frees it after this point".to_owned(),
        Kind::DoubleFree => "released again here".to_owned(),
        Kind::UseAfterFree => "used here".to_owned(),
    }
}

pub(crate) fn kind_meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::Lost => {
            "The last pointer to the object was overwritten, released or went out of scope: \
             from here on nothing in the program can free it."
        }
        Kind::Forgotten => {
            "The function ends while only its own local variables refer to the object, \
             so nobody can free it after the function has returned."
        }
        Kind::DoubleFree => "The object was released on this path before.",
        Kind::UseAfterFree => {
            "The object was released on this path before: what is read or written here belongs to \
             nobody, or to somebody else."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_findings::AllocSite;

    fn of(family: &str, resource: bool, callee: &str) -> String {
        let alloc = AllocSite { callee: callee.to_owned(), ..AllocSite::default() };
        let family = family.to_owned();
        object(&Finding { family, resource, alloc, ..Finding::default() })
    }

    #[test]
    fn every_family_of_memory_is_memory() {
        assert_eq!(of("memory", false, "malloc"), "memory allocated by `malloc`");
        assert_eq!(
            of("curl.slist", false, "curl_slist_append"),
            "memory allocated by `curl_slist_append`"
        );
        assert_eq!(of("", false, ""), "memory");
        assert_eq!(of("file", true, "fopen"), "a file opened by `fopen`");
        assert_eq!(of("lock", true, "get"), "a resource of family `lock` obtained by `get`");
    }
}
