//! Programs of extreme shape: bounded time, no crash, and leaks beside the extreme part still found.

mod common;

use common::Sandbox;
use serde_json::Value;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Far beyond what any of these needs, so that only a hang or an explosion gets here.
const LIMIT: Duration = Duration::from_secs(240);

/// A leak that must be found whatever else is in the program.
const PLAIN_LEAK: &str = "#include <stdlib.h>
int plain(int n) {
    char *p = malloc(8);
    if (!p)
        return -1;
    if (n)
        return n;
    free(p);
    return 0;
}
";

fn check(program: &str) -> Value {
    let sandbox = Sandbox::new();
    sandbox.write("a.c", format!("{PLAIN_LEAK}{program}"));
    let start = Instant::now();
    let report = sandbox.check(["a.c"]);
    assert!(start.elapsed() < LIMIT, "took {:?}", start.elapsed());
    report
}

fn leaking_functions(report: &Value) -> Vec<&str> {
    report["leaks"].as_array().unwrap().iter().map(|l| l["function"].as_str().unwrap()).collect()
}

#[test]
fn a_switch_of_ten_thousand_cases() {
    let mut program = String::from("int big(int n) {\n    char *p = malloc(4);\n    int r = 0;\n");
    program.push_str("    if (!p)\n        return -1;\n    switch (n) {\n");
    for i in 0..10_000 {
        let _ = writeln!(program, "    case {i}:\n        r = {};\n        break;", i * 7 % 1000);
    }
    program.push_str("    case 10001:\n        return 5;\n    }\n    free(p);\n    return r;\n}\n");
    let report = check(&program);
    assert!(leaking_functions(&report).contains(&"plain"));
}

#[test]
fn a_function_of_a_hundred_thousand_lines() {
    let mut program = String::from("int long_one(int *v, int n) {\n    char *p = malloc(4);\n");
    for i in 0..100_000 {
        let _ = writeln!(program, "    v[{}] += n ^ {i};", i % 64);
    }
    program.push_str("    free(p);\n    return n;\n}\n");
    let report = check(&program);
    assert!(leaking_functions(&report).contains(&"plain"));
}

#[test]
fn ten_thousand_branches_in_one_function() {
    let mut program =
        String::from("int branchy(int n) {\n    char *p = malloc(4);\n    int r = 0;\n");
    for i in 0..10_000 {
        let _ = writeln!(program, "    if (n & {})\n        r += {i};", 1 << (i % 20));
    }
    program.push_str("    free(p);\n    return r;\n}\n");
    let report = check(&program);
    assert!(leaking_functions(&report).contains(&"plain"));
}

#[test]
fn a_call_chain_of_five_thousand_functions() {
    let mut program = String::from("static char *f0(int n) { return malloc((size_t)n); }\n");
    for i in 1..5_000 {
        let _ = writeln!(program, "static char *f{i}(int n) {{ return f{}(n); }}", i - 1);
    }
    program.push_str("int deep(int n) {\n    char *p = f4999(n);\n    return p != 0;\n}\n");
    let report = check(&program);
    assert!(leaking_functions(&report).contains(&"plain"));
    assert!(leaking_functions(&report).contains(&"deep"));
}

#[test]
fn a_ring_of_mutually_recursive_functions() {
    let mut program = String::new();
    for i in 0..300 {
        let _ = writeln!(program, "void *r{i}(int n);");
    }
    for i in 0..300 {
        let next = (i + 1) % 300;
        let _ = writeln!(
            program,
            "void *r{i}(int n) {{ return n > {i} ? r{next}(n - 1) : malloc(1); }}"
        );
    }
    let report = check(&program);
    assert!(leaking_functions(&report).contains(&"plain"));
}

#[test]
fn a_checksum_that_uses_every_number_twice() {
    let mut program = String::from(
        "struct sum { unsigned a, b; char *text; };\nunsigned mix(struct sum *s) {
    unsigned a = s->a, b = s->b;\n",
    );
    for i in 0..64 {
        let _ = writeln!(program, "    a += b ^ (a << {}), b += a ^ (b >> {});", i % 7, i % 5);
    }
    program.push_str("    s->a = a, s->b = b;\n    return b;\n}\n");
    program.push_str("void end(struct sum *s) {\n    free(s->text);\n    free(s);\n}\n");
    let report = check(&program);
    assert!(leaking_functions(&report).contains(&"plain"));
}

#[test]
fn irreducible_control_flow() {
    let program = "int tangled(int n) {
    char *p = malloc(4);
    if (!p)
        return -1;
    if (n & 1)
        goto middle;
top:
    n--;
middle:
    n -= 2;
    if (n > 10)
        goto top;
    if (n > 5)
        goto middle;
    if (n == 3)
        return 3;
    free(p);
    return 0;
}
";
    let report = check(program);
    assert!(leaking_functions(&report).contains(&"plain"));
    assert!(leaking_functions(&report).contains(&"tangled"));
}

#[test]
fn computed_goto() {
    let program = "int interpret(const unsigned char *code) {
    static void *const labels[] = {&&op_inc, &&op_end};
    int *acc = calloc(1, sizeof *acc);
    if (!acc)
        return -1;
    goto *labels[*code & 1];
op_inc:
    ++*acc;
    ++code;
    goto *labels[*code & 1];
op_end:;
    int r = *acc;
    free(acc);
    return r;
}
";
    let report = check(program);
    assert_eq!(leaking_functions(&report), ["plain"]);
}

#[test]
fn the_same_output_for_any_number_of_threads() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let folder = root.join("multi_file/config");
    let run = |jobs: &str| {
        let sandbox = Sandbox::new();
        let mut command = sandbox.command();
        command.current_dir(&folder).args(["check", "--format", "json", "-q", "--no-cache"]);
        command.args(["-j", jobs, "app.c", "config.c"]).env("RAYON_NUM_THREADS", jobs);
        command.output().unwrap().stdout
    };
    let one = run("1");
    assert!(!one.is_empty());
    assert_eq!(String::from_utf8_lossy(&one), String::from_utf8_lossy(&run("4")));
}
