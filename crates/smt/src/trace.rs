//! Questions about the expressions of a recorded run: which inputs make these conditions hold?
//!
//! Nodes come children first, as the run made them, so each is encoded once and without recursion. Only
//! what the claims need is encoded.

use crate::Limits;
use leakproof_rt::abi::{Node, op};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use z3::ast::{BV, Bool};
use z3::{Params, SatResult, Solver};

/// What must hold of a node's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    pub node: u32,
    pub value: u64,
    /// Whether the node has that value, or any other.
    pub equal: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum TraceAnswer {
    /// Values of the variables that occur.
    Sat(BTreeMap<u32, u64>),
    /// The claims (by position) that contradict each other.
    Unsat(Vec<usize>),
    Unknown,
}

/// Asks for inputs that make all claims hold; `bounds` gives the least and greatest value of a variable.
pub fn solve_trace(
    nodes: &[Node],
    claims: &[Claim],
    bounds: impl Fn(u32) -> Option<(u64, u64)>,
    limits: Limits,
) -> TraceAnswer {
    let solver = Solver::new_for_logic("QF_BV").unwrap_or_default();
    let mut params = Params::new();
    params.set_u32("timeout", limits.milliseconds);
    params.set_u32("rlimit", limits.resources);
    solver.set_params(&params);
    let mut encoder =
        TraceEncoder { nodes, done: FxHashMap::default(), variables: BTreeMap::new() };
    let mut tags = Vec::with_capacity(claims.len());
    for (i, claim) in claims.iter().enumerate() {
        let Some(fact) = encoder.claim(*claim) else { return TraceAnswer::Unknown };
        let tag = Bool::new_const(format!("claim{i}"));
        solver.assert(tag.implies(&fact));
        tags.push(tag);
    }
    for (&id, variable) in &encoder.variables {
        if let Some((low, high)) = bounds(id) {
            let bits = variable.get_size();
            solver.assert(variable.bvuge(BV::from_u64(low, bits)));
            solver.assert(variable.bvule(BV::from_u64(high, bits)));
        }
    }
    match solver.check_assumptions(&tags) {
        SatResult::Unknown => TraceAnswer::Unknown,
        SatResult::Unsat => {
            let core = solver.get_unsat_core();
            let position = |t: &Bool| core.iter().any(|c| c.to_string() == t.to_string());
            TraceAnswer::Unsat((0..tags.len()).filter(|i| position(&tags[*i])).collect())
        }
        SatResult::Sat => match solver.get_model() {
            None => TraceAnswer::Unknown,
            Some(model) => {
                let value = |v: &BV| model.eval(v, true).and_then(|v| v.as_u64()).unwrap_or(0);
                TraceAnswer::Sat(encoder.variables.iter().map(|(id, v)| (*id, value(v))).collect())
            }
        },
    }
}

struct TraceEncoder<'a> {
    nodes: &'a [Node],
    done: FxHashMap<u32, BV>,
    variables: BTreeMap<u32, BV>,
}

impl TraceEncoder<'_> {
    fn claim(&mut self, claim: Claim) -> Option<Bool> {
        let node = self.encode_all(claim.node)?;
        let same = node.eq(BV::from_u64(claim.value, node.get_size()));
        Some(if claim.equal { same } else { same.not() })
    }

    fn encode_all(&mut self, root: u32) -> Option<BV> {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.done.contains_key(&id) {
                stack.pop();
                continue;
            }
            let node = *self.nodes.get(id as usize).filter(|_| id != 0)?;
            let open: Vec<u32> =
                children(&node).into_iter().filter(|c| !self.done.contains_key(c)).collect();
            // A child that comes later is no child: the trace is damaged.
            if open.iter().any(|c| *c >= id) {
                return None;
            }
            if open.is_empty() {
                let encoded = self.encode(&node)?;
                self.done.insert(id, encoded);
                stack.pop();
            } else {
                stack.extend(open);
            }
        }
        self.done.get(&root).cloned()
    }

    fn encode(&mut self, node: &Node) -> Option<BV> {
        let bits = u32::from(node.bits);
        if bits == 0 || bits > 64 {
            return None;
        }
        let child = |id: u32| self.done.get(&id).cloned();
        Some(match node.op {
            op::CONST => BV::from_u64(node.value, bits),
            op::VAR => {
                let variable = BV::new_const(format!("v{}", node.a), bits);
                self.variables.entry(node.a).or_insert(variable).clone()
            }
            op::ZEXT => {
                let a = child(node.a)?;
                a.zero_ext(bits.checked_sub(a.get_size())?)
            }
            op::SEXT => {
                let a = child(node.a)?;
                a.sign_ext(bits.checked_sub(a.get_size())?)
            }
            op::EXTRACT => child(node.a)?.extract(node.c + bits - 1, node.c),
            op::CONCAT => child(node.a)?.concat(child(node.b)?),
            op::ITE => {
                let condition = child(node.a)?.eq(BV::from_u64(1, 1));
                condition.ite(&child(node.b)?, &child(node.c)?)
            }
            op::EQ..=op::SLE => compare(node.op, &child(node.a)?, &child(node.b)?)
                .ite(&BV::from_u64(1, 1), &BV::from_u64(0, 1)),
            _ => binary(node.op, &child(node.a)?, &child(node.b)?)?,
        })
    }
}

