//! Names for readers: variables, access paths, conditions, positions.

mod literal;
mod part;

use leakproof_findings::{AllocSite, Event, Location, PathStep};
use leakproof_guard::{Base, Node, Term};
use leakproof_ir::{Inst, InstKind, Module, SourceType, Ty, TypeId, Var};
use leakproof_program::Program;
use leakproof_summary::{BaseKind, Exec, Origin, Place, Site, Slot, SymKind, What};

pub use literal::Literal;

pub struct Describe<'a> {
    program: &'a Program,
    /// Names say exactly which part is meant, or there is none: for conditions. The names of variables are a part
    /// of the identity of findings and stay as short as they are.
    exact: bool,
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
        Self { program, exact: false }
    }

    fn exact(&self) -> Self {
        Self { program: self.program, exact: true }
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
        if let Some(name) = self.field_of_element(exec, cell) {
            return name;
        }
        let named = match exec.kind(base) {
            BaseKind::Heap(id) => {
                // Named through a variable that holds the owner, when there is one.
                return self.through_holder(exec, exec.objects[id.0 as usize].base, slot);
            }
            _ => self.variable_pointing_to(exec, base).or_else(|| self.base(exec, base, 0)),
        };
        named.and_then(|n| self.with_field(exec, n, slot, 0)).map(|n| n.text).unwrap_or_default()
    }

    /// `entry->value` where a variable points to the element of an array.
    fn field_of_element(&self, exec: &Exec<'_>, cell: (Base, Slot)) -> Option<String> {
        let variable = exec.body.variable_of(exec.pointer_to_element(cell)?)?;
        let ty = self.pointee_type(exec, variable.ty);
        let Slot::Every(all) = cell.1 else { return None };
        let named = Named { text: variable.name.clone(), ty, object: false };
        self.with_field(exec, named, Slot::At(i64::from(all.rem)), 0).map(|n| n.text)
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
        let named = self.base(exec, base, 0);
        let Some(pointer) = named.and_then(|n| self.with_field(exec, n, at, 64)) else {
            return String::new();
        };
        let pointee = Named { ty: self.pointee_type(exec, pointer.ty), object: false, ..pointer };
        let part = self.with_field(exec, pointee, from(start, slot), 0);
        part.map(|n| n.text).unwrap_or_default()
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
                // Members behind a `void *` have names only by the variable that it was given to.
                let by_variable = depth > 0 && (self.exact || is_untyped(exec, *i));
                let typed = if by_variable { typed_variable(exec, *i) } else { None };
                let (text, ty) = typed.or_else(|| parameter(exec, *i))?;
                Some(Named { text, ty, object: true })
            }
            SymKind::Init { base, slot, .. } => {
                let owner = self.base(exec, *base, depth + 1)?;
                self.with_field(exec, owner, *slot, exec.terms.bits(t))
            }
            SymKind::Opaque(o) if o.what == What::Result && !o.name.is_empty() => {
                // What is behind a result has the type of the variable that holds it.
                let holder = if self.exact && depth > 0 { variable_given(exec, o) } else { None };
                Some(match holder {
                    Some(v) => Named { text: v.name.clone(), ty: v.ty, object: true },
                    None => Named { text: format!("{}()", o.name), ty: None, object: true },
                })
            }
            SymKind::Opaque(o) if self.exact && is_errno(o) => {
                Some(Named { text: "errno".to_owned(), ty: None, object: true })
            }
            SymKind::Opaque(_) => None,
        }
    }

    fn with_field(&self, exec: &Exec<'_>, owner: Named, slot: Slot, bits: u16) -> Option<Named> {
        if self.exact {
            return exact_part(exec, owner, slot, bits);
        }
        let Slot::At(offset) = slot else {
            return Some(Named { text: format!("{}[]", owner.text), ty: None, object: true });
        };
        let separator = if owner.object { "." } else { "->" };
        Some(match owner.ty.and_then(|t| field(exec.module, t, offset)) {
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
        })
    }

    fn pointee_type(&self, exec: &Exec<'_>, ty: Option<TypeId>) -> Option<TypeId> {
        match self.module(exec).types.get(ty?)? {
            SourceType::Pointer { to } => Some(*to),
            SourceType::Const { of } => self.pointee_type(exec, Some(*of)),
            _ => None,
        }
    }
}

/// Whether a parameter is a pointer to nothing in particular.
fn is_untyped(exec: &Exec<'_>, index: u32) -> bool {
    let ty = exec.function.params.get(index as usize).and_then(|p| p.ty);
    let pointee = ty.and_then(|ty| exec.module.pointee(ty));
    pointee.is_some_and(|to| matches!(exec.module.types[to], SourceType::Void))
}

/// The name and type of a parameter. A `bool` comes as one bit and is widened before its variable gets it.
fn parameter(exec: &Exec<'_>, index: u32) -> Option<(String, Option<TypeId>)> {
    let param = exec.function.params.get(index as usize)?;
    if !param.name.is_empty() {
        return Some((param.name.clone(), param.ty));
    }
    let widened = exec.body.insts.iter().find_map(|(_, inst)| match inst.kind {
        InstKind::Cast { value, .. } if value == param.value => inst.result,
        _ => None,
    });
    let variable = exec.body.variable_of(widened?)?;
    (!variable.name.is_empty()).then(|| (variable.name.clone(), variable.ty))
}

