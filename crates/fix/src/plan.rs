//! From a finding to all that can be tried for it: references to the object, places, functions
//! that release.

use crate::attempt::{Holder, Plan};
use crate::conditional::{self, Known, Spot};
use crate::declared;
use crate::files::Files;
use crate::finder::Finder;
use crate::holder;
use crate::kept::{Spared, Standing};
use crate::patched::position;
use crate::placement::{Answer, Placement};
use crate::releaser::{Knowledge, MAX_WAYS, Way, structs_around};
use crate::session::Case;
use crate::shape::assignment_in;
use crate::spelling;
use crate::template;
use crate::trial::Workshop;
use crate::types::Referred;
use crate::view::View;
use crate::walk::Moment;
use leakproof_detect::Given;
use leakproof_findings::{Finding, Sources};
use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::Node;

const NOT_UNDERSTOOD: &str = "the code around it is not understood well enough to be edited";

/// Makes plans.
pub struct Planner<'a, 'p> {
    pub files: Files,
    pub sources: &'a Sources,
    pub workshop: &'a Workshop<'p>,
    pub knowledge: &'a Knowledge<'a>,
}

impl Planner<'_, '_> {
    /// All that can be tried for a finding, or why there is nothing.
    pub fn plan(&mut self, finding: &Finding) -> Result<Case, String> {
        let file = &finding.leak.file;
        let view = self.files.get(file, self.sources, is_cxx(file))?;
        let function = Finder::new(view, finding, "").ok_or(NOT_UNDERSTOOD)?.function();
        let (workshop, knowledge) = (self.workshop, self.knowledge);
        let sources = self.sources;
        let scene = Scene { view, function, finding, sources, workshop, knowledge };
        let holders = scene.usable(scene.holders())?;
        Ok(Case::new(Plan::new(view, function, finding, holders)))
    }
}

/// One finding and all that is known around it.
struct Scene<'s, 'p> {
    view: &'s View,
    function: Node<'s>,
    finding: &'s Finding,
    sources: &'s Sources,
    workshop: &'s Workshop<'p>,
    knowledge: &'s Knowledge<'s>,
}

impl Scene<'_, '_> {
    fn holders(&self) -> Vec<Holder> {
        let mut list: Vec<Holder> = self.destructor().into_iter().collect();
        let texts = self.spelled();
        for text in texts.clone() {
            let Some(finder) = Finder::new(self.view, self.finding, &text) else { continue };
            let takers = self.workshop.keepers().takers(self.finding, &text);
            let releases = |name: &str| self.knowledge.is_releaser(name);
            let placements = finder.placements(&takers, &releases);
            let ways = match self.workshop.type_of(self.finding, &text) {
                Some(Referred::Number) => continue,
                Some(Referred::Whole(ty)) => self.knowledge.emptiers(self.finding, &ty),
                Some(Referred::Pointed(ty)) => self.knowledge.ways(self.finding, &text, Some(&ty)),
                // What has members is no pointer.
                None if texts.iter().any(|t| holder::is_member(t, &text)) => continue,
                None => self.knowledge.ways(self.finding, &text, None),
            };
            list.push(self.holder(text, placements, ways));
        }
        let made = self.workshop.return_type(&self.finding.alloc.callee);
        let nameless = Finder::new(self.view, self.finding, "");
        if let Some((text, placements)) = nameless.and_then(|f| f.nameless(made.as_deref())) {
            let ways = self.knowledge.ways(self.finding, &text, None);
            list.push(self.holder(text, placements, ways));
        }
        list
    }

    /// The references to the object that the source may spell, each once. What a callee calls `*out` may be
    /// `out` here.
    fn spelled(&self) -> Vec<String> {
        let mut list = Vec::new();
        for text in holder::spell(self.view, self.finding, self.sources) {
            let inner = text.strip_prefix('*').filter(|_| {
                let ty = self.workshop.type_of(self.finding, &text);
                matches!(ty, Some(Referred::Whole(_) | Referred::Number))
            });
            let text = inner.map_or(text.clone(), str::to_owned);
            if !list.contains(&text) {
                list.push(text);
            }
        }
        list
    }

