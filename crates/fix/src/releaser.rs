//! How to release an object: the function that the project itself uses for it.
//!
//! In: what the analysis observed (who releases what a function made) and the models. Out: ways to
//! release, the best first: what the same function does with the same object, what the program does
//! with objects of that maker, the library's own function for the family.

use leakproof_detect::{Pair, Releaser};
use leakproof_findings::Finding;
use leakproof_models::{Library, Root};
use std::collections::BTreeMap;

/// Ways tried at most.
const MAX_WAYS: usize = 4;

/// One way to release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    pub name: String,
    pub by_address: bool,
    /// The object was complete when this function got it, or the function looks at no content.
    pub trusted: bool,
}

impl Way {
    /// The statement that releases `holder`.
    pub fn statement(&self, holder: &str) -> String {
        match self.name.as_str() {
            "operator delete[]" => return format!("delete[] {holder};"),
            "operator delete" => return format!("delete {holder};"),
            _ => {}
        }
        match (self.by_address, holder.strip_prefix('*')) {
            (false, _) => format!("{}({holder});", self.name),
            (true, Some(pointer)) => format!("{}({pointer});", self.name),
            (true, None) => format!("{}(&{holder});", self.name),
        }
    }
}

/// The ways to release the object of a finding, the best first.
pub fn ways(finding: &Finding, pairs: &[Pair], models: &Library) -> Vec<Way> {
    let mut list: Vec<Way> = Vec::new();
    let alloc = (&finding.alloc.file, finding.alloc.line, finding.alloc.column);
    let site = finding.alloc_trace.last().map(|s| (&s.file, s.line, s.column));
    let same_site = |p: &Pair| site == Some((&p.site.0, p.site.1, p.site.2));
    let made_by_library = finding.alloc_trace.len() <= 1;
    let here = |p: &&Pair| {
        p.function == finding.function
            && (&p.alloc.0, p.alloc.1, p.alloc.2) == alloc
            && same_site(p)
    };
    let alike = |p: &&Pair| p.allocator == finding.alloc.callee && same_site(p);
    add_by_count(&mut list, pairs.iter().filter(here), true);
    if !made_by_library {
        add_by_count(&mut list, pairs.iter().filter(alike), true);
    }
    add_family(&mut list, finding, models);
    if made_by_library {
        let raw = |p: &&Pair| p.allocator == finding.alloc.callee;
        add_by_count(&mut list, pairs.iter().filter(raw), false);
    }
    list.truncate(MAX_WAYS);
    list
}

fn add_by_count<'p>(list: &mut Vec<Way>, pairs: impl Iterator<Item = &'p Pair>, complete: bool) {
    let mut counts: BTreeMap<&Releaser, usize> = BTreeMap::new();
    for pair in pairs.filter(|p| p.releaser.params == 1 && p.releaser.arg == 0) {
        *counts.entry(&pair.releaser).or_default() += 1;
    }
    let mut ranked: Vec<(&Releaser, usize)> = counts.into_iter().collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    for (releaser, _) in ranked {
        add(
            list,
            Way {
                name: releaser.name.clone(),
                by_address: releaser.by_address,
                trusted: complete || releaser.library,
            },
        );
    }
}

fn add_family(list: &mut Vec<Way>, finding: &Finding, models: &Library) {
    for (model, place) in models.deallocators(&finding.family).into_iter().take(2) {
        let by_address = match (place.root, place.derefs.as_slice()) {
            (Root::Arg(0), []) => false,
            (Root::Arg(0), [0]) => true,
            _ => continue,
        };
        add(list, Way { name: spelled(&model.name).to_owned(), by_address, trusted: true });
    }
}

/// Symbols of C++ operators as the analysis names them elsewhere.
fn spelled(name: &str) -> &str {
    match name {
        "_ZdlPv" | "_ZdlPvm" => "operator delete",
        "_ZdaPv" | "_ZdaPvm" => "operator delete[]",
        other => other,
    }
}

fn add(list: &mut Vec<Way>, way: Way) {
    if !list.iter().any(|w| w.name == way.name) {
        list.push(way);
    }
}
