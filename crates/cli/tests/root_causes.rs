//! One finding per root cause.

mod common;

use common::Sandbox;

/// Two calls of one function, and one variable that is not released at the end: one release is missing.
const PROGRAM: &str = r#"
#include <stdlib.h>
#include <string.h>
static char *copy(const char *s) { return s ? strdup(s) : NULL; }
int run(int kind, const char *a, const char *b) {
    char *p = NULL;
    if (kind == 1)
        p = copy(a);
    else if (kind == 2)
        p = copy(b);
    return p ? (int)strlen(p) : 0;
}
"#;

#[test]
fn calls_of_one_maker_are_one_finding() {
    let s = Sandbox::new();
    s.write("copies.c", PROGRAM);
    let run = s.run(["check", "--format", "json", "copies.c"]);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let leaks = report["leaks"].as_array().unwrap();
    assert_eq!(leaks.len(), 1, "{leaks:#?}");
    assert_eq!(leaks[0]["variable"], "p");
}
