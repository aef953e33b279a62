//! What comparisons of one value with constants say about each other.
//!
//! `x == 1` excludes `x == 2` and `x < 0`: such pairs are told to the skeleton when it first
//! meets the second of them, which saves it asking the theory.

use leakproof_guard::{Cmp, Node, Term, Terms, truncate};

/// `subject cmp constant`, as the set of values for which it holds.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    pub subject: Term,
    unsigned: bool,
    lo: i128,
    hi: i128,
    equality: bool,
}

/// The bound that an atom states; none when it does not compare with a constant.
pub fn bound(terms: &Terms, atom: Term) -> Option<Bound> {
    let Node::Cmp { cmp, lhs, rhs } = *terms.node(atom) else { return None };
    let unsigned = matches!(cmp, Cmp::ULt | Cmp::ULe);
    let (subject, constant, flipped) = match (terms.as_int(lhs), terms.as_int(rhs)) {
        (None, Some(_)) => (lhs, rhs, false),
        (Some(_), None) => (rhs, lhs, true),
        _ => return None,
    };
    let value = if unsigned {
        i128::from(truncate(terms.bits(constant), terms.as_int(constant)?))
    } else {
        i128::from(terms.as_signed(constant)?)
    };
    let (lo, hi) = match (cmp, flipped) {
        (Cmp::Eq, _) => (value, value),
        (Cmp::SLt | Cmp::ULt, false) => (i128::MIN, value - 1),
        (Cmp::SLe | Cmp::ULe, false) => (i128::MIN, value),
        (Cmp::SLt | Cmp::ULt, true) => (value + 1, i128::MAX),
        (Cmp::SLe | Cmp::ULe, true) => (value, i128::MAX),
    };
    Some(Bound { subject, unsigned, lo, hi, equality: cmp == Cmp::Eq })
}

/// Truth values that two atoms about the same subject cannot have together.
pub fn conflicts(a: &Bound, b: &Bound, bits: u16) -> Vec<(bool, bool)> {
    let (a, b) = match (a.unsigned, b.unsigned) {
        (x, y) if x == y => (*a, *b),
        (true, false) if b.equality => (*a, as_unsigned(b, bits)),
        (false, true) if a.equality => (as_unsigned(a, bits), *b),
        _ => return Vec::new(),
    };
    let pairs = [(true, true), (true, false), (false, true), (false, false)];
    pairs.into_iter().filter(|&(x, y)| excludes(&a, x, &b, y)).collect()
}

fn as_unsigned(b: &Bound, bits: u16) -> Bound {
    let value = i128::from(truncate(bits, b.lo as u64));
    Bound { lo: value, hi: value, unsigned: true, ..*b }
}

fn excludes(a: &Bound, a_holds: bool, b: &Bound, b_holds: bool) -> bool {
    match (a_holds, b_holds) {
        (true, true) => a.lo.max(b.lo) > a.hi.min(b.hi),
        (true, false) => a.lo >= b.lo && a.hi <= b.hi,
        (false, true) => b.lo >= a.lo && b.hi <= a.hi,
        // Both false: nothing is left when together they cover everything.
        (false, false) => {
            let (low, high) = if a.lo < b.lo { (a, b) } else { (b, a) };
            low.lo == i128::MIN && high.hi == i128::MAX && low.hi.saturating_add(1) >= high.lo
        }
    }
}
