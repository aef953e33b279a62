//! After an edit: the output is that of a full run, byte for byte, and few functions are run again.

mod common;

use common::{Run, Sandbox};
use std::path::{Path, PathBuf};

/// What a run says, and how many functions it took from the cache, of how many.
struct Checked {
    stdout: String,
    stderr: String,
    reused: u64,
    functions: u64,
}

impl Checked {
    fn run_again(&self) -> u64 {
        self.functions - self.reused
    }
}

fn check_with(s: &Sandbox, cache: &Path, arguments: &[&str]) -> Checked {
    let mut command = s.command();
    command.args(["check", "--format", "json", "--stats", "-q"]).args(arguments);
    let run = Run::from(command.env("LEAKPROOF_CACHE_DIR", cache).output().unwrap());
    assert!(matches!(run.code, Some(0 | 1)), "{}", run.stderr);
    let line = run.stderr.lines().find(|l| l.contains("functions from the cache"));
    let numbers: Vec<u64> =
        line.unwrap_or("").split_whitespace().filter_map(|w| w.parse().ok()).collect();
    let [reused, functions] = numbers[..] else { panic!("no counts in {}", run.stderr) };
    Checked { stdout: run.stdout, stderr: run.stderr, reused, functions }
}

fn check(s: &Sandbox, arguments: &[&str]) -> Checked {
    check_with(s, &s.cache(), arguments)
}

/// A run that knows no results, only compiled units.
fn check_fresh(s: &Sandbox, arguments: &[&str]) -> Checked {
    let cache = s.temp().join("fresh");
    for file in files_below(&cache) {
        if file.extension().is_some_and(|e| e == "pack" || e == "report") {
            std::fs::remove_file(file).unwrap();
        }
    }
    let fresh = check_with(s, &cache, arguments);
    assert_eq!(fresh.reused, 0);
    fresh
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => found.push(path),
            }
        }
    }
    found.sort();
    found
}

/// Files that were written in this very moment are not cached: they may still change.
fn settle() {
    std::thread::sleep(std::time::Duration::from_millis(50));
}

// ---- one edit at a time, with what it may cost ----------------------------------------------

const LEAF: &str = "#include <stdlib.h>
int verbose(int n);
char *leaf(int n) {
    if (n > 5)
        verbose(1);
    return malloc(8);
}
";
const MIDDLE: &str = "char *leaf(int n);
char *middle(int n) { return leaf(n); }
static int unrelated_static(int n) { return n + 1; }
int unrelated(int n) { return unrelated_static(n); }
";
const TOP: &str = "#include <stdlib.h>
char *middle(int n);
void releases(int n) { free(middle(n)); }
void loses(int n) { char *p = middle(n); if (n) return; free(p); }
";

/// Six functions, one finding.
fn three_files() -> Sandbox {
    let s = Sandbox::new();
    s.write("leaf.c", LEAF).write("middle.c", MIDDLE).write("top.c", TOP);
    settle();
    s
}

const THREE: &[&str] = &["leaf.c", "middle.c", "top.c"];

/// Edits a file, and checks what is run again.
fn edited(s: &Sandbox, file: &str, from: &str, to: &str) -> u64 {
    let path = s.path().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from} in {file}");
    std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
    settle();
    let cached = check(s, THREE);
    assert_eq!(cached.stdout, check_fresh(s, THREE).stdout, "{from} -> {to}");
    cached.run_again()
}

#[test]
fn nothing_is_run_again_when_nothing_changed() {
    let s = three_files();
    let cold = check(&s, THREE);
    assert_eq!((cold.reused, cold.functions), (0, 6));
    assert!(cold.stdout.contains("\"loses\""), "{}", cold.stdout);
    let warm = check(&s, THREE);
    assert_eq!(warm.stdout, cold.stdout);
    assert_eq!((warm.reused, warm.functions), (6, 6));
    assert!(!warm.stderr.contains("points-to"), "no module is looked at: {}", warm.stderr);
}

