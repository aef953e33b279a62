//! Splitting of command lines into arguments: shell quoting and response files.
//!
//! Bytes in, bytes out: arguments need not be UTF-8.

use crate::error::{FrontendError, plain_reason};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Response files may name response files; deeper nesting than this is a cycle.
const MAX_DEPTH: usize = 16;

/// Splits a shell command line. `None` when a quote is not closed.
pub fn split_command(command: &[u8]) -> Option<Vec<OsString>> {
    let mut words = shlex::bytes::Shlex::new(command);
    let arguments = words.by_ref().map(OsString::from_vec).collect();
    (!words.had_error).then_some(arguments)
}

/// Splits the text of a response file: white space separates, quotes and backslashes protect, as in
/// gcc's and clang's own reading. Unlike in a shell, `#` is an ordinary character.
pub fn split_response(text: &[u8]) -> Vec<OsString> {
    let mut out = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote: Option<u8> = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (b, Some(q)) if b == q => quote = None,
            (b, Some(_)) => word.get_or_insert_default().push(b),
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (b, None) if b.is_ascii_whitespace() => {
                out.extend(word.take().map(OsString::from_vec));
            }
            (b, None) => word.get_or_insert_default().push(b),
        }
    }
    out.extend(word.map(OsString::from_vec));
    out
}

/// Replaces every `@file` argument by the arguments in that file, relative to `directory`. A name
/// that is no readable file stays as it is, as with gcc and clang.
pub fn expand_responses(
    arguments: Vec<OsString>,
    directory: &Path,
) -> Result<Vec<OsString>, FrontendError> {
    let mut out = Vec::with_capacity(arguments.len());
    expand_into(arguments, directory, 0, &mut out)?;
    Ok(out)
}

fn expand_into(
    arguments: Vec<OsString>,
    directory: &Path,
    depth: usize,
    out: &mut Vec<OsString>,
) -> Result<(), FrontendError> {
    for argument in arguments {
        let Some(name) = argument.as_bytes().strip_prefix(b"@") else {
            out.push(argument);
            continue;
        };
        let path = directory.join(OsStr::from_bytes(name));
        if depth == MAX_DEPTH {
            return Err(response_error(&path, "it includes itself".into()));
        }
        match std::fs::read(&path) {
            Ok(text) => expand_into(split_response(&text), directory, depth + 1, out)?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => out.push(argument),
            Err(e) => return Err(response_error(&path, plain_reason(&e))),
        }
    }
    Ok(())
}

fn response_error(path: &Path, reason: String) -> FrontendError {
    FrontendError::ResponseFile { path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(arguments: &[OsString]) -> Vec<&str> {
        arguments.iter().filter_map(|a| a.to_str()).collect()
    }

    #[test]
    fn shell_quoting() {
        let split = split_command(br#"cc '-DA="x y"' -DB=\"q\" "-I a b" -c a.c"#).unwrap();
        assert_eq!(strings(&split), ["cc", r#"-DA="x y""#, r#"-DB="q""#, "-I a b", "-c", "a.c"]);
        assert!(split_command(b"cc 'open").is_none());
    }

    #[test]
    fn response_quoting() {
        let split = split_response(b"-DA=#1 'b c'\n\"d\\\"e\" '' f\\ g\n");
        assert_eq!(strings(&split), ["-DA=#1", "b c", "d\"e", "", "f g"]);
    }

    #[test]
    fn nested_response_files_expand_and_cycles_end() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.rsp"), "-DA @b.rsp -DC").unwrap();
        std::fs::write(dir.path().join("b.rsp"), "-DB @missing").unwrap();
        std::fs::write(dir.path().join("c.rsp"), "@c.rsp").unwrap();
        let out = expand_responses(vec!["@a.rsp".into()], dir.path()).unwrap();
        assert_eq!(strings(&out), ["-DA", "-DB", "@missing", "-DC"]);
        assert!(expand_responses(vec!["@c.rsp".into()], dir.path()).is_err());
    }
}
