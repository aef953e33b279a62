//! Function bodies in the text form: variables, blocks, instructions, and which constants stand
//! inline (see the rule in the parent module).

use super::{write_flag, write_global_address, write_loc, write_opt, write_var};
use crate::keyword::Keyword;
use crate::{
    Arena, Block, Body, Callee, Function, Inst, InstId, InstKind, Pred, Terminator, Ty, Value,
    ValueId, ValueKind,
};
use rustc_hash::FxHashSet;
use std::fmt::{self, Display, Write};

/// Which constants of a function stand inline and which are declared.
pub(super) struct Constants {
    inline: Arena<ValueId, bool>,
    pub(super) declared: Vec<ValueId>,
}

impl Constants {
    pub(super) fn of(function: &Function) -> Self {
        let mut inline: Arena<ValueId, bool> = function.values.values().map(|_| false).collect();
        let uses = first_uses(function);
        for id in longest_increasing(&uses) {
            inline[id] = true;
        }
        let declared = function
            .values
            .iter()
            .filter(|(id, value)| is_constant(value.kind) && !inline[*id])
            .map(|(id, _)| id)
            .collect();
        Self { inline, declared }
    }
}

/// Constants in the order in which the text would first name them; of several ids for one constant
/// only the first is here, since inline text cannot tell them apart.
fn first_uses(function: &Function) -> Vec<ValueId> {
    let mut seen: FxHashSet<(ValueKind, Ty)> = FxHashSet::default();
    let mut uses = Vec::new();
    let Some(body) = &function.body else { return uses };
    let mut visit = |id: ValueId| {
        if let Some(value) = function.values.get(id)
            && is_constant(value.kind)
            && seen.insert((value.kind, value.ty))
        {
            uses.push(id);
        }
    };
    for block in body.blocks.values() {
        for inst in block.insts.iter().filter_map(|i| body.insts.get(*i)) {
            for_each_text_operand(&inst.kind, &mut visit);
        }
        block.term.operand().into_iter().for_each(&mut visit);
    }
    uses
}

/// Operands in the order in which the text names them.
fn for_each_text_operand(kind: &InstKind, mut f: impl FnMut(ValueId)) {
    match kind {
        InstKind::Store { ptr, value } => [*value, *ptr].into_iter().for_each(f),
        _ => kind.for_each_operand(&mut f),
    }
}

/// The result type that the text leaves out.
pub(crate) fn default_result(kind: &InstKind) -> Ty {
    match kind {
        InstKind::Cmp { .. } => Ty::Int(1),
        _ => Ty::Ptr,
    }
}

/// A longest strictly increasing subsequence (patience sorting).
fn longest_increasing(ids: &[ValueId]) -> Vec<ValueId> {
    let mut tails: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(ids.len());
    for (i, id) in ids.iter().enumerate() {
        let at = tails.partition_point(|&t| ids[t] < *id);
        previous.push(at.checked_sub(1).map(|p| tails[p]));
        match tails.get_mut(at) {
            Some(tail) => *tail = i,
            None => tails.push(i),
        }
    }
    let mut chain = Vec::with_capacity(tails.len());
    let mut next = tails.last().copied();
    while let Some(i) = next {
        chain.push(ids[i]);
        next = previous[i];
    }
    chain.reverse();
    chain
}

fn is_constant(kind: ValueKind) -> bool {
    !matches!(kind, ValueKind::Param(_) | ValueKind::Inst(_))
}

pub(super) struct BodyPrinter<'a> {
    pub(super) function: &'a Function,
    pub(super) body: &'a Body,
    pub(super) constants: &'a Constants,
}

