//! What the operations of expressions give, for the runtime that makes them and for the tool that asks
//! what other inputs would give. Values have no bits beyond their width.

use crate::abi::op;

pub fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1u64 << bits) - 1 }
}

/// The value as a number with a sign.
pub fn signed(bits: u32, value: u64) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    ((value << shift) as i64) >> shift
}

/// What an operation gives; division by zero gives what the solver's theory says.
pub fn compute(code: u8, bits: u32, a: u64, b: u64) -> u64 {
    let (sa, sb) = (signed(bits, a), signed(bits, b));
    let value = match code {
        op::ADD => a.wrapping_add(b),
        op::SUB => a.wrapping_sub(b),
        op::MUL => a.wrapping_mul(b),
        op::UDIV => a.checked_div(b).unwrap_or(u64::MAX),
        op::SDIV if b == 0 => {
            if sa < 0 {
                1
            } else {
                u64::MAX
            }
        }
        op::SDIV => sa.wrapping_div(sb) as u64,
        op::UREM => a.checked_rem(b).unwrap_or(a),
        op::SREM if b == 0 => a,
        op::SREM => sa.wrapping_rem(sb) as u64,
        op::SHL => {
            if b >= u64::from(bits) {
                0
            } else {
                a << b
            }
        }
        op::LSHR => {
            if b >= u64::from(bits) {
                0
            } else {
                (a & mask(bits)) >> b
            }
        }
        op::ASHR => (sa >> b.min(63)) as u64,
        op::AND => a & b,
        op::OR => a | b,
        op::XOR => a ^ b,
        op::EQ => u64::from(a == b),
        op::NE => u64::from(a != b),
        op::ULT => u64::from(a < b),
        op::ULE => u64::from(a <= b),
        op::SLT => u64::from(sa < sb),
        op::SLE => u64::from(sa <= sb),
        _ => 0,
    };
    value & mask(bits)
}
