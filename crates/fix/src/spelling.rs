//! The macro by which the code around calls a releasing function.
//!
//! In: where a function is called, by the compiler, and the source. Out: the name that stands at most of
//! these places, when it is not the function's own: a macro with one argument, whose definition is at hand and
//! does nothing but release.

use crate::holder::is_writable;
use crate::view::View;
use leakproof_findings::Sources;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tree_sitter::Node;

/// `calls`: lines and columns of calls of `function`.
pub fn of_calls(view: &View, calls: &[(u32, u32)], function: &str) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, column) in calls {
        if let Some(name) = view.offset(*line, *column).and_then(|at| name_at(view, at)) {
            *counts.entry(name).or_default() += 1;
        }
    }
    let (name, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (name != function).then(|| name.to_owned())
}

/// Headers that headers include, so deep at most.
const DEPTH: u32 = 3;

/// Whether a macro of a file, or of headers that it includes by name, does nothing but call a function
/// and forget the pointer: it must not return, for instance.
pub fn only_calls(sources: &Sources, file: &str, name: &str, callee: &str) -> bool {
    let mut texts = Vec::new();
    collect(sources, file, DEPTH, &mut BTreeSet::new(), &mut texts);
    let found = texts.iter().find_map(|text| definition(text, name));
    found.is_some_and(|(parameter, body)| {
        let known = [callee, &parameter, "NULL", "nullptr", "void", "do", "while", "if"];
        words(&body).all(|word| known.contains(&word) || word.starts_with(char::is_numeric))
    })
}

/// The texts of a file and of what it includes in quotes.
fn collect(
    sources: &Sources,
    file: &str,
    depth: u32,
    seen: &mut BTreeSet<String>,
    texts: &mut Vec<String>,
) {
    if !seen.insert(file.to_owned()) {
        return;
    }
    let Some(source) = sources.get(file) else { return };
    let text = String::from_utf8_lossy(source.bytes()).into_owned();
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let included: Vec<String> = text.lines().filter_map(included).map(str::to_owned).collect();
    texts.push(text);
    for name in included.into_iter().filter(|_| depth > 0) {
        let beside = folder.join(&name).to_string_lossy().into_owned();
        for path in [beside, name] {
            collect(sources, &path, depth - 1, seen, texts);
        }
    }
}

fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    rest.trim_start().strip_prefix('"')?.split('"').next()
}

/// The only parameter and the body of a macro.
fn definition(text: &str, name: &str) -> Option<(String, String)> {
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    joined.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
        let rest = rest.trim_start().strip_prefix(name)?.strip_prefix('(')?;
        let (parameter, body) = rest.split_once(')')?;
        let one = words(parameter).count() == 1 && !parameter.contains('.');
        one.then(|| (parameter.trim().to_owned(), body.to_owned()))
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty())
}

/// The name of the call with one argument, an access path, that starts at an offset.
fn name_at(view: &View, offset: usize) -> Option<&str> {
    let function = view.function(offset)?;
    let is_call = |n: Node<'_>| n.kind() == "call_expression" && n.start_byte() == offset;
    let call = view.find(function, is_call).first().copied()?;
    let arguments = call.child_by_field_name("arguments")?;
    let only = arguments.named_child(0).filter(|_| arguments.named_child_count() == 1)?;
    let callee = call.child_by_field_name("function").filter(|n| n.kind() == "identifier")?;
    is_writable(view.source(only)).then(|| view.source(callee))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_at_most_calls_counts() {
        let text = "void f() {\n XFREE(p);\n free(q);\n XFREE(s->r);\n ZAP(a, b);\n}\n";
        let view = View::new(text.into(), false).unwrap();
        let of = |calls: &[(u32, u32)]| of_calls(&view, calls, "free");
        assert_eq!(of(&[(2, 2), (3, 2), (4, 2)]), Some("XFREE".to_owned()));
        assert_eq!(of(&[(3, 2)]), None);
        assert_eq!(of(&[(5, 2)]), None, "it wants more than the object");
    }

    #[test]
    fn macros_that_do_more_are_not_used() {
        let body = "#define XFREE(p) do { free(p); \\\n (p) = NULL; } while (0)\n";
        let (parameter, found) = definition(body, "XFREE").unwrap();
        assert_eq!((parameter.as_str(), words(&found).count()), ("p", 7));
        assert_eq!(definition("#define XFREE(p, q) free(p)\n", "XFREE"), None);
        assert_eq!(definition("#define XFREES(p) free(p)\n", "XFREE"), None);
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        file("a.c", "#include \"a.h\"\n");
        file("a.h", "#define OUT(p) { free(p); return 1; }\n#define XFREE(p) free(p)\n");
        let sources = Sources::new(folder.path().to_owned());
        assert!(only_calls(&sources, "a.c", "XFREE", "free"));
        assert!(!only_calls(&sources, "a.c", "OUT", "free"));
        assert!(!only_calls(&sources, "a.c", "ELSEWHERE", "free"));
    }
}
