//! The other arguments of a releasing function that wants more than the object.
//!
//! In: the syntax tree, the function that leaks and the releasing function. Out: its other arguments,
//! as a call that is there spells them. A call for the same reference in the same function is copied;
//! of other calls only what is the same everywhere: addresses and constants. An address of a variable that
//! is not known here is one of what the function that made the object was given in its place.

use crate::holder::{is_writable, root_of};
use crate::releaser::Way;
use crate::shape::is_loop;
use crate::view::{View, is_identifier};
use tree_sitter::Node;

/// `made_at`: the offset of the call that makes the object, when it is in the function.
pub fn others(
    view: &View,
    function: Node<'_>,
    way: &Way,
    holder: &str,
    made_at: Option<usize>,
) -> Option<Vec<String>> {
    let wanted = way.argument(holder, false);
    let own = calls(view, function, way);
    let same = |c: &&Vec<Node<'_>>| view.source(c[way.arg]) == wanted && is_pure(view, c);
    let copied = own.iter().find(same);
    let all = calls(view, view.root(), way);
    let found = copied.or_else(|| {
        let fixed = |n: usize, c: &[Node<'_>]| n == way.arg || is_fixed(view, c[n]);
        own.iter().chain(&all).find(|c| (0..c.len()).all(|n| fixed(n, c)))
    })?;
    let maker = made_at.and_then(|at| {
        view.find(function, |n| n.kind() == "call_expression" && n.start_byte() == at).pop()
    });
    let given = maker.and_then(|call| arguments(call)).unwrap_or_default();
    let text = |n: usize| {
        let known = scratch(view.source(found[n])).is_none_or(|v| view.mentions(function, v));
        let alike = given.get(n).filter(|a| !known && is_fixed(view, **a));
        view.source(*alike.unwrap_or(&found[n])).to_owned()
    };
    Some((0..found.len()).filter(|&n| n != way.arg).map(text).collect())
}

/// The arguments of each call of the function below a node.
fn calls<'v>(view: &View, root: Node<'v>, way: &Way) -> Vec<Vec<Node<'v>>> {
    let named = |n: Node<'_>| {
        let callee = n.child_by_field_name("function").filter(|_| n.kind() == "call_expression");
        callee.is_some_and(|c| view.source(c) == way.name)
    };
    let fits = |nodes: &Vec<Node<'v>>| {
        nodes.len() > way.arg.max(1) && (way.params == 0 || nodes.len() == way.params)
    };
    view.find(root, named).into_iter().filter_map(arguments).filter(fits).collect()
}

fn arguments(call: Node<'_>) -> Option<Vec<Node<'_>>> {
    let list = call.child_by_field_name("arguments")?;
    let mut cursor = list.walk();
    Some(list.named_children(&mut cursor).filter(|n| n.kind() != "comment").collect())
}

/// The variable whose address an argument is: the function may set it.
fn scratch(argument: &str) -> Option<&str> {
    argument.strip_prefix('&').map(|of| root_of(of.trim()))
}

/// A variable that other arguments let the releasing function set, and that is looked at behind an offset.
pub fn disturbed(
    view: &View,
    function: Node<'_>,
    others: &[String],
    offset: usize,
) -> Option<String> {
    // Behind a `return` there is only what it returns.
    let left = view.statement(offset).filter(|s| s.node.kind() == "return_statement");
    let (root, from) = match left {
        Some(statement) => (statement.node, offset),
        // What comes before in the text comes later in a loop.
        None if view.statement(offset).is_some_and(|s| view.around(s.node).any(is_loop)) => {
            (function, function.start_byte())
        }
        None => (function, offset),
    };
    let looked_at = |name: &str| {
        let is = |n: Node<'_>| {
            let set = n.parent().is_some_and(|p| {
                let overwritten =
                    p.kind() == "assignment_expression" && p.child_by_field_name("left") == Some(n);
                overwritten || p.kind() == "pointer_expression" || p.kind().contains("declarat")
            });
            n.start_byte() >= from && is_identifier(n) && view.source(n) == name && !set
        };
        !view.find(root, is).is_empty()
    };
    let names = others.iter().filter_map(|o| scratch(o));
    names.filter(|name| looked_at(name)).map(str::to_owned).next()
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
        others(&view, function, &way, holder, text.find("make"))
    }

    #[test]
    fn what_the_maker_was_given_stands_for_an_unknown_variable() {
        let text = "void g() { drop(&status, &x); } void f() { make(&minor, &p); here(); }";
        let view = View::new(text.into(), false).unwrap();
        let function = view.function(text.find("here").unwrap()).unwrap();
        let mut way = Way::plain("drop", Given::Address);
        (way.arg, way.params) = (1, 2);
        let found = others(&view, function, &way, "p", text.find("make"));
        assert_eq!(found, Some(vec!["&minor".to_owned()]));
    }

    #[test]
    fn variables_that_are_set_on_the_way_are_not_looked_at_later() {
        let disturbed_in = |body: &str| {
            let text = format!("int f() {{ {body} }}");
            let view = View::new(text.clone().into(), false).unwrap();
            let offset = text.find("here").unwrap();
            let function = view.function(offset).unwrap();
            disturbed(&view, function, &["&n".to_owned()], offset)
        };
        assert_eq!(disturbed_in("here(); n = 1; g(&n);"), None);
        assert_eq!(disturbed_in("here(); print(n);"), Some("n".to_owned()));
        assert_eq!(disturbed_in("while (n) { here(); }"), Some("n".to_owned()));
        assert_eq!(disturbed_in("print(n); if (a) { return here; } print(n);"), None);
        assert_eq!(disturbed_in("return here + n;"), Some("n".to_owned()));
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
