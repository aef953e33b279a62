//! Where a release could go: places in the source for one finding, the one that reads best first.
//!
//! In: a finding and the syntax tree of the file it leaks in. Out: placements. None of them is safe by
//! itself: that is for the trial to find out.

mod label;
mod taken;

use crate::declared;
use crate::holder::{is_writable, root_of};
use crate::kept::Taker;
use crate::placement::{Placement, Target};
use crate::shape::{
    assignment_in, assignment_in_condition, brace_of, is_conditional, is_jump, is_loop,
    is_never_zero, is_value_of, last_of_branch, last_statement,
};
use crate::view::{Slot, Statement, View, is_identifier};
use leakproof_findings::{Event, Finding, Kind};
use tree_sitter::Node;

/// How many branches back from the leak are looked at.
const BRANCHES: usize = 4;

/// How many other exits are looked at.
const MAX_EXITS: usize = 5;

/// Finds placements for one finding.
pub struct Finder<'v> {
    view: &'v View,
    finding: &'v Finding,
    holder: &'v str,
    function: Node<'v>,
    list: Vec<Placement>,
}

impl<'v> Finder<'v> {
    /// None when the leak is not inside a function that the parser understands.
    pub fn new(view: &'v View, finding: &'v Finding, holder: &'v str) -> Option<Self> {
        let offset = view.offset(finding.leak.line, finding.leak.column)?;
        let function = view.function(offset)?;
        Some(Self { view, finding, holder, function, list: Vec::new() })
    }

