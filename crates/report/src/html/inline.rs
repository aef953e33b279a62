//! Small pieces of markup that several pages use.

use leakproof_findings::{Evidence, Finding, Verdict};

use crate::describe;
use crate::escape::{html, html_into};

/// A sentence in which `code` is set as code.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    for (index, part) in text.split('`').enumerate() {
        // An unpaired back-tick leaves its tail as code, which is harmless.
        if index % 2 == 1 {
            out.push_str("<code>");
            html_into(part, &mut out);
            out.push_str("</code>");
        } else {
            html_into(part, &mut out);
        }
    }
    out
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
        assert_eq!(prose("odd `tail"), "odd <code>tail</code>");
    }
}
