//! Answers to easy questions without a solver: the inputs that a comparison, a text or a number asks for
//! are computed backwards from the wanted value, and tried.
//!
//! In: the conditions that must stay, and the claims that are wanted. Out: inputs under which all of
//! them hold, computed, not assumed; or nothing, which says nothing. Most branches of real programs
//! test single bytes or compare texts with constants, and a solver costs them a thousand times as much.

use crate::relevance::Fact;
use crate::values::Values;
use leakproof_rt::abi::{LENGTH, Node, op};
use leakproof_rt::compute::{mask, signed};
use leakproof_smt::Claim;
use std::collections::BTreeMap;

/// Attempts to force a node in one question.
const MAX_STEPS: u32 = 3000;
/// How deep expressions are followed.
const MAX_DEPTH: u32 = 600;
/// Conditions that are mended after others were changed.
const MAX_MENDED: u32 = 24;
/// Bytes that programs tend to accept, tried first when any would do.
const LIKED: &[u8] = b"a1 0A-.:/=+,;%_z9\n\t\0";

/// Inputs that make the `wanted` claims and all facts hold, if they are easily found.
pub fn guess(
    nodes: &[Node],
    facts: &[&Fact],
    wanted: &[Claim],
    bounds: &dyn Fn(u32) -> Option<(u64, u64)>,
) -> Option<BTreeMap<u32, u64>> {
    let values = Values::new(nodes);
    let mut guess = Guess { values, facts, bounds, steps: MAX_STEPS, fixed: BTreeMap::new() };
    for claim in wanted {
        if !guess.force_claim(*claim) {
            return None;
        }
    }
    guess.fixed = guess.values.assigned().clone();
    guess.mend(wanted)
}

struct Guess<'a> {
    values: Values<'a>,
    facts: &'a [&'a Fact],
    bounds: &'a dyn Fn(u32) -> Option<(u64, u64)>,
    steps: u32,
    /// Inputs that the question itself needs.
    fixed: BTreeMap<u32, u64>,
}

