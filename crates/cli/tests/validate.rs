//! `leakproof validate` and `replay` from the outside: findings of our own, warnings by hand and of other
//! tools, code without `main`, input that makes no sense, and every report format.

mod common;

use common::{Run, Sandbox};
use serde_json::{Value, json};
use std::path::Path;

/// `work` leaks at line 8 when the argument is 4711; `fine` does not leak.
const PROGRAM: &str = "#include <stdlib.h>
static int work(int n)
{
    char *p = malloc(8);
    if (!p)
        return 1;
    if (n == 4711)
        return 2;
    free(p);
    return 0;
}
static int fine(int n)
{
    int *q = malloc(sizeof *q);
    if (!q)
        return 1;
    n += 2;
    *q = n;
    free(q);
    return n;
}
int main(int argc, char **argv)
{
    return argc > 1 ? work(atoi(argv[1])) : fine(argc);
}
";

const LEAK: &str = "alloc=a.c:4,branch=a.c:7:T,leak=a.c:8";
/// The object is used and freed after the point that the warning names.
const NO_LEAK: &str = "alloc=a.c:14,leak=a.c:17";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.c", PROGRAM);
    sandbox
}

fn json_of(run: &Run) -> Value {
    serde_json::from_str(&run.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}{}", run.stdout, run.stderr))
}

fn assert_must_leak(run: &Run) {
    assert!(run.stdout.starts_with("MUST-LEAK"), "{}{}", run.stdout, run.stderr);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
}

