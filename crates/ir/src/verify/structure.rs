//! Structure: ids in range, links in both directions, constants, blocks, source types, initial
//! values. Nothing here looks at what an instruction means.

use super::{Errors, Invariant};
use crate::{
    AliasTarget, Body, Callee, Entity, FuncId, Function, Global, GlobalId, InitValue, Inst,
    InstKind, Loc, Module, SourceType, Terminator, Ty, TypeId, Value, ValueId, ValueKind,
};
use rustc_hash::FxHashSet;
use std::fmt::Display;

pub(super) fn check_module(module: &Module, errors: &mut Errors) {
    check_names(module, errors);
    for (id, ty) in module.types.iter() {
        check_type(module, id, ty, errors);
    }
    check_type_cycles(module, errors);
    for (id, global) in module.globals.iter() {
        check_global(module, id, global, errors);
    }
    for (i, alias) in module.aliases.iter().enumerate() {
        let place = format!("alias {i}");
        match alias.target {
            AliasTarget::Function(f) => check_func_id(module, f, place, errors),
            AliasTarget::Global(g) => check_global_id(module, g, place, errors),
        }
    }
}

fn check_names(module: &Module, errors: &mut Errors) {
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let functions = module.functions.values().map(|f| &f.name);
    let globals = module.globals.values().map(|g| &g.name);
    for name in functions.chain(globals).chain(module.aliases.iter().map(|a| &a.name)) {
        let fresh = name.is_empty() || seen.insert(name);
        errors.check(fresh, Invariant::Ids, "module", || format!("two symbols are named {name:?}"));
    }
}

fn check_type(module: &Module, id: TypeId, ty: &SourceType, errors: &mut Errors) {
    for part in parts(ty) {
        check_type_id(module, Some(part), id, errors);
    }
    if let SourceType::Struct { size, fields, .. } = ty {
        for field in fields {
            let inside = field.offset <= *size;
            errors.check(inside, Invariant::Types, id, || {
                format!("field {:?} starts at {} of {size} bytes", field.name, field.offset)
            });
        }
    }
}

fn parts(ty: &SourceType) -> Vec<TypeId> {
    match ty {
        SourceType::Void | SourceType::Scalar { .. } => Vec::new(),
        SourceType::Pointer { to: of }
        | SourceType::Const { of }
        | SourceType::Array { of, .. } => {
            vec![*of]
        }
        SourceType::Struct { fields, .. } => fields.iter().map(|f| f.ty).collect(),
        SourceType::Function { params, ret, .. } => params.iter().copied().chain([*ret]).collect(),
    }
}

fn check_type_cycles(module: &Module, errors: &mut Errors) {
    let by_value = |ty: &SourceType| match ty {
        SourceType::Pointer { .. } | SourceType::Function { .. } => Vec::new(),
        _ => parts(ty),
    };
    if let Some(id) = cycle(module, by_value) {
        errors.add(Invariant::Types, id, "the type contains itself");
    }
    let without_structs = |ty: &SourceType| match ty {
        SourceType::Struct { .. } => Vec::new(),
        _ => parts(ty),
    };
    if let Some(id) = cycle(module, without_structs) {
        errors.add(Invariant::Types, id, "the type refers to itself without a struct in between");
    }
}

/// A type on a cycle of the relation `next`, by depth-first search.
fn cycle(module: &Module, next: impl Fn(&SourceType) -> Vec<TypeId>) -> Option<TypeId> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; module.types.len()];
    for root in module.types.ids() {
        if state[root.index()] != NEW {
            continue;
        }
        state[root.index()] = OPEN;
        let mut stack = vec![(root, next(&module.types[root]))];
        while let Some((id, rest)) = stack.last_mut() {
            let Some(part) = rest.pop() else {
                state[id.index()] = DONE;
                stack.pop();
                continue;
            };
            match state.get(part.index()) {
                Some(&OPEN) => return Some(part),
                Some(&NEW) => {
                    state[part.index()] = OPEN;
                    stack.push((part, next(&module.types[part])));
                }
                _ => {}
            }
        }
    }
    None
}

