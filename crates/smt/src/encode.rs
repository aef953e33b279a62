//! Atoms as Z3 expressions.
//!
//! The truth of conditions inside values is given, so no if-then-else is left. Every term is
//! encoded once, children first and without recursion, so that deep terms cannot exhaust the
//! stack.

use crate::theory::Truth;
use leakproof_guard::{
    Assignment, BaseInfo, Cast, Cmp, Node, Op, Sym, Term, Terms, base_address, for_each_child,
};
use rustc_hash::FxHashMap;
use z3::Model;
use z3::ast::{BV, Bool};

#[derive(Clone)]
enum Expr {
    Bool(Bool),
    Bits(BV),
}

pub struct Encoder<'a> {
    terms: &'a Terms,
    truth: Truth<'a>,
    done: FxHashMap<Term, Expr>,
    syms: Vec<(Sym, Expr)>,
    /// Terms that are no symbols and mean anything.
    unknowns: Vec<(Term, BV)>,
    axioms: Vec<Bool>,
}

impl<'a> Encoder<'a> {
    pub fn new(terms: &'a Terms, truth: Truth<'a>) -> Self {
        Self {
            terms,
            truth,
            done: FxHashMap::default(),
            syms: Vec::new(),
            unknowns: Vec::new(),
            axioms: Vec::new(),
        }
    }

    pub fn boolean(&mut self, t: Term) -> Bool {
        self.encode_all(t);
        self.bool_of(t)
    }

    /// What holds of the symbols that occur.
    pub fn take_axioms(&mut self) -> Vec<Bool> {
        std::mem::take(&mut self.axioms)
    }

    pub fn assignment(&self, model: &Model) -> Assignment {
        let mut result = Assignment::default();
        for (sym, expr) in &self.syms {
            let value = match expr {
                Expr::Bool(b) => model.eval(b, true).and_then(|v| v.as_bool()).map_or(0, u64::from),
                Expr::Bits(v) => model.eval(v, true).and_then(|v| v.as_u64()).unwrap_or(0),
            };
            result.syms.insert(*sym, value);
        }
        for (t, v) in &self.unknowns {
            let value = model.eval(v, true).and_then(|v| v.as_u64()).unwrap_or(0);
            result.unknowns.insert(*t, value);
        }
        result
    }

    fn encode_all(&mut self, root: Term) {
        let mut stack = vec![(root, false)];
        while let Some((t, expanded)) = stack.pop() {
            if self.done.contains_key(&t) {
                continue;
            }
            if expanded {
                let given = t != root && self.terms.bits(t) == 1;
                let expr = if given { self.given(t) } else { self.encode(t) };
                self.done.insert(t, expr);
                continue;
            }
            stack.push((t, true));
            let node = self.terms.node(t);
            match node {
                Node::Any(_) => {}
                Node::Ite { .. } => stack.push((self.chosen(t), false)),
                _ if t != root && self.terms.bits(t) == 1 => {}
                _ => for_each_child(node, |c| stack.push((c, false))),
            }
            if let Node::Addr { base, .. } | Node::Elem { base, .. } = node
                && let BaseInfo::Pointee(p) = self.terms.base_info(*base)
            {
                stack.push((p, false));
            }
        }
    }

    /// The branch of an if-then-else that its condition's truth says.
    fn chosen(&self, t: Term) -> Term {
        match *self.terms.node(t) {
            Node::Ite { cond, then, otherwise } => {
                if (self.truth)(cond) {
                    then
                } else {
                    otherwise
                }
            }
            _ => t,
        }
    }

    fn given(&self, t: Term) -> Expr {
        Expr::Bool(Bool::from_bool((self.truth)(t)))
    }

    fn bool_of(&self, t: Term) -> Bool {
        match &self.done[&t] {
            Expr::Bool(b) => b.clone(),
            Expr::Bits(v) => v.eq(BV::from_u64(1, v.get_size())),
        }
    }

    fn bits_of(&self, t: Term) -> BV {
        match &self.done[&t] {
            Expr::Bits(v) => v.clone(),
            Expr::Bool(b) => b.ite(&BV::from_u64(1, 8), &BV::from_u64(0, 8)),
        }
    }

    /// `t` as a bit-vector of exactly `bits` bits, extended or cut where the source was sloppy.
    fn sized(&self, t: Term, bits: u32) -> BV {
        let v = self.bits_of(t);
        let have = v.get_size();
        if have < bits {
            v.zero_ext(bits - have)
        } else if have > bits {
            v.extract(bits - 1, 0)
        } else {
            v
        }
    }

