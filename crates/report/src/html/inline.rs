//! Small pieces of markup that several pages use.

use leakproof_findings::{Evidence, Finding, Verdict};

use crate::describe;
use crate::escape::{html, html_into};

/// A sentence in which code is set as code: what stands between back-ticks, or a word between
/// apostrophes.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some((before, code, after)) = next_code(rest) {
        html_into(before, &mut out);
        out.push_str("<code>");
        html_into(code, &mut out);
        out.push_str("</code>");
        rest = after;
    }
    html_into(rest, &mut out);
    out
}

/// The first piece of code: what is before it, itself, and what is after it.
fn next_code(text: &str) -> Option<(&str, &str, &str)> {
    let quotes = text.char_indices().filter(|(_, c)| matches!(c, '`' | '\''));
    for (start, quote) in quotes {
        let inner = &text[start + 1..];
        let Some(length) = inner.find(quote) else { continue };
        let code = &inner[..length];
        // An apostrophe inside a word, or around several words, is only an apostrophe.
        let starts_word = !text[..start].ends_with(|c: char| c.is_alphanumeric());
        if quote == '`' || (starts_word && !code.is_empty() && !code.contains(' ')) {
            return Some((&text[..start], code, &inner[length + 1..]));
        }
    }
    None
}

pub(super) fn badge(class: &str, text: &str) -> String {
    format!("<span class=\"badge {class}\">{}</span>", html(text))
}

/// The badges that sum a finding up: kind, family, evidence, verdict.
pub(super) fn badges(finding: &Finding) -> String {
    let kind = finding.kind.name();
    let mut out = badge(&format!("kind-{kind}"), kind);
    let family = describe::family(&finding.family);
    if family != "memory" {
        out.push_str(&badge("family", family));
    }
    out.push_str(&evidence_badge(finding.evidence));
    if let Some(verdict) = finding.verdict {
        out.push_str(&verdict_badge(verdict));
    }
    out
}

pub(super) fn evidence_badge(evidence: Evidence) -> String {
    badge(&format!("evidence-{}", evidence.name()), evidence.name())
}

pub(super) fn verdict_badge(verdict: Verdict) -> String {
    badge(&format!("verdict-{}", verdict.name().to_ascii_lowercase()), verdict.name())
}

/// `1 step`, `2 steps`.
pub(super) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_set_as_code_and_escaped() {
        assert_eq!(prose("a `<b>` & c"), "a <code>&lt;b&gt;</code> &amp; c");
        assert_eq!(prose("'p' isn't 'a b' `"), "<code>p</code> isn&#39;t &#39;a b&#39; `");
        assert_eq!(prose("odd `tail"), "odd `tail");
    }
}