impl Guess<'_> {
    /// Brings broken conditions back, one after the other, without touching what is fixed.
    fn mend(&mut self, wanted: &[Claim]) -> Option<BTreeMap<u32, u64>> {
        for _ in 0..MAX_MENDED {
            let facts = self.facts;
            let mut all = facts.iter().map(|f| f.claim).chain(wanted.iter().copied());
            let Some(broken) = all.find(|c| !self.holds(*c)) else {
                return Some(self.values.assigned().clone());
            };
            if !self.force_claim(broken) {
                return None;
            }
        }
        None
    }

    fn holds(&mut self, claim: Claim) -> bool {
        (self.values.of(claim.node) == claim.value) == claim.equal
    }

    fn force_claim(&mut self, claim: Claim) -> bool {
        if claim.equal {
            self.force(claim.node, claim.value, MAX_DEPTH)
        } else {
            self.avoid(claim.node, claim.value, MAX_DEPTH)
        }
    }

    /// Changes inputs so that the node has this value.
    fn force(&mut self, id: u32, value: u64, depth: u32) -> bool {
        if self.steps == 0 || depth == 0 {
            return false;
        }
        self.steps -= 1;
        let n = self.values.node(id);
        if n.op == 0 || value & !mask(u32::from(n.bits)) != 0 {
            return false;
        }
        if self.values.of(id) == value {
            return true;
        }
        let depth = depth - 1;
        match n.op {
            op::VAR => self.set(&n, value),
            op::ZEXT => self.force(n.a, value, depth),
            op::SEXT => {
                let bits = u32::from(self.values.node(n.a).bits);
                let low = value & mask(bits);
                let same = signed(bits, low) as u64 & mask(u32::from(n.bits)) == value;
                same && self.force(n.a, low, depth)
            }
            op::EXTRACT => {
                let covered = mask(u32::from(n.bits)) << n.c;
                let rest = self.values.of(n.a) & !covered;
                self.force(n.a, rest | value << n.c, depth)
            }
            op::CONCAT => {
                let bits = u32::from(self.values.node(n.b).bits);
                self.force(n.b, value & mask(bits), depth) && self.force(n.a, value >> bits, depth)
            }
            op::ITE => self.force_choice(&n, value, depth),
            op::EQ if value == 1 => self.equate(&n, depth),
            op::NE if value == 0 => self.equate(&n, depth),
            op::EQ | op::NE => self.separate(&n, depth),
            op::ULT..=op::SLE => self.order(&n, value == 1, depth),
            _ => self.force_sum(&n, value, depth),
        }
    }

    /// Another value than this one.
    fn avoid(&mut self, id: u32, value: u64, depth: u32) -> bool {
        if self.values.of(id) != value {
            return true;
        }
        let all = mask(u32::from(self.values.node(id).bits));
        let near = [value.wrapping_add(1) & all, value.wrapping_sub(1) & all, 0];
        let liked = LIKED.iter().map(|b| u64::from(*b) & all);
        let other: Vec<u64> = liked.chain(near).filter(|v| *v != value).collect();
        self.any(&other, |s, v| s.force(id, *v, depth.saturating_sub(1)))
    }

    /// The first of several ways that works; the inputs are as before when none does.
    fn any<T>(&mut self, ways: &[T], force: impl Fn(&mut Self, &T) -> bool) -> bool {
        let before = self.values.assigned().clone();
        for way in ways {
            if force(self, way) {
                return true;
            }
            self.values.restore(before.clone());
        }
        false
    }

    fn set(&mut self, variable: &Node, value: u64) -> bool {
        let id = variable.a;
        let free = self.fixed.get(&id).is_none_or(|v| *v == value);
        let bounded = (self.bounds)(id).is_none_or(|(low, high)| (low..=high).contains(&value));
        if !free || !bounded {
            return false;
        }
        let before = self.values.assigned().clone();
        self.values.assign(id, value);
        // Conditions on this byte alone decide at once; on lengths, there are others to change.
        let facts = self.facts;
        let mut own = facts.iter().filter(|f| *f.variables == [id] && id & LENGTH != LENGTH);
        if own.all(|f| self.holds(f.claim)) {
            return true;
        }
        self.values.restore(before);
        false
    }

    fn force_choice(&mut self, n: &Node, value: u64, depth: u32) -> bool {
        let fits = [n.b, n.c].map(|side| self.values.of(side) == value);
        // Sides that have the value already come first.
        let mut ways = [(1, n.b, fits[0]), (0, n.c, fits[1])];
        ways.sort_by_key(|(_, _, fits)| !fits);
        self.any(&ways, |s, (condition, side, _)| {
            s.force(n.a, *condition, depth) && s.force(*side, value, depth)
        })
    }

    fn is_fixed(&self, id: u32) -> bool {
        self.values.node(id).op == op::CONST
    }

    fn equate(&mut self, n: &Node, depth: u32) -> bool {
        let (a, b) = if self.is_fixed(n.a) { (n.b, n.a) } else { (n.a, n.b) };
        let value = self.values.of(b);
        self.force(a, value, depth)
    }

    fn separate(&mut self, n: &Node, depth: u32) -> bool {
        let (a, b) = if self.is_fixed(n.a) { (n.b, n.a) } else { (n.a, n.b) };
        let value = self.values.of(b);
        self.avoid(a, value, depth)
    }

    /// `a < b` and the like, or its opposite: the one side that may change goes just across, or far.
    fn order(&mut self, n: &Node, holds: bool, depth: u32) -> bool {
        let bits = u32::from(self.values.node(n.a).bits);
        let (least, most) = match n.op {
            op::ULT | op::ULE => (0, mask(bits)),
            _ => (1u64 << (bits - 1), mask(bits - 1)),
        };
        let other = if self.is_fixed(n.a) { n.a } else { n.b };
        let edge = self.values.of(other);
        let near = |by: i64| edge.wrapping_add(by as u64) & mask(bits);
        let liked = LIKED.iter().map(|b| u64::from(*b) & mask(bits));
        let ways: Vec<u64> = [edge, near(1), near(-1)].into_iter().chain(liked).collect();
        let changed = if other == n.a { n.b } else { n.a };
        let ends = [least, most];
        let wanted = |s: &mut Self| {
            let (a, b) = (s.values.of(n.a), s.values.of(n.b));
            (leakproof_rt::compute::compute(n.op, bits, a, b) == 1) == holds
        };
        self.any(&[ways.as_slice(), &ends].concat(), |s, v| {
            s.force(changed, *v, depth) && wanted(s)
        })
    }

    /// Sums, masks and shifts with one side that does not change; truth of two conditions.
    fn force_sum(&mut self, n: &Node, value: u64, depth: u32) -> bool {
        let bits = u32::from(n.bits);
        if bits == 1 && matches!(n.op, op::AND | op::OR) {
            let both = (n.op == op::AND) == (value == 1);
            if both {
                return self.force(n.a, value, depth) && self.force(n.b, value, depth);
            }
            return self.any(&[n.a, n.b], |s, side| s.force(*side, value, depth));
        }
        let sides = if self.is_fixed(n.a) { [(n.b, n.a)] } else { [(n.a, n.b)] };
        let [(side, other)] = sides;
        let (now, by) = (self.values.of(side), self.values.of(other));
        let swapped = side == n.b;
        let needed = match n.op {
            op::ADD => Some(value.wrapping_sub(by)),
            op::SUB if swapped => Some(by.wrapping_sub(value)),
            op::SUB => Some(value.wrapping_add(by)),
            op::XOR => Some(value ^ by),
            op::AND => (value & !by == 0).then_some(now & !by | value),
            op::OR => (value & by == by).then_some(now & by | value & !by),
            op::MUL => value.checked_div(by).filter(|v| v.wrapping_mul(by) == value),
            op::SHL if !swapped && by < 64 => Some(value >> by),
            op::LSHR if !swapped && by < 64 => Some(now & mask(by as u32) | value << by),
            op::UDIV if !swapped => Some(value.wrapping_mul(by)),
            op::UREM if !swapped && value < by => Some(now - now % by.max(1) + value),
            _ => None,
        };
        needed.is_some_and(|v| self.force(side, v & mask(bits), depth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    fn node(op: u8, bits: u8, a: u32, b: u32, c: u32, value: u64) -> Node {
        Node { op, bits, pad: 0, a, b, c, value }
    }

    /// Two bytes that are compared with `hi` as `strcmp` does.
    fn text() -> Vec<Node> {
        vec![
            Node::default(),
            node(op::VAR, 8, 7, 0, 0, 65),
            node(op::VAR, 8, 8, 0, 0, 65),
            node(op::CONST, 8, 0, 0, 0, u64::from(b'h')),
            node(op::CONST, 8, 0, 0, 0, u64::from(b'i')),
            node(op::NE, 1, 1, 3, 0, 1),
            node(op::NE, 1, 2, 4, 0, 1),
            node(op::CONST, 32, 0, 0, 0, 0),
            node(op::CONST, 32, 0, 0, 0, 1),
            node(op::ITE, 32, 6, 8, 7, 1),
            node(op::ITE, 32, 5, 8, 9, 1),
            node(op::EQ, 1, 10, 7, 0, 0),
            node(op::ULT, 1, 1, 3, 0, 1),
        ]
    }

    fn holds(node: u32, value: u64) -> Claim {
        Claim { node, value, equal: true }
    }

    #[test]
    fn a_text_is_spelled() {
        let found = guess(&text(), &[], &[holds(11, 1)], &|_| None);
        assert_eq!(found, Some(BTreeMap::from([(7, 104), (8, 105)])));
    }

    #[test]
    fn what_must_stay_is_kept() {
        let fact = Fact { event: 0, claim: holds(12, 1), variables: Rc::from([7]) };
        assert_eq!(guess(&text(), &[&fact], &[holds(11, 1)], &|_| None), None);
        let fact = Fact { event: 0, claim: holds(12, 0), variables: Rc::from([7]) };
        assert!(guess(&text(), &[&fact], &[holds(11, 1)], &|_| None).is_some());
    }

    #[test]
    fn orders_go_across() {
        let found = guess(&text(), &[], &[holds(12, 0)], &|_| None);
        assert_eq!(found, Some(BTreeMap::from([(7, 104)])));
        assert_eq!(guess(&text(), &[], &[holds(12, 0)], &|_| Some((0, 9))), None);
    }
}
