//! Byte positions inside one source line: tokens, characters and windows.
//!
//! In: the bytes of a line, which may be anything, and 1-based byte columns, which may lie outside.
//! Out: byte ranges inside the line that never split a UTF-8 character.

/// The byte range of the token at a 1-based column.
pub(crate) fn token(bytes: &[u8], column: u32) -> (usize, usize) {
    let at = char_start(bytes, (column.max(1) as usize - 1).min(bytes.len()));
    (at, at + token_length(&bytes[at..]))
}

/// The part of a line, at most `size` bytes, to show so that byte `at` is in it.
pub(crate) fn window(bytes: &[u8], at: usize, size: usize) -> (usize, usize) {
    if bytes.len() <= size {
        return (0, bytes.len());
    }
    let from = char_start(bytes, at.saturating_sub(size / 3));
    let to = char_start(bytes, (from + size).min(bytes.len()));
    (from, to.max(at))
}

fn starts_char(bytes: &[u8], i: usize) -> bool {
    bytes.get(i).is_none_or(|b| b & 0xc0 != 0x80)
}

/// The start of the UTF-8 character that byte `i` is part of, or `i` itself if it is in none.
fn char_start(bytes: &[u8], i: usize) -> usize {
    (i.saturating_sub(3)..=i).rev().find(|&s| starts_char(bytes, s)).unwrap_or(i)
}

/// How many bytes belong to the token that starts here: an access path (`q->items[i].name`), also
/// with an operator before it (`!p`, `*line`), a whole `return` statement, or one character.
fn token_length(rest: &[u8]) -> usize {
    if let [b'!' | b'*' | b'&', operand @ ..] = rest
        && word_length(operand) > 0
    {
        return 1 + token_length(operand);
    }
    let word = word_length(rest);
    match &rest[..word] {
        b"" => (1..rest.len()).find(|&i| starts_char(rest, i)).unwrap_or(rest.len()),
        b"return" => statement_length(rest).unwrap_or(word),
        _ => path_length(rest, word),
    }
}

fn word_length(rest: &[u8]) -> usize {
    rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count()
}

/// Extends a word by the members and subscripts that follow it.
fn path_length(rest: &[u8], word: usize) -> usize {
    let mut end = word;
    loop {
        let tail = &rest[end..];
        let more = match tail {
            [b'-', b'>', member @ ..] if word_length(member) > 0 => 2 + word_length(member),
            [b'.', member @ ..] if word_length(member) > 0 => 1 + word_length(member),
            [b'[', ..] => tail.iter().take(40).position(|b| *b == b']').map_or(0, |i| i + 1),
            _ => 0,
        };
        if more == 0 {
            return end;
        }
        end += more;
    }
}

fn statement_length(rest: &[u8]) -> Option<usize> {
    rest.iter().take(60).position(|b| *b == b';')
}