    pub fn function(&self) -> Node<'v> {
        self.function
    }

    /// `takers`: calls that take the object with one result only; `releases`: whether a function
    /// releases what it is given.
    pub fn placements(
        mut self,
        takers: &[Taker],
        releases: &dyn Fn(&str) -> bool,
    ) -> Vec<Placement> {
        let finding = self.finding;
        let offset = self.view.offset(finding.leak.line, finding.leak.column).unwrap_or(0);
        if self.is_of_one_turn(offset) {
            // Behind the loop only the last turn's object would be released.
            self.loop_end();
        }
        self.untaken_at(offset, takers);
        self.jump_to_label(offset, releases);
        if self.finding.kind == Kind::Lost {
            self.lost(offset);
        } else {
            self.forgotten(offset);
        }
        self.path_branches(offset);
        self.untaken(takers);
        self.scope_end(offset);
        self.other_exits();
        self.loop_end();
        self.last_use();
        let mut unique: Vec<Placement> = Vec::new();
        for placement in std::mem::take(&mut self.list) {
            if !unique.contains(&placement) && self.in_scope(&placement) {
                unique.push(placement);
            }
        }
        unique
    }

    /// Whether the variable that holds the object can be named there. One without a declaration in
    /// the function is a global, or comes from a macro.
    fn in_scope(&self, placement: &Placement) -> bool {
        let root = root_of(self.holder);
        let declarations =
            self.view.find(self.function, |n| declared::declares(self.view, n, root));
        declarations.is_empty()
            || declared::find(self.view, self.function, root, placement.offset()).is_some()
    }

    fn body_end(&self) -> Option<usize> {
        Some(self.function.child_by_field_name("body")?.end_byte() - 1)
    }

    /// The function ends here while a local still refers to the object.
    fn forgotten(&mut self, offset: usize) {
        if self.closing_brace(offset) {
            return;
        }
        let Some(statement) = self.view.statement(offset) else { return };
        let Some(target) = self.target(statement) else { return };
        let hoist = self.hoist(statement.node, &target);
        let before = Placement::Before(target);
        let uses = statement.node.kind() == "return_statement"
            && self.view.mentions(statement.node, root_of(self.holder));
        match hoist {
            Some(hoist) if uses => self.list.extend([hoist, before]),
            Some(hoist) => self.list.extend([before, hoist]),
            None => self.list.push(before),
        }
    }

    /// A closing brace: the block ends there. True when `offset` is one.
    fn closing_brace(&mut self, offset: usize) -> bool {
        let is_brace = self.view.text.get(offset) == Some(&b'}');
        if is_brace && self.body_end() == Some(offset) {
            self.branch_end(offset);
            self.list.push(Placement::BlockEnd(offset));
        }
        is_brace
    }

    /// The end of the `#if` branch that declares the variable: the function may go on behind it, but
    /// without the variable.
    fn branch_end(&mut self, offset: usize) {
        let declared = declared::find(self.view, self.function, root_of(self.holder), offset);
        let branch = declared.and_then(|d| d.node.parent()).filter(|n| is_conditional(*n));
        let last = branch.and_then(last_of_branch).filter(|n| !is_jump(*n));
        let statement = last.and_then(|n| self.view.statement(n.start_byte()));
        if let Some(target) = statement.and_then(|s| self.target(s)) {
            self.list.push(Placement::After(target));
        }
    }

    fn hoist(&self, node: Node<'v>, target: &Target) -> Option<Placement> {
        if node.kind() != "return_statement" {
            return None;
        }
        let value = node.named_child(0)?;
        let ty = self.return_type()?;
        Some(Placement::HoistReturn {
            target: target.clone(),
            ty,
            value: self.view.source(value).to_owned(),
            name: self.fresh_name("result"),
        })
    }

    /// The function's return type as the source spells it.
    fn return_type(&self) -> Option<String> {
        let base = self.function.child_by_field_name("type")?;
        let mut stars = 0;
        let mut node = self.function.child_by_field_name("declarator")?;
        while node.kind() == "pointer_declarator" {
            stars += 1;
            node = node.child_by_field_name("declarator")?;
        }
        let mut cursor = self.function.walk();
        let qualifiers: String = self
            .function
            .children(&mut cursor)
            .take_while(|n| n.start_byte() < node.start_byte())
            .filter(|n| n.kind() == "type_qualifier")
            .map(|n| format!("{} ", self.view.source(n)))
            .collect();
        let space = if stars == 0 { "" } else { " " };
        Some(format!("{qualifiers}{}{space}{}", self.view.source(base), "*".repeat(stars)))
    }

    fn fresh_name(&self, wish: &str) -> String {
        let taken = |name: &str| self.view.mentions(self.function, name);
        let numbered = (2..100).map(|n| format!("{wish}{n}"));
        std::iter::once(wish.to_owned()).chain(numbered).find(|n| !taken(n)).unwrap_or_default()
    }

    /// The leak is at a statement `release(owner);`: the owner, the function, and the statement as
    /// one that can be replaced.
    pub fn release_of_owner(&self) -> Option<(String, String, Placement)> {
        let offset = self.view.offset(self.finding.leak.line, self.finding.leak.column)?;
        let statement = self.view.statement(offset)?;
        let call = (statement.node.kind() == "expression_statement")
            .then(|| statement.node.named_child(0))
            .flatten()
            .filter(|n| n.kind() == "call_expression")?;
        let arguments = call.child_by_field_name("arguments")?;
        let owner = arguments.named_child(0).filter(|_| arguments.named_child_count() == 1)?;
        let callee = self.view.source(call.child_by_field_name("function")?).to_owned();
        let owner = self.view.source(owner).to_owned();
        let target = self.target(statement)?;
        is_writable(&owner).then_some((owner, callee, Placement::Replace { target }))
    }

    /// An object that no variable holds: the call that makes it, and how it is used.
    pub fn nameless(mut self, made: Option<&str>) -> Option<(String, Vec<Placement>)> {
        let offset = self.alloc_offset()?;
        let statement = self.view.statement(offset)?;
        let target = self.target(statement)?;
        let calls = self.view.find(statement.node, |n| n.kind() == "call_expression");
        let call = calls.iter().copied().rfind(|c| c.start_byte() == offset)?;
        let text = self.view.source(call).to_owned();
        if statement.node.kind() != "expression_statement" {
            return None;
        }
        let top = statement.node.named_child(0)?;
        if is_value_of(top, call) {
            self.list.push(Placement::Discard { target });
            return Some((text, self.list));
        }
        // Only the call around it may be evaluated later than it.
        let free = self
            .view
            .around(call)
            .take_while(|n| *n != statement.node)
            .all(|n| !matches!(n.kind(), "binary_expression" | "conditional_expression"));
        if !free || calls.len() != 2 {
            return None;
        }
        let name = self.fresh_name("made");
        let (start, end) = (statement.node.start_byte(), statement.node.end_byte());
        let statement = format!(
            "{}{name}{}",
            self.view.slice(start..call.start_byte()),
            self.view.slice(call.end_byte()..end)
        );
        let ty = made?.to_owned();
        self.list.push(Placement::Name { target, ty, call: text.clone(), statement, name });
        Some((text, self.list))
    }

    /// The last reference goes away here.
    fn lost(&mut self, offset: usize) {
        if self.closing_brace(offset) {
            return;
        }
        let Some(statement) = self.view.statement(offset) else { return };
        let Some(target) = self.target(statement) else { return };
        if let Some(resize) = self.resize(statement.node, &target) {
            self.list.push(resize);
            return;
        }
        let in_loop = self.view.around(statement.node).any(is_loop);
        if in_loop {
            self.loop_end();
        }
        let old = self.save_old(statement.node, &target);
        let before = Placement::Before(target);
        match old {
            Some(old) => self.list.extend([old, before]),
            None => self.list.push(before),
        }
    }

    /// `holder = call(holder, size)` where the call resizes.
    fn resize(&self, node: Node<'v>, target: &Target) -> Option<Placement> {
        let asked = assignment_in_condition(node);
        // A declaration cannot follow a label.
        if asked.is_some() && target.labelled {
            return None;
        }
        let assignment = assignment_in(node).or(asked)?;
        let holder = self.view.source(assignment.child_by_field_name("left")?);
        let right = assignment.child_by_field_name("right")?;
        let call = std::iter::successors(Some(right), |n| {
            n.named_child(n.named_child_count().checked_sub(1)? as u32)
        })
        .find(|n| n.kind() == "call_expression")?;
        let function = self.view.source(call.child_by_field_name("function")?);
        let arguments = call.child_by_field_name("arguments")?;
        let first = self.view.source(arguments.named_child(0)?);
        let resizes = function.to_ascii_lowercase().contains("realloc");
        if !resizes || first != holder || holder != self.holder {
            return None;
        }
        let size = match arguments.named_child_count() {
            2 => arguments.named_child(1)?,
            _ => return None,
        };
        let ty = match declared::find(self.view, self.function, holder, node.start_byte()) {
            Some(declared) => declared.ty,
            None => "void *".to_owned(),
        };
        Some(Placement::Resize {
            target: target.clone(),
            ty,
            holder: holder.to_owned(),
            call: self.view.source(right).to_owned(),
            asked: asked.map(|_| (right.start_byte(), right.end_byte())),
            size: self.size_guard(size)?,
            name: self.fresh_name("resized"),
        })
    }

    /// `None`: the size cannot be repeated; `Some(None)`: it is never zero.
    fn size_guard(&self, size: Node<'v>) -> Option<Option<String>> {
        let text = self.view.source(size);
        if is_never_zero(self.view, size) {
            return Some(None);
        }
        let pure = self.view.find(size, |n| {
            matches!(n.kind(), "call_expression" | "update_expression" | "assignment_expression")
        });
        if !pure.is_empty() {
            return None;
        }
        let simple = matches!(size.kind(), "identifier" | "field_expression");
        Some(Some(if simple { text.to_owned() } else { format!("({text})") }))
    }

    /// The holder is overwritten by something made of itself.
    fn save_old(&self, node: Node<'v>, target: &Target) -> Option<Placement> {
        let assignment = assignment_in(node)?;
        let left = self.view.source(assignment.child_by_field_name("left")?);
        let right = assignment.child_by_field_name("right")?;
        let root = root_of(self.holder);
        if left != self.holder || !self.view.mentions(right, root) {
            return None;
        }
        let declared = declared::find(self.view, self.function, left, node.start_byte())?;
        Some(Placement::SaveOld {
            target: target.clone(),
            ty: declared.ty,
            holder: left.to_owned(),
            statement: self.view.source(node).to_owned(),
            name: self.fresh_name(&format!("old_{}", root_of(left))),
        })
    }

    /// The jumps on the branches that the path took last, and missing `else`s.
    fn path_branches(&mut self, leak: usize) {
        let steps = self.finding.path.iter().rev();
        let branches: Vec<usize> = steps
            .filter(|s| s.event == Event::Branch && s.file == self.finding.leak.file)
            .filter_map(|s| self.view.offset(s.line, s.column))
            .filter(|o| self.function.byte_range().contains(o))
            .take(BRANCHES)
            .collect();
        for offset in branches {
            let Some(statement) = self.view.statement(offset) else { continue };
            let node = statement.node;
            match node.kind() {
                "if_statement" => self.branches_of(node, leak),
                _ if is_loop(node) => {
                    if let Some(target) = self.target(statement) {
                        self.list.push(Placement::After(target));
                    }
                }
                _ => {}
            }
        }
    }

    fn branches_of(&mut self, node: Node<'v>, leak: usize) {
        let alternative = node.child_by_field_name("alternative");
        let otherwise = alternative.and_then(|a| match a.kind() {
            "else_clause" => a.named_child(0),
            _ => Some(a),
        });
        for branch in [node.child_by_field_name("consequence"), otherwise].into_iter().flatten() {
            if branch.byte_range().contains(&leak) {
                continue;
            }
            let last = last_statement(branch);
            if let Some(last) = last.filter(|l| is_jump(*l))
                && let Some(statement) = self.view.statement(last.start_byte())
                && let Some(target) = self.target(statement)
            {
                self.list.push(Placement::Before(target));
            } else if branch.kind() == "compound_statement" {
                self.list.push(Placement::BlockEnd(branch.end_byte() - 1));
            } else if branch.kind() == "expression_statement"
                && let Some(statement) = self.view.statement(branch.start_byte())
                && let Some(target) = self.target(statement)
            {
                self.list.push(Placement::After(target));
            }
        }
        if alternative.is_none() {
            self.list.push(Placement::Else { start: node.start_byte(), end: node.end_byte() });
        }
    }

    /// The end of the block in which the variable is declared, when that is not the function's.
    fn scope_end(&mut self, leak: usize) {
        let root = root_of(self.holder);
        let offset = self.alloc_offset().unwrap_or(leak);
        let scope = declared::find(self.view, self.function, root, offset + 1)
            .and_then(|d| declared::scope(d.node))
            .filter(|s| s.kind() == "compound_statement");
        let Some(scope) = scope.filter(|s| Some(s.end_byte() - 1) != self.body_end()) else {
            return;
        };
        self.end_of(scope);
    }

    /// The other ways out after the allocation: where several meet, the analysis may name the
    /// wrong one.
    fn other_exits(&mut self) {
        let alloc = self.alloc_offset().unwrap_or(usize::MAX);
        let returns = self.view.find(self.function, |n| n.kind() == "return_statement");
        for node in returns.into_iter().filter(|n| n.start_byte() > alloc).take(MAX_EXITS) {
            let statement = self.view.statement(node.start_byte());
            if let Some(target) = statement.and_then(|s| self.target(s)) {
                self.list.push(Placement::Before(target));
            }
        }
    }

    /// The end of the innermost loop body around the allocation.
    fn loop_end(&mut self) {
        let Some(offset) = self.alloc_offset() else { return };
        let Some(statement) = self.view.statement(offset) else { return };
        let body = self
            .view
            .around(statement.node)
            .find(|n| n.kind() == "compound_statement" && n.parent().is_some_and(is_loop));
        if let Some(body) = body.filter(|b| !self.is_asked_for_after(*b)) {
            self.end_of(body);
        }
    }

    /// Whether the variable outlives a block and is mentioned behind it: what was released at its end would be
    /// found there.
    fn is_asked_for_after(&self, block: Node<'v>) -> bool {
        let root = root_of(self.holder);
        let declared = declared::find(self.view, self.function, root, block.end_byte() - 1);
        let outlives = declared.is_none_or(|d| !block.byte_range().contains(&d.node.start_byte()));
        outlives && self.is_mentioned_behind(block)
    }

    /// Whether the variable occurs in the function's text behind a node.
    fn is_mentioned_behind(&self, node: Node<'v>) -> bool {
        let root = root_of(self.holder);
        let is_later = |n: Node<'_>| n.start_byte() >= node.end_byte() && is_identifier(n);
        let later = |n| is_later(n) && self.view.source(n) == root;
        !self.view.find(self.function, later).is_empty()
    }

    /// The object is made in a loop, and nobody asks for it between the loop and the leak.
    fn is_of_one_turn(&self, leak: usize) -> bool {
        let statement = self.alloc_offset().and_then(|o| self.view.statement(o));
        let outermost =
            statement.and_then(|s| self.view.around(s.node).filter(|n| is_loop(*n)).last());
        let Some(turns) = outermost.filter(|l| l.end_byte() <= leak) else { return false };
        !self.is_mentioned_behind(turns)
    }

    fn end_of(&mut self, block: Node<'v>) {
        match last_statement(block) {
            Some(last) if is_jump(last) => {
                let statement = self.view.statement(last.start_byte());
                if let Some(target) = statement.and_then(|s| self.target(s)) {
                    self.list.push(Placement::Before(target));
                }
            }
            _ => self.list.push(Placement::BlockEnd(block.end_byte() - 1)),
        }
    }

    fn alloc_offset(&self) -> Option<usize> {
        let alloc = &self.finding.alloc;
        let offset = self.view.offset(alloc.line, alloc.column)?;
        let here = alloc.file == self.finding.leak.file;
        (here && self.function.byte_range().contains(&offset)).then_some(offset)
    }

    /// After the last statement on the path to which the object was passed.
    fn last_use(&mut self) {
        let steps = self.finding.path.iter().rev();
        let last = steps
            .filter(|s| matches!(s.event, Event::Call | Event::Alloc))
            .filter(|s| s.file == self.finding.leak.file)
            .find_map(|s| self.view.offset(s.line, s.column))
            .filter(|o| self.function.byte_range().contains(o));
        let statement = last.and_then(|o| self.view.statement(o));
        if let Some(statement) = statement.filter(|s| !is_jump(s.node))
            && let Some(target) = self.target(statement)
        {
            self.list.push(Placement::After(target));
        }
    }

    /// The statement as a target, with the braces it would need.
    fn target(&self, statement: Statement<'v>) -> Option<Target> {
        let node = statement.node;
        let brace = match statement.slot {
            Slot::List => None,
            Slot::Single => Some(brace_of(node)?),
        };
        let labelled = node.prev_sibling().is_some_and(|n| n.kind() == ":");
        Some(Target { at: node.start_byte(), end: node.end_byte(), brace, labelled })
    }
}
