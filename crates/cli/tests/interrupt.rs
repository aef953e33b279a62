//! Ctrl-C: exit code 130, no child left, no temporary file left.

mod common;

use common::Sandbox;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
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

/// Processes that run a program out of one of the scratch folders of process `id`.
fn scratch_processes(id: u32) -> usize {
    let mark = format!("leakproof-build-{id}-");
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let programs = entries.filter_map(|e| std::fs::read_link(e.path().join("exe")).ok());
    programs.filter(|p| p.to_string_lossy().contains(&mark)).count()
}

fn scratch_folders(id: u32) -> usize {
    let bases = ["/dev/shm".into(), std::env::temp_dir()];
    let entries = bases.iter().flat_map(|b| std::fs::read_dir(b).into_iter().flatten().flatten());
    let names = entries.map(|e| e.file_name().to_string_lossy().into_owned());
    let own = |n: &String| n.starts_with("leakproof-") && n.contains(&format!("-{id}-"));
    names.filter(own).count()
}

#[test]
fn validated_programs_are_ended() {
    let s = Sandbox::new();
    // It does not end when asked to, and neither does the child whose parent is gone.
    s.write(
        "stays.c",
        "#include <signal.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
         int main(void)\n{\n    char *p = malloc(4);\n    signal(SIGTERM, SIG_IGN);\n\
         \x20   signal(SIGINT, SIG_IGN);\n    signal(SIGHUP, SIG_IGN);\n\
         \x20   if (fork() == 0 && fork() != 0)\n        _exit(0);\n\
         \x20   for (;;)\n        sleep(1);\n    free(p);\n}\n",
    );
    let mut command = s.command();
    command.args(["validate", "stays.c", "--warning", "alloc=stays.c:6,leak=stays.c:13"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let id = child.id();
    wait_for("a run with its children", || scratch_processes(id) >= 2);
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    wait_for("the end of the program", || scratch_processes(id) == 0);
    assert_eq!(scratch_folders(id), 0);
}