/// The variable that gives a `void *` parameter its type: `struct item *item = data`.
fn typed_variable(exec: &Exec<'_>, index: u32) -> Option<(String, Option<TypeId>)> {
    let param = exec.function.params.get(index as usize)?;
    if !points_to_void(exec.module, param.ty?) {
        return None;
    }
    exec.body.insts.iter().find_map(|(_, inst)| match inst.kind {
        InstKind::VarSet { var, value } if value == param.value => {
            let var = &exec.body.vars[var];
            let typed = var.ty.is_some_and(|ty| !points_to_void(exec.module, ty));
            typed.then(|| (var.name.clone(), var.ty))
        }
        _ => None,
    })
}

fn points_to_void(module: &Module, ty: TypeId) -> bool {
    match module.types.get(ty) {
        Some(SourceType::Pointer { to }) => is_void(module, *to),
        Some(SourceType::Const { of }) => points_to_void(module, *of),
        _ => false,
    }
}

fn is_void(module: &Module, ty: TypeId) -> bool {
    match module.types.get(ty) {
        Some(SourceType::Void) => true,
        Some(SourceType::Const { of }) => is_void(module, *of),
        _ => false,
    }
}

/// The call that a symbol comes from, when it is in the function at hand.
fn call_of<'e>(exec: &'e Exec<'_>, origin: &Origin) -> Option<&'e Inst> {
    let is_it =
        |inst: &&Inst| inst.loc == origin.at.loc && matches!(inst.kind, InstKind::Call { .. });
    let here = origin.at.func == exec.me && origin.at.loc.is_known();
    if here { exec.body.insts.iter().map(|(_, inst)| inst).find(is_it) } else { None }
}

/// The variable that a result was given to.
fn variable_given<'e>(exec: &'e Exec<'_>, origin: &Origin) -> Option<&'e Var> {
    exec.body.variable_of(call_of(exec, origin)?.result?)
}

/// Whether a symbol is the answer of a call that yields a truth value.
fn is_truth_value(exec: &Exec<'_>, origin: &Origin) -> bool {
    let result = call_of(exec, origin).and_then(|call| call.result);
    result.is_some_and(|v| exec.function.values[v].ty == Ty::Int(1))
}

/// Functions that yield the address of `errno`.
const ERRNO: [&str; 3] = ["__errno_location", "__error", "___errno"];

/// Whether a symbol is what `errno` is at some moment.
fn is_errno(origin: &Origin) -> bool {
    origin.what == What::Input && ERRNO.contains(&&*origin.name)
}

/// A part of an object by its exact name.
fn exact_part(exec: &Exec<'_>, owner: Named, slot: Slot, bits: u16) -> Option<Named> {
    let module = exec.module;
    if owner.ty.is_some_and(|ty| part::is_argument_list(module, ty)) {
        return None;
    }
    let behind_call =
        owner.text.strip_suffix("()").filter(|_| slot == Slot::At(0) && !owner.object);
    if behind_call.is_some_and(|name| ERRNO.contains(&name)) {
        return Some(Named { text: "errno".to_owned(), ty: None, object: true });
    }
    let (offset, every) = match slot {
        Slot::At(offset) => (offset, false),
        Slot::Every(elements) => (elements.first(), true),
        _ => return None,
    };
    let Some(ty) = owner.ty else { return untyped_part(owner, offset, every) };
    let (index, offset) = match part::size(module, ty) {
        Some(size) if !owner.object && size > 0 && part::stands_in_rows(module, ty) => {
            (offset.div_euclid(size), offset.rem_euclid(size))
        }
        _ => (0, offset),
    };
    let (suffix, ty) = part::part(module, ty, offset, bits)?;
    let text = with_suffix(&owner, index, &suffix);
    let text = if every { any_element(&text, &owner)? } else { text };
    Some(Named { text, ty: Some(ty), object: true })
}

/// Of an object of unknown type only the start has a name.
fn untyped_part(owner: Named, offset: i64, every: bool) -> Option<Named> {
    let text = match (every, offset, owner.object) {
        (true, ..) => format!("{}[]", owner.text),
        (false, 0, true) => owner.text,
        (false, 0, false) => format!("*{}", owner.text),
        _ => return None,
    };
    Some(Named { text, ty: None, object: true })
}

fn with_suffix(owner: &Named, index: i64, suffix: &str) -> String {
    let name = &owner.text;
    match (owner.object, index, suffix.strip_prefix('.')) {
        (true, ..) => format!("{name}{suffix}"),
        (false, 0, Some(field)) => format!("{name}->{field}"),
        (false, 0, None) if suffix.is_empty() => format!("*{name}"),
        (false, 0, None) => format!("(*{name}){suffix}"),
        (false, ..) => format!("{name}[{index}]{suffix}"),
    }
}

/// The name of one element for that of any: `set[]` for `set[0]`, `rows[].name` for `rows->name`.
fn any_element(text: &str, owner: &Named) -> Option<String> {
    let own = &owner.text;
    if let Some(rest) = text.strip_prefix('*') {
        return Some(format!("{rest}[]"));
    }
    let suffix = text.strip_prefix(own.as_str())?;
    if let Some(field) = suffix.strip_prefix("->") {
        // The elements of an array inside the struct, or the structs themselves.
        return Some(match suffix.rfind('[') {
            Some(at) => format!("{own}{}", without_index(suffix, at)),
            None => format!("{own}[].{field}"),
        });
    }
    let at = suffix.rfind('[')?;
    Some(format!("{own}{}", without_index(suffix, at)))
}

fn without_index(text: &str, at: usize) -> String {
    let end = text[at..].find(']').map_or(text.len(), |n| at + n);
    format!("{}{}", &text[..=at], &text[end..])
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
