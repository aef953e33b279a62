//! Warnings of other tools: SARIF 2.1.0 (Clang's analyzer, gcc, Cppcheck, Infer), the JSON of gcc and
//! of Infer, and the XML of Cppcheck (before 2.16 it has no other form).
//!
//! A result is a leak warning when its rule or message says so. The allocation is the step of its code
//! flow that says "allocated", the branches those that say which branch is taken, the leak point the
//! result's own place. A result that names no allocation (Cppcheck's) but a variable is kept aside: the
//! source tells where that variable got its value (see `assignment`).

use crate::warning::{Direction, Spot, Step, Warning};
use serde_json::Value;
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum ForeignError {
    #[error("not JSON: {0}")]
    NotJson(String),
    #[error("not XML: {0}")]
    NotXml(String),
    #[error("neither SARIF nor a report of gcc, Infer or Cppcheck")]
    UnknownShape,
}

/// Warnings, and notes on leak results that say too little.
#[derive(Debug, Default)]
pub struct Foreign {
    pub warnings: Vec<Warning>,
    /// Leaks of a variable, without the place of the allocation.
    pub unplaced: Vec<Unplaced>,
    pub notes: Vec<String>,
}

/// A leak point, and the variable that leaks there.
#[derive(Debug, PartialEq, Eq)]
pub struct Unplaced {
    pub leak: Spot,
    pub variable: String,
}

/// Reads a report.
pub fn read(text: &[u8]) -> Result<Foreign, ForeignError> {
    if let Some(xml) = std::str::from_utf8(text).ok().filter(|t| t.trim_start().starts_with('<')) {
        return read_cppcheck(xml);
    }
    let value: Value =
        serde_json::from_slice(text).map_err(|e| ForeignError::NotJson(e.to_string()))?;
    let mut foreign = Foreign::default();
    if let Some(runs) = value.get("runs").and_then(Value::as_array) {
        let results = runs.iter().filter_map(|r| r.get("results")?.as_array()).flatten();
        results.filter(|r| is_leak(r)).for_each(|r| foreign.add(sarif_result(r)));
    } else if let Some(list) = value.as_array() {
        for result in list.iter().filter(|r| is_leak(r)) {
            let is_infer = result.get("bug_type").is_some();
            foreign.add(if is_infer { infer_result(result) } else { gcc_result(result) });
        }
    } else {
        return Err(ForeignError::UnknownShape);
    }
    Ok(foreign)
}

/// `cppcheck --xml`. Of several places the first is the leak, as in its messages.
fn read_cppcheck(text: &str) -> Result<Foreign, ForeignError> {
    let document =
        roxmltree::Document::parse(text).map_err(|e| ForeignError::NotXml(e.to_string()))?;
    if !document.root_element().has_tag_name("results") {
        return Err(ForeignError::UnknownShape);
    }
    let mut foreign = Foreign::default();
    for error in document.descendants().filter(|n| n.has_tag_name("error")) {
        let said = |name: &str| error.attribute(name).unwrap_or("");
        if [said("id"), said("msg")].iter().any(|t| says_leak(t)) {
            let place = error.children().find(|n| n.has_tag_name("location"));
            let leak = place.and_then(|at| cppcheck_spot(&at));
            let variable = variable_of(said("msg"));
            foreign.add(Found { leak, variable, ..Found::default() });
        }
    }
    Ok(foreign)
}

fn cppcheck_spot(at: &roxmltree::Node<'_, '_>) -> Option<Spot> {
    let line = at.attribute("line")?.parse().ok().filter(|line| *line > 0)?;
    Some(Spot { file: at.attribute("file")?.into(), line, ..Spot::default() })
}

impl Foreign {
    fn add(&mut self, found: Found) {
        let Some(leak) = found.leak else {
            self.notes.push("a leak result without a place".to_owned());
            return;
        };
        let place = format!("{}:{}", leak.file.display(), leak.line);
        let Some(allocation) = found.allocation else {
            match found.variable {
                Some(variable) => self.unplaced.push(Unplaced { leak, variable }),
                None => self.notes.push(format!(
                    "{place}: the result does not say where the object is allocated"
                )),
            }
            return;
        };
        self.warnings
            .push(Warning { branches: found.branches, ..Warning::between(allocation, leak) });
    }
}

