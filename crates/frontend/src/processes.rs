//! What `/proc` tells about processes, and how to end those that nobody else answers for.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// A process, its parent and its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    pub id: u32,
    parent: u32,
    pub group: u32,
    /// It has ended, and nobody has waited for it yet.
    pub is_over: bool,
}

/// `pid (name) state parent group ...`; the name may hold anything, also parentheses.
fn parsed(stat: &str) -> Option<Process> {
    let id = stat.split_whitespace().next()?.parse().ok()?;
    let mut rest = stat.rsplit_once(')')?.1.split_whitespace();
    let is_over = rest.next()? == "Z";
    let mut number = || rest.next()?.parse().ok();
    Some(Process { id, parent: number()?, group: number()?, is_over })
}

fn all() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let folders = entries.map(|e| e.path()).filter(|p| {
        p.file_name().is_some_and(|n| n.as_encoded_bytes().iter().all(u8::is_ascii_digit))
    });
    folders.filter_map(|p| parsed(&std::fs::read_to_string(p.join("stat")).ok()?)).collect()
}

/// The processes that `root` started, and those that they started.
pub fn descendants(root: u32) -> Vec<Process> {
    let all = all();
    let mut parents = vec![root];
    let mut found = Vec::new();
    while let Some(parent) = parents.pop() {
        let children = all.iter().filter(|p| p.parent == parent);
        found.extend(children.clone());
        parents.extend(children.map(|p| p.id));
    }
    found
}

/// Children of this process. Cheaper than a look at all processes, where the kernel lists them.
pub fn own_children() -> Vec<Process> {
    let me = std::process::id();
    let tasks = std::fs::read_dir(format!("/proc/{me}/task")).into_iter().flatten().flatten();
    let lists: Vec<_> = tasks.map(|t| std::fs::read_to_string(t.path().join("children"))).collect();
    if lists.iter().all(Result::is_err) {
        return all().into_iter().filter(|p| p.parent == me).collect();
    }
    let ids = lists.iter().flatten().flat_map(|l| l.split_whitespace());
    let stat = |id: &str| std::fs::read_to_string(format!("/proc/{id}/stat")).ok();
    ids.filter_map(|id| parsed(&stat(id)?)).collect()
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}

/// Asks a process to end. It may have ended by itself in the meantime.
pub fn ask_to_end(id: u32) {
    if let Some(pid) = pid(id) {
        kill_process(pid, Signal::TERM).unwrap_or(());
    }
}

/// Ends a process; nobody asks it.
pub fn end(id: u32) {
    if let Some(pid) = pid(id) {
        kill_process(pid, Signal::KILL).unwrap_or(());
    }
}

/// Ends all members of a group; there may be none left.
pub fn end_group(group: u32) {
    if let Some(group) = pid(group) {
        kill_process_group(group, Signal::KILL).unwrap_or(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_hold_anything() {
        let expected = Process { id: 7, parent: 3, group: 5, is_over: false };
        assert_eq!(parsed("7 (a) b) S 3 5 5 0 -1"), Some(expected));
        assert_eq!(parsed("7 (cut"), None);
    }
}
