//! A summary as text, one effect per line: for whoever wants to know what a function is believed to do.
//!
//! `arg0` is the first argument, `[p+8]` what the cell 8 bytes behind `p` held when the function was called, `[p*]` what
//! elements of an array held, `new0` the first new object, `%3` a private symbol with where it comes from.

use crate::summary::{Effect, Expr, Ref, Root, Summary};
use crate::vocabulary::Slot;
use leakproof_guard::{Cmp, Op};
use leakproof_program::{FuncRef, GlobalRef};
use std::fmt::Write as _;

/// Terms nested deeper than this are left out.
const MAX_DEPTH: u32 = 24;

/// Names of what a summary speaks of by number.
pub struct Names<'n> {
    pub function: &'n dyn Fn(FuncRef) -> String,
    pub global: &'n dyn Fn(GlobalRef) -> String,
}

/// The text of a summary, each line indented.
pub fn print(summary: &Summary, names: &Names<'_>) -> String {
    let printer = Printer { summary, names };
    let mut out = String::new();
    for (is, text) in [
        (summary.opaque, "unknown: what it is given escapes"),
        (summary.never_returns, "never returns"),
        (summary.returns_deeper, "recurses deeper than it was followed"),
        (summary.releases_untold, "releases more than is said here"),
    ] {
        if is {
            let _ = writeln!(out, "  {text}");
        }
    }
    for (label, list) in [
        ("goes through", &summary.used),
        ("expects", &summary.expected),
        ("asks for", &summary.sizes),
    ] {
        let arguments: Vec<String> = list.iter().map(|i| format!("arg{i}")).collect();
        if !arguments.is_empty() {
            let _ = writeln!(out, "  {label} {}", arguments.join(", "));
        }
    }
    for route in &summary.calls_through {
        let way = route.cells.iter().fold(format!("arg{}", route.argument), |at, offset| {
            if *offset == 0 { format!("[{at}]") } else { format!("[{at}{offset:+}]") }
        });
        let _ = writeln!(out, "  calls through {way}");
    }
    for (i, object) in summary.objects.iter().enumerate() {
        let calls: Vec<&str> = object.trace.iter().map(|s| &*s.callee).collect();
        let _ = writeln!(out, "  new{i}: {} by {}", object.family, calls.join(" -> "));
    }
    let terms =
        [("returns if", summary.returns), ("throws if", summary.throws), ("value", summary.value)];
    for (label, term) in terms {
        if let Some(r) = term {
            let _ = writeln!(out, "  {label} {}", printer.term(r, 0));
        }
    }
    for effect in &summary.effects {
        let _ = writeln!(out, "  {}", printer.effect(effect));
    }
    out
}

struct Printer<'p> {
    summary: &'p Summary,
    names: &'p Names<'p>,
}

impl Printer<'_> {
    fn effect(&self, effect: &Effect) -> String {
        let cell = self.cell(effect.root, effect.slot, 0);
        let only = effect.only.map(|r| format!(" only {}", self.term(r, 0))).unwrap_or_default();
        format!("{cell}{only} := {}", self.term(effect.value, 0))
    }

    fn root(&self, root: Root, depth: u32) -> String {
        match root {
            Root::Object(i) => format!("new{i}"),
            Root::Global(g) => (self.names.global)(g),
            Root::Func(f) => (self.names.function)(f),
            Root::VarArgs => "...".to_owned(),
            Root::Errno => "errno".to_owned(),
            Root::Pointee(r) => self.term(r, depth),
        }
    }

    fn cell(&self, root: Root, slot: Slot, depth: u32) -> String {
        let root = self.root(root, depth);
        match slot {
            Slot::At(0) => format!("[{root}]"),
            Slot::At(offset) => format!("[{root}{offset:+}]"),
            Slot::Every(e) => format!("[{root}*{}%{}]", e.rem, e.stride),
            Slot::Star(offset) => format!("{root}{offset:+} goes on"),
            fact => format!("{fact:?}({root})").to_lowercase(),
        }
    }

    fn list(&self, items: &[Ref], between: &str, depth: u32) -> String {
        let items: Vec<String> = items.iter().map(|&r| self.term(r, depth)).collect();
        format!("({})", items.join(between))
    }

    fn term(&self, r: Ref, depth: u32) -> String {
        if depth > MAX_DEPTH {
            return "..".to_owned();
        }
        let sub = |r: &Ref| self.term(*r, depth + 1);
        match &self.summary.pool[r.0 as usize] {
            Expr::Bool(b) => b.to_string(),
            Expr::Int { value, .. } => value.to_string(),
            Expr::Arg { index, .. } => format!("arg{index}"),
            Expr::Init { root, slot, .. } => self.cell(*root, *slot, depth + 1),
            Expr::Private { number, info } => {
                let (what, name) = (info.origin.what, &info.origin.name);
                format!("%{number}:{what:?}{}{name}", if name.is_empty() { "" } else { "." })
            }
            Expr::Addr { root, offset } => format!("&{}{offset:+}", self.root(*root, depth + 1)),
            Expr::Elem { root, offset, stride, index, .. } => {
                format!("&{}{offset:+}+{stride}*{}", self.root(*root, depth + 1), sub(index))
            }
            Expr::Not(x) => format!("!{}", sub(x)),
            Expr::And(xs) => self.list(xs, " && ", depth + 1),
            Expr::Or(xs) => self.list(xs, " || ", depth + 1),
            Expr::Any(xs) => format!("any{}", self.list(xs, ", ", depth + 1)),
            Expr::Tuple(xs) => format!("copy{}", self.list(xs, ", ", depth + 1)),
            Expr::Ite { cond, then, otherwise } => {
                format!("({} ? {} : {})", sub(cond), sub(then), sub(otherwise))
            }
            Expr::Cmp { cmp, lhs, rhs } => format!("{} {} {}", sub(lhs), sign_of(*cmp), sub(rhs)),
            Expr::Bin { op, lhs, rhs } => format!("({} {} {})", sub(lhs), symbol_of(*op), sub(rhs)),
            Expr::Cast { cast, bits, value } => {
                format!("{}{bits}({})", format!("{cast:?}").to_lowercase(), sub(value))
            }
        }
    }
}

fn sign_of(cmp: Cmp) -> &'static str {
    match cmp {
        Cmp::Eq => "==",
        Cmp::ULt => "<u",
        Cmp::ULe => "<=u",
        Cmp::SLt => "<",
        Cmp::SLe => "<=",
    }
}

fn symbol_of(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::UDiv => "/u",
        Op::SDiv => "/",
        Op::URem => "%u",
        Op::SRem => "%",
        Op::And => "&",
        Op::Or => "|",
        Op::Xor => "^",
        Op::Shl => "<<",
        Op::LShr => ">>u",
        Op::AShr => ">>",
    }
}
