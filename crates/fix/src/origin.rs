//! The references that an object has from the call that makes it: the variable that takes the
//! result, and those whose addresses are given to the call.
//!
//! What the analysis names is the last reference; it may point into the middle of the object, or be out
//! of scope where a release would stand. The first one often still refers to its start.

use crate::holder::is_writable;
use crate::view::View;
use leakproof_findings::Finding;
use tree_sitter::Node;

/// The expressions, when the object is made in the function that loses it.
#[derive(Default)]
pub struct Origin {
    /// What takes the call's result.
    pub taker: Option<String>,
    /// Variables whose addresses it is given.
    pub given: Vec<String>,
}

pub fn of(view: &View, function: Node<'_>, finding: &Finding) -> Origin {
    let alloc = &finding.alloc;
    let offset = view.offset(alloc.line, alloc.column).filter(|_| alloc.file == finding.leak.file);
    let Some(offset) = offset.filter(|o| function.byte_range().contains(o)) else {
        return Origin::default();
    };
    let calls = view.find(function, |n| n.kind() == "call_expression" && n.start_byte() == offset);
    let Some(call) = calls.last().copied() else { return Origin::default() };
    let mut given = given(view, call);
    given.retain(|text| is_writable(text));
    Origin { taker: taker(view, call).filter(|text| is_writable(text)), given }
}

/// What the result is assigned to.
fn taker(view: &View, call: Node<'_>) -> Option<String> {
    let mut value = call;
    loop {
        let parent = value.parent()?;
        let (target, source) = match parent.kind() {
            "cast_expression" | "parenthesized_expression" => {
                value = parent;
                continue;
            }
            "assignment_expression" => ("left", "right"),
            "init_declarator" => ("declarator", "value"),
            _ => return None,
        };
        if parent.child_by_field_name(source) != Some(value) {
            return None;
        }
        let text = view.source(parent.child_by_field_name(target)?);
        let text = if target == "declarator" { text.trim_start_matches(['*', ' ']) } else { text };
        return Some(text.to_owned());
    }
}

/// Variables whose addresses are arguments.
fn given(view: &View, call: Node<'_>) -> Vec<String> {
    let Some(arguments) = call.child_by_field_name("arguments") else { return Vec::new() };
    let mut cursor = arguments.walk();
    let texts = arguments.named_children(&mut cursor).map(|a| view.source(a));
    let bare = |t: &str| t.trim_start_matches(['(', ' ']).trim_end_matches([')', ' ']).to_owned();
    texts.filter_map(|t| t.strip_prefix('&')).map(bare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_findings::{AllocSite, Location};

    fn names(text: &str) -> Vec<String> {
        let view = View::new(text.into(), false).unwrap();
        let at = text.find("make").unwrap();
        let finding = Finding {
            alloc: AllocSite { line: 1, column: at as u32 + 1, ..AllocSite::default() },
            leak: Location::default(),
            ..Finding::default()
        };
        let Origin { taker, given } = of(&view, view.function(at).unwrap(), &finding);
        taker.into_iter().chain(given).collect()
    }

    #[test]
    fn results_and_addresses() {
        assert_eq!(names("void f() { char *p = (char *) make(1); }"), ["p"]);
        assert_eq!(names("void f() { if ((s->p = make()) == 0) return; }"), ["s->p"]);
        assert_eq!(names("void f() { if (make(&line, &n, in) < 0) return; }"), ["line", "n"]);
        assert_eq!(names("void f() { make(&(s->text), 3); }"), ["s->text"]);
        assert_eq!(names("void f() { use(make()); }"), [""; 0]);
        assert_eq!(names("void f() { a[make()] = 1; x = 1 + make(); }"), [""; 0]);
    }
}
