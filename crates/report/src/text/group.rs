//! The leaks of one object in one function: a reader mends them together, so one is shown in full
//! and the other leak points in a line each.

use std::collections::BTreeMap;

use leakproof_findings::{Finding, Fix};

use super::TextOptions;
use super::paint::Paint;
use crate::describe;
use crate::escape::visible;

/// The leaks in their order, each with those that follow from the same allocation, function and
/// variable. Whoever asks for every step gets every leak on its own.
pub(super) fn by_object(leaks: &[Finding], options: TextOptions) -> Vec<(&Finding, Vec<&Finding>)> {
    let mut groups: Vec<(&Finding, Vec<&Finding>)> = Vec::new();
    let mut known: BTreeMap<_, usize> = BTreeMap::new();
    for leak in leaks {
        let first = object(leak).and_then(|key| known.get(&key).copied());
        match first.filter(|_| !options.full_path) {
            Some(first) => groups[first].1.push(leak),
            None => {
                known.extend(object(leak).map(|key| (key, groups.len())));
                groups.push((leak, Vec::new()));
            }
        }
    }
    groups
}

/// What leaks, for a leak whose allocation has a place.
fn object(leak: &Finding) -> Option<(&str, u32, u32, &str, &str, &str, &str)> {
    let alloc = &leak.alloc;
    (leak.kind.is_leak() && alloc.line != 0).then_some((
        &alloc.file,
        alloc.line,
        alloc.column,
        &alloc.callee,
        &leak.leak.file,
        &leak.function,
        &leak.variable,
    ))
}

/// The other leak points, one line each.
pub(super) fn write(
    out: &mut String,
    first: &Finding,
    others: &[&Finding],
    gutter: usize,
    paint: Paint,
) {
    for leak in others {
        let title = paint.bold(&format!("also {}", leak.kind.name()));
        let sign = paint.frame(&format!("{:gutter$} =", ""));
        out.push_str(&format!("{sign} {title} {}\n", visible(&point(first, leak))));
    }
}

/// `at line 44 when index < 0 (id 3581b31305ee, assumed)`.
fn point(first: &Finding, leak: &Finding) -> String {
    let mut text = format!("at line {}", leak.leak.line);
    if !leak.condition.is_empty() {
        text.push_str(&format!(" when {}", leak.condition));
    }
    let remarks = remarks(first, leak);
    if !remarks.is_empty() {
        text.push_str(&format!(" ({})", remarks.join(", ")));
    }
    text
}

/// What is to be known of a leak that the first of its group does not say for it.
fn remarks(first: &Finding, leak: &Finding) -> Vec<String> {
    let mut list = Vec::new();
    if !leak.id.is_empty() {
        list.push(format!("id {}", leak.id));
    }
    if leak.evidence != first.evidence {
        list.push(leak.evidence.name().to_owned());
    }
    if let Some(verdict) = leak.verdict {
        list.push(format!("{}: {}", verdict.name(), describe::why(leak, verdict)));
    }
    list.extend(describe::rejection(leak).map(|reason| format!("not validated: {reason}")));
    list.extend(leak.fix.as_ref().map(fix));
    list
}

fn fix(fix: &Fix) -> String {
    format!("fix: {}", fix.description)
}
