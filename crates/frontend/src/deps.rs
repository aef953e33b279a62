//! Reading of the make rule that clang writes with `-MD`: the files that a unit read.
//!
//! The rule arrives on clang's stderr among its messages, under a target name of our own.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The target of the rule, which no message starts with.
pub const TARGET: &str = "leakproof-dependencies";

/// Splits clang's stderr into the prerequisites of our rule, in order, and the messages.
pub fn split_dependencies(stderr: &[u8]) -> (Vec<PathBuf>, Vec<u8>) {
    let start = format!("{TARGET}:");
    let Some(at) = find_line(stderr, start.as_bytes()) else {
        return (Vec::new(), stderr.to_vec());
    };
    let rule = &stderr[at + start.len()..];
    let end = rule_end(rule);
    let messages = [&stderr[..at], &rule[end..]].concat();
    (prerequisites(&rule[..end]), messages)
}

fn find_line(text: &[u8], start: &[u8]) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive(|&b| b == b'\n') {
        if line.starts_with(start) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// The offset behind the first newline that no backslash escapes.
fn rule_end(rule: &[u8]) -> usize {
    let mut escaped = false;
    for (i, &b) in rule.iter().enumerate() {
        if b == b'\n' && !escaped {
            return i + 1;
        }
        escaped = b == b'\\' && !escaped;
    }
    rule.len()
}

/// The words of the rule: `\ ` and `\#` are a space and a hash sign, `$$` is a dollar sign.
fn prerequisites(rule: &[u8]) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut word = Vec::new();
    let mut bytes = rule.iter().copied().peekable();
    while let Some(b) = bytes.next() {
        match (b, bytes.peek()) {
            (b'\\', Some(b'\n')) => {
                bytes.next();
                flush(&mut word, &mut out);
            }
            (b'\\', Some(&next @ (b' ' | b'#'))) => {
                word.push(next);
                bytes.next();
            }
            (b'$', Some(b'$')) => {
                word.push(b'$');
                bytes.next();
            }
            (b, _) if b.is_ascii_whitespace() => flush(&mut word, &mut out),
            (b, _) => word.push(b),
        }
    }
    flush(&mut word, &mut out);
    out
}

fn flush(word: &mut Vec<u8>, out: &mut Vec<PathBuf>) {
    if !word.is_empty() {
        out.push(PathBuf::from(OsString::from_vec(std::mem::take(word))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_among_messages() {
        let text = format!("note: x\n{TARGET}: a\\ b.c c$$d.h \\\n  e\\#f.h\nwarning: y\n");
        let (files, messages) = split_dependencies(text.as_bytes());
        assert_eq!(files, ["a b.c", "c$d.h", "e#f.h"].map(PathBuf::from));
        assert_eq!(messages, b"note: x\nwarning: y\n");
    }

    #[test]
    fn no_rule() {
        let (files, messages) = split_dependencies(b"a.c:1:1: error: x\n");
        assert!(files.is_empty());
        assert_eq!(messages, b"a.c:1:1: error: x\n");
    }
}