impl BodyPrinter<'_> {
    pub(super) fn write(&self, out: &mut String) -> fmt::Result {
        for (id, var) in self.body.vars.iter() {
            write!(out, "  var {id} ")?;
            write_var(out, var)?;
        }
        let in_order = self.layout().enumerate().all(|(i, inst)| i == inst.0 as usize);
        for (id, block) in self.body.blocks.iter() {
            writeln!(out, "{id}:")?;
            for &inst in &block.insts {
                self.write_inst(out, inst, in_order)?;
            }
            self.write_term(out, block)?;
        }
        Ok(())
    }

    fn layout(&self) -> impl Iterator<Item = InstId> {
        self.body.blocks.values().flat_map(|b| b.insts.iter().copied())
    }

    fn write_inst(&self, out: &mut String, id: InstId, in_order: bool) -> fmt::Result {
        let Some(inst) = self.body.insts.get(id) else {
            return writeln!(out, "  ; {id} does not exist");
        };
        write!(out, "  ")?;
        if !in_order {
            write!(out, "{id}: ")?;
        }
        self.write_result(out, inst)?;
        self.write_kind(out, &inst.kind)?;
        write_loc(out, inst.loc)?;
        writeln!(out)
    }

    fn write_result(&self, out: &mut String, inst: &Inst) -> fmt::Result {
        let Some(result) = inst.result else { return Ok(()) };
        let ty = self.function.values.get(result).map_or(Ty::Void, |v| v.ty);
        if ty == default_result(&inst.kind) {
            write!(out, "{result} = ")
        } else {
            write!(out, "{result}: {ty} = ")
        }
    }

    fn write_kind(&self, out: &mut String, kind: &InstKind) -> fmt::Result {
        match kind {
            InstKind::Alloca { size, count, var, ty } => {
                write!(out, "alloca {size}")?;
                if let Some(count) = count {
                    write!(out, " count ")?;
                    self.value(out, *count)?;
                }
                write_opt(out, *var)?;
                write_opt(out, *ty)
            }
            InstKind::Load { ptr, volatile } => {
                self.op(out, if *volatile { "load volatile" } else { "load" }, &[*ptr])
            }
            InstKind::Store { ptr, value } => {
                self.op(out, "store", &[*value])?;
                write!(out, " -> ")?;
                self.value(out, *ptr)
            }
            InstKind::Offset { base, offset, indices, ty } => {
                self.op(out, "offset", &[*base])?;
                write!(out, ", {offset}")?;
                for index in indices {
                    write!(out, ", ")?;
                    self.value(out, index.value)?;
                    write!(out, " * {}", index.scale)?;
                }
                ty.map_or(Ok(()), |ty| write!(out, ", {ty}"))
            }
            InstKind::Bin { op, lhs, rhs } => self.op(out, op.word(), &[*lhs, *rhs]),
            InstKind::Cmp { pred, lhs, rhs } => self.write_cmp(out, *pred, *lhs, *rhs),
            InstKind::Cast { op, value } => self.op(out, op.word(), &[*value]),
            InstKind::Select { cond, then, otherwise } => {
                self.op(out, "select", &[*cond, *then, *otherwise])
            }
            InstKind::Phi { incoming } => {
                write!(out, "phi")?;
                for (i, (block, value)) in incoming.iter().enumerate() {
                    write!(out, "{} [{block}: ", if i == 0 { "" } else { "," })?;
                    self.value(out, *value)?;
                    write!(out, "]")?;
                }
                Ok(())
            }
            InstKind::Call { callee, args, noreturn } => {
                self.write_call(out, *callee, args)?;
                write_flag(out, *noreturn, "noreturn")
            }
            _ => self.write_rare_kind(out, kind),
        }
    }

    fn write_rare_kind(&self, out: &mut String, kind: &InstKind) -> fmt::Result {
        match kind {
            InstKind::MemCopy { dst, src, len } => self.op(out, "memcpy", &[*dst, *src, *len]),
            InstKind::MemSet { dst, byte, len } => self.op(out, "memset", &[*dst, *byte, *len]),
            InstKind::Extract { tuple, index } => {
                self.op(out, "extract", &[*tuple])?;
                write!(out, ", {index}")
            }
            InstKind::Insert { tuple, index, value } => {
                self.op(out, "insert", &[*tuple])?;
                write!(out, ", {index}, ")?;
                self.value(out, *value)
            }
            InstKind::AtomicRmw { op, ptr, value } => {
                write!(out, "rmw ")?;
                self.op(out, op.word(), &[*ptr, *value])
            }
            InstKind::CmpXchg { ptr, expected, new } => {
                self.op(out, "cmpxchg", &[*ptr, *expected, *new])
            }
            InstKind::VaStart { list } => self.op(out, "va_start", &[*list]),
            InstKind::VaCopy { dst, src } => self.op(out, "va_copy", &[*dst, *src]),
            InstKind::VarSet { var, value } => {
                write!(out, "varset {var}, ")?;
                self.value(out, *value)
            }
            InstKind::ScopeEnd { slot } => self.op(out, "scope_end", &[*slot]),
            InstKind::Opaque { operands } => {
                write!(out, "opaque")?;
                self.list(out, operands)
            }
            // `write_kind` prints every other instruction itself.
            _ => write!(out, "?"),
        }
    }

    fn write_cmp(&self, out: &mut String, pred: Pred, lhs: ValueId, rhs: ValueId) -> fmt::Result {
        write!(out, "cmp ")?;
        self.op(out, pred.word(), &[lhs, rhs])
    }

    fn write_call(&self, out: &mut String, callee: Callee, args: &[ValueId]) -> fmt::Result {
        write!(out, "call ")?;
        match callee {
            Callee::Direct(f) => write!(out, "{f}")?,
            Callee::Indirect(v) => self.value(out, v)?,
            Callee::Asm => write!(out, "asm")?,
        }
        self.list(out, args)
    }

    fn write_term(&self, out: &mut String, block: &Block) -> fmt::Result {
        write!(out, "  ")?;
        match &block.term {
            Terminator::Jump(to) => write!(out, "jump {to}")?,
            Terminator::Branch { cond, then, otherwise } => {
                self.op(out, "br", &[*cond])?;
                write!(out, ", {then}, {otherwise}")?;
            }
            Terminator::Switch { value, cases, default } => {
                self.op(out, "switch", &[*value])?;
                write!(out, ", {default} [")?;
                for (i, (case, to)) in cases.iter().enumerate() {
                    write!(out, "{}{case}: {to}", if i == 0 { "" } else { ", " })?;
                }
                write!(out, "]")?;
            }
            Terminator::Return(None) => write!(out, "ret")?,
            Terminator::Return(Some(value)) => self.op(out, "ret", &[*value])?,
            Terminator::Unreachable => write!(out, "unreachable")?,
            Terminator::Invoke { normal, unwind, .. } => write!(out, "invoke {normal}, {unwind}")?,
            Terminator::Resume => write!(out, "resume")?,
            Terminator::Indirect { targets } => {
                let targets: Vec<String> = targets.iter().map(|t| t.to_string()).collect();
                write!(out, "goto [{}]", targets.join(", "))?;
            }
        }
        write_loc(out, block.term_loc)?;
        writeln!(out)
    }

    /// `word a, b, c`
    fn op(&self, out: &mut String, word: &str, operands: &[ValueId]) -> fmt::Result {
        write!(out, "{word} ")?;
        self.commas(out, operands)
    }

    /// `(a, b, c)`
    fn list(&self, out: &mut String, operands: &[ValueId]) -> fmt::Result {
        write!(out, "(")?;
        self.commas(out, operands)?;
        write!(out, ")")
    }

    fn commas(&self, out: &mut String, operands: &[ValueId]) -> fmt::Result {
        for (i, operand) in operands.iter().enumerate() {
            if i > 0 {
                write!(out, ", ")?;
            }
            self.value(out, *operand)?;
        }
        Ok(())
    }

    fn value(&self, out: &mut String, id: ValueId) -> fmt::Result {
        match self.function.values.get(id) {
            Some(value) if self.constants.inline[id] => write_constant(out, *value),
            _ => write!(out, "{id}"),
        }
    }
}

pub(super) fn write_constant(out: &mut String, value: Value) -> fmt::Result {
    match (value.kind, value.ty) {
        (ValueKind::Int(n), Ty::Int(bits)) => write!(out, "i{bits} {}", Signed { n, bits }),
        (ValueKind::Int(n), ty) => write!(out, "{ty} {n}"),
        (ValueKind::Null, _) => write!(out, "null"),
        (ValueKind::Undef, ty) => write!(out, "undef {ty}"),
        (ValueKind::Global(g, offset), _) => write_global_address(out, g, offset),
        (ValueKind::Function(f), _) => write!(out, "@{f}"),
        (ValueKind::Param(_) | ValueKind::Inst(_), _) => write!(out, "?"),
    }
}

/// A constant as the signed number that most C code means by it.
struct Signed {
    n: u64,
    bits: u16,
}

impl Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = 1u64.checked_shl(u32::from(self.bits).wrapping_sub(1)).unwrap_or(0);
        if (2..=64).contains(&self.bits) && self.n & sign != 0 {
            let extended = self.n | !(sign | (sign - 1));
            write!(f, "{}", extended.cast_signed())
        } else {
            write!(f, "{}", self.n)
        }
    }
}