fn check_global(module: &Module, id: GlobalId, global: &Global, errors: &mut Errors) {
    check_type_id(module, global.ty, id, errors);
    check_loc(module, global.loc, id, errors);
    let mut end = 0;
    for entry in global.init.iter().flatten() {
        let size = match &entry.value {
            InitValue::Int { bits, .. } => u64::from(*bits).div_ceil(8),
            InitValue::Bytes(bytes) => bytes.len() as u64,
            InitValue::Function(f) => {
                check_func_id(module, *f, id, errors);
                8
            }
            InitValue::Global(g, _) => {
                check_global_id(module, *g, id, errors);
                8
            }
            InitValue::Opaque(size) => u64::from(*size),
        };
        let last = entry.offset.checked_add(size);
        let fits = entry.offset >= end && last.is_some_and(|last| last <= global.size);
        errors.check(fits, Invariant::Init, id, || {
            format!("the entry of {size} bytes at {} overlaps or lies outside", entry.offset)
        });
        end = last.unwrap_or(u64::MAX);
    }
}

/// Ids, links and constants of one function.
pub(super) fn check_function(module: &Module, function: &Function, errors: &mut Errors) {
    check_loc(module, function.loc, "header", errors);
    check_type_id(module, function.signature, "header", errors);
    for (i, param) in function.params.iter().enumerate() {
        check_type_id(module, param.ty, param.value, errors);
        let kind = function.values.get(param.value).map(|v| v.kind);
        let linked = u32::try_from(i).is_ok_and(|i| kind == Some(ValueKind::Param(i)));
        errors.check(linked, Invariant::Links, param.value, || format!("is not parameter {i}"));
    }
    for (id, value) in function.values.iter() {
        check_value(module, function, id, *value, errors);
    }
    if let Some(body) = &function.body {
        check_body_ids(module, function, body, errors);
    }
}

fn check_value(
    module: &Module,
    function: &Function,
    id: ValueId,
    value: Value,
    errors: &mut Errors,
) {
    let linked = match value.kind {
        ValueKind::Param(n) => {
            function.params.get(n as usize).is_some_and(|param| param.value == id)
        }
        ValueKind::Inst(inst) => {
            let body = function.body.as_ref();
            body.and_then(|b| b.insts.get(inst)).is_some_and(|i| i.result == Some(id))
        }
        _ => true,
    };
    errors
        .check(linked, Invariant::Links, id, || format!("nothing defines it as {:?}", value.kind));
    match value.kind {
        ValueKind::Global(g, _) => check_global_id(module, g, id, errors),
        ValueKind::Function(f) => check_func_id(module, f, id, errors),
        _ => {}
    }
    let typed = match (value.kind, value.ty) {
        (_, Ty::Void | Ty::Int(0)) => false,
        (ValueKind::Int(n), Ty::Int(bits)) => bits >= 64 || n >> bits == 0,
        (ValueKind::Int(_) | ValueKind::Null, ty) => ty == Ty::Ptr,
        (ValueKind::Global(..) | ValueKind::Function(_), ty) => ty == Ty::Ptr,
        _ => true,
    };
    errors.check(typed, Invariant::Constants, id, || {
        format!("{:?} cannot have type {}", value.kind, value.ty)
    });
}

fn check_body_ids(module: &Module, function: &Function, body: &Body, errors: &mut Errors) {
    for (id, var) in body.vars.iter() {
        check_type_id(module, var.ty, id, errors);
        check_loc(module, var.loc, id, errors);
    }
    for (id, inst) in body.insts.iter() {
        check_loc(module, inst.loc, id, errors);
        check_inst_ids(module, function, body, inst, id, errors);
        if let Some(result) = inst.result {
            let linked = function.values.get(result).map(|v| v.kind) == Some(ValueKind::Inst(id));
            errors.check(linked, Invariant::Links, id, || format!("{result} is not its result"));
        }
    }
    for (id, block) in body.blocks.iter() {
        check_loc(module, block.term_loc, id, errors);
        if let Some(value) = block.term.operand() {
            check_value_id(function, value, id, errors);
        }
        for successor in block.term.successors() {
            let exists = successor.index() < body.blocks.len();
            errors.check(exists, Invariant::Ids, id, || format!("{successor} does not exist"));
        }
    }
}

