//! Watching builds: make, cmake with ninja, shell scripts, parallel jobs.

mod common;

use common::{Run, Sandbox, functions, skipped, units};
use serde_json::Value;
use std::process::Command;

fn two_files(s: &Sandbox) {
    s.write("src/a.c", "int a(void) { return VALUE; }\n");
    s.write("src/main.c", "int a(void);\nint main(void) { return a(); }\n");
}

const MAKEFILE: &str = "\
CFLAGS = -DVALUE=\\\"\\'x\\ y\\'\\\"[1]
prog: src/a.o src/main.o
\t$(CC) -o $@ $^
libx.a: src/a.o
\tar crs $@ $^
clean:
\trm -f prog src/*.o libx.a
";

#[test]
fn make_with_parallel_jobs() {
    let s = Sandbox::new();
    two_files(&s);
    s.write("Makefile", MAKEFILE);
    let report =
        s.check(["--keep-compile-commands", "db.json", "--", "make", "-j4", "prog", "libx.a"]);
    assert_eq!((units(&report), functions(&report), skipped(&report)), (2, 2, vec![]));
    assert!(s.path().join("prog").exists(), "the build did what it does");

    // The kept database is as good as the build itself.
    let again = s.check(["db.json"]);
    assert_eq!(again["stats"], report["stats"]);
    let database: Value =
        serde_json::from_slice(&std::fs::read(s.path().join("db.json")).unwrap()).unwrap();
    assert_eq!(database.as_array().unwrap().len(), 2);
    assert_eq!(database[0]["output"], "src/a.o");

    let links = std::fs::read(s.path().join("link_commands.json")).unwrap();
    let links: Value = serde_json::from_slice(&links).unwrap();
    let kinds: Vec<_> =
        links.as_array().unwrap().iter().map(|l| (&l["output"], &l["kind"])).collect();
    assert_eq!(
        kinds,
        [(&Value::from("libx.a"), &Value::from("archive")), (&"prog".into(), &"program".into())]
    );
    assert_eq!(links[1]["inputs"], serde_json::json!(["src/a.o", "src/main.o"]));
}

#[test]
fn an_up_to_date_build_says_so() {
    let s = Sandbox::new();
    two_files(&s);
    s.write("Makefile", MAKEFILE);
    s.check(["--", "make", "prog"]);
    s.run(["check", "-q", "--", "make", "prog"]).assert_refused(&["compiled nothing", "clean"]);
}

#[test]
fn cmake_and_ninja() {
    let s = Sandbox::new();
    two_files(&s);
    s.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.13)\nproject(p C)\nadd_library(x SHARED src/a.c)\n\
         target_compile_definitions(x PRIVATE VALUE=1)\nadd_executable(prog src/main.c)\n\
         target_link_libraries(prog x)\n",
    );
    s.script("build.sh", "#!/bin/sh\nset -e\ncmake -G Ninja -S . -B out\nninja -C out -j4\n");
    let report = s.check(["--keep-compile-commands", "db.json", "--", "./build.sh"]);
    assert_eq!((units(&report), skipped(&report)), (2, vec![]), "cmake's own probes are left out");
    let links = std::fs::read_to_string(s.path().join("link_commands.json")).unwrap();
    let links: Value = serde_json::from_str(&links).unwrap();
    let kinds: Vec<_> =
        links.as_array().unwrap().iter().map(|l| l["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["shared", "program"]);
}

#[test]
fn shell_script_with_paths_subshells_and_folders() {
    let s = Sandbox::new();
    two_files(&s);
    s.write("src/c.c", "int c(void) { return 0; }\n").write("src/s.s", ".text\n");
    s.script(
        "build.sh",
        "#!/bin/sh\nset -e\ncd src\n/usr/bin/cc -DVALUE=1 -c a.c &\n(gcc -c main.c)\nwait\n\
         sh -c 'exec cc -c c.c'\ncc -c s.s\ncc --version > /dev/null\ncc -E c.c > /dev/null\n\
         echo 'int t;' > conftest.c; cc -c conftest.c; rm conftest.c\n\
         gcc -o ../prog a.o main.o\n",
    );
    let report = s.check(["--", "./build.sh"]);
    assert_eq!(units(&report), 3);
    assert_eq!(skipped(&report), ["src/s.s: assembler, not C or C++"]);
}

#[test]
fn compiling_and_linking_at_once() {
    let s = Sandbox::new();
    two_files(&s);
    let report = s.check(["--", "cc", "-DVALUE=3", "src/a.c", "src/main.c", "-o", "prog"]);
    assert_eq!((units(&report), functions(&report)), (2, 2));
}

#[test]
fn compilers_behind_a_cache_and_under_other_names() {
    let s = Sandbox::new();
    two_files(&s);
    // As ccache does: a compiler's name that is a link to something else, which runs the compiler.
    std::fs::create_dir(s.path().join("bin")).unwrap();
    std::os::unix::fs::symlink("/usr/bin/gcc", s.path().join("bin/x86_64-linux-gnu-gcc-99"))
        .unwrap();
    let report = s.check(["--", "bin/x86_64-linux-gnu-gcc-99", "-DVALUE=1", "-c", "src/a.c"]);
    assert_eq!((units(&report), skipped(&report)), (1, vec![]));
}

#[test]
fn build_output_stays_out_of_the_result() {
    let s = Sandbox::new();
    two_files(&s);
    let command = "echo noise; cc -DVALUE=1 -c src/a.c";
    let report = s.check(["--", "sh", "-c", command]);
    assert_eq!(units(&report), 1);
    let run = s.run(["check", "-q", "--format", "json", "--", "sh", "-c", command]);
    assert!(!run.stderr.contains("noise") && !run.stdout.contains("noise"));
}

#[test]
fn failing_builds() {
    let s = Sandbox::new();
    two_files(&s);
    s.run(["check", "-q", "--", "false"])
        .assert_refused(&["build command failed", "exit status: 1"]);
    s.run(["check", "-q", "--", "no-such-command"])
        .assert_refused(&["no-such-command", "cannot be started"]);
    let run = s.run(["check", "--", "sh", "-c", "cc -DVALUE=1 -c src/a.c; exit 3"]);
    assert_eq!(run.code, Some(0));
    assert!(
        run.stderr.contains("warning: the build command failed (exit status: 3)"),
        "{}",
        run.stderr
    );
}

#[test]
fn nothing_is_left_behind() {
    let s = Sandbox::new();
    two_files(&s);
    s.check(["--", "cc", "-DVALUE=1", "-c", "src/a.c"]);
    assert_eq!(std::fs::read_dir(s.temp()).unwrap().count(), 0);
}

#[test]
fn the_environment_of_the_build_is_the_users() {
    let s = Sandbox::new();
    two_files(&s);
    let mut command: Command = s.command();
    command.env("CPPFLAGS", "-DVALUE=7").args(["check", "--format", "json", "--"]);
    command.args(["sh", "-c", "cc $CPPFLAGS -c src/a.c"]);
    assert_eq!(Run::from(command.output().unwrap()).code, Some(0));
}
