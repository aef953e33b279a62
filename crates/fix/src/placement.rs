//! One place at which a release could stand, and what the code around becomes there.
//!
//! In: the text of a release. Out: ops. Which places there are, `finder` says.

use crate::kept::Taker;
use crate::op::{Brace, Line, Op};
use std::ops::Range;

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
    /// `return -1;` becomes `rc = -1; goto out;`, where everything is released.
    Jump {
        target: Target,
        label: String,
        /// The variable that is returned there, and what it gets.
        set: Option<(String, String)>,
        /// The code behind the label.
        cleanup: (usize, usize),
    },
    /// `return keep(p);`, where `keep` takes the object only if it returns 0, becomes
    /// `T result = keep(p); if (result != 0) free(p); return result;`.
    Untaken {
        target: Target,
        taker: Taker,
        answer: Answer,
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
        /// Where the call stands in the condition of an `if` that goes on to ask what came of it.
        asked: Option<(usize, usize)>,
        /// The size, when zero must be told from failure.
        size: Option<String>,
        name: String,
    },
}

/// What the code does with the result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Returns it: the function's type, the call, a new name.
    Returned { ty: String, call: String, name: String },
    /// Nothing: the call.
    Dropped(String),
    /// Keeps it in this variable.
    Kept(String),
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
            Placement::Jump { target, label, set, cleanup } => {
                let set = set.iter().map(|(name, value)| plain(format!("{name} = {value};")));
                let lines = set.chain([plain(format!("goto {label};"))]).collect();
                let mut ops = rewrite(target, lines);
                ops.push(Op::Observe { at: cleanup.0, end: cleanup.1 });
                ops
            }
            Placement::Untaken { target, taker, answer } => {
                untaken(target, taker.result, answer, &text(holder))
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
            Placement::Resize { target, ty, holder, call, asked, size, name } => {
                let zero = size.as_ref().map(|s| format!(" && {s} != 0")).unwrap_or_default();
                let release = Line {
                    text: format!("if ({name} == NULL{zero})\n\t{}", text(holder)),
                    releases: true,
                };
                let mut lines = vec![declare(ty, name, call), release];
                match asked {
                    Some((start, end)) => asked_before(target, (*start, *end), lines, name),
                    None => {
                        lines.push(plain(format!("{holder} = {name};")));
                        rewrite(target, lines)
                    }
                }
            }
        }
    }

    /// Whether a release is all that is added.
    pub fn is_addition(&self) -> bool {
        use Placement as P;
        matches!(self, P::Before(_) | P::After(_) | P::BlockEnd(_) | P::Else { .. })
    }

    /// The text that is said again in other words.
    pub fn rewritten(&self) -> Option<Range<usize>> {
        let target = match self {
            Placement::Resize { asked: Some((start, end)), .. } => return Some(*start..*end),
            Placement::Before(_)
            | Placement::After(_)
            | Placement::BlockEnd(_)
            | Placement::Else { .. }
            | Placement::Untaken { answer: Answer::Kept(_), .. } => return None,
            Placement::Untaken { target, .. }
            | Placement::Jump { target, .. }
            | Placement::HoistReturn { target, .. }
            | Placement::SaveOld { target, .. }
            | Placement::Discard { target }
            | Placement::Replace { target }
            | Placement::Name { target, .. }
            | Placement::Resize { target, .. } => target,
        };
        Some(target.at..target.end)
    }

    /// Where its release will stand.
    pub fn offset(&self) -> usize {
        match self {
            Placement::After(target)
            | Placement::Untaken { target, answer: Answer::Kept(_), .. } => target.end,
            Placement::BlockEnd(brace) => *brace,
            Placement::Else { end, .. } => *end,
            Placement::Before(target)
            | Placement::Jump { target, .. }
            | Placement::Untaken { target, .. }
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
            Placement::Jump { .. } => "at the label that releases all, to which the code goes now",
            Placement::Untaken { .. } => "after the call that takes it, if that has not",
            Placement::SaveOld { .. } => "after the pointer got its new value",
            Placement::Discard { .. } => "as soon as it is made, because nobody wants it",
            Placement::Replace { .. } => "where its owner was released without its parts",
            Placement::Name { .. } => "after its only use, for which it gets a name",
            Placement::Resize { .. } => "when resizing fails",
        }
    }
}

/// A release behind a call, for all of its results but one.
fn untaken(target: &Target, result: i64, answer: &Answer, release: &str) -> Vec<Op> {
    let (Answer::Returned { name: asked, .. } | Answer::Dropped(asked) | Answer::Kept(asked)) =
        answer;
    let release = format!("\t{}", release.replace('\n', "\n\t"));
    let braces = release.contains('\n');
    let open = if braces { " {" } else { "" };
    let mut lines = vec![
        plain(format!("if ({asked} != {result}){open}")),
        Line { text: release, releases: true },
    ];
    lines.extend(braces.then(|| plain("}".to_owned())));
    match answer {
        Answer::Returned { ty, call, name } => {
            lines.insert(0, declare(ty, name, call));
            lines.push(plain(format!("return {name};")));
            rewrite(target, lines)
        }
        Answer::Dropped(_) => rewrite(target, lines),
        Answer::Kept(_) => {
            let Target { at, end, brace, .. } = target.clone();
            vec![Op::After { at, end, lines, brace }]
        }
    }
}

/// An expression of a statement gets a name before it.
fn asked_before(
    target: &Target,
    (start, end): (usize, usize),
    lines: Vec<Line>,
    name: &str,
) -> Vec<Op> {
    let before = Op::Before { at: target.at, end: target.end, lines, brace: target.brace.clone() };
    vec![before, Op::Insert { at: start, end, text: name.to_owned() }]
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
    let stands_alone = matches!(lines.as_slice(), [line] if !line.text.contains('\n'));
    let brace = brace.filter(|_| !stands_alone);
    vec![Op::Rewrite { at, end, lines, brace }]
}
