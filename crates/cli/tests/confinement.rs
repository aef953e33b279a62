//! What validated programs try and may not: change the user's files, stay when the run is over, fill the
//! machine with processes, wait for a terminal.

mod common;

use common::Sandbox;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};

/// Leaks at line 15, after it has left a process in a session of its own and gone for a file.
fn intruder(victim: &str) -> String {
    format!(
        "#include <stdlib.h>\n#include <sys/stat.h>\n#include <unistd.h>\n\
         int main(int argc, char **argv)\n{{\n    char *p = malloc(8);\n\
         \x20   if (syscall(57) == 0) {{\n        syscall(112);\n\
         \x20       for (;;)\n            pause();\n    }}\n\
         \x20   truncate(\"{victim}\", 0);\n    chmod(\"{victim}\", 0777);\n\
         \x20   if (argc > 1)\n        return 1;\n    free(p);\n    return 0;\n}}\n"
    )
}

/// Programs that run out of one of the folders of process `id`, or out of `folder`.
fn programs_of(id: u32, folder: &str) -> Vec<String> {
    let marks = ["build", "confirm"].map(|purpose| format!("leakproof-{purpose}-{id}-"));
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let programs = entries.filter_map(|e| std::fs::read_link(e.path().join("exe")).ok());
    let names = programs.map(|p| p.to_string_lossy().into_owned());
    let own = |n: &String| n.starts_with(folder) || marks.iter().any(|m| n.contains(m));
    names.filter(own).collect()
}

fn start(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    let mut command = sandbox.command();
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn the_users_files_stay_as_they_are_and_no_process_stays() {
    let s = Sandbox::new();
    let victim = s.path().join("victim");
    s.write("victim", "mine");
    std::fs::set_permissions(&victim, PermissionsExt::from_mode(0o600)).unwrap();
    s.write("a.c", intruder(&victim.display().to_string()));
    let temp = s.temp().display().to_string();
    let warning = ["validate", "a.c", "--warning", "alloc=a.c:6,leak=a.c:15"];
    for arguments in [&warning[..], &["replay", "leakproof-witnesses/a.c_6-15"]] {
        let mut child = start(&s, arguments);
        let id = child.id();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{arguments:?}");
        assert_eq!(programs_of(id, &temp), [""; 0], "{arguments:?}");
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine", "{arguments:?}");
        let mode = std::fs::metadata(&victim).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{arguments:?}");
    }
}

#[test]
fn many_processes_end_a_run() {
    let s = Sandbox::new();
    s.write(
        "a.c",
        "#include <stdlib.h>\n#include <unistd.h>\nint main(void)\n{\n    char *p = malloc(8);\n\
         \x20   for (int i = 0; i < 500; i++)\n        if (fork() == 0)\n            for (;;)\n\
         \x20               pause();\n    for (;;)\n        pause();\n    free(p);\n}\n",
    );
    let warning = "alloc=a.c:5,leak=a.c:6";
    let run = s.run(["validate", "a.c", "--budget", "1", "--no-faults", "--warning", warning]);
    assert!(run.stdout.contains("cut off"), "{}{}", run.stdout, run.stderr);
    let left = programs_of(0, "/dev/shm/leakproof-build-");
    assert!(left.len() < 100, "{}", left.len());
}

/// Leaks at line 14, when a socket was made but `bind` fails.
const SERVER: &str = "#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
static int serve(int port)
{
    char *p = malloc(100);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = port};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0) {
        free(p);
        return 1;
    }
    if (bind(s, (struct sockaddr *)&a, sizeof a) < 0)
        return 2;
    listen(s, 3);
    accept(s, 0, 0);
    free(p);
    return 0;
}
int main(int argc, char **argv) { return argc > 1 ? serve(0) : 0; }
";

#[test]
fn sockets_work_among_themselves() {
    // Where the kernel gives no network of one's own, sockets are refused, and this leak is out of reach.
    let apart = std::process::Command::new("unshare").args(["-n", "true"]).status();
    if !apart.is_ok_and(|s| s.success()) {
        return;
    }
    let s = Sandbox::new();
    s.write("a.c", SERVER);
    let run = s.run(["validate", "a.c", "--warning", "alloc=a.c:6,branch=a.c:9:F,leak=a.c:14"]);
    assert!(run.stdout.starts_with("MUST-LEAK"), "{}{}", run.stdout, run.stderr);
}

#[test]
fn a_terminal_is_refused_at_once_and_in_the_witness() {
    let s = Sandbox::new();
    s.write(
        "a.c",
        "#include <stdio.h>\n#include <stdlib.h>\nint main(void)\n{\n    char *p = malloc(8);\n\
         \x20   FILE *terminal = fopen(\"/dev/tty\", \"r\");\n    if (!terminal)\n\
         \x20       return 1;\n    getc(terminal);\n    fclose(terminal);\n    free(p);\n\
         \x20   return 0;\n}\n",
    );
    let run = s.run(["validate", "a.c", "--no-faults", "--warning", "alloc=a.c:5,leak=a.c:8"]);
    assert!(run.stdout.starts_with("MUST-LEAK"), "{}{}", run.stdout, run.stderr);
    let note = s.path().join("leakproof-witnesses/a.c_5-8/witness.json");
    assert!(std::fs::read_to_string(note).unwrap().contains("fopen:1"));
}
