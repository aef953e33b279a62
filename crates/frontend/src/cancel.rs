//! Interruption: the one place that knows which child processes and temporary files are alive.
//!
//! Signals are a matter of the whole process, so this is process-wide state. Invariants: a child or
//! a temporary file comes into being only under the lock and never after `interrupt`; `interrupt`
//! returns only when all children were told to end and all temporary files are removed.

use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
        for path in &live.temporaries {
            remove(path);
        }
        live.temporaries.clear();
    });
}

/// Whether `interrupt` was called.
pub fn is_interrupted() -> bool {
    with_live(|live| live.interrupted)
}

fn remove(path: &Path) {
    // The file may not exist yet, or no longer; there is nobody left to tell about other failures.
    if std::fs::remove_file(path).is_err() {
        std::fs::remove_dir_all(path).unwrap_or(());
    }
}

fn end_tree(root: u32) {
    for pid in descendants(root).into_iter().chain([root]) {
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            // It may have ended by itself in the meantime.
            kill_process(pid, Signal::TERM).unwrap_or(());
        }
    }
}

/// A child that was made to lead a group is a program of the user's that may refuse to end, and whose own
/// children may have lost their parent: nobody asks them.
fn end_own_group(child: u32) {
    let Some(pid) = i32::try_from(child).ok().and_then(Pid::from_raw) else { return };
    if getpgid(Some(pid)) == Ok(pid) {
        kill_process_group(pid, Signal::KILL).unwrap_or(());
    }
}

/// The processes that `root` started, and those that they started, from `/proc`.
fn descendants(root: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, parent_of(pid)?)))
        .collect();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|(_, p)| *p == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // `pid (name) state ppid ...`; the name may hold anything, also parentheses.
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
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

    /// Ends whatever is left of the process group that the child leads, when it was made to lead one.
    pub fn end_group(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // Nobody may be left.
            kill_process_group(group, Signal::KILL).unwrap_or(());
        }
        self.child.wait().ok();
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
        if with_live(|live| live.temporaries.remove(&self.path)) {
            remove(&self.path);
        }
    }
}
