//! `leakproof fix` on the programs of `tests/fix`: each becomes exactly its `.fixed` twin, or stays as
//! it is; a second run changes nothing; the fixed program prints what the original prints and runs
//! clean with AddressSanitizer.
//!
//! Comments at the top of a program: `// run: ARGS` (one per run), `// left alone: WHY` (no safe fix),
//! `// object: WHY` (it does not link), `// options: OPTIONS` of the command.

mod common;

use common::Sandbox;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Case {
    /// Relative to the folder of all programs.
    name: String,
    source: Vec<u8>,
    /// `None`: left alone.
    fixed: Option<Vec<u8>>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fix")
}

fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    for folder in std::fs::read_dir(root()).unwrap().map(|e| e.unwrap().path()) {
        if !folder.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()) {
            let name = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            if name.contains(".fixed.") {
                continue;
            }
            let (stem, extension) = name.rsplit_once('.').unwrap();
            let fixed = std::fs::read(root().join(format!("{stem}.fixed.{extension}"))).ok();
            list.push(Case { source: std::fs::read(&file).unwrap(), name, fixed });
        }
    }
    list.sort_by(|a, b| a.name.cmp(&b.name));
    list
}

impl Case {
    fn file(&self) -> &str {
        self.name.rsplit('/').next().unwrap()
    }

    /// The values of a comment at the top.
    fn said(&self, key: &str) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.source).into_owned();
        let start = format!("// {key}:");
        let values = text.lines().filter_map(|l| l.strip_prefix(start.as_str()));
        values.map(|v| v.trim().to_owned()).collect()
    }

    /// Everything that is wrong with this case.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.fixed.is_some() != self.said("left alone").is_empty() {
            return vec![format!("{}: give it either a .fixed twin or `left alone`", self.name)];
        }
        let sandbox = Sandbox::new();
        sandbox.write(self.file(), &self.source);
        let path = sandbox.path().join(self.file());
        let wanted = self.fixed.as_ref().unwrap_or(&self.source);
        for turn in ["first", "second"] {
            let stderr = self.apply(&sandbox);
            let now = std::fs::read(&path).unwrap();
            if now != *wanted {
                let now = String::from_utf8_lossy(&now).into_owned();
                problems.push(format!("{}: {turn} run gives\n{now}\n{stderr}", self.name));
                return problems;
            }
        }
        if self.fixed.is_some() {
            problems.extend(self.behaviour(&sandbox));
        }
        problems
    }

    fn apply(&self, sandbox: &Sandbox) -> String {
        let mut arguments = vec!["fix".to_owned(), "--apply".to_owned(), self.file().to_owned()];
        for options in self.said("options") {
            arguments.extend(options.split_whitespace().map(str::to_owned));
        }
        let run = sandbox.run(&arguments);
        assert!(matches!(run.code, Some(0 | 1)), "{}: {}", self.name, run.stderr);
        run.stderr
    }

    /// The program before and after, run as its comments say.
    fn behaviour(&self, sandbox: &Sandbox) -> Vec<String> {
        let mut problems = Vec::new();
        sandbox.write(format!("before_{}", self.file()), &self.source);
        let before = build(sandbox, &format!("before_{}", self.file()), "before");
        let after = build(sandbox, self.file(), "after");
        let mut runs = self.said("run");
        if runs.is_empty() {
            runs.push(String::new());
        }
        for arguments in runs {
            let (old, _) = execute(&before, &arguments, "detect_leaks=0");
            let (new, errors) = execute(&after, &arguments, "detect_leaks=1");
            if old != new {
                problems.push(format!("{} {arguments}: prints something else", self.name));
            }
            if errors.contains("Sanitizer") {
                problems.push(format!("{} {arguments}: {errors}", self.name));
            }
        }
        problems
    }
}

fn build(sandbox: &Sandbox, source: &str, program: &str) -> PathBuf {
    let compiler = if source.ends_with(".cpp") { "clang++-19" } else { "clang-19" };
    let output = Command::new(compiler)
        .current_dir(sandbox.path())
        .args(["-g", "-w", "-fsanitize=address", "-o", program, source])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    sandbox.path().join(program)
}

/// Exit code and output, and what went to standard error.
fn execute(program: &Path, arguments: &str, options: &str) -> ((Option<i32>, Vec<u8>), String) {
    let output = Command::new(program)
        .args(arguments.split_whitespace())
        .env("ASAN_OPTIONS", options)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    ((output.status.code(), output.stdout), errors)
}

