//! One place at which a release could stand, and what the code around becomes there.
//!
//! In: the text of a release. Out: ops. Which places there are, `finder` says.

use crate::op::{Brace, Line, Op};

/// A statement to which something is added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub at: usize,
    pub end: usize,
    pub brace: Option<Brace>,
    /// It stands right behind a label.
    pub labelled: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    Before(Target),
    After(Target),
    /// At the end of a block, by its closing brace.
    BlockEnd(usize),
    Else {
        start: usize,
        end: usize,
    },
    /// `return f(p);` becomes `T result = f(p); free(p); return result;`.
    HoistReturn {
        target: Target,
        ty: String,
        value: String,
        name: String,
    },
    /// `p = g(p);` becomes `T old = p; p = g(p); free(old);`.
    SaveOld {
        target: Target,
        ty: String,
        holder: String,
        statement: String,
        name: String,
    },
    /// `make();` becomes `free(make());`.
    Discard {
        target: Target,
    },
    /// `free(owner);` becomes `owner_free(owner);`.
    Replace {
        target: Target,
    },
    /// `use(make());` becomes `T made = make(); use(made); free(made);`.
    Name {
        target: Target,
        ty: String,
        call: String,
        /// The statement with the new name in place of the call.
        statement: String,
        name: String,
    },
    /// `p = realloc(p, n);` keeps the old pointer until the new one is there.
    Resize {
        target: Target,
        ty: String,
        holder: String,
        call: String,
        /// The size, when zero must be told from failure.
        size: Option<String>,
        name: String,
    },
}

impl Placement {
    /// The ops for a release; `text` spells the release of an expression.
    pub fn ops(&self, holder: &str, text: &dyn Fn(&str) -> String) -> Vec<Op> {
        let releasing = |holder: &str| Line { text: text(holder), releases: true };
        let release = || vec![releasing(holder)];
        match self {
            Placement::Before(Target { at, end, brace, .. }) => {
                vec![Op::Before { at: *at, end: *end, lines: release(), brace: brace.clone() }]
            }
            Placement::After(Target { at, end, brace, .. }) => {
                vec![Op::After { at: *at, end: *end, lines: release(), brace: brace.clone() }]
            }
            Placement::BlockEnd(brace) => vec![Op::BlockEnd { brace: *brace, lines: release() }],
            Placement::Else { start, end } => {
                vec![Op::Else { start: *start, end: *end, lines: release() }]
            }
            Placement::HoistReturn { target, ty, value, name } => {
                let back = plain(format!("return {name};"));
                rewrite(target, vec![declare(ty, name, value), releasing(holder), back])
            }
            Placement::SaveOld { target, ty, holder, statement, name } => {
                let kept = plain(statement.clone());
                rewrite(target, vec![declare(ty, name, holder), kept, releasing(name)])
            }
            Placement::Discard { target } | Placement::Replace { target } => {
                rewrite(target, release())
            }
            Placement::Name { target, ty, call, statement, name } => {
                let kept = plain(statement.clone());
                rewrite(target, vec![declare(ty, name, call), kept, releasing(name)])
            }
            Placement::Resize { target, ty, holder, call, size, name } => {
                let zero = size.as_ref().map(|s| format!(" && {s} != 0")).unwrap_or_default();
                let lines = vec![
                    declare(ty, name, call),
                    Line {
                        text: format!("if ({name} == NULL{zero})\n\t{}", text(holder)),
                        releases: true,
                    },
                    plain(format!("{holder} = {name};")),
                ];
                rewrite(target, lines)
            }
        }
    }

    /// Where its release will stand.
    pub fn offset(&self) -> usize {
        match self {
            Placement::After(target) => target.end,
            Placement::BlockEnd(brace) => *brace,
            Placement::Else { end, .. } => *end,
            Placement::Before(target)
            | Placement::HoistReturn { target, .. }
            | Placement::SaveOld { target, .. }
            | Placement::Discard { target }
            | Placement::Replace { target }
            | Placement::Name { target, .. }
            | Placement::Resize { target, .. } => target.at,
        }
    }

    /// In words, for a reader.
    pub fn describe(&self) -> &'static str {
        match self {
            Placement::Before(_) => "before the statement at which it leaks",
            Placement::After(_) => "after its last use",
            Placement::BlockEnd(_) => "at the end of the block",
            Placement::Else { .. } => "on the branch that did not release it",
            Placement::HoistReturn { .. } => "after the value to return is computed",
            Placement::SaveOld { .. } => "after the pointer got its new value",
            Placement::Discard { .. } => "as soon as it is made, because nobody wants it",
            Placement::Replace { .. } => "where its owner was released without its parts",
            Placement::Name { .. } => "after its only use, for which it gets a name",
            Placement::Resize { .. } => "when resizing fails",
        }
    }
}

fn plain(text: String) -> Line {
    Line { text, releases: false }
}

fn declare(ty: &str, name: &str, value: &str) -> Line {
    let space = if ty.ends_with('*') { "" } else { " " };
    plain(format!("{ty}{space}{name} = {value};"))
}

fn rewrite(target: &Target, mut lines: Vec<Line>) -> Vec<Op> {
    let Target { at, end, brace, labelled } = target.clone();
    if labelled && lines.len() > 1 {
        // A declaration cannot follow a label.
        lines.iter_mut().for_each(|line| line.text.insert(0, '\t'));
        lines.insert(0, plain("{".to_owned()));
        lines.push(plain("}".to_owned()));
    }
    vec![Op::Rewrite { at, end, lines, brace }]
}
