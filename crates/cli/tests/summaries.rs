//! `leakproof summaries`: what functions are believed to do, of all functions or of some.

mod common;

use common::Sandbox;

fn project() -> Sandbox {
    let s = Sandbox::new();
    s.write(
        "a.c",
        "#include <stdlib.h>\n\
         struct box { char *text; };\n\
         static char *made(size_t n) { return malloc(n); }\n\
         static void emptied(struct box *b) { free(b->text); b->text = 0; }\n\
         int main(void) { struct box b = { made(9) }; emptied(&b); return 0; }\n",
    );
    s
}

#[test]
fn allocations_releases_and_stores_are_told() {
    let text = project().run(["summaries", "a.c"]).stdout;
    for line in [
        "made:",
        "  new0: memory by malloc",
        "  value (%0:Failure.malloc ? 0 : &new0+0)",
        "emptied:",
        "  [arg0] := 0",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
    assert!(text.contains("  freed([arg0]) := "), "{text}");
}

#[test]
fn a_choice_of_functions() {
    let s = project();
    let text = s.run(["summaries", "a.c", "--function", "emptied"]).stdout;
    assert!(text.starts_with("emptied:\n") && !text.contains("made:"), "{text}");
    s.run(["summaries", "a.c", "--function", "absent"]).assert_refused(&["absent"]);
}