/// The nodes that a node is made of.
pub fn children(node: &Node) -> Vec<u32> {
    match node.op {
        op::CONST | op::VAR => Vec::new(),
        op::ZEXT | op::SEXT | op::EXTRACT => vec![node.a],
        op::ITE => vec![node.a, node.b, node.c],
        _ => vec![node.a, node.b],
    }
}

fn compare(code: u8, a: &BV, b: &BV) -> Bool {
    match code {
        op::EQ => a.eq(b),
        op::NE => a.eq(b).not(),
        op::ULT => a.bvult(b),
        op::ULE => a.bvule(b),
        op::SLT => a.bvslt(b),
        _ => a.bvsle(b),
    }
}

fn binary(code: u8, a: &BV, b: &BV) -> Option<BV> {
    Some(match code {
        op::ADD => a.bvadd(b),
        op::SUB => a.bvsub(b),
        op::MUL => a.bvmul(b),
        op::UDIV => a.bvudiv(b),
        op::SDIV => a.bvsdiv(b),
        op::UREM => a.bvurem(b),
        op::SREM => a.bvsrem(b),
        op::SHL => a.bvshl(b),
        op::LSHR => a.bvlshr(b),
        op::ASHR => a.bvashr(b),
        op::AND => a.bvand(b),
        op::OR => a.bvor(b),
        op::XOR => a.bvxor(b),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(op: u8, bits: u8, a: u32, b: u32, value: u64) -> Node {
        Node { op, bits, pad: 0, a, b, c: 0, value }
    }

    /// A byte that is compared with 'M', then with 'N'.
    fn nodes() -> Vec<Node> {
        vec![
            Node::default(),
            node(op::VAR, 8, 7, 0, 0),
            node(op::CONST, 8, 0, 0, 77),
            node(op::EQ, 1, 1, 2, 0),
            node(op::CONST, 8, 0, 0, 78),
            node(op::EQ, 1, 1, 4, 0),
        ]
    }

    #[test]
    fn inputs_are_found() {
        let claim = Claim { node: 3, value: 1, equal: true };
        let answer = solve_trace(&nodes(), &[claim], |_| None, Limits::default());
        assert_eq!(answer, TraceAnswer::Sat(BTreeMap::from([(7, 77)])));
    }

    #[test]
    fn contradictions_are_named() {
        let is = |node, value| Claim { node, value, equal: true };
        let claims = [is(2, 77), is(3, 1), is(5, 1)];
        let answer = solve_trace(&nodes(), &claims, |_| None, Limits::default());
        assert_eq!(answer, TraceAnswer::Unsat(vec![1, 2]));
    }

    #[test]
    fn bounds_hold() {
        let claim = Claim { node: 3, value: 1, equal: true };
        let answer = solve_trace(&nodes(), &[claim], |_| Some((0, 9)), Limits::default());
        assert_eq!(answer, TraceAnswer::Unsat(vec![0]));
    }

    #[test]
    fn damaged_traces_have_no_answer() {
        let mut list = nodes();
        list[3].a = 5;
        list[5].a = 3;
        let claim = Claim { node: 5, value: 1, equal: true };
        let answer = solve_trace(&list, &[claim], |_| None, Limits::default());
        assert_eq!(answer, TraceAnswer::Unknown);
    }
}
