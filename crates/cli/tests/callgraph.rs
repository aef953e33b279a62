//! `leakproof callgraph`: direct calls, pointers, callbacks, functions of one name in two files.

mod common;

use common::Sandbox;

fn project() -> Sandbox {
    let s = Sandbox::new();
    s.write(
        "a.c",
        "#include <stdlib.h>\n\
         int shared(int);\n\
         static int twice(int x) { return 2 * x; }\n\
         static int thrice(int x) { return 3 * x; }\n\
         static int (*const table[])(int) = { twice, thrice };\n\
         static int cmp(const void *a, const void *b) { return a < b; }\n\
         static int helper(int x) { return x; }\n\
         int main(int argc, char **argv) {\n\
             qsort(argv, argc, sizeof *argv, cmp);\n\
             return table[argc & 1](argc) + helper(1) + shared(2);\n\
         }\n",
    );
    s.write(
        "b.c",
        "static int helper(int x) { return -x; }\nint shared(int x) { return helper(x); }\n",
    );
    s
}

#[test]
fn text_names_the_targets_of_every_call() {
    let run = project().run(["callgraph", "a.c", "b.c"]);
    let text = run.stdout;
    for line in [
        "main a.c:8",
        "  9:1: qsort, which calls cmp",
        "  10:8: through a pointer: twice, thrice",
        "  10:32: helper@a.c",
        "  10:44: shared",
        "  2:28: helper@b.c",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
}

#[test]
fn a_choice_of_functions_and_of_calls() {
    let s = project();
    let text = s.run(["callgraph", "a.c", "b.c", "--indirect"]).stdout;
    assert_eq!(text.lines().count(), 3, "{text}");
    let text = s.run(["callgraph", "a.c", "b.c", "--function", "shared"]).stdout;
    assert_eq!(text.lines().collect::<Vec<_>>(), ["shared b.c:2", "  2:28: helper@b.c"]);
    s.run(["callgraph", "a.c", "--function", "absent"]).assert_refused(&["absent"]);
}

#[test]
fn dot_is_a_graph() {
    let text = project().run(["callgraph", "a.c", "b.c", "--format", "dot"]).stdout;
    assert!(text.starts_with("digraph calls {\n") && text.ends_with("}\n"));
    assert!(text.contains("[label=\"helper@b.c\"]"), "{text}");
    assert!(text.contains("[label=\"qsort\", style=dashed]"), "{text}");
    assert_eq!(text.matches("[style=bold]").count(), 2, "{text}");
    assert_eq!(text.matches(" [style=dashed];").count(), 1, "{text}");
}
