//! Function bodies of the text form: value numbering, variables, blocks and instructions.
//!
//! Invariant: every operand is a value that the function defines, or an inline constant that got
//! an id here.

use super::cursor::{Cursor, id_number};
use super::lex::Tok;
use super::{Names, Result, address};
use crate::print::default_result;
use crate::{
    Arena, BinOp, Block, BlockId, Body, Callee, CastOp, Entity, Index, Inst, InstId, InstKind,
    Pred, RmwOp, Terminator, Ty, Value, ValueId, ValueKind, Var, VarId,
};
use rustc_hash::FxHashMap;

/// How far hand-written value numbers may run ahead of the number of tokens.
const SLACK: usize = 4096;

/// The values of one function while it is being read.
pub(super) struct Values {
    /// Ids that the text names as a definition.
    named: Vec<bool>,
    slots: Vec<Option<Value>>,
    inline: FxHashMap<(ValueKind, Ty), ValueId>,
    next_free: usize,
}

impl Values {
    /// Looks ahead over the tokens of the function that begins here for the ids it defines.
    pub(super) fn of_function(cursor: &Cursor<'_>) -> Result<Self> {
        let mut named = Vec::new();
        let mut ahead = 0;
        loop {
            let (tok, next) = (cursor.peek_at(ahead), cursor.peek_at(ahead + 1));
            match tok {
                Tok::End | Tok::Punct('}') => break,
                Tok::Word("func") if matches!(next, Tok::Word(_)) => break,
                Tok::Word(w) if matches!(next, Tok::Punct(':' | '=')) => {
                    if let Some(n) = id_number(w, "v") {
                        mark(&mut named, n as usize, cursor, ahead)?;
                    }
                }
                _ => {}
            }
            ahead += 1;
        }
        let slots = vec![None; named.len()];
        Ok(Self { named, slots, inline: FxHashMap::default(), next_free: 0 })
    }

    pub(super) fn define(
        &mut self,
        cursor: &Cursor<'_>,
        at: usize,
        id: ValueId,
        value: Value,
    ) -> Result<()> {
        match self.slots.get_mut(id.index()) {
            Some(slot @ None) => {
                *slot = Some(value);
                Ok(())
            }
            _ => Err(cursor.error_at(at, format!("{id} is defined twice"))),
        }
    }

    /// The id of an inline constant.
    fn constant(&mut self, kind: ValueKind, ty: Ty) -> ValueId {
        if let Some(id) = self.inline.get(&(kind, ty)) {
            return *id;
        }
        while self.named.get(self.next_free).copied().unwrap_or(false) {
            self.next_free += 1;
        }
        let id = ValueId::new(self.next_free);
        self.next_free += 1;
        if self.slots.len() < self.next_free {
            self.slots.resize(self.next_free, None);
        }
        self.slots[id.index()] = Some(Value { kind, ty });
        self.inline.insert((kind, ty), id);
        id
    }

    fn is_named(&self, id: ValueId) -> bool {
        self.named.get(id.index()).copied().unwrap_or(false)
    }

    /// All values; gaps in hand-written numbering become undefined values that nothing uses.
    pub(super) fn finish(self, cursor: &Cursor<'_>) -> Result<Arena<ValueId, Value>> {
        let undefined =
            self.named.iter().zip(&self.slots).position(|(named, s)| *named && s.is_none());
        if let Some(n) = undefined {
            return Err(cursor.error(format!("v{n} is named like a definition but never defined")));
        }
        let gap = Value { kind: ValueKind::Undef, ty: Ty::Ptr };
        Ok(self.slots.into_iter().map(|slot| slot.unwrap_or(gap)).collect())
    }
}

fn mark(named: &mut Vec<bool>, n: usize, cursor: &Cursor<'_>, ahead: usize) -> Result<()> {
    if n > ahead + SLACK {
        let at = cursor.position() + ahead;
        return Err(cursor.error_at(at, format!("value number {n} is too far ahead")));
    }
    if named.len() <= n {
        named.resize(n + 1, false);
    }
    named[n] = true;
    Ok(())
}