    /// The leak is where an owner is released by a function that does not know its parts, and the
    /// program has one for its type that does.
    fn destructor(&self) -> Option<Holder> {
        let finder = Finder::new(self.view, self.finding, "")?;
        let (owner, callee, placement) = finder.release_of_owner()?;
        let variable = self.finding.variable.as_str();
        let inside = variable.strip_prefix(owner.as_str());
        // A variable of a caller says nothing about the names here.
        let named = self.view.mentions(self.function, holder::root_of(variable));
        if named && !inside.is_some_and(|p| p.starts_with("->")) {
            return None;
        }
        let Referred::Pointed(ty) = self.workshop.type_of(self.finding, &owner)? else {
            return None;
        };
        let mut ways = self.knowledge.destructors(self.finding, &ty);
        ways.retain(|way| way.name != callee && way.name != self.finding.function);
        (!ways.is_empty()).then(|| self.holder(owner, vec![placement], ways))
    }

    fn holder(&self, text: String, mut placements: Vec<Placement>, ways: Vec<Way>) -> Holder {
        // What is not UTF-8 stays where it is.
        let is_text = |r: Range<usize>| std::str::from_utf8(&self.view.text[r]).is_ok();
        placements.retain(|p| p.rewritten().is_none_or(is_text));
        let question = self.workshop.about_null();
        let keepers = self.workshop.keepers();
        let ways = ways.into_iter().filter_map(|w| self.with_owner(w, &text));
        let mut ways: Vec<Way> = ways.filter_map(|w| self.complete(w, &text)).collect();
        ways.retain(|w| w.given != Given::Pointer || !keepers.keeps(&w.name, w.arg));
        // What is not finished yet may lack parts without which the function crashes.
        let unfinished = self.finding.alloc_trace.len() <= 1;
        let needs_parts = |w: &Way| {
            let own = !self.knowledge.is_library_releaser(&w.name);
            own && w.given == Given::Pointer && !question.accepts(&w.name, w.arg, Given::Owner)
        };
        ways.retain(|w| !unfinished || !needs_parts(w));
        ways.truncate(MAX_WAYS);
        ways.iter_mut()
            .for_each(|w| w.prototype = declared::prototype(self.view, self.function, &w.name));
        ways.iter_mut().for_each(|w| {
            w.accepts_null = question.accepts(&w.name, w.arg, w.given);
            w.needs_owner =
                w.given == Given::Owner && !question.accepts(&w.name, w.arg, Given::Pointer);
        });
        // Whether a struct holds something cannot be asked in general.
        ways.retain(|w| w.accepts_null || !w.whole);
        let ways: Vec<Way> = ways.into_iter().flat_map(|w| self.spellings(w)).collect();
        // No release is safe where other configurations have a say, or where it changes what is looked
        // at later: such places come last.
        let disturbs =
            |p: &Placement| self.disturbed(p, &ways).into_iter().next().flatten().is_some();
        let natural = placements.first().cloned();
        placements.sort_by_cached_key(|p| (self.is_configured(&text, p), disturbs(p)));
        let at_leak = placements.iter().position(|p| natural.as_ref() == Some(p)).unwrap_or(0);
        let reserved = placements.iter().map(|p| self.reservation(&text, p)).collect();
        let disturbed = placements.iter().map(|p| self.disturbed(p, &ways)).collect();
        let standing = placements.iter().map(|p| self.standing(&text, p)).collect();
        let moments = placements.iter().map(|p| self.exact_moment(p)).collect();
        let leaves = placements.iter().map(|p| self.leaves(p)).collect();
        let only_filled = self.workshop.is_only_filled(self.finding, &text);
        let holder = Holder::new(self.view, self.function, self.finding, text, placements, ways);
        Holder { at_leak, reserved, disturbed, moments, leaves, only_filled, standing, ..holder }
    }

    /// A way as the code around spells it, then as it is.
    fn spellings(&self, way: Way) -> Vec<Way> {
        let plain = way.given == Given::Pointer && way.others.is_empty();
        let calls = || self.workshop.calls_around(self.finding, &way.name);
        let spelled = plain.then(calls).and_then(|c| spelling::of_calls(self.view, &c, &way.name));
        let file = &self.finding.leak.file;
        let spelled =
            spelled.filter(|name| spelling::only_calls(self.sources, file, name, &way.name));
        let variant = spelled.map(|name| Way { spelled: Some(name), ..way.clone() });
        variant.into_iter().chain([way]).collect()
    }

    /// Of each way: the variable that its other arguments change, when that is looked at after a release
    /// at a place.
    fn disturbed(&self, placement: &Placement, ways: &[Way]) -> Vec<Option<String>> {
        // The value that is returned was computed before.
        let after = matches!(placement, Placement::HoistReturn { .. });
        let changed =
            |w: &Way| template::disturbed(self.view, self.function, &w.others, placement.offset());
        ways.iter().map(|w| if after { None } else { changed(w) }).collect()
    }