#[test]
fn programs_become_their_fixed_twins() {
    let cases = cases();
    assert!(cases.len() >= 60, "only {} programs", cases.len());
    let alone = cases.iter().filter(|c| c.fixed.is_none()).count();
    assert!(alone * 3 >= cases.len(), "only {alone} programs have no safe fix");
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    failures.lock().unwrap().extend(case.problems());
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

const LEAKY: &str = "#include <stdlib.h>
int f(int n) {
    char *p = malloc(4);
    if (!p)
        return -1;
    if (n)
        return 1;
    free(p);
    return 0;
}
";

#[test]
fn the_diff_applies_with_patch_and_git() {
    let sandbox = Sandbox::new();
    sandbox.write("src/a.c", LEAKY);
    let run = sandbox.run(["fix", "src/a.c"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(sandbox.path().join("src/a.c")).unwrap(), LEAKY);
    sandbox.write("x.diff", &run.stdout);
    let git = Command::new("git")
        .current_dir(sandbox.path())
        .args(["apply", "--check", "x.diff"])
        .status()
        .unwrap();
    assert!(git.success(), "{}", run.stdout);
    let patch = Command::new("patch")
        .current_dir(sandbox.path())
        .args(["-p1", "-s", "-i", "x.diff"])
        .status()
        .unwrap();
    assert!(patch.success(), "{}", run.stdout);
    assert_eq!(sandbox.run(["check", "src/a.c"]).code, Some(0));
}

#[test]
fn results_come_as_json_sarif_and_yaml() {
    let sandbox = Sandbox::new();
    sandbox.write("a.c", LEAKY);
    let json = sandbox.run(["fix", "--format", "json", "a.c"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["fixes"][0]["applicability"], "safe");
    assert_eq!(json["fixes"][0]["certificate"]["open"].as_array().unwrap().len(), 0);
    let sarif = sandbox.run(["fix", "--format", "sarif", "a.c"]).stdout;
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    let fixes = &sarif["runs"][0]["results"][0]["fixes"];
    assert!(fixes[0]["artifactChanges"][0]["replacements"].as_array().is_some(), "{sarif}");
    let yaml = sandbox.run(["fix", "--format", "yaml", "a.c"]).stdout;
    assert!(yaml.contains("Replacements:") && yaml.contains("free(p);"), "{yaml}");
}

#[test]
fn read_only_files_are_not_touched() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.write("a.c", LEAKY);
    let path = sandbox.path().join("a.c");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    sandbox.run(["fix", "--apply", "-q", "a.c"]).assert_refused(&["a.c", "read-only"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), LEAKY);
}

fn git(sandbox: &Sandbox, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(sandbox.path()).args(["-c", "user.name=x", "-c", "user.email=x@x"]);
    assert!(command.args(arguments).output().unwrap().status.success(), "{arguments:?}");
}

#[test]
fn files_with_uncommitted_changes_need_force() {
    let sandbox = Sandbox::new();
    sandbox.write("a.c", "int x;\n");
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "a.c"]);
    git(&sandbox, &["commit", "-qm", "one"]);
    sandbox.write("a.c", LEAKY);
    sandbox.run(["fix", "--apply", "-q", "a.c"]).assert_refused(&["a.c", "--force"]);
    let run = sandbox.run(["fix", "--apply", "--force", "a.c"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn failing_tests_take_the_fix_back() {
    let sandbox = Sandbox::new();
    sandbox.write("a.c", LEAKY);
    let text = || std::fs::read_to_string(sandbox.path().join("a.c")).unwrap();
    let bad = "! grep -q '        free(p);' a.c";
    sandbox.run(["fix", "--apply", "-q", "--test", bad, "a.c"]).assert_refused(&["taken back"]);
    assert_eq!(text(), LEAKY);
    sandbox.run(["fix", "--apply", "-q", "--test", "false", "a.c"]).assert_refused(&["before"]);
    assert_eq!(sandbox.run(["fix", "--apply", "--test", "true", "a.c"]).code, Some(0));
    assert_ne!(text(), LEAKY);
}

#[test]
fn a_file_of_two_units_is_judged_in_both() {
    let sandbox = Sandbox::new();
    // In the second unit the pointer is no heap object.
    let text = LEAKY.replace("malloc(4)", "MAKE(4)");
    sandbox.write("a.c", text.replace("#include <stdlib.h>\n", "#include \"make.h\"\n"));
    sandbox.write(
        "make.h",
        "#include <stdlib.h>\n#ifdef FIXED\nstatic char fixed[4];\n#define MAKE(n) fixed\n\
         #define free(p) (void)(p)\n#else\n#define MAKE(n) malloc(n)\n#endif\n",
    );
    sandbox.database(
        "compile_commands.json",
        &[("a.c", &["cc", "-c", "a.c"]), ("a.c", &["cc", "-DFIXED", "-c", "a.c"])],
    );
    let before = std::fs::read(sandbox.path().join("a.c")).unwrap();
    let run = sandbox.run(["fix", "--apply"]);
    let after = std::fs::read(sandbox.path().join("a.c")).unwrap();
    // Where `free` is a macro that releases nothing the fix is harmless; it must still compile.
    assert!(matches!(run.code, Some(0 | 1)), "{}", run.stderr);
    if after != before {
        assert_eq!(sandbox.run(["check"]).code, Some(0));
    }
}

#[test]
fn nothing_is_asked_without_answers() {
    let sandbox = Sandbox::new();
    sandbox.write("a.c", LEAKY);
    let mut command = sandbox.command();
    command.args(["fix", "--ask", "a.c"]).stdin(std::process::Stdio::null());
    let output = command.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("Apply this fix?"));
    assert_eq!(std::fs::read_to_string(sandbox.path().join("a.c")).unwrap(), LEAKY);
}
