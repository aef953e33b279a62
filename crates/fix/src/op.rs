//! Edits by what they mean, so that several fixes can change the same statement.
//!
//! An `Op` says what is added where in terms of statements; `render` turns all ops of a file into
//! text edits that do not overlap, adds the braces that they need, and tells where each op's text
//! ended up. Ops that cannot go together are refused before.

use crate::style::{Style, indent, is_first_on_line, line_end, line_start};
use crate::view::View;
use std::collections::BTreeMap;
use std::ops::Range;

/// A change of one statement or declaration. Offsets are of the original text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Statements before one.
    Before { at: usize, end: usize, lines: Vec<Line>, brace: Option<Brace> },
    /// Statements after one that does not jump.
    After { at: usize, end: usize, lines: Vec<Line>, brace: Option<Brace> },
    /// Statements at the end of a block: the offset of its closing brace.
    BlockEnd { brace: usize, lines: Vec<Line> },
    /// An `else` with statements, for an `if` that ends here and has none.
    Else { start: usize, end: usize, lines: Vec<Line> },
    /// Text put in at one place (` = NULL`), or in the place of an expression.
    Insert { at: usize, end: usize, text: String },
    /// Nothing changes here, but what is released here is judged.
    Observe { at: usize, end: usize },
    /// A statement that becomes others.
    Rewrite { at: usize, end: usize, lines: Vec<Line>, brace: Option<Brace> },
}

/// A statement that is added.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    pub text: String,
    /// It releases; otherwise it is what stood there, or only prepares.
    pub releases: bool,
}

/// The braces that a statement which stands alone needs: where its header (`if (...)`, `else`)
/// ends, and the `else` that follows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Brace {
    pub header: usize,
    pub outer: usize,
    pub next_else: Option<usize>,
}

/// Replace `range` by `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    pub range: Range<usize>,
    pub text: String,
    /// Parts of `text` by the op they come from, and whether they release.
    pub parts: Vec<(usize, Range<usize>, bool)>,
}

/// All that happens at one statement.
#[derive(Default)]
struct Site {
    end: usize,
    before: Vec<(usize, Line)>,
    instead: Option<(usize, Vec<Line>)>,
    after: Vec<(usize, Line)>,
    brace: Option<Brace>,
}

impl Op {
    /// The text range that the op claims for itself.
    fn statement(&self) -> Option<(usize, usize)> {
        match self {
            Op::Before { at, end, .. }
            | Op::After { at, end, .. }
            | Op::Rewrite { at, end, .. } => Some((*at, *end)),
            _ => None,
        }
    }
}

/// Whether two ops cannot both be done.
pub fn conflict(a: &Op, b: &Op) -> bool {
    let exclusive = |op: &Op| matches!(op, Op::Rewrite { .. } | Op::Else { .. });
    if a == b {
        return false;
    }
    match (a.statement(), b.statement()) {
        (Some(x), Some(y)) if x == y => {
            matches!(a, Op::Rewrite { .. }) && matches!(b, Op::Rewrite { .. })
        }
        (Some(x), Some(y)) => x.0 < y.1 && y.0 < x.1 && (exclusive(a) || exclusive(b)),
        _ => matches!((a, b), (Op::Else { start: x, .. }, Op::Else { start: y, .. }) if x == y),
    }
}

