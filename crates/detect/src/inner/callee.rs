//! What calls do to the pointers they are given, as far as owning fields need to know.

use super::counted;
use super::fields::Made;
use crate::schedule::Summaries;
use leakproof_ir::Callee;
use leakproof_models::{Effect as ModelEffect, Library, Model, Returns, Root as ModelRoot};
use leakproof_program::{FuncRef, Target};
use leakproof_summary::{Effect, Expr, Place, Ref, Root, Site, Slot, Summary};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// What becomes of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Borrowed,
    Released,
    /// One reference is given back, and the object is released if that was the last; or it is released in some cases and
    /// somebody may hold it in others.
    GivenUp,
    /// The result leads to it, and nothing else does.
    Returned,
    /// Somebody may hold it afterwards, or nothing is known.
    Kept,
}

impl Fate {
    /// Whether the caller has the object no more, and nobody is told to hold it.
    pub fn is_end(self) -> bool {
        matches!(self, Fate::Released | Fate::GivenUp)
    }
}

/// The program with what is known of its functions.
pub struct Program<'a> {
    pub program: &'a leakproof_program::Program,
    pub models: &'a Library,
    pub summaries: &'a Summaries,
}

/// Who is called.
enum Called<'a> {
    Defined(FuncRef, Arc<Summary>),
    Library(&'a Model),
    Unknown,
}

impl<'a> Program<'a> {
    fn called(&self, module: u32, callee: &Callee) -> Called<'a> {
        let Callee::Direct(id) = *callee else { return Called::Unknown };
        match self.program.resolve(module, id) {
            Target::Defined(f) => match self.summaries.get(f) {
                Some(summary) => Called::Defined(f, summary),
                None => Called::Unknown,
            },
            Target::External(f) => match self.models.get(&self.program.function(f).name) {
                Some(model) => Called::Library(model),
                None => Called::Unknown,
            },
        }
    }

    /// The function of the program that is called.
    pub fn defined(&self, module: u32, callee: &Callee) -> Option<FuncRef> {
        match self.called(module, callee) {
            Called::Defined(f, _) => Some(f),
            _ => None,
        }
    }

    /// Whether a function returns its argument with one reference more.
    pub fn counts_up_argument(&self, f: FuncRef) -> bool {
        self.summaries.get(f).is_some_and(|s| counted::counts_up_argument(&s))
    }

    /// What the call does to argument `n`.
    pub fn fate(&self, module: u32, callee: &Callee, n: usize) -> Fate {
        match self.called(module, callee) {
            Called::Unknown => Fate::Kept,
            Called::Library(model) => fate_by_model(model, n),
            Called::Defined(_, summary) => fate_by_summary(&summary, n),
        }
    }

    /// Whether the call releases argument `n` and knows nothing of what is in it.
    pub fn is_plain_release(&self, module: u32, callee: &Callee, n: usize) -> bool {
        match self.called(module, callee) {
            Called::Unknown => false,
            Called::Library(model) => fate_by_model(model, n) == Fate::Released,
            Called::Defined(f, _) => {
                let (module, function) = (self.program.module(f.module), self.program.function(f));
                let ty = function.params.get(n).and_then(|p| p.ty);
                ty.is_none_or(|t| !module.points_to_struct(t))
            }
        }
    }

    /// The object that a call returns, when it returns nothing else than that or null.
    pub fn made_by_call(&self, at: Place, module: u32, callee: &Callee) -> Option<Made> {
        match self.called(module, callee) {
            Called::Unknown => None,
            Called::Library(model) => {
                let family = made_by_model(model)?;
                Some(Made { trace: [site(at, &model.name)].into(), family: family.into() })
            }
            Called::Defined(f, summary) => {
                let object = made_by_summary(&summary)?;
                Some(self.made_in(at, f, &summary, object))
            }
        }
    }

    /// An object that a function returns of which callers know that it is theirs: what else it may return was made by it as
    /// well, was cut from its summary, or is null.
    pub fn handed_over_by(&self, at: Place, f: FuncRef) -> Option<Made> {
        let summary = self.summaries.get(f)?;
        let is_cut = |e: &Expr| matches!(e, Expr::Private { .. });
        let object = new_object(&summary, summary.value?, is_cut)?;
        let is_listed = held_besides(&summary, FxHashSet::default(), &|_| false).contains(&object);
        (!is_listed).then(|| self.made_in(at, f, &summary, object))
    }

    /// The object that a call stores where argument `n` points, when it stores nothing else there.
    pub fn stored_by_call(
        &self,
        at: Place,
        module: u32,
        callee: &Callee,
        n: usize,
    ) -> Option<Made> {
        match self.called(module, callee) {
            Called::Unknown => None,
            Called::Library(model) => {
                let family = stored_by_model(model, n)?.into();
                Some(Made { trace: [site(at, &model.name)].into(), family })
            }
            Called::Defined(f, summary) => {
                let object = stored_by_summary(&summary, n)?;
                Some(self.made_in(at, f, &summary, object))
            }
        }
    }

    /// An object of a function's summary, as seen from a call of it.
    fn made_in(&self, at: Place, f: FuncRef, summary: &Summary, object: u32) -> Made {
        let first = site(at, &self.program.function(f).source_name);
        let new = &summary.objects[object as usize];
        let trace = std::iter::once(first).chain(new.trace.iter().cloned()).collect();
        Made { trace, family: new.family.clone() }
    }
}

