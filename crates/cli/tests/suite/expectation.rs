//! Expectations in trailing comments of C sources, with the function each stands in.

/// Which point of a leak the line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// Where the object is lost or forgotten (`// leak: KIND NAME`).
    Leak,
    /// The call that yields it, as seen from the function that loses it (`// leaks: NAME`).
    Alloc,
}

/// Whether the tool lives up to the expectation today.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    Expected,
    /// A true leak that is not found yet, with the reason.
    Missed(String),
    /// No leak, but reported, with the reason.
    False(String),
}

#[derive(Clone, Debug)]
pub struct Expectation {
    pub file: String,
    pub line: u32,
    pub function: String,
    pub point: Point,
    /// `lost` or `forgotten`; empty where the comment does not say.
    pub kind: String,
    /// Empty for an object that no variable holds (`*` in the comment).
    pub variable: String,
    /// Expectations of one group are one leak: a finding at any of them is enough.
    pub group: Option<String>,
    pub status: Status,
}

impl Expectation {
    pub fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
    pub fn is_false_alarm(&self) -> bool {
        matches!(self.status, Status::False(_))
    }
}

/// All expectations of one source file.
pub fn parse(file: &str, text: &str) -> Result<Vec<Expectation>, String> {
    let mut all = Vec::new();
    let mut function = String::new();
    let mut next = text.lines().skip(1);
    for (i, line) in text.lines().enumerate() {
        let opens = next.next() == Some("{");
        if let Some(name) = function_header(line, opens) {
            function = name;
        }
        let number = u32::try_from(i + 1).map_err(|e| e.to_string())?;
        let template = Expectation {
            file: file.to_owned(),
            line: number,
            function: function.clone(),
            point: Point::Leak,
            kind: String::new(),
            variable: String::new(),
            group: None,
            status: Status::Expected,
        };
        let found = comment(line, &template).map_err(|e| format!("{file}:{number}: {e}"))?;
        all.extend(found);
    }
    Ok(all)
}

fn comment(line: &str, template: &Expectation) -> Result<Vec<Expectation>, String> {
    if let Some((_, reason)) = line.split_once("// false: ") {
        let status = Status::False(reason.trim().to_owned());
        return Ok(vec![Expectation { status, ..template.clone() }]);
    }
    let (point, rest) = match (line.split_once("// leak: "), line.split_once("// leaks: ")) {
        (Some((_, rest)), _) => (Point::Leak, rest),
        (_, Some((_, rest))) => (Point::Alloc, rest),
        _ => return Ok(Vec::new()),
    };
    let (items, status) = match rest.split_once("; missed: ") {
        Some((items, reason)) => (items, Status::Missed(reason.trim().to_owned())),
        None => (rest, Status::Expected),
    };
    let template = Expectation { point, status, ..template.clone() };
    items.split(',').map(|item| one(item.trim(), &template)).collect()
}

/// `KIND NAME [GROUP]` at a leak point, `NAME [GROUP]` at an allocation.
fn one(item: &str, template: &Expectation) -> Result<Expectation, String> {
    let (item, group) = match item.split_once('[') {
        Some((before, group)) => (before.trim(), Some(group.trim_end_matches(']').to_owned())),
        None => (item, None),
    };
    let words: Vec<&str> = item.split_whitespace().collect();
    let (kind, name) = match (template.point, words.as_slice()) {
        (Point::Leak, [kind @ ("lost" | "forgotten"), name]) => (*kind, *name),
        (Point::Alloc, [name]) => ("", *name),
        _ => return Err(format!("expected `lost NAME` or `forgotten NAME`, found `{item}`")),
    };
    let variable = if name == "*" { "" } else { name }.to_owned();
    Ok(Expectation { kind: kind.to_owned(), variable, group, ..template.clone() })
}

/// The name of the function whose definition begins on this line. Fixtures keep to a form in which
/// that is simple: the header on one line, methods of a class included. The brace may stand on the next line (`opens`).
fn function_header(line: &str, opens: bool) -> Option<String> {
    let code = line.split("//").next().unwrap_or("").trim_end();
    let defines = opens || code.ends_with('{') || code.ends_with('}');
    let indented = line.starts_with("     ") || line.starts_with('\t');
    let statement = ["return", "if", "for", "while", "switch", "do", "else", "try", "}"];
    let first = code.trim_start().split([' ', '(']).next().unwrap_or("");
    if !defines || indented || !code.contains('(') || statement.contains(&first) {
        return None;
    }
    let code = code
        .strip_prefix("__attribute__")
        .and_then(|c| c.split_once(")) "))
        .map_or(code, |(_, c)| c);
    let before = code.split('(').next()?;
    let name = before.rsplit([' ', '*', '&']).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}
