//! Bad input: one clear line with the file and the remedy, exit code 2, nothing written.

mod common;

use common::{Run, Sandbox};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

fn check(s: &Sandbox, arguments: &[&str]) -> Run {
    let mut command = s.command();
    command.args(["check", "--format", "json", "-q", "-o", "out.json"]).args(arguments);
    let run = Run::from(command.output().unwrap());
    assert!(!s.path().join("out.json").exists());
    run
}

#[test]
fn missing_file() {
    check(&Sandbox::new(), &["nope.c"])
        .assert_refused(&["nope.c: no such file", "check the spelling"]);
    check(&Sandbox::new(), &["nope.bc"]).assert_refused(&["nope.bc: no such file"]);
    check(&Sandbox::new(), &["-p", "nope"]).assert_refused(&["nope: no such file"]);
}

#[test]
fn nothing_to_be_found() {
    let s = Sandbox::new();
    s.write("dir/x.txt", "");
    check(&s, &[]).assert_refused(&["no compile_commands.json", "BUILD COMMAND"]);
    check(&s, &["dir"]).assert_refused(&["dir: holds no compile_commands.json"]);
    check(&s, &["-p", "dir"]).assert_refused(&["dir: holds no compile_commands.json"]);
}

#[test]
fn broken_database() {
    let s = Sandbox::new();
    s.write("compile_commands.json", "[\n {\"directory\": \"/\", \"file\": 7}\n]");
    check(&s, &[]).assert_refused(&["compile_commands.json:2:", "expected a string", "again"]);
    s.write("compile_commands.json", "[{\"directory\": \"/\"");
    check(&s, &[]).assert_refused(&["compile_commands.json:1:18", "EOF"]);
    s.write("compile_commands.json", "");
    check(&s, &[]).assert_refused(&["compile_commands.json: is empty"]);
    s.write("compile_commands.json", "[]");
    check(&s, &[]).assert_refused(&["compile_commands.json: the compile database has no entries"]);
    s.write("compile_commands.json", [0, 159, 146, 150]);
    check(&s, &[]).assert_refused(&["compile_commands.json:1:"]);
    std::fs::remove_file(s.path().join("compile_commands.json")).unwrap();
    std::fs::create_dir(s.path().join("compile_commands.json")).unwrap();
    check(&s, &["compile_commands.json"]).assert_refused(&["compile_commands.json"]);
}

#[test]
fn damaged_bitcode() {
    let s = Sandbox::new();
    s.write("a.c", "int f(void) { return 1; }\n");
    let mut clang = std::process::Command::new("clang-19");
    clang.current_dir(s.path()).args(["-g", "-emit-llvm", "-c", "a.c", "-o", "a.bc"]);
    assert!(clang.status().unwrap().success());
    let good = std::fs::read(s.path().join("a.bc")).unwrap();
    s.write("cut.bc", &good[..good.len() / 2]);
    check(&s, &["cut.bc"]).assert_refused(&["cut.bc: ", "emit-llvm"]);
    let noise: Vec<u8> =
        (0..4096_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    s.write("noise.bc", noise);
    check(&s, &["noise.bc"]).assert_refused(&["noise.bc: ", "emit-llvm"]);
    s.write("noise.ll", "define i32 @f( {\n");
    check(&s, &["noise.ll"]).assert_refused(&["noise.ll: ", "emit-llvm"]);
    let mut flipped = good.clone();
    for at in (200..flipped.len()).step_by(97) {
        flipped[at] ^= 0x55;
    }
    s.write("flipped.bc", flipped);
    check(&s, &["flipped.bc"]).assert_refused(&["flipped.bc: "]);
}

/// Bits flipped anywhere: refused or taken, but never a crash.
#[test]
fn bitcode_with_flipped_bits() {
    let s = Sandbox::new();
    s.write("a.c", "struct s { int n; char *p; };\nint f(struct s *s) { while (s->n--) s->p[s->n] = 1; return s->n; }\n");
    let mut clang = std::process::Command::new("clang-19");
    clang.current_dir(s.path()).args(["-g", "-emit-llvm", "-c", "a.c", "-o", "a.bc"]);
    assert!(clang.status().unwrap().success());
    let good = std::fs::read(s.path().join("a.bc")).unwrap();
    let mut state = 1_u64;
    for _ in 0..20 {
        let mut bytes = good.clone();
        for _ in 0..3 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % bytes.len();
            bytes[at] ^= 1 << (state >> 20 & 7);
        }
        s.write("bad.bc", bytes);
        let run = s.run(["ir", "-q", "--no-cache", "bad.bc"]);
        assert!(matches!(run.code, Some(0 | 2)), "{:?} {}", run.code, run.stderr);
        assert!(!run.stderr.contains("internal error"), "{}", run.stderr);
    }
}

