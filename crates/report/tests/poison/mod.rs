//! The example report with hostile text everywhere that text is free.

use leakproof_findings::{Report, Sources};

use crate::common::jobs;

/// The example with every free text, and the source itself, full of escapes and markup.
pub fn poisoned() -> (Report, Sources) {
    let bad = "\x1b]0;t\x07\u{202e}\u{9b}31m'\"><script>window.hacked=1</script>\
               <img src=x onerror=window.hacked=1>`&amp;\r\n\t\u{0}";
    let mut value = serde_json::to_value(&jobs().0).unwrap();
    poison(&mut value, bad);
    let report = serde_json::from_value(value).unwrap();
    let text = format!("{bad}\n").repeat(60).into_bytes();
    (report, Sources::in_memory([(bad, [text, vec![0xff, 0xfe, b'\n']].concat())]))
}

/// Replaces the strings that are free text by `bad`.
fn poison(value: &mut serde_json::Value, bad: &str) {
    const CLOSED: [&str; 6] = ["kind", "evidence", "event", "verdict", "applicability", "blake3"];
    match value {
        serde_json::Value::String(s) => *s = bad.to_owned(),
        serde_json::Value::Array(items) => items.iter_mut().for_each(|v| poison(v, bad)),
        serde_json::Value::Object(fields) => {
            let open = fields.iter_mut().filter(|(name, _)| !CLOSED.contains(&name.as_str()));
            open.for_each(|(_, v)| poison(v, bad));
        }
        _ => {}
    }
}
