//! What instrumented code calls when something symbolic or tracked is involved.

use super::cell::Global;
use super::{config, nodes, object, path, shadow, trace};
use crate::abi::{MAX_PARAMETERS, event, flag, op};
use core::ffi::c_void;

#[unsafe(no_mangle)]
pub static mut lp_args: [u32; MAX_PARAMETERS] = [0; MAX_PARAMETERS];
#[unsafe(no_mangle)]
pub static mut lp_callee: *const c_void = core::ptr::null();
#[unsafe(no_mangle)]
pub static mut lp_ret: u32 = 0;
#[unsafe(no_mangle)]
pub static mut lp_concretised: u32 = 0;

static MAIN_THREAD: Global<usize> = Global::new(0);

pub fn set_main_thread() {
    // SAFETY: names the calling thread.
    *MAIN_THREAD.get() = unsafe { super::libc::pthread_self() };
}

/// Whether symbolic work is to be done here.
pub fn is_active() -> bool {
    // SAFETY: names the calling thread.
    config::is_symbolic() && unsafe { super::libc::pthread_self() } == *MAIN_THREAD.get()
}

/// The shadows that came with a call, when the call was meant for `me`.
pub fn take_arguments<const N: usize>(me: *const c_void) -> [u32; N] {
    // SAFETY: plain words of this thread's last call.
    unsafe {
        let mine = lp_callee == me && is_active();
        lp_callee = core::ptr::null();
        lp_ret = 0;
        let mut shadows = [0; N];
        if mine {
            for (i, s) in shadows.iter_mut().enumerate() {
                *s = lp_args[i];
            }
        }
        shadows
    }
}

/// The shadow of the result that is about to be returned.
pub fn give(shadow: u32) {
    // SAFETY: a plain word.
    unsafe { lp_ret = shadow };
}

#[unsafe(no_mangle)]
extern "C" fn lp_rt_load(address: u64, size: u32, value: u64, place: u32) -> u32 {
    object::used(address, u64::from(size));
    if !is_active() {
        return 0;
    }
    if nodes::fitting(place, address, 64) != 0 {
        return chosen_load(address, size, value, place);
    }
    shadow::load(address, size, value)
}

/// A load whose place depends on the input.
fn chosen_load(address: u64, size: u32, value: u64, place: u32) -> u32 {
    if shadow::any_in(address, u64::from(size)) {
        fix_address(address, place);
        return shadow::load(address, size, value);
    }
    let looked_up = look_up(size, value, place);
    if looked_up == 0 {
        fix_address(address, place);
    }
    looked_up
}

/// Runs of equal values beyond which a table is not described.
const MAX_RUNS: usize = 80;

/// A table indexed by one byte of input: the value as a function of that byte.
fn look_up(size: u32, value: u64, place: u32) -> u32 {
    let Some(variable) = nodes::some_variable(place, 12) else { return 0 };
    let mut values = [0u64; 256];
    for (byte, slot) in values.iter_mut().enumerate() {
        let Some(at) = nodes::evaluate(place, variable, byte as u64, 24) else { return 0 };
        let mut bytes = [0u8; 8];
        if !super::libc::peek(at, &mut bytes[..size as usize]) {
            return 0;
        }
        *slot = u64::from_le_bytes(bytes);
    }
    let runs = 1 + values.windows(2).filter(|w| w[0] != w[1]).count();
    if runs > MAX_RUNS {
        return 0;
    }
    let bits = size * 8;
    let byte = nodes::variable(variable, 8, current_byte(place, variable));
    let mut result = nodes::constant(bits, values[255]);
    for end in (1..256).rev().filter(|i| values[*i] != values[*i - 1]) {
        let below = nodes::apply(op::ULT, byte, nodes::constant(8, end as u64));
        result = nodes::choose(below, nodes::constant(bits, values[end - 1]), result);
    }
    nodes::fitting(result, value, bits)
}

/// The value that a variable has in this run.
fn current_byte(id: u32, variable: u32) -> u64 {
    let n = *trace::node(id);
    match n.op {
        op::VAR if n.a == variable => n.value,
        op::VAR | op::CONST | 0 => u64::MAX,
        _ => {
            let parts = [n.a, if n.op == op::EXTRACT { 0 } else { n.b }];
            parts.iter().map(|p| current_byte(*p, variable)).min().unwrap_or(u64::MAX)
        }
    }
}

/// The place is taken as it is; another one is another path.
fn fix_address(address: u64, place: u32) {
    let here = nodes::apply(op::EQ, place, nodes::constant(64, address));
    trace::event(event::LIBRARY, 1, 0, here, 0);
}