    /// A way that is given the struct which it wants, of those that the object lies in; none when it wants another one.
    fn with_owner(&self, way: Way, holder: &str) -> Option<Way> {
        let wants = self.knowledge.wanted(&way).filter(|_| way.given == Given::Owner && !way.whole);
        let Some(wants) = wants else { return Some(way) };
        let mut unknown = false;
        for text in structs_around(holder) {
            let owner = match self.workshop.type_of(self.finding, text) {
                Some(Referred::Whole(ty)) if ty == wants => format!("&{text}"),
                Some(Referred::Pointed(ty)) if ty == wants => text.to_owned(),
                known => {
                    unknown |= known.is_none();
                    continue;
                }
            };
            return Some(Way { owner: Some(owner), ..way });
        }
        unknown.then_some(way)
    }

    /// A way with all arguments that it needs.
    fn complete(&self, way: Way, holder: &str) -> Option<Way> {
        if !way.needs_others() {
            return Some(way);
        }
        let made_at = self.made_at();
        let others = template::others(self.view, self.function, &way, holder, made_at)?;
        Some(Way { others, ..way })
    }

    /// What keeps a release at a place from being safe, whatever the analysis says.
    fn reservation(&self, text: &str, placement: &Placement) -> Option<String> {
        if self.is_configured(text, placement) {
            let other = "is also used under #if: other configurations were not analysed";
            return Some(format!("`{}` {other}", holder::root_of(text)));
        }
        let lines = self.workshop.lines_of(self.finding);
        let moment = self.moment(placement, &lines);
        if !self.workshop.makers().may_be_there(self.finding, text, moment) {
            let callee = &self.finding.alloc.callee;
            return Some(format!("by what `{callee}` returns there, it left nothing in `{text}`"));
        }
        if let Some(given) = self.filled_by_call(placement) {
            return Some(format!("the call may be made for what it leaves in `{given}`"));
        }
        let spared = self.spared(text, placement);
        let stored = self.workshop.keepers().before(self.finding, text, moment, spared)?;
        Some(format!("it is stored in memory of others at line {stored}, and may still be there"))
    }

    /// The variable whose address is given to a call of which nobody takes the result: a call that is made for
    /// its own sake may well return nothing.
    fn filled_by_call(&self, placement: &Placement) -> Option<String> {
        let Placement::Discard { target } = placement else { return None };
        let statement = self.view.statement(target.at)?.node;
        let is_address =
            |n: Node<'_>| n.kind() == "pointer_expression" && self.view.source(n).starts_with('&');
        let given = self.view.find(statement, is_address).first().copied()?;
        Some(self.view.source(given).trim_start_matches('&').trim().to_owned())
    }

    /// What a release at a place need not fear.
    fn spared(&self, text: &str, placement: &Placement) -> Spared {
        if let Placement::Untaken { taker, .. } = placement {
            return Spared::Call(*taker);
        }
        let next = self.view.statement(placement.offset());
        let leak = self.view.offset(self.finding.leak.line, self.finding.leak.column);
        let leak = leak.and_then(|offset| self.view.statement(offset));
        let here = leak.map(|s| s.node) == next.as_ref().map(|s| s.node);
        if let Some(owned) = self.member_of_released(text).filter(|_| here) {
            return owned;
        }
        let left = next.and_then(|s| assignment_in(s.node)?.child_by_field_name("left"));
        let overwritten = left.is_some_and(|left| self.view.source(left) == text);
        let line = |node: Node<'_>| position(&self.view.text, node.start_byte()).0;
        match left.filter(|_| overwritten) {
            Some(left) => Spared::OwnPlace(line(left)),
            None => Spared::Nothing,
        }
    }

    /// The leak is where the owner of the reference is released: nobody finds anything in it afterwards.
    fn member_of_released(&self, text: &str) -> Option<Spared> {
        let (owner, ..) = Finder::new(self.view, self.finding, "")?.release_of_owner()?;
        let member = text.strip_prefix(owner.as_str())?.strip_prefix("->")?;
        let offset = self.workshop.offset_of(self.finding, &owner, member)?;
        Some(Spared::Member { owner, offset })
    }

    /// Whether other configurations do something to the variable that matters at a place.
    fn is_configured(&self, text: &str, placement: &Placement) -> bool {
        let lines = self.workshop.lines_of(self.finding);
        let harmless = |name: &str| self.knowledge.is_harmless(name);
        let known = Known { lines: &lines, harmless: &harmless };
        conditional::matters(self.view, self.spot(placement), holder::root_of(text), &known)
    }