#[derive(Default)]
struct Found {
    leak: Option<Spot>,
    allocation: Option<Spot>,
    branches: Vec<Step>,
    variable: Option<String>,
}

fn text<'v>(value: &'v Value, path: &[&str]) -> &'v str {
    let mut at = value;
    for part in path {
        match at.get(part) {
            Some(next) => at = next,
            None => return "",
        }
    }
    at.as_str().unwrap_or("")
}

fn is_leak(result: &Value) -> bool {
    let said = [
        text(result, &["ruleId"]),
        text(result, &["bug_type"]),
        text(result, &["option"]),
        text(result, &["message", "text"]),
    ];
    said.iter().any(|t| says_leak(t))
}

fn says_leak(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("leak") || text.contains("unix.malloc")
}

/// The variable that a message names: quoted, or after a colon as Cppcheck does.
fn variable_of(message: &str) -> Option<String> {
    let is_name =
        |t: &&str| !t.is_empty() && t.chars().all(|c| c.is_alphanumeric() || "_.->".contains(c));
    let quoted = message.split(['\'', '`', '"', '\u{2018}', '\u{2019}']).skip(1).step_by(2);
    let after = message.rsplit_once(": ").map(|(_, name)| name.trim());
    quoted.chain(after).find(is_name).map(str::to_owned)
}

/// What a step of a code flow says.
fn learn(found: &mut Found, message: &str, spot: Spot) {
    let unquoted = |c: &char| !"'`\"\u{2018}\u{2019}".contains(*c);
    let said: String = message.to_ascii_lowercase().chars().filter(unquoted).collect();
    let side = match (said.contains("true branch"), said.contains("false branch")) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    };
    let allocates = ["is allocated", "allocated here", "allocated by"];
    if let Some(side) = side {
        found.branches.push(Step { at: spot, direction: Direction::Condition(side) });
    } else if found.allocation.is_none() && allocates.iter().any(|a| said.contains(a)) {
        found.allocation = Some(spot);
    }
}

