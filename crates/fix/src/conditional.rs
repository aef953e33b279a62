//! Other configurations: code under `#if` that mentions a variable.
//!
//! In: a variable, and where its release would stand. Out: whether code that was not analysed may
//! have a say in it. The release itself may stand in such code: then all that is compiled together
//! with it is what was analysed. Elsewhere, what was analysed may be missing in other configurations:
//! that matters only when it sets the variable. Of what was not analysed only accesses through the
//! pointer and calls of known functions are harmless, and only where they cannot come after the
//! release.

use crate::shape::is_conditional;
use crate::view::{View, is_identifier};
use std::collections::BTreeSet;
use tree_sitter::Node;

/// Where a release would stand.
#[derive(Clone, Copy)]
pub struct Spot<'v> {
    pub function: Node<'v>,
    pub offset: usize,
    /// The call that makes the object, when it is in this function.
    pub alloc: Option<usize>,
}

/// What is known of the code around.
pub struct Known<'k> {
    /// Lines of the function that have code.
    pub lines: &'k BTreeSet<u32>,
    /// Functions that neither keep nor release what they are given.
    pub harmless: &'k dyn Fn(&str) -> bool,
}

/// Whether the release of what `name` refers to depends on other configurations.
pub fn matters(view: &View, spot: Spot<'_>, name: &str, known: &Known<'_>) -> bool {
    let groups = view.find(spot.function, |n| n.kind().starts_with("preproc_if"));
    let outside = |g: &&Node<'_>| !g.byte_range().contains(&spot.offset);
    let here = view.statement(spot.offset).map(|s| conditions(view, s.node)).unwrap_or_default();
    // Compiled whenever the release is.
    let beside = |n: Node<'_>| conditions(view, n).iter().all(|c| here.contains(c));
    let beside = |n: Node<'_>| !here.is_empty() && !redefines(view, spot.function) && beside(n);
    groups.iter().filter(outside).any(|g| {
        let mentions = view.find(*g, |n| is_identifier(n) && view.source(n) == name && !beside(n));
        !mentions.is_empty() && !is_over(view, spot, *g, &mentions, known)
    })
}

/// The conditions of the preprocessor under which a node is compiled, and whether each holds there.
fn conditions(view: &View, node: Node<'_>) -> Vec<(String, bool)> {
    let mut list = Vec::new();
    let (mut child, mut around) = (node, node.parent());
    while let Some(group) = around {
        let asked = group.child_by_field_name("condition").or(group.child_by_field_name("name"));
        if is_conditional(group)
            && let Some(asked) = asked
        {
            let otherwise = group.child_by_field_name("alternative") == Some(child);
            let negated = group.child(0).is_some_and(|word| view.source(word).ends_with("ndef"));
            let word = if group.child_by_field_name("name").is_some() { "def " } else { "" };
            list.push((format!("{word}{}", view.source(asked).trim()), otherwise == negated));
        }
        (child, around) = (group, group.parent());
    }
    list
}

/// Whether a macro may change its meaning within a function.
fn redefines(view: &View, function: Node<'_>) -> bool {
    let changes = |n: Node<'_>| {
        matches!(n.kind(), "preproc_def" | "preproc_function_def")
            || (n.kind() == "preproc_call" && view.source(n).contains("undef"))
    };
    !view.find(function, changes).is_empty()
}

/// Nothing in the group can happen to the object, or it happens before the release.
fn is_over(
    view: &View,
    spot: Spot<'_>,
    group: Node<'_>,
    mentions: &[Node<'_>],
    known: &Known<'_>,
) -> bool {
    let range = group.byte_range();
    if range.start > spot.offset {
        return leaves(view, spot.offset);
    }
    let before = spot.alloc.is_some_and(|at| range.end <= at);
    let idle = |m: &Node<'_>| match is_analysed(*m, known) {
        true => !is_set(view, *m),
        false => is_looked_through(*m) || is_given(view, *m, known),
    };
    (before || mentions.iter().all(idle)) && !is_repeated(view, spot, group)
}

