//! Releases deleted one at a time in the source: does `leakproof fix` put them back?

use crate::bench::inject::{self, Deletable};
use crate::bench::leakproof::{self, FixReport};
use crate::bench::scale::copy::copy;
use crate::bench::selection::Tree;
use anyhow::{Context, Result as Outcome};
use leakproof_findings::{Applicability, Edit, Finding};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

/// What became of a deleted release.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Trial {
    pub release: String,
    pub result: Result,
    pub why: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Result {
    #[default]
    NotFound,
    NotFixed,
    /// The text is what it was, but for white space.
    Same,
    /// The same call stands in the same function.
    Alike,
    Other,
}

/// Deletes up to `sample` releases of a program.
pub fn measure(binary: &Path, tree: &Tree, sample: usize) -> Outcome<Vec<Trial>> {
    let copied = copy(tree)?;
    let cache = leakproof::own_cache(tree, "deleted");
    let (before, _) = leakproof::fix(binary, &copied, &cache)?;
    let mut trials = Vec::new();
    for release in inject::deletable(tree, sample)? {
        let path = copied.folder.join(&release.file);
        let original = std::fs::read(&path).with_context(|| path.display().to_string())?;
        let Some(range) = statement(&original, &release) else { continue };
        let mut text = original.clone();
        text[range.start] = b';';
        text[range.start + 1..range.end]
            .iter_mut()
            .filter(|b| **b != b'\n')
            .for_each(|b| *b = b' ');
        std::fs::write(&path, &text)?;
        let after = leakproof::fix(binary, &copied, &cache);
        std::fs::write(&path, &original)?;
        let call = String::from_utf8_lossy(&original[range]).into_owned();
        let trial = judge(&before, &after?.0, &release, &call, (&original, &text));
        eprintln!("{}: {:?}", trial.release, trial.result);
        trials.push(trial);
    }
    Ok(trials)
}

/// The bytes of `name(...);` at a position.
fn statement(text: &[u8], release: &Deletable) -> Option<Range<usize>> {
    let before = text.split_inclusive(|b| *b == b'\n').take(release.line as usize - 1);
    let start = before.map(<[u8]>::len).sum::<usize>() + release.column as usize - 1;
    let open = start + text.get(start..)?.iter().position(|b| *b == b'(')?;
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || b"_ ".contains(b);
    if !text[start..open].iter().all(is_name) {
        return None;
    }
    let mut depth = 0;
    let close = (open..text.len()).find(|&i| {
        depth += i32::from(text[i] == b'(') - i32::from(text[i] == b')');
        depth == 0
    })?;
    (text.get(close + 1) == Some(&b';')).then_some(start..close + 2)
}

fn judge(
    before: &FixReport,
    after: &FixReport,
    release: &Deletable,
    call: &str,
    (original, text): (&[u8], &[u8]),
) -> Trial {
    let known: BTreeSet<String> = findings(before).map(|f| f.id.clone()).collect();
    let new = |f: &Finding| !known.contains(&f.id);
    let fixes: Vec<_> = after.fixes.iter().filter(|f| new(&f.finding)).collect();
    let (safe, open): (Vec<_>, Vec<_>) =
        fixes.into_iter().partition(|f| f.applicability == Applicability::Safe);
    let refused = after.refused.iter().find(|r| new(&r.finding)).map(|r| r.reason.clone());
    let suggested = open.first().map(|f| f.certificate.open.join("; "));
    let why = refused.or(suggested);
    let edits: Vec<&Edit> = safe.iter().flat_map(|f| &f.edits).collect();
    let result = match (&why, edits.is_empty()) {
        (Some(_), _) => Result::NotFixed,
        (None, true) => Result::NotFound,
        (None, false) => compare(original, text, &edits, &release.file, call),
    };
    Trial {
        release: format!("{}:{} {}", release.file, release.line, call),
        result,
        why: why.unwrap_or_default(),
    }
}

fn findings(report: &FixReport) -> impl Iterator<Item = &Finding> {
    let fixes = report.fixes.iter().map(|f| &f.finding);
    fixes.chain(report.refused.iter().map(|r| &r.finding))
}

fn compare(original: &[u8], text: &[u8], edits: &[&Edit], file: &str, call: &str) -> Result {
    let squeeze = |t: &[u8]| -> Vec<u8> {
        t.iter().copied().filter(|b| !b.is_ascii_whitespace() && *b != b';').collect()
    };
    let here: Vec<&&Edit> = edits.iter().filter(|e| e.file == file).collect();
    let patched = apply(text, &here);
    if here.len() == edits.len() && squeeze(&patched) == squeeze(original) {
        return Result::Same;
    }
    let wanted = squeeze(call.as_bytes());
    let added: Vec<u8> = edits.iter().flat_map(|e| squeeze(e.text.as_bytes())).collect();
    match added.windows(wanted.len().max(1)).any(|w| w == wanted) {
        true => Result::Alike,
        false => Result::Other,
    }
}

fn apply(text: &[u8], edits: &[&&Edit]) -> Vec<u8> {
    let offset = |line: u32, column: u32| {
        let before = text.split_inclusive(|b| *b == b'\n').take(line as usize - 1);
        (before.map(<[u8]>::len).sum::<usize>() + column as usize - 1).min(text.len())
    };
    let mut list: Vec<(Range<usize>, &str)> = edits
        .iter()
        .map(|e| {
            let start = offset(e.start_line, e.start_column);
            (start..offset(e.end_line, e.end_column).max(start), e.text.as_str())
        })
        .collect();
    list.sort_by_key(|(range, _)| (range.start, range.end));
    list.dedup();
    let (mut out, mut at) = (Vec::new(), 0);
    for (range, new) in list {
        out.extend_from_slice(text.get(at..range.start).unwrap_or_default());
        out.extend_from_slice(new.as_bytes());
        at = range.end;
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(line: u32, column: u32) -> Deletable {
        let text = String::new;
        Deletable { file: text(), line, column, function: text(), callee: text() }
    }

    #[test]
    fn only_whole_statements_are_deleted() {
        let text = b"a();\n  free(f(x), y); b = free(z) + 1;\n";
        assert_eq!(statement(text, &release(2, 3)), Some(7..21));
        assert_eq!(statement(text, &release(2, 22)), None, "a part of an expression");
    }

    #[test]
    fn a_release_that_is_back_is_the_same() {
        let edit = Edit {
            file: "a.c".into(),
            start_line: 2,
            start_column: 1,
            end_line: 2,
            end_column: 1,
            text: "free(p);\n".into(),
        };
        let (original, text) = (b"x();\nfree(p);\n", b"x();\n;       \n");
        assert_eq!(compare(original, text, &[&edit], "a.c", "free(p);"), Result::Same);
        let elsewhere = Edit { start_line: 1, end_line: 1, ..edit.clone() };
        assert_eq!(compare(original, text, &[&elsewhere], "a.c", "free(p);"), Result::Alike);
        let other = Edit { text: "drop(p);".into(), ..edit };
        assert_eq!(compare(original, text, &[&other], "a.c", "free(p);"), Result::Other);
    }
}
