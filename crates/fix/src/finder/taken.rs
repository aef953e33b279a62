//! Places behind calls that take the object with one result only: what such a call has not taken is
//! released there.

use super::Finder;
use crate::kept::Taker;
use crate::placement::{Answer, Placement};
use crate::shape::assignment_in;
use tree_sitter::Node;

impl<'v> Finder<'v> {
    /// Behind the calls that belong to the statement at an offset.
    pub(super) fn untaken_at(&mut self, offset: usize, takers: &[Taker]) {
        let Some(statement) = self.view.statement(offset).map(|s| s.node) else { return };
        let here = |t: &&Taker| {
            let at = self.view.offset(t.line, t.column);
            at.is_some_and(|at| statement.byte_range().contains(&at))
        };
        let found: Vec<Taker> = takers.iter().filter(here).copied().collect();
        self.untaken(&found);
    }

    /// Behind each of some calls.
    pub(super) fn untaken(&mut self, takers: &[Taker]) {
        let found: Vec<Placement> = takers.iter().filter_map(|t| self.behind(*t)).collect();
        self.list.extend(found);
    }

    fn behind(&self, taker: Taker) -> Option<Placement> {
        let offset = self.view.offset(taker.line, taker.column)?;
        let statement = self.view.statement(offset)?;
        let is_call = |n: Node<'_>| n.kind() == "call_expression" && n.start_byte() == offset;
        let call = self.view.find(statement.node, is_call).first().copied()?;
        let answer = self.answer(statement.node, call)?;
        Some(Placement::Untaken { target: self.target(statement)?, taker, answer })
    }

    /// What a statement does with the result of a call, when it does nothing else.
    fn answer(&self, statement: Node<'v>, call: Node<'v>) -> Option<Answer> {
        let text = || self.view.source(call).to_owned();
        if let Some(assignment) = assignment_in(statement) {
            let left = self.view.source(assignment.child_by_field_name("left")?).to_owned();
            let whole = assignment.child_by_field_name("right") == Some(call);
            return whole.then_some(Answer::Kept(left));
        }
        if statement.named_child(0) != Some(call) {
            return None;
        }
        match statement.kind() {
            "expression_statement" => Some(Answer::Dropped(text())),
            "return_statement" => {
                let name = self.fresh_name("result");
                Some(Answer::Returned { ty: self.return_type()?, call: text(), name })
            }
            _ => None,
        }
    }
}