/// The edits for all ops of a file, in order of position. Ops that say the same are done once.
pub fn render(view: &View, style: &dyn Fn(usize) -> Style, ops: &[Op]) -> Vec<TextEdit> {
    let mut sites: BTreeMap<usize, Site> = BTreeMap::new();
    let mut block_ends: BTreeMap<usize, Vec<(usize, Line)>> = BTreeMap::new();
    let mut edits = Vec::new();
    let mut done: Vec<&Op> = Vec::new();
    for (i, op) in ops.iter().enumerate() {
        if done.contains(&op) {
            continue;
        }
        done.push(op);
        let tagged = |lines: &[Line]| lines.iter().map(|l| (i, l.clone())).collect::<Vec<_>>();
        match op {
            Op::Before { at, end, lines, brace } => {
                let site = sites.entry(*at).or_default();
                site.end = *end;
                site.before.extend(tagged(lines));
                site.brace = site.brace.take().or_else(|| brace.clone());
            }
            Op::After { at, end, lines, brace } => {
                let site = sites.entry(*at).or_default();
                site.end = *end;
                site.after.extend(tagged(lines));
                site.brace = site.brace.take().or_else(|| brace.clone());
            }
            Op::Rewrite { at, end, lines, brace } => {
                let site = sites.entry(*at).or_default();
                site.end = *end;
                site.instead = Some((i, lines.clone()));
                site.brace = site.brace.take().or_else(|| brace.clone());
            }
            Op::BlockEnd { brace, lines } => {
                block_ends.entry(*brace).or_default().extend(tagged(lines));
            }
            Op::Else { start, end, lines } => {
                edits.push(else_edit(view, &style(*start), i, (*start, *end), lines));
            }
            Op::Observe { .. } => {}
            Op::Insert { at, end, text } => {
                let parts = vec![(i, 0..text.len(), false)];
                edits.push(TextEdit { range: *at..*end, text: text.clone(), parts });
            }
        }
    }
    for (at, site) in sites {
        statement_edits(view, &style(at), at, site, &mut edits);
    }
    for (brace, lines) in block_ends {
        edits.push(block_end_edit(view, &style(brace), brace, &lines));
    }
    edits.sort_by_key(|e| (e.range.start, e.range.end));
    edits
}

/// How added lines are laid out.
struct Layout<'s> {
    style: &'s Style,
    indent: &'s str,
    inline: bool,
}

/// Text under construction that remembers who wrote what.
#[derive(Default)]
struct Text {
    text: String,
    parts: Vec<(usize, Range<usize>, bool)>,
}

impl Text {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// A line of an op; `\n` in it stands for a new line, `\t` after that for a step inwards.
    fn own(&mut self, op: usize, line: &Line, layout: &Layout<'_>) {
        let text = &line.text;
        let start = self.text.len();
        let text = match layout.inline {
            true => text.trim_start_matches('\t').replace("\n\t", " ").replace('\n', " "),
            false => {
                let next = format!("{}{}", layout.style.newline, layout.indent);
                text.replace('\t', &layout.style.unit).replace('\n', &next)
            }
        };
        self.text.push_str(&text);
        self.parts.push((op, start..self.text.len(), line.releases));
    }

    fn edit(self, range: Range<usize>) -> TextEdit {
        TextEdit { range, text: self.text, parts: self.parts }
    }
}

fn statement_edits(view: &View, style: &Style, at: usize, site: Site, edits: &mut Vec<TextEdit>) {
    let first = is_first_on_line(view, at);
    let (inner, close) = match &site.brace {
        None => (indent(view, at), None),
        Some(brace) => {
            let outer = indent(view, brace.outer);
            let inner = if first { indent(view, at) } else { format!("{outer}{}", style.unit) };
            let open = if style.brace_below {
                format!("{}{outer}{{", style.newline)
            } else {
                " {".to_owned()
            };
            if first {
                let text = Text { text: open, parts: Vec::new() };
                edits.push(text.edit(brace.header..brace.header));
            } else {
                let text =
                    Text { text: format!("{open}{}{inner}", style.newline), ..Text::default() };
                edits.push(text.edit(brace.header..at));
            }
            (inner, Some((outer, brace.clone())))
        }
    };
    let inline = !first && close.is_none();
    let gap = if inline { " ".to_owned() } else { format!("{}{inner}", style.newline) };
    let layout = Layout { style, indent: &inner, inline };
    let mut before = Text::default();
    for (op, line) in &site.before {
        before.own(*op, line, &layout);
        before.push(&gap);
    }
    match site.instead {
        None => edits.push(before.edit(at..at)),
        Some((op, lines)) => {
            for (i, line) in lines.iter().enumerate() {
                if i > 0 {
                    before.push(&gap);
                }
                before.own(op, line, &layout);
            }
            edits.push(before.edit(at..site.end));
        }
    }
    after_statement(view, &layout, site.end, &site.after, close, edits);
}