fn sarif_result(result: &Value) -> Found {
    let variable = variable_of(text(result, &["message", "text"]));
    let mut found = Found { variable, ..Found::default() };
    let list = |v: &Value, name: &str| -> Vec<Value> {
        v.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    found.leak = list(result, "locations").first().and_then(sarif_spot);
    for flow in list(result, "codeFlows").iter().take(1) {
        for thread in list(flow, "threadFlows") {
            for step in list(&thread, "locations") {
                let Some(location) = step.get("location") else { continue };
                if let Some(spot) = sarif_spot(location) {
                    learn(&mut found, text(location, &["message", "text"]), spot);
                }
            }
        }
    }
    for location in list(result, "relatedLocations") {
        if let Some(spot) = sarif_spot(&location) {
            learn(&mut found, text(&location, &["message", "text"]), spot);
        }
    }
    found
}

fn sarif_spot(location: &Value) -> Option<Spot> {
    let physical = location.get("physicalLocation")?;
    let uri = text(physical, &["artifactLocation", "uri"]);
    let region = physical.get("region")?;
    let number = |name: &str| region.get(name).and_then(Value::as_u64).unwrap_or(0) as u32;
    let line = number("startLine");
    let column = number("startColumn");
    (!uri.is_empty() && line > 0).then(|| Spot {
        file: from_uri(uri),
        line,
        column,
        ..Spot::default()
    })
}

/// `file:///a%20b.c` as a path.
fn from_uri(uri: &str) -> PathBuf {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    let mut out = Vec::new();
    let bytes = path.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let digits = bytes.get(i + 1..i + 3).and_then(|d| std::str::from_utf8(d).ok());
        match digits.filter(|_| bytes[i] == b'%').and_then(|d| u8::from_str_radix(d, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                i += 3;
            }
            None => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    PathBuf::from(String::from_utf8_lossy(&out).into_owned())
}

/// A place given by members of an object.
fn spot(v: &Value, file: &str, line: &str) -> Option<Spot> {
    let number = v.get(line).and_then(Value::as_u64).unwrap_or(0) as u32;
    let name = text(v, &[file]);
    (number > 0 && !name.is_empty()).then(|| Spot {
        file: name.into(),
        line: number,
        ..Spot::default()
    })
}

/// `gcc -fanalyzer -fdiagnostics-format=json`.
fn gcc_result(result: &Value) -> Found {
    let variable = variable_of(text(result, &["message"]));
    let mut found = Found { variable, ..Found::default() };
    let caret = result.get("locations").and_then(|l| l.get(0)?.get("caret"));
    found.leak = caret.and_then(|c| spot(c, "file", "line"));
    for step in result.get("path").and_then(Value::as_array).into_iter().flatten() {
        if let Some(at) = step.get("location").and_then(|l| spot(l, "file", "line")) {
            learn(&mut found, text(step, &["description"]), at);
        }
    }
    found
}

fn infer_result(result: &Value) -> Found {
    let message = text(result, &["qualifier"]);
    let mut found = Found { variable: variable_of(message), ..Found::default() };
    found.leak = spot(result, "file", "line");
    let steps = result.get("bug_trace").and_then(Value::as_array).cloned().unwrap_or_default();
    for step in steps {
        if let Some(at) = spot(&step, "filename", "line_number") {
            let said = text(&step, &["description"]);
            let said = match said.rsplit_once("Taking ") {
                Some((_, branch)) => branch,
                None => said,
            };
            learn(&mut found, said, at);
        }
    }
    // Older versions say it in the message only.
    if let (None, Some(leak)) = (&found.allocation, &found.leak) {
        found.allocation = allocated_on(message).map(|line| Spot { line, ..leak.clone() });
    }
    found
}

/// The line in "allocated by call to `malloc()` at line 7, column 3 is not reachable".
fn allocated_on(message: &str) -> Option<u32> {
    let (_, rest) = message.split_once("allocated")?;
    let (_, rest) = rest.split_once(" line ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLANG: &str = r#"{"version":"2.1.0","runs":[{"results":[
      {"ruleId":"unix.Malloc","message":{"text":"Potential leak of memory pointed to by 'p'"},
       "locations":[{"physicalLocation":{"artifactLocation":{"uri":"file:///w/a%20b.c"},"region":{"startLine":9}}}],
       "codeFlows":[{"threadFlows":[{"locations":[
         {"location":{"message":{"text":"Memory is allocated"},"physicalLocation":{"artifactLocation":{"uri":"file:///w/a%20b.c"},"region":{"startLine":4}}}},
         {"location":{"message":{"text":"Taking true branch"},"physicalLocation":{"artifactLocation":{"uri":"file:///w/a%20b.c"},"region":{"startLine":6}}}}]}]}]},
      {"ruleId":"core.DivideZero","message":{"text":"Division by zero"},"locations":[]}]}]}"#;

    #[test]
    fn sarif() {
        let foreign = read(CLANG.as_bytes()).unwrap();
        let [w] = foreign.warnings.as_slice() else { panic!("{foreign:?}") };
        assert_eq!(w.allocation[0].file, PathBuf::from("/w/a b.c"));
        assert_eq!((w.allocation[0].line, w.leak.line), (4, 9));
        assert_eq!(w.branches[0].direction, Direction::Condition(true));
    }

    #[test]
    fn infer() {
        let text = r#"[{"bug_type":"MEMORY_LEAK_C","file":"a.c","line":9,"bug_trace":[
            {"filename":"a.c","line_number":4,"description":"allocated by `malloc` here"},
            {"filename":"a.c","line_number":6,"description":"Taking false branch"}]}]"#;
        let foreign = read(text.as_bytes()).unwrap();
        assert_eq!(foreign.warnings[0].allocation[0].line, 4);
        assert_eq!(foreign.warnings[0].branches[0].direction, Direction::Condition(false));
    }

    #[test]
    fn infer_that_names_the_allocation_in_its_message() {
        let text = r#"[{"bug_type":"MEMORY_LEAK","file":"a.c","line":9,"qualifier":
            "memory dynamically allocated to `p` by call to `malloc()` at line 4, column 15 is not reachable after line 9, column 3",
            "bug_trace":[{"filename":"a.c","line_number":3,"description":"start of procedure f()"}]}]"#;
        let foreign = read(text.as_bytes()).unwrap();
        assert_eq!(foreign.warnings[0].allocation[0].line, 4);
    }

    #[test]
    fn cppcheck() {
        let text = r#"<?xml version="1.0" encoding="UTF-8"?><results version="2"><cppcheck version="2.10"/><errors>
            <error id="memleak" severity="error" msg="Memory leak: p"><location file="a.c" line="12" column="9"/><symbol>p</symbol></error>
            <error id="nullPointer" severity="error" msg="Null pointer dereference: q"><location file="a.c" line="3"/></error>
            <error id="resourceLeak" severity="error" msg="Resource leak: f"/></errors></results>"#;
        let foreign = read(text.as_bytes()).unwrap();
        let [leak] = foreign.unplaced.as_slice() else { panic!("{foreign:?}") };
        assert_eq!((leak.leak.line, leak.variable.as_str()), (12, "p"));
        assert_eq!(foreign.notes, ["a leak result without a place"]);
        assert!(matches!(read(b"<html/>"), Err(ForeignError::UnknownShape)));
        assert!(matches!(read(b"<results>"), Err(ForeignError::NotXml(_))));
    }

    #[test]
    fn gcc() {
        let text = r#"[{"kind":"warning","option":"-Wanalyzer-malloc-leak","message":"leak of ‘p’",
          "locations":[{"caret":{"file":"a.c","line":8}}],"path":[
          {"location":{"file":"a.c","line":4},"description":"allocated here"},
          {"location":{"file":"a.c","line":7},"description":"following ‘true’ branch (when ‘n == 4711’)..."},
          {"location":{"file":"a.c","line":8},"description":"‘p’ leaks here; was allocated at (1)"}]},
          {"kind":"warning","option":"-Wunused","message":"unused","locations":[]}]"#;
        let foreign = read(text.as_bytes()).unwrap();
        let [w] = foreign.warnings.as_slice() else { panic!("{foreign:?}") };
        assert_eq!((w.allocation[0].line, w.leak.line), (4, 8));
        assert_eq!(w.branches.len(), 1);
        assert_eq!(w.branches[0].direction, Direction::Condition(true));
    }

    #[test]
    fn messages_name_variables() {
        let name = |m| variable_of(m).unwrap_or_default();
        assert_eq!(name("Memory leak: p"), "p");
        assert_eq!(name("Memory leak: o.name"), "o.name");
        assert_eq!(name("Potential leak of memory pointed to by 'p->q'"), "p->q");
        assert_eq!(name("leak of \u{2018}p\u{2019}"), "p");
        assert_eq!(name("memory is leaked"), "");
    }

    #[test]
    fn results_that_say_too_little_are_kept_aside_or_noted() {
        let text = r#"{"runs":[{"results":[
            {"ruleId":"memleak","message":{"text":"Memory leak: p"},
             "locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.c"},"region":{"startLine":9}}}]},
            {"ruleId":"memleak","message":{"text":"a leak"},
             "locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.c"},"region":{"startLine":7}}}]}]}]}"#;
        let foreign = read(text.as_bytes()).unwrap();
        assert!(foreign.warnings.is_empty());
        assert_eq!(foreign.unplaced[0].variable, "p");
        assert!(foreign.notes[0].contains("a.c:7"));
        assert!(read(b"{}").is_err() && read(b"x").is_err());
    }
}
