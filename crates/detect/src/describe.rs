//! Names for readers: variables, access paths, conditions, positions.

use leakproof_findings::{AllocSite, Event, Location, PathStep};
use leakproof_guard::{Base, Cast, Cmp, Node, Op, Term, sign_extend};
use leakproof_ir::{InstKind, Module, SourceType, TypeId};
use leakproof_program::Program;
use leakproof_summary::{BaseKind, Exec, Place, Site, Slot, SymKind, What};

pub struct Describe<'a> {
    program: &'a Program,
}

/// A name together with the source type of what it names.
struct Named {
    text: String,
    ty: Option<TypeId>,
    /// Whether `text` is an object (fields with `.`) rather than a pointer (fields with `->`).
    object: bool,
}

impl<'a> Describe<'a> {
    pub fn new(program: &'a Program) -> Self {
        Self { program }
    }

    pub fn location(&self, at: Place) -> Location {
        let module = self.program.module(at.func.module);
        Location {
            file: module.file_name(at.loc).to_owned(),
            line: at.loc.line,
            column: at.loc.column,
            function: self.program.function(at.func).source_name.clone(),
        }
    }

    pub fn site(&self, site: &Site) -> AllocSite {
        let l = self.location(site.at);
        AllocSite {
            file: l.file,
            line: l.line,
            column: l.column,
            function: l.function,
            callee: site.callee.to_string(),
        }
    }

    pub fn step(&self, at: Place, event: Event, note: String) -> PathStep {
        let l = self.location(at);
        PathStep { file: l.file, line: l.line, column: l.column, function: l.function, event, note }
    }

    /// The name of a cell: `p`, `queue.buf`, `list->head`; empty when it has none.
    pub fn cell(&self, exec: &Exec<'_>, cell: (Base, Slot)) -> String {
        let (base, slot) = cell;
        let named = match exec.kind(base) {
            BaseKind::Heap(id) => {
                // Named through a variable that holds the owner, when there is one.
                return self.through_holder(exec, exec.objects[id.0 as usize].base, slot);
            }
            _ => self.variable_pointing_to(exec, base).or_else(|| self.base(exec, base, 0)),
        };
        named.map(|n| self.with_field(exec, n, slot).text).unwrap_or_default()
    }

    /// The variable that points to a struct which the function was given or found somewhere: `entry` says more
    /// than `table->buckets[]`.
    fn variable_pointing_to(&self, exec: &Exec<'_>, base: Base) -> Option<Named> {
        let variable = exec.body.variable_of(exec.pointer_to_planted(base)?)?;
        let ty = self.pointee_type(exec, variable.ty);
        Some(Named { text: variable.name.clone(), ty, object: false })
    }

    fn through_holder(&self, exec: &Exec<'_>, owner: Base, slot: Slot) -> String {
        let Some((base, at, start)) = nearest_holder(exec, owner, slot) else {
            return String::new();
        };
        let Some(named) = self.base(exec, base, 0) else { return String::new() };
        let pointer = self.with_field(exec, named, at);
        let pointee = Named { ty: self.pointee_type(exec, pointer.ty), object: false, ..pointer };
        self.with_field(exec, pointee, from(start, slot)).text
    }

    fn module<'e>(&self, exec: &'e Exec<'_>) -> &'e Module {
        exec.module
    }

    fn base(&self, exec: &Exec<'_>, base: Base, depth: u32) -> Option<Named> {
        match exec.kind(base) {
            BaseKind::Var(v) => {
                let var = &exec.body.vars[v];
                Some(Named { text: var.name.clone(), ty: var.ty, object: true })
            }
            BaseKind::Slot(i) => match &exec.body.insts[i].kind {
                InstKind::Alloca { var: Some(v), .. } => {
                    let var = &exec.body.vars[*v];
                    Some(Named { text: var.name.clone(), ty: var.ty, object: true })
                }
                _ => None,
            },
            BaseKind::Global(g) => {
                let global = self.program.global(g);
                let ty = global.ty.filter(|_| g.module == exec.me.module);
                // A library's variable has no other name than its symbol.
                let text = if global.init.is_none() { &global.name } else { &global.source_name };
                let text = text.clone();
                (!text.is_empty()).then_some(Named { text, ty, object: true })
            }
            BaseKind::Pointee if depth < 6 => {
                let pointer = exec.terms.as_pointee(base)?;
                let named = self.pointer(exec, pointer, depth + 1)?;
                let ty = self.pointee_type(exec, named.ty);
                Some(Named { text: named.text, ty, object: false })
            }
            _ => None,
        }
    }

