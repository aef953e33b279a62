//! The cache of lowered units: what it spares, what it notices, what it survives.

mod common;

use common::{Run, Sandbox, functions, units};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A clang that writes down each start.
fn counting_clang(s: &Sandbox) -> PathBuf {
    let log = s.path().join("clang.log");
    s.script("clang", &format!("#!/bin/sh\necho x >> '{}'\nexec clang-19 \"$@\"\n", log.display()))
}

fn starts(s: &Sandbox) -> usize {
    std::fs::read_to_string(s.path().join("clang.log")).unwrap_or_default().lines().count()
}

fn check(s: &Sandbox, clang: &Path, arguments: &[&str]) -> serde_json::Value {
    let mut command = s.command();
    command.args(["check", "--format", "json"]).args(arguments).env("LEAKPROOF_CLANG", clang);
    let run = Run::from(command.output().unwrap());
    assert!(matches!(run.code, Some(0 | 1)), "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// Sources that were written in this very moment are not cached: they may still change.
fn settle() {
    std::thread::sleep(std::time::Duration::from_millis(50));
}

fn project() -> Sandbox {
    let s = Sandbox::new();
    s.write("h.h", "#define N 1\n");
    s.write("a.c", "#include \"h.h\"\nint a(void) { return N; }\n");
    s.write("b.c", "int b(void) { return 2; }\n");
    settle();
    s
}

#[test]
fn a_warm_run_starts_no_clang() {
    let s = project();
    let clang = counting_clang(&s);
    let cold = check(&s, &clang, &["a.c", "b.c"]);
    assert_eq!(starts(&s), 3, "one for the version, one per unit");
    let warm = check(&s, &clang, &["a.c", "b.c"]);
    assert_eq!(starts(&s), 3);
    assert_eq!(cold, warm);
}

#[test]
fn a_touched_file_is_read_but_not_compiled() {
    let s = project();
    let clang = counting_clang(&s);
    check(&s, &clang, &["a.c", "b.c"]);
    let before = starts(&s);
    std::fs::File::open(s.path().join("h.h"))
        .unwrap()
        .set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(100))
        .unwrap();
    check(&s, &clang, &["a.c", "b.c"]);
    assert_eq!(starts(&s), before);
}

#[test]
fn a_changed_header_recompiles_its_units_only_and_changing_back_none() {
    let s = project();
    let clang = counting_clang(&s);
    check(&s, &clang, &["a.c", "b.c"]);
    let before = starts(&s);
    // Same size, so that only the content differs.
    s.write("h.h", "#define N 9\n");
    settle();
    check(&s, &clang, &["a.c", "b.c"]);
    assert_eq!(starts(&s), before + 1);
    assert!(s.ir(["a.c"]).contains('9'));
    s.write("h.h", "#define N 1\n");
    settle();
    check(&s, &clang, &["a.c", "b.c"]);
    assert_eq!(starts(&s), before + 1);
}

#[test]
fn flags_and_clang_are_part_of_the_key() {
    let s = project();
    let clang = counting_clang(&s);
    check(&s, &clang, &["b.c"]);
    let before = starts(&s);
    check(&s, &clang, &["b.c", "-DX"]);
    assert_eq!(starts(&s), before + 1);
    let mut text = std::fs::read_to_string(&clang).unwrap();
    text.push_str("# changed\n");
    s.script("clang", &text);
    check(&s, &clang, &["b.c"]);
    assert_eq!(starts(&s), before + 3, "its version is asked for, and the unit compiled");
}

fn cache_files(s: &Sandbox, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![s.cache()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn damaged_entries_are_made_again() {
    let damages: [fn(Vec<u8>) -> Vec<u8>; 4] = [
        |_| Vec::new(),
        |bytes| bytes[..bytes.len() / 2].to_vec(),
        |mut bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            bytes
        },
        |_| b"older version".to_vec(),
    ];
    for extension in ["unit", "manifest"] {
        for damage in damages {
            let s = project();
            let clang = counting_clang(&s);
            let good = check(&s, &clang, &["a.c"]);
            let before = starts(&s);
            let files = cache_files(&s, extension);
            assert_eq!(files.len(), 1);
            let bytes = std::fs::read(&files[0]).unwrap();
            std::fs::write(&files[0], damage(bytes)).unwrap();
            // With its report the unit would not be read at all.
            cache_files(&s, "report").iter().for_each(|r| std::fs::remove_file(r).unwrap());
            assert_eq!(check(&s, &clang, &["a.c"]), good);
            assert_eq!(starts(&s), before + 1);
            check(&s, &clang, &["a.c"]);
            assert_eq!(starts(&s), before + 1, "and it is whole again");
        }
    }
}

#[test]
fn no_cache_neither_reads_nor_writes() {
    let s = project();
    let clang = counting_clang(&s);
    check(&s, &clang, &["--no-cache", "a.c"]);
    assert!(!s.cache().exists());
    check(&s, &clang, &["a.c"]);
    let before = starts(&s);
    check(&s, &clang, &["--no-cache", "a.c"]);
    assert_eq!(starts(&s), before + 2);
}

#[test]
fn info_and_clear() {
    let s = project();
    s.check(["a.c", "b.c"]);
    assert!(s.run(["cache", "info"]).stdout.contains(": 2 units, results of 2, "));
    std::fs::write(s.cache().join("precious"), "not ours").unwrap();
    let cleared = s.run(["cache", "clear"]);
    assert_eq!(cleared.code, Some(0));
    assert!(cleared.stdout.contains("2 units removed"));
    assert!(s.run(["cache", "info"]).stdout.contains(": 0 units, results of 0, "));
    assert!(s.cache().join("precious").exists(), "only what leakproof made is removed");
}

#[test]
fn processes_share_it() {
    let s = Sandbox::new();
    let names: Vec<String> = (0..12).map(|i| format!("f{i}.c")).collect();
    for name in &names {
        s.write(name, format!("int {}(void) {{ return 1; }}\n", name.replace('.', "_")));
    }
    settle();
    let spawn = || {
        let mut command = s.command();
        command.args(["check", "--format", "json", "-q"]).args(&names);
        command.stdout(std::process::Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..4).map(|_| spawn()).collect();
    for child in children {
        let run = Run::from(child.wait_with_output().unwrap());
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((units(&report), functions(&report)), (12, 12));
    }
    assert_eq!(cache_files(&s, "tmp"), Vec::<PathBuf>::new());
    let clang = s.script("clang", "#!/bin/sh\nexit 1\n");
    // Every unit is there: not even a broken clang is noticed, once it was found fit.
    let mut command = s.command();
    command.args(["check", "-q"]).args(&names).env("LEAKPROOF_CLANG", &clang);
    assert_eq!(Run::from(command.output().unwrap()).code, Some(2), "another clang, another key");
}

#[test]
fn a_folder_that_cannot_be_written_is_no_obstacle() {
    let s = project();
    let mut command = s.command();
    command.args(["check", "a.c"]).env("LEAKPROOF_CACHE_DIR", "/proc/nowhere");
    assert_eq!(Run::from(command.output().unwrap()).code, Some(0));
}

#[test]
fn the_limit_is_kept() {
    let s = project();
    let mut command: Command = s.command();
    command.args(["check", "a.c", "b.c"]).env("LEAKPROOF_CACHE_LIMIT", "0");
    assert_eq!(Run::from(command.output().unwrap()).code, Some(0));
    assert!(cache_files(&s, "unit").is_empty());
}