#[test]
fn a_change_that_callers_do_not_see_goes_no_further() {
    let s = three_files();
    check(&s, THREE);
    assert_eq!(edited(&s, "leaf.c", "verbose(1)", "verbose(2)"), 1);
    assert_eq!(edited(&s, "leaf.c", "verbose(2)", "verbose(1)"), 0, "the state before is known");
}

#[test]
fn a_changed_summary_reaches_all_that_call_and_nobody_else() {
    let s = three_files();
    check(&s, THREE);
    assert_eq!(edited(&s, "leaf.c", "malloc(8)", "n ? malloc(8) : 0"), 4);
    assert_eq!(edited(&s, "middle.c", "n + 1", "n + 2"), 2);
}

#[test]
fn lines_that_move_cost_only_the_functions_with_findings() {
    let s = three_files();
    check(&s, THREE);
    assert_eq!(edited(&s, "middle.c", "static", "\n\n\nstatic"), 0);
    // The finding names a line of leaf.c, where the object is made.
    assert_eq!(edited(&s, "leaf.c", "char *leaf", "/* made\n here */\nchar *leaf"), 1);
    assert_eq!(edited(&s, "top.c", "void releases", "\nvoid releases"), 1);
}

#[test]
fn functions_come_and_go() {
    let s = three_files();
    check(&s, THREE);
    assert_eq!(edited(&s, "middle.c", "static", "int new_one(int n) { return n; }\nstatic"), 1);
    assert_eq!(edited(&s, "middle.c", "int new_one(int n) { return n; }\n", ""), 0);
    assert_eq!(edited(&s, "top.c", "free(middle(n))", "middle(n)"), 1);
}

#[test]
fn a_header_under_another_name_is_noticed() {
    let s = three_files();
    let text = "#include <stdlib.h>\nstatic int lost(int n) { char *p = malloc(n); return n; }\n";
    s.write("one.h", text).write("two.h", text);
    s.write("top.c", "#include \"one.h\"\nint top(int n) { return lost(n); }\n");
    settle();
    assert!(check(&s, THREE).stdout.contains("one.h"));
    edited(&s, "top.c", "one.h", "two.h");
}

#[test]
fn options_and_models_are_part_of_the_key() {
    let s = three_files();
    s.write("f.c", "#include <stdio.h>\nvoid opens(void) { FILE *f = fopen(\"x\", \"r\"); }\n");
    s.write("more.model", "middle { return new }\n");
    settle();
    let variants: [&[&str]; 5] = [
        &["f.c", "top.c"],
        &["--families", "all", "f.c", "top.c"],
        &["--level", "2", "f.c", "top.c"],
        &["--at-exit", "f.c", "leaf.c"],
        &["--models", "more.model", "f.c", "top.c"],
    ];
    for _ in 0..2 {
        for arguments in variants {
            let fresh = check_fresh(&s, arguments);
            assert_eq!(check(&s, arguments).stdout, fresh.stdout, "{arguments:?}");
        }
    }
}

#[test]
fn damaged_results_are_made_again() {
    for extension in ["pack", "report"] {
        for keep in [0, 1, 2] {
            let s = three_files();
            let cold = check(&s, THREE);
            for file in files_below(&s.cache()) {
                let is = |e: &str| file.extension().is_some_and(|x| x == e);
                if is(extension) {
                    let mut bytes = std::fs::read(&file).unwrap();
                    let middle = bytes.len() / 2;
                    bytes[middle] ^= 1;
                    bytes.truncate(bytes.len() * keep / 2);
                    std::fs::write(&file, bytes).unwrap();
                } else if is("report") {
                    std::fs::remove_file(&file).unwrap();
                }
            }
            let again = check(&s, THREE);
            assert_eq!(again.stdout, cold.stdout);
            let known = if extension == "pack" { 0 } else { 6 };
            assert_eq!(again.reused, known, "{extension} cut to {keep}/2");
            assert_eq!(check(&s, THREE).reused, 6, "and they are whole again");
        }
    }
}

// ---- random edits of whole programs ---------------------------------------------------------

/// Numbers that are the same on every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }
}

