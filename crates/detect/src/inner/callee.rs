//! What calls do to the pointers they are given, as far as owning fields need to know.

use super::fields::Made;
use crate::schedule::Summaries;
use leakproof_ir::Callee;
use leakproof_models::{Effect as ModelEffect, Library, Model, Returns, Root as ModelRoot};
use leakproof_program::{FuncRef, Target};
use leakproof_summary::{Expr, Place, Ref, Root, Site, Slot, Summary};
use std::sync::Arc;

/// What becomes of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Borrowed,
    Released,
    /// Somebody may hold it afterwards, or nothing is known.
    Kept,
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
                let first = site(at, &self.program.function(f).source_name);
                let new = &summary.objects[object as usize];
                let trace = std::iter::once(first).chain(new.trace.iter().cloned()).collect();
                Some(Made { trace, family: new.family.clone() })
            }
        }
    }

    /// The object that a library call stores where argument `n` points.
    pub fn stored_by_call(
        &self,
        at: Place,
        module: u32,
        callee: &Callee,
        n: usize,
    ) -> Option<Made> {
        let Called::Library(model) = self.called(module, callee) else { return None };
        let effects = model.outcomes.iter().flat_map(|o| &o.effects);
        let mut families = effects.filter_map(|e| match e {
            ModelEffect::Alloc { place, family, .. }
                if place.root == ModelRoot::Arg(n) && place.derefs == [0] =>
            {
                Some(family)
            }
            _ => None,
        });
        let family = families.next()?.as_str().into();
        Some(Made { trace: [site(at, &model.name)].into(), family })
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
        if returned {
            return Fate::Kept;
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
    let mut fate = Fate::Borrowed;
    for effect in &summary.effects {
        let about = matches!(effect.root, Root::Pointee(r) if argument(r));
        match effect.slot {
            Slot::Freed if about => fate = Fate::Released,
            Slot::Escaped if about => return Fate::Kept,
            Slot::At(_) | Slot::Every { .. } if mentions(summary, effect.value, &argument) => {
                return Fate::Kept;
            }
            _ => {}
        }
    }
    match summary.value {
        Some(v) if mentions(summary, v, &argument) => Fate::Kept,
        _ => fate,
    }
}

/// Whether one of the values that `r` is a choice of is the argument, or points into it.
fn mentions(summary: &Summary, r: Ref, argument: &impl Fn(Ref) -> bool) -> bool {
    let mut work = vec![r];
    while let Some(r) = work.pop() {
        if argument(r) {
            return true;
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

/// The new object that a function returns, if all it returns are new objects and null.
fn made_by_summary(summary: &Summary) -> Option<u32> {
    let mut object = None;
    let mut work = vec![summary.value?];
    while let Some(r) = work.pop() {
        match &summary.pool[r.0 as usize] {
            Expr::Ite { then, otherwise, .. } => work.extend([*then, *otherwise]),
            Expr::Any(items) => work.extend(items.iter().copied()),
            Expr::Addr { root: Root::Object(i), offset: 0 } => object = Some(*i),
            Expr::Int { value: 0, .. } => {}
            _ => return None,
        }
    }
    object
}
