//! What the user sees: progress, notes, totals, and the small subcommands.

mod common;

use common::{Run, Sandbox};

fn three(s: &Sandbox) {
    s.write("a.c", "int a(void) { return 1; }\n").write("b.c", "int b(void) { return 2; }\n");
    s.write("broken.c", "int f( {\n");
}

#[test]
fn plain_lines_without_a_terminal() {
    let s = Sandbox::new();
    three(&s);
    let run = s.run(["check", "a.c", "b.c", "broken.c", "-j1"]);
    assert!(
        run.stderr.contains("[1/3] a.c\n[2/3] b.c\n[3/3] broken.c (skipped)\n"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("2 units, 2 functions, 0 from the cache, 1 skipped"),
        "{}",
        run.stderr
    );
    let again = s.run(["check", "a.c", "-j1"]);
    assert!(!again.stderr.contains('\u{1b}'), "no escape codes: {}", again.stderr);
}

#[test]
fn quiet_is_silent() {
    let s = Sandbox::new();
    three(&s);
    assert_eq!(s.run(["check", "-q", "--format", "json", "a.c", "broken.c"]).stderr, "");
    assert_eq!(s.run(["-q", "check", "a.c"]).stderr, "");
}

#[test]
fn a_bar_on_a_terminal() {
    let s = Sandbox::new();
    three(&s);
    let mut command = s.command();
    let line = format!("{} check a.c b.c", env!("CARGO_BIN_EXE_leakproof"));
    // `script` gives its child a terminal.
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(s.path());
    script.env("LEAKPROOF_CACHE_DIR", s.cache()).env("TERM", "xterm");
    command.env_clear();
    let run = Run::from(script.output().unwrap());
    assert!(!run.stdout.contains("[1/2]"), "{}", run.stdout);
    assert!(run.stdout.contains("2/2"), "{:?}", run.stdout);
}

#[test]
fn results_do_not_depend_on_the_number_of_workers() {
    let s = Sandbox::new();
    let names: Vec<String> = (0..10).map(|i| format!("f{i}.c")).collect();
    for (i, name) in names.iter().enumerate() {
        let broken = if i % 3 == 0 { "}" } else { "" };
        s.write(name, format!("int f{i}(void) {{ return {i}; }}{broken}\n"));
    }
    let with = |jobs: &str| {
        let mut arguments = vec!["--no-cache", jobs];
        arguments.extend(names.iter().map(String::as_str));
        s.check(arguments)
    };
    assert_eq!(with("-j1"), with("-j8"));
}

#[test]
fn ir_is_printed_and_reads_back() {
    let s = Sandbox::new();
    s.write(
        "a.c",
        "#include <stdlib.h>\nstruct q { int n; char *buf; };\n\
                    int fill(struct q *q) { q->buf = malloc(q->n); return q->buf ? 0 : -1; }\n",
    );
    let text = s.ir(["a.c"]);
    let module = leakproof_ir::parse_module(&text).unwrap();
    assert_eq!(module.name, "a.c");
    assert!(text.contains("malloc") && text.contains("buf"), "{text}");
    assert_eq!(leakproof_ir::print_module(&module), text);
    s.run(["ir", "-q", "-o", "out.lir", "a.c"]);
    assert_eq!(std::fs::read_to_string(s.path().join("out.lir")).unwrap(), text);
}

#[test]
fn doctor_tells_what_it_found() {
    let s = Sandbox::new();
    let run = s.run(["doctor"]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    for part in ["ok       clang: ", "version 19", "ok       LLVM bitcode", "ok       Z3: 4."] {
        assert!(run.stdout.contains(part), "{}", run.stdout);
    }
    let mut command = s.command();
    let run = Run::from(command.arg("doctor").env("LEAKPROOF_CLANG", "/none").output().unwrap());
    assert_eq!(run.code, Some(2));
    assert!(
        run.stdout.contains("BROKEN   clang: /none: named in LEAKPROOF_CLANG"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let s = Sandbox::new();
    three(&s);
    let mut child =
        s.command().args(["ir", "-q", "a.c"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn stats_go_to_standard_error() {
    let s = Sandbox::new();
    three(&s);
    let run = s.run(["check", "-q", "--stats", "--format", "json", "a.c"]);
    assert!(run.stderr.starts_with("stats: wall "), "{}", run.stderr);
    assert!(serde_json::from_str::<serde_json::Value>(&run.stdout).is_ok());
}
