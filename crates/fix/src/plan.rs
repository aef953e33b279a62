//! From a finding to all that can be tried for it: references to the object, places, functions
//! that release.

use crate::attempt::{Holder, Plan};
use crate::files::Files;
use crate::holder;
use crate::placement::{Finder, Placement};
use crate::releaser::{Knowledge, Way};
use crate::session::Case;
use crate::trial::Workshop;
use crate::view::View;
use leakproof_findings::{Finding, Sources};
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
        let scene = Scene { view, function, finding, workshop, knowledge };
        let holders = scene.usable(scene.holders(self.sources))?;
        Ok(Case::new(Plan::new(view, function, finding, holders)))
    }
}

/// One finding and all that is known around it.
struct Scene<'s, 'p> {
    view: &'s View,
    function: Node<'s>,
    finding: &'s Finding,
    workshop: &'s Workshop<'p>,
    knowledge: &'s Knowledge<'s>,
}

impl Scene<'_, '_> {
    fn holders(&self, sources: &Sources) -> Vec<Holder> {
        let mut list: Vec<Holder> = self.destructor().into_iter().collect();
        for text in holder::spell(self.view, self.finding, sources) {
            let Some(finder) = Finder::new(self.view, self.finding, &text) else { continue };
            let placements = finder.placements();
            let ty = self.workshop.struct_of(self.finding, &text);
            let ways = self.knowledge.ways(self.finding, &text, ty.as_deref());
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

    /// The leak is where an owner is released by a function that does not know its parts, and the
    /// program has one for its type that does.
    fn destructor(&self) -> Option<Holder> {
        let finder = Finder::new(self.view, self.finding, "")?;
        let (owner, callee, placement) = finder.release_of_owner()?;
        let inside = self.finding.variable.strip_prefix(owner.as_str());
        if !self.finding.variable.is_empty() && !inside.is_some_and(|p| p.starts_with("->")) {
            return None;
        }
        let ty = self.workshop.struct_of(self.finding, &owner)?;
        let mut ways = self.knowledge.destructors(&ty);
        ways.retain(|way| way.name != callee && way.name != self.finding.function);
        (!ways.is_empty()).then(|| self.holder(owner, vec![placement], ways))
    }

    fn holder(&self, text: String, placements: Vec<Placement>, ways: Vec<Way>) -> Holder {
        let root = holder::root_of(&text).to_owned();
        let reservation = self.view.is_conditional(self.function, &root).then(|| {
            format!("`{root}` is also used under #if: other configurations were not analysed")
        });
        let holder = Holder::new(self.view, self.function, self.finding, text, placements, ways);
        Holder { reservation, ..holder }
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
