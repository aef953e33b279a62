//! Who releases what: which function a program itself calls to release an object that another
//! function made. Observed in functions that do both.

use crate::component::Env;
use crate::describe::Describe;
use leakproof_ir::{Callee, InstId, InstKind, SourceType};
use leakproof_models::{Effect, Model, Root as ModelRoot};
use leakproof_program::{FuncRef, Target};
use leakproof_summary::{BaseKind, Exec, Expr, Free, Root, Slot, Summary};
use serde::{Deserialize, Serialize};

/// One observation: in `function`, the object made by the call at `alloc` was given to a releaser.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pair {
    pub function: String,
    /// The call in `function` that made the object: file, line, column.
    pub alloc: (String, u32, u32),
    pub allocator: String,
    /// The library allocator's call, which tells an object from what it holds.
    pub site: (String, u32, u32),
    pub releaser: Releaser,
}

/// A function that releases what it is given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Releaser {
    pub name: String,
    /// The argument, 0-based, and what it is.
    pub arg: usize,
    pub given: Given,
    pub params: usize,
    /// The struct that the argument points to; empty when it is none.
    pub ty: String,
    /// It has a model: it belongs to the library.
    pub library: bool,
}

/// How a releasing function gets the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Given {
    /// As it is.
    Pointer,
    /// The address of the variable that holds it.
    Address,
    /// The address of the struct that holds it.
    Owner,
}

/// The pairs of a function that was run.
pub fn of(env: &Env<'_>, exec: &Exec<'_>) -> Vec<Pair> {
    let mut list = Vec::new();
    for &Free { inst, base, .. } in &exec.frees {
        let BaseKind::Heap(id) = exec.kind(base) else { continue };
        let Some(releaser) = releaser(env, exec, inst) else { continue };
        let describe = Describe::new(env.program);
        let trace = &exec.objects[id.0 as usize].trace;
        let (Some(first), Some(last)) = (trace.first(), trace.last()) else { continue };
        let (first, last) = (describe.site(first), describe.site(last));
        list.push(Pair {
            function: exec.function.source_name.clone(),
            alloc: (first.file, first.line, first.column),
            allocator: first.callee,
            site: (last.file, last.line, last.column),
            releaser,
        });
    }
    list.sort();
    list.dedup();
    list
}

fn releaser(env: &Env<'_>, exec: &Exec<'_>, inst: InstId) -> Option<Releaser> {
    let InstKind::Call { callee: Callee::Direct(f), .. } = &exec.body.insts[inst].kind else {
        return None;
    };
    let (Target::Defined(f) | Target::External(f)) = env.program.resolve(exec.me.module, *f);
    of_function(env, f)
}

/// How a function releases, when it does.
fn of_function(env: &Env<'_>, f: FuncRef) -> Option<Releaser> {
    match env.models.get(&env.program.function(f).name) {
        Some(model) => {
            let (arg, held) = released_by_model(model)?;
            Some(describe(env, f, arg, held, true))
        }
        None => of_summary(env, f, &*env.summaries.get(f)?),
    }
}

/// How a function with this summary releases, when it does.
pub fn of_summary(env: &Env<'_>, f: FuncRef, summary: &Summary) -> Option<Releaser> {
    let (arg, held) = released_by_summary(summary)?;
    Some(describe(env, f, arg, held, false))
}

fn describe(env: &Env<'_>, f: FuncRef, arg: usize, held: bool, library: bool) -> Releaser {
    let function = env.program.function(f);
    let ty = pointee_struct(env, f, arg).unwrap_or_default();
    let given = match (held, ty.is_empty()) {
        (false, _) => Given::Pointer,
        (true, true) => Given::Address,
        (true, false) => Given::Owner,
    };
    let name = function.source_name.clone();
    Releaser { name, arg, given, params: function.params.len(), ty, library }
}

/// The name of the struct that a parameter points to.
fn pointee_struct(env: &Env<'_>, f: FuncRef, arg: usize) -> Option<String> {
    let module = env.program.module(f.module);
    let function = env.program.function(f);
    let declared = match function.signature.and_then(|t| module.types.get(t)) {
        Some(SourceType::Function { params, .. }) => params.get(arg).copied(),
        _ => None,
    };
    let mut ty = module.types.get(declared.or(function.params.get(arg)?.ty)?)?;
    let mut pointers = 0;
    loop {
        match ty {
            SourceType::Const { of } => ty = module.types.get(*of)?,
            SourceType::Pointer { to } => {
                pointers += 1;
                ty = module.types.get(*to)?;
            }
            SourceType::Struct { name, .. } if pointers == 1 => return Some(name.clone()),
            _ => return None,
        }
    }
}

fn released_by_model(model: &Model) -> Option<(usize, bool)> {
    let makes = model.outcomes.iter().any(|o| {
        matches!(o.returns, leakproof_models::Returns::Object { .. })
            || o.effects.iter().any(|e| matches!(e, Effect::Alloc { .. }))
    });
    if makes {
        return None;
    }
    model.outcomes.iter().flat_map(|o| &o.effects).find_map(|e| match e {
        Effect::Free { place, .. } => match (place.root, place.derefs.as_slice()) {
            (ModelRoot::Arg(n), []) => Some((n, false)),
            (ModelRoot::Arg(n), [0]) => Some((n, true)),
            _ => None,
        },
        _ => None,
    })
}

/// The argument whose object is released, or the object that it holds the address of.
fn released_by_summary(summary: &Summary) -> Option<(usize, bool)> {
    if summary.allocates() {
        return None;
    }
    let freed = summary.effects.iter().filter(|e| e.slot == Slot::Freed);
    let mut best: Option<(usize, bool)> = None;
    for effect in freed {
        let Root::Pointee(r) = effect.root else { continue };
        let found = match summary.pool.get(r.0 as usize)? {
            Expr::Arg { index, .. } => Some((*index as usize, false)),
            Expr::Init { root: Root::Pointee(p), slot: Slot::At(_), .. } => {
                match summary.pool.get(p.0 as usize)? {
                    Expr::Arg { index, .. } => Some((*index as usize, true)),
                    _ => None,
                }
            }
            _ => None,
        };
        // A destructor releases its argument and, before it, what that holds.
        if found.is_some_and(|(_, by_address)| best.is_none() || !by_address) {
            best = found;
        }
    }
    best
}
