//! Reads what `git diff` prints: which lines of which files a change touches.
//!
//! In: a diff with no context lines. Out: per file of the new side, the changed lines; a deletion
//! touches the lines on both of its sides.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Changed lines by file name as git spells it (from the top of the repository).
pub(crate) type Hunks = BTreeMap<String, Vec<RangeInclusive<u32>>>;

/// Reads a diff made with `--unified=0 --no-prefix`.
pub(crate) fn read(diff: &[u8]) -> Hunks {
    let mut hunks = Hunks::new();
    let mut file = None;
    let mut in_header = false;
    for line in String::from_utf8_lossy(diff).lines() {
        if line.starts_with("diff --git ") {
            in_header = true;
            file = None;
        } else if in_header && let Some(name) = line.strip_prefix("+++ ") {
            file = Some(unquote(name)).filter(|name| name != "/dev/null");
        } else if let Some(range) = line.strip_prefix("@@ ").and_then(new_range) {
            in_header = false;
            if let Some(file) = &file {
                hunks.entry(file.clone()).or_default().push(range);
            }
        }
    }
    hunks
}

/// The new side of `-a,b +c,d @@ ...`.
fn new_range(header: &str) -> Option<RangeInclusive<u32>> {
    let new = header.split(' ').find_map(|word| word.strip_prefix('+'))?;
    let (start, count) = new.split_once(',').unwrap_or((new, "1"));
    let (start, count): (u32, u32) = (start.parse().ok()?, count.parse().ok()?);
    match count {
        0 => Some(start.max(1)..=start.saturating_add(1)),
        _ => Some(start..=start.saturating_add(count - 1)),
    }
}

/// Git puts odd names in quotes, with C's escapes for bytes; a name with a space gets a tab after it.
fn unquote(name: &str) -> String {
    let name = name.strip_suffix('\t').unwrap_or(name);
    let Some(inner) = name.strip_prefix('"').and_then(|n| n.strip_suffix('"')) else {
        return name.to_owned();
    };
    let mut out = Vec::new();
    let mut bytes = inner.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                while let Some(next @ b'0'..=b'7') = bytes.peek().copied() {
                    value = (value * 8 + u32::from(next - b'0')) & 0xff;
                    bytes.next();
                }
                out.push(u8::try_from(value).unwrap_or(b'?'));
            }
            Some(b't') => out.push(b'\t'),
            Some(b'n') => out.push(b'\n'),
            Some(other) => out.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "\
diff --git src/a.c src/a.c
index 1..2 100644
--- src/a.c
+++ src/a.c
@@ -3 +3,2 @@ int f(void)
-old
+new
+++ not a header
@@ -9,2 +10,0 @@ int g(void)
-gone
-gone
diff --git old.c old.c
deleted file mode 100644
--- old.c
+++ /dev/null
@@ -1,2 +0,0 @@
-x
diff --git \"b \\303\\244.c\" \"b \\303\\244.c\"
--- \"b \\303\\244.c\"
+++ \"b \\303\\244.c\"
@@ -0,0 +1 @@
+x
";

    #[test]
    fn changed_lines_by_file() {
        let hunks = read(DIFF.as_bytes());
        assert_eq!(hunks.len(), 2);
        assert_eq!(hunks["src/a.c"], [3..=4, 10..=11]);
        assert_eq!(hunks["b \u{e4}.c"], [1..=1]);
    }

    #[test]
    fn nonsense_is_nothing() {
        assert_eq!(read(b"@@ -1 +x @@\n\xff\xfe\n+++ a\n@@ @@"), Hunks::new());
    }
}
