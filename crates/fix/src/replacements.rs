//! Changes as `clang-apply-replacements` reads them: one YAML document per file. What is not UTF-8 in a
//! file cannot be said there, and need not be: only what is new is.

use crate::outcome::FileChange;
use std::path::Path;

/// The YAML for all changes; `root` is where file names start.
pub fn replacements(changes: &[FileChange], root: &Path) -> String {
    changes.iter().map(|change| one_file(change, root)).collect()
}

fn one_file(change: &FileChange, root: &Path) -> String {
    let path = quoted(&root.join(&change.file).to_string_lossy());
    let mut out = format!("---\nMainSourceFile: {path}\nReplacements:\n");
    for (range, text) in change.edits.iter().filter(|(r, t)| !r.is_empty() || !t.is_empty()) {
        out.push_str(&format!(
            "  - FilePath: {path}\n    Offset: {}\n    Length: {}\n    ReplacementText: {}\n",
            range.start,
            range.len(),
            quoted(text)
        ));
    }
    out.push_str("...\n");
    out
}

/// A YAML double-quoted scalar.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_bytes() {
        let change = FileChange {
            file: "a.c".into(),
            before: "é\nb\n".into(),
            after: "é\n\t\"x\"\nb\n".into(),
            edits: vec![(3..3, "\t\"x\"\n".to_owned())],
        };
        let text = replacements(&[change], Path::new("/p"));
        assert!(text.contains("Offset: 3\n    Length: 0\n"), "{text}");
        assert!(text.contains(r#"ReplacementText: "\t\"x\"\n""#), "{text}");
    }
}
