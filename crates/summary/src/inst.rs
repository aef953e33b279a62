//! What each instruction does to the state.

use crate::atoms::Decided;
use crate::exec::{DropKind, Exec};
use crate::state::State;
use crate::vocabulary::{BaseKind, Slot, SymKind, What};
use leakproof_guard::{Cast, Cmp, Marks, Node, Op, Term, Terms};
use leakproof_ir::{
    BinOp, CastOp, Index, InstId, InstKind, Loc, RmwOp, Ty, ValueId, ValueKind, VarId,
};

/// That a pointer with more alternatives than this is not null is not kept.
const MAX_CHOICES: u32 = 16;

impl Exec<'_> {
    /// Runs one instruction; false when control does not come out of it.
    pub fn run_inst(&mut self, id: InstId, state: &mut State) -> bool {
        let body = self.body;
        let inst = &body.insts[id];
        let loc = inst.loc;
        self.log_touch(id, state);
        if !self.survives_access(&inst.kind, state) || !self.survives_division(&inst.kind, state) {
            return false;
        }
        let ty = inst.result.map_or(Ty::Void, |v| self.function.ty(v));
        let result = match &inst.kind {
            InstKind::Phi { .. } => return true,
            InstKind::Call { callee, args, noreturn } => {
                let Some(t) = self.run_call(id, *callee, args, ty, state) else { return false };
                if *noreturn {
                    return false;
                }
                t
            }
            InstKind::VarSet { var, value } => {
                self.set_var(state, *var, *value, loc);
                None
            }
            InstKind::Store { ptr, value } => {
                let (p, v) = (self.value(state, *ptr), self.value(state, *value));
                let at = self.place(loc);
                if self.is_computed_from_memory(*value) {
                    self.note_counted(state, p);
                }
                self.store(state, p, v, at);
                self.note_cut(state, id);
                None
            }
            InstKind::MemCopy { dst, src, len } => {
                let (d, s) = (self.value(state, *dst), self.value(state, *src));
                let n = self.value(state, *len);
                let (n, at) = (self.terms.as_signed(n), self.place(loc));
                self.copy(state, d, s, n, at);
                None
            }
            InstKind::MemSet { dst, byte, len } => {
                let (d, b) = (self.value(state, *dst), self.value(state, *byte));
                let n = self.value(state, *len);
                let zero = self.terms.as_int(b) == Some(0);
                let (n, at) = (self.terms.as_signed(n), self.place(loc));
                self.fill(state, d, zero, n, at);
                None
            }
            InstKind::VaStart { list } => {
                self.start_varargs(state, *list, loc);
                None
            }
            InstKind::VaCopy { dst, src } => {
                let (d, s) = (self.value(state, *dst), self.value(state, *src));
                let at = self.place(loc);
                self.copy(state, d, s, Some(24), at);
                None
            }
            InstKind::ScopeEnd { .. } => None,
            InstKind::AtomicRmw { op, ptr, value } => {
                Some(self.atomic(state, *op, *ptr, *value, ty, loc))
            }
            InstKind::CmpXchg { ptr, expected, new } => {
                Some(self.compare_exchange(state, *ptr, *expected, *new, loc))
            }
            kind => Some(self.compute(state, id, kind, ty, loc)),
        };
        if let (Some(v), Some(t)) = (inst.result, result) {
            self.define(v, t);
        }
        true
    }

    /// Symbols and negations of such, all of which hold: the path gets no harder to decide by them.
    fn are_literals(&self, t: Term) -> bool {
        let is_symbol = |t: Term| matches!(self.terms.node(t), Node::Sym(_) | Node::Bool(_));
        let is_literal = |t: Term| match *self.terms.node(t) {
            Node::Not(inner) => is_symbol(inner),
            _ => is_symbol(t),
        };
        match self.terms.node(t) {
            Node::And(parts) => parts.iter().all(|&p| is_literal(p)),
            Node::Not(inner) => match self.terms.node(*inner) {
                Node::Or(parts) => parts.iter().all(|&p| is_literal(p)),
                _ => is_symbol(*inner),
            },
            _ => is_symbol(t),
        }
    }

    /// Who goes on after an access through a pointer knows that it is not null, and where a failed call would
    /// have left it null, that it did not fail. Whether anybody goes on at all.
    fn survives_access(&mut self, kind: &InstKind, state: &mut State) -> bool {
        let (first, second) = match *kind {
            InstKind::Load { ptr, .. } | InstKind::Store { ptr, .. } => (ptr, None),
            InstKind::MemCopy { dst, src, .. } => (dst, Some(src)),
            InstKind::MemSet { dst, .. } => (dst, None),
            // A member of nothing has no address.
            InstKind::Offset { base, ty: Some(_), .. } => (base, None),
            _ => return true,
        };
        let is_access = !matches!(kind, InstKind::Offset { .. });
        [Some(first), second].into_iter().flatten().all(|ptr| {
            let pointer = self.value(state, ptr);
            self.survives_use(pointer, is_access, state)
        })
    }

    /// Who goes on after a pointer was used has one. Whether anybody goes on at all.
    pub(crate) fn survives_use(
        &mut self,
        pointer: Term,
        is_access: bool,
        state: &mut State,
    ) -> bool {
        if self.audit.is_some() {
            return true;
        }
        let is_choice = match *self.terms.node(pointer) {
            Node::Sym(_) => false,
            Node::Ite { .. } if self.terms.width(pointer) < MAX_CHOICES => true,
            _ => return true,
        };
        let there = self.terms.is_not_null(pointer);
        if is_access && self.pcs.is_ruled_out(&self.terms, state.pc, there) {
            return false;
        }
        if is_access && is_choice && self.are_literals(there) {
            match self.pcs.extend(&mut self.terms, state.pc, there) {
                Some(pc) => state.pc = pc,
                None => return false,
            }
        }
        state.pc = self.pcs.know(&self.terms, state.pc, there);
        true
    }

    /// Who goes on knows that a value is not zero, or a pointer not null, unless that is decided.
    pub(crate) fn know_not_zero(&mut self, value: Term, state: &mut State) {
        let some = self.terms.is_not_null(value);
        state.pc = self.pcs.know(&self.terms, state.pc, some);
    }

    /// Who goes on after a division had something to divide by: an empty table has no bucket `hash % size`. Whether
    /// anybody goes on at all.
    fn survives_division(&mut self, kind: &InstKind, state: &mut State) -> bool {
        let InstKind::Bin { op, rhs, .. } = *kind else { return true };
        if !matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem) {
            return true;
        }
        let divisor = self.value(state, rhs);
        if !matches!(self.terms.node(divisor), Node::Sym(_)) {
            return true;
        }
        let zero = self.terms.int(self.terms.bits(divisor), 0);
        let none = self.terms.eq(divisor, zero);
        let some = self.terms.not(none);
        match self.pcs.extend(&mut self.terms, state.pc, some) {
            Some(pc) => state.pc = pc,
            None => return false,
        }
        true
    }

    /// Instructions that only compute.
    fn compute(&mut self, state: &State, id: InstId, kind: &InstKind, ty: Ty, loc: Loc) -> Term {
        let bits = self.bits_of(ty);
        match kind {
            InstKind::Alloca { .. } => {
                let base = self.base(BaseKind::Slot(id));
                self.terms.addr(base, 0)
            }
            InstKind::Load { ptr, .. } => {
                let p = self.value(state, *ptr);
                let loaded = self.load(state, p, bits, loc);
                match self.body.insts[id].result {
                    Some(v) if self.null_tested.contains(&v) => self.element_or_null(p, loaded),
                    _ => loaded,
                }
            }
            InstKind::Offset { base, offset, indices, .. } => {
                self.address(state, *base, *offset, indices)
            }
            InstKind::Bin { op, lhs, rhs } => {
                let (a, b) = (self.value(state, *lhs), self.value(state, *rhs));
                self.arithmetic(*op, a, b)
            }
            InstKind::Cmp { pred, lhs, rhs } => {
                let (a, b) = (self.value(state, *lhs), self.value(state, *rhs));
                let compared = self.compare(*pred, a, b);
                let compared = self.pcs.simplify(&mut self.terms, state.pc, compared);
                match self.terms.has_addr(a) || self.terms.has_addr(b) {
                    true => self.without_impossible(state, compared),
                    false => compared,
                }
            }
            InstKind::Cast { op, value } => {
                let v = self.value(state, *value);
                match op {
                    CastOp::Trunc => self.terms.cast(Cast::Trunc, bits, v),
                    CastOp::SExt => self.terms.cast(Cast::SExt, bits, v),
                    CastOp::ZExt => self.terms.cast(Cast::ZExt, bits, v),
                    // Pointers are 64-bit integers here already.
                    CastOp::PtrToInt | CastOp::IntToPtr => {
                        let cast = if bits < 64 { Cast::Trunc } else { Cast::ZExt };
                        self.terms.cast(cast, bits, v)
                    }
                }
            }
            InstKind::Select { cond, then, otherwise } => {
                let c = self.value(state, *cond);
                let (a, b) = (self.value(state, *then), self.value(state, *otherwise));
                self.terms.ite(c, a, b)
            }
            InstKind::Extract { tuple, index } => {
                let t = self.value(state, *tuple);
                match self.terms.node(t) {
                    Node::Tuple(items) if (*index as usize) < items.len() => items[*index as usize],
                    _ => self.opaque(bits, What::Unknown, "", loc),
                }
            }
            InstKind::Insert { tuple, index, value } => {
                let (t, v) = (self.value(state, *tuple), self.value(state, *value));
                self.with_element(t, *index as usize, v, ty)
            }
            _ => match ty {
                Ty::Tuple(n) => {
                    let caught = self.is_landing_pad(self.current);
                    let what = if caught { What::Exception } else { What::Unknown };
                    let items = (0..n).map(|_| self.opaque(64, what, "", loc)).collect();
                    self.terms.tuple(items)
                }
                _ => self.opaque(bits, What::Unknown, "", loc),
            },
        }
    }

    /// A comparison of pointers without the alternatives in which pointers are equal that cannot be.
    pub(crate) fn without_impossible(&mut self, state: &State, t: Term) -> Term {
        let differ = |exec: &Self, atom: Term, _: bool| match *exec.terms.node(atom) {
            Node::Cmp { cmp: Cmp::Eq, lhs, rhs } => {
                let differ =
                    exec.is_out_of_reach(state, lhs, rhs) || exec.is_out_of_reach(state, rhs, lhs);
                differ.then_some(false)
            }
            _ => None,
        };
        self.with_atoms(t, true, Marks::ALL, &mut Decided::default(), &differ)
    }

    /// Whether `a` is an object that nobody was told of, and `b` somebody else's pointer; or whether `b` is
    /// a pointer from before the object was made.
    fn is_out_of_reach(&self, state: &State, a: Term, b: Term) -> bool {
        let (&Node::Addr { base, .. }, &Node::Sym(s)) = (self.terms.node(a), self.terms.node(b))
        else {
            return false;
        };
        if self.born.get(&base).is_some_and(|&born| s.0 < born) {
            return true;
        }
        matches!(self.kind(base), BaseKind::Heap(_))
            && state.fact(base, Slot::Escaped) == Terms::FALSE
            && !self.stored.contains_key(&base)
            && !matches!(&self.sym_kinds[s.0 as usize], SymKind::Opaque(o) if o.what == What::Result)
    }

    fn with_element(&mut self, tuple: Term, index: usize, value: Term, ty: Ty) -> Term {
        let mut items = match self.terms.node(tuple) {
            Node::Tuple(items) => items.to_vec(),
            _ => Vec::new(),
        };
        let len = if let Ty::Tuple(n) = ty { n as usize } else { index + 1 };
        while items.len() < len.max(index + 1) {
            items.push(self.opaque(64, What::Unknown, "", Loc::default()));
        }
        items[index] = value;
        self.terms.tuple(items)
    }

    /// How many bytes an array has that is a member of a struct, when the pointer is the address of
    /// one: other members are no elements of it.
    fn length_of_array(&self, pointer: ValueId) -> Option<i64> {
        let ValueKind::Inst(i) = self.function.values[pointer].kind else { return None };
        let InstKind::Offset { offset, indices, ty: Some(ty), .. } = &self.body.insts[i].kind
        else {
            return None;
        };
        let at = u64::try_from(*offset).ok().filter(|_| indices.is_empty())?;
        let length = self.module.array_member_size(*ty, at)?;
        i64::try_from(length).ok()
    }

    fn address(&mut self, state: &State, base: ValueId, offset: i64, indices: &[Index]) -> Term {
        let mut p = self.value(state, base);
        let length = self.length_of_array(base);
        let mut constant = offset;
        for index in indices {
            let i = self.value(state, index.value);
            match self.terms.as_signed(i) {
                Some(k) => constant = constant.wrapping_add(k.wrapping_mul(index.scale)),
                None => {
                    let stride = index.scale.unsigned_abs().clamp(1, 1 << 20) as u32;
                    let i = self.terms.cast(Cast::SExt, 64, i);
                    let scale = self.terms.int(64, index.scale as u64);
                    let scaled = self.terms.bin(Op::Mul, i, scale);
                    p = self.terms.index_within(p, stride, scaled, length);
                }
            }
        }
        self.terms.offset(p, constant)
    }

    fn arithmetic(&mut self, op: BinOp, a: Term, b: Term) -> Term {
        let op = match op {
            BinOp::Add => return self.add(a, b),
            BinOp::Sub => Op::Sub,
            BinOp::Mul => Op::Mul,
            BinOp::UDiv => Op::UDiv,
            BinOp::SDiv => Op::SDiv,
            BinOp::URem => Op::URem,
            BinOp::SRem => Op::SRem,
            BinOp::And => Op::And,
            BinOp::Or => Op::Or,
            BinOp::Xor => Op::Xor,
            BinOp::Shl => Op::Shl,
            BinOp::LShr => Op::LShr,
            BinOp::AShr => Op::AShr,
        };
        self.terms.bin(op, a, b)
    }

    /// A source variable gets a new value. Only pointers are followed.
    fn set_var(&mut self, state: &mut State, var: VarId, value: ValueId, loc: Loc) {
        if self.function.ty(value) != Ty::Ptr {
            return;
        }
        // On the way of an exception, the end of a scope is not what the reader looks for.
        let ended = self.function.values[value].kind == ValueKind::Undef;
        if ended && self.is_unwinding(state) {
            return;
        }
        let t = self.value(state, value);
        let base = self.base(BaseKind::Var(var));
        let cell = (base, Slot::At(0));
        if let Some(&old) = state.mem.get(&cell) {
            if old == t {
                return;
            }
            let at = self.place(loc);
            self.log_drop(state, Terms::TRUE, old, cell, at, DropKind::Overwritten);
        }
        let at = self.place(loc);
        self.written_at.insert(cell, at);
        state.mem.insert(cell, t);
    }

    /// The list's areas all lead to one object that holds every variadic argument.
    fn start_varargs(&mut self, state: &mut State, list: ValueId, loc: Loc) {
        let p = self.value(state, list);
        let base = self.base(BaseKind::VarArgs);
        let index = self.opaque(64, What::Unknown, "", loc);
        let area = self.terms.elem(base, 0, 8, index);
        let at = self.place(loc);
        for offset in [8, 16] {
            let field = self.terms.offset(p, offset);
            self.store(state, field, area, at);
        }
    }

    fn atomic(
        &mut self,
        state: &mut State,
        op: RmwOp,
        ptr: ValueId,
        value: ValueId,
        ty: Ty,
        loc: Loc,
    ) -> Term {
        let (p, v) = (self.value(state, ptr), self.value(state, value));
        let old = self.load(state, p, self.bits_of(ty), loc);
        let new = match op {
            RmwOp::Xchg => v,
            RmwOp::Add => self.add(old, v),
            RmwOp::Sub => self.terms.bin(Op::Sub, old, v),
            RmwOp::And => self.terms.bin(Op::And, old, v),
            RmwOp::Or => self.terms.bin(Op::Or, old, v),
            RmwOp::Other => self.opaque(self.bits_of(ty), What::Unknown, "", loc),
        };
        let at = self.place(loc);
        self.store(state, p, new, at);
        old
    }

    fn compare_exchange(
        &mut self,
        state: &mut State,
        ptr: ValueId,
        expected: ValueId,
        new: ValueId,
        loc: Loc,
    ) -> Term {
        let p = self.value(state, ptr);
        let (e, n) = (self.value(state, expected), self.value(state, new));
        let old = self.load(state, p, self.terms.bits(n), loc);
        let same = self.terms.eq(old, e);
        let after = self.terms.ite(same, n, old);
        let at = self.place(loc);
        self.store(state, p, after, at);
        self.terms.tuple(vec![old, same])
    }
}
