//! Changes as `clang-apply-replacements` reads them: one YAML document per file.

use crate::outcome::FileChange;
use similar::{Algorithm, capture_diff_slices};
use std::path::Path;

/// The YAML for all changes; `root` is where file names start.
pub fn replacements(changes: &[FileChange], root: &Path) -> String {
    changes.iter().map(|change| one_file(change, root)).collect()
}

fn one_file(change: &FileChange, root: &Path) -> String {
    let path = quoted(&root.join(&change.file).to_string_lossy());
    let mut out = format!("---\nMainSourceFile: {path}\nReplacements:\n");
    let old: Vec<&[u8]> = change.before.split_inclusive(|b| *b == b'\n').collect();
    let new: Vec<&[u8]> = change.after.split_inclusive(|b| *b == b'\n').collect();
    let length = |lines: &[&[u8]]| lines.iter().map(|l| l.len()).sum::<usize>();
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        if op.tag() == similar::DiffTag::Equal {
            continue;
        }
        let offset = length(&old[..op.old_range().start]);
        let text = new[op.new_range()].concat();
        out.push_str(&format!(
            "  - FilePath: {path}\n    Offset: {offset}\n    Length: {}\n    ReplacementText: {}\n",
            length(&old[op.old_range()]),
            quoted(&String::from_utf8_lossy(&text))
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
        };
        let text = replacements(&[change], Path::new("/p"));
        assert!(text.contains("Offset: 3\n    Length: 0\n"), "{text}");
        assert!(text.contains(r#"ReplacementText: "\t\"x\"\n""#), "{text}");
    }
}