/// Reads `{ ... }` if it stands here: `None` for a declaration.
pub(super) fn parse(
    cursor: &mut Cursor<'_>,
    names: &Names,
    values: &mut Values,
) -> Result<Option<Body>> {
    if !cursor.eat('{') {
        return Ok(None);
    }
    let mut parser =
        BodyParser { c: cursor, names, values, body: Body::default(), ids: Vec::new() };
    parser.constants()?;
    if parser.c.eat_word("declaration") {
        parser.c.expect('}')?;
        return Ok(None);
    }
    parser.vars()?;
    while !parser.c.eat('}') {
        parser.block()?;
    }
    parser.finish().map(Some)
}

struct BodyParser<'p, 'a> {
    c: &'p mut Cursor<'a>,
    names: &'p Names,
    values: &'p mut Values,
    body: Body,
    /// Explicit instruction ids (`i7:`), in order of the text; empty when the text has none.
    ids: Vec<InstId>,
}

impl BodyParser<'_, '_> {
    fn constants(&mut self) -> Result<()> {
        while self.c.eat_word("const") {
            let at = self.c.position();
            let id = self.c.id("v", "a value")?;
            self.c.expect('=')?;
            let Some((kind, ty)) = self.opt_constant()? else {
                return Err(self.c.expected("a constant"));
            };
            self.values.define(self.c, at, id, Value { kind, ty })?;
        }
        Ok(())
    }

    fn vars(&mut self) -> Result<()> {
        while self.c.eat_word("var") {
            self.c.next_id::<VarId>(self.body.vars.next_id(), "var")?;
            let name = self.c.string("a variable's name")?;
            let ty = self.c.opt_id("t");
            let param = self.c.eat_word("param");
            let param = param.then(|| self.c.number("a parameter number")).transpose()?;
            let loc = self.c.loc()?;
            self.body.vars.push(Var { name, ty, loc, param });
        }
        Ok(())
    }

    fn block(&mut self) -> Result<()> {
        self.c.next_id::<BlockId>(self.body.blocks.next_id(), "bb")?;
        self.c.expect(':')?;
        let mut insts = Vec::new();
        loop {
            if let Some(term) = self.terminator(insts.last().copied())? {
                let term_loc = self.c.loc()?;
                self.body.blocks.push(Block { insts, term, term_loc });
                return Ok(());
            }
            insts.push(self.inst()?);
        }
    }

    fn inst(&mut self) -> Result<InstId> {
        self.inst_id()?;
        let at = self.c.position();
        let result = match self.c.word().and_then(|w| id_number(w, "v")) {
            Some(_) => Some(self.result()?),
            None => None,
        };
        let kind = self.kind()?;
        let loc = self.c.loc()?;
        let id = self.body.insts.next_id();
        if let Some((value, ty)) = result {
            let ty = ty.unwrap_or_else(|| default_result(&kind));
            self.values.define(self.c, at, value, Value { kind: ValueKind::Inst(id), ty })?;
        }
        Ok(self.body.insts.push(Inst { kind, result: result.map(|(v, _)| v), loc }))
    }

    /// `i7:`, on all instructions of a function or on none.
    fn inst_id(&mut self) -> Result<()> {
        let explicit = *self.c.peek_at(1) == Tok::Punct(':');
        let id = if explicit { self.c.opt_id("i") } else { None };
        if let Some(id) = id {
            self.c.advance();
            self.ids.push(id);
        }
        if self.ids.is_empty() || self.ids.len() == self.body.insts.len() + 1 {
            return Ok(());
        }
        Err(self.c.expected("instruction ids like `i0:` on all instructions or none"))
    }

    fn result(&mut self) -> Result<(ValueId, Option<Ty>)> {
        let value = self.c.id("v", "a value")?;
        let ty = self.c.eat(':').then(|| self.c.ty()).transpose()?;
        self.c.expect('=')?;
        Ok((value, ty))
    }