    fn encode(&mut self, t: Term) -> Expr {
        match self.terms.node(t) {
            Node::Bool(b) => Expr::Bool(Bool::from_bool(*b)),
            Node::Int { bits, value } => Expr::Bits(BV::from_u64(*value, u32::from(*bits))),
            Node::Sym(s) => self.symbol(*s),
            Node::Addr { base, offset } => Expr::Bits(self.base(*base) + BV::from_i64(*offset, 64)),
            Node::Elem { base, offset, index, .. } => {
                Expr::Bits(self.base(*base) + BV::from_i64(*offset, 64) + self.sized(*index, 64))
            }
            Node::Not(_) | Node::And(_) | Node::Or(_) => self.given(t),
            Node::Ite { .. } => {
                let bits = u32::from(self.terms.bits(t));
                Expr::Bits(self.sized(self.chosen(t), bits))
            }
            Node::Cmp { cmp, lhs, rhs } => Expr::Bool(self.comparison(*cmp, *lhs, *rhs)),
            // Products and quotients of two unknowns cost the solver more than they tell.
            Node::Bin { op, lhs, rhs } if is_nonlinear(self.terms, *op, *lhs, *rhs) => {
                let v = BV::fresh_const("nonlinear", u32::from(self.terms.bits(t)).max(2));
                self.keep_within(&v, self.terms.range(t));
                self.unknowns.push((t, v.clone()));
                Expr::Bits(v)
            }
            Node::Bin { op, lhs, rhs } => {
                let bits = u32::from(self.terms.bits(*lhs));
                Expr::Bits(binary(*op, &self.sized(*lhs, bits), &self.sized(*rhs, bits)))
            }
            Node::Cast { cast, bits, value } => {
                Expr::Bits(self.converted(*cast, u32::from(*bits), *value))
            }
            Node::Any(_) => {
                let v = BV::fresh_const("any", u32::from(self.terms.bits(t).max(2)));
                self.unknowns.push((t, v.clone()));
                Expr::Bits(v)
            }
            Node::Tuple(_) => Expr::Bits(BV::from_u64(0, 64)),
        }
    }

    fn symbol(&mut self, s: Sym) -> Expr {
        let info = self.terms.sym_info(s);
        if info.bits == 1 {
            let expr = Expr::Bool(Bool::new_const(s.0));
            self.syms.push((s, expr.clone()));
            return expr;
        }
        let v = BV::new_const(s.0, u32::from(info.bits.max(2)));
        if let Some(range) = info.range {
            self.keep_within(&v, range);
        }
        if info.nonzero {
            self.axioms.push(v.eq(BV::from_u64(0, v.get_size())).not());
        }
        self.syms.push((s, Expr::Bits(v.clone())));
        Expr::Bits(v)
    }

    fn keep_within(&mut self, v: &BV, (lo, hi): (i64, i64)) {
        self.axioms.push(v.bvsge(BV::from_i64(lo, v.get_size())));
        self.axioms.push(v.bvsle(BV::from_i64(hi, v.get_size())));
    }

    fn base(&self, base: leakproof_guard::Base) -> BV {
        match self.terms.base_info(base) {
            BaseInfo::Distinct { .. } => BV::from_u64(base_address(base), 64),
            BaseInfo::Pointee(p) => self.sized(p, 64),
        }
    }

    fn comparison(&mut self, cmp: Cmp, lhs: Term, rhs: Term) -> Bool {
        for sum in self.terms.signed_sums(cmp, [lhs, rhs], |t| self.chosen(t)) {
            let fits = self.fits(sum);
            self.axioms.extend(fits);
        }
        let bits = u32::from(self.terms.bits(lhs).max(self.terms.bits(rhs)).max(2));
        let (a, b) = (self.sized(lhs, bits), self.sized(rhs, bits));
        match cmp {
            Cmp::Eq => a.eq(&b),
            Cmp::ULt => a.bvult(&b),
            Cmp::ULe => a.bvule(&b),
            Cmp::SLt => a.bvslt(&b),
            Cmp::SLe => a.bvsle(&b),
        }
    }

    /// What makes a sum or difference of signed numbers one that does not wrap.
    fn fits(&self, sum: Term) -> Vec<Bool> {
        let Node::Bin { op, lhs, rhs } = *self.terms.node(sum) else { return Vec::new() };
        let bits = u32::from(self.terms.bits(lhs));
        let (a, b) = (self.sized(lhs, bits), self.sized(rhs, bits));
        match op {
            Op::Sub => vec![a.bvsub_no_overflow(&b), a.bvsub_no_underflow(&b, true)],
            _ => vec![a.bvadd_no_overflow(&b, true), a.bvadd_no_underflow(&b)],
        }
    }

    fn converted(&self, cast: Cast, bits: u32, value: Term) -> BV {
        let v = self.bits_of(value);
        let have = v.get_size();
        match cast {
            Cast::SExt if have < bits => v.sign_ext(bits - have),
            _ => self.sized(value, bits),
        }
    }
}

fn binary(op: Op, a: &BV, b: &BV) -> BV {
    match op {
        Op::Add => a.bvadd(b),
        Op::Sub => a.bvsub(b),
        Op::Mul => a.bvmul(b),
        Op::UDiv => a.bvudiv(b),
        Op::SDiv => a.bvsdiv(b),
        Op::URem => a.bvurem(b),
        Op::SRem => a.bvsrem(b),
        Op::And => a.bvand(b),
        Op::Or => a.bvor(b),
        Op::Xor => a.bvxor(b),
        Op::Shl => a.bvshl(b),
        Op::LShr => a.bvlshr(b),
        Op::AShr => a.bvashr(b),
    }
}

/// Whether an operation on unknowns is an unknown itself.
pub fn is_nonlinear(terms: &Terms, op: Op, lhs: Term, rhs: Term) -> bool {
    match op {
        Op::Mul => terms.as_int(lhs).is_none() && terms.as_int(rhs).is_none(),
        Op::UDiv | Op::URem => !terms.as_int(rhs).is_some_and(u64::is_power_of_two),
        Op::SDiv | Op::SRem => true,
        Op::Shl | Op::LShr | Op::AShr => terms.as_int(rhs).is_none(),
        _ => false,
    }
}
