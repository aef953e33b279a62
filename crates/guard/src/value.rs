//! Value constructors: if-then-else, comparisons, arithmetic, casts and address arithmetic.
//!
//! Comparisons and casts are pushed into if-then-else trees: "the status is zero" about
//! `ite(c, -1, 0)` becomes `!c`, which is how error codes keep their relation to what happened.

use crate::memo::{Key, Operation};
use crate::seen::Seen;
use crate::{
    Area, BaseInfo, Cast, Cmp, Node, Op, Term, Terms, sign_extend, signed_limits, truncate,
};
use smallvec::{SmallVec, smallvec};

/// Choices wider than this are not pushed into.
const PUSH_LIMIT: u32 = 40;
/// Pointer choices wider than this are put in order: one condition for each alternative.
const CHOICE_LIMIT: u32 = 24;

/// So many alternatives have room before a list of them grows.
const MAX_ROOM: u32 = 32;

/// Ranges of larger terms are not worked out.
const MAX_RANGED: u32 = 16;

impl Terms {
    pub fn ite(&mut self, cond: Term, then: Term, otherwise: Term) -> Term {
        if then == otherwise || cond == Self::TRUE {
            return then;
        }
        if cond == Self::FALSE {
            return otherwise;
        }
        if let Node::Not(c) = self.node(cond) {
            let c = *c;
            return self.ite(c, otherwise, then);
        }
        let key = Key(Operation::Ite, cond, then, otherwise);
        self.memo.get(key).unwrap_or_else(|| {
            let choice = self.new_ite(cond, then, otherwise);
            self.memo.keep(key, choice);
            choice
        })
    }

    fn new_ite(&mut self, cond: Term, then: Term, otherwise: Term) -> Term {
        if self.bits(then) == 1 {
            return self.bool_ite(cond, then, otherwise);
        }
        if let (Node::Tuple(a), Node::Tuple(b)) = (self.node(then), self.node(otherwise))
            && a.len() == b.len()
        {
            let pairs: Vec<_> = a.iter().copied().zip(b.iter().copied()).collect();
            let items = pairs.into_iter().map(|(x, y)| self.ite(cond, x, y)).collect();
            return self.tuple(items);
        }
        let width = self.width(then).saturating_add(self.width(otherwise));
        if width > CHOICE_LIMIT && (self.has_addr(then) || self.has_addr(otherwise)) {
            return self.ordered_choice(cond, then, otherwise);
        }
        self.nested_ite(cond, then, otherwise)
    }

    /// The values that a choice is between, each once.
    pub fn alternatives(&self, t: Term) -> Vec<Term> {
        let mut found = Vec::with_capacity(self.width(t).min(MAX_ROOM) as usize);
        self.collect_alternatives(t, &mut found);
        let mut seen = Seen::default();
        found.retain(|&t| seen.insert(t));
        found
    }

    /// The same; some may be there several times.
    pub(crate) fn collect_alternatives(&self, t: Term, found: &mut Vec<Term>) {
        let mut seen = Seen::default();
        let mut work: SmallVec<[Term; 32]> = smallvec![t];
        while let Some(t) = work.pop() {
            match self.node(t) {
                Node::Ite { then, otherwise, .. } => {
                    if seen.insert(t) {
                        work.extend([*then, *otherwise]);
                    }
                }
                Node::Any(items) => found.extend(items.iter().rev()),
                _ => found.push(t),
            }
        }
    }

    /// `ite` that keeps tuples whole.
    pub fn choose(&mut self, cond: Term, then: Term, otherwise: Term) -> Term {
        if then == otherwise {
            return then;
        }
        self.nested_ite(cond, then, otherwise)
    }

    fn bool_ite(&mut self, cond: Term, then: Term, otherwise: Term) -> Term {
        let not_cond = self.not(cond);
        let a = self.and2(cond, then);
        let b = self.and2(not_cond, otherwise);
        self.or2(a, b)
    }

