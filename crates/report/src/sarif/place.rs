//! Places in SARIF's terms: URIs relative to a base, and regions with character columns.
//!
//! In: file names as findings spell them and byte columns. Out: percent-encoded URIs and 1-based
//! columns counted in Unicode code points, for which the source line is needed; without it the byte
//! column stands, which is the same for ASCII lines.

use std::path::Path;

use leakproof_findings::{SourceFile, Sources};
use serde_json::{Value, json};

use crate::escape::visible;

/// The name of the directory that relative URIs start from. GitHub knows this one.
pub(super) const BASE: &str = "%SRCROOT%";
/// A longer source line is left out of the log.
const MAX_SNIPPET: usize = 400;

pub(super) struct Places<'a> {
    sources: &'a Sources,
}

/// A position as findings give it.
#[derive(Clone, Copy)]
pub(super) struct Position<'a> {
    pub file: &'a str,
    pub line: u32,
    pub column: u32,
    pub function: &'a str,
}

impl<'a> Places<'a> {
    pub fn new(sources: &'a Sources) -> Self {
        Places { sources }
    }

    pub fn file(&self, file: &str) -> Value {
        artifact_location(file)
    }

    /// A location object, with a message when there is one.
    pub fn location(&self, at: Position, message: Option<&str>) -> Value {
        let mut physical = json!({ "artifactLocation": artifact_location(at.file) });
        if at.line > 0 {
            physical["region"] = self.region(at);
        }
        let mut location = json!({ "physicalLocation": physical });
        if !at.function.is_empty() {
            let function = visible(at.function);
            location["logicalLocations"] =
                json!([{ "fullyQualifiedName": function, "kind": "function" }]);
        }
        if let Some(message) = message {
            location["message"] = json!({ "text": message });
        }
        location
    }

    fn region(&self, at: Position) -> Value {
        let file = self.sources.get(at.file);
        let line = file.as_deref().and_then(|f| f.line_bytes(at.line));
        let column = character_column(line, at.column);
        let mut region = json!({ "startLine": at.line, "startColumn": column });
        if let Some(line) = line.filter(|l| l.len() <= MAX_SNIPPET) {
            region["snippet"] = json!({ "text": String::from_utf8_lossy(line) });
        }
        region
    }

    /// The region that an edit replaces; its end is exclusive.
    pub fn edit_region(&self, file: &str, start: (u32, u32), end: (u32, u32)) -> Value {
        let text = self.sources.get(file);
        let column = |(line, column): (u32, u32)| {
            character_column(text.as_deref().and_then(|f: &SourceFile| f.line_bytes(line)), column)
        };
        json!({
            "startLine": start.0.max(1),
            "startColumn": column(start),
            "endLine": end.0.max(1),
            "endColumn": column(end),
        })
    }
}

/// Turns a 1-based byte column into a 1-based character column.
fn character_column(line: Option<&[u8]>, column: u32) -> u32 {
    let column = column.max(1);
    let Some(line) = line else { return column };
    let before = &line[..(column as usize - 1).min(line.len())];
    let characters = String::from_utf8_lossy(before).chars().count();
    u32::try_from(characters).map_or(column, |n| n.saturating_add(1))
}

pub(super) fn artifact_location(file: &str) -> Value {
    if file.starts_with('/') {
        json!({ "uri": format!("file://{}", percent_encode(file)) })
    } else {
        json!({ "uri": relative_uri(file), "uriBaseId": BASE })
    }
}

/// A relative path as a URI reference; one whose first segment holds a colon would read as a scheme.
fn relative_uri(file: &str) -> String {
    let file = file.trim_start_matches("./");
    let first = file.split('/').next().unwrap_or_default();
    let prefix = if first.contains(':') { "./" } else { "" };
    format!("{prefix}{}", percent_encode(file))
}

fn percent_encode(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => uri.push(byte.into()),
            b'/' | b'-' | b'.' | b'_' | b'~' | b'+' | b',' | b'=' | b'@' | b':' => {
                uri.push(byte.into());
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// Where the base is, if that is known; a directory URI ends in a slash.
pub(super) fn base(root: Option<&Path>) -> Value {
    let description = json!({ "text": "The directory that leakproof was started in." });
    match root {
        Some(root) => {
            let path = root.to_string_lossy();
            let uri = format!("file://{}/", percent_encode(path.trim_end_matches('/')));
            json!({ "uri": uri, "description": description })
        }
        None => json!({ "description": description }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_encoded() {
        assert_eq!(relative_uri("./a b/ü#?%.c"), "a%20b/%C3%BC%23%3F%25.c");
        assert_eq!(relative_uri("a\x1b\n.c"), "a%1B%0A.c");
        assert_eq!(relative_uri("c:d.c"), "./c:d.c");
        assert_eq!(artifact_location("/usr/x y.h")["uri"], "file:///usr/x%20y.h");
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(character_column(Some("é = f();".as_bytes()), 6), 5);
        assert_eq!(character_column(Some(b"abc"), 99), 4);
        assert_eq!(character_column(Some(b"abc"), 0), 1);
        assert_eq!(character_column(None, 7), 7);
    }

    #[test]
    fn the_base_ends_in_a_slash() {
        assert_eq!(base(Some(Path::new("/home/me/a b")))["uri"], "file:///home/me/a%20b/");
        assert_eq!(base(Some(Path::new("/")))["uri"], "file:///");
        assert!(base(None).get("uri").is_none());
    }
}