    /// The name of a pointer term.
    fn pointer(&self, exec: &Exec<'_>, t: Term, depth: u32) -> Option<Named> {
        let Node::Sym(s) = exec.terms.node(t) else { return None };
        match &exec.sym_kinds[s.0 as usize] {
            SymKind::Arg(i) => {
                let param = exec.function.params.get(*i as usize)?;
                (!param.name.is_empty()).then(|| Named {
                    text: param.name.clone(),
                    ty: param.ty,
                    object: true,
                })
            }
            SymKind::Init { base, slot, .. } => {
                let owner = self.base(exec, *base, depth + 1)?;
                Some(self.with_field(exec, owner, *slot))
            }
            SymKind::Opaque(o) if o.what == What::Result && !o.name.is_empty() => {
                Some(Named { text: format!("{}()", o.name), ty: None, object: true })
            }
            SymKind::Opaque(_) => None,
        }
    }

    fn with_field(&self, exec: &Exec<'_>, owner: Named, slot: Slot) -> Named {
        let Slot::At(offset) = slot else {
            return Named { text: format!("{}[]", owner.text), ty: None, object: true };
        };
        let separator = if owner.object { "." } else { "->" };
        match owner.ty.and_then(|t| field(exec.module, t, offset)) {
            Some((name, ty)) if !name.is_empty() => Named {
                text: format!("{}{separator}{name}", owner.text),
                ty: Some(ty),
                object: true,
            },
            _ if offset == 0 && owner.object => owner,
            _ if offset == 0 => {
                Named { text: format!("*{}", owner.text), ty: owner.ty, object: true }
            }
            _ => Named { text: owner.text, ty: None, object: true },
        }
    }

    fn pointee_type(&self, exec: &Exec<'_>, ty: Option<TypeId>) -> Option<TypeId> {
        match self.module(exec).types.get(ty?)? {
            SourceType::Pointer { to } => Some(*to),
            SourceType::Const { of } => self.pointee_type(exec, Some(*of)),
            _ => None,
        }
    }

    /// A literal in source terms; `None` when it has no name.
    pub fn condition(&self, exec: &Exec<'_>, t: Term) -> Option<String> {
        match exec.terms.node(t) {
            Node::Not(inner) => match exec.terms.node(*inner) {
                Node::Cmp { cmp, lhs, rhs } => self.comparison(exec, *cmp, *lhs, *rhs, true),
                Node::Sym(s) => self.flag(exec, *s, false),
                _ => None,
            },
            Node::Cmp { cmp, lhs, rhs } => self.comparison(exec, *cmp, *lhs, *rhs, false),
            Node::Sym(s) => self.flag(exec, *s, true),
            _ => None,
        }
    }

    fn flag(&self, exec: &Exec<'_>, s: leakproof_guard::Sym, value: bool) -> Option<String> {
        match &exec.sym_kinds[s.0 as usize] {
            SymKind::Opaque(o) if o.what == What::Failure => {
                let verb = if value { "fails" } else { "succeeds" };
                Some(format!("{}() {verb}", o.name))
            }
            SymKind::Opaque(o) if o.what == What::Result && !o.name.is_empty() => {
                let verb = if value { "finds a match" } else { "finds nothing" };
                Some(format!("{}() {verb}", o.name))
            }
            SymKind::Arg(i) => {
                let name = &exec.function.params.get(*i as usize)?.name;
                Some(if value { name.clone() } else { format!("!{name}") })
            }
            _ => None,
        }
    }

    fn comparison(
        &self,
        exec: &Exec<'_>,
        cmp: Cmp,
        lhs: Term,
        rhs: Term,
        negated: bool,
    ) -> Option<String> {
        // Constants read better on the right.
        let swap = exec.terms.as_int(lhs).is_some();
        let (a, b) = if swap { (rhs, lhs) } else { (lhs, rhs) };
        let symbol = match (cmp, negated, swap) {
            (Cmp::Eq, false, _) => "==",
            (Cmp::Eq, true, _) => "!=",
            (Cmp::ULt | Cmp::SLt, false, false) | (Cmp::ULe | Cmp::SLe, true, true) => "<",
            (Cmp::ULe | Cmp::SLe, false, false) | (Cmp::ULt | Cmp::SLt, true, true) => "<=",
            (Cmp::ULt | Cmp::SLt, true, false) | (Cmp::ULe | Cmp::SLe, false, true) => ">=",
            (Cmp::ULe | Cmp::SLe, true, false) | (Cmp::ULt | Cmp::SLt, false, true) => ">",
        };
        let left = self.value(exec, a, false)?;
        let right = self.value(exec, b, self.is_pointer(exec, a))?;
        Some(format!("{left} {symbol} {right}"))
    }