/// Whether the branch of the `#if` around a mention has code in the configuration that was analysed.
fn is_analysed(mention: Node<'_>, known: &Known<'_>) -> bool {
    let up = || std::iter::successors(mention.parent(), |n| n.parent());
    let Some(arm) = up().find(|n| n.kind().starts_with("preproc_")) else { return false };
    let start = arm.start_position().row as u32 + 1;
    let end = match arm.child_by_field_name("alternative") {
        Some(next) => next.start_position().row as u32 + 1,
        None => arm.end_position().row as u32 + 1,
    };
    known.lines.range(start..end).next().is_some()
}

/// Whether the variable itself is declared, set, or its address taken.
fn is_set(view: &View, mention: Node<'_>) -> bool {
    let Some(parent) = mention.parent() else { return true };
    match parent.kind() {
        "assignment_expression" => parent.child_by_field_name("left") == Some(mention),
        "update_expression" => true,
        "pointer_expression" => view.source(parent).starts_with('&'),
        kind => kind.contains("declarat"),
    }
}

/// It, or the address of a part of it, is an argument of a function that does nothing to it.
fn is_given(view: &View, mention: Node<'_>, known: &Known<'_>) -> bool {
    let up = std::iter::successors(Some(mention), |n| n.parent());
    let around = up.skip(1).find(|n| {
        !matches!(n.kind(), "field_expression" | "parenthesized_expression" | "pointer_expression")
    });
    let call = around.filter(|n| n.kind() == "argument_list").and_then(|n| n.parent());
    let callee = call.and_then(|c| c.child_by_field_name("function"));
    callee.is_some_and(|c| (known.harmless)(view.source(c)))
}

/// Whether the function is left by the statement at an offset.
fn leaves(view: &View, offset: usize) -> bool {
    view.statement(offset).is_some_and(|s| s.node.kind() == "return_statement")
}

/// Only what the pointer points to is used: `p->a`, `*p`, `p[i]`.
fn is_looked_through(mention: Node<'_>) -> bool {
    let Some(parent) = mention.parent() else { return false };
    let is = |field: &str| parent.child_by_field_name(field) == Some(mention);
    match parent.kind() {
        "field_expression" => is("argument") && !is_address_taken(parent),
        "subscript_expression" => is("argument") && !is_address_taken(parent),
        "pointer_expression" => parent.child(0).is_some_and(|c| c.kind() == "*"),
        _ => false,
    }
}

fn is_address_taken(node: Node<'_>) -> bool {
    let outer = std::iter::successors(Some(node), |n| {
        n.parent().filter(|p| matches!(p.kind(), "field_expression" | "parenthesized_expression"))
    });
    let last = outer.last().and_then(|n| n.parent());
    last.is_some_and(|p| {
        p.kind() == "pointer_expression" && p.child(0).is_some_and(|c| c.kind() == "&")
    })
}

/// Whether a loop around the group and the release has the same object in several turns, or jumps
/// may lead back.
fn is_repeated(view: &View, spot: Spot<'_>, group: Node<'_>) -> bool {
    let around = |n: &Node<'_>| n.kind().ends_with("_statement") || n.kind() == "for_range_loop";
    let loops = view.around(group).filter(around).filter(|n| {
        matches!(n.kind(), "for_statement" | "while_statement" | "do_statement" | "for_range_loop")
    });
    let shared = |l: &Node<'_>| l.byte_range().contains(&spot.offset);
    let fresh = |l: &Node<'_>| spot.alloc.is_some_and(|at| l.byte_range().contains(&at));
    let mut turns = loops.filter(shared);
    turns.any(|l| !fresh(&l)) || jumps_back(view, spot)
}