    /// Collapses nested choices on the same condition or with a shared branch.
    pub(crate) fn nested_ite(&mut self, cond: Term, then: Term, otherwise: Term) -> Term {
        if let Node::Ite { cond: c2, then: t2, otherwise: e2 } = *self.node(then) {
            if c2 == cond {
                return self.ite(cond, t2, otherwise);
            }
            if e2 == otherwise {
                let both = self.and2(cond, c2);
                return self.ite(both, t2, otherwise);
            }
        }
        if let Node::Ite { cond: c2, then: t2, otherwise: e2 } = *self.node(otherwise) {
            if c2 == cond {
                return self.ite(cond, then, e2);
            }
            if t2 == then {
                let either = self.or2(cond, c2);
                return self.ite(either, then, e2);
            }
        }
        self.intern(Node::Ite { cond, then, otherwise })
    }

    pub fn eq(&mut self, lhs: Term, rhs: Term) -> Term {
        self.cmp(Cmp::Eq, lhs, rhs)
    }
    pub fn is_null(&mut self, t: Term) -> Term {
        let zero = self.int(self.bits(t), 0);
        self.eq(t, zero)
    }
    pub fn is_not_null(&mut self, t: Term) -> Term {
        let null = self.is_null(t);
        self.not(null)
    }

    pub fn cmp(&mut self, cmp: Cmp, lhs: Term, rhs: Term) -> Term {
        if lhs == rhs && !matches!(self.node(lhs), Node::Any(_)) {
            return Self::bool(matches!(cmp, Cmp::Eq | Cmp::ULe | Cmp::SLe));
        }
        if self.bits(lhs) == 1 && self.bits(rhs) == 1 {
            return self.bool_cmp(cmp, lhs, rhs);
        }
        if self.bits(lhs) != self.bits(rhs) {
            return self.intern(Node::Cmp { cmp, lhs, rhs });
        }
        if let (Some(a), Some(b)) = (self.as_int(lhs), self.as_int(rhs)) {
            return Self::bool(holds(cmp, self.bits(lhs), a, b));
        }
        if let Some(t) = self.push_cmp(cmp, lhs, rhs) {
            return t;
        }
        if cmp == Cmp::Eq {
            return self.equality(lhs, rhs);
        }
        if let Some(known) = self.by_range(cmp, lhs, rhs) {
            return Self::bool(known);
        }
        if let Some(t) = self.order_of_objects(cmp, lhs, rhs) {
            return t;
        }
        if let Some(t) = self.order_of_sums(cmp, lhs, rhs) {
            return t;
        }
        if let Some(t) = self.as_equality(cmp, lhs, rhs) {
            return t;
        }
        self.intern(Node::Cmp { cmp, lhs, rhs })
    }

    fn bool_cmp(&mut self, cmp: Cmp, lhs: Term, rhs: Term) -> Term {
        let (not_l, not_r) = (self.not(lhs), self.not(rhs));
        match cmp {
            Cmp::Eq => self.bool_ite(lhs, rhs, not_r),
            Cmp::ULt => self.and2(not_l, rhs),
            Cmp::ULe => self.or2(not_l, rhs),
            Cmp::SLt => self.and2(lhs, not_r),
            Cmp::SLe => self.or2(lhs, not_r),
        }
    }

    fn push_cmp(&mut self, cmp: Cmp, lhs: Term, rhs: Term) -> Option<Term> {
        if self.width(lhs).saturating_mul(self.width(rhs)) > PUSH_LIMIT {
            return None;
        }
        let key = Key(Operation::Cmp(cmp), lhs, rhs, Self::TRUE);
        if let Some(known) = self.memo.get(key) {
            return Some(known);
        }
        let (cond, a, b) = match (self.node(lhs), self.node(rhs)) {
            (&Node::Ite { cond, then, otherwise }, _) => {
                (cond, self.cmp(cmp, then, rhs), self.cmp(cmp, otherwise, rhs))
            }
            (_, &Node::Ite { cond, then, otherwise }) => {
                (cond, self.cmp(cmp, lhs, then), self.cmp(cmp, lhs, otherwise))
            }
            _ => return None,
        };
        let pushed = self.bool_ite(cond, a, b);
        self.memo.keep(key, pushed);
        Some(pushed)
    }