#[test]
fn a_finding_gets_a_witness_that_replays() {
    let sandbox = sandbox();
    let run = sandbox.run(["validate", "a.c", "--format", "json"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let report = json_of(&run);
    let leak = &report["leaks"][0];
    assert_eq!((&leak["verdict"], &leak["evidence"]), (&"MUST-LEAK".into(), &"witnessed".into()));
    let validation = &leak["validation"];
    assert_eq!(validation["qualifier"], "lost-at-point");
    assert!(validation["reason"].as_str().unwrap().contains("never freed"), "{validation}");
    let witness = format!("leakproof-witnesses/{}", leak["id"].as_str().unwrap());
    assert_eq!(validation["witness"], witness.as_str());
    let folder = sandbox.path().join(&witness);
    let note: Value =
        serde_json::from_slice(&std::fs::read(folder.join("witness.json")).unwrap()).unwrap();
    let argument = note["command"].as_str().unwrap().split(' ').nth(1).unwrap();
    // As `atoi` reads it.
    assert_eq!(argument.parse::<i64>().unwrap() as i32, 4711);
    let again = sandbox.run(["replay", &witness]);
    assert_eq!(again.code, Some(1), "{}", again.stderr);
    assert!(again.stdout.contains("a.c:4"), "{}", again.stdout);
    // Without us: a shell, a compiler and the folder.
    let mut shell = std::process::Command::new("sh");
    shell.arg(folder.join("run.sh")).env_clear().env("PATH", "/usr/bin:/bin");
    assert!(shell.output().unwrap().status.success());
    // The script tells a program that does not leak apart.
    sandbox.write("a.c", PROGRAM.replace("        return 2;", "        { free(p); return 2; }"));
    assert_eq!(shell.output().unwrap().status.code(), Some(1));
    let fixed = sandbox.run(["replay", &witness]);
    assert_eq!(fixed.code, Some(0), "{}", fixed.stderr);
    sandbox.write("a.c", "int main(void) { return gone; }");
    let broken = sandbox.run(["replay", &witness]);
    assert_eq!(broken.code, Some(2), "{}", broken.stderr);
    assert!(broken.stderr.contains("does not build"), "{}", broken.stderr);
}

/// A compiler that has no LeakSanitizer to link, or that compiles nothing.
fn poor_compiler(sandbox: &Sandbox, compiles: bool) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let clang = leakproof_frontend::clang::Clang::locate().expect("clang").path;
    let links = "case \" $* \" in *' -c '*) ;; *) exit 1 ;; esac";
    let script = format!(
        "#!/bin/sh\n{}\nexec '{}' \"$@\"\n",
        if compiles { links } else { "exit 1" },
        clang.display()
    );
    sandbox.write("poor-cc", script);
    let path = sandbox.path().join("poor-cc");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_witness_takes_the_sanitizer_of_another_compiler() {
    let sandbox = sandbox();
    let witness = sandbox.run(["validate", "a.c", "--warning", LEAK, "--witnesses", "w"]);
    assert_must_leak(&witness);
    let script = std::fs::read_dir(sandbox.path().join("w")).unwrap().next().unwrap().unwrap();
    let code = |compiles: bool| {
        let mut shell = std::process::Command::new("sh");
        shell.arg(script.path().join("run.sh")).env("CC", poor_compiler(&sandbox, compiles));
        shell.output().unwrap().status.code()
    };
    assert_eq!(code(true), Some(0));
    assert_eq!(code(false), Some(2));
}

#[test]
fn warnings_by_hand_in_both_orders() {
    let sandbox = sandbox();
    let both = ["--warning", NO_LEAK, "--warning", LEAK];
    let run = sandbox.run([&["validate", "a.c"][..], &both].concat());
    assert_must_leak(&run);
    assert!(run.stdout.contains("\nLIKELY-NOT-LEAK"), "{}", run.stdout);
    assert!(run.stdout.contains("used after the leak point and freed"), "{}", run.stdout);
    assert!(run.stdout.contains("lost at the leak point"), "{}", run.stdout);
    let args = [&["validate", "a.c", "--sort", "validate", "--format", "json"][..], &both].concat();
    let report = json_of(&sandbox.run(args));
    let verdicts: Vec<&str> = report["leaks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| l["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["LIKELY-NOT-LEAK", "MUST-LEAK"]);
    assert_ne!(report["leaks"][0]["evidence"], "witnessed");
}

#[test]
fn senseless_warnings_are_rejected_one_by_one() {
    let sandbox = sandbox();
    let run = sandbox.run([
        "validate",
        "a.c",
        "--warning",
        "alloc=a.c:5,leak=a.c:8",
        "--warning",
        "alloc=a.c:4,leak=a.c:800",
        "--warning",
        "alloc=a.c:4,branch=a.c:8:T,leak=a.c:8",
        "--warning",
        "alloc=gone.c:4,leak=a.c:8",
        "--warning",
        LEAK,
    ]);
    assert_must_leak(&run);
    assert_eq!(run.stdout.matches("REJECTED").count(), 4, "{}{}", run.stdout, run.stderr);
    for said in [
        "a.c:5: no allocation call on this line; the nearest is line 4",
        "a.c:800: no code on this line; the nearest is line 24",
        "a.c:8: no branch on this line; the nearest is line 7",
        "gone.c:4: no function of the project has code on this line; is a.c meant?",
    ] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
    let run = sandbox.run(["validate", "a.c", "--warning", "alloc=a.c"]);
    assert_eq!(run.code, Some(2));
    let run = sandbox.run(["validate", "a.c", "--id", "ffff0000"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("no finding has such an id"), "{}", run.stderr);
    let run = sandbox.run(["replay", "."]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("no witness"), "{}", run.stderr);
}

#[test]
fn the_branch_that_stopped_the_search_is_named() {
    let args = ["validate", "a.c", "--no-faults", "--budget", "10", "--warning"];
    let run = sandbox().run([&args[..], &["alloc=a.c:4,leak=a.c:6"]].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.starts_with("MAY-LEAK"), "{}", run.stdout);
    assert!(run.stdout.contains("a.c:5 to line 6\n"), "{}", run.stdout);
}

#[test]
fn what_does_not_link_is_named() {
    let sandbox = Sandbox::new();
    sandbox
        .write("a.c", PROGRAM.replace("return argc", "extern int gone(void); gone(); return argc"));
    let run = sandbox.run(["validate", "a.c", "--warning", LEAK]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("gone") && run.stderr.contains("--link-flags"), "{}", run.stderr);
}

/// A location as SARIF has it.
fn place(line: u32, said: &str) -> Value {
    json!({"message": {"text": said}, "physicalLocation":
        {"artifactLocation": {"uri": "a.c"}, "region": {"startLine": line}}})
}

fn sarif(rule: &str, message: &str, steps: &[Value]) -> String {
    let steps: Vec<Value> = steps.iter().map(|s| json!({"location": s})).collect();
    let flows =
        if steps.is_empty() { json!([]) } else { json!([{"threadFlows": [{"locations": steps}]}]) };
    let result = json!({"ruleId": rule, "message": {"text": message},
        "locations": [place(8, "")], "codeFlows": flows});
    json!({"version": "2.1.0", "runs": [{"results": [result]}]}).to_string()
}

#[test]
fn sarif_of_the_clang_that_is_here() {
    let sandbox = sandbox();
    let clang = ["clang-19", "clang"].iter().find(|c| {
        let mut analyze = std::process::Command::new(c);
        analyze.args(["--analyze", "-Xclang", "-analyzer-output=sarif", "-o", "c.sarif", "a.c"]);
        analyze.current_dir(sandbox.path()).output().is_ok_and(|o| o.status.success())
    });
    assert!(clang.is_some());
    assert_must_leak(&sandbox.run(["validate", "a.c", "--from", "c.sarif"]));
}

/// Several conditions on one line: the columns tell which is meant.
#[test]
fn sarif_with_columns() {
    let program = "#include <stdlib.h>\n#include <unistd.h>\nint main(int argc, char **argv)\n{\n\
        int o, v = 0;\nwhile ((o = getopt(argc, argv, \"vn:\")) != -1) \
        { if (o == 'v') v = 1; if (o == 'n') v = atoi(optarg); }\n\
        if (v != 9) return 0;\nchar *p = malloc(4);\nif (!p) return 1;\n\
        if (optind < argc) return 2;\nfree(p);\nreturn 0;\n}\n";
    let sandbox = Sandbox::new();
    sandbox.write("a.c", program);
    let step = |line, column, said| {
        let mut place = place(line, said);
        place["physicalLocation"]["region"]["startColumn"] = json!(column);
        place
    };
    let column = |text: &str| program.lines().nth(5).unwrap().find(text).unwrap() + 1;
    let steps = [
        step(6, column("if (o == 'v')"), "Taking false branch"),
        step(6, column("if (o == 'n')"), "Taking true branch"),
        step(7, 1, "Taking false branch"),
        step(8, 11, "Memory is allocated"),
        step(10, 1, "Taking true branch"),
    ];
    let report = sarif("unix.Malloc", "Potential leak of memory pointed to by 'p'", &steps);
    sandbox.write("c.sarif", report.replace("\"startLine\":8}", "\"startLine\":10}"));
    assert_must_leak(&sandbox.run(["validate", "a.c", "--budget", "20", "--from", "c.sarif"]));
}

/// What goes on on its own line is part of the path all the same.
#[test]
fn a_failure_on_one_line_is_not_taken_for_granted() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.c",
        "#include <stdlib.h>\nstatic int work(int n)\n{\n    char *p = malloc(8), *q;\n\
         \x20   if (!p)\n        return 1;\n    q = malloc(8);\n    if (!q) return 1;\n\
         \x20   free(q);\n    if (n == 4711)\n        return 2;\n    free(p);\n    return 0;\n}\n\
         int main(int argc, char **argv)\n{\n    return argc > 1 ? work(atoi(argv[1])) : 0;\n}\n",
    );
    let run = sandbox.run(["validate", "a.c", "--budget", "10", "--no-faults", "--format", "json"]);
    let report = json_of(&run);
    let leaks = report["leaks"].as_array().unwrap().iter();
    let found = leaks.clone().find(|l| l["leak"]["line"] == 8).unwrap();
    assert_eq!(found["validation"]["on_path"], 0, "{found}");
    let run = sandbox.run(["validate", "a.c", "--budget", "10", "--format", "json"]);
    let report = json_of(&run);
    let leaks = report["leaks"].as_array().unwrap().iter();
    let found = leaks.clone().find(|l| l["leak"]["line"] == 8).unwrap();
    assert!(found["validation"]["on_path"].as_u64() > Some(0), "{found}");
}

#[test]
fn reports_of_gcc_cppcheck_and_infer() {
    let sandbox = sandbox();
    let steps = [
        place(4, "allocated here"),
        place(5, "following 'false' branch (when 'p' is non-NULL)..."),
        place(7, "following 'true' branch (when 'n == 4711')..."),
        place(8, "'p' leaks here; was allocated at (1)"),
    ];
    sandbox.write("gcc.sarif", sarif("-Wanalyzer-malloc-leak", "leak of 'p'", &steps));
    sandbox.write("cppcheck.sarif", sarif("memleak", "Memory leak: p", &[]));
    let infer = json!([{"bug_type": "MEMORY_LEAK_C", "file": "a.c", "line": 8, "bug_trace": [
        {"filename": "a.c", "line_number": 4, "description": "allocated by `malloc` here"},
        {"filename": "a.c", "line_number": 7, "description": "Taking true branch"}]}]);
    sandbox.write("infer.json", infer.to_string());
    sandbox.write(
        "cppcheck.xml",
        "<?xml version=\"1.0\"?><results version=\"2\"><errors><error id=\"memleak\" \
         msg=\"Memory leak: p\"><location file=\"a.c\" line=\"8\"/></error></errors></results>",
    );
    for file in ["gcc.sarif", "cppcheck.sarif", "cppcheck.xml", "infer.json"] {
        assert_must_leak(&sandbox.run(["validate", "a.c", "--from", file]));
    }
    let of_id = |id| sandbox.run(["validate", "a.c", "--from", "gcc.sarif", "--id", id]);
    assert_must_leak(&of_id("a.c:4-8"));
    let none = of_id("b.c");
    assert_eq!(none.code, Some(2), "{}", none.stdout);
    assert!(none.stderr.contains("no warning has such an id"), "{}", none.stderr);
    sandbox.write("other.sarif", sarif("memleak", "something leaks", &[]));
    let run = sandbox.run(["validate", "a.c", "--from", "other.sarif"]);
    assert!(run.stderr.contains("does not say where"), "{}", run.stderr);
    sandbox.write("broken.sarif", "{");
    assert_eq!(sandbox.run(["validate", "a.c", "--from", "broken.sarif"]).code, Some(2));
    assert_eq!(sandbox.run(["validate", "a.c", "--from", "absent.sarif"]).code, Some(2));
}

#[test]
fn an_earlier_report_is_validated_and_written_as_sarif() {
    let sandbox = sandbox();
    let checked = sandbox.run(["check", "a.c", "--format", "json", "-o", "first.json"]);
    assert_eq!(checked.code, Some(1), "{}", checked.stderr);
    let args = ["validate", "a.c", "--from", "first.json", "--format", "sarif"];
    let run = sandbox.run(args);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let text = json_of(&run)["runs"][0]["results"][0].to_string();
    assert!(text.contains("MUST-LEAK") && text.contains("witnessed"), "{text}");
}

/// Two that are judged and one that makes no sense, in all forms at once.
#[test]
fn every_form_has_verdicts_rejections_and_both_orders() {
    let sandbox = sandbox();
    let warnings = ["--warning", "alloc=a.c:5,leak=a.c:8", "--warning", NO_LEAK, "--warning", LEAK];
    let forms = ["--write", "json=v.json", "--write", "sarif=v.sarif", "--write", "html=v"];
    let run = sandbox.run([&["validate", "a.c"][..], &warnings, &forms].concat());
    assert_must_leak(&run);
    let read = |name: &str| std::fs::read_to_string(sandbox.path().join(name)).unwrap();
    let report: Value = serde_json::from_str(&read("v.json")).unwrap();
    let verdicts = |report: &Value| -> Vec<String> {
        let leaks = report["leaks"].as_array().unwrap().iter();
        leaks.map(|l| l["verdict"].as_str().unwrap_or("none").to_owned()).collect()
    };
    assert_eq!(verdicts(&report), ["MUST-LEAK", "LIKELY-NOT-LEAK", "none"]);
    let rejected = &report["leaks"][2]["validation"];
    assert_eq!(rejected["cause"], "rejected", "{rejected}");
    assert!(rejected["reason"].as_str().unwrap().contains("nearest is line 4"), "{rejected}");
    let sarif = read("v.sarif");
    let at = |text: &str, what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    let (must, not) = ("\"MUST-LEAK\"", "\"LIKELY-NOT-LEAK\"");
    assert!(at(&sarif, must) < at(&sarif, not), "{sarif}");
    assert!(sarif.contains("nearest is line 4"), "{sarif}");
    let index = read("v/index.html");
    let row = |verdict: &str| at(&index, &format!("data-verdict=\"{verdict}\""));
    assert!(row("MUST-LEAK") < row("LIKELY-NOT-LEAK"), "{index}");
    // An earlier result in the other order.
    let again =
        |form: &str| sandbox.run(["report", "v.json", "--sort", "validate", "--format", form]);
    assert_eq!(verdicts(&json_of(&again("json"))), ["LIKELY-NOT-LEAK", "MUST-LEAK", "none"]);
    let sarif = again("sarif").stdout;
    assert!(at(&sarif, not) < at(&sarif, must), "{sarif}");
    let text = again("text").stdout;
    assert!(at(&text, "LIKELY-NOT-LEAK") < at(&text, "MUST-LEAK ("), "{text}");
    assert!(text.contains("not validated"), "{text}");
}

/// The time for all is for all programs together, also while one is searched.
#[test]
fn the_time_for_all_warnings_is_kept() {
    let sandbox = Sandbox::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../validate/tests/programs");
    let text = std::fs::read_to_string(folder.join("behind_a_hash.c")).unwrap();
    let line = |mark: &str| text.lines().position(|l| l.contains(mark)).unwrap() + 1;
    let (alloc, leak) = (line("@alloc"), line("@leak"));
    sandbox.write("a.c", &text).write("b.c", &text);
    let hidden = |file: &str| format!("alloc={file}:{alloc},leak={file}:{leak}");
    let (a, b) = (hidden("a.c"), hidden("b.c"));
    let args = ["validate", "a.c", "b.c", "--warning", &a, "--warning", &b, "--total-budget", "2"];
    let run = sandbox.run([&args[..], &["--format", "json"]].concat());
    let report = json_of(&run);
    let verdicts = report["leaks"].as_array().unwrap().iter().map(|l| &l["verdict"]);
    assert!(verdicts.clone().all(|v| v == "MAY-LEAK"), "{report}");
    assert_eq!(report["leaks"][1]["validation"]["cause"], "no-time", "{report}");
    assert!(run.stderr.contains("[2/2]"), "{}", run.stderr);
}

/// A library: no `main` anywhere.
const LIBRARY: &str = "#include <stdlib.h>
#include <string.h>
struct entry { int kind; struct entry *next; char *name; };
static char *copy(const struct entry *e)
{
    return strdup(e->name);
}
int entry_check(struct entry *e, int strict)
{
    if (!e || !e->next || !e->next->name)
        return -1;
    char *name = copy(e->next);
    if (!name)
        return -1;
    if (strict == 7 && e->next->kind == 0x1234 && name[0] == 'q')
        return -2;
    free(name);
    return 0;
}
char *entry_name(struct entry *e)
{
    char *name = e ? malloc(16) : 0;
    if (name)
        name[0] = 'x';
    return name;
}
";

#[test]
fn code_without_main_is_called_by_a_harness() {
    let sandbox = Sandbox::new();
    sandbox.write("lib.c", LIBRARY);
    let leak = "alloc=lib.c:12,branch=lib.c:15:T,leak=lib.c:16";
    let run = sandbox.run(["validate", "lib.c", "--warning", leak]);
    assert_must_leak(&run);
    assert!(run.stdout.contains("through a harness for `entry_check`"), "{}", run.stdout);
    let name =
        run.stdout.split("witness: ").nth(1).and_then(|r| r.split("/run.sh").next()).unwrap();
    assert!(sandbox.path().join(name).join("harness.c").is_file());
    assert_eq!(sandbox.run(["replay", name]).code, Some(1));
    // What the caller gets it can free: no leak of the function's.
    let given = "alloc=lib.c:22,leak=lib.c:25";
    let run = sandbox.run(["validate", "lib.c", "--warning", given, "--budget", "5"]);
    assert!(run.stdout.starts_with("MAY-LEAK"), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("can still free"), "{}", run.stdout);
}

#[test]
fn a_fix_is_certified_by_the_witness() {
    let sandbox = sandbox();
    let found = json_of(&sandbox.run(["validate", "a.c", "--format", "json"]));
    let id = found["leaks"][0]["id"].as_str().unwrap().to_owned();
    let fixed = || json_of(&sandbox.run(["fix", "a.c", "--format", "json"]))["fixes"][0].clone();
    let says = |list: &Value, text: &str| {
        list.as_array().unwrap().iter().any(|l| l.as_str().unwrap().contains(text))
    };
    let fix = fixed();
    assert_eq!(fix["applicability"], "safe", "{fix}");
    assert!(says(&fix["certificate"]["proven"], "runs clean with AddressSanitizer"), "{fix}");
    // A witness that shows the leak again speaks against the fix.
    sandbox.write(format!("leakproof-witnesses/{id}/run.sh"), "exit 0\n");
    let fix = fixed();
    assert_eq!(fix["applicability"], "suggested", "{fix}");
    assert!(says(&fix["certificate"]["open"], "still leaks"), "{fix}");
}
