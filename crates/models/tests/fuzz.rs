//! No text makes the parser panic, and what it accepts it can print and accept again.

use leakproof_models::{Library, Model};
use proptest::prelude::*;

/// Pieces that the language is made of, so that random text gets deep into the parser.
const PIECES: &[&str] = &[
    "f",
    "g",
    "malloc",
    "family",
    "alias",
    "is",
    "memory",
    "resource",
    "file",
    "new[]",
    "ok",
    "fail",
    "return",
    "noreturn",
    "ignored",
    "copies",
    "free",
    "take",
    "write",
    "move",
    "call",
    "if",
    "new",
    "zeroed",
    "of",
    "null",
    "nonnull",
    "nonzero",
    "zero",
    "inside",
    "or",
    "borrowed",
    "same",
    "unknown",
    "@1",
    "@2",
    "@0",
    "@33",
    "@",
    "@...",
    "*",
    "->",
    "8",
    "0",
    "-",
    "1",
    "..",
    ">=",
    "<",
    "<=",
    ">",
    "{",
    "}",
    "(",
    ")",
    ",",
    ";",
    ":",
    "=",
    "#",
    "\n",
    "\u{e9}",
    "\t",
    "\"",
    "99999999999999999999",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..60).prop_map(|p| p.join(" "))
}

/// A clause of which any combination parses, though it may be contradictory.
fn clause() -> impl Strategy<Value = String> {
    let arg = 1..=32usize;
    let place = prop_oneof![
        arg.clone().prop_map(|n| format!("@{n}")),
        arg.clone().prop_map(|n| format!("*@{n}")),
        (arg.clone(), any::<u32>(), any::<u32>()).prop_map(|(n, a, b)| format!("@{n}->{a}->{b}")),
    ];
    let family = prop::sample::select(vec!["", " of file", " of new[]"]);
    let zeroed = prop::sample::select(vec!["", " zeroed"]);
    prop_oneof![
        (place.clone(), family.clone()).prop_map(|(p, f)| format!("free {p}{f}")),
        place.clone().prop_map(|p| format!("take {p}")),
        arg.clone().prop_map(|n| format!("write *@{n}")),
        (arg.clone(), zeroed.clone(), family.clone())
            .prop_map(|(n, z, f)| format!("*@{n} = new{z}{f}")),
        (zeroed, family).prop_map(|(z, f)| format!("return new{z}{f}")),
        (any::<i64>(), any::<i64>()).prop_map(|(a, b)| format!(
            "return {}..{}",
            a.min(b),
            a.max(b)
        )),
        arg.clone().prop_map(|n| format!("return inside @{n} or null")),
        place.prop_map(|p| format!("return {p}")),
        (arg.clone(), arg.clone()).prop_map(|(a, b)| format!("call @{a}(inside @{b}, unknown)")),
        arg.prop_map(|n| format!("if @{n} nonnull")),
    ]
}

fn entry() -> impl Strategy<Value = String> {
    let outcome =
        (prop::sample::select(vec!["", "ok: ", "fail: "]), prop::collection::vec(clause(), 1..5))
            .prop_map(|(label, clauses)| format!("{label}{}", clauses.join(", ")));
    prop::collection::vec(outcome, 1..4).prop_map(|o| format!("f {{ {} }}", o.join("; ")))
}

fn parse(text: &str) -> Option<Model> {
    let library = Library::with_user_files(&[("t.model", text)]).ok()?;
    library.get("f").cloned()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_panic(text in any::<String>()) {
        let _ = Library::with_user_files(&[("t.model", &text)]);
    }

    #[test]
    fn any_words_are_read_without_panic(text in soup()) {
        if let Err(errors) = Library::with_user_files(&[("t.model", &text)]) {
            for error in errors {
                prop_assert!(error.pos.line >= 1 && error.pos.column >= 1);
                prop_assert!(error.to_string().starts_with("t.model:"));
            }
        }
    }

    #[test]
    fn what_is_accepted_prints_and_parses_to_the_same(text in entry()) {
        if let Some(first) = parse(&text) {
            let again = parse(&first.to_string());
            prop_assert_eq!(again.map(|m| m.outcomes), Some(first.outcomes));
        }
    }
}