    fn equality(&mut self, lhs: Term, rhs: Term) -> Term {
        if let Some(known) = self.known_equality(lhs, rhs).or_else(|| self.known_equality(rhs, lhs))
        {
            return Self::bool(known);
        }
        if let Some(t) = self.peel_equality(lhs, rhs).or_else(|| self.peel_equality(rhs, lhs)) {
            return t;
        }
        let (lhs, rhs) = if lhs < rhs { (lhs, rhs) } else { (rhs, lhs) };
        self.intern(Node::Cmp { cmp: Cmp::Eq, lhs, rhs })
    }

    /// Equality decided by what the terms are.
    pub(crate) fn known_equality(&self, lhs: Term, rhs: Term) -> Option<bool> {
        match (self.node(lhs), self.node(rhs)) {
            (Node::Addr { base: a, offset: i }, Node::Addr { base: b, offset: j }) => {
                self.same_address(*a, *i, *b, *j)
            }
            (Node::Addr { base, .. } | Node::Elem { base, .. }, Node::Int { value, .. }) => {
                // A small integer or null is no address; offsets from a symbolic null aside.
                let distinct = matches!(self.base_info(*base), BaseInfo::Distinct { .. });
                (distinct || *value == 0).then_some(false)
            }
            (Node::Addr { base, offset }, Node::Sym(s)) => match self.base_info(*base) {
                BaseInfo::Distinct { fresh: true } if self.sym_info(*s).outside => Some(false),
                BaseInfo::Pointee(p) if p == rhs && *offset != 0 => Some(false),
                _ => None,
            },
            (
                Node::Elem { base: a, .. },
                Node::Addr { base: b, .. } | Node::Elem { base: b, .. },
            ) if a != b => self.same_address(*a, 0, *b, 0).filter(|same| !same),
            (Node::Sym(s), Node::Int { bits, value }) => {
                let info = self.sym_info(*s);
                let v = sign_extend(*bits, *value);
                let outside_range = info.range.is_some_and(|(lo, hi)| v < lo || v > hi);
                (outside_range || (info.nonzero && *value == 0)).then_some(false)
            }
            (Node::Any(items), Node::Int { value: 0, .. })
                if items
                    .iter()
                    .all(|&t| matches!(self.node(t), Node::Addr { .. } | Node::Elem { .. }))
                    && !items.is_empty() =>
            {
                Some(false)
            }
            (Node::Bin { .. }, Node::Int { value: 0, .. }) if self.is_moved_address(lhs) => {
                Some(false)
            }
            (_, Node::Int { value, .. }) if self.differs_in_bits(lhs, *value) => Some(false),
            _ => None,
        }
    }

    /// Whether a value is an address that was moved or aligned, and so is none of a few low bits of one.
    fn is_moved_address(&self, t: Term) -> bool {
        match *self.node(t) {
            Node::Addr { .. } | Node::Elem { .. } => true,
            Node::Bin { op: Op::Add | Op::Or, lhs, rhs } => {
                self.is_moved_address(lhs) || self.is_moved_address(rhs)
            }
            Node::Bin { op: Op::Sub, lhs, rhs } => {
                self.is_moved_address(lhs) && !self.has_addr(rhs)
            }
            Node::Bin { op: Op::And, lhs, rhs } => {
                self.as_signed(rhs).is_some_and(|mask| mask < 0) && self.is_moved_address(lhs)
            }
            _ => false,
        }
    }

