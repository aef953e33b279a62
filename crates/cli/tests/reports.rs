//! Results from end to end: identity, suppressions, baseline, pull requests, configuration, forms.

mod common;

use common::{Run, Sandbox};
use serde_json::Value;
use std::process::Command;

/// Two leaks: `drop` forgets `p` on the early return, `twice` overwrites `q`.
const LEAKY: &str = "\
#include <stdlib.h>
#include <string.h>

int drop(int n)
{
    char *p = malloc(16);
    if (n > 10)
        return -1;
    free(p);
    return 0;
}

void twice(void)
{
    char *q = strdup(\"one\");
    q = strdup(\"two\");
    free(q);
}
";

fn leaky() -> Sandbox {
    let s = Sandbox::new();
    s.write("leaky.c", LEAKY);
    s
}

/// The ids of the leaks that count, by function.
fn ids(report: &Value) -> Vec<(String, String)> {
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    let leaks = report["leaks"].as_array().unwrap();
    let mut ids: Vec<_> = leaks.iter().map(|l| (text(&l["function"]), text(&l["id"]))).collect();
    ids.sort();
    ids
}

fn functions(report: &Value) -> Vec<String> {
    ids(report).into_iter().map(|(function, _)| function).collect()
}

#[test]
fn ids_survive_edits_elsewhere_and_another_order_of_units() {
    let s = leaky();
    s.write("other.c", "int unrelated(int a) { return a; }\n");
    let before = ids(&s.check(["leaky.c", "other.c"]));
    assert_eq!(before.len(), 2);
    assert!(before.iter().all(|(_, id)| id.len() == 12));
    let edited = LEAKY
        .replace("int drop", "/* A new comment\n   of two lines. */\nint drop")
        .replace("    char *p = malloc(16);", "\tchar *p  =  malloc(16);");
    s.write("leaky.c", edited);
    assert_eq!(ids(&s.check(["other.c", "leaky.c"])), before);
    // A change of locals in one function leaves the other's id alone.
    s.write("leaky.c", LEAKY.replace('q', "renamed"));
    let after = ids(&s.check(["leaky.c"]));
    assert_eq!(after[0], before[0]);
    assert_ne!(after[1], before[1]);
}

#[test]
fn comments_silence_and_idle_ones_are_noted() {
    let s = leaky();
    let text = LEAKY
        .replace("        return -1;", "        return -1; // leakproof: ignore lives on")
        .replace("void twice", "// leakproof: ignore-function a test of overwriting\nvoid twice")
        .replace("    free(p);", "    /* leakproof: ignore nothing here */\n    free(p);");
    s.write("leaky.c", text);
    let run = s.run(["check", "leaky.c"]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    assert!(run.stdout.contains("leaky.c:9: this suppression silences nothing"), "{}", run.stdout);
    assert!(run.stdout.contains("no leaks in 1 unit") && run.stdout.contains("2 suppressed"));
    let report = s.check(["leaky.c"]);
    assert_eq!(report["triage"]["suppressed"][0]["reason"], "lives on");
}

#[test]
fn only_new_leaks_fail_a_run_with_a_baseline() {
    let s = leaky();
    assert_eq!(s.run(["check", "leaky.c"]).code, Some(1));
    s.run(["check", "leaky.c", "--baseline", "no.json"])
        .assert_refused(&["no.json", "--update-baseline"]);
    let run = s.run(["check", "leaky.c", "--update-baseline"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("2 leaks, 2 added, 0 removed"), "{}", run.stderr);
    let baseline = "leakproof-baseline.json";
    assert_eq!(s.run(["check", "leaky.c", "--baseline", baseline]).code, Some(0));

    let new = "int third(int n) { void *t = malloc(8); if (n) return 1; free(t); return 0; }\n";
    let fixed = LEAKY.replace("        return -1;", "        return free(p), -1;");
    s.write("leaky.c", format!("{fixed}\n{new}"));
    let run = s.run(["check", "leaky.c", "--baseline", baseline]);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stdout.contains("1 new leak (1 forgotten)"), "{}", run.stdout);
    assert!(run.stdout.contains("fixed: forgotten memory from `malloc`"), "{}", run.stdout);
    assert!(run.stdout.contains("1 in the baseline"), "{}", run.stdout);
    s.write(baseline, "{\"runs\": []}");
    s.run(["check", "leaky.c", "--baseline", baseline])
        .assert_refused(&["not a leakproof baseline"]);
}

fn git(s: &Sandbox, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(s.path()).args(["-c", "user.name=t", "-c", "user.email=t@example.org"]);
    assert!(git.args(arguments).output().unwrap().status.success());
}

#[test]
fn a_pull_request_shows_what_it_touches() {
    let s = leaky();
    git(&s, &["init", "-q"]);
    git(&s, &["add", "."]);
    git(&s, &["commit", "-q", "-m", "one"]);
    let touched = |s: &Sandbox| functions(&s.check(["leaky.c", "--diff", "HEAD"]));
    assert_eq!(touched(&s), Vec::<String>::new());
    assert_eq!(s.run(["check", "leaky.c", "--diff", "HEAD"]).code, Some(0));
    s.write("leaky.c", LEAKY.replace("n > 10", "n > 11"));
    assert_eq!(touched(&s), ["drop"]);
    // The release that a change takes away lies on the path of the leak it makes.
    s.write("leaky.c", LEAKY.replace("    free(q);\n", ""));
    assert!(touched(&s).contains(&"twice".to_owned()));
    s.run(["check", "leaky.c", "--diff", "nope"]).assert_refused(&["unknown revision `nope`"]);
}

#[test]
fn the_configuration_is_found_from_below_and_obeyed() {
    let s = Sandbox::new();
    s.write("sub/leaky.c", LEAKY);
    s.write(
        "leakproof.toml",
        "[[suppress]]\npath = \"sub/*.c\"\nfunction = \"tw*\"\nreason = \"known\"\n",
    );
    let check = |s: &Sandbox| {
        let mut command = s.command();
        command.current_dir(s.path().join("sub")).args(["check", "leaky.c"]);
        Run::from(command.output().unwrap())
    };
    let run = check(&s);
    assert!(run.stdout.contains("1 leak (1 forgotten)"), "{}", run.stdout);
    s.write("leakproof.toml", "exclude = [\"sub/\"]\n");
    let run = check(&s);
    assert_eq!(run.code, Some(0));
    assert!(run.stdout.contains("2 in excluded paths"), "{}", run.stdout);
    s.write("leakproof.toml", "\nmodles = []\n");
    check(&s).assert_refused(&["leakproof.toml:2:1: unknown key `modles`; did you mean `models`?"]);
    s.write("leakproof.toml", "families = [\"fiel\"]\n");
    check(&s).assert_refused(&["no family `fiel`", "did you mean `file`?"]);
}

#[test]
fn init_writes_a_configuration_that_changes_nothing() {
    let s = leaky();
    let before = s.check(["leaky.c"]);
    assert_eq!(s.run(["init"]).code, Some(0));
    s.run(["init"]).assert_refused(&["leakproof.toml exists", "--force"]);
    assert_eq!(s.run(["init", "--force"]).code, Some(0));
    assert_eq!(s.check(["leaky.c"]), before);
}

#[test]
fn an_earlier_result_renders_like_a_fresh_one() {
    let s = leaky();
    let run =
        s.run(["check", "leaky.c", "--format", "json", "-o", "r.json", "--write", "sarif=a.sarif"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(s.run(["report", "r.json", "--format", "sarif", "-o", "b.sarif"]).code, Some(0));
    let read = |name: &str| std::fs::read_to_string(s.path().join(name)).unwrap();
    assert_eq!(read("a.sarif"), read("b.sarif"));
    assert_eq!(s.run(["report", "r.json", "--format", "html", "-o", "html"]).code, Some(0));
    assert!(s.path().join("html/index.html").is_file());
    let run = s.run(["report", "r.json", "--format", "json"]);
    assert_eq!(run.stdout, read("r.json"));

    s.write("leaky.c", "int changed;\n");
    let run = s.run(["report", "r.json"]);
    assert!(run.stdout.contains("this file changed since the analysis"), "{}", run.stdout);
    s.write("r.json", "{}");
    s.run(["report", "r.json"]).assert_refused(&["r.json", "not a leakproof report"]);
    s.run(["report", "no.json"]).assert_refused(&["no.json"]);
}

#[test]
fn a_result_that_cannot_be_written_leaves_nothing() {
    let s = leaky();
    let run = s.run(["check", "-q", "leaky.c", "-o", "no/such/dir/out.txt"]);
    run.assert_refused(&["cannot write no/such/dir/out.txt: No such file or directory"]);
    assert!(!run.stderr.contains(".tmp"), "{}", run.stderr);
    s.write("mine/notes.txt", "keep me");
    s.run(["check", "-q", "leaky.c", "--format", "html", "-o", "mine"])
        .assert_refused(&["mine exists and is not a leakproof report"]);
    let names: Vec<_> =
        std::fs::read_dir(s.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn one_finding_is_explained() {
    let s = leaky();
    s.run(["explain", "abc"]).assert_refused(&["no earlier result", "leakproof check"]);
    let report = s.check(["leaky.c"]);
    let id = &ids(&report)[0].1;
    let run = s.run(["explain", &id[..6]]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for part in [
        "leak[forgotten-memory]",
        "What this means",
        "To silence it",
        "// leakproof: ignore REASON",
    ] {
        assert!(run.stdout.contains(part), "{}", run.stdout);
    }
    s.run(["explain", "ffffffffffff"]).assert_refused(&["no finding has the id"]);
}

#[test]
fn colours_only_when_wanted() {
    let s = leaky();
    let coloured = |arguments: &[&str]| {
        let run = s.run(["check", "leaky.c"].iter().chain(arguments));
        run.stdout.contains('\u{1b}')
    };
    assert!(!coloured(&[]) && !coloured(&["--color", "never"]));
    assert!(coloured(&["--color", "always"]));
}

#[test]
fn exit_codes_are_kept() {
    let s = leaky();
    assert_eq!(s.run(["check", "leaky.c"]).code, Some(1));
    assert_eq!(s.run(["check", "leaky.c", "--exit-zero"]).code, Some(0));
    assert_eq!(s.run(["check", "leaky.c", "--evidence", "witnessed"]).code, Some(0));
    s.write("clean.c", "int clean(void) { return 0; }\n");
    assert_eq!(s.run(["check", "clean.c"]).code, Some(0));
}

#[test]
fn completions_and_manual_come_from_the_definitions() {
    let s = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let run = s.run(["completions", shell]);
        assert!(run.stdout.contains("update-baseline"), "{shell}");
    }
    let page = s.run(["man"]).stdout;
    assert!(page.starts_with(".ie") || page.starts_with(".TH"), "{page}");
    assert!(page.contains("leakproof\\-check(1)"), "{page}");
    assert_eq!(s.run(["man", "--dir", "man1"]).code, Some(0));
    let check = std::fs::read_to_string(s.path().join("man1/leakproof-check.1")).unwrap();
    assert!(check.contains("baseline"));
}
