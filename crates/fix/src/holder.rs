//! How the source at the leak spells the reference that holds the object.
//!
//! The analysis names it as the function that was run would; the leak may lie in a function that
//! this one calls, which names it otherwise. What stands in the statement itself is believed first.

use crate::declared;
use crate::origin;
use crate::view::View;
use leakproof_findings::{Finding, Sources};
use tree_sitter::Node;

/// References tried at most.
const MAX_HOLDERS: usize = 5;

/// The expressions that may refer to the object, the likeliest first; none when there is none that
/// could be written.
pub fn spell(view: &View, finding: &Finding, sources: &Sources) -> Vec<String> {
    let mut list = Vec::new();
    let Some(offset) = view.offset(finding.leak.line, finding.leak.column) else { return list };
    let Some(function) = view.function(offset) else { return list };
    let statement = view.statement(offset).map(|s| s.node);
    let variable = finding.variable.as_str();
    list.extend(statement.and_then(|s| assigned(view, s, variable)));
    let named = named(view, function, variable, offset);
    let wholes = named.iter().flat_map(|text| wholes(text)).map(str::to_owned);
    let owned = statement.and_then(|s| owned(view, s, offset, finding, sources));
    // Where another owner is released than the one that is named, the name is that of an earlier moment.
    let other = |text: &&String| named.as_ref().is_some_and(|n| root_of(n) != root_of(text));
    list.extend(owned.iter().filter(other).cloned());
    list.extend(named.iter().cloned());
    list.extend(owned.iter().cloned());
    let first = origin::of(view, function, finding);
    let field = field_of_site(finding, sources, view.cxx);
    let parts = first.given.iter().filter_map(|g| Some(format!("{g}.{}", field.as_ref()?)));
    list.extend(first.taker.iter().chain(&first.given).cloned().chain(parts));
    list.extend(wholes);
    if variable.is_empty() {
        list.extend(statement.and_then(|s| overwritten(view, s)));
    }
    let mut unique: Vec<String> = Vec::new();
    for text in list {
        if !unique.contains(&text) {
            unique.push(text);
        }
    }
    wholes_first(&mut unique);
    unique.truncate(MAX_HOLDERS);
    unique
}

/// The structs that a path leads through without leaving them: `s.a` of `s.a.b`, `p->a` of `p->a.b`.
fn wholes(path: &str) -> impl Iterator<Item = &str> {
    let inside = path.rfind("->").map_or(0, |at| at + 2);
    path[inside..].match_indices('.').map(move |(at, _)| &path[..inside + at])
}

/// Whether a path names a member of the struct that another one names.
pub fn is_member(path: &str, whole: &str) -> bool {
    path.strip_prefix(whole).is_some_and(|rest| rest.starts_with('.'))
}

/// A struct stands before its members: who made them was given the struct, and the program may have a function
/// that empties it.
fn wholes_first(texts: &mut [String]) {
    for i in 1..texts.len() {
        if let Some(first) = texts[..i].iter().position(|t| is_member(t, &texts[i])) {
            texts[first..=i].rotate_right(1);
        }
    }
}

/// What an assignment overwrites.
fn overwritten(view: &View, statement: Node<'_>) -> Option<String> {
    let inner = statement.named_child(0).filter(|n| n.kind() == "assignment_expression")?;
    let left = view.source(inner.child_by_field_name("left")?);
    is_writable(left).then(|| left.to_owned())
}

/// The left side of an assignment to the same field or variable.
fn assigned(view: &View, statement: Node<'_>, variable: &str) -> Option<String> {
    let inner = statement.named_child(0)?;
    if inner.kind() != "assignment_expression" {
        return None;
    }
    let left = view.source(inner.child_by_field_name("left")?);
    let same = !variable.is_empty() && last_name(left) == last_name(variable);
    (same && is_writable(left)).then(|| left.to_owned())
}

/// The analysis' own name, when its variable is one here.
fn named(view: &View, function: Node<'_>, variable: &str, offset: usize) -> Option<String> {
    if !is_writable(variable) {
        return None;
    }
    let root = root_of(variable);
    let Some(declared) = declared::find(view, function, root, offset.max(1)) else {
        // A global, or declared by a macro. What the function never mentions is a name of its caller.
        return view.mentions(function, root).then(|| variable.to_owned());
    };
    let rest = &variable[variable.find(root)? + root.len()..];
    match rest.strip_prefix('.') {
        Some(field) if declared.is_pointer => Some(format!("{root}->{field}")),
        _ => Some(variable.to_owned()),
    }
}

/// The owner is released by a call here: the field of its argument in which the object was put.
fn owned(
    view: &View,
    statement: Node<'_>,
    offset: usize,
    finding: &Finding,
    sources: &Sources,
) -> Option<String> {
    let calls = view.find(statement, |n| n.kind() == "call_expression");
    let call = calls.into_iter().rfind(|c| c.byte_range().contains(&offset))?;
    let argument = view.source(call.child_by_field_name("arguments")?.named_child(0)?);
    let field = field_of_site(finding, sources, view.cxx)?;
    let path = match argument.strip_prefix('&') {
        Some(object) => format!("{object}.{field}"),
        None => format!("{argument}->{field}"),
    };
    is_writable(&path).then_some(path)
}

/// The field to which the allocation's own statement assigns the object.
pub fn field_of_site(finding: &Finding, sources: &Sources, cxx: bool) -> Option<String> {
    let site = finding.alloc_trace.last()?;
    let file = sources.get(&site.file)?;
    let view = View::new(file.bytes().to_vec(), cxx)?;
    let statement = view.statement(view.offset(site.line, site.column)?)?.node;
    let assignments = view.find(statement, |n| n.kind() == "assignment_expression");
    let left = assignments.last()?.child_by_field_name("left")?;
    if left.kind() != "field_expression" {
        return None;
    }
    Some(view.source(left.child_by_field_name("field")?).to_owned())
}

fn last_name(path: &str) -> &str {
    path.rsplit(['.', '>', '*']).next().unwrap_or(path)
}

/// The variable at the start of an access path.
pub fn root_of(path: &str) -> &str {
    let path = path.trim_start_matches('*');
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
    &path[..end]
}

/// An access path that is also an expression: names joined by `.` and `->`.
pub fn is_writable(path: &str) -> bool {
    let path = path.strip_prefix('*').unwrap_or(path);
    let names = path.replace("->", ".");
    !path.is_empty()
        && names.split('.').all(|n| {
            !n.is_empty()
                && !n.starts_with(|c: char| c.is_ascii_digit())
                && n.chars().all(|c| c.is_alphanumeric() || c == '_')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_paths_that_can_be_written() {
        assert!(is_writable("p") && is_writable("s->a.b") && is_writable("*out"));
        assert!(!is_writable("") && !is_writable("a[]") && !is_writable("f()->x"));
        assert_eq!(root_of("*out"), "out");
        assert_eq!(root_of("s->a.b"), "s");
        assert_eq!(last_name("s->a.b"), "b");
        assert_eq!(last_name("c->title"), "title");
    }
}
