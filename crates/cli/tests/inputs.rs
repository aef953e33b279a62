//! What `check` and `ir` accept, one test per way of saying what to analyse.

mod common;

use common::{Sandbox, functions, skipped, units};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

const ONE: &str = "int one(void) { return 1; }\n";

#[test]
fn source_files_with_flags_after_them() {
    let s = Sandbox::new();
    s.write("inc/n.h", "#define N 3\n");
    s.write("a.c", "#include \"n.h\"\n#ifdef X\nint f(void) { return N; }\n#endif\n");
    s.write("b.c", ONE);
    let report = s.check(["a.c", "b.c", "-DX", "-I", "inc"]);
    assert_eq!((units(&report), functions(&report)), (2, 2));
    let report = s.check(["a.c", "b.c", "-Iinc"]);
    assert_eq!(functions(&report), 1);
}

#[test]
fn databases_in_their_usual_places() {
    let s = Sandbox::new();
    s.write("a.c", ONE);
    s.database("compile_commands.json", &[("a.c", &["cc", "-c", "a.c"])]);
    assert_eq!(units(&s.check::<&str>([])), 1);
    assert_eq!(units(&s.check(["."])), 1);

    let s = Sandbox::new();
    s.write("a.c", ONE);
    s.database("build/compile_commands.json", &[("a.c", &["cc", "-c", "a.c"])]);
    for arguments in [&[][..], &["."], &["build"], &["-p", "build"], &["-pbuild"]] {
        assert_eq!(units(&s.check(arguments)), 1, "{arguments:?}");
    }
    assert_eq!(units(&s.check(["build/compile_commands.json"])), 1);
}

#[test]
fn command_and_arguments_are_both_honoured() {
    let s = Sandbox::new();
    s.write("src/dir with space/h.h", "#define FROM_DIR 1\n");
    let source = "#include \"h.h\"\n#if FROM_DIR == 1\nint in_dir(void) { return 1; }\n#endif\n\
                  const char *text(void) { return NAME; }\n";
    s.write("src/a.c", source).write("src/b.c", source);
    let dir = s.path().join("src");
    let db = serde_json::json!([
        {"directory": dir, "file": "a.c",
         "command": "cc '-Idir with space' -DNAME=\\\"a\\ name\\\" -c a.c"},
        {"directory": dir, "file": "b.c",
         "arguments": ["cc", "-Idir with space", "-DNAME=\"b name\"", "-c", "b.c"]}
    ]);
    s.write("compile_commands.json", db.to_string());
    let report = s.check::<&str>([]);
    assert_eq!((units(&report), functions(&report)), (2, 4), "{report}");
    assert!(s.ir(["-p", ".", "src/a.c"]).contains("a name"));
    assert!(s.ir(["-p", ".", "src/b.c"]).contains("b name"));
}

#[test]
fn flags_that_change_meaning_reach_clang() {
    let s = Sandbox::new();
    s.write("sys/sys.h", "#define SYS 1\n").write("pre.h", "#define PRE 1\n");
    s.write("flags.rsp", "-DRSP='1' -include \"pre.h\"\n");
    s.write(
        "a.c",
        "#include <sys.h>\n#if SYS && PRE && RSP && DEF == 2 && __STDC_VERSION__ == 199901L\n\
         int all(void) { return 1; }\n#endif\n",
    );
    let arguments = ["cc", "-std=c99", "-isystem", "sys", "@flags.rsp", "-D", "DEF=2", "-c", "a.c"];
    s.database("compile_commands.json", &[("a.c", &arguments)]);
    assert_eq!(functions(&s.check::<&str>([])), 1);
}

#[test]
fn a_unit_compiled_twice_is_kept_twice_unless_nothing_differs() {
    let s = Sandbox::new();
    s.write("a.c", ONE);
    s.database(
        "compile_commands.json",
        &[
            ("a.c", &["cc", "-DA", "-c", "a.c", "-o", "1.o"]),
            ("a.c", &["cc", "-DB", "-c", "a.c", "-o", "2.o"]),
            ("a.c", &["cc", "-DB", "-O2", "-c", "a.c", "-o", "3.o"]),
        ],
    );
    assert_eq!(units(&s.check::<&str>([])), 2);
}

#[test]
fn gcc_flags_are_no_obstacle() {
    let s = Sandbox::new();
    s.write("a.c", ONE);
    let arguments = [
        "gcc-12",
        "-fconserve-stack",
        "-fno-some-optimization-of-gcc",
        "-mno-such-thing=1",
        "-Wall",
        "-Werror",
        "-Wno-such-warning",
        "-flto=auto",
        "-march=no-such-cpu",
        "-fplugin=none.so",
        "-MD",
        "-MF",
        "x.d",
        "-c",
        "a.c",
    ];
    s.database("compile_commands.json", &[("a.c", &arguments)]);
    let report = s.check::<&str>([]);
    assert_eq!((units(&report), skipped(&report)), (1, vec![]));
    assert!(!s.path().join("x.d").exists());
}