#[unsafe(no_mangle)]
extern "C" fn lp_rt_store(address: u64, size: u32, value: u64, s: u32, place: u32) {
    object::used(address, u64::from(size));
    if !is_active() {
        return;
    }
    if nodes::fitting(place, address, 64) != 0 {
        fix_address(address, place);
    }
    shadow::store(address, size, value, s);
}

#[unsafe(no_mangle)]
extern "C" fn lp_rt_use(address: u64, size: u64) {
    object::used(address, size);
}

#[unsafe(no_mangle)]
extern "C" fn lp_rt_bin(code: u32, bits: u32, a: u64, sa: u32, b: u64, sb: u32, r: u64) -> u32 {
    if !is_active() {
        return 0;
    }
    nodes::binary(code as u8, bits, (a, sa), (b, sb), r)
}

#[unsafe(no_mangle)]
extern "C" fn lp_rt_cast(code: u32, from: u32, to: u32, a: u64, sa: u32, r: u64) -> u32 {
    let sa = nodes::fitting(sa, a, from);
    if sa == 0 || !is_active() {
        return 0;
    }
    nodes::cast(code as u8, to, sa, r)
}

#[unsafe(no_mangle)]
extern "C" fn lp_rt_select(c: u32, sc: u32, a: u64, sa: u32, b: u64, sb: u32, bits: u32) -> u32 {
    let picked = if c != 0 { sa } else { sb };
    let sc = nodes::fitting(sc, u64::from(c), 1);
    if sc == 0 || !is_active() {
        return picked;
    }
    let side = |value, s| match nodes::fitting(s, value, bits) {
        0 => nodes::constant(bits, value),
        s => s,
    };
    nodes::choose(sc, side(a, sa), side(b, sb))
}

/// `base + index * scale`.
#[unsafe(no_mangle)]
extern "C" fn lp_rt_gep(base: u64, sb: u32, index: u64, si: u32, bits: u32, scale: u64) -> u32 {
    if !is_active() {
        return 0;
    }
    let si = nodes::fitting(si, index, bits);
    let wide = if si == 0 { 0 } else { nodes::cast(op::SEXT, 64, si, index) };
    let offset = index.wrapping_mul(scale);
    let scaled = nodes::binary(op::MUL, 64, (index, wide), (scale, 0), offset);
    nodes::binary(op::ADD, 64, (base, sb), (offset, scaled), base.wrapping_add(offset))
}

/// `first`: no side was taken here so in this run, which is told even when no input decides it.
#[unsafe(no_mangle)]
extern "C" fn lp_rt_branch(id: u32, taken: u32, s: u32, first: u32) {
    let s = if is_active() { nodes::fitting(s, u64::from(taken), 1) } else { 0 };
    if s != 0 || (is_active() && first != 0) {
        trace::event(event::BRANCH, taken as u16, id, s, 0);
    }
    // A true condition goes to successor 0.
    path::branch(id, u32::from(taken == 0));
}

#[unsafe(no_mangle)]
extern "C" fn lp_rt_switch(id: u32, taken: u32, s: u32, first: u32) {
    if is_active() && (s != 0 || first != 0) {
        trace::event(event::SWITCH, taken as u16, id, s, 0);
    }
    path::branch(id, taken);
}

#[unsafe(no_mangle)]
extern "C" fn lp_rt_copy(to: u64, from: u64, size: u64) {
    if is_active() {
        shadow::copy(to, from, size);
    }
}

#[unsafe(no_mangle)]
extern "C" fn lp_rt_set(to: u64, value: u64, s: u32, size: u64) {
    if !is_active() {
        return;
    }
    let s = nodes::fitting(s, value & 0xff, 8);
    if s == 0 {
        return shadow::clear(to, size);
    }
    for i in 0..size {
        shadow::store_byte(to + i, value as u8, s);
    }
}

#[unsafe(no_mangle)]
extern "C" fn lp_rt_point(number: u32, frame: u64) {
    // Above the saved frame pointer and the return address begins what callers hold.
    super::heap::locked(|| path::point(number, frame + 16));
}

#[unsafe(no_mangle)]
extern "C" fn lp_rt_enter(id: u32) {
    path::enter(id);
}

#[unsafe(no_mangle)]
extern "C" fn lp_rt_leave(id: u32) {
    path::leave(id);
}

/// A decision that a library function made on symbolic data.
pub fn decided(condition: u32) {
    let n = trace::node(condition);
    if condition != 0 && n.op != op::CONST {
        trace::event(event::LIBRARY, n.value as u16, path::site(), condition, 0);
    }
}

/// Something symbolic went where expressions do not follow.
pub fn lost_sight() {
    trace::raise(flag::CONCRETISED);
}
