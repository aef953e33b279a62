//! Interruption: the one place that knows which child processes and temporary files are alive.
//!
//! Signals are a matter of the whole process, so this is process-wide state. Invariants: a child or
//! a temporary file comes into being only under the lock and never after `interrupt`; `interrupt`
//! returns only when all children were told to end and all temporary files are removed.

use crate::processes;
use rustix::process::{Pid, WaitOptions, getpgid, getpgrp, getpid, set_child_subreaper, waitpid};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Default)]
struct Live {
    interrupted: bool,
    children: BTreeSet<u32>,
    temporaries: BTreeSet<PathBuf>,
}

static LIVE: Mutex<Option<Live>> = Mutex::new(None);

fn with_live<T>(f: impl FnOnce(&mut Live) -> T) -> T {
    let mut guard: MutexGuard<'_, _> = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    f(guard.get_or_insert_default())
}

/// Ends every child process, with all that it started, and removes every temporary file. To be
/// called from a signal handler's thread, which then ends the process.
pub fn interrupt() {
    with_live(|live| {
        live.interrupted = true;
        for &child in &live.children {
            end_tree(child);
            end_own_group(child);
        }
        end_adopted();
        for path in &live.temporaries {
            remove(path);
        }
        live.temporaries.clear();
    });
}

/// Ends what has left its group, and what that leaves behind in turn.
fn end_adopted() {
    let own = getpgrp().as_raw_nonzero().get().unsigned_abs();
    for _ in 0..ROUNDS {
        let mut left = processes::descendants(std::process::id());
        left.retain(|p| p.group != own && !p.is_over);
        if left.is_empty() {
            return;
        }
        left.iter().for_each(|p| processes::end(p.id));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Looks at what is left before processes that do not end, or folders that do not go away, are given up.
const ROUNDS: u32 = 100;

/// Whether `interrupt` was called.
pub fn is_interrupted() -> bool {
    with_live(|live| live.interrupted)
}

/// Removes a file or a folder. A folder gets several tries: a thread of ours, or a program that is about to
/// end, may put a file into it meanwhile. There is nobody left to tell about other failures.
fn remove(path: &Path) {
    if std::fs::remove_file(path).is_ok() {
        return;
    }
    for _ in 0..ROUNDS {
        std::fs::remove_dir_all(path).unwrap_or(());
        if path.symlink_metadata().is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn end_tree(root: u32) {
    for process in processes::descendants(root) {
        processes::ask_to_end(process.id);
    }
    processes::ask_to_end(root);
}

/// A child that was made to lead a group is a program of the user's that may refuse to end, and whose own
/// children may have lost their parent: nobody asks them.
fn end_own_group(child: u32) {
    let Some(pid) = i32::try_from(child).ok().and_then(Pid::from_raw) else { return };
    if getpgid(Some(pid)) == Ok(pid) {
        processes::end_group(child);
    }
}

/// From now on this process becomes the parent of whatever its descendants leave behind, so that
/// `end_orphans` finds it. Not before a watched build is over: what that leaves is the user's.
pub fn adopt_orphans() {
    // A kernel without it leaves them to the first process, as before.
    set_child_subreaper(Some(getpid())).unwrap_or(());
}

/// Ends adopted processes, and those that they leave when they end. What leads no group and is in
/// ours was started by us.
fn end_orphans() {
    let own = getpgrp().as_raw_nonzero().get().unsigned_abs();
    loop {
        // Under the lock, so that no child is taken for an orphan while it is being started.
        let orphans = with_live(|live| {
            let mut all = processes::own_children();
            all.retain(|p| p.group != own && !live.children.contains(&p.id));
            all
        });
        for orphan in &orphans {
            processes::end_group(orphan.group);
            processes::end(orphan.id);
            let pid = i32::try_from(orphan.id).ok().and_then(Pid::from_raw);
            // Somebody else may have waited for it.
            waitpid(pid, WaitOptions::empty()).ok();
        }
        if orphans.is_empty() {
            return;
        }
    }
}

/// Processes that validated programs may have at a time, all together.
const MANY: usize = 300;

/// Whether there are so many processes below this one that something has to end.
pub fn is_crowded() -> bool {
    processes::descendants(std::process::id()).len() > MANY
}

/// A running child process that `interrupt` ends.
pub struct Running {
    child: Child,
}

impl Running {
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        with_live(|live| {
            if live.interrupted {
                return Err(io::Error::from(io::ErrorKind::Interrupted));
            }
            let child = command.spawn()?;
            live.children.insert(child.id());
            Ok(Self { child })
        })
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Ends whatever is left of the process group that the child leads, when it was made to lead one, and
    /// what left that group.
    pub fn end_group(&mut self) {
        processes::end_group(self.child.id());
        self.child.wait().ok();
        end_orphans();
    }

    pub fn wait(mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // On the error paths nobody waited: end it, so that no zombie stays.
        if matches!(self.child.try_wait(), Ok(None)) {
            self.child.kill().unwrap_or(());
            self.child.wait().ok();
        }
        let id = self.child.id();
        with_live(|live| live.children.remove(&id));
    }
}

/// A file or folder that is removed on drop and by `interrupt`.
pub struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// A new empty file, which must not exist yet.
    pub fn file(path: PathBuf) -> io::Result<(Self, File)> {
        Self::create(path, |p| File::create_new(p))
    }

    /// A new empty folder.
    pub fn folder(path: PathBuf) -> io::Result<Self> {
        Self::create(path, |p| std::fs::create_dir(p)).map(|(temporary, ())| temporary)
    }

    fn create<T>(
        path: PathBuf,
        create: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        with_live(|live| {
            if live.interrupted {
                return Err(io::Error::from(io::ErrorKind::Interrupted));
            }
            let made = create(&path)?;
            live.temporaries.insert(path.clone());
            Ok((Self { path }, made))
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its final name. It is no longer temporary then.
    pub fn rename(self, to: &Path) -> io::Result<()> {
        with_live(|live| {
            if live.interrupted {
                return Err(io::Error::from(io::ErrorKind::Interrupted));
            }
            std::fs::rename(&self.path, to)?;
            live.temporaries.remove(&self.path);
            Ok(())
        })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Under the lock: an interruption that comes between the two would end the process halfway.
        with_live(|live| {
            if live.temporaries.remove(&self.path) {
                remove(&self.path);
            }
        });
    }
}