#[test]
fn old_c_that_gcc_takes_is_taken() {
    let s = Sandbox::new();
    s.write(
        "old.c",
        "static count;\nadd(a, b) char *b; { int *p = b; int n = b; char *q = 5; return sub(a); }\n\
         int take(int (*f)(int)) { return f(1); }\nint give(char *s) { take(give); return; }\n\
         void none() { return 3; }\nmain() { return add(1, 2, 3); }\n",
    );
    let report = s.check(["old.c"]);
    assert_eq!((functions(&report), skipped(&report)), (5, vec![]));
}

#[test]
fn what_is_no_c_is_skipped_with_a_note() {
    let s = Sandbox::new();
    s.write("a.c", ONE).write("start.S", ".text\n").write("f.f90", "end\n");
    s.write("broken.c", "int f( {\nint g( {\n");
    s.database(
        "compile_commands.json",
        &[
            ("start.S", &["cc", "-c", "start.S"]),
            ("f.f90", &["gfortran", "-c", "f.f90"]),
            ("broken.c", &["cc", "-c", "broken.c"]),
            ("a.c", &["cc", "-c", "a.c"]),
        ],
    );
    let report = s.check::<&str>([]);
    assert_eq!(units(&report), 1);
    let notes = skipped(&report);
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes.iter().any(|n| n.starts_with("start.S: assembler")), "{notes:?}");
    assert!(notes.iter().any(|n| n.starts_with("f.f90: not C")), "{notes:?}");
    assert!(notes.iter().any(|n| n.starts_with("broken.c: broken.c:1:")), "{notes:?}");
}

fn clang(s: &Sandbox, arguments: &[&str]) {
    let status = Command::new("clang-19").current_dir(s.path()).args(arguments).status().unwrap();
    assert!(status.success());
}

#[test]
fn bitcode_and_its_text_form() {
    let s = Sandbox::new();
    s.write("a.c", "int f(int x) { int y = x; if (x) y = 2; return y; }\n");
    clang(&s, &["-g", "-O0", "-emit-llvm", "-c", "a.c", "-o", "a.bc"]);
    clang(&s, &["-g", "-O0", "-emit-llvm", "-S", "a.c", "-o", "a.ll"]);
    for name in ["a.bc", "a.ll"] {
        let report = s.check([name]);
        assert_eq!((units(&report), functions(&report)), (1, 1), "{name}");
        // Also code compiled without optimisation comes out in SSA form.
        assert!(s.ir([name]).contains("phi"), "{name}");
    }
}

#[test]
fn everything_mixed() {
    let s = Sandbox::new();
    s.write("a.c", ONE).write("b.c", "int b(void) { return 1; }\n");
    s.write("c.c", "int c(void) { return 1; }\n").write("d.cpp", "int d() { return 1; }\n");
    s.write("e.c", "int e(void) { return 1; }\n");
    s.database("db/compile_commands.json", &[("a.c", &["cc", "-c", "a.c"])]);
    clang(&s, &["-g", "-emit-llvm", "-c", "c.c", "-o", "c.bc"]);
    let report = s.check(["-p", "db", "b.c", "c.bc", "d.cpp", "-DX", "--", "cc", "-c", "e.c"]);
    assert_eq!((units(&report), functions(&report)), (5, 5));
}

#[test]
fn cxx_by_name_by_driver_and_by_flag() {
    let s = Sandbox::new();
    let source = "#ifdef __cplusplus\nint only_in_cxx() { return 1; }\n#endif\n";
    s.write("a.cc", source).write("b.c", source).write("c.c", source).write("d.c", source);
    s.database(
        "compile_commands.json",
        &[
            ("a.cc", &["gcc", "-c", "a.cc"]),
            ("b.c", &["g++", "-c", "b.c"]),
            ("c.c", &["gcc", "-x", "c++", "-c", "c.c"]),
            ("d.c", &["gcc", "-c", "d.c"]),
        ],
    );
    assert_eq!(functions(&s.check::<&str>([])), 3);
}

#[test]
fn names_and_text_that_are_not_utf8() {
    let s = Sandbox::new();
    let name = OsStr::from_bytes(b"caf\xe9 1.c");
    s.write(name, b"/* caf\xe9 */ const char *f(void) { return \"caf\xe9\"; }\n");
    let report = s.check([name]);
    assert_eq!((units(&report), skipped(&report)), (1, vec![]));
    let mut db = b"[{\"directory\":\"".to_vec();
    db.extend(s.path().as_os_str().as_bytes());
    db.extend(b"\",\"file\":\"caf\xe9 1.c\",\"command\":\"cc -c 'caf\xe9 1.c'\"}]");
    s.write("compile_commands.json", db);
    assert_eq!(units(&s.check::<&str>([])), 1);
}

#[test]
fn files_are_named_from_the_current_folder() {
    let s = Sandbox::new();
    s.write("src/a.c", "#include \"../inc/h.h\"\n").write("inc/h.h", ONE).write("sub/x", "");
    let db = serde_json::json!([{"directory": s.path().join("src"), "file": "a.c",
                                 "arguments": ["cc", "-c", "a.c"]}]);
    s.write("compile_commands.json", db.to_string());
    let text = s.ir(["-p", ".", "src/a.c"]);
    assert!(text.contains("\"src/a.c\"") && text.contains("\"inc/h.h\""), "{text}");
    let mut command = s.command();
    command.current_dir(s.path().join("sub")).args(["ir", "-q", "-p", "..", "../src/a.c"]);
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(text.contains("\"../src/a.c\""), "{text}");
}
