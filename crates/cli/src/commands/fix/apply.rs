//! Changing files: each as a whole or not at all, and only if it is still what was analysed.

use crate::ui::Ui;
use anyhow::{Context, Result, bail};
use leakproof_fix::FileChange;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes all changes, or none: every file is looked at before the first one is written.
pub fn apply(
    changes: &[FileChange],
    root: &Path,
    force: bool,
    test: Option<&str>,
    ui: &Ui,
) -> Result<()> {
    for change in changes {
        check(change, root, force)?;
    }
    if let Some(command) = test.filter(|_| !changes.is_empty())
        && !passes(command, root)?
    {
        bail!("`{command}` fails before anything is changed: nothing was applied");
    }
    write(changes, root, |c| &c.after)?;
    if let Some(command) = test.filter(|_| !changes.is_empty())
        && !passes(command, root)?
    {
        write(changes, root, |c| &c.before)?;
        bail!("`{command}` fails with the fixes: they were taken back");
    }
    for change in changes {
        ui.note(&format!("{}: changed", change.file));
    }
    Ok(())
}

fn write(changes: &[FileChange], root: &Path, text: fn(&FileChange) -> &Vec<u8>) -> Result<()> {
    for change in changes {
        leakproof_report::write_file(&root.join(&change.file), text(change))?;
    }
    Ok(())
}

fn check(change: &FileChange, root: &Path, force: bool) -> Result<()> {
    let file = &change.file;
    let path = root.join(file);
    let now = std::fs::read(&path).with_context(|| file.clone())?;
    if now != change.before {
        bail!("{file}: changed since it was analysed; run again");
    }
    let meta = std::fs::metadata(&path).with_context(|| file.clone())?;
    if meta.permissions().readonly() {
        bail!("{file}: is read-only; make it writable first");
    }
    if !force && is_dirty(&path) {
        bail!("{file}: has changes that are not committed; commit them first, or give --force");
    }
    Ok(())
}

/// Whether git knows the file and knows it to be changed. Without git nothing is dirty.
fn is_dirty(path: &Path) -> bool {
    let Some(folder) = path.parent() else { return false };
    let mut git = Command::new("git");
    git.args(["status", "--porcelain", "--untracked-files=no", "--"]).arg(path);
    git.current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    git.output().is_ok_and(|o| o.status.success() && !o.stdout.is_empty())
}

fn passes(command: &str, root: &Path) -> Result<bool> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(root).stdin(Stdio::null());
    // What the tests print is not the result.
    shell.stdout(Stdio::null());
    Ok(shell.status().context("sh")?.success())
}
