//! Declarations of local variables, as the source spells them.

use crate::view::View;
use tree_sitter::Node;

/// A local variable or parameter.
#[derive(Clone, Debug)]
pub struct Declared<'v> {
    /// The declaration statement or parameter.
    pub node: Node<'v>,
    /// The type of the variable with its stars: `const char *`.
    pub ty: String,
    /// Where ` = NULL` would go, when there is no initial value.
    pub uninitialised: Option<usize>,
    pub is_pointer: bool,
    /// A parameter of the function.
    pub is_parameter: bool,
}

/// The declaration of `name` that holds at `offset`: the last one before it in a block around it.
pub fn find<'v>(
    view: &View,
    function: Node<'v>,
    name: &str,
    offset: usize,
) -> Option<Declared<'v>> {
    let declarations =
        view.find(function, |n| matches!(n.kind(), "declaration" | "parameter_declaration"));
    let visible = declarations.into_iter().filter(|d| {
        d.start_byte() < offset && scope(*d).is_none_or(|s| s.byte_range().contains(&offset))
    });
    visible.filter_map(|d| declarator(view, d, name)).next_back()
}

/// Whether a node is the declaration of a variable.
pub fn declares(view: &View, node: Node<'_>, name: &str) -> bool {
    matches!(node.kind(), "declaration" | "parameter_declaration")
        && declarator(view, node, name).is_some()
}

/// The block in which a declaration holds; none for parameters.
pub fn scope(declaration: Node<'_>) -> Option<Node<'_>> {
    if declaration.kind() == "parameter_declaration" {
        return None;
    }
    std::iter::successors(declaration.parent(), |n| n.parent())
        .find(|n| matches!(n.kind(), "compound_statement" | "for_statement"))
}

/// Where a declaration of another function would go: before this one and the comments above it.
pub fn prelude(function: Node<'_>) -> usize {
    let mut first = function;
    while let Some(comment) = first
        .prev_sibling()
        .filter(|n| n.kind() == "comment" && n.end_position().row + 1 == first.start_position().row)
    {
        first = comment;
    }
    first.start_byte()
}

/// The declaration of a function that the file defines behind this one.
pub fn prototype(view: &View, function: Node<'_>, name: &str) -> Option<String> {
    let definitions = view.find(view.root(), |n| {
        n.kind() == "function_definition" && n.start_byte() >= function.end_byte()
    });
    let defined = definitions.into_iter().find(|d| {
        let declarator = d.child_by_field_name("declarator");
        let called = declarator.map(|n| view.find(n, |n| n.kind() == "function_declarator"));
        let called = called.and_then(|list| list.first()?.child_by_field_name("declarator"));
        called.is_some_and(|n| view.source(n) == name)
    })?;
    let head = defined.start_byte()..defined.child_by_field_name("body")?.start_byte();
    let words: Vec<&str> = view.slice(head).split_whitespace().collect();
    Some(words.join(" "))
}

fn declarator<'v>(view: &View, declaration: Node<'v>, name: &str) -> Option<Declared<'v>> {
    let base = declaration.child_by_field_name("type")?;
    let mut cursor = declaration.walk();
    let list: Vec<Node<'v>> =
        declaration.children_by_field_name("declarator", &mut cursor).collect();
    for top in list {
        let (inner, initialised) = match top.kind() {
            "init_declarator" => (top.child_by_field_name("declarator")?, true),
            _ => (top, false),
        };
        let Some(stars) = stars_of(view, inner, name) else { continue };
        let prefix = qualifiers(view, declaration, base);
        let space = if stars == 0 { "" } else { " " };
        return Some(Declared {
            node: declaration,
            ty: format!("{prefix}{}{space}{}", view.source(base), "*".repeat(stars)),
            uninitialised: (!initialised).then_some(inner.end_byte()),
            is_pointer: stars > 0,
            is_parameter: declaration.kind() == "parameter_declaration",
        });
    }
    None
}

/// `const`, `struct` and the like before the type; storage classes are not part of it.
fn qualifiers(view: &View, declaration: Node<'_>, base: Node<'_>) -> String {
    let mut cursor = declaration.walk();
    let before = declaration
        .children(&mut cursor)
        .take_while(|n| n.start_byte() < base.start_byte())
        .filter(|n| n.kind() == "type_qualifier");
    before.map(|n| format!("{} ", view.source(n))).collect()
}

/// The number of stars before the name; none when it is another name or no plain pointer.
fn stars_of(view: &View, mut node: Node<'_>, name: &str) -> Option<usize> {
    let mut stars = 0;
    loop {
        match node.kind() {
            "identifier" => return (view.source(node) == name).then_some(stars),
            "pointer_declarator" => {
                stars += 1;
                node = node.child_by_field_name("declarator")?;
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(text: &str, name: &str) -> Option<(String, bool)> {
        let view = View::new(text.into(), false)?;
        let offset = text.find("/*here*/")?;
        let function = view.function(offset)?;
        find(&view, function, name, offset).map(|d| (d.ty, d.uninitialised.is_some()))
    }

    #[test]
    fn types_are_spelled_as_in_the_source() {
        let text = "void f(struct s **q) { const char *p, *r = 0; int n; /*here*/ g(); }";
        assert_eq!(declared(text, "p"), Some(("const char *".to_owned(), true)));
        assert_eq!(declared(text, "r"), Some(("const char *".to_owned(), false)));
        assert_eq!(declared(text, "q"), Some(("struct s **".to_owned(), true)));
        assert_eq!(declared(text, "n"), Some(("int".to_owned(), true)));
        assert_eq!(declared(text, "x"), None);
    }

    #[test]
    fn the_innermost_declaration_counts() {
        let text = "void f(void) { char *p; { int *p; /*here*/ g(); } }";
        assert_eq!(declared(text, "p").unwrap().0, "int *");
        let text = "void f(void) { char *p; { int *p; } /*here*/ g(); }";
        assert_eq!(declared(text, "p").unwrap().0, "char *");
    }
}