    fn kind(&mut self) -> Result<InstKind> {
        if let Some(op) = self.c.keyword::<BinOp>() {
            let [lhs, rhs] = self.operands()?;
            return Ok(InstKind::Bin { op, lhs, rhs });
        }
        if let Some(op) = self.c.keyword::<CastOp>() {
            return Ok(InstKind::Cast { op, value: self.operand()? });
        }
        let Some(word) = self.c.word() else { return Err(self.c.expected("an instruction")) };
        let start = self.c.position();
        self.c.advance();
        match word {
            "alloca" => self.alloca(),
            "load" => {
                let volatile = self.c.word() == Some("volatile");
                if volatile {
                    self.c.advance();
                }
                Ok(InstKind::Load { ptr: self.operand()?, volatile })
            }
            "store" => self.store(),
            "offset" => self.offset(),
            "cmp" => {
                let pred = self.c.expect_keyword::<Pred>("a predicate like `eq` or `slt`")?;
                let [lhs, rhs] = self.operands()?;
                Ok(InstKind::Cmp { pred, lhs, rhs })
            }
            "select" => {
                let [cond, then, otherwise] = self.operands()?;
                Ok(InstKind::Select { cond, then, otherwise })
            }
            "phi" => self.phi(),
            "call" => self.call(),
            _ => self.rare_kind(word).unwrap_or_else(|| {
                let what = format!("expected an instruction, found `{word}`");
                Err(self.c.error_at(start, what))
            }),
        }
    }

    fn rare_kind(&mut self, word: &str) -> Option<Result<InstKind>> {
        Some(match word {
            "memcpy" => self.operands().map(|[dst, src, len]| InstKind::MemCopy { dst, src, len }),
            "memset" => self.operands().map(|[dst, byte, len]| InstKind::MemSet { dst, byte, len }),
            "cmpxchg" => {
                self.operands().map(|[ptr, expected, new]| InstKind::CmpXchg { ptr, expected, new })
            }
            "extract" => self.extract(),
            "insert" => self.insert(),
            "rmw" => self.rmw(),
            "va_start" => self.operand().map(|list| InstKind::VaStart { list }),
            "va_copy" => self.operands().map(|[dst, src]| InstKind::VaCopy { dst, src }),
            "varset" => self.varset(),
            "scope_end" => self.operand().map(|slot| InstKind::ScopeEnd { slot }),
            "opaque" => {
                self.operand_list().map(|o| InstKind::Opaque { operands: o.into_iter().collect() })
            }
            _ => return None,
        })
    }

    fn alloca(&mut self) -> Result<InstKind> {
        let size = self.c.number("a size in bytes")?;
        let count = self.c.eat_word("count").then(|| self.operand()).transpose()?;
        Ok(InstKind::Alloca { size, count, var: self.c.opt_id("var"), ty: self.c.opt_id("t") })
    }

    fn store(&mut self) -> Result<InstKind> {
        let value = self.operand()?;
        if !self.c.eat_tok(&Tok::Arrow) {
            return Err(self.c.expected("`->`"));
        }
        Ok(InstKind::Store { ptr: self.operand()?, value })
    }

    fn offset(&mut self) -> Result<InstKind> {
        let base = self.operand()?;
        self.c.expect(',')?;
        let offset = self.c.number("an offset in bytes")?;
        let mut indices = smallvec::SmallVec::new();
        let mut ty = None;
        while ty.is_none() && self.c.eat(',') {
            ty = self.c.opt_id("t");
            if ty.is_none() {
                let value = self.operand()?;
                self.c.expect('*')?;
                indices.push(Index { value, scale: self.c.number("a scale in bytes")? });
            }
        }
        Ok(InstKind::Offset { base, offset, indices, ty })
    }

    fn phi(&mut self) -> Result<InstKind> {
        let mut incoming = Vec::new();
        if !self.c.is_punct('[') {
            return Ok(InstKind::Phi { incoming });
        }
        loop {
            self.c.expect('[')?;
            let block = self.c.id("bb", "a block")?;
            self.c.expect(':')?;
            incoming.push((block, self.operand()?));
            self.c.expect(']')?;
            if !self.c.eat(',') {
                return Ok(InstKind::Phi { incoming });
            }
        }
    }

