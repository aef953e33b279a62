//! Changes as a unified diff that `git apply` and `patch -p1` take. Works on bytes: what is not
//! UTF-8 comes out as it went in.

use crate::outcome::FileChange;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

/// Lines around a change.
const CONTEXT: usize = 3;

/// The diff of all changes.
pub fn unified(changes: &[FileChange]) -> Vec<u8> {
    changes.iter().flat_map(one_file).collect()
}

fn one_file(change: &FileChange) -> Vec<u8> {
    let old: Vec<&[u8]> = change.before.split_inclusive(|b| *b == b'\n').collect();
    let new: Vec<&[u8]> = change.after.split_inclusive(|b| *b == b'\n').collect();
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut out = Vec::new();
    let name = &change.file;
    out.extend(format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n").bytes());
    for group in group_diff_ops(ops, CONTEXT) {
        hunk(&group, &old, &new, &mut out);
    }
    out
}

fn hunk(group: &[DiffOp], old: &[&[u8]], new: &[&[u8]], out: &mut Vec<u8>) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let from = first.old_range().start..last.old_range().end;
    let to = first.new_range().start..last.new_range().end;
    let start = |r: &std::ops::Range<usize>| if r.is_empty() { r.start } else { r.start + 1 };
    let head = format!("@@ -{},{} +{},{} @@\n", start(&from), from.len(), start(&to), to.len());
    out.extend(head.bytes());
    for op in group {
        let (gone, come) = (&old[op.old_range()], &new[op.new_range()]);
        match op.tag() {
            DiffTag::Equal => lines(b' ', gone, out),
            _ => {
                lines(b'-', gone, out);
                lines(b'+', come, out);
            }
        }
    }
}

fn lines(mark: u8, lines: &[&[u8]], out: &mut Vec<u8>) {
    for line in lines {
        out.push(mark);
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_missing_newlines_survive() {
        let change = FileChange {
            file: "a.c".into(),
            before: b"one\n\xff\r\nlast".to_vec(),
            after: b"one\nnew\n\xff\r\nlast".to_vec(),
            edits: Vec::new(),
        };
        let text = unified(&[change]);
        let expected: &[u8] = b"diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,3 +1,4 @@\n one\n+new\n \xff\r\n last\n\\ No newline at end of file\n";
        assert_eq!(text, expected);
    }
}
