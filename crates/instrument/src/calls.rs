//! Calls: shadows go with the arguments and come back with the result.
//!
//! Functions of the program and callbacks take them over the table `lp_args`, which they believe only
//! when `lp_callee` names them. Modelled library functions do the same under their new names. What
//! any other function is given leaves our sight.

use crate::builder::Builder;
use crate::llvm::Value;
use crate::shadow::{Context, Shadower};
use leakproof_rt::abi::{MAX_PARAMETERS, MODEL_PREFIX, MODELLED, VARIADIC};
use llvm_sys::core::LLVMConstPointerNull;

/// Functions that release memory: being given to them is no use.
const RELEASERS: &[&str] =
    &["free", "realloc", "reallocarray", "cfree", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"];

pub fn forget_callee(builder: &Builder) {
    // SAFETY: a constant of the pointer type.
    let null = Value(unsafe { LLVMConstPointerNull(builder.module.pointer_type().0) });
    builder.store(null, builder.global("lp_callee"));
}

/// Gives modelled functions that the program does not define itself the runtime's names.
pub fn rename_modelled(context: &Context<'_>) {
    for name in MODELLED {
        let variadic = VARIADIC.iter().any(|(n, _)| n == name);
        if variadic || context.defined.contains(name) {
            continue;
        }
        if let Some(function) = context.module.function(name).filter(|f| f.is_declaration()) {
            function.rename(&format!("{MODEL_PREFIX}{name}"));
        }
    }
}

pub fn call(s: &mut Shadower<'_>, call: Value) {
    let callee = call.called_value();
    if callee.is_inline_assembly() || call.is_must_tail() {
        return;
    }
    let name = callee.as_function().map(Value::name);
    match name.as_deref() {
        Some(n) if n.starts_with("llvm.") => intrinsic(s, call, n),
        Some(n) if n.starts_with("lp_rt_") || n == "lp_point" => {}
        Some(n) if is_variadic_model(s, n) => variadic(s, call, n),
        Some(n) if is_foreign(s, callee, n) => foreign(s, call, n),
        _ => internal(s, call, callee),
    }
}

fn is_variadic_model(s: &Shadower<'_>, name: &str) -> bool {
    VARIADIC.iter().any(|(n, _)| *n == name) && !s.context.defined.contains(name)
}

/// Whether it is a function that neither the program nor the runtime defines.
fn is_foreign(s: &Shadower<'_>, callee: Value, name: &str) -> bool {
    callee.is_declaration() && !name.starts_with(MODEL_PREFIX) && !s.context.defined.contains(name)
}

fn arguments(call: Value) -> Vec<Value> {
    (0..call.argument_count()).map(|i| call.operand(i)).collect()
}

fn tell_site(s: &mut Shadower<'_>, call: Value) {
    if let Some(&id) = s.context.ids.calls.get(&call) {
        let id = s.builder.word(id);
        s.builder.store(id, s.builder.global("lp_site"));
    }
}

/// A call that may arrive in instrumented code or in a model.
fn internal(s: &mut Shadower<'_>, call: Value, callee: Value) {
    let model = callee.as_function().is_some_and(|f| f.name().starts_with(MODEL_PREFIX));
    s.builder.before(call);
    tell_site(s, call);
    let list = arguments(call);
    for (i, argument) in list.iter().enumerate().take(MAX_PARAMETERS) {
        if argument.ty().symbolic_bits().is_some() {
            let shadow = s.shadow(*argument);
            let slot = s.builder.argument_slot(i as u32);
            s.builder.store(shadow, slot);
        }
    }
    if !list.is_empty() {
        s.builder.store(callee, s.builder.global("lp_callee"));
    }
    let none = s.builder.zero();
    s.builder.store(none, s.builder.global("lp_ret"));
    if model || callee.as_function().is_none() {
        uses(s, call, &list);
    }
    take_result(s, call);
}

fn take_result(s: &mut Shadower<'_>, call: Value) {
    if call.ty().symbolic_bits().is_none() {
        return;
    }
    match call.next() {
        Some(next) => s.builder.before(next),
        // The result of an invoke is only followed when nothing else leads where it goes on to.
        None => match call.successors().first() {
            Some(normal) if single_entry(*normal) => s.builder.at_start(*normal),
            _ => return,
        },
    }
    let word = s.context.module.int_type(32);
    let shadow = s.builder.load(word, s.builder.global("lp_ret"));
    s.set_shadow(call, shadow);
}

fn single_entry(block: crate::llvm::Block) -> bool {
    // SAFETY: the block as a value; its users are the terminators that lead to it.
    let value = Value(unsafe { llvm_sys::core::LLVMBasicBlockAsValue(block.0) });
    value.users().len() == 1
}

/// Being passed to code that we do not see counts as a use of the object.
fn uses(s: &mut Shadower<'_>, call: Value, list: &[Value]) {
    let name = call.called_value().as_function().map(Value::name).unwrap_or_default();
    let plain = name.strip_prefix(MODEL_PREFIX).unwrap_or(&name);
    if RELEASERS.contains(&plain) {
        return;
    }
    let one = s.context.module.int(64, 1);
    for argument in list.iter().filter(|a| a.ty().is_pointer() && !a.is_constant()) {
        let address = s.builder.wide(*argument);
        s.builder.call("lp_use", &[address, one]);
    }
}

fn foreign(s: &mut Shadower<'_>, call: Value, _name: &str) {
    let list = arguments(call);
    s.builder.before(call);
    tell_site(s, call);
    forget_callee(&s.builder);
    uses(s, call, &list);
    for argument in &list {
        let Some(bits) = argument.ty().symbolic_bits() else { continue };
        if bits > 1 && !argument.is_constant() {
            let shadow = s.shadow(*argument);
            if !shadow.is_constant() {
                s.builder.call("lp_extern", &[shadow]);
            }
        }
    }
}

/// `scanf` and the like: arguments go as an array of words.
fn variadic(s: &mut Shadower<'_>, call: Value, name: &str) {
    let module = s.context.module;
    let fixed = VARIADIC.iter().find(|(n, _)| *n == name).map_or(1, |(_, f)| *f);
    let list = arguments(call);
    if list.len() < fixed || call.next().is_none() {
        return;
    }
    let rest = &list[fixed..];
    let array = s.builder.frame_words(s.function, rest.len() as u32);
    s.builder.before(call);
    tell_site(s, call);
    uses(s, call, &list);
    for (i, argument) in rest.iter().enumerate() {
        let word = s.builder.wide(*argument);
        let slot = s.builder.word_slot(array, i as u32);
        s.builder.store(word, slot);
    }
    let pointer = module.pointer_type();
    let mut types = vec![pointer; fixed];
    types.extend([module.int_type(32), pointer]);
    let model = module.declare(&format!("{MODEL_PREFIX}{name}"), module.int_type(32), &types);
    let mut given = list[..fixed].to_vec();
    given.extend([s.builder.word(rest.len() as u32), array]);
    let result = s.builder.call_value(model, &given);
    let shadow = s.builder.load(module.int_type(32), s.builder.global("lp_ret"));
    call.replace_all_uses(result);
    s.set_shadow(result, shadow);
    call.erase();
}

fn intrinsic(s: &mut Shadower<'_>, call: Value, name: &str) {
    let list = arguments(call);
    if name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove") {
        s.builder.before(call);
        let words: Vec<Value> = list[..3].iter().map(|a| s.builder.wide(*a)).collect();
        s.builder.call("lp_use", &[words[0], words[2]]);
        s.builder.call("lp_use", &[words[1], words[2]]);
        s.builder.call("lp_copy", &words);
    } else if name.starts_with("llvm.memset") {
        s.builder.before(call);
        let words: Vec<Value> = list[..3].iter().map(|a| s.builder.wide(*a)).collect();
        let shadow = s.shadow(list[1]);
        s.builder.call("lp_use", &[words[0], words[2]]);
        s.builder.call("lp_set", &[words[0], words[1], shadow, words[2]]);
    } else if name.starts_with("llvm.expect") {
        let shadow = s.shadow(list[0]);
        s.set_shadow(call, shadow);
    }
}