/// Whether there is a label before the release to which a later `goto` leads.
fn jumps_back(view: &View, spot: Spot<'_>) -> bool {
    let labels = view.find(spot.function, |n| n.kind() == "labeled_statement");
    let early = labels.iter().filter(|l| l.start_byte() < spot.offset);
    let names: Vec<&str> =
        early.filter_map(|l| Some(view.source(l.child_by_field_name("label")?))).collect();
    let gotos = view.find(spot.function, |n| n.kind() == "goto_statement");
    gotos
        .iter()
        .filter(|g| g.start_byte() > spot.offset)
        .any(|g| g.child_by_field_name("label").is_some_and(|l| names.contains(&view.source(l))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matters_in(body: &str) -> bool {
        let text = format!("int f(int n) {{\n{body}\n}}\n");
        let view = View::new(text.clone().into(), false).unwrap();
        let offset = text.find("/*here*/").unwrap() + 8;
        let alloc = text.find("make");
        let function = view.function(offset).unwrap();
        let analysed = text.lines().enumerate().filter(|(_, l)| l.contains("/*analysed*/"));
        let lines = analysed.map(|(i, _)| i as u32 + 1).collect();
        let known = Known { lines: &lines, harmless: &|name| name == "measure" };
        matters(&view, Spot { function, offset, alloc }, "p", &known)
    }

    #[test]
    fn code_that_is_compiled_with_the_release_was_analysed() {
        let body = "#if A\nchar *p = make();\nuse(p);\n/*here*/return 1;\n#else\nkeep(p);\n#endif";
        assert!(!matters_in(body));
    }

    #[test]
    fn code_under_the_same_condition_was_analysed() {
        let twice = |first: &str, second: &str| {
            format!("char *p;\n{first}\nfill(&p);\n#endif\n{second}\n/*here*/return 1;\n#endif")
        };
        assert!(!matters_in(&twice("#ifdef A", "#ifdef A")));
        assert!(!matters_in(&twice("#ifndef A\ng();\n#else", "#ifdef A")));
        assert!(!matters_in(&twice("#if A > 1", "#if A > 1")));
        assert!(matters_in(&twice("#ifdef A", "#ifndef A")));
        assert!(matters_in(&twice("#ifdef A", "#ifdef A\ng();\n#else")));
        assert!(matters_in(&twice("#ifdef A", "#if A")));
        assert!(matters_in(&twice("#ifdef A", "#undef A\n#define A 1\n#ifdef A")));
        let inner =
            "#ifdef A\n#ifdef B\nfill(&p);\n#endif\n#endif\n#ifdef A\n/*here*/return 1;\n#endif";
        assert!(matters_in(inner));
    }

    #[test]
    fn what_only_looks_through_the_pointer_before_is_harmless() {
        let start = "struct s *p = make();\n";
        let group = |code: &str| format!("{start}#if A\n{code}\n#endif\n/*here*/return 1;");
        assert!(!matters_in(&group("p->a = 1; copy(p->b.c);")));
        assert!(matters_in(&group("keep(p);")));
        assert!(matters_in(&group("keep(&p->a);")));
        assert!(matters_in(&group("p = q;")));
        assert!(!matters_in(&group("n = measure(p) + measure(&p->a);")));
        let early = "#if A\nkeep(p);\n#endif\np = make();\n/*here*/return 1;";
        assert!(!matters_in(early));
    }

    #[test]
    fn analysed_code_may_be_missing_unless_it_sets_the_pointer() {
        let start = "struct s *p = make();\n";
        let group = |code: &str| {
            format!(
                "{start}#if A\n{code} /*analysed*/\n#else\np->a = 1;\n#endif\n/*here*/return 1;"
            )
        };
        assert!(!matters_in(&group("if (n) { free(p); return 2; }")));
        assert!(matters_in(&group("p = other();")));
        assert!(matters_in(&group("fill(&p);")));
    }

    #[test]
    fn what_comes_later_matters_unless_the_function_is_left() {
        let start = "struct s *p = make();\n";
        let later = "#if A\nkeep(p);\n#endif\nreturn 0;";
        assert!(!matters_in(&format!("{start}if (n) {{ /*here*/return 1; }}\n{later}")));
        assert!(matters_in(&format!("{start}if (n) {{ /*here*/g(); }}\n{later}")));
        let turns = "for (;;) {\n#if A\np->a = 1;\n#endif\nif (n) { /*here*/return 1; }\n}";
        assert!(matters_in(&format!("{start}{turns}")));
    }
}
