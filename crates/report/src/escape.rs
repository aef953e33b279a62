//! Makes foreign text harmless: source lines, file names and notes may hold anything.
//!
//! In: text from files and the analysis. Out: text without control characters, escape sequences or
//! bidirectional overrides, and (for HTML) without markup. Nothing is dropped silently: what cannot
//! be shown is shown as a visible stand-in.

use std::fmt::Write;

use unicode_width::UnicodeWidthChar;

/// A character as it may be printed on a terminal or a page.
pub(crate) fn visible_char(c: char, out: &mut String) {
    match c {
        // The Unicode control pictures stand in for the C0 controls one to one.
        '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
        '\u{7f}' => out.push('\u{2421}'),
        _ if is_hidden(c) => {
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        }
        _ => out.push(c),
    }
}

/// Characters that change what is shown around them, or show nothing at all.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// One line of text for a terminal; tabs become one space.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push(' '),
            c => visible_char(c, &mut out),
        }
    }
    out
}

/// Appends text to HTML, in element content or in a quoted attribute.
pub(crate) fn html_into(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' => out.push('\t'),
            c => visible_char(c, out),
        }
    }
}

pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    html_into(text, &mut out);
    out
}

pub(crate) fn display_width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_survives() {
        let all: String = (0..0x3000).filter_map(char::from_u32).collect();
        for shown in [visible(&all), html(&all)] {
            assert!(shown.chars().all(|c| !c.is_control() || c == '\t'));
            assert!(!shown.contains(['\u{202e}', '\u{200b}', '\u{9b}']));
        }
        assert_eq!(visible("\x1b[31mred\x07"), "␛[31mred␇");
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(html("<a b='c' d=\"&\">"), "&lt;a b=&#39;c&#39; d=&quot;&amp;&quot;&gt;");
    }
}
