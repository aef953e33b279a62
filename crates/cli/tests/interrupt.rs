//! Ctrl-C: exit code 130, no child left, no temporary file left.

mod common;

use common::Sandbox;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(20), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn interrupt(child: &Child) {
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

fn files_below(folder: &Path, extension: &str) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|e| e.path())
        .map(|p| match p.is_dir() {
            true => files_below(&p, extension),
            false => {
                usize::from(extension.is_empty() || p.extension().is_some_and(|e| e == extension))
            }
        })
        .sum()
}

#[test]
fn clang_children_are_ended() {
    let s = Sandbox::new();
    let pids = s.path().join("pids");
    // A clang that never ends, and neither does what it starts.
    let clang = s.script(
        "clang",
        &format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && exec clang-19 --version\n\
             sleep 300 &\necho $$ $! >> '{}'\nwait\n",
            pids.display()
        ),
    );
    for i in 0..8 {
        s.write(format!("f{i}.c"), "int x;\n");
    }
    let mut command = s.command();
    command.arg("check").args((0..8).map(|i| format!("f{i}.c"))).arg("-j2");
    command.env("LEAKPROOF_CLANG", clang).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let started = || std::fs::read_to_string(&pids).unwrap_or_default();
    wait_for("two clangs", || started().lines().count() == 2);
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let all = started();
    assert_eq!(all.lines().count(), 2, "no further clang is started");
    for pid in all.split_whitespace() {
        wait_for("the end of clang and its children", || !is_alive(pid));
    }
    assert_eq!(files_below(&s.temp(), ""), 0);
    assert_eq!(files_below(&s.cache(), "tmp"), 0);
}

#[test]
fn a_watched_build_is_ended() {
    let s = Sandbox::new();
    let pids = s.path().join("pids");
    let build = format!("sleep 300 & echo $$ $! > '{}'; wait", pids.display());
    let mut command = s.command();
    command.args(["check", "--", "sh", "-c", &build]).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let started = || std::fs::read_to_string(&pids).unwrap_or_default();
    wait_for("the build", || started().split_whitespace().count() == 2);
    assert!(files_below(&s.temp(), "") > 0, "the recorder is at work");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    for pid in started().split_whitespace() {
        wait_for("the end of the build", || !is_alive(pid));
    }
    assert_eq!(files_below(&s.temp(), ""), 0);
}