fn site(at: Place, callee: &str) -> Site {
    Site { at, callee: callee.into() }
}

fn fate_by_model(model: &Model, n: usize) -> Fate {
    let mut fate = Fate::Borrowed;
    for outcome in &model.outcomes {
        let returned = matches!(outcome.returns, Returns::Arg(m) if m == n);
        for effect in &outcome.effects {
            match effect {
                ModelEffect::Free { place, .. } if is_argument(place, n) => fate = Fate::Released,
                ModelEffect::Take { place } if is_argument(place, n) => return Fate::Kept,
                ModelEffect::SetInside { arg, .. } if *arg == n => return Fate::Kept,
                _ => {}
            }
        }
        if returned && fate == Fate::Borrowed {
            fate = Fate::Returned;
        }
    }
    fate
}

fn is_argument(place: &leakproof_models::Place, n: usize) -> bool {
    place.root == ModelRoot::Arg(n) && place.derefs.is_empty()
}

/// The family of the objects that a library function returns.
fn made_by_model(model: &Model) -> Option<&str> {
    let mut family = None;
    for outcome in &model.outcomes {
        match &outcome.returns {
            Returns::Object { family: f, .. } => family = Some(f.as_str()),
            Returns::Null | Returns::Never | Returns::Throws => {}
            _ => return None,
        }
    }
    family
}

fn fate_by_summary(summary: &Summary, n: usize) -> Fate {
    if summary.opaque {
        return Fate::Kept;
    }
    let argument = |r: Ref| matches!(&summary.pool[r.0 as usize], Expr::Arg { index, .. } if *index as usize == n);
    let (mut released, mut escaped) = (false, false);
    // Effects share most of their values: what was looked through for one is not looked through again.
    let mut seen = FxHashSet::default();
    for effect in &summary.effects {
        let about = matches!(effect.root, Root::Pointee(r) if argument(r));
        match effect.slot {
            Slot::Freed if about => released = true,
            Slot::Escaped if about => escaped = true,
            Slot::At(_) | Slot::Every { .. }
                if mentions(summary, effect.value, &argument, &mut seen) =>
            {
                return Fate::Kept;
            }
            _ => {}
        }
    }
    let is_returned = summary.value.is_some_and(|v| mentions(summary, v, &argument, &mut seen));
    match (released, escaped) {
        (false, true) => Fate::Kept,
        (true, true) => Fate::GivenUp,
        _ if is_returned => Fate::Returned,
        (true, false) => Fate::Released,
        (false, false) => Fate::Borrowed,
    }
}

/// Whether one of the values that `r` is a choice of is the argument, or points into it. Those in `seen` are known
/// not to.
fn mentions(
    summary: &Summary,
    r: Ref,
    argument: &impl Fn(Ref) -> bool,
    seen: &mut FxHashSet<Ref>,
) -> bool {
    let mut work = vec![r];
    while let Some(r) = work.pop() {
        if argument(r) {
            return true;
        }
        if !seen.insert(r) {
            continue;
        }
        match &summary.pool[r.0 as usize] {
            Expr::Ite { then, otherwise, .. } => work.extend([*then, *otherwise]),
            Expr::Any(items) => work.extend(items.iter().copied()),
            Expr::Addr { root: Root::Pointee(p), .. }
            | Expr::Elem { root: Root::Pointee(p), .. } => {
                work.push(*p);
            }
            _ => {}
        }
    }
    false
}

