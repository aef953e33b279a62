//! A folder of its own for each test, with its own cache, and the command run inside it.

#![expect(dead_code, reason = "each test file uses its own part of this")]

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

pub struct Sandbox {
    dir: TempDir,
}

/// What a run gave.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Sandbox {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("work")).unwrap();
        Self { dir }
    }

    /// The folder that commands run in.
    pub fn path(&self) -> PathBuf {
        // Compilers report the real path.
        std::fs::canonicalize(self.dir.path().join("work")).unwrap()
    }

    pub fn cache(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    pub fn temp(&self) -> PathBuf {
        let temp = self.dir.path().join("temp");
        std::fs::create_dir_all(&temp).unwrap();
        temp
    }

    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// Writes an executable script.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        self.write(name, text);
        let path = self.path().join(name);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A compile database with one `arguments` entry per file.
    pub fn database(&self, at: &str, entries: &[(&str, &[&str])]) -> &Self {
        let entries: Vec<Value> = entries
            .iter()
            .map(|(file, arguments)| {
                serde_json::json!({"directory": self.path(), "file": file, "arguments": arguments})
            })
            .collect();
        self.write(at, serde_json::to_string(&entries).unwrap())
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_leakproof"));
        command.current_dir(self.path());
        command.env("LEAKPROOF_CACHE_DIR", self.cache()).env("TMPDIR", self.temp());
        for name in ["LEAKPROOF_CLANG", "MAKEFLAGS", "CC", "CFLAGS", "RUST_BACKTRACE"] {
            command.env_remove(name);
        }
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        Run::from(self.command().args(arguments).output().unwrap())
    }

    /// `check --format json` with these arguments; must succeed.
    pub fn check<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Value {
        let mut command = self.command();
        command.args(["check", "--format", "json"]).args(arguments);
        let run = Run::from(command.output().unwrap());
        assert!(matches!(run.code, Some(0 | 1)), "{}", run.stderr);
        serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.stdout))
    }

    /// The text form of one unit; must succeed.
    pub fn ir<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        let run = Run::from(self.command().args(["ir", "-q"]).args(arguments).output().unwrap());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stdout
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Run {
    /// The run failed as a run on bad input must: exit code 2, one line that says `parts`,
    /// nothing on standard output.
    pub fn assert_refused(&self, parts: &[&str]) {
        assert_eq!(self.code, Some(2), "{}", self.stderr);
        assert_eq!(self.stdout, "");
        let errors: Vec<&str> = self.stderr.lines().filter(|l| l.contains("error: ")).collect();
        assert_eq!(errors.len(), 1, "{}", self.stderr);
        for part in parts {
            assert!(errors[0].contains(part), "no {part:?} in: {}", self.stderr);
        }
        assert!(!self.stderr.contains("internal error"), "{}", self.stderr);
    }
}

pub fn units(report: &Value) -> u64 {
    report["stats"]["units"].as_u64().unwrap()
}

pub fn functions(report: &Value) -> u64 {
    report["stats"]["functions"].as_u64().unwrap()
}

/// The skipped units as `file: reason` lines.
pub fn skipped(report: &Value) -> Vec<String> {
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    let list = report["skipped"].as_array().unwrap();
    list.iter().map(|s| format!("{}: {}", text(&s["file"]), text(&s["reason"]))).collect()
}
