//! How a file is written: line endings, indentation, where braces stand.

use crate::view::View;
use tree_sitter::Node;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    pub newline: &'static str,
    /// One step of indentation.
    pub unit: String,
    /// The opening brace stands on a line of its own.
    pub brace_below: bool,
}

impl Style {
    pub fn of(view: &View, function: Node<'_>) -> Style {
        Style {
            newline: newline(&view.text),
            unit: unit(view, function),
            brace_below: brace_below(view, function),
        }
    }
}

fn newline(text: &[u8]) -> &'static str {
    match text.iter().position(|b| *b == b'\n') {
        Some(at) if at > 0 && text[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

/// The white space before the first thing on the line of `offset`.
pub fn indent(view: &View, offset: usize) -> String {
    let start = line_start(view, offset);
    let blank = view.text[start..].iter().take_while(|b| matches!(b, b' ' | b'\t'));
    String::from_utf8_lossy(&blank.copied().collect::<Vec<u8>>()).into_owned()
}

pub fn line_start(view: &View, offset: usize) -> usize {
    view.text[..offset].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1)
}

pub fn is_first_on_line(view: &View, offset: usize) -> bool {
    view.text[line_start(view, offset)..offset].iter().all(|b| matches!(b, b' ' | b'\t'))
}

/// The end of the line of `offset`, before its line ending.
pub fn line_end(view: &View, offset: usize) -> usize {
    let end = view.text[offset..].iter().position(|b| *b == b'\n');
    let end = end.map_or(view.text.len(), |at| offset + at);
    if end > offset && view.text[end - 1] == b'\r' { end - 1 } else { end }
}

/// One step: what the first statement of the body has more than the function.
fn unit(view: &View, function: Node<'_>) -> String {
    let Some(body) = function.child_by_field_name("body") else { return "    ".to_owned() };
    let outer = indent(view, function.start_byte());
    let mut cursor = body.walk();
    for statement in body.named_children(&mut cursor) {
        let at = statement.start_byte();
        let inner = indent(view, at);
        if statement.kind() == "labeled_statement" || !is_first_on_line(view, at) {
            continue;
        }
        if let Some(step) = inner.strip_prefix(outer.as_str())
            && !step.is_empty()
        {
            return step.to_owned();
        }
    }
    "    ".to_owned()
}

/// Whether most calls of a function have a space before the parenthesis.
pub fn spaced_calls(view: &View, function: Node<'_>) -> bool {
    let calls = view.find(function, |n| n.kind() == "call_expression");
    let spaced = calls.iter().filter(|call| {
        let name = call.child_by_field_name("function").map(|n| n.end_byte());
        let arguments = call.child_by_field_name("arguments").map(|n| n.start_byte());
        name != arguments
    });
    spaced.count() * 2 > calls.len()
}

/// Whether blocks of statements open on a line of their own, by majority in the function, else in
/// the file.
fn brace_below(view: &View, function: Node<'_>) -> bool {
    let root = std::iter::successors(Some(function), |n| n.parent()).last();
    [Some(function), root].into_iter().flatten().find_map(|n| majority(view, n)).unwrap_or(false)
}

fn majority(view: &View, root: Node<'_>) -> Option<bool> {
    let blocks = view.find(root, |n| {
        n.kind() == "compound_statement"
            && n.parent().is_some_and(|p| {
                matches!(p.kind(), "if_statement" | "for_statement" | "while_statement")
            })
    });
    let below = blocks.iter().filter(|b| is_first_on_line(view, b.start_byte())).count();
    (!blocks.is_empty()).then_some(below * 2 > blocks.len())
}
