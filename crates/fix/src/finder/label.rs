//! A label behind which the function releases everything and returns: a `return` that forgets to becomes a
//! jump there.

use super::Finder;
use crate::declared;
use crate::holder::is_writable;
use crate::placement::Placement;
use crate::view::is_identifier;
use tree_sitter::Node;

impl<'v> Finder<'v> {
    /// The jump from a `return` at the leak to a label that releases the object.
    pub(super) fn jump_to_label(&mut self, leak: usize, releases: &dyn Fn(&str) -> bool) {
        let Some(statement) = self.view.statement(leak) else { return };
        let node = statement.node;
        let Some(target) = self.target(statement).filter(|_| node.kind() == "return_statement")
        else {
            return;
        };
        let labels = self.view.find(self.function, |n| n.kind() == "labeled_statement");
        let mut later = labels.into_iter().filter(|l| l.start_byte() > node.end_byte());
        let jump = later.find_map(|label| {
            let code = self.code_behind(label)?;
            let (last, cleanup) = match code.split_last()? {
                (last, rest) if last.kind() == "return_statement" => (Some(*last), rest),
                _ => (None, code.as_slice()),
            };
            let released: Option<Vec<Vec<&str>>> =
                cleanup.iter().map(|n| self.released(*n, releases)).collect();
            released?.concat().contains(&self.holder).then_some(())?;
            Some(Placement::Jump {
                target: target.clone(),
                label: self.view.source(label.child_by_field_name("label")?).to_owned(),
                set: self.result_for(node, last)?,
                cleanup: (cleanup.first()?.start_byte(), cleanup.last()?.end_byte()),
            })
        });
        self.list.extend(jump);
    }

    /// The statements from a label to the end of the function.
    fn code_behind(&self, label: Node<'v>) -> Option<Vec<Node<'v>>> {
        let body = self.function.child_by_field_name("body")?;
        if label.parent() != Some(body) {
            return None;
        }
        let first = label.named_child(label.named_child_count().checked_sub(1)? as u32)?;
        let rest = std::iter::successors(label.next_named_sibling(), |n| n.next_named_sibling());
        Some([first].into_iter().chain(rest).filter(|n| n.kind() != "comment").collect())
    }

    /// What a statement releases, when it does nothing else.
    fn released(&self, node: Node<'v>, releases: &dyn Fn(&str) -> bool) -> Option<Vec<&'v str>> {
        match node.kind() {
            "expression_statement" => {
                let call = node.named_child(0).filter(|n| n.kind() == "call_expression")?;
                let arguments = call.child_by_field_name("arguments")?;
                let only =
                    arguments.named_child(0).filter(|_| arguments.named_child_count() == 1)?;
                let text = self.view.source(only);
                let text = text.strip_prefix('&').unwrap_or(text);
                let callee = self.view.source(call.child_by_field_name("function")?);
                (releases(callee) && is_writable(text)).then(|| vec![text])
            }
            "compound_statement" => {
                let mut cursor = node.walk();
                let inner = node.named_children(&mut cursor).filter(|n| n.kind() != "comment");
                let parts: Option<Vec<_>> = inner.map(|n| self.released(n, releases)).collect();
                Some(parts?.concat())
            }
            "if_statement" if node.child_by_field_name("alternative").is_none() => {
                let found = self.released(node.child_by_field_name("consequence")?, releases)?;
                let condition = node.child_by_field_name("condition")?;
                self.asks_only_about(condition, &found).then_some(found)
            }
            _ => None,
        }
    }

    /// Whether a condition does nothing, and asks about what is released only.
    fn asks_only_about(&self, condition: Node<'v>, released: &[&str]) -> bool {
        let acts = |n: Node<'_>| {
            matches!(n.kind(), "call_expression" | "update_expression" | "assignment_expression")
        };
        let about = |n: &Node<'v>| {
            let name = self.view.source(*n);
            name == "NULL"
                || released
                    .iter()
                    .any(|text| text.split(['.', '-', '>', '*']).any(|part| part == name))
        };
        self.view.find(condition, acts).is_empty()
            && self.view.find(condition, is_identifier).iter().all(about)
    }

    /// What has to be set so that the `return` at the end gives what this one did; none when it cannot.
    fn result_for(
        &self,
        node: Node<'v>,
        last: Option<Node<'v>>,
    ) -> Option<Option<(String, String)>> {
        let text = |n: Node<'v>| self.view.source(n).to_owned();
        match (node.named_child(0), last.and_then(|n| n.named_child(0))) {
            (None, None) => Some(None),
            (Some(own), Some(common)) if text(own) == text(common) => Some(None),
            (Some(own), Some(common)) if common.kind() == "identifier" => {
                let name = text(common);
                let declared = |at| declared::find(self.view, self.function, &name, at);
                let here = declared(node.start_byte())?.node;
                let same = here == declared(common.start_byte())?.node;
                same.then(|| Some((name, text(own))))
            }
            _ => None,
        }
    }
}