    fn standing(&self, text: &str, placement: &Placement) -> Standing {
        let moment = self.moment(placement, &self.workshop.lines_of(self.finding));
        let standing = self.workshop.keepers().standing(self.finding, text, moment);
        let exact = self.exact_moment(placement).is_some();
        let standing =
            Standing { idle: standing.idle || self.ends_there(text, placement), ..standing };
        if exact { standing } else { Standing { alone: false, set: false, ..standing } }
    }

    /// Whether the function is left right behind a release at a place.
    fn leaves(&self, placement: &Placement) -> bool {
        let body = self.function.child_by_field_name("body");
        match placement {
            Placement::Before(target) => {
                let next = self.view.statement(target.at);
                next.is_some_and(|s| s.node.kind() == "return_statement")
            }
            Placement::BlockEnd(brace) => body.is_some_and(|b| b.end_byte() == brace + 1),
            Placement::HoistReturn { .. } => true,
            Placement::Untaken { answer, .. } => matches!(answer, Answer::Returned { .. }),
            _ => false,
        }
    }

    /// Whether the function only releases other things behind a place, and returns.
    fn ends_there(&self, text: &str, placement: &Placement) -> bool {
        let Placement::Before(target) = placement else { return false };
        let Some(first) = self.view.statement(target.at).map(|s| s.node) else { return false };
        let releases = |n: Node<'_>| {
            let call = n.named_child(0).filter(|c| c.kind() == "call_expression");
            let callee = call.and_then(|c| c.child_by_field_name("function"));
            callee.is_some_and(|c| self.knowledge.is_library_releaser(self.view.source(c)))
        };
        for node in std::iter::successors(Some(first), |n| n.next_named_sibling()) {
            match node.kind() {
                "return_statement" => return !self.view.mentions(node, holder::root_of(text)),
                "expression_statement" if releases(node) => {}
                "comment" => {}
                _ => return false,
            }
        }
        first.parent().and_then(|body| body.parent()) == Some(self.function)
    }

    /// When a release at a place happens. Behind a statement that may do nothing, such as a loop, no line tells what
    /// was before.
    fn exact_moment(&self, placement: &Placement) -> Option<Moment> {
        let exact = matches!(placement, Placement::Before(_) | Placement::HoistReturn { .. });
        exact.then(|| self.moment(placement, &self.workshop.lines_of(self.finding)))
    }

    /// When a release at a place happens, in terms of lines that have code.
    fn moment(&self, placement: &Placement, lines: &BTreeSet<u32>) -> Moment {
        let line = |offset: usize| position(&self.view.text, offset).0;
        let last = |offset: usize| {
            let end = line(offset);
            lines.range(..=end).next_back().copied().unwrap_or(end)
        };
        match placement {
            Placement::Else { start, .. } => Moment { line: line(*start), after: true },
            Placement::BlockEnd(at) => Moment { line: last(*at), after: true },
            Placement::After(target)
            | Placement::HoistReturn { target, .. }
            | Placement::Untaken { target, .. }
            | Placement::Name { target, .. } => Moment { line: last(target.end), after: true },
            other => Moment { line: line(other.offset()), after: false },
        }
    }

    fn spot(&self, placement: &Placement) -> Spot<'_> {
        Spot { function: self.function, offset: placement.offset(), alloc: self.made_at() }
    }

    /// The offset of the call that makes the object, when it is in this function.
    fn made_at(&self) -> Option<usize> {
        let alloc = &self.finding.alloc;
        let offset = self.view.offset(alloc.line, alloc.column);
        offset.filter(|o| {
            alloc.file == self.finding.leak.file && self.function.byte_range().contains(o)
        })
    }

    /// Those with which something can be done, or why there are none.
    fn usable(&self, mut holders: Vec<Holder>) -> Result<Vec<Holder>, String> {
        if holders.is_empty() {
            return Err("no variable that could be named holds the object".to_owned());
        }
        if holders.iter().all(|h| h.placements.is_empty()) {
            return Err("there is no statement to put a release at".to_owned());
        }
        holders.retain(|h| !h.placements.is_empty() && !h.ways.is_empty());
        if holders.is_empty() {
            return Err("no function is known that releases the object".to_owned());
        }
        Ok(holders)
    }
}

fn is_cxx(file: &str) -> bool {
    let extension = std::path::Path::new(file).extension().and_then(|e| e.to_str());
    matches!(
        extension,
        Some("cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "hh" | "hpp" | "hxx")
    )
}