    fn call(&mut self) -> Result<InstKind> {
        let callee = self.callee()?;
        let args = self.operand_list()?.into_iter().collect();
        Ok(InstKind::Call { callee, args, noreturn: self.c.eat_word("noreturn") })
    }

    fn callee(&mut self) -> Result<Callee> {
        if self.c.eat_word("asm") {
            return Ok(Callee::Asm);
        }
        if let Some(f) = self.c.opt_id("f") {
            return Ok(Callee::Direct(f));
        }
        let by_name = match self.c.peek() {
            Tok::Str(name) => Some(self.names.functions.get(name).copied()),
            _ => None,
        };
        match by_name {
            Some(Some(f)) => {
                self.c.advance();
                Ok(Callee::Direct(f))
            }
            Some(None) => Err(self.c.expected("the name of a function of this unit")),
            None => self.operand().map(Callee::Indirect),
        }
    }

    fn extract(&mut self) -> Result<InstKind> {
        let tuple = self.operand()?;
        self.c.expect(',')?;
        Ok(InstKind::Extract { tuple, index: self.c.number("an element index")? })
    }

    fn insert(&mut self) -> Result<InstKind> {
        let tuple = self.operand()?;
        self.c.expect(',')?;
        let index = self.c.number("an element index")?;
        self.c.expect(',')?;
        Ok(InstKind::Insert { tuple, index, value: self.operand()? })
    }

    fn rmw(&mut self) -> Result<InstKind> {
        let op = self.c.expect_keyword::<RmwOp>("an operation like `add` or `xchg`")?;
        let [ptr, value] = self.operands()?;
        Ok(InstKind::AtomicRmw { op, ptr, value })
    }

    fn varset(&mut self) -> Result<InstKind> {
        let var = self.c.id("var", "a variable")?;
        self.c.eat(',');
        Ok(InstKind::VarSet { var, value: self.operand()? })
    }

    fn terminator(&mut self, last: Option<InstId>) -> Result<Option<Terminator>> {
        let Some(word) = self.c.word() else { return Ok(None) };
        if !matches!(
            word,
            "jump" | "br" | "switch" | "ret" | "unreachable" | "invoke" | "resume" | "goto"
        ) {
            return Ok(None);
        }
        self.c.advance();
        Ok(Some(match word {
            "jump" => Terminator::Jump(self.block_id()?),
            "br" => {
                let cond = self.operand()?;
                self.c.expect(',')?;
                let [then, otherwise] = self.two_blocks()?;
                Terminator::Branch { cond, then, otherwise }
            }
            "switch" => self.switch()?,
            "ret" => Terminator::Return(self.opt_operand()?),
            "unreachable" => Terminator::Unreachable,
            "invoke" => {
                let call = last.ok_or_else(|| self.c.error("expected a call before `invoke`"))?;
                let [normal, unwind] = self.two_blocks()?;
                Terminator::Invoke { call, normal, unwind }
            }
            "resume" => Terminator::Resume,
            _ => self.goto()?,
        }))
    }

    fn switch(&mut self) -> Result<Terminator> {
        let value = self.operand()?;
        self.c.expect(',')?;
        let default = self.block_id()?;
        let mut cases = Vec::new();
        self.c.expect('[')?;
        self.c.list(']', |c| {
            let case = c.number("a case value")?;
            c.expect(':')?;
            cases.push((case, c.id("bb", "a block")?));
            Ok(())
        })?;
        Ok(Terminator::Switch { value, cases, default })
    }

    fn goto(&mut self) -> Result<Terminator> {
        let mut targets = Vec::new();
        self.c.expect('[')?;
        self.c.list(']', |c| {
            targets.push(c.id("bb", "a block")?);
            Ok(())
        })?;
        Ok(Terminator::Indirect { targets })
    }

    fn block_id(&mut self) -> Result<BlockId> {
        self.c.id("bb", "a block")
    }

    fn two_blocks(&mut self) -> Result<[BlockId; 2]> {
        let first = self.block_id()?;
        self.c.expect(',')?;
        Ok([first, self.block_id()?])
    }

