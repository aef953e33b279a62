//! Making expressions. Each carries the value it has in this run.
//!
//! Invariant: a node is built only from shadows that fit the values they stand for; one that does not
//! (something changed the value behind our back) counts as "not symbolic".

use super::trace::{add_node, node};
use crate::abi::{Node, op};
use crate::compute::{compute, mask, signed};

/// The shadow, if it describes this value.
pub fn fitting(shadow: u32, value: u64, bits: u32) -> u32 {
    if shadow == 0 {
        return 0;
    }
    let n = node(shadow);
    if u32::from(n.bits) == bits && n.value == value & mask(bits) { shadow } else { 0 }
}

pub fn make(op: u8, bits: u32, a: u32, b: u32, c: u32, value: u64) -> u32 {
    add_node(Node { op, bits: bits as u8, pad: 0, a, b, c, value: value & mask(bits) })
}

pub fn constant(bits: u32, value: u64) -> u32 {
    make(op::CONST, bits, 0, 0, 0, value)
}

pub fn variable(id: u32, bits: u32, value: u64) -> u32 {
    make(op::VAR, bits, id, 0, 0, value)
}

fn or_constant(shadow: u32, value: u64, bits: u32) -> u32 {
    if shadow == 0 { constant(bits, value) } else { shadow }
}

fn is_comparison(code: u8) -> bool {
    (op::EQ..=op::SLE).contains(&code)
}

/// `a op b`, whose value is `result`; `bits` is the width of the operands.
pub fn binary(code: u8, bits: u32, a: (u64, u32), b: (u64, u32), result: u64) -> u32 {
    let (sa, sb) = (fitting(a.1, a.0, bits), fitting(b.1, b.0, bits));
    if sa == 0 && sb == 0 {
        return 0;
    }
    if let Some(short) = truth_test(code, sa, sb, b.0) {
        return short;
    }
    let (na, nb) = (or_constant(sa, a.0, bits), or_constant(sb, b.0, bits));
    if na == 0 || nb == 0 {
        return 0;
    }
    let width = if is_comparison(code) { 1 } else { bits };
    make(code, width, na, nb, 0, result)
}

/// `(int)condition != 0` is the condition.
fn truth_test(code: u8, sa: u32, sb: u32, b: u64) -> Option<u32> {
    let n = node(sa);
    let widened = n.op == op::ZEXT && node(n.a).bits == 1;
    (code == op::NE && sb == 0 && b == 0 && widened).then_some(n.a)
}

/// Zero extension, sign extension or the low part.
pub fn cast(code: u8, to: u32, a: u32, result: u64) -> u32 {
    let n = *node(a);
    if u32::from(n.bits) == to {
        return a;
    }
    if code == op::EXTRACT {
        return extract(a, 0, to);
    }
    make(code, to, a, 0, 0, result)
}

/// `bits` bits of `a` from bit `low` on.
pub fn extract(a: u32, low: u32, bits: u32) -> u32 {
    let n = *node(a);
    if low == 0 && u32::from(n.bits) == bits {
        return a;
    }
    let inner = u32::from(node(n.a).bits);
    match n.op {
        op::ZEXT | op::SEXT if low + bits <= inner => extract(n.a, low, bits),
        op::EXTRACT => extract(n.a, n.c + low, bits),
        _ => make(op::EXTRACT, bits, a, 0, low, n.value >> low),
    }
}

/// `high` above `low`.
pub fn concat(high: u32, low: u32) -> u32 {
    let (h, l) = (*node(high), *node(low));
    let value = h.value << u32::from(l.bits) | l.value;
    make(op::CONCAT, u32::from(h.bits) + u32::from(l.bits), high, low, 0, value)
}

/// `c ? a : b`, all of them nodes.
pub fn choose(c: u32, a: u32, b: u32) -> u32 {
    if c == 0 || a == 0 || b == 0 {
        return 0;
    }
    let value = if node(c).value != 0 { node(a).value } else { node(b).value };
    make(op::ITE, u32::from(node(a).bits), c, a, b, value)
}

/// A comparison or operation of nodes; the value is computed here.
pub fn apply(code: u8, a: u32, b: u32) -> u32 {
    if a == 0 || b == 0 {
        return 0;
    }
    let (x, y) = (*node(a), *node(b));
    let bits = u32::from(x.bits);
    let value = compute(code, bits, x.value, y.value);
    make(code, if is_comparison(code) { 1 } else { bits }, a, b, 0, value)
}

pub fn and(a: u32, b: u32) -> u32 {
    apply(op::AND, a, b)
}

/// `low <= a && a <= high`, unsigned.
pub fn between(a: u32, low: u64, high: u64) -> u32 {
    let bits = u32::from(node(a).bits);
    let above = apply(op::ULE, constant(bits, low), a);
    and(above, apply(op::ULE, a, constant(bits, high)))
}

/// The value of an expression when the one variable `variable` has `byte`; `None` when it depends on
/// others or is too deep.
pub fn evaluate(id: u32, variable: u32, byte: u64, depth: u32) -> Option<u64> {
    let n = *node(id);
    if depth == 0 {
        return None;
    }
    let part = |child| evaluate(child, variable, byte, depth - 1);
    let bits = u32::from(n.bits);
    Some(match n.op {
        op::CONST => n.value,
        op::VAR => return (n.a == variable).then_some(byte),
        op::ZEXT => part(n.a)?,
        op::SEXT => signed(u32::from(node(n.a).bits), part(n.a)?) as u64 & mask(bits),
        op::EXTRACT => (part(n.a)? >> n.c) & mask(bits),
        op::CONCAT => part(n.a)? << u32::from(node(n.b).bits) | part(n.b)?,
        op::ITE => {
            if part(n.a)? != 0 {
                part(n.b)?
            } else {
                part(n.c)?
            }
        }
        _ => compute(n.op, u32::from(node(n.a).bits), part(n.a)?, part(n.b)?) & mask(bits),
    })
}

/// The first variable met in an expression.
pub fn some_variable(id: u32, depth: u32) -> Option<u32> {
    let n = *node(id);
    match n.op {
        op::VAR if n.bits == 8 => Some(n.a),
        0 | op::CONST | op::VAR => None,
        _ if depth == 0 => None,
        op::ITE => [n.a, n.b, n.c].iter().find_map(|c| some_variable(*c, depth - 1)),
        op::ZEXT | op::SEXT | op::EXTRACT => some_variable(n.a, depth - 1),
        _ => some_variable(n.a, depth - 1).or_else(|| some_variable(n.b, depth - 1)),
    }
}