    fn is_pointer(&self, exec: &Exec<'_>, t: Term) -> bool {
        exec.terms.bits(t) == 64
            && self.pointer(exec, t, 0).and_then(|n| n.ty).is_some_and(|ty| {
                matches!(self.module(exec).types.get(ty), Some(SourceType::Pointer { .. }))
            })
    }

    fn value(&self, exec: &Exec<'_>, t: Term, pointer: bool) -> Option<String> {
        match exec.terms.node(t) {
            Node::Int { value: 0, .. } if pointer => Some("NULL".to_owned()),
            Node::Int { bits, value } => Some(sign_extend(*bits, *value).to_string()),
            Node::Sym(_) => self.pointer(exec, t, 0).map(|n| n.text),
            Node::Cast { cast: Cast::ZExt | Cast::SExt | Cast::Trunc, value, .. } => {
                self.value(exec, *value, pointer)
            }
            Node::Bin { op, lhs, rhs } => {
                let symbol = match op {
                    Op::Add => "+",
                    Op::Sub => "-",
                    Op::Mul => "*",
                    Op::And => "&",
                    Op::Or => "|",
                    _ => return None,
                };
                let (a, b) = (self.value(exec, *lhs, false)?, self.value(exec, *rhs, false)?);
                Some(format!("({a} {symbol} {b})"))
            }
            _ => None,
        }
    }
}

/// The path of field names from a struct type to an offset, and the field's type.
pub fn field(module: &Module, ty: TypeId, offset: i64) -> Option<(String, TypeId)> {
    match module.types.get(ty)? {
        SourceType::Const { of } => field(module, *of, offset),
        SourceType::Struct { fields, .. } => {
            let found =
                fields.iter().rev().find(|f| i64::try_from(f.offset).is_ok_and(|o| o <= offset))?;
            let rest = offset - found.offset as i64;
            if is_reserved(&found.name) {
                return None;
            }
            match field(module, found.ty, rest) {
                Some((inner, ty)) if found.name.is_empty() => Some((inner, ty)),
                Some((inner, ty)) if inner.is_empty() => Some((found.name.clone(), ty)),
                Some((inner, ty)) => Some((format!("{}.{inner}", found.name), ty)),
                None => Some((found.name.clone(), found.ty)),
            }
        }
        _ => None,
    }
}

/// Whether a name is the implementation's: the parts of `std::unique_ptr` say nothing to a reader, the
/// variable does.
fn is_reserved(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next() == Some('_')
        && letters.next().is_some_and(|c| c == '_' || c.is_ascii_uppercase())
}

/// A variable that points to an object, or to the part of it that a slot is in; and where that part starts.
fn nearest_holder(exec: &Exec<'_>, owner: Base, slot: Slot) -> Option<(Base, Slot, i64)> {
    let end = match slot {
        Slot::At(offset) => offset,
        _ => 0,
    };
    let start = |p: Term| match *exec.terms.node(p) {
        Node::Addr { base, offset } if base == owner && offset <= end => Some(offset),
        _ => None,
    };
    let mut nearest: Option<(Base, Slot, i64)> = None;
    for (&(base, at), &t) in exec.exits.iter().flat_map(|e| e.state.mem.iter()) {
        let is_variable = matches!(exec.kind(base), BaseKind::Var(_) | BaseKind::Slot(_));
        if !is_variable || !exec.terms.has_addr(t) {
            continue;
        }
        for offset in exec.terms.alternatives(t).into_iter().filter_map(start) {
            if nearest.is_none_or(|(_, _, known)| offset > known) {
                nearest = Some((base, at, offset));
            }
        }
    }
    nearest
}

/// A slot as seen from a place inside the object.
fn from(start: i64, slot: Slot) -> Slot {
    match slot {
        Slot::At(offset) => Slot::At(offset - start),
        other => other,
    }
}
