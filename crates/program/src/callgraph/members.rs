//! Functions by the members of structs that hold them.
//!
//! In: the program. Out: for a pointer that was read from a member of function type, the functions that are ever put
//! into that member, of whatever struct of that type: by initialisers, and by stores of functions, of other members
//! and of parameters. A member that somebody gives something else, or whose address goes somewhere, is open and
//! says nothing. Tables of operations are told apart by this where points-to sets have grown together.

use super::signature::Candidates;
use crate::{FuncRef, Program, Target};
use leakproof_ir::{
    Callee, FuncId, Function, InitValue, Inst, InstKind, Linkage, Module, SourceType, TypeId,
    ValueId, ValueKind,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Values behind a choice are looked at so deep.
const MAX_CHOICES: usize = 16;

/// A member of function type: the innermost struct that has a name, its size, and the offset.
type Member<'a> = (&'a str, u64, u64);

/// Somewhere that functions are held.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Holder<'a> {
    Member(Member<'a>),
    Parameter(FuncRef, u32),
}

/// What a holder is given.
#[derive(Default)]
struct Given<'a> {
    functions: BTreeSet<Target>,
    from: Vec<Holder<'a>>,
    open: bool,
}

pub(super) struct Members<'a> {
    program: &'a Program,
    given: FxHashMap<Holder<'a>, Given<'a>>,
}

impl<'a> Members<'a> {
    pub fn collect(program: &'a Program, taken: &Candidates) -> Self {
        let mut members = Members { program, given: FxHashMap::default() };
        for (m, module) in program.modules().iter().enumerate() {
            members.read_initialisers(m as u32, module);
        }
        for &f in program.definition_list() {
            members.read_function(f, taken);
        }
        members.spread();
        members
    }

    /// The functions that a called pointer may be, by the member it was read from: no function where nobody puts one there,
    /// `None` when that is not known.
    pub fn functions(&self, f: FuncRef, pointer: ValueId) -> Option<Vec<Target>> {
        let given = self.given.get(&Holder::Member(self.member_of_pointer(f, pointer)?))?;
        (!given.open).then(|| given.functions.iter().copied().collect())
    }

    /// The functions that are put into the other members of the struct that a called pointer was read from.
    pub fn functions_of_others(&self, f: FuncRef, pointer: ValueId) -> BTreeSet<Target> {
        let Some((name, size, own)) = self.member_of_pointer(f, pointer) else {
            return BTreeSet::new();
        };
        let is_other = |holder: &Holder<'_>| matches!(*holder, Holder::Member((n, s, o)) if (n, s) == (name, size) && o != own);
        let others = self.given.iter().filter(|(holder, _)| is_other(holder));
        others.flat_map(|(_, given)| given.functions.iter().copied()).collect()
    }

