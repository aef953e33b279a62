//! Shapes of statements and expressions that decide where an edit may go.

use crate::op::Brace;
use crate::view::View;
use tree_sitter::Node;

/// The braces that a statement which stands alone would need.
pub fn brace_of(node: Node<'_>) -> Option<Brace> {
    let parent = node.parent()?;
    if parent.kind() == "labeled_statement" {
        return None;
    }
    let mut header = node.prev_sibling()?;
    while header.kind() == "comment" {
        header = header.prev_sibling()?;
    }
    let next_else = parent
        .child_by_field_name("alternative")
        .filter(|a| a.start_byte() >= node.end_byte())
        .map(|a| a.start_byte());
    Some(Brace { header: header.end_byte(), outer: parent.start_byte(), next_else })
}

/// The assignment that a statement is, when it is one.
pub fn assignment_in(node: Node<'_>) -> Option<Node<'_>> {
    let inner = (node.kind() == "expression_statement").then(|| node.named_child(0)).flatten()?;
    (inner.kind() == "assignment_expression").then_some(inner)
}

/// The assignment that the condition of an `if` starts with: nothing else is done before it.
pub fn assignment_in_condition(node: Node<'_>) -> Option<Node<'_>> {
    let condition = (node.kind() == "if_statement").then(|| node.child_by_field_name("condition"));
    std::iter::successors(condition.flatten(), |n| match n.kind() {
        "parenthesized_expression" => n.named_child(0),
        "condition_clause" => n.child_by_field_name("value"),
        "binary_expression" => n.child_by_field_name("left"),
        "unary_expression" => n.child_by_field_name("argument"),
        _ => None,
    })
    .find(|n| n.kind() == "assignment_expression")
}

/// Whether an expression is the call itself, cast or in parentheses.
pub fn is_value_of(mut expression: Node<'_>, call: Node<'_>) -> bool {
    loop {
        if expression == call {
            return true;
        }
        let inner = match expression.kind() {
            "parenthesized_expression" => expression.named_child(0),
            "cast_expression" => expression.child_by_field_name("value"),
            _ => None,
        };
        match inner {
            Some(next) => expression = next,
            None => return false,
        }
    }
}

pub fn is_loop(node: Node<'_>) -> bool {
    matches!(node.kind(), "for_statement" | "while_statement" | "do_statement" | "for_range_loop")
}

pub fn is_jump(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "return_statement" | "goto_statement" | "break_statement" | "continue_statement"
    )
}

/// The last statement of a block, or the statement itself.
pub fn last_statement(node: Node<'_>) -> Option<Node<'_>> {
    if node.kind() != "compound_statement" {
        return Some(node);
    }
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|n| n.kind() != "comment").last()
}

/// Whether a node is a branch of a preprocessor's condition.
pub fn is_conditional(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "preproc_if" | "preproc_ifdef" | "preproc_else" | "preproc_elif" | "preproc_elifdef"
    )
}

/// The last statement of a branch of a preprocessor's condition, without those of the next branch.
pub fn last_of_branch(branch: Node<'_>) -> Option<Node<'_>> {
    let next = branch.child_by_field_name("alternative");
    let end = next.map_or(branch.end_byte(), |n| n.start_byte());
    let mut cursor = branch.walk();
    let own = branch.named_children(&mut cursor).filter(|n| n.end_byte() <= end);
    own.filter(|n| n.kind().ends_with("_statement") || n.kind() == "declaration").last()
}

/// Sizes that are at least one: positive constants, `sizeof`, and sums with one of these.
pub fn is_never_zero(view: &View, node: Node<'_>) -> bool {
    match node.kind() {
        "sizeof_expression" => true,
        "number_literal" => !view.source(node).trim_start_matches('0').is_empty(),
        "parenthesized_expression" => node.named_child(0).is_some_and(|n| is_never_zero(view, n)),
        _ => false,
    }
}
