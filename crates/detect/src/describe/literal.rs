//! Conditions in source terms.

use super::{Describe, is_errno, is_truth_value, parameter};
use leakproof_guard::{Cast, Cmp, Node, Op, Sym, Term, sign_extend};
use leakproof_ir::{SourceType, TypeId};
use leakproof_summary::{Exec, Origin, SymKind, What};

/// A condition with the values that it names.
pub struct Literal {
    pub text: String,
    named: Vec<NamedValue>,
}

/// A value, the name it goes by, and the line of the call that gave it.
struct NamedValue {
    name: String,
    sym: Sym,
    line: Option<u32>,
}

impl Literal {
    /// Whether another literal says something else of another value that goes by the same name, and whether the
    /// lines of calls do not tell the two apart.
    pub fn is_rival(&self, other: &Literal, same_line: bool) -> bool {
        let rival = |a: &NamedValue, b: &NamedValue| {
            a.name == b.name && a.sym != b.sym && (a.line == b.line) == same_line
        };
        // What both are not, they may well be together.
        let agree = self.text.contains(" != ") && other.text.contains(" != ");
        self.text != other.text
            && !agree
            && self.named.iter().any(|a| other.named.iter().any(|b| rival(a, b)))
    }

    /// The line of the call that it speaks of.
    pub fn line(&self) -> Option<u32> {
        self.named.iter().find_map(|value| value.line)
    }
}

impl Describe<'_> {
    /// A literal in source terms; `None` when it has no name.
    pub fn condition(&self, exec: &Exec<'_>, t: Term) -> Option<String> {
        self.exact().truth(exec, t, true).filter(|text| !text.is_empty())
    }

    /// A literal in source terms, and what it speaks of.
    pub fn literal(&self, exec: &Exec<'_>, t: Term) -> Option<Literal> {
        let text = self.condition(exec, t)?;
        let mut named = Vec::new();
        self.exact().values_in(exec, t, &mut named);
        Some(Literal { text, named })
    }

    fn values_in(&self, exec: &Exec<'_>, t: Term, into: &mut Vec<NamedValue>) {
        match exec.terms.node(t) {
            Node::Not(value) | Node::Cast { value, .. } => self.values_in(exec, *value, into),
            Node::Cmp { lhs, rhs, .. } | Node::Bin { lhs, rhs, .. } => {
                self.values_in(exec, *lhs, into);
                self.values_in(exec, *rhs, into);
            }
            Node::Sym(sym) => into.push(self.named_value(exec, t, *sym)),
            _ => {}
        }
    }

    fn named_value(&self, exec: &Exec<'_>, t: Term, sym: Sym) -> NamedValue {
        let o = match &exec.sym_kinds[sym.0 as usize] {
            SymKind::Opaque(o) if !is_errno(o) => o,
            _ => {
                let name = self.value(exec, t, false).unwrap_or_default();
                return NamedValue { name, sym, line: None };
            }
        };
        let here = o.at.func == exec.me && o.at.loc.line != 0;
        let inside = self.inside(exec, o).unwrap_or_default();
        NamedValue {
            name: format!("{inside} {}()", o.name),
            sym,
            line: here.then_some(o.at.loc.line),
        }
    }

    fn truth(&self, exec: &Exec<'_>, t: Term, value: bool) -> Option<String> {
        match exec.terms.node(t) {
            Node::Not(inner) => self.truth(exec, *inner, !value),
            Node::Cmp { cmp, lhs, rhs } => self.comparison(exec, *cmp, *lhs, *rhs, !value),
            Node::Sym(s) => self.flag(exec, t, *s, value),
            // The lowest bit of a `bool` in memory.
            Node::Cast { cast: Cast::Trunc, bits: 1, value: of } => {
                self.value(exec, *of, false).map(|name| is_or_not(name, value))
            }
            _ => None,
        }
    }

    fn flag(&self, exec: &Exec<'_>, t: Term, s: Sym, value: bool) -> Option<String> {
        match &exec.sym_kinds[s.0 as usize] {
            SymKind::Opaque(o) if o.what == What::Failure => Some(self.outcome(exec, o, value)),
            SymKind::Opaque(o) if o.what == What::Result && !o.name.is_empty() => {
                if is_truth_value(exec, o) {
                    return Some(is_or_not(format!("{}()", o.name), value));
                }
                let verb = if value { "finds a match" } else { "finds nothing" };
                Some(format!("{}() {verb}", o.name))
            }
            SymKind::Arg(i) => parameter(exec, *i).map(|(name, _)| is_or_not(name, value)),
            SymKind::Init { .. } => self.value(exec, t, false).map(|name| is_or_not(name, value)),
            SymKind::Opaque(_) => None,
        }
    }

    /// How a call of the library ended: `strdup() fails inside copy()`.
    pub fn outcome(&self, exec: &Exec<'_>, origin: &Origin, fails: bool) -> String {
        let verb = if fails { "fails" } else { "succeeds" };
        let inside = self.inside(exec, origin).map(|f| format!(" inside {f}()"));
        format!("{}() {verb}{}", origin.name, inside.unwrap_or_default())
    }

    /// The name of the other function in which something happened.
    pub fn inside(&self, exec: &Exec<'_>, origin: &Origin) -> Option<&str> {
        let name = || self.program.function(origin.at.func).source_name.as_str();
        (origin.at.func != exec.me).then(name).filter(|name| !name.is_empty())
    }

    fn comparison(
        &self,
        exec: &Exec<'_>,
        cmp: Cmp,
        lhs: Term,
        rhs: Term,
        negated: bool,
    ) -> Option<String> {
        if let Some(text) = self.bool_in_memory(exec, cmp, lhs, rhs, negated) {
            return Some(text);
        }
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
        // Two values that go by one name: `line == line` says nothing.
        (left != right).then(|| format!("{left} {symbol} {right}"))
    }

    /// The lowest bit of a `bool` is compared with a number: the test of the `bool`.
    fn bool_in_memory(
        &self,
        exec: &Exec<'_>,
        cmp: Cmp,
        lhs: Term,
        rhs: Term,
        negated: bool,
    ) -> Option<String> {
        let (of, number) = match (exec.terms.as_int(lhs), exec.terms.as_int(rhs)) {
            (None, Some(n)) => (lhs, n),
            (Some(n), None) => (rhs, n),
            _ => return None,
        };
        let Node::Bin { op: Op::And, lhs: a, rhs: b } = *exec.terms.node(of) else { return None };
        let one = |t| exec.terms.as_int(t) == Some(1);
        let value = if one(b) { a } else { Some(b).filter(|_| one(a))? };
        let named = self.pointer(exec, value, 0)?;
        let is_bool = self.is_bool(exec, named.ty) && cmp == Cmp::Eq && number <= 1;
        is_bool.then(|| is_or_not(named.text, (number == 1) != negated))
    }

    fn is_bool(&self, exec: &Exec<'_>, ty: Option<TypeId>) -> bool {
        match ty.and_then(|ty| exec.module.types.get(ty)) {
            Some(SourceType::Scalar { name, .. }) => name == "_Bool" || name == "bool",
            Some(SourceType::Const { of }) => self.is_bool(exec, Some(*of)),
            _ => false,
        }
    }

    fn is_pointer(&self, exec: &Exec<'_>, t: Term) -> bool {
        exec.terms.bits(t) == 64
            && self.pointer(exec, t, 0).is_some_and(|n| self.pointee_type(exec, n.ty).is_some())
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

fn is_or_not(name: String, value: bool) -> String {
    if value { name } else { format!("!{name}") }
}