    /// The member that a called pointer was read from.
    fn member_of_pointer(&self, f: FuncRef, pointer: ValueId) -> Option<Member<'a>> {
        match inst_of(self.program.function(f), pointer)?.kind {
            InstKind::Load { ptr, .. } => self.member_at(f, ptr),
            _ => None,
        }
    }

    fn read_initialisers(&mut self, m: u32, module: &'a Module) {
        for global in module.globals.values() {
            let Some(ty) = global.ty else { continue };
            for entry in global.init.iter().flatten() {
                let InitValue::Function(func) = entry.value else { continue };
                if let Some(member) = member_of(module, ty, entry.offset) {
                    let targets = self.program.resolve_all(m, func).iter().copied();
                    self.at(Holder::Member(member)).functions.extend(targets);
                }
            }
        }
    }

    fn read_function(&mut self, f: FuncRef, taken: &Candidates) {
        let function = self.program.function(f);
        let Some(body) = &function.body else { return };
        self.read_parameters(f, function, taken);
        for (_, inst) in body.insts.iter() {
            match &inst.kind {
                InstKind::Store { ptr, value } => {
                    if let Some(member) = self.member_at(f, *ptr) {
                        self.give(f, Holder::Member(member), *value);
                    }
                    self.open_if_address(f, *value);
                }
                InstKind::Load { .. } | InstKind::Offset { .. } => {}
                InstKind::Call { callee: Callee::Direct(func), args, .. } => {
                    self.read_call(f, *func, args);
                    args.iter().for_each(|&a| self.open_if_address(f, a));
                }
                kind => self.open_operands(f, kind),
            }
        }
    }

    /// Who may be called from outside, or through a pointer, may be given anything.
    fn read_parameters(&mut self, f: FuncRef, function: &Function, taken: &Candidates) {
        let exported = function.linkage != Linkage::Internal && !self.program.is_closed(f.module);
        if exported || taken.contains(f) {
            for n in 0..function.params.len() as u32 {
                self.at(Holder::Parameter(f, n)).open = true;
            }
        }
    }

    fn read_call(&mut self, f: FuncRef, callee: FuncId, args: &[ValueId]) {
        for target in self.program.resolve_all(f.module, callee) {
            let Some(g) = target.defined() else { continue };
            let module = self.program.module(g.module);
            for (n, param) in self.program.function(g).params.iter().enumerate() {
                let holds = param.ty.is_some_and(|ty| is_function_pointer(module, ty));
                if let Some(&arg) = args.get(n).filter(|_| holds) {
                    self.give(f, Holder::Parameter(g, n as u32), arg);
                }
            }
        }
    }

    fn open_operands(&mut self, f: FuncRef, kind: &InstKind) {
        let mut operands = Vec::new();
        kind.for_each_operand(|v| operands.push(v));
        operands.into_iter().for_each(|v| self.open_if_address(f, v));
    }

    /// The address of a member is used otherwise than to read or write it: somebody else may write there.
    fn open_if_address(&mut self, f: FuncRef, v: ValueId) {
        let function = self.program.function(f);
        let is_member =
            inst_of(function, v).is_some_and(|i| matches!(i.kind, InstKind::Offset { .. }));
        if is_member && let Some(member) = self.member_at(f, v) {
            self.at(Holder::Member(member)).open = true;
        }
    }

    /// Gives a holder what a value is.
    fn give(&mut self, f: FuncRef, to: Holder<'a>, value: ValueId) {
        let function = self.program.function(f);
        let mut work = vec![value];
        let mut seen = FxHashSet::default();
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            if seen.len() > MAX_CHOICES {
                self.at(to).open = true;
                return;
            }
            match function.values[v].kind {
                ValueKind::Function(func) => {
                    let targets = self.program.resolve_all(f.module, func).iter().copied();
                    self.at(to).functions.extend(targets);
                }
                ValueKind::Null | ValueKind::Int(0) | ValueKind::Undef => {
                    self.at(to);
                }
                ValueKind::Param(n) => self.at(to).from.push(Holder::Parameter(f, n)),
                _ => match inst_of(function, v).map(|i| &i.kind) {
                    Some(InstKind::Phi { incoming }) => work.extend(incoming.iter().map(|i| i.1)),
                    Some(InstKind::Select { then, otherwise, .. }) => {
                        work.extend([*then, *otherwise])
                    }
                    Some(InstKind::Load { ptr, .. }) => match self.member_at(f, *ptr) {
                        Some(member) => self.at(to).from.push(Holder::Member(member)),
                        None => self.at(to).open = true,
                    },
                    _ => self.at(to).open = true,
                },
            }
        }
    }

    fn at(&mut self, holder: Holder<'a>) -> &mut Given<'a> {
        self.given.entry(holder).or_default()
    }

    /// The member that an address is of.
    fn member_at(&self, f: FuncRef, address: ValueId) -> Option<Member<'a>> {
        let function = self.program.function(f);
        let module = self.program.module(f.module);
        if let ValueKind::Global(g, offset) = function.values[address].kind {
            return member_of(module, module.globals[g].ty?, u64::try_from(offset).ok()?);
        }
        match inst_of(function, address)?.kind {
            InstKind::Offset { offset, ty: Some(ty), .. } => {
                member_of(module, ty, u64::try_from(offset).ok()?)
            }
            _ => None,
        }
    }

    /// Carries what holders have on to those that are given it.
    fn spread(&mut self) {
        let mut takers: FxHashMap<Holder<'a>, Vec<Holder<'a>>> = FxHashMap::default();
        for (&to, given) in &self.given {
            for &from in &given.from {
                takers.entry(from).or_default().push(to);
            }
        }
        let mut work: Vec<Holder<'a>> = takers.keys().copied().collect();
        while let Some(from) = work.pop() {
            let (functions, open) = match self.given.get(&from) {
                Some(given) => (given.functions.clone(), given.open),
                None => Default::default(),
            };
            for &to in takers.get(&from).into_iter().flatten() {
                let given = self.at(to);
                let before = (given.functions.len(), given.open);
                given.functions.extend(functions.iter().copied());
                given.open |= open;
                if (given.functions.len(), given.open) != before {
                    work.push(to);
                }
            }
        }
    }
}

fn inst_of(function: &Function, v: ValueId) -> Option<&Inst> {
    match function.values[v].kind {
        ValueKind::Inst(i) => function.body.as_ref().map(|b| &b.insts[i]),
        _ => None,
    }
}

/// The member of function type at an offset of a type. What shares its bytes with others, as in a union, is none.
fn member_of(module: &Module, ty: TypeId, offset: u64) -> Option<Member<'_>> {
    let (mut ty, mut rest) = (ty, offset);
    let mut inner: Option<Member<'_>> = None;
    loop {
        match &module.types[ty] {
            SourceType::Const { of } => ty = *of,
            SourceType::Array { of, .. } => {
                rest = rest.checked_rem(module.size_of(*of)?)?;
                ty = *of;
            }
            SourceType::Struct { name, size, fields, union: false } => {
                inner = match (name.is_empty(), inner) {
                    (true, outer) => outer,
                    (false, _) => Some((name.as_str(), *size, rest)),
                };
                let field = fields.iter().rev().find(|field| field.offset <= rest)?;
                rest -= field.offset;
                ty = field.ty;
            }
            _ => return inner.filter(|_| rest == 0 && is_function_pointer(module, ty)),
        }
    }
}

fn is_function_pointer(module: &Module, mut ty: TypeId) -> bool {
    while let SourceType::Const { of } = &module.types[ty] {
        ty = *of;
    }
    let SourceType::Pointer { to } = &module.types[ty] else { return false };
    matches!(module.types[*to], SourceType::Function { .. })
}