    /// `(a, b, c)`
    fn operand_list(&mut self) -> Result<Vec<ValueId>> {
        let mut operands = Vec::new();
        self.c.expect('(')?;
        if self.c.eat(')') {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand()?);
            if self.c.eat(')') {
                return Ok(operands);
            }
            if !self.c.eat(',') {
                return Err(self.c.expected("`,` or `)`"));
            }
        }
    }

    /// `a, b, c`
    fn operands<const N: usize>(&mut self) -> Result<[ValueId; N]> {
        let mut operands = [ValueId(0); N];
        for (i, operand) in operands.iter_mut().enumerate() {
            if i > 0 {
                self.c.expect(',')?;
            }
            *operand = self.operand()?;
        }
        Ok(operands)
    }

    fn operand(&mut self) -> Result<ValueId> {
        let found = self.opt_operand()?;
        found.ok_or_else(|| self.c.expected("a value like `v0`, `null`, `i32 5` or `@g0`"))
    }

    fn opt_operand(&mut self) -> Result<Option<ValueId>> {
        if let Some(id) = self.c.opt_id("v") {
            if self.values.is_named(id) {
                return Ok(Some(id));
            }
            let at = self.c.position().saturating_sub(1);
            return Err(self.c.error_at(at, format!("{id} is not defined in this function")));
        }
        let constant = self.opt_constant()?;
        Ok(constant.map(|(kind, ty)| self.values.constant(kind, ty)))
    }

    fn opt_constant(&mut self) -> Result<Option<(ValueKind, Ty)>> {
        if self.c.eat_word("null") {
            return Ok(Some((ValueKind::Null, Ty::Ptr)));
        }
        if self.c.eat_word("undef") {
            return Ok(Some((ValueKind::Undef, self.c.opt_ty().unwrap_or(Ty::Ptr))));
        }
        if self.c.is_punct('@') && !matches!(self.c.peek_at(1), Tok::Int(_)) {
            return Ok(Some((address(self.c, self.names)?.kind(), Ty::Ptr)));
        }
        let Some(ty) = self.c.opt_ty() else { return Ok(None) };
        let value: i128 = self.c.number("a number")?;
        Ok(Some((ValueKind::Int(self.truncated(value, ty)?), ty)))
    }

    /// A number of the text as the bits of an integer of that type.
    fn truncated(&self, value: i128, ty: Ty) -> Result<u64> {
        let bits = match ty {
            Ty::Int(bits) => u32::from(bits.min(64)),
            _ => 64,
        };
        let limit = 1i128 << bits;
        if value >= limit || value < -(limit / 2) {
            return Err(self.c.error(format!("the number {value} does not fit {ty}")));
        }
        Ok(u64::try_from(value & (limit - 1)).unwrap_or(0))
    }

    fn finish(mut self) -> Result<Body> {
        if !self.ids.is_empty() {
            self.reorder()?;
        }
        Ok(self.body)
    }

    /// Puts instructions where their explicit ids say.
    fn reorder(&mut self) -> Result<()> {
        let mut order: Vec<Option<Inst>> = vec![None; self.ids.len()];
        let insts = std::mem::take(&mut self.body.insts);
        for ((_, inst), id) in insts.iter().zip(&self.ids) {
            match order.get_mut(id.index()) {
                Some(slot @ None) => *slot = Some(inst.clone()),
                _ => return Err(self.c.error(format!("{id} is out of range or stands twice"))),
            }
        }
        self.body.insts = order.into_iter().flatten().collect();
        let new_id = |old: InstId| self.ids[old.index()];
        for (_, block) in self.body.blocks.iter_mut() {
            block.insts.iter_mut().for_each(|i| *i = new_id(*i));
            if let Terminator::Invoke { call, .. } = &mut block.term {
                *call = new_id(*call);
            }
        }
        for slot in self.values.slots.iter_mut().flatten() {
            if let ValueKind::Inst(i) = &mut slot.kind {
                *i = new_id(*i);
            }
        }
        Ok(())
    }
}