fn check_inst_ids(
    module: &Module,
    function: &Function,
    body: &Body,
    inst: &Inst,
    id: impl Display + Copy,
    errors: &mut Errors,
) {
    inst.kind.for_each_operand(|v| check_value_id(function, v, id, errors));
    let var = match &inst.kind {
        InstKind::Alloca { var, .. } => *var,
        InstKind::VarSet { var, .. } => Some(*var),
        _ => None,
    };
    let exists = var.is_none_or(|v| v.index() < body.vars.len());
    errors.check(exists, Invariant::Ids, id, || "the variable does not exist".to_owned());
    match &inst.kind {
        InstKind::Alloca { ty, .. } | InstKind::Offset { ty, .. } => {
            check_type_id(module, *ty, id, errors);
        }
        InstKind::Call { callee: Callee::Direct(f), .. } => check_func_id(module, *f, id, errors),
        InstKind::Phi { incoming } => {
            for (block, _) in incoming {
                let exists = block.index() < body.blocks.len();
                errors.check(exists, Invariant::Ids, id, || format!("{block} does not exist"));
            }
        }
        _ => {}
    }
}

/// Where instructions and blocks may stand.
pub(super) fn check_blocks(body: &Body, errors: &mut Errors) {
    errors.check(!body.blocks.is_empty(), Invariant::Blocks, "body", || "has no block".to_owned());
    let mut homes = vec![0u32; body.insts.len()];
    for (id, block) in body.blocks.iter() {
        let mut phis_done = false;
        for inst in &block.insts {
            let Some(home) = homes.get_mut(inst.index()) else {
                errors.add(Invariant::Ids, id, format!("{inst} does not exist"));
                continue;
            };
            *home += 1;
            let phi = matches!(body.insts[*inst].kind, InstKind::Phi { .. });
            let first = !(phi && phis_done);
            errors.check(first, Invariant::Blocks, id, || format!("phi {inst} is not first"));
            phis_done |= !phi;
        }
        let to_entry = block.term.successors().contains(&Body::ENTRY);
        errors.check(!to_entry, Invariant::Blocks, id, || "goes back to the entry".to_owned());
        if let Terminator::Invoke { call, .. } = &block.term {
            let last = block.insts.last() == Some(call);
            let is_call = |i: &Inst| matches!(i.kind, InstKind::Call { .. });
            let invoked = last && body.insts.get(*call).is_some_and(is_call);
            errors.check(invoked, Invariant::Blocks, id, || {
                format!("invokes {call}, which is not a call at its end")
            });
        }
    }
    for (i, count) in homes.iter().enumerate() {
        errors.check(*count == 1, Invariant::Links, format!("i{i}"), || {
            format!("stands in {count} blocks")
        });
    }
}

fn check_loc(module: &Module, loc: Loc, place: impl Display, errors: &mut Errors) {
    let exists = loc.file().is_none_or(|f| f.index() < module.files.len());
    errors
        .check(exists, Invariant::Locations, place, || format!("file{} does not exist", loc.file));
}

fn check_type_id(module: &Module, ty: Option<TypeId>, place: impl Display, errors: &mut Errors) {
    let exists = ty.is_none_or(|t| t.index() < module.types.len());
    errors.check(exists, Invariant::Ids, place, || format!("type {ty:?} does not exist"));
}

fn check_func_id(module: &Module, f: FuncId, place: impl Display, errors: &mut Errors) {
    let exists = f.index() < module.functions.len();
    errors.check(exists, Invariant::Ids, place, || format!("{f} does not exist"));
}

fn check_global_id(module: &Module, g: GlobalId, place: impl Display, errors: &mut Errors) {
    let exists = g.index() < module.globals.len();
    errors.check(exists, Invariant::Ids, place, || format!("{g} does not exist"));
}

fn check_value_id(function: &Function, v: ValueId, place: impl Display, errors: &mut Errors) {
    let exists = v.index() < function.values.len();
    errors.check(exists, Invariant::Ids, place, || format!("{v} does not exist"));
}
