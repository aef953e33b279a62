//! A source file as a syntax tree, for edits.
//!
//! In: text and a language. Out: statements and declarations by position. The tree comes from a
//! parser that knows neither macros nor types, so it only says where statements start and end; what
//! the code means, the compiler says. Wherever the tree has an error near an edit there is no edit.

use leakproof_findings::SourceFile;
use std::ops::Range;
use tree_sitter::{Node, Parser, Tree};

/// A statement's place in the code around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// One of several: in a block, after a `case` or a label.
    List,
    /// The only one: body of an `if`, `else` or loop without braces.
    Single,
}

pub struct View {
    pub text: Vec<u8>,
    pub cxx: bool,
    tree: Tree,
    lines: SourceFile,
}

/// A statement found by position.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'v> {
    pub node: Node<'v>,
    pub slot: Slot,
}

impl View {
    pub fn new(text: Vec<u8>, cxx: bool) -> Option<View> {
        let mut parser = Parser::new();
        let language = if cxx { tree_sitter_cpp::LANGUAGE } else { tree_sitter_c::LANGUAGE };
        parser.set_language(&language.into()).ok()?;
        let tree = parser.parse(&text, None)?;
        let lines = SourceFile::new(text.clone());
        Some(View { text, cxx, tree, lines })
    }

    /// The offset of a 1-based line and column in bytes.
    pub fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let bytes = self.lines.line_bytes(line)?;
        let column = (column.max(1) - 1) as usize;
        let start = self.line_start(line)?;
        (column <= bytes.len()).then_some(start + column)
    }

    fn line_start(&self, line: u32) -> Option<usize> {
        let before = self.text.split_inclusive(|b| *b == b'\n').take(line as usize - 1);
        let start = before.map(<[u8]>::len).sum();
        (start <= self.text.len()).then_some(start)
    }

    pub fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).and_then(|b| std::str::from_utf8(b).ok()).unwrap_or_default()
    }

    pub fn source(&self, node: Node<'_>) -> &str {
        self.slice(node.byte_range())
    }

    /// The function definition around an offset.
    pub fn function(&self, offset: usize) -> Option<Node<'_>> {
        let mut node = self.leaf(offset)?;
        let mut found = None;
        loop {
            if node.kind() == "function_definition" {
                // The innermost: a lambda or nested function is not one in these grammars.
                found = Some(node);
                break;
            }
            match node.parent() {
                Some(parent) => node = parent,
                None => break,
            }
        }
        found.filter(|f| f.child_by_field_name("body").is_some())
    }

    fn leaf(&self, offset: usize) -> Option<Node<'_>> {
        let end = (offset + 1).min(self.text.len());
        self.tree.root_node().descendant_for_byte_range(offset, end)
    }

    /// The innermost statement at an offset that is not a block.
    pub fn statement(&self, offset: usize) -> Option<Statement<'_>> {
        let mut node = self.leaf(offset)?;
        loop {
            if node.is_error() || node.is_missing() {
                return None;
            }
            if is_statement(node)
                && let Some(slot) = slot_of(node)
            {
                return Some(Statement { node, slot });
            }
            node = node.parent()?;
        }
    }

    /// Statements around a node, the innermost first.
    pub fn around<'v>(&self, node: Node<'v>) -> impl Iterator<Item = Node<'v>> {
        std::iter::successors(node.parent(), |n| n.parent())
            .take_while(|n| n.kind() != "function_definition")
    }

    /// Every node below `root` for which `wanted` holds, in order of the text.
    pub fn find<'v>(&self, root: Node<'v>, wanted: impl Fn(Node<'v>) -> bool) -> Vec<Node<'v>> {
        let mut found = Vec::new();
        let mut cursor = root.walk();
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            if wanted(node) {
                found.push(node);
            }
            let children: Vec<Node<'v>> = node.children(&mut cursor).collect();
            stack.extend(children.into_iter().rev());
        }
        found
    }

    /// Whether an identifier occurs below a node.
    pub fn mentions(&self, root: Node<'_>, name: &str) -> bool {
        !self.find(root, |n| is_identifier(n) && self.source(n) == name).is_empty()
    }

    /// Whether `name` occurs in code that some other configuration would compile instead, or in
    /// which this one differs from others.
    pub fn is_conditional(&self, function: Node<'_>, name: &str) -> bool {
        let groups = self.find(function, |n| n.kind().starts_with("preproc_if"));
        groups.into_iter().any(|g| self.mentions(g, name))
    }

    /// Whether a line directive or marker says that the text was generated.
    pub fn is_generated(&self) -> bool {
        let head: Vec<&[u8]> = self.text.split(|b| *b == b'\n').take(20).collect();
        head.iter().any(|line| {
            let line = String::from_utf8_lossy(line);
            let said = ["generated by", "do not edit", "@generated", "autogenerated"];
            let lower = line.to_ascii_lowercase();
            line.starts_with("#line ") || said.iter().any(|s| lower.contains(s))
        })
    }
}

pub fn is_identifier(node: Node<'_>) -> bool {
    matches!(node.kind(), "identifier" | "field_identifier")
}

fn is_statement(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind == "declaration"
        || (kind.ends_with("_statement") && kind != "compound_statement")
        || kind == "for_range_loop"
}

/// Where a statement stands; `None` when its parent is no place for statements.
fn slot_of(node: Node<'_>) -> Option<Slot> {
    let parent = node.parent()?;
    match parent.kind() {
        "compound_statement" | "case_statement" => Some(Slot::List),
        "labeled_statement" => slot_of(parent),
        "if_statement" | "else_clause" | "for_statement" | "while_statement" | "do_statement"
        | "for_range_loop"
            if node.kind() != "declaration" =>
        {
            Some(Slot::Single)
        }
        kind if kind.starts_with("preproc_") => slot_of(parent).or(Some(Slot::List)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "int f(int n) {\n    if (n)\n        return 1;\n    { g(); }\n    return 0;\n}\n";

    #[test]
    fn statements_know_whether_they_stand_alone() {
        let view = View::new(TEXT.into(), false).expect("a tree");
        let single = view.statement(view.offset(3, 9).unwrap()).unwrap();
        assert_eq!((single.node.kind(), single.slot), ("return_statement", Slot::Single));
        let listed = view.statement(view.offset(5, 5).unwrap()).unwrap();
        assert_eq!((listed.node.kind(), listed.slot), ("return_statement", Slot::List));
    }

    #[test]
    fn positions_outside_the_text_are_none() {
        let view = View::new(TEXT.into(), false).expect("a tree");
        assert!(view.offset(3, 100).is_none() && view.offset(100, 1).is_none());
        assert!(view.function(0).is_some());
    }

    #[test]
    fn binary_input_is_survived() {
        let view = View::new(vec![0xff, 0, b'{', 0xfe], false).expect("a tree");
        assert!(view.statement(1).is_none());
    }
}