/// The family of the objects that a library function stores where argument `n` points.
fn stored_by_model(model: &Model, n: usize) -> Option<&str> {
    let effects = model.outcomes.iter().flat_map(|o| &o.effects);
    let mut families = effects.filter_map(|e| match e {
        ModelEffect::Alloc { place, family, .. }
            if place.root == ModelRoot::Arg(n) && place.derefs == [0] =>
        {
            Some(family.as_str())
        }
        _ => None,
    });
    families.next()
}

/// The new object that a function returns, if all it returns are new objects and null, and nobody else gets it.
fn made_by_summary(summary: &Summary) -> Option<u32> {
    let object = new_object(summary, summary.value?, |_| false);
    object.filter(|&i| !is_held_besides(summary, i, |_| false))
}

/// Whether memory of others leads to a new object, too, besides the place that it is `told` by: a list that the function
/// has put it into. What escaped somebody may have.
fn is_held_besides(summary: &Summary, object: u32, told: impl Fn(&Root) -> bool) -> bool {
    let escaped = |e: &Effect| match e.root {
        Root::Object(i) if e.slot == Slot::Escaped && !told(&e.root) => Some(i),
        _ => None,
    };
    let escaped = summary.effects.iter().filter_map(escaped).collect();
    held_besides(summary, escaped, &told).contains(&object)
}

/// The new objects that memory of others leads to, or those that are `held` anyway.
fn held_besides(
    summary: &Summary,
    mut held: FxHashSet<u32>,
    told: &impl Fn(&Root) -> bool,
) -> FxHashSet<u32> {
    loop {
        let known = held.len();
        for effect in summary.effects.iter().filter(|e| !told(&e.root)) {
            match (effect.slot, effect.root) {
                (Slot::At(_) | Slot::Every(_), Root::Object(i)) if !held.contains(&i) => {}
                (Slot::At(_) | Slot::Every(_), _) => {
                    held.extend(new_objects_in(summary, effect.value));
                }
                _ => {}
            }
        }
        if held.len() == known {
            return held;
        }
    }
}

/// The new objects that a value may lead to.
fn new_objects_in(summary: &Summary, value: Ref) -> impl Iterator<Item = u32> {
    summary.alternatives(value).into_iter().filter_map(|r| match &summary.pool[r.0 as usize] {
        Expr::Addr { root: Root::Object(i), .. } | Expr::Elem { root: Root::Object(i), .. } => {
            Some(*i)
        }
        _ => None,
    })
}

/// The new object that a function stores where argument `n` points, if all it ever leaves there are
/// new objects, null, and what was there before.
fn stored_by_summary(summary: &Summary, n: usize) -> Option<u32> {
    if summary.opaque {
        return None;
    }
    let expr = |r: Ref| &summary.pool[r.0 as usize];
    let is_argument = |r: Ref| matches!(expr(r), Expr::Arg { index, .. } if *index as usize == n);
    let is_there = |root: &Root| matches!(root, Root::Pointee(r) if is_argument(*r));
    let mut stored = None;
    for effect in summary.effects.iter().filter(|e| is_there(&e.root)) {
        match effect.slot {
            Slot::At(0) => {
                let before = |e: &Expr| matches!(e, Expr::Init { root, slot: Slot::At(0), .. } if is_there(root));
                stored = Some(new_object(summary, effect.value, before)?);
            }
            Slot::At(_) => {}
            _ => return None,
        }
    }
    stored.filter(|&i| !is_held_besides(summary, i, is_there))
}

/// The new object among the values that one is a choice of, if the others are null or do not count.
fn new_object(summary: &Summary, value: Ref, ignored: impl Fn(&Expr) -> bool) -> Option<u32> {
    let mut object = None;
    for r in summary.alternatives(value) {
        match &summary.pool[r.0 as usize] {
            Expr::Addr { root: Root::Object(i), offset: 0 } => object = Some(*i),
            Expr::Int { value: 0, .. } => {}
            other if ignored(other) => {}
            _ => return None,
        }
    }
    object
}