#[test]
fn empty_files_and_folders_in_disguise() {
    let s = Sandbox::new();
    s.write("empty.c", "").write("empty.bc", "").write("empty.ll", "").write("dir.c/x", "");
    for name in ["empty.c", "empty.bc", "empty.ll"] {
        check(&s, &[name]).assert_refused(&[name, "is empty"]);
    }
    check(&s, &["dir.c"]).assert_refused(&["dir.c: holds no compile_commands.json"]);
}

#[test]
fn other_kinds_of_files() {
    let s = Sandbox::new();
    s.write("a.txt", "x").write("a.h", "x").write("a.o", "x");
    for name in ["a.txt", "a.h", "a.o"] {
        check(&s, &[name]).assert_refused(&[name, "is not C, C++ or LLVM bitcode"]);
    }
}

#[test]
fn names_that_are_not_utf8_or_hold_escape_codes() {
    let s = Sandbox::new();
    let run = s.run([OsStr::new("check"), OsStr::from_bytes(b"caf\xe9.c")]);
    run.assert_refused(&["no such file"]);
    let run = s.run(["check", "a\n\u{1b}[31m.c"]);
    run.assert_refused(&["no such file"]);
    assert!(!run.stderr.contains('\u{1b}'));
}

#[test]
fn unreadable_files() {
    use std::os::unix::fs::PermissionsExt;
    let s = Sandbox::new();
    s.write("a.c", "int x;\n");
    let path = s.path().join("a.c");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_err() {
        // Root reads everything, and then there is nothing to refuse.
        check(&s, &["a.c"]).assert_refused(&["a.c: cannot be read", "permissions"]);
    }
}

#[test]
fn all_units_failing_is_a_failure_of_the_run() {
    let s = Sandbox::new();
    s.write("a.c", "#include \"gone.h\"\n").write("b.c", "#error no\n");
    check(&s, &["a.c"]).assert_refused(&["a.c:1:10: fatal error: 'gone.h' file not found"]);
    check(&s, &["a.c", "b.c"]).assert_refused(&["none of the 2 units", "a.c:1:10"]);
}

#[test]
fn clang_missing_or_wrong() {
    let s = Sandbox::new();
    s.write("a.c", "int x;\n");
    let with = |clang: &str| {
        let mut command = s.command();
        Run::from(command.args(["check", "a.c"]).env("LEAKPROOF_CLANG", clang).output().unwrap())
    };
    with("/no/such/clang").assert_refused(&["/no/such/clang", "LEAKPROOF_CLANG"]);
    let other = s.script("other", "#!/bin/sh\necho 'clang version 11.0.1'\n");
    with(other.to_str().unwrap()).assert_refused(&["clang 11", "15 to 19 is needed", "install"]);
    let mute = s.script("mute", "#!/bin/sh\n");
    with(mute.to_str().unwrap()).assert_refused(&["does not run"]);
    let mut command = s.command();
    let run = Run::from(command.args(["check", "a.c"]).env("PATH", "/none").output().unwrap());
    if !std::path::Path::new("/usr/lib/llvm-19/bin/clang").exists() {
        run.assert_refused(&["clang 19 was not found", "apt-get install clang-19"]);
    }
}

#[test]
fn bad_options() {
    let s = Sandbox::new();
    assert_eq!(s.run(["check", "--no-such-option"]).code, Some(2));
    assert_eq!(s.run(["check", "--format", "pdf"]).code, Some(2));
    assert_eq!(s.run(["frobnicate"]).code, Some(2));
    assert_eq!(s.run::<&str>([]).code, Some(2));
}