/// What follows the statement: added statements, and the closing brace after a comment on the same
/// line.
fn after_statement(
    view: &View,
    layout: &Layout<'_>,
    end: usize,
    added: &[(usize, Line)],
    close: Option<(String, Brace)>,
    edits: &mut Vec<TextEdit>,
) {
    let style = layout.style;
    let gap = format!("{}{}", style.newline, layout.indent);
    let mut text = Text::default();
    for (op, line) in added {
        text.push(if layout.inline { " " } else { &gap });
        text.own(*op, line, layout);
    }
    let rest_is_comment = rest_of_line_is_comment(view, end);
    let at = if rest_is_comment { line_end(view, end) } else { end };
    let Some((outer, brace)) = close else {
        if !added.is_empty() {
            edits.push(text.edit(at..at));
        }
        return;
    };
    text.push(&format!("{}{outer}}}", style.newline));
    match brace.next_else {
        Some(next) if !style.brace_below && only_blank(view, at, next) => {
            text.push(" ");
            edits.push(text.edit(at..next));
        }
        _ => edits.push(text.edit(at..at)),
    }
}

fn only_blank(view: &View, from: usize, to: usize) -> bool {
    view.text.get(from..to).is_some_and(|t| t.iter().all(u8::is_ascii_whitespace))
}

fn rest_of_line_is_comment(view: &View, end: usize) -> bool {
    let rest = view.text[end..line_end(view, end)].trim_ascii();
    rest.starts_with(b"//")
        || (rest.starts_with(b"/*")
            && rest.ends_with(b"*/")
            && rest.windows(2).filter(|w| w == b"*/").count() == 1)
}

fn block_end_edit(view: &View, style: &Style, brace: usize, lines: &[(usize, Line)]) -> TextEdit {
    let mut text = Text::default();
    if is_first_on_line(view, brace) {
        let inner = format!("{}{}", indent(view, brace), style.unit);
        let layout = Layout { style, indent: &inner, inline: false };
        for (op, line) in lines {
            text.push(&inner);
            text.own(*op, line, &layout);
            text.push(style.newline);
        }
        let at = line_start(view, brace);
        return text.edit(at..at);
    }
    let layout = Layout { style, indent: "", inline: true };
    let spaced = view.text[..brace].last().is_some_and(u8::is_ascii_whitespace);
    for (op, line) in lines {
        text.push(if spaced { "" } else { " " });
        text.own(*op, line, &layout);
        text.push(if spaced { " " } else { "" });
    }
    text.edit(brace..brace)
}

fn else_edit(
    view: &View,
    style: &Style,
    op: usize,
    (start, end): (usize, usize),
    lines: &[Line],
) -> TextEdit {
    let outer = indent(view, start);
    let inner = format!("{outer}{}", style.unit);
    let braced = view.text[..end].last() == Some(&b'}');
    let mut text = Text::default();
    let head = match (braced, style.brace_below) {
        (true, false) => " else {".to_owned(),
        (_, true) => format!("{nl}{outer}else{nl}{outer}{{", nl = style.newline),
        (false, false) => format!("{}{outer}else {{", style.newline),
    };
    text.push(&head);
    let layout = Layout { style, indent: &inner, inline: false };
    for line in lines {
        text.push(&format!("{}{inner}", style.newline));
        text.own(op, line, &layout);
    }
    text.push(&format!("{}{outer}}}", style.newline));
    let at = if rest_of_line_is_comment(view, end) { line_end(view, end) } else { end };
    text.edit(at..at)
}
