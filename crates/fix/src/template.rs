//! The other arguments of a releasing function that wants more than the object.
//!
//! In: the syntax tree, the function that leaks and the releasing function. Out: its other arguments,
//! as a call that is there spells them. A call for the same reference in the same function is copied;
//! of other calls only what is the same everywhere: addresses and constants.

use crate::holder::is_writable;
use crate::releaser::Way;
use crate::view::View;
use tree_sitter::Node;

pub fn others(view: &View, function: Node<'_>, way: &Way, holder: &str) -> Option<Vec<String>> {
    let wanted = way.argument(holder, false);
    let own = calls(view, function, way);
    let same = |c: &&Vec<Node<'_>>| view.source(c[way.arg]) == wanted && is_pure(view, c);
    let copied = own.iter().find(same);
    let all = calls(view, view.root(), way);
    let found = copied.or_else(|| {
        let fixed = |n: usize, c: &[Node<'_>]| n == way.arg || is_fixed(view, c[n]);
        own.iter().chain(&all).find(|c| (0..c.len()).all(|n| fixed(n, c)))
    })?;
    let text = |n: usize| view.source(found[n]).to_owned();
    Some((0..found.len()).filter(|&n| n != way.arg).map(text).collect())
}

/// The arguments of each call of the function below a node.
fn calls<'v>(view: &View, root: Node<'v>, way: &Way) -> Vec<Vec<Node<'v>>> {
    let named = |n: Node<'_>| {
        let callee = n.child_by_field_name("function").filter(|_| n.kind() == "call_expression");
        callee.is_some_and(|c| view.source(c) == way.name)
    };
    let arguments = |call: Node<'v>| {
        let list = call.child_by_field_name("arguments")?;
        let mut cursor = list.walk();
        let nodes: Vec<Node<'v>> =
            list.named_children(&mut cursor).filter(|n| n.kind() != "comment").collect();
        let fits = nodes.len() > way.arg.max(1) && (way.params == 0 || nodes.len() == way.params);
        fits.then_some(nodes)
    };
    view.find(root, named).into_iter().filter_map(arguments).collect()
}

/// Whether saying it again does nothing again.
fn is_pure(view: &View, arguments: &[Node<'_>]) -> bool {
    let acts = |n: Node<'_>| {
        matches!(n.kind(), "call_expression" | "update_expression" | "assignment_expression")
    };
    arguments.iter().all(|a| view.find(*a, acts).is_empty())
}

/// An address or a constant.
fn is_fixed(view: &View, argument: Node<'_>) -> bool {
    let text = view.source(argument);
    let address = text.strip_prefix('&').is_some_and(|of| is_writable(of.trim()));
    address || text == "NULL" || matches!(argument.kind(), "number_literal" | "null" | "nullptr")
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_detect::Given;

    fn found(text: &str, given: Given, holder: &str) -> Option<Vec<String>> {
        let view = View::new(text.into(), false).unwrap();
        let function = view.function(text.find("here").unwrap()).unwrap();
        let mut way = Way::plain("drop", given);
        (way.arg, way.params) = (1, 2);
        others(&view, function, &way, holder)
    }

    #[test]
    fn a_call_for_the_same_reference_is_copied() {
        let text = "void f() { drop(other(), p); drop(n, p); here(); }";
        assert_eq!(found(text, Given::Pointer, "p"), Some(vec!["n".to_owned()]));
        assert_eq!(found(text, Given::Pointer, "q"), None, "`n` may be about `p`");
        assert_eq!(found(text, Given::Address, "p"), None);
    }

    #[test]
    fn addresses_and_constants_are_taken_over() {
        let text = "void g() { drop(&status, &x); } void f() { here(); }";
        assert_eq!(found(text, Given::Address, "p"), Some(vec!["&status".to_owned()]));
        let text = "void g() { drop(count, &x); } void f() { here(); }";
        assert_eq!(found(text, Given::Address, "p"), None);
    }
}