    fn same_address(&self, a: crate::Base, i: i64, b: crate::Base, j: i64) -> Option<bool> {
        if a == b {
            return Some(i == j);
        }
        match (self.base_info(a), self.base_info(b)) {
            (BaseInfo::Distinct { .. }, BaseInfo::Distinct { .. }) => Some(false),
            (BaseInfo::Distinct { fresh: true }, BaseInfo::Pointee(p))
            | (BaseInfo::Pointee(p), BaseInfo::Distinct { fresh: true }) => match self.node(p) {
                Node::Sym(s) if self.sym_info(*s).outside => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// Equality with a constant, looked at through casts and additions.
    fn peel_equality(&mut self, lhs: Term, rhs: Term) -> Option<Term> {
        let value = self.as_int(rhs)?;
        match *self.node(lhs) {
            Node::Cast { cast: Cast::ZExt, value: inner, .. } => {
                let bits = self.bits(inner);
                if truncate(bits, value) != value {
                    return Some(Self::FALSE);
                }
                let c = self.int(bits, value);
                Some(self.eq(inner, c))
            }
            Node::Cast { cast: Cast::SExt, value: inner, bits: wide } => {
                let bits = self.bits(inner);
                let narrow = truncate(bits, value);
                if truncate(wide, sign_extend(bits, narrow) as u64) != value {
                    return Some(Self::FALSE);
                }
                let c = self.int(bits, narrow);
                Some(self.eq(inner, c))
            }
            Node::Bin { op: Op::Add, lhs: inner, rhs: k } => {
                let k = self.as_int(k)?;
                let c = self.int(self.bits(inner), value.wrapping_sub(k));
                Some(self.eq(inner, c))
            }
            _ => None,
        }
    }

    /// Orders decided by symbol ranges and the limits of the type.
    fn by_range(&self, cmp: Cmp, lhs: Term, rhs: Term) -> Option<bool> {
        match cmp {
            Cmp::SLt | Cmp::SLe => {
                let ((a_lo, a_hi), (b_lo, b_hi)) = (self.range(lhs), self.range(rhs));
                if cmp == Cmp::SLt {
                    decide(a_hi < b_lo, a_lo >= b_hi)
                } else {
                    decide(a_hi <= b_lo, a_lo > b_hi)
                }
            }
            Cmp::ULt if self.as_int(rhs) == Some(0) => Some(false),
            Cmp::ULe if self.as_int(lhs) == Some(0) => Some(true),
            Cmp::ULe if self.as_int(rhs) == Some(truncate(self.bits(rhs), u64::MAX)) => Some(true),
            _ => None,
        }
    }

    /// Signed bounds of a term's value.
    pub fn range(&self, t: Term) -> (i64, i64) {
        let full = signed_limits(self.bits(t));
        match self.node(t) {
            Node::Int { bits, value } => {
                let v = sign_extend(*bits, *value);
                (v, v)
            }
            Node::Sym(s) => self.sym_info(*s).range.unwrap_or(full),
            Node::Cast { cast: Cast::ZExt, value, bits } if self.bits(*value) < *bits => {
                let inner = self.range(*value);
                let most = (1i64 << self.bits(*value).min(62)) - 1;
                if inner.0 >= 0 { inner } else { (0, most) }
            }
            Node::Cast { cast: Cast::SExt, value, .. } => self.range(*value),
            Node::Cast { cast: Cast::Trunc, value, .. } if self.size(t) < MAX_RANGED => {
                let range = self.range(*value);
                if range.0 >= full.0 && range.1 <= full.1 { range } else { full }
            }
            Node::Ite { then, otherwise, .. } if self.size(t) < MAX_RANGED => {
                let (a, b) = (self.range(*then), self.range(*otherwise));
                (a.0.min(b.0), a.1.max(b.1))
            }
            Node::Bin { op, lhs, rhs } if self.size(t) < MAX_RANGED => {
                computed_range(*op, self.range(*lhs), self.range(*rhs), full)
            }
            _ => full,
        }
    }

    /// `x <u 1` is `x == 0`; `0 <u x` is `x != 0`; `x <=u 0` is `x == 0`.
    fn as_equality(&mut self, cmp: Cmp, lhs: Term, rhs: Term) -> Option<Term> {
        match (cmp, self.as_int(lhs), self.as_int(rhs)) {
            (Cmp::ULt, _, Some(1)) | (Cmp::ULe, _, Some(0)) => Some(self.is_null(lhs)),
            (Cmp::ULt, Some(0), _) | (Cmp::ULe, Some(1), _) => {
                let zero = self.is_null(rhs);
                Some(self.not(zero))
            }
            _ => None,
        }
    }

    pub fn bin(&mut self, op: Op, lhs: Term, rhs: Term) -> Term {
        if self.bits(lhs) == 1 && self.bits(rhs) == 1 {
            return self.bool_bin(op, lhs, rhs);
        }
        let bits = self.bits(lhs);
        if let (Some(a), Some(b)) = (self.as_int(lhs), self.as_int(rhs))
            && let Some(v) = fold(op, bits, a, b)
        {
            return self.int(bits, v);
        }
        if let Some(t) = self.identity(op, lhs, rhs) {
            return t;
        }
        if let Some(t) = self.push_bin(op, lhs, rhs) {
            return t;
        }
        self.intern(Node::Bin { op, lhs, rhs })
    }

    fn bool_bin(&mut self, op: Op, lhs: Term, rhs: Term) -> Term {
        match op {
            Op::And | Op::Mul => self.and2(lhs, rhs),
            Op::Or => self.or2(lhs, rhs),
            Op::Xor | Op::Add | Op::Sub => {
                let not_r = self.not(rhs);
                self.bool_ite(lhs, not_r, rhs)
            }
            _ => lhs,
        }
    }

    fn identity(&mut self, op: Op, lhs: Term, rhs: Term) -> Option<Term> {
        let (a, b) = (self.as_int(lhs), self.as_int(rhs));
        let zero = self.int(self.bits(lhs), 0);
        match (op, a, b) {
            (Op::Add | Op::Or | Op::Xor, Some(0), _) => Some(rhs),
            (Op::Add | Op::Or | Op::Xor | Op::Sub | Op::Shl | Op::LShr | Op::AShr, _, Some(0)) => {
                Some(lhs)
            }
            (Op::Mul | Op::And, Some(0), _) | (Op::Mul | Op::And, _, Some(0)) => Some(zero),
            (Op::Mul, Some(1), _) => Some(rhs),
            (Op::Mul | Op::UDiv | Op::SDiv, _, Some(1)) => Some(lhs),
            (Op::Sub | Op::Xor, ..) if lhs == rhs => Some(zero),
            (Op::And | Op::Or, ..) if lhs == rhs => Some(lhs),
            (Op::And, Some(_), None) => Some(self.bin(Op::And, rhs, lhs)),
            (Op::And, None, Some(mask)) => self.masked(lhs, mask),
            (Op::LShr, None, Some(by)) => self.shifted_back(lhs, by),
            (Op::Sub, None, None) if self.bits(lhs) == 64 => self.distance(lhs, rhs),
            (Op::SDiv, None, Some(by)) => self.exact_quotient(lhs, by),
            (Op::Add, Some(_), None) => Some(self.bin(Op::Add, rhs, lhs)),
            (Op::Sub, _, Some(k)) => {
                let minus = self.int(self.bits(lhs), k.wrapping_neg());
                Some(self.bin(Op::Add, lhs, minus))
            }
            (Op::Add, None, Some(k)) => match *self.node(lhs) {
                Node::Bin { op: Op::Add, lhs: x, rhs: c } => {
                    let c = self.as_int(c)?;
                    let sum = self.int(self.bits(lhs), c.wrapping_add(k));
                    Some(self.bin(Op::Add, x, sum))
                }
                Node::Addr { base, offset } => Some(self.addr(base, offset.wrapping_add(k as i64))),
                _ => None,
            },
            _ => None,
        }
    }

    /// Arithmetic of a choice between constants with a constant is again such a choice.
    fn push_bin(&mut self, op: Op, lhs: Term, rhs: Term) -> Option<Term> {
        let rhs_const = self.as_int(rhs).is_some();
        match *self.node(lhs) {
            Node::Ite { cond, then, otherwise }
                if rhs_const && self.width(lhs) <= PUSH_LIMIT && self.has_const_leaf(lhs) =>
            {
                let a = self.bin(op, then, rhs);
                let b = self.bin(op, otherwise, rhs);
                Some(self.ite(cond, a, b))
            }
            _ => None,
        }
    }

    fn has_const_leaf(&self, t: Term) -> bool {
        match self.node(t) {
            Node::Ite { then, otherwise, .. } => {
                self.has_const_leaf(*then) || self.has_const_leaf(*otherwise)
            }
            Node::Addr { .. } => true,
            _ => self.as_int(t).is_some(),
        }
    }

    pub fn cast(&mut self, cast: Cast, bits: u16, value: Term) -> Term {
        let from = self.bits(value);
        if from == bits {
            return value;
        }
        if let Some(v) = self.as_int(value) {
            let v = if cast == Cast::SExt { sign_extend(from, v) as u64 } else { v };
            return self.int(bits, v);
        }
        if bits == 1 {
            let one = self.int(from, 1);
            let low = self.bin(Op::And, value, one);
            return self.eq(low, one);
        }
        if from == 1 {
            let ones = if cast == Cast::SExt { u64::MAX } else { 1 };
            let (yes, no) = (self.int(bits, ones), self.int(bits, 0));
            return self.ite(value, yes, no);
        }
        match *self.node(value) {
            Node::Ite { cond, then, otherwise } if self.width(value) <= PUSH_LIMIT => {
                let a = self.cast(cast, bits, then);
                let b = self.cast(cast, bits, otherwise);
                self.ite(cond, a, b)
            }
            // Narrowing what was widened gives the original back.
            Node::Cast { cast: Cast::ZExt | Cast::SExt, value: inner, .. }
                if cast == Cast::Trunc && self.bits(inner) == bits =>
            {
                inner
            }
            // So does widening what lost nothing when it was narrowed.
            Node::Cast { cast: Cast::Trunc, value: inner, .. }
                if self.bits(inner) == bits && self.survives_narrowing(inner, from, cast) =>
            {
                inner
            }
            _ => self.intern(Node::Cast { cast, bits, value }),
        }
    }

    /// Whether a number is the same after it was narrowed to so many bits and widened again.
    fn survives_narrowing(&self, t: Term, bits: u16, widened: Cast) -> bool {
        let (lo, hi) = self.range(t);
        let (least, most) = match widened {
            Cast::SExt => signed_limits(bits),
            _ if bits < 63 => (0, (1 << bits) - 1),
            _ => (0, i64::MAX),
        };
        lo >= least && hi <= most
    }

    /// The pointer `offset` bytes after `pointer`.
    pub fn offset(&mut self, pointer: Term, offset: i64) -> Term {
        if offset == 0 {
            return pointer;
        }
        match self.node(pointer).clone() {
            Node::Addr { base, offset: o } => self.addr(base, o.wrapping_add(offset)),
            Node::Elem { base, offset: o, stride, index, area } => {
                self.elem_in(base, o.wrapping_add(offset), stride, index, area)
            }
            Node::Ite { cond, then, otherwise } if self.width(pointer) <= 2 * CHOICE_LIMIT => {
                let a = self.offset(then, offset);
                let b = self.offset(otherwise, offset);
                self.ite(cond, a, b)
            }
            Node::Any(items) => self.offset_of_each(pointer, &items, offset),
            // Null plus an offset stays null-like: dereferencing it is somebody else's bug.
            Node::Int { .. } => pointer,
            // A pointer that was aligned, say.
            Node::Bin { lhs, .. } if self.has_addr(pointer) => {
                let distance = self.int(self.bits(lhs), offset as u64);
                self.intern(Node::Bin { op: Op::Add, lhs: pointer, rhs: distance })
            }
            _ => {
                let base = self.pointee(pointer);
                self.addr(base, offset)
            }
        }
    }

    /// One of several pointers, moved. Members of what it points to are asked for again and again.
    fn offset_of_each(&mut self, pointer: Term, items: &[Term], offset: i64) -> Term {
        let distance = i32::try_from(offset).ok().map(|o| Term(o as u32));
        let key = distance.map(|d| Key(Operation::Offset, pointer, d, Self::TRUE));
        if let Some(known) = key.and_then(|key| self.memo.get(key)) {
            return known;
        }
        let moved: Vec<Term> = items.iter().map(|&t| self.offset(t, offset)).collect();
        let any = self.any(moved);
        if let Some(key) = key {
            self.memo.keep(key, any);
        }
        any
    }

    /// The pointer `index` bytes after `pointer`, which are some steps of `stride`.
    pub fn index(&mut self, pointer: Term, stride: u32, index: Term) -> Term {
        self.index_within(pointer, stride, index, None)
    }

    /// As `index`, for an array of which `length` bytes follow `pointer`.
    pub fn index_within(
        &mut self,
        pointer: Term,
        stride: u32,
        index: Term,
        length: Option<i64>,
    ) -> Term {
        if let Some(number) = self.as_signed(index) {
            return self.offset(pointer, number);
        }
        match self.node(pointer).clone() {
            Node::Addr { base, offset } => {
                self.elem_in(base, offset, stride, index, Area::from(offset, length))
            }
            Node::Elem { base, offset, stride: outer, index: first, area } => {
                // Which element it is matters little once two indices meet.
                let both = match self.size(first).saturating_add(self.size(index)) {
                    0..=64 => self.bin(Op::Add, first, index),
                    _ => first,
                };
                self.elem_in(base, offset, gcd(outer, stride), both, area)
            }
            Node::Ite { cond, then, otherwise } if self.width(pointer) <= 2 * CHOICE_LIMIT => {
                let a = self.index_within(then, stride, index, length);
                let b = self.index_within(otherwise, stride, index, length);
                self.ite(cond, a, b)
            }
            Node::Any(items) => {
                let moved: Vec<Term> =
                    items.iter().map(|&t| self.index_within(t, stride, index, length)).collect();
                self.any(moved)
            }
            Node::Int { .. } => pointer,
            Node::Bin { .. } if self.has_addr(pointer) => {
                self.intern(Node::Bin { op: Op::Add, lhs: pointer, rhs: index })
            }
            _ => {
                let base = self.pointee(pointer);
                self.elem_in(base, 0, stride, index, Area::from(0, length))
            }
        }
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

fn decide(yes: bool, no: bool) -> Option<bool> {
    if yes {
        Some(true)
    } else if no {
        Some(false)
    } else {
        None
    }
}

/// Whether a comparison of two constants holds.
pub fn holds(cmp: Cmp, bits: u16, a: u64, b: u64) -> bool {
    let (sa, sb) = (sign_extend(bits, a), sign_extend(bits, b));
    match cmp {
        Cmp::Eq => a == b,
        Cmp::ULt => a < b,
        Cmp::ULe => a <= b,
        Cmp::SLt => sa < sb,
        Cmp::SLe => sa <= sb,
    }
}

/// What an operation on two constants gives; none where C leaves it open.
pub fn fold(op: Op, bits: u16, a: u64, b: u64) -> Option<u64> {
    let (sa, sb) = (sign_extend(bits, a), sign_extend(bits, b));
    let in_range = b < u64::from(bits);
    Some(match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b)?,
        Op::URem => a.checked_rem(b)?,
        Op::SDiv => sa.checked_div(sb)? as u64,
        Op::SRem => sa.checked_rem(sb)? as u64,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl if in_range => a << b,
        Op::LShr if in_range => a >> b,
        Op::AShr if in_range => (sa >> b) as u64,
        Op::Shl | Op::LShr | Op::AShr => return None,
    })
}

/// The range of a result by the ranges of what it is computed from. Of what cannot be negative, it is not: sums of lengths and products of
/// counts do not wrap, no object is that large.
fn computed_range(op: Op, a: (i64, i64), b: (i64, i64), full: (i64, i64)) -> (i64, i64) {
    let lengths = a.0 >= 0 && b.0 >= 0;
    let (lo, hi) = match op {
        Op::Add => (a.0.saturating_add(b.0), a.1.saturating_add(b.1)),
        Op::Sub => (a.0.saturating_sub(b.1), a.1.saturating_sub(b.0)),
        Op::Mul if lengths => (a.0.saturating_mul(b.0), a.1.saturating_mul(b.1)),
        // Without a sign: whatever is divided, the quotient has room for one.
        Op::UDiv if b.0 > 1 => return (0, full.1),
        Op::LShr if b.0 > 0 => return (0, full.1),
        Op::URem if b.0 > 0 => return (0, b.1 - 1),
        Op::And if b.0 >= 0 => return (0, b.1),
        _ => return full,
    };
    let fits = lo > i64::MIN && hi < i64::MAX && lo >= full.0 && hi <= full.1;
    match op {
        Op::Add if lengths && full.1 == i64::MAX => (lo, hi),
        Op::Mul if lengths => (lo.min(full.1), hi.min(full.1)),
        _ if fits => (lo, hi),
        _ => full,
    }
}
