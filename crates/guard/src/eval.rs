//! Evaluates terms under an assignment of symbols: replays a solver's model on the function.

use crate::value::{fold, holds};
use crate::{Base, BaseInfo, Cast, Node, Sym, Term, Terms, sign_extend, truncate};
use rustc_hash::FxHashMap;

/// Values of symbols, and of terms that the solver takes for unknown (`Any`, products of two unknowns); what is not
/// mentioned is zero.
#[derive(Clone, Debug, Default)]
pub struct Assignment {
    pub syms: FxHashMap<Sym, u64>,
    pub unknowns: FxHashMap<Term, u64>,
}

impl Assignment {
    pub fn is_empty(&self) -> bool {
        self.syms.is_empty() && self.unknowns.is_empty()
    }
}

/// The address that distinct base `b` is given in every model.
pub fn base_address(b: Base) -> u64 {
    0x10_0000_0000 + (u64::from(b.0) << 24)
}

/// The value of `t`, zero-extended to 64 bits. `memo` may be shared between calls for the same
/// assignment. Tuples have no value of their own and give 0.
pub fn evaluate(
    terms: &Terms,
    t: Term,
    model: &Assignment,
    memo: &mut FxHashMap<Term, u64>,
) -> u64 {
    if let Some(&v) = memo.get(&t) {
        return v;
    }
    let value = match model.unknowns.get(&t) {
        Some(&v) => v,
        None => evaluate_node(terms, t, model, memo),
    };
    memo.insert(t, value);
    value
}

fn evaluate_node(
    terms: &Terms,
    t: Term,
    model: &Assignment,
    memo: &mut FxHashMap<Term, u64>,
) -> u64 {
    let mut eval = |t: Term| evaluate(terms, t, model, memo);
    match terms.node(t) {
        Node::Bool(b) => u64::from(*b),
        Node::Int { value, .. } => *value,
        Node::Sym(s) => model.syms.get(s).copied().unwrap_or(0),
        Node::Any(_) => 0,
        Node::Addr { base, offset } => {
            let start = match terms.base_info(*base) {
                BaseInfo::Distinct { .. } => base_address(*base),
                BaseInfo::Pointee(p) => eval(p),
            };
            start.wrapping_add(*offset as u64)
        }
        Node::Elem { base, offset, index, .. } => {
            let start = match terms.base_info(*base) {
                BaseInfo::Distinct { .. } => base_address(*base),
                BaseInfo::Pointee(p) => eval(p),
            };
            start.wrapping_add(*offset as u64).wrapping_add(eval(*index))
        }
        Node::Not(x) => 1 - (eval(*x) & 1),
        Node::And(ts) => u64::from(ts.iter().all(|&x| eval(x) == 1)),
        Node::Or(ts) => u64::from(ts.iter().any(|&x| eval(x) == 1)),
        Node::Ite { cond, then, otherwise } => {
            if eval(*cond) == 1 {
                eval(*then)
            } else {
                eval(*otherwise)
            }
        }
        Node::Cmp { cmp, lhs, rhs } => {
            u64::from(holds(*cmp, terms.bits(*lhs), eval(*lhs), eval(*rhs)))
        }
        Node::Bin { op, lhs, rhs } => {
            let bits = terms.bits(*lhs);
            truncate(bits, fold(*op, bits, eval(*lhs), eval(*rhs)).unwrap_or(0))
        }
        Node::Cast { cast, bits, value } => {
            let v = eval(*value);
            let wide = match cast {
                Cast::SExt => sign_extend(terms.bits(*value), v) as u64,
                Cast::Trunc | Cast::ZExt => v,
            };
            truncate(*bits, wide)
        }
        Node::Tuple(_) => 0,
    }
}