fn is_call(line: &str) -> bool {
    let text = line.trim();
    line.starts_with(' ')
        && text.ends_with(");")
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .split('(')
            .next()
            .is_some_and(|w| w.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

/// Lines for which `wanted` holds.
fn places(lines: &[String], wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    (0..lines.len()).filter(|&i| wanted(&lines[i])).collect()
}

/// One random edit; says what it was, or nothing when the file has no place for it.
fn edit(lines: &mut Vec<String>, dice: &mut Dice, number: usize) -> Option<&'static str> {
    let between = places(lines, str::is_empty);
    match dice.below(6) {
        0 => {
            let at = *dice.pick(&between)?;
            lines.splice(at..at, ["", "/* a remark */", ""].map(String::from));
            Some("lines")
        }
        1 => {
            let digit = |l: &str| l.starts_with(' ') && l.ends_with(';') && l.contains(['1', '0']);
            let at = *dice.pick(&places(lines, digit))?;
            lines[at] = lines[at].replacen('1', "3", 1).replacen('0', "1", 1);
            Some("constant")
        }
        2 => {
            let release = |l: &str| is_call(l) && l.contains("free");
            let at = *dice.pick(&places(lines, release))?;
            lines[at] = "    ;".into();
            Some("release")
        }
        3 => {
            let at = *dice.pick(&places(lines, is_call))?;
            lines[at] = "    ;".into();
            Some("call")
        }
        4 => {
            lines.push(format!(
                "char *added_{number}(int n) {{ return n > {number} ? 0 : __builtin_malloc(n); }}"
            ));
            Some("function")
        }
        _ => {
            // Two neighbours at the top level change places.
            let at = dice.below(between.len().saturating_sub(2));
            let [a, b, c] = *between.get(at..at + 3)? else { return None };
            lines[a..c].rotate_left(b - a);
            Some("order")
        }
    }
}

/// Copies the C files of a folder of the repository.
fn copy(s: &Sandbox, from: &str, to: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(from);
    for file in files_below(&root) {
        if file.extension().is_some_and(|e| e == "c" || e == "h") {
            let name = Path::new(to).join(file.strip_prefix(&root).unwrap());
            s.write(name, std::fs::read(&file).unwrap());
        }
    }
}

/// Edits a program at random and compares each run with a fresh one. How many functions were run again,
/// and how many there were, over all edits.
fn edit_at_random(s: &Sandbox, seed: u64, edits: usize) -> (u64, u64) {
    let sources: Vec<PathBuf> = files_below(&s.path())
        .into_iter()
        .filter(|f| f.extension().is_some_and(|e| e == "c"))
        .collect();
    let arguments: Vec<String> = sources
        .iter()
        .map(|f| f.strip_prefix(s.path()).unwrap().to_string_lossy().into_owned())
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    settle();
    check(s, &arguments);
    let (mut dice, mut sum) = (Dice(seed), (0, 0));
    let mut done = 0;
    while done < edits {
        let path = dice.pick(&sources).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        let Some(kind) = edit(&mut lines, &mut dice, done) else { continue };
        done += 1;
        std::fs::write(path, lines.join("\n") + "\n").unwrap();
        settle();
        let cached = check(s, &arguments);
        let fresh = check_fresh(s, &arguments);
        assert_eq!(cached.stdout, fresh.stdout, "edit {done}, {kind} in {}", path.display());
        sum = (sum.0 + cached.run_again(), sum.1 + cached.functions);
    }
    sum
}

#[test]
fn random_edits_of_a_small_program() {
    let s = Sandbox::new();
    copy(&s, "examples/inventory/src", "src");
    let (again, all) = edit_at_random(&s, 1, 30);
    assert!(again * 4 < all, "{again} of {all}");
}

#[test]
fn random_edits_of_many_programs_at_once() {
    let s = Sandbox::new();
    for folder in ["container", "struct_field", "callback", "multi_file", "global", "union"] {
        copy(&s, &format!("tests/fixtures/{folder}"), folder);
    }
    let (again, all) = edit_at_random(&s, 2, 14);
    assert!(again * 20 < all, "{again} of {all}");
}
